"""What a SQLite database holds, read again only where somebody has written to it."""

import sqlite3

import sqlalchemy as sa

from tests.support import factories


class CachedDump:
    """The dump of a database, again and again.

    SQLite itself counts what other connections commit (`PRAGMA data_version`): where that number is as it was, no
    table of any kind has changed, and reading them all would say the same.
    """

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._connection = sqlite3.connect(str(sa.make_url(database_url).database))
        self._commits: int | None = None
        self._rows: factories.Rows = {}

    def read(self) -> factories.Rows:
        """Every row of every table, as `factories.dump` gives them."""
        (commits,) = self._connection.execute("PRAGMA data_version").fetchone()
        if commits != self._commits:
            self._commits, self._rows = commits, factories.dump(self._database_url)
        return self._rows

    def close(self) -> None:
        """Look no more."""
        self._connection.close()
