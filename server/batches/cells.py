"""Cells: which responses are counted together, and how many of them wait."""

from typing import NamedTuple

from server.models import Batch, Cell, Mode

_STRATUM, _VERSION = 2, 32
"""Bits to the right of each part of a cell's number."""

IS_SHOWN = (Batch.cell_id == Cell.id) & (Batch.series == Cell.series)
"""How cells are joined to the batches that count: others are being written, or are about to go."""


class CellKey(NamedTuple):
    """Responses that are counted together: the version's id, the stratum's, and how they were collected."""

    version_id: int
    stratum_id: int | None
    mode: int = Mode.BROWSER


def cell_id(key: CellKey) -> int:
    """The number of a cell; the database checks that it is this one."""
    return key.version_id << _VERSION | (key.stratum_id or 0) << _STRATUM | key.mode


def least_kept(minimum: int) -> int:
    """How many responses of a cell stay behind when others of it are sealed, until the survey is closed.

    With them closing shows as many as the minimum, or more. With a minimum of 1 nobody is to be protected.
    """
    return minimum if minimum > 1 else 0


def waiting_limit(minimum: int) -> int:
    """Fewer than so many responses of a cell wait, always."""
    return least_kept(minimum) + minimum
