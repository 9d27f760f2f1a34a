"""What is said of two questions together is never more than its two intervals allow, in either language."""

import csv
import html
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from server import reports
from server.config import Config
from server.people import survey_access
from server.privacy.estimators import ConditionalShare, GroupComparison
from server.reports.crossing_findings import CrossedFinding, Interval, Tendency, interpret_groups
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published
from tests.support.front_client import create_app
from tests.support.scale import choose_size

ENDS = ((0.0, 100.0), (-10.0, 30.0), (0.0, 2.5), (1900.0, 2030.0))


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture(scope="module")
def app(database_url: str) -> Iterator[Flask]:
    app = create_app(Config(database_url=database_url))
    yield app
    app.extensions["moneda.engine"].dispose()


def make_up_comparisons(number: int) -> Iterator[GroupComparison]:
    """Pairs of intervals of every width: apart, by a little or much, or not."""
    rng = np.random.default_rng(15)
    for _ in range(number):
        intervals = []
        for middle, half in zip(rng.uniform(0, 1, 2), 10 ** rng.uniform(-5, 0, 2), strict=True):
            intervals.append((float(max(middle - half, 0)), float(min(middle + half, 1))))
        if rng.random() < 0.2:  # close to each other, or meeting
            gap = float(rng.choice([0, 1e-4, 1e-3]))
            intervals[1] = min(intervals[0][1] + gap, 1.0), min(intervals[0][1] + gap + 0.1, 1.0)
        groups = [ConditionalShare(0.5, None, interval, "exact") for interval in intervals]
        yield GroupComparison(groups[0], groups[1], 0.95)


def read_numbers(sentence: str) -> list[float]:
    sentence = re.sub(r"(?<=\d)\s(?=\d)", "", sentence).replace("\N{MINUS SIGN}", "-")
    numbers = re.findall(r"-?\d+(?:[.,]\d+)?", sentence)
    return [float(number.replace(",", ".")) for number in numbers]


def says_too_much(finding: CrossedFinding, numbers: list[float], raw: tuple[Interval, Interval]) -> bool:
    """Whether something is told that the intervals leave open, or a possible number is left out."""
    gave, others = raw
    if finding.tendency == Tendency.MORE and not gave[0] > others[1]:
        return True
    if finding.tendency == Tendency.LESS and not gave[1] < others[0]:
        return True
    limits = numbers or [0.0, 100.0, 0.0, 100.0]
    low, high, least, most = limits
    return not (
        low <= gave[0] + 1e-9
        and gave[1] <= high + 1e-9
        and least <= others[0] + 1e-9
        and others[1] <= most + 1e-9
    )


def scale(comparison: GroupComparison, ends: Interval) -> tuple[Interval, Interval]:
    first, width = ends[0], ends[1] - ends[0]
    gave, others = (
        (first + width * group.interval[0], first + width * group.interval[1])
        for group in (comparison.gave, comparison.others)
    )
    return gave, others


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_sentence_says_more_than_its_two_intervals(app: Flask, language: str) -> None:
    seen = set()
    with app.test_request_context("/", headers={"Accept-Language": language}):
        module = app.jinja_env.get_template("words/crossed.html").module
        for place, comparison in enumerate(make_up_comparisons(choose_size(2_500, 40_000))):
            ends = ENDS[place % 4] if place % 2 else ENDS[0]
            finding = interpret_groups(comparison, ends)
            if ends == ENDS[0]:
                written = module.share_sentence(finding, "A", "Q", "B", "R")
            else:
                written = module.mean_sentence(finding, "A", "Q", "R", None)
            sentence = " ".join(html.unescape(str(written)).split())
            numbers = read_numbers(sentence)
            if ends == ENDS[0] and any(finding.known):
                numbers.remove(100)  # of 100
            assert len(numbers) in (0, 4), sentence
            assert not says_too_much(finding, numbers, scale(comparison, ends)), (sentence, comparison)
            # What is told apart is apart in the numbers that are told, too.
            assert (finding.tendency == Tendency.NOT_TOLD) == (
                finding.gave[0] <= finding.others[1] and finding.others[0] <= finding.gave[1]
            )
            telling = {"en": "do not tell", "es": "no dicen"}[language]
            assert (telling in sentence) == (finding.tendency == Tendency.NOT_TOLD), sentence
            seen.add((finding.tendency, any(finding.known)))
    assert seen == {(one, known) for one in Tendency for known in (True, False)} - {
        (Tendency.MORE, False),
        (Tendency.LESS, False),
    }


def test_a_sentence_that_follows_the_estimates_alone_says_too_much() -> None:
    """The twin tells what the estimates say, whatever the intervals; and one that rounds to the nearest."""
    groups = [
        ConditionalShare(0.5, share, interval, "exact")
        for share, interval in ((0.6, (0.314, 0.9)), (0.2, (0.1, 0.5)))
    ]
    comparison = GroupComparison(groups[0], groups[1], 0.95)
    honest = interpret_groups(comparison, ENDS[0])
    assert honest == CrossedFinding(Tendency.NOT_TOLD, (31, 90), (10, 50), (True, True))
    raw = scale(comparison, ENDS[0])
    assert not says_too_much(honest, [31, 90, 10, 50], raw)
    assert says_too_much(replace(honest, tendency=Tendency.MORE), [31, 90, 10, 50], raw)
    assert says_too_much(honest, [32, 90, 10, 50], raw)


