"""Which responses a release counts: all that are stored where one more must hardly show; else those that are shown.

Under bounded neighbours releases tell exactly how many responded, so that these numbers are held against each
other and against those of pages, over random schedules.
"""

import random
import secrets
from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

import pytest
from flask.testing import FlaskClient
from scipy.stats import binomtest

from server.collect import batches, response_counts, responses
from server.collect.responses import Arrival
from server.collect.submissions import Submission
from server.inputs.problems import InputError
from server.releases.survey_sources import survey_source
from server.store.engines import make_engine, open_session
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.sample_releases import find_survey, grant, problem, release
from tests.support.scale import choose_size

NOW = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
MINIMUM = 5
HISTOGRAM = {"kind": "histogram", "questions": ["q1"], "anew": True}


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_one_response_changes_a_count_by_one_or_what_is_shown_by_a_batch(
    database_url: str, neighbours: str
) -> None:
    """Each is the other's broken twin: with the one, noise for one response would hide too little of a batch."""
    survey = factories.publish(database_url, minimum=MINIMUM)
    links = [survey.slug, *factories.plant(database_url, survey.slug, "A\nB").values()]
    grant(database_url, survey.slug, neighbours=neighbours)
    engine = make_engine(database_url)
    steps: list[tuple[int, int, int]] = []
    before = (0, 0, 0)
    with open_session(engine, writes=True) as session:
        for place in range(6 * MINIMUM):
            sent = Submission(secrets.token_bytes(16), survey.version, b"\1\0")
            responses.accept_all(
                session.connection(), [Arrival(links[place % 3], sent)], NOW, responses.Links()
            )
            made = find_survey(session, survey.slug)
            source = survey_source(session, made)
            counted = sum(int(rows.counts.sum()) for rows in source.rows)
            now = counted, sum(batches.count_sealed(session, made).values()), source.shape.respondents or 0
            steps.append((now[0] - before[0], now[1] - before[1], now[2] - before[2]))
            before = now
    engine.dispose()

    counted_by, shown_by, told_by = ({step[place] for step in steps} for place in range(3))
    assert shown_by == {0, MINIMUM}
    assert counted_by == ({1} if neighbours == "unbounded" else shown_by)
    assert told_by == ({0} if neighbours == "unbounded" else shown_by)


def test_what_is_released_is_of_all_that_are_stored(new_database: NewDatabase) -> None:
    """At the largest loss, where nearly nothing is added: all are counted, while fewer are shown."""
    database_url = new_database(True)
    for number in (19, 20):
        survey = factories.publish(database_url, minimum=10)
        factories.store(database_url, survey, [((1, 0), number)])
        grant(database_url, survey.slug)

        (count,) = release(database_url, survey.slug, {"kind": "count"})

        assert list(sample_releases.values(count, "respondents").values()) == [number]


def numbers_told(client: FlaskClient, database_url: str, seed: int) -> tuple[list[int], list[int], list[int]]:
    """What bounded releases and pages of a random survey tell at each look, and what is stored by then."""
    draw = random.Random(seed)
    survey = factories.publish(
        database_url, factories.definition([0.25] * 2, title=f"{seed}"), minimum=MINIMUM
    )
    links = [survey.slug, *factories.plant(database_url, survey.slug, draw.choice(["A\nB", "A"])).values()]
    weights = [draw.choice((1, 3, 20)) for _ in links]
    grant(database_url, survey.slug, neighbours="bounded")
    released, shown, stored = [], [], [0]
    changes = draw.randrange(8)
    for turn in range(8):
        if turn == changes:
            tighter = factories.definition([0.2] * 2, title=f"{seed}")
            survey = factories.publish(database_url, tighter, survey.slug)
        if turn == 7:
            assert client.post(f"/manage/surveys/{survey.slug}/close").status_code == 303
        else:
            for link in draw.choices(links, weights, k=draw.choice((1, 1, 2, 4, 9))):
                factories.store(database_url, survey, [((1, 0), 1)], link)
                stored.append(stored[-1] + 1)
        shown.append((client.get(f"/manage/surveys/{survey.slug}/report.json").get_json() or {"n": 0})["n"])
        if shown[-1]:
            (made,) = release(database_url, survey.slug, HISTOGRAM, epsilon="1")
            released.append(made.covers.respondents or 0)
        else:
            with pytest.raises(InputError, match="must show at least 5 responses"):
                release(database_url, survey.slug, HISTOGRAM, epsilon="1")
    return released, shown, stored


