"""Every figure of results can be taken along: days, strata against their targets, and what an answer goes with."""

import csv
import html
import io
import re
from datetime import date
from xml.etree import ElementTree

from flask.testing import FlaskClient

from tests.support import factories

DAYS = (date(2026, 5, 1), date(2026, 5, 4))


def collect(database_url: str) -> str:
    """A survey of two strata with targets, answered in one of them on two days."""
    survey = factories.publish(database_url, minimum=10)
    factories.settle(database_url, survey.slug, cap=400)
    links = factories.plant(database_url, survey.slug, "North, 300\nSouth, 100")
    for day in DAYS:
        factories.store(database_url, survey, [([1], 40), ([0], 20)], links["North"], day)
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


def test_days_and_targets_can_be_taken(database_url: str, signed_in: FlaskClient) -> None:
    home = collect(database_url)
    page = html.unescape(signed_in.get(f"{home}/results", headers={"Accept-Language": "en"}).text)
    assert {"found-days", "found-targets"} <= list_copied(page)
    rows = read_rows(signed_in, f"{home}/days.csv")
    assert sum(int(row["responses"]) for row in rows) == 120
    assert rows[0]["first_day"] == str(DAYS[0])
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
    assert "Farthest from its target: South, of which none is shown." in page
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
