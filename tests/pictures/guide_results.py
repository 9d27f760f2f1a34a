"""Pictures for the guides of the results of a study in strata; its respondents are made up, and the pages say so."""

import csv
import io
import random
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, expect

from server.simulation import Assumptions, draw_people
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition
from tests.pictures.studio import Studio, survey
from tests.support import factories

ASKED = ("undeclared", "reason", "hours", "control")
PLANNED = 6_000
STRATA = (
    (("Coast > Harbour", "Costa > Puerto"), 42_000, 1_480),
    (("Coast > Old town", "Costa > Casco antiguo"), 28_000, 940),
    (("Coast > Island", "Costa > Isla"), 400, 6),
    (("Hills > Upper valley", "Sierra > Valle alto"), 19_000, 760),
    (("Hills > Lower valley", "Sierra > Valle bajo"), 31_000, 1_310),
    (("Hills > Pass", "Sierra > Puerto de montaña"), 7_000, 290),
)
"""Path, population and respondents; of one fewer than are shown, and so another one is withheld beside it."""
DAYS = (0.05, 0.24, 0.2, 0.15, 0.04, 0.02, 0.13, 0.1, 0.07)
"""Share of the responses of each day up to today."""


def take_all(studio: Studio, page: Page, slug: str) -> None:
    """A survey without enough responses, and one with thousands."""
    database_url = studio.served.database_url
    few = factories.publish(database_url, survey(studio, "undeclared", budget=1.1), minimum=10)
    factories.store(database_url, few, [([0], 4), ([1], 3)])
    page.goto(f"/manage/surveys/{few.slug}/results")
    studio.take(page, "few", 490)

    answer(studio, page, slug)
    home = f"/manage/surveys/{slug}/results"
    page.goto(home)
    expect(page.locator(".finding").first).to_be_visible()
    studio.take(page, "results", 1730)
    parts = (
        ("stratum", "question=undeclared", "strata", 945),
        ("joint", "row=undeclared&column=reason", "joint", 990),
        ("diagnostics", "", "diagnostics", 700),
    )
    for name, query, part, height in parts:
        page.goto(f"{home}?{query}")
        page.set_viewport_size({"width": 1280, "height": height})
        page.evaluate(f"document.getElementById('{part}').scrollIntoView()")
        studio.take(page, name, height)

    earlier = publish_earlier(studio)
    page.goto(f"{home}?open=surveys&question=undeclared&survey={earlier}")
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.evaluate("document.getElementById('surveys').scrollIntoView()")
    studio.take(page, "compared", 1000)
    page.goto("/manage/surveys")
    studio.take(page, "listed", 620)


def publish_earlier(studio: Studio) -> str:
    """A smaller survey that asks the same, in part on paper; its slug."""
    title = studio.say("Extra jobs, a pilot", "Trabajos extra, piloto")
    document = {
        **survey(studio, "undeclared", budget=1.1, plan={"respondents": 2_500, "margin": 0.1}),
        "title": title,
    }
    document["questions"][0]["design"]["gamma"] = 0.25  # which coins can throw
    published = factories.publish(studio.served.database_url, document, minimum=10)
    factories.settle(studio.served.database_url, published.slug, simulated=True)
    today = datetime.now(UTC).date()
    for ago in range(6):
        day = today - timedelta(days=ago)
        factories.store(studio.served.database_url, published, [([0], 190 - 20 * ago), ([1], 110)], day=day)
    with tempfile.TemporaryDirectory() as folder:
        sheets = ["A"] * 130 + ["B"] * 210
        answers = "\n".join(["undeclared", *sheets]) + "\n"
        file = Path(folder) / "sheets.csv"
        file.write_text(answers, "utf-8")
        done = factories.run(
            studio.served.database_url, "survey", "enter", published.slug, str(file), "--version", "1"
        )
    assert done.exit_code == 0, done.output
    return published.slug


def answer(studio: Studio, page: Page, slug: str) -> None:
    """Let made-up people answer in every stratum, for some days."""
    database_url = studio.served.database_url
    document = survey(studio, *ASKED, budget=4.4, plan={"respondents": PLANNED, "margin": 0.05})
    definition = parse_definition(document)
    published = factories.publish(database_url, document, slug)
    factories.settle(database_url, slug, simulated=True)
    table = page.request.get(f"/manage/surveys/{slug}/links.csv").text()
    links = {row["stratum"]: row["link"].rpartition("/")[2] for row in csv.DictReader(io.StringIO(table))}
    today = datetime.now(UTC).date()
    for place, (paths, _population, number) in enumerate(STRATA):
        rows = reports(definition, number, 0.1 + 0.04 * place)
        start = 0.0
        for ago, share in enumerate(reversed(DAYS)):
            chosen = rows[round(start * number) : round((start + share) * number)]
            start += share
            day = today - timedelta(days=ago)
            path = studio.say(*paths)
            if chosen:
                factories.store(database_url, published, list(Counter(chosen).items()), links[path], day)


def reports(definition: Definition, number: int, share: float) -> list[tuple[int, ...]]:
    """Of people with this share of undeclared work, most of whom needed the money."""
    told = []
    for people, yes, money in (
        (round(number * share), 1.0, 0.65),
        (number - round(number * share), 0.0, 0.2),
    ):
        shares = {"undeclared.yes": yes, "reason.money": money, "reason.asked": 0.12}
        told += draw_people(definition, people, Assumptions(shares, {"hours": 5.0})).reports().tolist()
    random.shuffle(told)
    return [tuple(row) for row in told]
