"""Surveys compared as waves: difference, ratio, test and trend, by hand and on every way out; and who may compare."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jsonschema
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from scipy import stats
from sqlalchemy.orm import Session

from server import reports
from server.config import SCHEMAS, Config
from server.people import survey_access
from server.reports.chosen_surveys import compare_chosen_surveys
from server.reports.survey_comparison import ComparedSurveys
from server.store.models import Survey
from server.study.surveys import now
from server.web import long_work
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app
from tests.test_comparing import QUESTIONS, find_sentence
from tests.views.test_programs import calling, make_token

GAMMAS, RATES, SIZES = (0.25, 0.25, 0.4), (0.35, 0.38, 0.36), (600, 600, 400)
"""Of the question with Yes and No in each survey: γ, the share of Yes among the reports, and how many there are."""
LATER = {"design": {"mechanism": "unary", "epsilon": 2}}
"""How the last survey asks what is chosen among several: a coin for each answer."""
OTHERWISE = {"prefer_not_to_say": True, "design": {"mechanism": "k_ary", "epsilon": 1}}
Z = stats.norm.ppf(0.975)


@dataclass(frozen=True)
class Waves:
    """Three surveys that ask the same; one of a stranger's, one that asks otherwise, one that too few answered."""

    app: Flask
    url: str
    slugs: tuple[str, ...]
    stranger: str
    otherwise: str
    few: str
    stranger_number: int


def write(title: str, gamma: float = 0.25, way: Any = None, **changes: Any) -> dict[str, Any]:
    document = factories.definition([gamma], title=title)
    first, *_ = document["questions"]
    document["questions"] = [{**first, **changes}, {**QUESTIONS[0], **(way or {})}, *QUESTIONS[1:]]
    return document


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture(scope="module")
def waves(database_url: str) -> Iterator[Waves]:
    """Published one after the other, the second in other words, the third with other coins."""
    rng = np.random.default_rng(3)
    documents = [
        write("Exams before"),
        write("Exams after", text="Question 1, in other words?"),
        write("Exams later", GAMMAS[2], LATER),
        write("Not yours"),
        write("Otherwise", **OTHERWISE),
        write("Few"),
    ]
    published = [factories.publish(database_url, document, minimum=10) for document in documents]
    for survey, rate, n in zip(published, (*RATES, 0.4, 0.4, 0.5), (*SIZES, 50, 50, 4), strict=True):
        highest = [2, 2, 2, 2, 3] if survey.slug == published[2].slug else [3, 2, 3]
        others = rng.integers(0, highest, (n, len(highest))).tolist()
        rows = [([int(place < round(rate * n)), *other], 1) for place, other in enumerate(others)]
        factories.store(database_url, survey, rows)
        factories.close(database_url, survey.slug)
    slugs = [survey.slug for survey in published]
    stranger = factories.account(database_url, "stranger")
    with factories.writing(database_url) as session:
        find(session, slugs[3]).owner_id = stranger
    app = create_app(Config(database_url=database_url))
    yield Waves(app, database_url, tuple(slugs[:3]), *slugs[3:], stranger)
    app.extensions["moneda.engine"].dispose()


@pytest.fixture
def researcher(waves: Waves) -> FlaskClient:
    """The owner of all but the stranger's."""
    return factories.sign_in(waves.app.test_client(), factories.sign_in_secret(waves.url))


def find(session: Session, slug: str) -> Survey:
    found = survey_access.find(session, slug)
    assert found is not None
    return found


def compare(waves: Waves, question: str, own: int = 2, *, anytime: bool = False) -> ComparedSurveys:
    """All three, from the report of one of them."""
    others = [slug for slug in waves.slugs if slug != waves.slugs[own]]
    with factories.writing(waves.url) as session:
        made = reports.read(session, find(session, waves.slugs[own]))
        return compare_chosen_surveys(
            session, made, question, others, lambda slug: find(session, slug), anytime=anytime
        )


