"""How often one of the servers on a PostgreSQL waits for a lock that another holds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from server.store.engines import SERVING, make_engine

_EVERY = 0.01
"""Seconds between two looks."""

_WAITING = sa.text(
    "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() "
    "AND application_name = :name AND wait_event_type = 'Lock'"
)


@contextmanager
def look_at_locks(database_url: str) -> Iterator[list[bool]]:
    """Fill a list, look by look: whether a connection of a server waited for a lock."""
    looks: list[bool] = []
    ended = threading.Event()
    thread = threading.Thread(target=_look, args=(database_url, ended, looks))
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join()


def _look(database_url: str, ended: threading.Event, looks: list[bool]) -> None:
    engine = make_engine(database_url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        while not ended.wait(_EVERY):
            looks.append(bool(connection.scalar(_WAITING, {"name": SERVING})))
    engine.dispose()
