"""Pictures of reports for docs/reports.md and docs/informes.md: `python -m tests.pictures.report_pictures`.

A report as a page in light and dark, the public one on a phone, and pages of the PDF. The people
behind them are simulated, and the reports say so.
"""

import json
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import typst
from playwright.sync_api import sync_playwright

from server import releases, reports
from server.output.documents import Document, to_html
from server.output.documents.pdf import PAPER, laid_out
from server.people import survey_access
from server.releases.plans.plan_reader import parse_plan
from server.store.engines import make_engine, migrate
from server.study.definitions.definition_reader import parse_definition
from tests.browser.chromium import launch
from tests.browser.site_users import DESK, PHONE
from tests.pictures.guide_results import ASKED, STRATA
from tests.pictures.guide_results import reports as answers
from tests.pictures.studio import PREFIX, Studio, survey
from tests.support import factories

DAYS = 9
BUDGET = 2
SHEETS = (0, 2)
"""Pages of the PDF that are shown."""


def publish_answered(studio: Studio, database_url: str) -> str:
    """The slug of a survey in strata that simulated people answered."""
    document = survey(studio, *ASKED, budget=4.4)
    definition = parse_definition(document)
    published = factories.publish(database_url, document, minimum=10)
    lines = "\n".join(f"{studio.say(*paths)}, {population}" for paths, population, _ in STRATA)
    links = factories.plant(database_url, published.slug, lines)
    for place, (paths, _, number) in enumerate(STRATA):
        rows = answers(definition, number, 0.1 + 0.04 * place)
        for day in range(DAYS):
            on = datetime.now(UTC).date() - timedelta(days=DAYS - day)
            if chosen := Counter(rows[day::DAYS]):
                factories.store(database_url, published, list(chosen.items()), links[studio.say(*paths)], on)
    factories.settle(database_url, published.slug, simulated=True)
    return published.slug


def study(studio: Studio, database_url: str) -> tuple[Document, str]:
    """The internal report of a survey in strata, after some releases, and the page of the public one."""
    slug = publish_answered(studio, database_url)
    stratum = studio.say(*STRATA[0][0]).split(" > ")[:1]
    items = [
        {"kind": "count"},
        {"kind": "share", "question": "undeclared", "option": "yes"},
        {"kind": "histogram", "question": "reason"},
        {"kind": "mean", "question": "hours"},
        {"kind": "table", "questions": ["undeclared", "reason"]},
        {"kind": "share", "question": "undeclared", "option": "yes", "stratum": stratum},
        {"kind": "hierarchy"},
    ]
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        releases.set_budget(session, found, BUDGET, 0, "unbounded", None)
        releases.make(session, found, parse_plan({"format": 1, "items": items, "epsilon": 1.4}), None)
        ledger = releases.read_ledger(session, found)
        internal = reports.build_internal_document(reports.read(session, found), ledger, studio.language)
        published = reports.read_published(session, found, ledger)
        return internal, reports.write_public_page(published, studio.language)


def take_all(studio: Studio, folder: Path) -> None:
    """Every picture in one language."""
    internal, public = study(studio, studio.served.database_url)
    shots = (
        ("report-page", to_html(internal), {**DESK, "viewport": {"width": 1000, "height": 1100}}),
        (
            "report-dark",
            to_html(internal),
            {**DESK, "viewport": {"width": 1000, "height": 700}, "color_scheme": "dark"},
        ),
        ("report-phone", public, {**PHONE, "device_scale_factor": 1.5}),
    )
    for name, text, options in shots:
        path = folder / f"{studio.language}-{name}.html"
        path.write_text(text, "utf-8")
        page = studio.context(**options).new_page()
        page.goto(path.as_uri())
        if name == "report-dark":
            page.locator("h2").nth(1).evaluate("it => it.scrollIntoView()")
        studio.take(page, name)
        page.context.close()
    order = {"data": json.dumps(laid_out(internal), ensure_ascii=False)}
    sheets = typst.Compiler(PAPER.read_bytes()).compile(format="png", ppi=90, sys_inputs=order)
    assert isinstance(sheets, list)
    for number, sheet in enumerate(SHEETS, start=1):
        studio.keep(sheets[sheet], f"report-pdf-{number}")


def main() -> None:
    """Take them in both languages."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        browser, folder = launch(playwright), Path(name)
        for language in PREFIX:
            database_url = f"sqlite:///{folder / language}.sqlite3"
            migrate(make_engine(database_url))
            with factories.serving(database_url) as served:
                take_all(Studio(browser, served, language, browser.new_page()), folder)
        browser.close()


if __name__ == "__main__":
    main()
