"""Engines, sessions and migrations."""

import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.failures import OutdatedError
from server.store.in_place import check_in_place, watch_files
from server.store.prepared_statements import raising_as_sqlalchemy
from server.store.private_files import keep_private
from server.store.write_turns import keep_turns, take_turn_of

PATIENCE = 30.0
"""Seconds that commands wait for a lock."""
SERVING_PATIENCE = 5.0
"""Seconds that requests do: then whoever asked is sent away to come back."""
CONNECTIONS = 36
"""Most connections that a process opens, so that none of its threads waits for one: 26 that answer requests, and for
responses, codes, visits, readiness and sizes one each; three for tidying, and two for a page that must look twice."""
_KEPT = 16
"""Connections that stay open while nobody needs them."""
NAME = "moneda"
SERVING = "moneda serve"
"""What PostgreSQL calls connections (`application_name`): those of commands, and those of processes that serve."""
CONNECT_TIMEOUT = 10
"""Seconds for a connection to PostgreSQL, and for a sign of life on one."""

_KEEPALIVES = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""So that PostgreSQL lets go of a machine that has gone away without a word within a minute."""

_STARTING = int.from_bytes(b"moneda")
"""What names the lock among all advisory locks of a database."""
_TURN = 0.1
"""Seconds that others may have to wait for a lock."""
_REST = 0.15
"""Seconds that they then have to take it: more than SQLite's waiting writers let pass between two attempts."""

_READS_ONLY = "moneda_reads_only"
_AFTER = "moneda_after_commit"

_MIGRATIONS = Path(__file__).parent / "migrations"
"""Where Alembic finds them."""
_HEAD = "head"
"""What it calls the newest."""


def make_engine(database_url: str, patience: float = PATIENCE, name: str = NAME) -> sa.Engine:
    """An engine on SQLite (WAL, every commit on the disk before it is acknowledged) or PostgreSQL.

    `patience` is how many seconds it waits for a lock that others hold, or for a connection, before it gives up;
    `name` is what PostgreSQL calls its connections.
    """
    url = sa.make_url(database_url)
    shared: dict[str, Any] = {
        "pool_size": _KEPT,
        "max_overflow": CONNECTIONS - _KEPT,
        "pool_timeout": patience,
        "hide_parameters": True,  # an error repeats nothing of what was to be stored
    }
    if url.get_backend_name() != "sqlite":
        engine = sa.create_engine(
            url,
            **shared,
            connect_args={
                "application_name": name,
                "options": f"-c lock_timeout={round(1000 * patience)} {_KEEPALIVES}",
                # A server that has gone away without a word is noticed.
                "connect_timeout": CONNECT_TIMEOUT,
                "tcp_user_timeout": 1000 * CONNECT_TIMEOUT,
            },
        )
        sa.event.listen(engine, "checkout", _refuse_cut)
        return engine
    if url.database and url.database != ":memory:":
        # A folder that is made here is for nobody else on this machine; nor are the files of
        # the database: SQLite gives its log and index the mode that the first has.
        Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for ending in ("", "-wal", "-shm"):
            keep_private(Path(os.path.realpath(url.database) + ending), make=not ending)
    # The one that was used last knows the schema as it is; another reads it anew after each table that was made.
    engine = sa.create_engine(url, **shared, pool_use_lifo=True)

    def prepare(connection: Any, _record: object) -> None:
        _prepare_sqlite(connection, patience)

    sa.event.listen(engine, "connect", prepare)

    def begin(connection: sa.Connection) -> None:
        _begin_sqlite(connection, patience)

    sa.event.listen(engine, "begin", begin)
    _let_go_of_readers(engine)
    keep_turns(engine)
    watch_files(engine)
    return engine


def open_session(engine: sa.Engine, *, writes: bool) -> Session:
    """A session for one request or command; `writes` takes SQLite's write lock at its beginning.

    Without `writes`, the database refuses every statement that would change something.

    Taken later, in the middle of a transaction that has already read, the lock could only
    be refused at once: waiting would not help a stale snapshot.
    """
    options = {"moneda_writes": writes}
    if engine.dialect.name == "postgresql":
        options["postgresql_readonly"] = not writes
    return _Session(engine.execution_options(**options), expire_on_commit=False)


def engine_of(session: Session) -> sa.Engine:
    """The engine that a session is on, with the options that it was opened with."""
    engine = session.get_bind()
    assert isinstance(engine, sa.Engine)
    return engine


def do_after_commit(session: Session, key: object, work: Callable[[], object]) -> None:
    """Let something be done once the transaction is committed, before whoever commits goes on; once for each key."""
    session.info.setdefault(_AFTER, {})[key] = work


def waits_for_commit(session: Session, key: object) -> bool:
    """Whether something with this key will be done when the transaction is committed."""
    return key in session.info.get(_AFTER, {})


