"""The database -> a backup: one moment of it, read while others write.

It is read by one transaction that sees one moment (on PostgreSQL REPEATABLE READ, on SQLite any), row by row in the
order of keys, and not by each engine's own tool: what comes out goes into either database, needs no program beside
this one, and has none of what files tell beside rows: no order of arrival, no page of what was deleted, no log.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import __version__
from server.archives.backups.backup_rows import (
    describe_columns,
    pack_rows,
    read_rows,
    shared_tables,
    tables_of,
)
from server.archives.backups.containers import FORMAT, TablePart, pack_parts
from server.archives.backups.envelopes import Lock, encrypt_chunks
from server.archives.backups.running_surveys import (
    Running,
    leave_out_own,
    leave_out_shared,
    list_running,
)
from server.store import own_tables
from server.store.engines import read_migrations, snapshot
from server.store.models import Survey
from server.study.surveys import now

_TRIES = 10


@dataclass(frozen=True)
class BackupSummary:
    """What went into a backup: rows of each table, and the surveys that were still running."""

    rows: dict[str, int]
    running: tuple[Running, ...]


def write_backup(
    engine: sa.Engine,
    file: IO[bytes],
    lock: Lock,
    *,
    without_running: bool = False,
    report_progress: Callable[[int], object] = lambda _rows: None,
) -> BackupSummary:
    """Write a backup of all that the database holds, but for `LEFT_OUT`.

    Parameters
    ----------
    without_running : bool
        Leave out what `running_surveys` says.
    report_progress : callable
        Is given the number of rows that were written, from time to time.

    Raises
    ------
    ValueError
        If what it is to be encrypted to cannot be used.
    OSError
        If the file cannot be written.
    """
    with _moment(engine) as session:
        connection = session.connection()
        ids = list(session.scalars(sa.select(Survey.id).order_by(Survey.id)))
        running = tuple(list_running(connection))
        rows: dict[str, int] = {}

        def list_parts() -> Iterator[TablePart]:
            for part in _parts(connection, ids, running if without_running else ()):
                rows[part.table] = rows.get(part.table, 0) + part.rows
                yield part
                report_progress(sum(rows.values()))

        beginning = _describe(connection, ids, [each.id for each in running if without_running])
        encrypt_chunks(pack_parts(beginning, list_parts()), file, lock)
    return BackupSummary(rows, running)


def _describe(connection: sa.Connection, ids: list[int], incomplete: list[int]) -> dict[str, Any]:
    own = zip(own_tables.KINDS, tables_of(0), strict=True)
    (revision,) = read_migrations(connection)
    return {
        "format": FORMAT,
        "software": f"Moneda {__version__}",
        "revision": revision,
        "made_at": now().isoformat(),
        "columns": {table.name: describe_columns(table) for table in shared_tables()},
        "own_columns": {kind.name: describe_columns(table) for kind, table in own},
        "surveys": ids,
        "incomplete": incomplete,
    }


def _parts(connection: sa.Connection, ids: list[int], running: tuple[Running, ...]) -> Iterator[TablePart]:
    for table in shared_tables():
        yield from pack_rows(table, leave_out_shared(table, read_rows(connection, table), running))
    without = {each.id for each in running}
    for survey_id in ids:
        for kind, table in zip(own_tables.KINDS, tables_of(survey_id), strict=True):
            rows = read_rows(connection, table)
            if survey_id in without:
                rows = leave_out_own(connection, kind, survey_id, rows)
            yield from pack_rows(table, rows)


def _moment(engine: sa.Engine) -> Session:
    """A session that sees one moment, and every survey's tables as they are then.

    On PostgreSQL tidying puts new tables in the place of old ones, which whoever began before would find empty. So
    all are held first, which keeps nobody from writing, and only then the moment begins.
    """
    if engine.dialect.name == "sqlite":
        return snapshot(engine)
    for _ in range(_TRIES):
        with snapshot(engine) as session:
            ids = list(session.scalars(sa.select(Survey.id).order_by(Survey.id)))
        tables = ", ".join(table.name for survey_id in ids for table in tables_of(survey_id))
        session = snapshot(engine)
        try:
            if tables:
                session.connection().exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS SHARE MODE")
            if list(session.scalars(sa.select(Survey.id).order_by(Survey.id))) == ids:
                return session
        except sa.exc.ProgrammingError:  # one was deleted
            pass
        except BaseException:
            session.close()
            raise
        session.close()
    raise ValueError("surveys are made or deleted all the time; try again later")
