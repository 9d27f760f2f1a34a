"""`/health` and `/ready`: what they say, to whom, and that nobody can burden the database by asking."""

import asyncio
import gc
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.store.engines import make_engine
from server.store.schema_fit import watch_revision
from server.web.watching.readiness import KEPT, Readiness, SitePart
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Served

ASKED = 200
WORDS = {"alive", "ready", *(f"not ready: {part}" for part in SitePart)}


@contextmanager
def looking(database_url: str, room: int = 0) -> Iterator[Readiness]:
    """Somebody who looks at a database; a disk is never too full for no bytes."""
    engine = make_engine(database_url)
    watch_revision(engine)
    readiness = Readiness(engine, room)
    yield readiness
    readiness.close()
    engine.dispose()


def find_unready(readiness: Readiness, times: int = 1) -> Sequence[SitePart]:
    """What a task is told, in a thread of its own: the browser's tests leave a loop behind that runs in this one."""

    async def ask() -> Sequence[SitePart]:
        for _ in range(times - 1):
            await readiness.find_unready()
        return await readiness.find_unready()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, ask()).result()


@contextmanager
def counting_futures(at_most: int) -> Iterator[None]:
    """No more than these are made and left behind meanwhile of what somebody in an event loop waits for.

    What was there before is looked at no more: in a process that has run many tests, that takes seconds.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.collect()
    assert sum(isinstance(each, asyncio.Future) for each in gc.get_objects()) <= at_most


def test_a_server_says_that_it_is_alive_and_ready(installation: Served) -> None:
    for path, word in (("/health", b"alive\n"), ("/ready", b"ready\n")):
        status, headers, body = factories.ask(installation.url + path)
        assert (status, body) == (200, word)
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in headers


def test_only_looks_are_answered(client: FlaskClient) -> None:
    for path in ("/health", "/ready"):
        assert client.head(path).status_code == 200
        assert client.post(path).status_code == 404
        assert client.get(f"{path}/").status_code == 404


def test_a_database_that_is_ready(database_url: str) -> None:
    with looking(database_url) as readiness:
        assert readiness.wait_for_unready() == ()
        assert find_unready(readiness) == ()


@pytest.mark.parametrize("revision", ["m0001", "m9999"])
def test_a_schema_that_is_older_or_newer(app: Flask, client: FlaskClient, revision: str) -> None:
    with app.extensions["moneda.engine"].execution_options(moneda_writes=True).begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
    answer = client.get("/ready")
    assert (answer.status_code, answer.text) == (503, "not ready: schema\n")
    assert int(answer.headers["Retry-After"]) > 0
    assert client.get("/health").status_code == 200


def test_a_disk_without_room(database_url: str) -> None:
    with looking(database_url, room=2**62) as readiness:
        assert readiness.wait_for_unready() == (SitePart.DISK,)


def test_a_file_that_was_removed(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    with looking(database_url) as readiness:
        assert readiness.wait_for_unready() == ()
        Path(database_url.removeprefix("sqlite:///")).unlink()
        sleep(KEPT + 0.1)  # what was found before is given until then
        assert readiness.wait_for_unready() == (SitePart.DATABASE,)


def test_a_database_that_is_only_read(postgresql: NewDatabase) -> None:
    """As a replica is, or one whose operator has stopped all changes."""
    database_url = postgresql(True)
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f"ALTER DATABASE {engine.url.database} SET default_transaction_read_only = on"
        )
    engine.dispose()
    with looking(database_url) as readiness:
        assert readiness.wait_for_unready() == (SitePart.DATABASE,)


def count_looks(engine: sa.Engine) -> list[object]:
    """What grows by one with each look at a database that nobody else uses."""
    looks: list[object] = []
    sa.event.listen(engine, "begin", looks.append)
    return looks


def test_a_database_that_does_not_answer_is_waited_for_by_nobody_else(postgresql: NewDatabase) -> None:
    """Who asks while a look is stuck begins no other, and is told the same once it has taken too long."""
    database_url = postgresql(True)
    engine, stuck = make_engine(database_url), make_engine(database_url)
    looks = count_looks(engine)
    watch_revision(engine)
    readiness = Readiness(engine, 0)
    with stuck.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
        assert readiness.wait_for_unready() == [SitePart.DATABASE]
        assert find_unready(readiness) == [SitePart.DATABASE]
        assert len(looks) == 1
        with counting_futures(at_most=ASKED // 2):
            assert find_unready(readiness, ASKED) == [SitePart.DATABASE]
    stuck.dispose()
    while readiness.wait_for_unready():  # it goes on by itself once the database does
        sleep(0.1)
    # A task is told the same at once, though that look took longer than anybody waited.
    assert find_unready(readiness) == ()
    readiness.close()
    engine.dispose()


def test_a_future_for_each_who_asks_is_noticed() -> None:
    """The twin of what is counted above."""
    loop = asyncio.new_event_loop()
    with pytest.raises(AssertionError), counting_futures(at_most=ASKED // 2):
        left = [loop.create_future() for _ in range(ASKED)]
    assert len(left) == ASKED
    loop.close()


def test_many_who_ask_are_one_look(app: Flask) -> None:
    """The database is asked once for all of them, and again once what it said is older than `KEPT`."""
    looks = count_looks(app.extensions["moneda.engine"])

    def ask(_: int) -> str:
        return app.test_client().get("/ready").text

    began = monotonic()
    with ThreadPoolExecutor(8) as strangers:
        words = set(strangers.map(ask, range(ASKED)))

    assert words == {"ready\n"}
    # However slow this machine is.
    assert 1 <= len(looks) <= 1 + (monotonic() - began) / KEPT < ASKED


def test_strangers_are_told_a_word_of_those_and_nothing_of_respondents(sqlite: NewDatabase) -> None:
    """Whether the database is locked, or responses wait for it, is told to nobody."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    with factories.serving(database_url) as served, ThreadPoolExecutor(1) as respondent:
        lock = sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        waits = respondent.submit(factories.ask, served.url + survey.url, survey.response())
        said = {factories.ask(f"{served.url}/{path}")[2].decode().strip() for path in ("ready", "health")}
        lock.execute("ROLLBACK")
        lock.close()
        assert waits.result()[0] == 201
    assert said == {"alive", "ready"} <= WORDS
