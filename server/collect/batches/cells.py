"""Cells: which responses are counted together."""

from typing import NamedTuple

import sqlalchemy as sa

from server.store.models import Mode
from server.store.own_tables import batches_of, cells_of

_STRATUM, _VERSION = 2, 32
"""Bits to the right of each part of a cell's number."""


class CellKey(NamedTuple):
    """Responses that are counted together: the version's id, the stratum's, and how they were collected."""

    version_id: int
    stratum_id: int | None
    mode: int = Mode.BROWSER


def cell_id(key: CellKey) -> int:
    """The number of a cell; the database checks that it is this one."""
    return key.version_id << _VERSION | (key.stratum_id or 0) << _STRATUM | key.mode


def with_batches(survey_id: int) -> sa.Join:
    """A survey's cells, each with its batches."""
    cells, batches = cells_of(survey_id), batches_of(survey_id)
    return cells.join(batches, batches.c.cell_id == cells.c.id)
