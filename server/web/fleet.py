"""Several servers on one PostgreSQL: what they must share, and whether it has room for their connections.

What one has to know of another goes through the database. Two things are files: the marks of what was spent
(`server.releases.mark_files`) and the key of sealed secrets (`server.store.sealed_secrets`). A server that would keep
its own beside others is refused at the start. Others are known by their connections; that a folder is the same one is
seen by a lock that those who serve from it hold, which also shows that locks of files work between them.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.config import marks_folder, secrets_key
from server.people.resealing import has_sealed
from server.releases.mark_files import name_presence
from server.store.engines import CONNECTIONS, PATIENCE, SERVING, lock_installation, make_engine, open_session
from server.store.models import Server
from server.store.private_files import MODE
from server.store.sealed_secrets import LostKeyError, find_public_key

LINGERING = 10.0
"""Seconds for which connections of a server that was killed may still be seen."""
_LOOK = 0.5

_OTHERS = sa.text(
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
)
_ROOM = sa.text(
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
    " - coalesce(current_setting('reserved_connections', true), '0')::int"
    # What kind they are is hidden of other roles' connections.
    " - (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
    " AND backend_type IS DISTINCT FROM 'autovacuum worker')"
)


@contextmanager
def join_fleet(database_url: str, processes: int) -> Iterator[list[str]]:
    """Stand beside the other servers on a database; what to say at the start.

    Parameters
    ----------
    processes : int
        How many will serve here, each with `CONNECTIONS`.

    Raises
    ------
    ValueError
        Where others serve from other files, or connections do not keep their settings.
    """
    engine = make_engine(database_url, PATIENCE, SERVING)
    try:
        if engine.dialect.name == "sqlite":  # one machine, and one folder
            yield []
            return
        with open_session(engine, writes=True) as session:
            connection = session.connection()
            check_settings(connection)
            lock_installation(connection)  # one after the other
            _share_key(session)
            with _share_folder(session):
                room = int(connection.scalar(_ROOM) or 0)
                session.commit()  # the connection stays open: whoever comes next sees that this server is there
                yield list(_warn_of_room(room, processes))
    finally:
        engine.dispose()


def check_settings(connection: sa.Connection) -> None:
    """Refuse a pooler between, such as PgBouncer, that gives a session the connections of others.

    Raises
    ------
    ValueError
        If what was asked for with the connection does not hold on it.
    """
    found = connection.scalar(sa.text("SELECT setting FROM pg_settings WHERE name = 'lock_timeout'"))
    if found != str(round(1000 * PATIENCE)):
        raise ValueError(
            "DATABASE_URL must lead to PostgreSQL itself; what stands between, such as PgBouncer, does not pass on "
            f"the settings of a connection: lock_timeout is {found}, and not {round(1000 * PATIENCE)}"
        )


def _are_others(session: Session) -> bool:
    session.execute(sa.select(sa.func.pg_stat_clear_snapshot()))  # or a transaction sees what it saw first
    return bool(session.scalar(_OTHERS, {"name": SERVING}))


def _share_key(session: Session) -> None:
    """Note which key seals; where others serve it must be theirs."""
    are_others = _are_others(session)
    noted = session.scalar(sa.select(Server.sealed_by))
    must_have = bool(has_sealed(session) or (are_others and noted))  # where it was lost it may come back
    try:
        own = find_public_key(make=not must_have)
    except (OSError, LostKeyError) as error:
        if are_others and noted is not None:
            raise ValueError(_refused_key()) from error
        return  # codes of apps cannot be checked, which the log says when somebody tries
    if own == noted:
        return
    if are_others and noted is not None:
        raise ValueError(_refused_key())
    session.execute(sa.update(Server).values(sealed_by=own))


def _refused_key() -> str:
    return (
        "MONEDA_SECRETS_KEY must name a file with the key of the other servers on this database; "
        f"{secrets_key()} does not hold it"
    )


@contextmanager
def _share_folder(session: Session) -> Iterator[None]:
    """Hold the lock of those who serve from the folder of marks; where others serve, one of them must hold it."""
    path = name_presence(session)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, MODE)
    except OSError as error:
        raise ValueError(f"{path} must be a file that can be written: {error.strerror}") from error
    try:
        until = time.monotonic() + LINGERING
        while _are_others(session) and not _is_held(file):
            if time.monotonic() > until:
                raise ValueError(
                    "MONEDA_MARKS must be the folder of the other servers on this database, in which locks of files "
                    f"work between all of them; nobody else serves from {marks_folder()}. If there are no others, one "
                    "that was killed still has something under way in PostgreSQL: start again in a while"
                )
            time.sleep(_LOOK)
        fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


def _is_held(file: int) -> bool:
    """Whether somebody else has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise ValueError(
            f"{marks_folder()} must be a folder where files can be locked: {error.strerror}"
        ) from error
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _warn_of_room(room: int, processes: int) -> Iterator[str]:
    needed = processes * CONNECTIONS
    if needed > room:
        yield (
            f"Warning: PostgreSQL has room for {max(room, 0)} more connections, and this server may need {needed} "
            f"({CONNECTIONS} for each process). Raise max_connections, or start fewer; where there is none left, "
            "whoever needs one is told to come back."
        )
