"""Five hundred strata: pages and reports stay of a size that can be read, and a file has the rest."""

import csv
import io
import itertools
import json
import re
from datetime import date

import pytest
from flask.testing import FlaskClient

from server.collect import acceptance, batches
from server.config import Config
from server.people import survey_access
from server.reports.formats import FORMATS
from server.study import strata
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app

MOST = 3_000_000
"""Bytes of a page or a report."""
STRATA = 500
PAGES = (
    "results",
    "results?question=q7",
    *(f"report.{ending}" for ending in FORMATS),
)
EACH = 22


@pytest.fixture(scope="module")
def many(sqlite: NewDatabase) -> tuple[FlaskClient, str]:
    """Ten questions, twenty regions of 25 plants each, 22 responses from each plant; the survey is closed."""
    database_url = sqlite(True)
    slug = factories.publish(database_url, factories.definition([0.25] * 10), minimum=10).slug
    tree = (f"Region {place % 20} > Plant {place}, {1000 + place}" for place in range(STRATA))
    factories.plant(database_url, slug, "\n".join(tree))
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        reports = [bytes((number >> byte) & 1 for byte in range(10)) for number in range(EACH)]
        for node in strata.list_leaves(strata.tree(session, survey)):
            key = batches.CellKey(survey.current.id, node.stratum.id)
            group = batches.Group(survey.minimum, list(reports), {date(2026, 5, 1): EACH})
            batches.add(session.connection(), survey.id, {key: group})
        acceptance.close_survey(survey)
    app = create_app(Config(database_url=database_url))
    return factories.sign_in(app.test_client(), factories.sign_in_secret(database_url)), slug


@pytest.mark.parametrize("page", PAGES)
def test_a_page_or_report_is_not_longer_than_can_be_read(many: tuple[FlaskClient, str], page: str) -> None:
    client, slug = many

    answer = client.get(f"/manage/surveys/{slug}/{page}")

    assert answer.status_code == 200
    assert len(answer.data) <= MOST


def test_what_reports_leave_out_is_in_a_file(many: tuple[FlaskClient, str]) -> None:
    client, slug = many
    home = f"/manage/surveys/{slug}"
    report = json.loads(client.get(f"{home}/report.json").text)

    text = client.get(f"{home}/strata.csv?question=q7").text

    assert report["strata_cut"]
    rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["answer"] == "yes"]
    assert len(rows) == 1 + 20 + STRATA
    assert {row["question"] for row in rows} == {"q7"}
    assert sum(int(row["n"]) for row in rows if " > " in row["stratum"]) == STRATA * EACH == report["n"]
    assert "All strata as CSV" in client.get(f"{home}/results").text
    assert "in a file of their own" in client.get(f"{home}/report.html").text
    assert client.get(f"{home}/strata.csv?question=x").status_code == 404


def test_a_long_tree_opens_level_by_level(signed_in: FlaskClient, database_url: str) -> None:
    folds = []
    for each in (11, 12):
        survey = factories.publish(database_url)
        lines = "\n".join(f"{region} > {place}, 5" for region in "AB" for place in range(each))
        links = factories.plant(database_url, survey.slug, lines)
        factories.store(database_url, survey, [([1, 0], 30)], links["A > 1"])
        page = signed_in.get(f"/manage/surveys/{survey.slug}/results").text
        tree = page[page.index('class="branches"') : page.index('id="found-strata"')]
        folds.append((tree.count("<details open>"), tree.count("<details>")))
    assert folds == [(2, 0), (0, 2)]  # 25 rows, and 27


def test_a_long_list_shows_its_first_and_folds_the_others_with_nothing_lost(
    signed_in: FlaskClient, database_url: str
) -> None:
    """In the order of the survey, whatever was estimated; without a script, as the fold is in the page."""
    shown = []
    for number in (24, 26):
        survey = factories.publish(database_url)
        links = factories.plant(
            database_url, survey.slug, "\n".join(f"District {each:02}" for each in range(number))
        )
        factories.store(database_url, survey, [([1, 0], 30)], links["District 20"])
        page = signed_in.get(f"/manage/surveys/{survey.slug}/results").text
        tree = page[page.index('class="branches"') : page.index('id="found-strata"')]
        first, _fold, rest = tree.partition('<details class="rest">')
        named = re.findall(r'branch-name" dir="auto">(District \d\d)<', first + rest)
        assert named == [f"District {each:02}" for each in range(number)]
        shown.append((first.count(">District"), "14 more, in the order of the survey" in rest))
    assert shown == [(24, False), (12, True)]


def test_the_file_says_what_a_report_that_holds_all_says(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25, 0.1]))
    links = factories.plant(database_url, survey.slug, "A > B, 5\nA > C, 6\nD, 7")
    for place, path in enumerate(("A > B", "A > C", "D"), 20):
        factories.store(database_url, survey, [([1, 0], place), ([0, 1], 9)], links[path])
    home = f"/manage/surveys/{survey.slug}"

    report, one, other = (
        signed_in.get(f"{home}/{file}").text.splitlines()
        for file in ("report.csv", "strata.csv?question=q1", "strata.csv?question=q2")
    )

    estimates = [line for line in report if ",disclosure," not in line]
    told = [line for line in estimates if ",all," not in line or ",population," in line]
    # What is computed for many groups at once may differ in the last digit of a float.
    ours, theirs = (
        [[_read_cell(cell) for cell in row] for row in csv.reader(lines)]
        for lines in (told, [*one, *other[1:]])
    )
    assert [len(row) for row in ours] == [len(row) for row in theirs]
    for mine, yours in zip(itertools.chain(*ours), itertools.chain(*theirs), strict=True):
        assert mine == (pytest.approx(yours, rel=1e-12, abs=1e-12) if isinstance(yours, float) else yours)


def _read_cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
