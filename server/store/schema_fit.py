"""Whether the schema of a database is the one that this Moneda was written for."""

from functools import lru_cache
from pathlib import Path

import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from server.store.engines import find_migrations
from server.store.failures import OutdatedError


def has_newest_schema(connection: sa.Connection) -> bool:
    """Whether the newest migration that this process knows is the last one that the database has had."""
    return MigrationContext.configure(connection).get_current_revision() == _find_newest(find_migrations())


def watch_revision(engine: sa.Engine) -> None:
    """From now on, begin no transaction on a schema that another version of Moneda has upgraded meanwhile.

    What was begun before goes on; what it changes is refused where it no longer fits.
    """
    expected = _find_newest(find_migrations())

    def check(connection: sa.Connection) -> None:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        if found != expected:
            raise OutdatedError(f"the schema is {found}, and not {expected}")

    sa.event.listen(engine, "begin", check)


@lru_cache(maxsize=8)
def _find_newest(migrations: Path) -> str | None:
    return ScriptDirectory(str(migrations)).get_current_head()
