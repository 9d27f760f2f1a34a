"""Results, plans and progress speak of half of the same interval, in the same unit, and of none that is narrower."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from server import reports
from server.config import Config
from server.people import survey_access
from server.reports import Report
from server.reports.reached_margins import MarginProgress, ReachedMargin, measure_margins
from server.simulation import Assumptions, simulate
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.front_client import create_app
from tests.support.scale import choose_size

PLAN = {"respondents": 1_500, "margin": 0.05}
ORDINAL = {
    "name": "fairness",
    "kind": "scale",
    "text": "How fair?",
    "options": [{"name": f"l{place}", "text": f"Level {place}"} for place in range(5)],
    "design": {"mechanism": "ordinal", "epsilon": 1.5},
}


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture(scope="module")
def site(database_url: str) -> Iterator[tuple[Flask, str]]:
    """A site with a planned survey that asks every kind of question of made-up people, and that survey."""
    document = every_kind.document()
    document = {**document, "questions": [*document["questions"], ORDINAL], "plan": PLAN}
    slug = factories.publish(database_url, document).slug
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for _ in simulate(session, survey, 1_000, Assumptions()):
            pass
    app = create_app(Config(database_url=database_url))
    yield app, slug
    app.extensions["moneda.engine"].dispose()


def read_report(database_url: str, slug: str, confidence: float = 0.95) -> Report:
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        return reports.read(session, survey, confidence=confidence)


@pytest.fixture(scope="module")
def progress(site: tuple[Flask, str], database_url: str) -> MarginProgress:
    found = measure_margins(read_report(database_url, site[1]), PLAN["margin"])
    assert found is not None
    return found


def test_a_margin_is_half_of_the_widest_interval_that_the_plan_promises(progress: MarginProgress) -> None:
    """Worked out again from the intervals that the page shows, in the unit of each result."""
    names = set()
    for one in progress.measured:
        entry = one.entry
        names.add((entry.question.name, one.what))
        if one.what == "mean":
            assert entry.mean is not None
            low, high = entry.mean.interval(False)
            least, most = entry.mean.interval(True)
            assert one.reached * one.range == pytest.approx((high - low) / 2)
            assert one.along * one.range == pytest.approx((most - least) / 2)
            assert one.range == entry.mean.high - entry.mean.low
        else:
            assert one.reached == pytest.approx(max(high - low for low, high in map(once, entry.shown)) / 2)
            assert one.along == pytest.approx(max(high - low for low, high in map(always, entry.shown)) / 2)
        assert one.along > one.reached
    # Under an ordinal design the shares of levels are not promised, under k-ary response they are.
    assert {what for name, what in names if name == "fairness"} == {"mean"}
    assert {what for _name, what in names} == {"share", "shares", "boxes", "mean"}
    assert progress.some_only_by_mean
    assert len(progress.questions) == len({name for name, _what in names})
    assert progress.widest.reached == max(one.reached for one in progress.measured)
    assert progress.sufficient == sum(one.reached <= 0.05 for one in progress.questions)


def once(row: reports.ShareRow) -> tuple[float, float]:
    return row.interval(False)


def always(row: reports.ShareRow) -> tuple[float, float]:
    return row.interval(True)


def test_at_another_confidence_nothing_is_held_against_the_plan(
    site: tuple[Flask, str], database_url: str, progress: MarginProgress
) -> None:
    """A margin is planned at 95 %: at 80 % everything is narrower, and would seem to be reached."""
    narrower = measure_margins(read_report(database_url, site[1], 0.8), PLAN["margin"])
    assert narrower is not None
    assert narrower.planned is None
    assert narrower.widest.reached < progress.widest.reached
    with site[0].test_request_context("/"):
        module = site[0].jinja_env.get_template("results/_margins.html").module
        assert "plan" not in str(module.margins_sentence(narrower, False))
    assert measure_margins(read_report(database_url, factories.publish(database_url).slug), 0.05) is None


def give_margins(one: ReachedMargin, wanted: float | None, reached: float, along: float) -> ReachedMargin:
    """The same result with other margins than its intervals have."""
    made = replace(one, planned=wanted)
    vars(made).update(reached=reached, along=along)
    return made


def make_up(progress: MarginProgress, number: int) -> Iterator[ReachedMargin]:
    """Every result of every kind at made-up precisions, near the plan's margin and far from it."""
    rng = np.random.default_rng(15)
    for place in range(number):
        wanted = float(rng.choice([0.05, 0.03, 0.1, 0.025, 0.07, 1 / 3]))
        factor = 10 ** float(rng.normal(0, rng.choice([1e-4, 0.01, 0.5])))
        reached = min(max(wanted * factor, 1e-5), 0.5)
        one = progress.measured[place % len(progress.measured)]
        planned = None if rng.random() < 0.1 else wanted
        yield give_margins(one, planned, reached, reached * float(rng.uniform(1.5, 5)))


