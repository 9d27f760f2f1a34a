"""What is remembered of links for storing responses is never older than the last change."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from server import archives
from server.collect import responses
from server.collect.responses import Acceptance, Arrival, Links
from server.collect.submissions import Submission
from server.config import Config
from server.inputs import InputError
from server.people import survey_access
from server.store.engines import make_engine
from server.study import surveys
from tests.support import factories
from tests.support.front_client import create_app
from tests.test_visits import Study

CHANGES = 15


def _outcomes(engine: sa.Engine, study: Study, links: Links) -> list[object]:
    """What would become of a response by each link, of a known version and of a code; nothing is stored."""
    arrivals = [
        Arrival(link, Submission(bytes([place, k] * 8), study.survey.version, b"\0\0", code))
        for place, link in enumerate(study.links)
        for k, code in enumerate([None, "0" * 16])
    ]
    with engine.execution_options(moneda_writes=True).connect() as connection:
        try:
            found: Sequence[Acceptance | InputError] = responses.accept_all(
                connection, arrivals, surveys.now(), links
            )
        except sa.exc.IntegrityError:
            return ["what the database refuses"]
        finally:
            connection.rollback()
    return [each.problems if isinstance(each, InputError) else each for each in found]


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_held_against_what_was_before(database_url: str, seed: int) -> None:
    assert _count_differences(database_url, seed) == 0


def test_the_comparison_sees_doors_that_are_never_read_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say_that_nothing_changed(_connection: object, ids: Sequence[int]) -> dict[int, int]:
        return dict.fromkeys(ids, 1)

    for read in ("read_revisions", "lock_surveys"):
        monkeypatch.setattr(f"server.collect.responses.open_links.{read}", say_that_nothing_changed)
    assert sum(_count_differences(database_url, seed) for seed in range(3)) > 0


def _count_differences(database_url: str, seed: int) -> int:
    study = Study(database_url, seed)
    engine = make_engine(database_url)
    remembering = Links()
    differences = 0
    for _ in range(CHANGES):
        change: Any = study.random.choice(study.changes)
        change()
        if change == study.let_time_pass:
            time.sleep(0.4)
        differences += _outcomes(engine, study, remembering) != _outcomes(engine, study, Links())
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, study.survey.slug)
        assert survey is not None
        archives.delete(session, survey)
    differences += _outcomes(engine, study, remembering) != _outcomes(engine, study, Links())
    engine.dispose()
    return differences


def test_a_survey_with_the_number_of_a_deleted_one_is_another(database_url: str) -> None:
    """SQLite gives the number of the survey that was deleted last to the next one."""
    client = create_app(Config(database_url=database_url)).test_client()
    before = factories.publish(database_url)
    for _ in range(2):
        assert client.get(f"/s/{before.slug}").status_code == 200
    assert client.post(before.url, json=before.response()).status_code == 201
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, before.slug)
        assert survey is not None
        archives.delete(session, survey)
    after = factories.publish(database_url)
    assert client.post(after.url, json=after.response()).status_code == 201
    assert client.get(f"/s/{before.slug}").status_code == 404
    assert client.post(before.url, json=before.response()).status_code == 404
    client.application.extensions["moneda.engine"].dispose()
