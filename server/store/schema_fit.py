"""Whether the schema of a database is the one that this Moneda was written for."""

from functools import lru_cache

import sqlalchemy as sa
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from server.store.engines import MIGRATIONS


def has_newest_schema(connection: sa.Connection) -> bool:
    """Whether the newest migration that this process knows is the last one that the database has had."""
    return MigrationContext.configure(connection).get_current_revision() == _find_newest()


@lru_cache(maxsize=1)
def _find_newest() -> str | None:
    config = AlembicConfig()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config).get_current_head()
