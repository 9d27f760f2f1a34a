"""Bytes: of the database, of SQLite's log, and that its disk still has."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from server.web.watching.readiness import list_folders

_DATABASE = "database"
_LOG = "write_ahead_log"


def measure_sizes(engine: sa.Engine) -> Mapping[str, int]:
    """What can be measured now.

    `database`, with SQLite `write_ahead_log`, and what is `free` where Moneda keeps files, and `free_temporary`.
    """
    sizes: dict[str, int] = {}
    for name, folder in zip(("free", "free_temporary"), list_folders(engine), strict=True):
        with suppress(OSError):
            disk = os.statvfs(folder)
            sizes[name] = disk.f_bavail * disk.f_frsize
    if engine.dialect.name == "sqlite":
        path = os.path.realpath(str(engine.url.database))
        for name, file in ((_DATABASE, path), (_LOG, f"{path}-wal")):
            with suppress(OSError):
                sizes[name] = Path(file).stat().st_size
    else:
        with suppress(sa.exc.SQLAlchemyError), engine.connect() as connection:
            size: int = (
                connection.scalar(sa.select(sa.func.pg_database_size(sa.func.current_database()))) or 0
            )
            sizes[_DATABASE] = size
    return sizes
