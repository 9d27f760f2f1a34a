"""Small files outside a database, which say of it what an older copy of it has forgotten."""

import hashlib
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from server.config import marks_folder


def find_outside_file(url: sa.URL, server: str, ending: str) -> Path:
    """Beside SQLite's file, wherever links lead to it; for PostgreSQL in the folder that all its servers see."""
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database)).resolve()
        return path.with_name(f"{path.name}{ending}")
    return marks_folder() / f"{quote(str(url.database), safe='')}-{server}{ending}"


def hash_name(name: str) -> str:
    """How such a file names a survey, by its link, or a right, by its token: it leads to none of them."""
    return hashlib.sha256(f"moneda mark {name}".encode()).hexdigest()[:32]