def estimate(place: int) -> tuple[float, float, tuple[float, float]]:
    """By hand: the share of Yes, its standard error, and Wilson's limits, each by that survey's own coins."""
    n, if_no, slope = SIZES[place], 0.5 - GAMMAS[place], 2 * GAMMAS[place]
    rate = round(n * RATES[place]) / n
    middle, reach = rate + Z * Z / 2 / n, Z * math.sqrt(rate * (1 - rate) / n + Z * Z / 4 / n / n)
    low, high = ((end / (1 + Z * Z / n) - if_no) / slope for end in (middle - reach, middle + reach))
    return (rate - if_no) / slope, math.sqrt(rate * (1 - rate) / (n - 1)) / slope, (low, high)


def test_difference_ratio_and_trend_are_those_by_hand(waves: Waves) -> None:
    compared = compare(waves, "q1")
    (pair,) = compared.figures
    (trend,) = compared.trends
    values, errors, limits = zip(*map(estimate, range(3)), strict=True)
    assert [each.slug for each in compared.surveys] == list(waves.slugs)
    # The last less the first, by Newcombe's distances, each under its own coins.
    low, high = limits[2][0] - values[2], limits[2][1] - values[2]
    under, over = limits[0][0] - values[0], limits[0][1] - values[0]
    difference = values[2] - values[0]
    assert pair.value == pytest.approx(difference)
    by_hand = difference - math.hypot(low, over), difference + math.hypot(high, under)
    assert pair.interval == pytest.approx(by_hand, abs=1e-6)
    assert pair.measures.ratio == pytest.approx(values[2] / values[0])
    assert pair.measures.standard_error == pytest.approx(math.hypot(errors[2], errors[0]))
    # The slope of NumPy's weighted line, and its error by the usual matrix.
    slope, _start = np.polyfit(range(3), values, 1, w=1 / np.array(errors))
    matrix = np.vander(np.arange(3), 2) / np.array(errors)[:, None]
    error = math.sqrt(np.linalg.inv(matrix.T @ matrix)[0, 0])
    assert trend.value == pytest.approx(slope)
    assert trend.standard_error == pytest.approx(error)
    assert trend.interval == pytest.approx((slope - Z * error, slope + Z * error), abs=0.002)
    assert trend.p_value == pytest.approx(2 * stats.norm.sf(slope / error), rel=0.05)
    assert trend.least_shown == pytest.approx((Z + stats.norm.ppf(0.8)) * error, rel=0.01)
    # A twin: who forgets the coins of the last survey takes it for surer than it is.
    forgotten = [errors[0], errors[1], errors[2] * 2 * GAMMAS[2]]
    wrong = np.vander(np.arange(3), 2) / np.array(forgotten)[:, None]
    too_small = math.sqrt(np.linalg.inv(wrong.T @ wrong)[0, 0])
    assert trend.standard_error != pytest.approx(too_small, rel=0.01)


@pytest.mark.parametrize("question", ["q1", "way", "cups", "drinks"])
def test_whichever_report_asks_the_numbers_are_the_same_and_agree(waves: Waves, question: str) -> None:
    """Also where one survey has a coin for each answer and another one for all."""
    first, last = (compare(waves, question, own) for own in (0, 2))
    assert len(first.figures) == len(first.trends) == {"way": 3, "drinks": 2}.get(question, 1)
    for one, other in zip(first.figures, last.figures, strict=True):
        assert (one.value, one.interval) == (other.value, other.interval)
    for trend, pair in zip(first.trends, first.figures, strict=True):
        assert trend.interval is not None
        assert trend.value is not None
        assert trend.p_value is not None
        low, high = trend.interval
        assert low < trend.value < high
        assert (trend.p_value < 0.05) == (low > 0 or high < 0)
        # Of three at equal distances, a step is about half of the way from the first to the last.
        assert (high - low) == pytest.approx((pair.interval[1] - pair.interval[0]) / 2, rel=0.25)
    anytime = compare(waves, question, anytime=True)
    for wide, narrow in zip(anytime.trends, first.trends, strict=True):
        assert wide.interval is not None
        assert narrow.interval is not None
        assert wide.p_value is None
        assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]


