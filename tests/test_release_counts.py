"""Releases count what is stored, whether it is shown yet or not: one response more or less changes them by one."""

import secrets
from datetime import datetime

import pytest
from flask.testing import FlaskClient

from server.collect import batches, responses
from server.collect.responses import Arrival
from server.collect.submissions import Submission
from server.releases.survey_sources import survey_source
from server.store.engines import make_engine, open_session
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.sample_releases import found, grant, release

NOW = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
MINIMUM = 5


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_one_response_changes_what_a_release_counts_by_one(database_url: str, neighbours: str) -> None:
    """What is shown, the broken twin, changes by a whole batch or not at all."""
    survey = factories.publish(database_url, minimum=MINIMUM)
    links = [survey.slug, *factories.plant(database_url, survey.slug, "A\nB").values()]
    grant(database_url, survey.slug, neighbours=neighbours)
    engine = make_engine(database_url)
    steps: list[tuple[int, int]] = []
    before = (0, 0)
    with open_session(engine, writes=True) as session:
        for place in range(6 * MINIMUM):
            sent = Submission(secrets.token_bytes(16), survey.version, b"\1\0")
            responses.accept_all(
                session.connection(), [Arrival(links[place % 3], sent)], NOW, responses.Links()
            )
            made = found(session, survey.slug)
            source = survey_source(session, made)
            counted = sum(int(rows.counts.sum()) for rows in source.rows)
            assert source.shape.respondents == (counted if neighbours == "bounded" else None)
            now = counted, sum(batches.count_sealed(session, made).values())
            steps.append((now[0] - before[0], now[1] - before[1]))
            before = now
    engine.dispose()

    assert {counted for counted, _shown in steps} == {1}
    assert {shown for _counted, shown in steps} == {0, MINIMUM}


def test_what_is_released_is_of_all_that_are_stored(new_database: NewDatabase) -> None:
    """At the largest loss, where nearly nothing is added: all are counted, while fewer are shown."""
    database_url = new_database(True)
    for number in (19, 20):
        survey = factories.publish(database_url, minimum=10)
        factories.store(database_url, survey, [((1, 0), number)])
        grant(database_url, survey.slug)

        (count,) = release(database_url, survey.slug, {"kind": "count"})

        assert list(sample_releases.values(count, "respondents").values()) == [number]


def test_a_bounded_budget_tells_one_response_and_says_so_before_it_is_chosen(
    signed_in: FlaskClient, database_url: str
) -> None:
    """While a survey is open, and below its smallest group: no page shows anything of these, and two releases do."""
    survey = factories.publish(database_url, minimum=10)
    page = f"/manage/surveys/{survey.slug}/releases"
    assert "two releases can tell that one person answered in between" in signed_in.get(page).text
    grant(database_url, survey.slug, neighbours="bounded")
    told = []
    for _ in range(2):
        factories.store(database_url, survey, [((1, 0), 1)])
        item = {"kind": "histogram", "questions": ["q1"], "anew": True}
        (made,) = release(database_url, survey.slug, item, epsilon="1")
        told.append(made.covers.respondents)
    assert told == [1, 2]
