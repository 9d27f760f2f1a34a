"""A database file that is moved, replaced, removed or cut while it is open: nothing is reported as done in it then."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from server.config import Config
from server.store.engines import make_engine, open_session
from server.store.failures import Failure, MovedError, describe_failure, find_failure
from server.store.in_place import check_in_place
from server.store.models import Researcher
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app


@pytest.fixture
def path(sqlite: NewDatabase, tmp_path: Path) -> Path:
    """A migrated database in a folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    return Path(shutil.copy(sqlite(True).removeprefix("sqlite:///"), folder / "moneda.sqlite3"))


@pytest.fixture
def engine(path: Path) -> Iterator[sa.Engine]:
    made = make_engine(f"sqlite:///{path}")
    yield made
    made.dispose()


@pytest.fixture
def app(path: Path) -> Iterator[Flask]:
    made = create_app(Config(database_url=f"sqlite:///{path}"))
    yield made
    made.extensions["moneda.engine"].dispose()


def _remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def _remove_file(path: Path) -> None:
    path.unlink()


def _replace_file(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _remove_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def _replace_log(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    shutil.copy(log, path.with_suffix(".new"))
    path.with_suffix(".new").replace(log)


def _remove_index(path: Path) -> None:
    path.with_name(path.name + "-shm").unlink()


def _cut_file(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _cut_log(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    os.truncate(log, log.stat().st_size // 2)


def _empty_log(path: Path) -> None:
    os.truncate(path.with_name(path.name + "-wal"), 0)


WAYS = [
    _remove_folder,
    _remove_file,
    _replace_file,
    _remove_log,
    _replace_log,
    _remove_index,
    _cut_file,
    _cut_log,
    _empty_log,
]


@pytest.mark.parametrize("move", WAYS)
def test_a_commit_into_files_that_are_gone_is_no_success(
    engine: sa.Engine, path: Path, move: Callable[[Path], None]
) -> None:
    with open_session(engine, writes=True) as session:
        session.add(Researcher(name="new"))
        session.commit()
        session.add(Researcher(name="new"))
        session.flush()
        move(path)
        # This is what it is about: the database itself sees nothing wrong.
        with pytest.raises(MovedError) as caught:
            session.commit()

    assert find_failure(caught.value) is Failure.MOVED
    assert describe_failure(caught.value).startswith(f"{Failure.MOVED.value} (MovedError): MovedError at ")


@pytest.mark.parametrize("move", WAYS)
def test_a_form_is_not_acknowledged_into_files_that_are_gone(
    app: Flask, path: Path, move: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    database_url = f"sqlite:///{path}"
    slug = factories.draft(database_url, factories.definition())
    researcher = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))

    # Between the request's first look at the database and its commit.
    engine: sa.Engine = app.extensions["moneda.engine"]
    sa.event.listen(engine, "commit", lambda _: move(path), once=True)
    answer = researcher.post(f"/manage/surveys/{slug}/publish")

    assert answer.status_code == 503
    assert b"Look whether it was done" in answer.data
    (record,) = caplog.records
    assert record.message.startswith(Failure.MOVED.value)


@pytest.mark.parametrize("move", [_remove_folder, _remove_file, _replace_file, _cut_file])
def test_nothing_is_read_from_a_file_that_is_gone(
    app: Flask, path: Path, move: Callable[[Path], None]
) -> None:
    database_url = f"sqlite:///{path}"
    researcher = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    assert researcher.get("/manage/surveys").status_code == 200
    move(path)
    left = sorted(path.parent.parent.rglob("*"))

    for _ in range(40):  # more than the pool has connections
        assert researcher.get("/manage/surveys").status_code == 503
        if move is _cut_file:  # as writing the log back would do; what was in the pages is gone all the same
            os.truncate(path, 1 << 24)

    assert path.exists() == (move in (_replace_file, _cut_file))
    assert not set(path.parent.parent.rglob("*")) - set(left)  # no new file in the place of the old one


def test_a_lost_log_is_written_back_and_the_work_goes_on(engine: sa.Engine, path: Path) -> None:
    """What went into it is not lost while somebody has it open: the last to close it writes it back."""
    with open_session(engine, writes=True) as session:
        session.add(Researcher(name="new"))
        session.flush()
        _remove_log(path)
        with pytest.raises(MovedError):
            session.commit()

    with open_session(engine, writes=True) as session:
        with pytest.raises(MovedError):
            session.scalars(sa.select(Researcher)).all()
        assert len(session.scalars(sa.select(Researcher)).all()) == 1


def test_tidying_and_other_processes_leave_the_files_in_place(engine: sa.Engine, path: Path) -> None:
    with open_session(engine, writes=True) as session:
        session.add(Researcher(name="new"))
        session.commit()
    with engine.connect() as reading:
        assert factories.run_forked(f"sqlite:///{path}", "tidy", "--json").returncode == 0
        reading.rollback()
        check_in_place(engine)
    engine.dispose()
    factories.publish(f"sqlite:///{path}")
    with open_session(engine, writes=True) as session:
        session.add(Researcher(name="new"))
        session.commit()


def test_a_log_that_was_cut_stays_so_whatever_is_added_to_it(engine: sa.Engine, path: Path) -> None:
    for _ in range(2):
        with open_session(engine, writes=True) as session:
            session.add(Researcher(name="new"))
            session.commit()
    _cut_log(path)
    for _ in range(3):
        with closing(sqlite3.connect(path)) as other:  # which notices nothing, and makes it long again
            other.execute("CREATE TABLE IF NOT EXISTS large AS SELECT zeroblob(1 << 20) AS content")
            other.execute("UPDATE large SET content = randomblob(1 << 20)")
            other.commit()
        with pytest.raises(MovedError, match="log was cut"):
            check_in_place(engine)


@pytest.mark.parametrize("mode", ["TRUNCATE", "RESTART"])
def test_a_log_that_another_program_has_written_back_is_no_damage(
    engine: sa.Engine, path: Path, mode: str
) -> None:
    """As programs do that copy SQLite's log while it grows, or an operator's shell."""
    for _ in range(3):
        with open_session(engine, writes=True) as session:
            session.add_all([Researcher(name="new") for _ in range(100)])
            session.commit()
        with closing(sqlite3.connect(path)) as other:
            assert other.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0] == 0
            check_in_place(engine)
            other.execute("UPDATE researchers SET name = 'other' WHERE id = 1")
            other.commit()
            check_in_place(engine)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM researchers").fetchone() == (300,)


def test_postgresql_has_no_file_to_look_at(postgresql: NewDatabase) -> None:
    engine = make_engine(postgresql(True))
    check_in_place(engine)
    engine.dispose()
