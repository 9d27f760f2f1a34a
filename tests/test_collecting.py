"""How collecting goes, on the page of results and in the list of surveys: against the plan, and in steps."""

import re
from datetime import date
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server.reports.collection_progress import MOST_FOLLOWED
from tests.support import factories
from tests.support.collected_numbers import OWN_LINK, find_listed, read_listed, read_listed_strata, read_rows
from tests.support.factories import Published
from tests.support.folded_parts import ALL_OPEN
from tests.support.paper_sheets import key_in

PLAN = {"plan": {"respondents": 400, "margin": 0.1}}
TREE = "North > A, 2000\nNorth > B, 1000\nSouth, 1000"


def publish(database_url: str, minimum: int = 10, **changes: object) -> Published:
    return factories.publish(database_url, factories.definition(**changes), minimum=minimum)


def results(client: FlaskClient, survey: Published, query: str = "") -> str:
    answer = client.get(f"/manage/surveys/{survey.slug}/results{query}")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.text)


def read_listing(client: FlaskClient, survey: Published) -> str:
    return read_listed(client.get("/manage/surveys").text, survey.slug)[1]


def listed_strata(client: FlaskClient, survey: Published) -> tuple[int, int, int] | None:
    return read_listed_strata(client.get("/manage/surveys").text, survey.slug)


def listed_ways(client: FlaskClient, survey: Published) -> str | None:
    entry = find_listed(client.get("/manage/surveys").text, survey.slug)
    found = re.search(r'class="fine ways">([^<]*)<', entry)
    return found and found[1]


def store(database_url: str, survey: Published, link: str, *numbers: int) -> None:
    """Responses that came one group after the other."""
    for number in numbers:
        factories.store(database_url, survey, [([1, 0], number)], link)


def test_strata_stand_against_their_part_of_the_plan(signed_in: FlaskClient, database_url: str) -> None:
    """400 are planned for 4,000 people: one in ten of each stratum."""
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    store(database_url, survey, links["North > A"], 90)
    store(database_url, survey, links["North > B"], 120)
    store(database_url, survey, links["South"], 30)
    factories.close(database_url, survey.slug)

    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text

    assert read_rows(page) == {
        ("North",): (210, "300 70.0 %"),
        ("North", "A"): (90, "200 45.0 %"),
        ("North", "B"): (120, "100 120.0 %"),
        ("South",): (30, "100 30.0 %"),
    }
    assert "Farthest from its target: <bdi>South</bdi>, 30 of 100." in page
    assert "240 responses are shown, 60.0 % of the 400 that are planned." in results(signed_in, survey)
    assert read_listing(signed_in, survey) == "240 of 400 planned responses shown"
    assert listed_strata(signed_in, survey) == (0, 2, 0)
    store(database_url, survey, links["North > B"], 90)
    assert listed_strata(signed_in, survey) == (1, 2, 0)  # North has 300 of 300


def test_withheld_strata_are_withheld_here_too(signed_in: FlaskClient, database_url: str) -> None:
    """Two came by the link of South: neither they nor what tells them by a subtraction is shown."""
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    store(database_url, survey, links["North > A"], 90)
    store(database_url, survey, links["North > B"], 12)
    store(database_url, survey, links["South"], 2)
    store(database_url, survey, "", 40)
    factories.close(database_url, survey.slug)

    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text

    # What is left of 144 without North's 102 is 42, as many as both that are withheld together.
    assert read_rows(page) == {
        ("North",): (102, "300 34.0 %"),
        ("North", "A"): (90, "200 45.0 %"),
        ("North", "B"): (12, "100 12.0 %"),
        ("South",): (None, "100 –"),
        (OWN_LINK,): (None, "– –"),
    }
    assert "Farthest from its target: <bdi>North</bdi>, 102 of 300." in page
    assert "Withheld are strata with fewer than 10 responses" in page
    assert listed_strata(signed_in, survey) == (0, 2, 1)


def test_of_several_versions_the_list_tells_strata_where_none_is_withheld(
    signed_in: FlaskClient, database_url: str
) -> None:
    """What results withhold depends then on what each version asks, which the list does not read."""
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    second = factories.publish(database_url, factories.definition((0.2, 0.1), **PLAN), survey.slug)
    for version, link, number in (
        (survey, "North > A", 100),
        (second, "North > A", 200),
        (second, "South", 2),
    ):
        store(database_url, version, links[link], number)
    factories.close(database_url, survey.slug)
    rows = read_rows(signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text)
    assert rows["South",][0] is None
    assert listed_strata(signed_in, survey) is None
    store(database_url, second, links["South"], 18)
    assert listed_strata(signed_in, survey) == (1, 2, 0)


def test_the_list_draws_the_days_that_results_do(signed_in: FlaskClient, database_url: str) -> None:
    """Each bar is as many as the minimum; nothing moves before they are."""
    survey = publish(database_url)
    spark = re.compile(r'<svg class="spark"[^>]*aria-label="([^"]*)"><path d="([^"]*)"/></svg>')

    def draw() -> list[tuple[str, str]]:
        return spark.findall(find_listed(signed_in.get("/manage/surveys").text, survey.slug))

    for day, number in ((1, 40), (2, 9), (3, 1)):
        factories.store(database_url, survey, [([1, 0], number)], day=date(2026, 5, day))
        # Ten wait, always: of the 9 none is shown, and the tenth shows ten.
        assert len(draw()) == (day == 3)
    assert draw() == [
        (
            "Responses per day from May 1, 2026 to May 3, 2026, at most 30",
            "M0 100V0h33.333V100zM66.667 100V66.667h33.333V100z",
        )
    ]
    assert "at most 30 in a day" in results(signed_in, survey)
    factories.store(database_url, survey, [([1, 0], 40)], day=date(2026, 8, 1))
    assert [said for said, _path in draw()] == [
        "Responses per week from April 27, 2026 to August 2, 2026, at most 40"
    ]


