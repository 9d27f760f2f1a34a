"""Several processes that start at the same moment on an empty database: one prepares it, and it has one owner."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest
import sqlalchemy as sa

from server import people
from server.store.engines import lock_installation, make_engine, migrate, open_session
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.forked_servers import ForkedServer

STARTS = 3


def _start(database_url: str) -> int:
    """What a process does first; the number of the first researcher."""
    engine = make_engine(database_url)
    try:
        migrate(engine)
        with open_session(engine, writes=True) as session, session.begin():
            return people.first_researcher(session).id
    finally:
        engine.dispose()


@pytest.mark.parametrize("begun", ["migrating", "migrated"])
def test_first_starts_wait_for_each_other(postgresql: NewDatabase, begun: str) -> None:
    """All of them wait at the same place, and go on together."""
    database_url = postgresql(begun == "migrated")
    engine = make_engine(database_url)
    waits = sa.text(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with ThreadPoolExecutor(STARTS) as pool, engine.connect() as watching:
        with engine.begin() as holding:
            lock_installation(holding)
            starts = [pool.submit(_start, database_url) for _ in range(STARTS)]
            while watching.scalar(waits) != STARTS:
                assert not any(start.done() for start in starts)
                sleep(0.01)
        assert {start.result(60) for start in starts} == {1}
    engine.dispose()


def test_a_first_start_waits_for_another_on_sqlite(sqlite: NewDatabase) -> None:
    database_url = sqlite(False)
    plain = sa.create_engine(database_url)
    with ThreadPoolExecutor(STARTS) as pool:
        with plain.connect() as holding:
            holding.exec_driver_sql("BEGIN EXCLUSIVE")
            holding.exec_driver_sql("CREATE TABLE held (id INTEGER)")
            starts = [pool.submit(_start, database_url) for _ in range(STARTS)]
            sleep(0.3)
            assert not any(start.done() for start in starts)
            holding.exec_driver_sql("DROP TABLE held")
            holding.exec_driver_sql("COMMIT")
        assert {start.result(60) for start in starts} == {1}
    plain.dispose()


def test_first_commands_at_once(empty_database_url: str, tmp_path: Path) -> None:
    environment, complaints = factories.environment(empty_database_url), tmp_path / "stderr"
    with complaints.open("a") as log:
        started = [ForkedServer(["user", "list"], environment, log) for _ in range(STARTS)]
    assert all(command.communicate(120) for command in started)
    assert [command.returncode for command in started] == [0] * STARTS
    assert complaints.read_text() == ""