class TakingTurns:
    """Long work in several transactions, between which others can write: nobody waits for long."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._since = time.monotonic()

    def after_a_part(self) -> None:
        """Commit what was done so far, if it has taken a while, and let others have their turn."""
        if time.monotonic() - self._since < _TURN:
            return
        self.give_way()
        if self._session.get_bind().dialect.name == "sqlite":
            time.sleep(_REST)
        self._since = time.monotonic()

    def give_way(self) -> None:
        """Commit what was done so far: what comes next takes a while, and needs no lock."""
        self._session.commit()


def snapshot(engine: sa.Engine) -> Session:
    """A session that reads, and sees one moment: a count and the rows that it counts agree."""
    if engine.dialect.name == "sqlite":  # which never shows a transaction anything newer
        return open_session(engine, writes=False)
    return open_session(engine.execution_options(isolation_level="REPEATABLE READ"), writes=False)


def lock_installation(connection: sa.Connection) -> None:
    """Let other processes that start on this database wait until the transaction ends.

    An empty database has no row to lock. SQLite has one writer at a time by itself.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_STARTING)))


def migrate(engine: sa.Engine) -> None:
    """Bring the schema up to the newest migration.

    Raises
    ------
    OutdatedError
        If it has had one that this process does not know.
    """
    with engine.execution_options(moneda_writes=True).begin() as connection:
        migrate_within(connection)


def migrate_within(connection: sa.Connection, revision: str = _HEAD) -> None:
    """Bring the schema up to the newest migration, or to an earlier one, in a transaction of the caller's."""
    lock_installation(connection)
    # Most often there is nothing to do, and to load Alembic for that is a tenth of what a command takes.
    if revision == _HEAD and has_newest_schema(connection):
        return
    if not has_known_schema(connection):
        raise OutdatedError("the schema was made by a newer version")
    from alembic import command
    from alembic.config import Config as AlembicConfig

    config = AlembicConfig()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def list_migrations() -> Sequence[str]:
    """The migrations that this process knows, from the first to the newest."""
    return _list_migrations(_MIGRATIONS)


def read_migrations(connection: sa.Connection) -> Sequence[str]:
    """What the database says of the last migration that it has had: one, or nothing where none has been."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return []
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalars().all()


def has_known_schema(connection: sa.Connection) -> bool:
    """Whether every migration that the database has had is one that this process knows."""
    return set(read_migrations(connection)) <= set(list_migrations())


def has_newest_schema(connection: sa.Connection) -> bool:
    """Whether the newest migration that this process knows is the last one that the database has had."""
    return read_migrations(connection) == [list_migrations()[-1]]


@lru_cache(maxsize=8)
def _list_migrations(folder: Path) -> Sequence[str]:
    """By the names of their files: Alembic would load each of them."""
    return sorted(path.name[1:].partition("_")[0] for path in folder.glob("versions/m*.py"))


class _Session(Session):
    """Says that something was committed only if it is where it will be found."""

    def commit(self) -> None:
        super().commit()
        check_in_place(engine_of(self))
        for work in self.info.pop(_AFTER, {}).values():
            work()

    def rollback(self) -> None:
        super().rollback()
        self.info.pop(_AFTER, None)


def _refuse_cut(connection: Any, _record: object, _handed_out: object) -> None:
    """Let a connection that PostgreSQL has ended, as with a restart, be replaced by a new one before it is used.

    The system knows of an end that has arrived: nobody has to be asked, which would be a journey for each transaction.
    """
    try:
        for _ in range(2):  # behind the last words, if there are some, is the end
            connection.pgconn.consume_input()
    except connection.OperationalError as error:
        raise sa.exc.DisconnectionError from error


def _let_go_of_readers(engine: sa.Engine) -> None:
    """Replace a connection that was refused a change: opened on a file that could only be read, it never writes."""
    is_disconnect = engine.dialect.is_disconnect

    def is_of_no_use(error: Any, connection: Any, cursor: Any) -> bool:
        refused = getattr(error, "sqlite_errorname", "").startswith("SQLITE_READONLY")
        return refused or is_disconnect(error, connection, cursor)

    engine.dialect.is_disconnect = is_of_no_use  # type: ignore[method-assign, assignment]


def _prepare_sqlite(connection: Any, patience: float) -> None:
    # The driver must not open transactions by itself: _begin_sqlite does.
    connection.isolation_level = None
    cursor = connection.cursor()
    # Waiting for a lock must be set first: the switch to WAL needs one.
    cursor.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    # What is deleted is overwritten with zeros.
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()


def _begin_sqlite(connection: sa.Connection, patience: float) -> None:
    writes = connection.get_execution_options().get("moneda_writes")
    # The connection stays as its last user left it.
    if connection.info.get(_READS_ONLY) is not (writes is False):
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if writes is False else 'OFF'}")
        connection.info[_READS_ONLY] = writes is False
    if writes:
        take_turn_of(connection, patience)
    # Asked of the driver: what else SQLAlchemy does for a statement is a twentieth of what a group of responses takes.
    sql = "BEGIN IMMEDIATE" if writes else "BEGIN"
    with raising_as_sqlalchemy(connection, sql):
        connection.connection.cursor().execute(sql).close()