def read_sizes(sentence: str) -> list[float]:
    """The numbers after ±, in the order in which they are told."""
    return [float(found.replace(",", ".")) for found in re.findall(r"± (\d+(?:[.,]\d+)?)", sentence)]


def plain(written: object) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", str(written))).split())


def says_too_much(told: float, exact: float) -> bool:
    """Whether a margin looks narrower than it is."""
    return told < exact * (1 - 1e-7)


NOT_YET = {"en": "Not yet as precise", "es": "Aún no tan preciso"}
AS_PLANNED = {"en": "s precise as planned", "es": "an preciso como"}


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_sentence_says_more_than_its_margin(
    site: tuple[Flask, str], progress: MarginProgress, language: str
) -> None:
    seen = set()
    with site[0].test_request_context("/", headers={"Accept-Language": language}):
        module = site[0].jinja_env.get_template("results/_margins.html").module
        for one in make_up(progress, choose_size(2_000, 30_000)):
            unit = one.range if one.what == "mean" else 100
            exact = {name: unit * value for name, value in vars(one).items() if name in ("reached", "along")}
            wanted = None if one.planned is None else unit * one.planned
            alone = MarginProgress((one,), one.planned)
            sentence = plain(module.margins_sentence(alone, False))
            short = plain(module.question_margin(one, False, "en"))
            sizes = read_sizes(sentence)
            assert not says_too_much(sizes[-1], exact["reached"]), sentence
            assert not says_too_much(read_sizes(short)[0], exact["reached"]), short
            if wanted is not None:
                assert wanted * (1 - 1e-7) <= sizes[0] <= wanted * 1.1 + 1e-7  # one decimal, or two digits
                assert (NOT_YET[language] in sentence) == (exact["reached"] > wanted), sentence
                assert (AS_PLANNED[language] in short) == (exact["reached"] <= wanted), short
                # Numbers beside each other do not gainsay the words.
                assert (sizes[-1] <= sizes[0]) or exact["reached"] > wanted, sentence
            assert ("plan" in sentence) == (wanted is not None)
            # While intervals for any number of looks are shown, the plan is held against none of them.
            along = plain(module.question_margin(one, True, "en"))
            told = read_sizes(along)
            assert not says_too_much(told[0], exact["along"])
            assert not says_too_much(told[1], exact["reached"])
            assert AS_PLANNED[language] not in along
            note = plain(module.margins_note(alone, False))
            assert not says_too_much(read_sizes(note)[0], exact["along"])
            seen.add((one.what, wanted is None, one.suffices))
    assert len(seen) == 4 * 3


def test_a_sentence_that_follows_the_nearest_or_the_whole_interval_is_caught(
    progress: MarginProgress,
) -> None:
    """The twins: a margin rounded down, and half of an interval that is narrower than the one that is shown."""
    one = progress.measured[0]
    assert says_too_much(round(100 * 0.0514), 100 * 0.0514)
    assert not says_too_much(5.2, 100 * 0.0514)
    assert not give_margins(one, 0.05, 0.0501, 0.2).suffices
    assert give_margins(one, 0.05, 0.05, 0.2).suffices


def test_the_page_tells_plan_and_results_in_one_unit(
    site: tuple[Flask, str], progress: MarginProgress, database_url: str
) -> None:
    app, slug = site
    client: FlaskClient = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home = f"/manage/surveys/{slug}/results"
    with app.test_request_context("/"):
        module = app.jinja_env.get_template("results/_margins.html").module
        sentence = plain(module.margins_sentence(progress, False))
        alone = [plain(module.question_margin(one, False, "en")) for one in progress.questions]
        along = [plain(module.question_margin(one, True, "en")) for one in progress.questions]
    page, anytime = plain(client.get(home).text), plain(client.get(f"{home}?interval=anytime").text)
    assert "Not yet as precise as planned: the plan asked for ± 5 points" in sentence
    assert sentence in page
    assert sentence in anytime
    assert "left out where a setting makes only the average reliable" in page
    assert all(words in page for words in alone)
    assert all(words in anytime for words in along)


def test_weights_are_said_not_to_be_planned(app_with_strata: str) -> None:
    assert "The plan does not foresee weights." in app_with_strata


@pytest.fixture
def app_with_strata(site: tuple[Flask, str], database_url: str) -> str:
    """The page of results of a survey whose strata have populations."""
    survey = factories.publish(database_url, factories.definition(plan=PLAN))
    links = factories.plant(database_url, survey.slug, "North, 1000\nSouth, 3000")
    for path, yes in (("North", 200), ("South", 300)):
        rows = [([1, 1], yes), ([0, 0], 600 - yes)]
        factories.store(database_url, survey, rows, links[path])
    factories.close(database_url, survey.slug)
    client: FlaskClient = factories.sign_in(site[0].test_client(), factories.sign_in_secret(database_url))
    return plain(client.get(f"/manage/surveys/{survey.slug}/results").text)