def test_of_an_open_survey_no_more_is_compared_than_its_own_results_show(waves: Waves) -> None:
    survey = factories.publish(waves.url, write("Still open"), minimum=10)
    factories.store(waves.url, survey, [([0, 0, 0, 0], 20), ([1, 1, 1, 1], 20)])
    factories.store(waves.url, survey, [([1, 1, 1, 1], 4)])  # which wait for others
    with factories.writing(waves.url) as session:
        made, alone = (reports.read(session, find(session, slug)) for slug in (waves.slugs[0], survey.slug))
        compared = compare_chosen_surveys(
            session, made, "q1", [survey.slug], lambda slug: find(session, slug), anytime=False
        )
    assert compared.first.slug == survey.slug
    assert 0 < compared.first.n == alone.n < 40
    assert compared.figures[0].first.value == alone.question("q1").shown[0].value


def test_the_page_says_what_changed_and_of_which_surveys(waves: Waves, researcher: FlaskClient) -> None:
    home = f"/manage/surveys/{waves.slugs[2]}/results"
    folded = researcher.get(home).text
    assert "Compare with other surveys" in folded
    assert waves.slugs[0] not in folded  # what is folded is not read
    opened = researcher.get(home, query_string={"open": "surveys"}).text
    for slug, is_offered in ((waves.slugs[0], True), (waves.stranger, False), (waves.few, True)):
        assert (f'name="survey" value="{slug}"' in opened) == is_offered
    asked = {"open": "surveys", "question": "q1", "survey": [*waves.slugs[:2], waves.few]}
    page = researcher.get(home, query_string=asked).text
    said = find_sentence(page, "surveys")
    assert "more in “Exams later” than in “Exams before”." in said
    assert "On the line that fits all 3 surveys best, “Yes” becomes true of" in said
    text = " ".join(page.split())
    for note in (
        "“Exams after” asks in other words: “Question 1, in other words?”",
        "another way than here in “Exams before”, “Exams after”. People there read another promise",
        "Nothing here tells whether somebody answered more than one of these surveys",
        "Nobody’s answers are shown of “Few” yet.",
        "Trend over all surveys",
    ):
        assert note in text
    # Other forms of the page keep the choice.
    assert page.count(f'<input type="hidden" name="survey" value="{waves.slugs[0]}">') >= 1
    two = researcher.get(home, query_string={**asked, "survey": waves.slugs[0]}).text
    assert "Trend over all surveys" not in two


def test_a_hundred_surveys_leave_the_choice_short(sqlite: NewDatabase) -> None:
    """The newest can be ticked, and so can what was chosen; all others stand in one list, each once."""
    database_url = sqlite(True)
    published = [factories.publish(database_url, write(f"Exams {place}")) for place in range(11)]
    own, *older = [survey.slug for survey in reversed(published)]
    factories.store(database_url, published[-1], [([1, 0, 0, 0, 0, 0], 30)])
    app = create_app(Config(database_url=database_url))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))

    def read_choice(*chosen: str) -> tuple[list[str], list[str]]:
        asked = {"open": "surveys", "survey": ["", *chosen]}
        page = client.get(f"/manage/surveys/{own}/results", query_string=asked).text
        ticks = re.findall(r'type="checkbox" name="survey" value="(\w+)"', page)
        listed = page.partition('<select id="surveys-other" name="survey">')[2].partition("</select>")[0]
        return ticks, re.findall(r'value="(\w+)"', listed)

    assert read_choice() == (older[:6], older[6:])
    assert read_choice(older[8]) == ([*older[:6], older[8]], [older[6], older[7], older[9]])
    app.extensions["moneda.engine"].dispose()