def few(numbers: Sequence[int]) -> set[int]:
    """By how many fewer than the minimum two of them differ, if they do."""
    return {abs(one - other) for one, other in combinations(numbers, 2)} & set(range(1, MINIMUM))


@pytest.mark.scaled
def test_bounded_releases_and_pages_differ_by_the_minimum_or_not_at_all(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Closing included. What is stored, the broken twin, differs by one."""
    told = 0
    for seed in range(choose_size(6, 100)):
        released, shown, stored = numbers_told(signed_in, database_url, seed)
        assert few([*released, *shown, 0]) == set(), f"schedule {seed}: {released} {shown} {stored}"
        assert set(released) <= set(shown), f"schedule {seed}"
        assert few(stored) >= {1}
        told += len(set(released))
    assert told >= 6


@pytest.mark.parametrize("answer", [b"\0\0", b"\1\1"], ids=["least", "largest"])
def test_whether_a_response_is_sealed_depends_on_no_answer(sqlite: NewDatabase, answer: bytes) -> None:
    """Of twice the minimum one half is sealed: a response among others with another answer as often as any.

    One of 1e6 correct draws would fail. The twin: whoever sealed the first half in the order of what they
    report, as waiting responses are kept, would seal one of the two always and the other never.
    """
    database_url = sqlite(True)
    other = bytes(1 - byte for byte in answer)
    sealed, runs = 0, 300
    survey = factories.publish(database_url, minimum=MINIMUM)
    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session:
        made = find_survey(session, survey.slug)
        assert made.current is not None
        key = batches.CellKey(made.current.id, None)
        for run in range(runs):
            place = run % (2 * MINIMUM)  # whenever it arrives
            with session.begin_nested() as kept:
                for arrival in range(2 * MINIMUM):
                    report = answer if arrival == place else other
                    group = batches.Group(MINIMUM, [report], {NOW.date(): 1})
                    batches.add(session.connection(), made.id, {key: group})
                (found_tally,) = [tally for _, tally in batches.read_sealed(session, made)]
                assert found_tally.n == MINIMUM
                sealed += sum(row.tobytes() == answer for row in found_tally.patterns)
                kept.rollback()
    engine.dispose()

    assert binomtest(sealed, runs, 0.5).pvalue > 1e-6
    assert binomtest(0, runs, 0.5).pvalue < 1e-6


def test_nothing_is_told_of_fewer_than_the_minimum(database_url: str) -> None:
    """Not by a release, nor by what is said of its price: neither while they wait nor when all are counted."""
    survey = factories.publish(database_url, minimum=120)
    grant(database_url, survey.slug, neighbours="bounded", delta="0.001")
    factories.store(database_url, survey, [((1, 0), 119)])
    refusals = set()
    for _ in ("open", "closed"):
        with factories.writing(database_url) as session:
            shape = survey_source(session, find_survey(session, survey.slug)).shape
        assert (shape.respondents, shape.crowd) == (0, None)
        for item in (HISTOGRAM, {"kind": "shuffled"}):
            with pytest.raises(InputError) as error:
                release(database_url, survey.slug, item)
            refusals.add(problem(error))
        factories.close(database_url, survey.slug)
    assert refusals == {
        (409, "survey", "must show at least 120 responses: a release would tell their exact number"),
        (409, "survey", "must show some responses first"),
    }


def test_neighbours_that_there_are_not_count_nothing(database_url: str) -> None:
    survey = factories.publish(database_url)
    with factories.writing(database_url) as session, pytest.raises(ValueError, match="got 'near'"):
        response_counts.read_for_release(session, find_survey(session, survey.slug), "near")


def test_the_form_of_the_budget_says_what_is_counted(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url)
    text = signed_in.get(f"/manage/surveys/{survey.slug}/releases").text
    assert "Every response counts, shown or not" in text
    assert "While the survey is open, only the responses count that are shown" in text
