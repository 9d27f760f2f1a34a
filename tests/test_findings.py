"""What results say in sentences is never more than their intervals allow, in either language."""

import csv
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
from server.reports import QuestionReport, Report, ShareRow
from server.reports.findings import Says, ShareFinding, find_share, interpret_question
from server.simulation import Assumptions, simulate
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.front_client import create_app

Interval = tuple[float, float]


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture(scope="module")
def site(database_url: str) -> Iterator[tuple[Flask, str]]:
    """A site with a survey that asks every kind of question of a few made-up people, and that survey."""
    slug = factories.publish(database_url, every_kind.document()).slug
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assumptions = Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
        for _ in simulate(session, survey, 1_000, assumptions):
            pass
    app = create_app(Config(database_url=database_url))
    yield app, slug
    app.extensions["moneda.engine"].dispose()


@pytest.fixture(scope="module")
def report(site: tuple[Flask, str], database_url: str) -> Report:
    """What that survey found."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, site[1])
        assert survey is not None
        return reports.read(session, survey)


def make_up_intervals(number: int) -> Iterator[tuple[float, Interval]]:
    """Estimates and intervals of every width, around every share, and beyond the possible ones."""
    rng = np.random.default_rng(15)
    for middle, half in zip(rng.uniform(-0.3, 1.3, number), 10 ** rng.uniform(-4, 0.3, number), strict=True):
        low, high = (
            float(end) for end in (middle - half * rng.uniform(0, 1), middle + half * rng.uniform(0, 1))
        )
        if rng.random() < 0.1:  # ends that are whole numbers of 100, and those that are cut
            low, high = max(round(low, 2), 0.0), min(round(high, 2), 1.0)
        yield float(middle), (min(low, high), max(low, high))


def read_claim(sentence: str, says: Says) -> tuple[int, int] | None:
    """Which shares of 100 a sentence leaves possible; None where it says of none that it is not."""
    numbers = [int(text) for text in re.findall(r"\d+", sentence)]
    match says:
        case Says.BETWEEN | Says.NOT_TOLD:
            return numbers[0], numbers[1]
        case Says.AT_MOST:
            return 0, numbers[0]
        case Says.AT_LEAST:
            return numbers[0], 100
        case Says.IMPOSSIBLE:
            return None


def says_too_much(sentence: str, says: Says, interval: Interval) -> bool:
    """Whether a sentence leaves out a possible share that the interval holds."""
    claim = read_claim(sentence, says)
    low, high = (100 * min(max(end, 0), 1) for end in interval)
    return claim is not None and not (claim[0] <= low and high <= claim[1])


@pytest.mark.parametrize(("language", "hundred"), [("en", "of 100"), ("es", "de cada 100")])
def test_no_sentence_says_more_than_its_interval(
    site: tuple[Flask, str], report: Report, language: str, hundred: str
) -> None:
    row = report.question("coin").shown[0]
    said = set()
    with site[0].test_request_context("/", headers={"Accept-Language": language}):
        write = site[0].jinja_env.get_template("words/findings.html").module.share_sentence
        for value, interval in make_up_intervals(10_000):
            found = find_share(row, value, interval)
            sentence = str(write(found, "X")).replace("\xa0", " ").strip()
            said.add(found.says)
            assert not says_too_much(sentence, found.says, interval), (sentence, interval)
            assert hundred in sentence
            assert found.guess is None or found.low <= found.guess <= found.high
    assert said == set(Says)


def test_a_sentence_that_rounds_to_the_nearest_says_too_much(site: tuple[Flask, str], report: Report) -> None:
    row = report.question("coin").shown[0]
    with site[0].test_request_context("/"):
        write = site[0].jinja_env.get_template("words/findings.html").module.share_sentence
        low, high = interval = 0.246, 0.334
        nearest = ShareFinding(row, Says.BETWEEN, round(100 * low), round(100 * high), None)
        assert says_too_much(str(write(nearest, "X")), nearest.says, interval)


@pytest.mark.parametrize(
    ("value", "interval", "says"),
    [
        (0.29, (0.24, 0.34), (Says.BETWEEN, 24, 34, 29)),
        (-0.01, (-0.08, 0.054), (Says.AT_MOST, 0, 6, 0)),
        (0.99, (0.951, 1.02), (Says.AT_LEAST, 95, 100, 99)),
        (0.4, (0.1, 0.601), (Says.NOT_TOLD, 10, 61, None)),
        (-0.2, (-0.3, -0.1), (Says.IMPOSSIBLE, 0, 0, None)),
        (1.2, (1.1, 1.3), (Says.IMPOSSIBLE, 100, 100, None)),
    ],
)
def test_which_sentence_an_interval_makes(
    report: Report, value: float, interval: Interval, says: tuple[Says, int, int, int]
) -> None:
    found = find_share(report.question("coin").shown[0], value, interval)
    assert (found.says, found.low, found.high, found.guess) == says


@pytest.mark.parametrize("anytime", [False, True])
def test_every_question_says_what_its_intervals_allow(report: Report, anytime: bool) -> None:
    leaders = 0
    for entry in report.questions:
        found = interpret_question(entry, anytime)
        for share in found.shares:
            low, high = (min(max(100 * end, 0), 100) for end in share.row.interval(anytime))
            assert share.low <= low
            assert high <= share.high
        leaders += found.leader is not None
        if found.leader is not None:
            others = [share.row for share in found.shares if share is not found.leader]
            lowest = found.leader.row.interval(anytime)[0]
            assert all(other.interval(anytime)[1] < lowest for other in others)
        if found.mean is not None and entry.mean is not None:
            low, high = entry.mean.interval(anytime)
            assert found.mean.low <= max(low, entry.mean.low)
            assert min(high, entry.mean.high) <= found.mean.high
    assert leaders > 0 or anytime


def test_answers_stand_by_size_unless_they_have_an_order(report: Report) -> None:
    def order(name: str) -> list[str]:
        return [share.row.answer for share in interpret_question(report.question(name), False).shares]

    def sizes(entry: QuestionReport, names: list[str]) -> list[float]:
        values: dict[str, ShareRow] = {row.answer: row for row in entry.shown}
        return [values[name].value for name in names]

    party = sizes(report.question("party"), order("party"))
    assert party == sorted(party, reverse=True)
    assert order("paid")[-1] == order("drugs")[-1] == "prefer_not_to_say"
    for name in ("mood", "trust", "bins"):
        assert order(name) == [row.answer for row in report.question(name).shown]


def test_the_page_says_what_each_question_found(
    site: tuple[Flask, str], report: Report, database_url: str
) -> None:
    app, slug = site
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    page = client.get(f"/manage/surveys/{slug}/results").text
    assert page.count('class="found"') == len(report.questions)
    # What is not told does not look like a finding.
    untold = sum(not interpret_question(entry, False).tells for entry in report.questions)
    assert 0 < untold == page.count("data-unsure")
    for entry in report.questions:
        assert f'data-copy="found-{entry.question.name}"' in page


def test_every_question_can_be_taken_as_a_figure(
    site: tuple[Flask, str], report: Report, database_url: str
) -> None:
    app, slug = site
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home = f"/manage/surveys/{slug}"
    for entry in report.questions:
        name = entry.question.name
        drawn = client.get(f"{home}/figure.svg?question={name}")
        picture = ElementTree.fromstring(drawn.data)  # noqa: S314 - our own
        shown = " ".join(text for text in picture.itertext() if text.strip())
        assert re.sub(r"\W", "", entry.question.text) in re.sub(r"\W", "", shown)
        rows = list(csv.DictReader(io.StringIO(client.get(f"{home}/figure.csv?question={name}").text)))
        whole = csv.DictReader(io.StringIO(client.get(f"{home}/report.csv").text))
        assert rows == [row for row in whole if row["question"] == name and row["group"] == "all"]
    picture_bytes = client.get(f"{home}/figure.png?question=party").data
    assert picture_bytes.startswith(b"\x89PNG")
    assert client.get(f"{home}/figure.svg?question=nothing").status_code == 404
    assert client.get(f"{home}/figure.pdf?question=party").status_code == 404


def test_a_question_without_responses_has_no_figure(
    app: Flask, signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url)
    home = f"/manage/surveys/{survey.slug}"
    assert signed_in.get(f"{home}/figure.svg").status_code == 409
    nothing = signed_in.get(f"{home}/results").text
    assert "Nothing is shown yet" in nothing
