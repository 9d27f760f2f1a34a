"""Every figure of results can be taken along: days, strata against their targets, and what an answer goes with."""

import csv
import html
import io
import re
from collections.abc import Sequence
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient

from server.output.formatting import day
from server.study import surveys
from tests.support import factories
from tests.support.folded_parts import ALL_OPEN

DAYS = (date(2025, 5, 1), date(2025, 5, 4))


def collect(database_url: str, days: Sequence[date] = DAYS) -> str:
    """A survey of two strata with targets, answered in one of them on two days, and closed today."""
    survey = factories.publish(database_url, minimum=10)
    factories.settle(database_url, survey.slug, cap=400)
    links = factories.plant(database_url, survey.slug, "North, 300\nSouth, 100")
    for shown_on in days:
        factories.store(database_url, survey, [([1], 40), ([0], 20)], links["North"], shown_on)
    factories.close(database_url, survey.slug)
    return f"/manage/surveys/{survey.slug}"


def read_rows(client: FlaskClient, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(address).text.removeprefix("\ufeff"))))


def list_copied(page: str) -> set[str]:
    """The ids of what is copied: each stands on the page, and no two buttons copy the same."""
    copied: list[str] = re.findall(r'data-copy="([^"]+)"', page)
    assert all(page.count(f'id="{name}"') == 1 for name in copied), copied
    assert len(set(copied)) == len(copied)
    return set(copied)


@pytest.mark.parametrize("weekly", [False, True])
def test_days_and_targets_can_be_taken(database_url: str, signed_in: FlaskClient, weekly: bool) -> None:
    """By weeks where the days are many: on the page, and in each of its files."""
    today = surveys.today()
    home = collect(database_url, DAYS if weekly else (today - timedelta(3), today))
    page = html.unescape(signed_in.get(f"{home}/results?{ALL_OPEN}", headers={"Accept-Language": "en"}).text)
    assert {"found-days", "found-targets"} <= list_copied(page)
    rows = read_rows(signed_in, f"{home}/days.csv")
    assert sum(int(row["responses"]) for row in rows) == 120
    # May 1, 2025 was a Thursday.
    assert rows[0]["first_day"] == ("2025-04-28" if weekly else str(today - timedelta(3)))
    unit, other = ("week", "day") if weekly else ("day", "week")
    assert {row["unit"] for row in rows} == {unit}
    for said in (
        "<figcaption>Responses per {}<",
        'aria-label="Responses per {} from',
        " in a {}, or on average",
    ):
        assert said.format(unit) in page
        assert said.format(other) not in page
    assert ("A week is from Monday to Sunday" in page) == weekly
    first = "May 1, 2025" if weekly else day(today - timedelta(3), "en")
    assert f"Shown from {first} to {day(today, 'en')}" in page
    report = html.unescape(signed_in.get(f"{home}/report.html", headers={"Accept-Language": "en"}).text)
    assert f"Responses per {unit}" in report
    assert ("A week is from Monday to Sunday" in report) == weekly
    targets = {row["stratum"]: row for row in read_rows(signed_in, f"{home}/targets.csv")}
    assert (targets["North"]["responses"], targets["North"]["target"]) == ("120", "300")
    for name, shapes in (("days", len(rows)), ("targets", 1)):
        drawn = ElementTree.fromstring(signed_in.get(f"{home}/{name}.svg").data)  # noqa: S314 - our own
        bars = [shape for shape in drawn.iter() if shape.get("class") == "bar"]
        assert len(bars) == shapes, name
        assert signed_in.get(f"{home}/{name}.png").data.startswith(b"\x89PNG")


def test_a_stratum_of_which_nobody_is_shown_is_not_said_to_have_none(
    database_url: str, signed_in: FlaskClient
) -> None:
    """Some may wait: it is not 0 % of its target."""
    page = html.unescape(
        signed_in.get(f"{collect(database_url)}/results", headers={"Accept-Language": "en"}).text
    )
    assert "Farthest from its target: <bdi>South</bdi>, of which none is shown." in page
    row = re.search(r'data-mark="collected South">(.*?)</tr>', page, re.DOTALL)
    assert row is not None
    assert row[1].startswith("none shown")
    assert "%" not in row[1].replace("100%", "")


def test_all_pairs_of_answers_copy_their_own_sentence(database_url: str, signed_in: FlaskClient) -> None:
    survey = factories.publish(
        database_url,
        factories.definition(questions=[factories.question("q1", "A?"), factories.question("q2", "B?")]),
        minimum=10,
    )
    factories.store(database_url, survey, [([1, 1], 300), ([0, 0], 200), ([1, 0], 100)])
    factories.close(database_url, survey.slug)
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?row=q1&column=q2").text
    pairs = page[page.index("All pairs of answers") :]
    assert re.findall(r'data-copy="([^"]+)" data-sure="([^"]+)"', pairs)[0] == ("found-pairs", "sure-pairs")
    assert {"found-joint", "found-pairs"} <= list_copied(page)


def test_a_p_value_is_explained_where_there_is_one(database_url: str, signed_in: FlaskClient) -> None:
    said = "p values near 0"
    for yes, expected in ((300, False), (590, True)):  # of 600; by the coins at most 450 can be expected
        survey = factories.publish(database_url, minimum=10)
        factories.store(database_url, survey, [([1], yes), ([0], 600 - yes)])
        factories.close(database_url, survey.slug)
        page = signed_in.get(f"/manage/surveys/{survey.slug}/results", headers={"Accept-Language": "en"}).text
        assert (said in page) == expected
        # How wide an interval is that nothing possible fits tells nothing.
        assert bool(re.search(r"\d+ responses\s+· ±", page)) != expected