def test_every_format_command_and_program_hold_the_comparison(waves: Waves, researcher: FlaskClient) -> None:
    own, *others = waves.slugs[::-1]
    home, asked = f"/manage/surveys/{own}", {"question": "q1", "survey": others}
    document = json.loads(researcher.get(f"{home}/report.json", query_string=asked).text)
    jsonschema.validate(document, json.loads((SCHEMAS / "report.schema.json").read_text()))
    (found,) = document["survey_comparisons"]
    assert [each["survey"] for each in found["surveys"]] == list(waves.slugs)
    assert [each["other_words"] for each in found["surveys"]] == [False, True, False]
    assert [each["other_coins"] for each in found["surveys"]] == [True, True, False]
    (row,), (trend,) = found["rows"], found["trends"]
    assert (row["higher"], trend["direction"]) == ("first", "rises")
    rows = list(csv.DictReader(io.StringIO(researcher.get(f"{home}/report.csv", query_string=asked).text)))
    numbers = {each["statistic"]: each for each in rows if each["group"] == "surveys"}
    assert float(numbers["share_difference"]["estimate"]) == row["difference"]
    assert float(numbers["share_trend"]["interval_low"]) == trend["step_interval"][0]
    assert float(numbers["share_trend_p_value"]["estimate"]) == trend["p_value"]
    page = researcher.get(f"{home}/report.html", query_string=asked).text
    for text in ("Surveys compared", "Each survey by itself", "Trend over all surveys", "Survey by survey"):
        assert text in page
        assert text not in researcher.get(f"{home}/report.html").text
    for ending in ("pdf", "xlsx"):
        assert researcher.get(f"{home}/report.{ending}", query_string=asked).status_code == 200
    choice = ("--surveys", "q1", ",".join(others))
    told = factories.run(waves.url, "estimate", own, *choice, "--json")
    assert json.loads(told.stdout) == {"survey_comparisons": [found]}
    printed = factories.run(waves.url, "report", own, *choice).stdout
    assert f"{own} less {others[1]}:" in printed
    assert "From each survey to the next" in printed
    # Whoever reads an export without the page learns of simulated respondents, too.
    factories.settle(waves.url, waves.slugs[0], simulated=True)
    assert (
        f"The respondents of {waves.slugs[0]} are simulated."
        in factories.run(waves.url, "estimate", own, *choice).stdout
    )
    mixed = csv.DictReader(io.StringIO(researcher.get(f"{home}/report.csv", query_string=asked).text))
    told_of = {(each["group"] == "surveys", each["simulated"]) for each in mixed}
    assert told_of == {(True, "true"), (False, "false")}
    factories.settle(waves.url, waves.slugs[0], simulated=False)
    call = calling(waves.app, make_token(waves.url, 1, "viewer"))
    answer = call("GET", f"/surveys/{own}/report.json?question=q1&survey={others[0]}&survey={others[1]}")
    assert answer.get_json()["survey_comparisons"] == [found]