ASKED = [
    factories.question("coin", "Did you?", 0.4),
    {
        "name": "party",
        "kind": "select_one",
        "text": "Which?",
        "options": every_kind.options({"red": 0, "green": 0, "blue": 0}),
        "design": {"mechanism": "k_ary", "epsilon": 3.0},
    },
    {
        **{"name": "cups", "kind": "number", "text": "How many cups?", "low": 0, "high": 40, "step": 1},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 3.0},
    },
]


@pytest.fixture(scope="module")
def together(database_url: str) -> Published:
    """Answers of which some go together: who did, chose red more often and drinks more."""
    survey = factories.publish(database_url, factories.definition(questions=ASKED))
    rows = [
        ([1, 0, 1], 900),
        ([1, 1, 0], 200),
        ([1, 2, 1], 200),
        ([0, 0, 0], 400),
        ([0, 1, 0], 600),
        ([0, 2, 1], 500),
    ]
    factories.store(database_url, survey, rows)
    return survey


def test_the_figures_of_two_questions_can_be_taken(
    app: Flask, database_url: str, together: Published
) -> None:
    """The picture, its words and its numbers are those of the page."""
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home, query = f"/manage/surveys/{together.slug}", "row=coin&column=party&row_answer=coin-1"
    page = client.get(f"{home}/results?{query}").text
    found = re.search(r'id="found-joint">(.*?)</p>', page, re.DOTALL)
    assert found is not None
    sentence = " ".join(html.unescape(found[1]).split())
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, together.slug)
        assert survey is not None
        crossed = reports.cross_questions(reports.read(session, survey).waves, "coin", "party", (1, 0), 0.95)
    finding = reports.interpret_crossing(crossed)
    low, high, least, most = (f"{end:g}" for end in (*finding.gave, *finding.others))
    assert sentence == (
        "The two answers go together. Of those who answered “Yes” to “Did you?”, "
        f"{low} to {high} of 100 answered “Option red” to “Which?”; of the others, {least} to {most}."
    )
    assert crossed.cells is not None
    for name, rows in (("crossing", len(crossed.cells) * len(crossed.cells[0])), ("groups", 2)):
        drawn = ElementTree.fromstring(client.get(f"{home}/{name}.svg?{query}").data)  # noqa: S314 - our own
        title, words = (drawn.findtext(f"{{http://www.w3.org/2000/svg}}{name}") for name in ("title", "desc"))
        assert title
        assert words
        assert f"{html.escape(words)}</desc>" in page
        assert client.get(f"{home}/{name}.png?{query}").data.startswith(b"\x89PNG")
        lines = list(csv.DictReader(io.StringIO(client.get(f"{home}/{name}.csv?{query}").text)))
        assert len(lines) == rows
        for ending in ("svg", "png", "csv"):
            assert html.escape(f"{home}/{name}.{ending}?{query}") in page
    gave = crossed.comparison.gave
    assert [float(lines[0][name]) for name in ("estimate", "interval_low", "interval_high")] == pytest.approx(
        [gave.value or 0, *gave.interval]
    )
    for wrong in ("", "?row=coin", "?row=coin&column=nothing"):
        assert client.get(f"{home}/groups.svg{wrong}").status_code in (404, 409)


def test_the_mean_of_a_number_is_told_in_groups(app: Flask, database_url: str, together: Published) -> None:
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home = f"/manage/surveys/{together.slug}"
    page = html.unescape(client.get(f"{home}/results?row=cups&column=coin&row_answer=coin-1").text)
    assert "The average of “How many cups?” is higher among those who answered “Yes” to “Did you?”" in page
    lines = list(csv.DictReader(io.StringIO(client.get(f"{home}/groups.csv?row=cups&column=coin").text)))
    assert {line["statistic"] for line in lines} == {"mean"}
    assert len(lines) == 4
    assert client.get(f"{home}/crossing.svg?row=cups&column=coin").status_code == 409


def test_a_table_without_room_for_its_picture_says_so(app: Flask, database_url: str) -> None:
    names = {f"o{number}": 0 for number in range(9)}
    asked = [
        {
            "name": name,
            "kind": "select_one",
            "text": f"Which {name}?",
            "options": every_kind.options(names),
            "design": {"mechanism": "k_ary", "epsilon": 4.0},
        }
        for name in ("one", "other")
    ]
    survey = factories.publish(database_url, factories.definition(questions=asked))
    factories.store(database_url, survey, [([k, (2 * k) % 9], 200) for k in range(9)])
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home = f"/manage/surveys/{survey.slug}"
    page = client.get(f"{home}/results?row=one&column=other").text
    assert "too many pairs of answers for a picture" in page
    assert client.get(f"{home}/crossing.svg?row=one&column=other").status_code == 409
    assert len(client.get(f"{home}/crossing.csv?row=one&column=other").text.splitlines()) == 82
    assert client.get(f"{home}/groups.svg?row=one&column=other").status_code == 200
