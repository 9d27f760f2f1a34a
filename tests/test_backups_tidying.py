"""Backups that are made while surveys are answered, closed, tidied and deleted: each is one moment, and whole."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from threading import Event

import pytest

from server import archives
from server.collect import tidying
from server.people import survey_access
from server.store.engines import make_engine
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import back_up, restore, rows_of
from tests.support.factories import Published
from tests.support.scale import choose_size

STORED = 2_100
"""Responses of each survey that is closed or deleted meanwhile: more than one piece of its tidying."""
ROUNDS = choose_size(1, 2)
"""How often a survey is closed and another deleted."""


def tidy(url: str) -> None:
    engine = make_engine(url)
    tidying.tidy(engine, tidying.Patience(120))
    engine.dispose()


def close(url: str, survey: Published) -> None:
    factories.close(url, survey.slug)
    tidy(url)


def delete(url: str, survey: Published) -> None:
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        survey_access.lock(session, found)
        archives.delete(session, found)
    tidy(url)


@pytest.mark.scaled
def test_a_backup_is_whole_while_surveys_are_closed_tidied_and_deleted(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    url = new_database(True)
    goes_on = factories.publish(url)
    others = [factories.publish(url) for _ in range(2 * ROUNDS)]
    for each in others:
        factories.store(url, each, [([0, 1], STORED)])
    sent: set[bytes] = set()
    acknowledged: list[bytes] = []
    ended = Event()

    def answer(address: str) -> None:
        while not ended.is_set():
            body = goes_on.response()
            sent.add(factories.stored_id(body))
            assert factories.ask(address, body)[0] == 201
            acknowledged.append(factories.stored_id(body))

    def tidy_all() -> None:
        changes: list[Callable[[str, Published], None]] = [close, delete]
        for change, survey in zip(cycle(changes), others, strict=False):
            change(url, survey)

    backups: list[tuple[Path, set[bytes]]] = []
    with factories.serving(url) as served, ThreadPoolExecutor(2) as threads:
        answering = threads.submit(answer, served.url + goes_on.url)
        tidied = threads.submit(tidy_all)
        try:
            while not backups or not tidied.done():
                before = set(acknowledged)
                backups.append((tmp_path / str(len(backups)), before))
                back_up(url, backups[-1][0])
        finally:
            ended.set()
        tidied.result()
        answering.result()

    for file, before in backups:
        new = new_database(False)
        restore(new, file)
        stored = {bytes(key): version for key, version, *_ in rows_of(new)["responses"]}
        assert before <= stored.keys()
        numbers = Counter(version for key, version in stored.items() if key not in sent)
        assert set(numbers.values()) <= {STORED}
        checked = factories.run(new, "check")
        assert checked.exit_code == 0, checked.stdout
        assert factories.run(new, "recount").exit_code == 0
