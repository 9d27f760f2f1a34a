"""Whether the schema of a database is the one that this Moneda was written for."""

from contextlib import nullcontext
from typing import Any

import sqlalchemy as sa

from server.store.engines import list_migrations
from server.store.failures import OutdatedError
from server.store.prepared_statements import raising_as_sqlalchemy

_READ = "SELECT version_num FROM alembic_version"


def watch_revision(engine: sa.Engine) -> None:
    """From now on, begin no transaction on a schema that another version of Moneda has upgraded meanwhile.

    A transaction raises OutdatedError where it begins. What was begun before goes on; what it changes is refused where
    it no longer fits.
    """
    expected = list_migrations()[-1]

    def check(connection: sa.Connection) -> None:
        found = _read_at_begin(connection)
        if found != expected:
            raise OutdatedError(f"the schema is {found}, and not {expected}")

    sa.event.listen(engine, "begin", check)


def _read_at_begin(connection: sa.Connection) -> str | None:
    """The last migration that the database has had, as the first thing that a transaction reads.

    Below SQLAlchemy, so that it costs each page and each group of responses next to nothing: psycopg begins a
    transaction with its first statement, and both go to PostgreSQL together, at the price of the one journey.
    """
    driver: Any = connection.connection.driver_connection
    together = driver.pipeline() if connection.dialect.name == "postgresql" else nullcontext()
    with raising_as_sqlalchemy(connection, _READ):
        with together:
            found = driver.execute(_READ)
        row = found.fetchone()
    return None if row is None else str(row[0])