def test_nobody_learns_of_a_survey_that_they_may_not_see(waves: Waves, researcher: FlaskClient) -> None:
    """The answer is, letter for letter, that to a link that never was: on the page, in a report, for a program."""
    own, other, _last = waves.slugs
    home = f"/manage/surveys/{own}"

    def ask(slug: str) -> list[tuple[int, str]]:
        asked = {"question": "q1", "survey": slug}
        of_one = calling(waves.app, make_token(waves.url, 1, "viewer", own))
        answers = [
            researcher.get(f"{home}/results", query_string={**asked, "open": "surveys"}),
            researcher.get(f"{home}/report.json", query_string=asked),
            of_one("GET", f"/surveys/{own}/report.json?question=q1&survey={slug}"),
        ]
        return [(answer.status_code, answer.text.replace(slug, "")) for answer in answers]

    assert ask(waves.stranger) == ask("never-was-1")
    assert [status for status, _text in ask(waves.stranger)] == [404, 404, 404]
    # A token for one survey reads no other one, also of its own researcher's.
    assert ask(other)[2] == ask("never-was-1")[2]
    assert [status for status, _text in ask(other)] == [200, 200, 404]
    # The stranger has one survey: nothing else is offered, and none of ours is told of.
    link = factories.link_of(waves.url, waves.stranger_number)
    stranger = factories.sign_in(waves.app.test_client(), link)
    page = stranger.get(f"/manage/surveys/{waves.stranger}/results", query_string={"open": "surveys"})
    assert page.status_code == 200
    assert "Other surveys" not in page.text
    assert not any(slug in page.text for slug in waves.slugs)


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"question": ""}, 422, "is required where surveys are compared"),
        ({"question": "q7"}, 422, "must be one of q1, way, cups, drinks; it is q7"),
        ({"survey": "own"}, 422, "must each be another one"),
        ({"survey": "otherwise"}, 409, "does not ask that question with the same answers"),
        ({"survey": "few"}, 409, "nobody’s answers are shown of"),
        ({"version": "1"}, 422, "is compared by all versions together"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(
    waves: Waves, researcher: FlaskClient, change: dict[str, str], status: int, message: str
) -> None:
    named = {"own": waves.slugs[0], "otherwise": waves.otherwise, "few": waves.few}
    asked = {"question": "q1", "survey": waves.slugs[1], **change}
    asked["survey"] = named.get(asked["survey"], asked["survey"])
    answer = researcher.get(f"/manage/surveys/{waves.slugs[0]}/report.html", query_string=asked)
    assert answer.status_code == status
    assert message in answer.text


def test_a_wave_whose_counts_were_deleted_is_not_offered_and_refused_by_its_link(
    waves: Waves, researcher: FlaskClient
) -> None:
    """It was said of the survey whose results these are that it has none any more."""
    own, other, _last = waves.slugs
    gone = factories.publish(waves.url, write("Gone"), minimum=10)
    factories.store(waves.url, gone, [([0, 0, 0, 0], 40)])
    factories.close(waves.url, gone.slug)
    asked = {"question": "q1", "open": "surveys"}
    home = f"/manage/surveys/{own}"
    assert gone.slug in researcher.get(f"{home}/results", query_string=asked).text
    factories.settle(waves.url, gone.slug, keep_counts=1, closed_at=now() - timedelta(days=2))
    assert factories.run(waves.url, "tidy").exit_code == 0
    page = researcher.get(f"{home}/results", query_string=asked)
    assert (page.status_code, other in page.text, gone.slug in page.text) == (200, True, False)
    for path in ("results", "report.html"):
        refused = researcher.get(f"{home}/{path}", query_string={**asked, "survey": gone.slug})
        assert (refused.status_code, f"deleted the responses of {gone.slug}" in refused.text) == (410, True)


def test_too_many_at_once_and_too_long_are_refused(
    waves: Waves, researcher: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the page and in a file; without others nothing is long. Each limit of each survey is a step."""
    home = f"/manage/surveys/{waves.slugs[0]}"
    others = "".join(f"&survey={slug}" for slug in waves.slugs[1:])
    for page in ("results?open=surveys&question=q1", "report.json?question=q1"):
        with long_work.take_place("a"), long_work.take_place("b"):
            assert researcher.get(f"{home}/{page}{others}").status_code == 503
            assert researcher.get(f"{home}/{page}").status_code == 200
        with monkeypatch.context() as hurried:
            hurried.setattr(long_work, "LONGEST", -1)
            assert researcher.get(f"{home}/{page}{others}").status_code == 413
    steps: list[None] = []
    with factories.writing(waves.url) as session:
        made = reports.read(session, find(session, waves.slugs[0]))
        compared = compare_chosen_surveys(
            session,
            made,
            "q1",
            waves.slugs[1:],
            lambda slug: find(session, slug),
            anytime=False,
            on_step=lambda: steps.append(None),
        )
        done = len(steps)
        assert done > 20
        assert [each.p_value for each in compared.trends]
    assert len(steps) == done
