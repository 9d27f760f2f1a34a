"""What a SQLite database holds, copied again only where somebody has written to it, and read only to be compared."""

import sqlite3
from collections.abc import Collection
from functools import cached_property

import sqlalchemy as sa

from server.store.models import FailedAttempt


class Copied:
    """A database as it was; equal to another with the same rows."""

    def __init__(self, source: sqlite3.Connection, left_out: Collection[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        source.backup(self._connection)
        self._left_out = left_out

    @cached_property
    def rows(self) -> dict[str, list[str]]:
        """Every row of every table that is compared, in an order that depends on the rows alone."""
        ask = self._connection.execute
        names = [name for (name,) in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {
            name: sorted(map(repr, ask(f'SELECT * FROM "{name}"')))  # noqa: S608
            for name in names
            if name not in self._left_out
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Copied) and (self is other or self.rows == other.rows)

    __hash__ = None  # type: ignore[assignment]


class CachedDump:
    """The rows of a database, again and again, but those of failed attempts and of tables that are `left_out`.

    SQLite itself counts what other connections commit (`PRAGMA data_version`): where that number is as it was, no
    table of any kind has changed. Where it is another, copying a few megabytes takes a hundredth of what it takes to
    read all tables, which is put off until two copies are compared.
    """

    def __init__(self, database_url: str, left_out: Collection[str] = ()) -> None:
        self._connection = sqlite3.connect(str(sa.make_url(database_url).database))
        self._left_out = {FailedAttempt.__tablename__, *left_out}
        self._commits: int | None = None
        self._copied: Copied | None = None

    def read(self) -> Copied:
        """What is stored now."""
        (commits,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._copied is None or commits != self._commits:
            self._commits, self._copied = commits, Copied(self._connection, self._left_out)
        return self._copied

    def close(self) -> None:
        """Look no more."""
        self._connection.close()
