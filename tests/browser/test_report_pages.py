"""Reports as pages: for everybody to read, on a phone, in print; whatever the survey's texts are."""

import io
from typing import Any

import pypdf
import pytest
from playwright.sync_api import Page

from server import reports
from server.output import charts
from server.output.charts import PlottedEstimate, PlottedGroup
from server.output.documents import to_html
from server.people import survey_access
from server.simulation import Assumptions, simulate
from tests.browser.axe_inspector import NARROW, Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK
from tests.support import every_kind, factories
from tests.support.sample_ledger import ledger

TEXTS = [
    "Have you copied in an exam, even once, at any school?",
    "هل سبق لك أن غششت في امتحان؟",
    "試験で不正をしましたか。" * 3,
]
TOLD = "100.0 % (-100.0 % to 200.0 %)"

OUTSIDE = """() => [...document.querySelectorAll('svg.drawing')].flatMap((svg) => {
  const { width, height } = svg.viewBox.baseVal;
  const { x, y, width: drawn } = svg.getBoundingClientRect();
  const unit = drawn / width;
  const shown = [...svg.querySelectorAll('text')].map((text) => {
    const box = text.getBoundingClientRect();
    const left = (box.x - x) / unit;
    const top = (box.y - y) / unit;
    return [text.textContent, left, top, left + box.width / unit, top + box.height / unit];
  });
  const out = shown.filter(([, left, top, right, foot]) =>
    left < -2 || top < -4 || right > width + 2 || foot > height + 4);
  const over = shown.flatMap((one, place) => shown.slice(place + 1).filter((other) =>
    one[1] + 1 < other[3] && other[1] + 1 < one[3] && one[2] + 4 < other[4] && other[2] + 4 < one[4])
    .map((other) => [one, other]));
  return [...out, ...over].map((found) => JSON.stringify(found));
})"""


def write_reports(database_url: str, slug: str, language: str) -> tuple[str, str]:
    """The internal and the public report."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        internal = reports.build_internal_document(reports.read(session, found), ledger(), language)
        public = reports.read_published(session, found, ledger())
        return to_html(internal), reports.write_public_page(public, language)


@pytest.fixture
def slug(installation: factories.Served) -> str:
    """A survey of every kind of question, with strata, answered by made-up people."""
    survey = factories.publish(installation.database_url, every_kind.document())
    with factories.writing(installation.database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        for _ in simulate(session, found, 60, Assumptions()):
            pass
    factories.plant(installation.database_url, survey.slug, "Spain > Madrid\nPeru")
    return survey.slug


def open_text(page: Page, text: str) -> Page:
    page.goto("about:blank")
    page.set_content(text)
    return page


@pytest.mark.parametrize("language", ["en", "es"])
def test_both_reports_are_for_everybody(
    open_page: Opener, installation: factories.Served, inspector: Inspector, slug: str, language: str
) -> None:
    page = open_page(**DESK)
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    for name, text in zip(
        ("internal", "public"), write_reports(installation.database_url, slug, language), strict=True
    ):
        open_text(page, text)
        inspector.look(page, f"{name} report, folded")
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        assert page.evaluate(OUTSIDE) == []
        # The style sheet counts, whose hash the page's own policy names; nothing else was refused or said.
        assert page.evaluate("getComputedStyle(document.querySelector('table')).borderCollapse") == "collapse"
        inspector.look(page, f"{name} report")
        page.set_viewport_size(NARROW)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert refused == []


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_any_script_stay_in_their_drawing(open_page: Opener, name: str) -> None:
    rows = [
        PlottedEstimate(name, TOLD, 0.5, (0.2, 0.8), name),
        PlottedEstimate(name[:20], TOLD, 0.1, (-0.1, 0.3)),
    ]
    axis = charts.share_axis([(-0.1, 1.0)])

    def label(mark: float) -> str:
        return f"{100 * mark:.0f} %"

    drawings = [
        charts.estimates("Shares", rows, axis, label),
        charts.histogram("Bins", rows, axis, label),
        charts.means("Means", [(row, axis, label) for row in rows]),
        charts.course("Versions", rows, axis, label),
        charts.heat_map("Joint", [name, name], [name, name], [[(0.5, "50.0 %")] * 2] * 2),
        charts.heat_map("Joint", [name], [name] * 9, [[(0.5, "50.0 %")] * 9]),
        charts.share_table(
            "Pairs",
            [name, name],
            [name, name],
            ["No"] * 6,
            [[charts.TableCell(0.5, "50", "100 to 100")] * 6] * 2,
        ),
        charts.tree(
            "Strata", [PlottedGroup(0, name, "1,000", 1000), PlottedGroup(3, name, "withheld", None)]
        ),
    ]
    page = open_page(**DESK)
    style = (factories.ROOT / "client" / "drawings.css").read_text("utf-8")

    def problems(svgs: list[str]) -> Any:
        open_text(page, f"<style>:root {{ --sans: system-ui, sans-serif }} {style}</style>{''.join(svgs)}")
        return page.evaluate(OUTSIDE)

    assert problems([drawing.svg for drawing in drawings]) == []
    # The broken twin: the same texts in letters half as large again.
    bigger = style.replace("12px", "18px")
    open_text(page, f"<style>:root {{ --sans: system-ui, sans-serif }} {bigger}</style>{drawings[0].svg}")
    assert page.evaluate(OUTSIDE) != []


def test_a_finding_among_the_numbers_of_a_release_is_laid_out_as_text(
    open_page: Opener, installation: factories.Served, slug: str
) -> None:
    """Not as those above, in columns: on paper it had half of a half of the page."""
    page = open_text(open_page(**DESK), write_reports(installation.database_url, slug, "en")[1])
    page.emulate_media(media="print")
    looks = page.locator("p.found").evaluate_all(
        "them => them.map(it => getComputedStyle(it)).map(it => it.display + it.borderBlockStartWidth)"
    )
    assert set(looks) == {"block0px"}


def test_on_paper_names_are_whole(open_page: Opener, installation: factories.Served, slug: str) -> None:
    page = open_text(open_page(**DESK), write_reports(installation.database_url, slug, "en")[1])
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 672, "height": 990})  # A4 within the margins of report.css

    names = page.locator("td > code").evaluate_all(
        "them => them.filter(it => it.textContent.length <= 12).map(it => [it.textContent, it.getClientRects().length])"
    )
    assert max(len(name) for name, _ in names) > 7
    assert [name for name, lines in names if lines > 1] == []


def test_on_paper_the_heads_of_a_table_come_again_on_each_page(
    open_page: Opener, installation: factories.Served, slug: str
) -> None:
    page = open_text(open_page(**DESK), write_reports(installation.database_url, slug, "en")[0])

    pages = [
        " ".join(found.extract_text().split())
        for found in pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
    ]

    first = next(number for number, text in enumerate(pages) if "Yes by coin?" in text and "reported" in text)
    last = next(number for number, text in enumerate(pages) if "Question after?" in text and number > first)
    assert last > first
    assert all("reported" in pages[number] for number in range(first, last + 1))
