"""Strata beside each other: each with its own interval, two of them compared, and no sentence says more than that."""

import csv
import html
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from server import reports
from server.config import Config
from server.people import survey_access
from server.reports import Report
from server.reports.findings import find_share
from server.reports.stratum_comparison import (
    Compared,
    HigherGroup,
    Obstacle,
    compare_strata,
    interpret_difference,
)
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app
from tests.test_findings import make_up_intervals, says_too_much

Interval = tuple[float, float]
RATES = {"Peru > Arequipa": 0.35, "Peru > Cusco": 0.6, "Chile": 0.62, "Bolivia > La Paz": 0.5}
EACH = 600
QUESTIONS = [
    {
        "name": "way",
        "kind": "select_one",
        "text": "How do you come?",
        "options": [{"name": name, "text": name.title()} for name in ("bus", "car", "foot")],
        "design": {"mechanism": "k_ary", "epsilon": 2},
    },
    {
        "name": "cups",
        "kind": "number",
        "text": "Cups a day?",
        **{"low": 0, "high": 10, "step": 1, "unit": "cups"},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 3},
    },
    {
        "name": "drinks",
        "kind": "number",
        "text": "Drinks a day?",
        **{"low": 0, "high": 10, "step": 1, "prefer_not_to_say": True},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 3},
    },
]


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture(scope="module")
def site(database_url: str) -> Iterator[tuple[Flask, str]]:
    """A closed survey with strata inside strata; one of them has four responses."""
    document = factories.definition([0.25])
    document["questions"] = [*document["questions"], *QUESTIONS]
    survey = factories.publish(database_url, document, minimum=10)
    links = factories.plant(database_url, survey.slug, "\n".join([*RATES, "Bolivia > Oruro", "Ecuador"]))
    rng = np.random.default_rng(8)
    for path, rate in RATES.items():
        yes = round(EACH * rate)
        others = rng.integers(0, [3, 2, 3], (EACH, 3)).tolist()
        rows = [([int(place < yes), *other], 1) for place, other in enumerate(others)]
        factories.store(database_url, survey, rows, links[path])
    factories.store(database_url, survey, [([0, 0, 0, 0], 4)], links["Bolivia > Oruro"])
    factories.store(database_url, survey, [([1, 0, 1, 0], 60), ([0, 1, 1, 1], 40)])
    factories.close(database_url, survey.slug)
    app = create_app(Config(database_url=database_url))
    yield app, survey.slug
    app.extensions["moneda.engine"].dispose()


