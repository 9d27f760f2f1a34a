"""The rows of a backup, into a database that is empty: an insert at a time on SQLite, copied on PostgreSQL."""

from collections.abc import Callable
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.orm import Session

from server.archives.backups.backup_rows import TYPES, unpack_rows
from server.archives.backups.containers import TablePart, Taker
from server.archives.backups.envelopes import DamagedError
from server.store import own_table_making, own_tables

_REFUSED = (
    sa.exc.IntegrityError,
    sa.exc.DataError,
    psycopg.IntegrityError,
    psycopg.DataError,
    OverflowError,
)
"""What a database says of rows that cannot be: whoever knows a public key can write a whole backup of such."""


class BackupLoader(Taker):
    """Writes what a backup holds into an empty schema of its revision."""

    def __init__(self, session: Session, total: int, report_progress: Callable[[int, int], object]) -> None:
        self._session = session
        self._connection = session.connection()
        self._total, self._report_progress = total, report_progress
        self._done = 0
        self._columns: dict[str, Any] = {}
        self._own: dict[str, Any] = {}
        self._surveys: list[int] = []
        self._named: set[int] = set()

    def begin(self, beginning: dict[str, Any]) -> None:
        self._columns, self._own = beginning["columns"], beginning["own_columns"]
        there = {*sa.inspect(self._connection).get_table_names()}
        for name, columns in self._columns.items():
            if name not in there:
                raise DamagedError(f"the file names a table that its revision has not: {name!r}")
            found = {column["name"] for column in sa.inspect(self._connection).get_columns(name)}
            if found != {column for column, _ in columns}:
                raise DamagedError(f"the file says other columns of {name} than its revision has")
            self._connection.execute(sa.delete(sa.table(name)))  # what migrations put into a new one
        self._surveys = beginning["surveys"]
        self._named = {*self._surveys}

    def take(self, part: TablePart) -> None:
        name, _, number = part.table.rpartition("_")
        own = name in self._own and number.isdigit()
        columns = self._own[name] if own else self._columns[part.table]
        if own:
            self._create_own()
        try:
            self._insert(part.table, columns, unpack_rows(part, columns))
        except _REFUSED as error:
            raise DamagedError(f"the file holds rows of {part.table} that its revision refuses") from error
        self._done += part.rows
        self._report_progress(self._done, self._total)

    def finish(self) -> None:
        self._create_own()
        if (
            set(self._session.scalars(sa.select(sa.column("id")).select_from(sa.table("surveys"))))
            != self._named
        ):
            raise DamagedError("the file begins with other surveys than it holds")
        if self._connection.dialect.name == "postgresql":
            for name in self._columns:
                self._set_sequence(name)

    def _create_own(self) -> None:
        """Make the tables of all surveys, once what all share is there."""
        for survey_id in self._surveys:
            kinds = [kind for kind in own_tables.KINDS if kind.name in self._own]
            own_table_making.create_tables(self._connection, survey_id, kinds)
        self._surveys = []

    def _insert(self, table: str, columns: list[list[str]], rows: list[list[Any]]) -> None:
        names = [name for name, _ in columns]
        if self._connection.dialect.name == "sqlite":
            target = sa.table(table, *(sa.column(name, TYPES[kind]) for name, kind in columns))
            self._connection.execute(sa.insert(target), [dict(zip(names, row, strict=True)) for row in rows])
            return
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
        )
        driver: Any = self._connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def _set_sequence(self, table: str) -> None:
        """What gives numbers goes on after those that are there."""
        if "id" not in {name for name, _ in self._columns[table]}:
            return
        if self._connection.scalar(sa.select(sa.func.pg_get_serial_sequence(table, "id"))) is None:
            return
        highest = self._connection.scalar(
            sa.select(sa.func.max(sa.column("id"))).select_from(sa.table(table))
        )
        if highest is not None:
            sequence = sa.func.pg_get_serial_sequence(table, "id")
            self._connection.execute(sa.select(sa.func.setval(sequence, highest)))
