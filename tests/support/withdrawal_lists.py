"""The list outside a database of what was taken back."""

import json
import os
from pathlib import Path

import sqlalchemy as sa

from tests.support.factories import dump


def list_of(url: str) -> Path:
    """Where it is, or would be: beside SQLite's file, or in the folder of marks."""
    parts = sa.make_url(url)
    if parts.get_backend_name() == "sqlite":
        return Path(f"{parts.database}.withdrawn")
    ((server, *_),) = dump(url)["servers"]
    return Path(os.environ["MONEDA_MARKS"]) / f"{parts.database}-{server}.withdrawn"


def read_list(url: str) -> list[list[str]]:
    """The hashes that it holds, survey by survey."""
    return list(json.loads(list_of(url).read_bytes())["surveys"].values())