@pytest.fixture(scope="module")
def report(site: tuple[Flask, str], database_url: str) -> Report:
    """What that survey found."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, site[1])
        assert survey is not None
        return reports.read(session, survey)


@pytest.fixture
def researcher(site: tuple[Flask, str], database_url: str) -> FlaskClient:
    """Its owner."""
    return factories.sign_in(site[0].test_client(), factories.sign_in_secret(database_url))


def compare(report: Report, question: str, first: str, second: str, *, anytime: bool = False) -> Compared:
    return compare_strata(report, report.question(question), (first, second), anytime)


def find_sentence(page: str, name: str) -> str:
    found = re.search(rf'id="found-{name}">(.*?)</p>', page, re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(found[1]).split())


def read_claim(sentence: str, verdict: HigherGroup) -> Interval:
    """Which differences a sentence on shares leaves possible, in points: those of the first less the second."""
    numbers = [int(text) for text in re.findall(r"\d+", sentence)]
    if verdict == HigherGroup.IMPOSSIBLE:
        return -100, 100
    numbers.remove(100)  # of 100
    if verdict == HigherGroup.NOT_TOLD:
        more, fewer = numbers
        return -fewer, more
    low, high = numbers if len(numbers) == 2 else (0, *numbers)
    return (low, high) if verdict == HigherGroup.FIRST else (-high, -low)


def claims_too_much(sentence: str, verdict: HigherGroup, interval: Interval) -> bool:
    """Whether a sentence leaves out a possible difference that the interval holds, or tells what is not told."""
    low, high = (min(max(end, -100.0), 100.0) for end in interval)
    if (verdict == HigherGroup.FIRST and interval[0] <= 0) or (
        verdict == HigherGroup.SECOND and interval[1] >= 0
    ):
        return True
    least, most = read_claim(sentence, verdict)
    return not least <= low <= high <= most


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_comparison_says_more_than_its_interval(site: tuple[Flask, str], language: str) -> None:
    rng = np.random.default_rng(15)
    seen = set()
    with site[0].test_request_context("/", headers={"Accept-Language": language}):
        write = site[0].jinja_env.get_template("words/compared.html").module.share_distance
        middles, halves = rng.uniform(-130, 130, 10_000), 10 ** rng.uniform(-2, 2.2, 10_000)
        for middle, half in zip(middles.tolist(), halves.tolist(), strict=True):
            interval = middle - half, middle + half
            if rng.random() < 0.1:
                interval = float(round(interval[0])), float(round(interval[1]))
            distance = interpret_difference(interval, 100, 1)
            sentence = " ".join(html.unescape(str(write(distance, "X", "AA", "BB"))).split())
            seen.add(distance.verdict)
            assert not claims_too_much(sentence, distance.verdict, interval), (sentence, interval)
            if distance.verdict in (HigherGroup.FIRST, HigherGroup.SECOND):
                # What is named first is where it is higher.
                assert (sentence.index("AA") < sentence.index("BB")) == (interval[0] > 0)
            assert ("100" in sentence) == (distance.verdict != HigherGroup.IMPOSSIBLE)
    assert seen == set(HigherGroup)


def test_a_comparison_that_rounds_to_the_nearest_says_too_much() -> None:
    interval = 3.4, 16.6
    assert not claims_too_much("Of 100, 3 to 17 more", HigherGroup.FIRST, interval)
    assert claims_too_much("Of 100, 4 to 16 more", HigherGroup.FIRST, interval)
    assert claims_too_much("Of 100, at most 17 more", HigherGroup.FIRST, (-0.4, 16.6))


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_stratum_in_the_list_is_said_to_be_narrower_than_its_interval(
    site: tuple[Flask, str], report: Report, language: str
) -> None:
    row = report.question("q1").shown[0]
    with site[0].test_request_context("/", headers={"Accept-Language": language}):
        write = site[0].jinja_env.get_template("words/estimates.html").module.extent
        for value, interval in make_up_intervals(10_000):
            found = find_share(row, value, interval)
            assert not says_too_much(str(write(found)), found.says, interval)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((3.2, 16.4), (HigherGroup.FIRST, 3, 17)),
        ((0.2, 16.4), (HigherGroup.FIRST, 0, 17)),
        ((-16.4, -3.2), (HigherGroup.SECOND, 3, 17)),
        ((-9.5, 5.0), (HigherGroup.NOT_TOLD, 10, 5)),
        ((0.0, 5.0), (HigherGroup.NOT_TOLD, 0, 5)),
        ((95.0, 130.0), (HigherGroup.FIRST, 95, 100)),
        ((101.0, 130.0), (HigherGroup.IMPOSSIBLE, 0, 0)),
    ],
)
def test_what_an_interval_of_a_difference_lets_one_say(
    interval: Interval, said: tuple[HigherGroup, int, int]
) -> None:
    found = interpret_difference(interval, 100, 1)
    assert (found.verdict, found.low, found.high) == said


def test_a_difference_is_that_of_the_estimates_by_hand(report: Report) -> None:
    # Reported Yes 35 % and 60 % under two fair coins: shares (R - 1/4) / (1/2), 0.2 and 0.7; Newcombe's interval is
    # twice that of the difference of the reported shares, -0.3034 to -0.1940 with 210 and 360 of 600.
    (pair,) = compare(report, "q1", "Peru > Arequipa", "Peru > Cusco").figures
    assert pair.value == pytest.approx(-0.5, abs=1e-9)
    assert pair.interval == pytest.approx((-0.6067, -0.3880), abs=2e-3)
    assert pair.distance.verdict == HigherGroup.SECOND


def test_several_options_are_compared_at_once_and_so_more_widely(report: Report) -> None:
    several = compare(report, "way", "Peru > Arequipa", "Chile")
    alone = compare_strata(report, report.question("q1"), ("Peru > Arequipa", "Chile"), anytime=False)
    assert len(several.figures) == 3
    assert len(alone.figures) == 1
    for pair in several.figures:
        errors = np.hypot(pair.first.standard_error, pair.second.standard_error)
        low, high = pair.interval
        # The normal quantile of 1 - 0.05 / 3 is 2.394; of 0.95 it is 1.960.
        assert (high - low) / 2 / errors == pytest.approx(2.394, rel=0.01)


@pytest.mark.parametrize("question", ["q1", "way", "cups", "drinks"])
def test_looking_often_widens_a_comparison(report: Report, question: str) -> None:
    once = compare(report, question, "Peru", "Chile")
    always = compare(report, question, "Peru", "Chile", anytime=True)
    for narrow, wide in zip(once.figures, always.figures, strict=True):
        assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]
        assert narrow.value == wide.value


@pytest.mark.parametrize(
    ("first", "second", "obstacle"),
    [
        ("Chile", "Chile", Obstacle.SAME),
        ("Peru", "Peru > Cusco", Obstacle.INSIDE),
        ("Peru > Cusco", "Peru", Obstacle.INSIDE),
        ("Bolivia > Oruro", "Chile", Obstacle.WITHHELD),
        ("Chile", "Bolivia > La Paz", Obstacle.WITHHELD),
        ("Ecuador", "Chile", Obstacle.NOBODY),
        ("Peru", "Chile", None),
        ("<without stratum>", "Chile", None),
    ],
)
def test_who_can_be_compared(report: Report, first: str, second: str, obstacle: Obstacle | None) -> None:
    found = compare(report, "q1", first, second)
    assert found.obstacle == obstacle
    assert bool(found.figures) == (obstacle is None)


def test_the_page_compares_and_says_so_in_words(site: tuple[Flask, str], researcher: FlaskClient) -> None:
    home = f"/manage/surveys/{site[1]}"
    asked = {"first_stratum": "Peru > Arequipa", "second_stratum": "Peru > Cusco"}
    page = researcher.get(f"{home}/results", query_string=asked).text
    said = find_sentence(page, "comparison")
    assert re.fullmatch(
        r"Of 100, “Yes” is true of \d+\sto\s\d+ more in Peru > Cusco than in Peru > Arequipa\.", said
    )
    sides = re.findall(r"higher in (Peru > \w+)", html.unescape(page))
    assert sides == ["Peru > Cusco", "Peru > Arequipa"], "at the left where the difference is negative"
    folded = page[page.index("Numbers of the comparison") : page.index("The report with this comparison")]
    cells = re.findall(r'<td class="number"( data-label="[^"]+")?', folded)
    assert len(cells) == 4 + 5
    assert all(cells), "on a phone each number stands beside its name"
    inside = researcher.get(
        f"{home}/results", query_string={"first_stratum": "Peru", "second_stratum": "Peru > Cusco"}
    )
    assert "a part of the other" in inside.text
    assert ('"found" data-unsure>' in inside.text, 'data-unsure id="found-comparison"' in page) == (
        True,
        False,
    )
    unknown = researcher.get(
        f"{home}/results", query_string={"first_stratum": "Peru", "second_stratum": "Atlantis"}
    )
    assert unknown.status_code == 404
    several = researcher.get(f"{home}/results", query_string={**asked, "question": "way"}).text
    assert "These are 3 comparisons at once" in find_sentence(several, "comparison")


def test_a_withheld_stratum_is_seen_as_withheld(site: tuple[Flask, str], researcher: FlaskClient) -> None:
    page = researcher.get(f"/manage/surveys/{site[1]}/results").text
    tree = page[page.index('class="branches"') : page.index('id="found-strata"')]
    rows = re.findall(r'<span class="branch-name"[^>]*>(.*?)</span>\s*<(svg|span)', tree)
    drawn = {html.unescape(name): shape == "svg" for name, shape in rows}
    assert drawn == {
        **{"All responses": True, "Peru": True, "Arequipa": True, "Cusco": True, "Chile": True},
        **{"Bolivia": True, "La Paz": False, "Oruro": False, "Ecuador": False, "Without stratum": True},
    }
    assert (
        tree.count("withheld\N{NO-BREAK SPACE}*") + tree.count("withheld *") + tree.count("withheld&nbsp;*")
        == 2
    )
    offered = re.findall(r'<option value="([^"]*)"', page[page.index('id="first_stratum"') :])
    assert {html.unescape(name) for name in offered}.isdisjoint({"Bolivia > La Paz", "Bolivia > Oruro"})


def test_what_is_withheld_is_in_no_file_of_a_figure(site: tuple[Flask, str], researcher: FlaskClient) -> None:
    home = f"/manage/surveys/{site[1]}"
    for hidden in ("Bolivia > Oruro", "Bolivia > La Paz"):
        for ending in ("svg", "png", "csv"):
            answer = researcher.get(
                f"{home}/comparison.{ending}",
                query_string={"first_stratum": hidden, "second_stratum": "Chile"},
            )
            assert answer.status_code == 409
    drawn = ElementTree.fromstring(researcher.get(f"{home}/strata.svg").data)  # noqa: S314 - our own
    words = [text for text in drawn.itertext() if text.strip()]
    assert words.count("withheld") == 2


def test_figures_of_strata_can_be_taken(site: tuple[Flask, str], researcher: FlaskClient) -> None:
    home = f"/manage/surveys/{site[1]}"
    asked = {"first_stratum": "Peru", "second_stratum": "Chile", "question": "way"}
    for name in ("strata", "comparison"):
        drawn = researcher.get(f"{home}/{name}.svg", query_string=asked)
        assert ElementTree.fromstring(drawn.data).tag.endswith("svg")  # noqa: S314 - our own
        picture = researcher.get(f"{home}/{name}.png", query_string=asked)
        assert picture.data.startswith(b"\x89PNG")
    rows = list(
        csv.DictReader(io.StringIO(researcher.get(f"{home}/comparison.csv", query_string=asked).text))
    )
    assert [row["answer"] for row in rows] == ["bus", "car", "foot"]
    for row in rows:
        difference = float(row["first_estimate"]) - float(row["second_estimate"])
        assert float(row["difference"]) == pytest.approx(difference, abs=1e-9)
        assert float(row["interval_low"]) < difference < float(row["interval_high"])
    assert researcher.get(f"{home}/comparison.csv").status_code == 409
