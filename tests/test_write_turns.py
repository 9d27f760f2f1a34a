"""Whoever waits for SQLite's write lock gets it in the order of asking, however busy others of the process are."""

import re
import statistics
import time
from threading import Event, Thread

import pytest
import sqlalchemy as sa

from server.store.engines import make_engine
from server.store.failures import describe_failure
from server.store.write_turns import WriteTurns
from tests.conftest import NewDatabase


@pytest.fixture
def engine(sqlite: NewDatabase) -> sa.Engine:
    return make_engine(sqlite(True), 2.0)


def write(engine: sa.Engine) -> sa.Connection:
    """A transaction that has the write lock."""
    connection = engine.execution_options(moneda_writes=True).connect()
    connection.begin()
    return connection


def test_turns_come_in_the_order_of_asking() -> None:
    turns, order = WriteTurns(), []
    assert turns.take(0)
    threads = []
    for number in range(5):
        thread = Thread(target=lambda number=number: (turns.take(30), order.append(number), turns.leave()))
        thread.start()
        while len(turns._waiting) <= number:
            time.sleep(0.001)
        threads.append(thread)
    turns.leave()
    for thread in threads:
        thread.join()
    assert order == list(range(5))
    assert turns.take(0), "it is free in the end"


def test_who_gave_up_waiting_is_passed_over() -> None:
    turns = WriteTurns()
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.leave()
    assert turns.take(0)


def test_whoever_writes_without_a_pause_is_asked_to_wait_in_between(engine: sa.Engine) -> None:
    """A hundred transactions beside somebody who begins the next one as soon as the last has ended."""
    finished, others = Event(), []

    def write_on() -> None:
        while not finished.is_set():
            with write(engine) as connection:
                time.sleep(0.002)
                others.append(connection)

    busy = Thread(target=write_on)
    busy.start()
    while not others:
        time.sleep(0.001)
    between = []
    for _ in range(100):
        before = len(others)
        write(engine).close()
        between.append(len(others) - before)
    finished.set()
    busy.join()
    engine.dispose()
    assert statistics.median(between) <= 2


def test_the_lock_is_free_after_every_way_a_transaction_ends(engine: sa.Engine) -> None:
    with write(engine) as connection:
        connection.commit()
    write(engine).close()
    with pytest.raises(ZeroDivisionError), engine.execution_options(moneda_writes=True).begin():
        _ = 1 / 0
    with write(engine) as connection:
        connection.invalidate()
    held = write(engine)
    with pytest.raises(sa.exc.OperationalError, match="database is locked"):
        write(engine)
    held.close()
    write(engine).close()
    engine.dispose()


def test_the_log_names_where_the_lock_is_held_when_somebody_gives_up(engine: sa.Engine) -> None:
    taken, finished = Event(), Event()

    def hold() -> None:
        with write(engine):
            taken.set()
            finished.wait()

    holder = Thread(target=hold)
    holder.start()
    taken.wait()
    other = make_engine(engine.url.render_as_string(), 0.1)
    with pytest.raises(sa.exc.OperationalError) as refused:
        write(other)
    finished.set()
    holder.join()
    assert re.match(
        r"the database was locked for too long \(SQLITE_BUSY; held at \S+threading\.py:\d+\): ",
        describe_failure(refused.value),
    )
    engine.dispose()
    other.dispose()


def test_engines_on_one_file_have_one_queue(engine: sa.Engine) -> None:
    other = make_engine(engine.url.render_as_string(), 0.1)
    held = write(engine)
    with pytest.raises(sa.exc.OperationalError) as refused:
        write(other)
    assert refused.value.orig.sqlite_errorname == "SQLITE_BUSY"  # type: ignore[union-attr]
    held.close()
    write(other).close()
    engine.dispose()
    other.dispose()