def test_numbers_grow_by_the_minimum_in_both_places(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    seen = []
    for number in (19, 1, 9, 1):
        store(database_url, survey, links["South"], *[1] * number)
        told = read_rows(signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text)
        shown, said = read_listed(signed_in.get("/manage/surveys").text, survey.slug)
        assert told.get(("South",), (0, ""))[0] == shown
        seen.append((shown, said))

    # As many as the minimum wait, always; ten at a time are shown.
    planned = "of 400 planned responses shown"
    assert seen == [(0, "no responses shown yet"), *((n, f"{n} {planned}") for n in (10, 10, 20))]


def test_the_list_tells_ways_of_collecting_as_results_do(
    signed_in: FlaskClient, database_url: str, tmp_path: Path
) -> None:
    """In steps. Once a few of C came, they and B are withheld, and of A alone it is told."""
    survey = publish(database_url)
    links = factories.plant(database_url, survey.slug, "A\nB\nC")
    way = re.compile(r'data-mark="way \d">(\d+)<')

    def key_in_sheets(number: int, stratum: str) -> None:
        file = tmp_path / f"{stratum}{number}.csv"
        done = key_in(database_url, survey.slug, file, ["AA"] * number, "--stratum", stratum)
        assert done.exit_code == 0, done.output

    said = []
    store(database_url, survey, links["A"], 40)
    for number, stratum in ((19, "A"), (11, "A"), (20, "B")):
        key_in_sheets(number, stratum)
        said.append(listed_ways(signed_in, survey))
        assert way.findall(results(signed_in, survey)) == re.findall(r"\d+", said[-1] or "")
    # Of each way, as of each stratum, ten or more wait.
    assert said == [None, "on a device: 30, on paper: 11", "on a device: 30, on paper: 21"]
    key_in_sheets(3, "C")
    factories.close(database_url, survey.slug)
    assert listed_ways(signed_in, survey) == "told apart: on a device 40, on paper 30"
    assert way.findall(results(signed_in, survey)) == ["40", "30"]


def test_without_populations_or_a_plan_there_are_no_targets(
    signed_in: FlaskClient, database_url: str
) -> None:
    unplanned = publish(database_url)
    links = factories.plant(database_url, unplanned.slug, TREE)
    store(database_url, unplanned, links["South"], 40)
    page = results(signed_in, unplanned)
    assert "There are no targets, as the plan names no number of respondents." in page
    assert "30 responses are shown. " in page
    assert read_listing(signed_in, unplanned) == "30 responses shown"

    partly = publish(database_url, **PLAN)
    links = factories.plant(database_url, partly.slug, "North, 3000\nSouth")
    store(database_url, partly, links["South"], 40)
    assert "There are no targets, as not every stratum has a population." in results(signed_in, partly)
    rows = read_rows(signed_in.get(f"/manage/surveys/{partly.slug}/results?{ALL_OPEN}").text)
    assert rows == {("North",): (0, ""), ("South",): (30, "")}


def test_a_cap_is_what_is_wanted(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    factories.settle(database_url, survey.slug, cap=80)
    for link in (links["North > A"], links["South"]):
        store(database_url, survey, link, 40)
    factories.close(database_url, survey.slug)

    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text

    assert read_rows(page)["North",] == (40, "60 66.7 %")
    assert read_rows(page)["South",] == (40, "20 200.0 %")
    assert "part of the 80 that the survey takes at most" in page
    assert read_listing(signed_in, survey) == "80 of at most 80 responses shown"


def test_targets_that_are_reached_are_said(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url, plan={"respondents": 40, "margin": 0.1})
    links = factories.plant(database_url, survey.slug, "North, 3000\nSouth, 1000")
    store(database_url, survey, links["North"], 30)
    store(database_url, survey, links["South"], 10)
    factories.close(database_url, survey.slug)
    assert "No stratum of which this can be told is short of its target." in results(signed_in, survey)


def test_of_one_version_alone_strata_are_not_told(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url, **PLAN)
    links = factories.plant(database_url, survey.slug, TREE)
    store(database_url, survey, links["South"], 40)
    assert read_rows(results(signed_in, survey, "?version=1")) == {}


def test_few_closed_responses_read_as_none(signed_in: FlaskClient, database_url: str) -> None:
    """The list does not tell whether there are few or none."""
    said = set()
    for number in (0, 9):
        survey = publish(database_url, **PLAN)
        store(database_url, survey, "", *[number] * bool(number))
        factories.close(database_url, survey.slug)
        said.add(read_listing(signed_in, survey))
    assert said == {"no responses shown"}


@pytest.mark.parametrize("depth", [1, 2])
def test_only_so_many_strata_are_listed(signed_in: FlaskClient, database_url: str, depth: int) -> None:
    survey = publish(database_url, **PLAN)
    above = "Region > " if depth == 2 else ""
    lines = "\n".join(f"{above}Place {place}, 20" for place in range(MOST_FOLLOWED + 1))
    links = factories.plant(database_url, survey.slug, lines)
    store(database_url, survey, links[f"{above}Place 0"], 40)

    rows = read_rows(page := signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text)

    assert len(rows) == (1 if depth == 2 else MOST_FOLLOWED)
    assert "Only the upper levels are shown here." in page
