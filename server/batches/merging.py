"""Many small batches into few larger ones, so that reading all of them takes few steps.

Once there are sixteen of a level, they become one, most often of the next. A level holds batches whose
contents are up to sixteen times as long as those of the level before; the longest are left as they are.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import accumulate
from typing import Any

import sqlalchemy as sa

from server.batches.contents import add_up, decode, encode
from server.batches.margins import encode_margins
from server.models import Batch
from server.prepared import Prepared

FEW = 16
"""So many batches of a level become one."""

PIECE = 4 << 20
"""Bytes that the contents of batches have together when they are merged, at most."""

_LEVELS = (PIECE >> 10, PIECE >> 6, PIECE >> 2)
"""A batch with a content shorter than these is of level 0, 1, 2; a longer one is not merged any more."""

_BATCHES = Batch.metadata.tables[Batch.__tablename__]
# Not those that somebody else merges at this moment: nobody waits.
_LEVEL = Prepared(
    sa.select(_BATCHES.c.id, _BATCHES.c.n, _BATCHES.c.days, _BATCHES.c.content)
    .where(_BATCHES.c.cell_id == sa.bindparam("cell"), _BATCHES.c.level == sa.bindparam("of"))
    .order_by(_BATCHES.c.id)
    .with_for_update(skip_locked=True)
)
_REPLACE = Prepared(
    sa.update(_BATCHES)
    .where(_BATCHES.c.id == sa.bindparam("batch"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("level", "n", "days", "content", "margins")})
)
_REMOVE = Prepared(
    sa.delete(_BATCHES).where(_BATCHES.c.id.in_(sa.bindparam("ids", expanding=True))), expanding="ids"
)


def row_of(cell: int, n: int, days: Mapping[date, int], content: bytes, length: int) -> dict[str, Any]:
    """A row for the table of batches; `length` is that of each report string, in bytes."""
    level = sum(len(content) >= least for least in _LEVELS)
    return {
        "cell_id": cell,
        "level": level,
        "n": n,
        "days": json.dumps({day.isoformat(): number for day, number in sorted(days.items()) if number}),
        "content": content,
        "margins": encode_margins(decode(content, length)) if level else b"",
    }


def days_of(text: str) -> dict[date, int]:
    """How many responses of a batch are shown from which day on."""
    return {date.fromisoformat(day): number for day, number in json.loads(text).items()}


def sum_days(parts: Sequence[Mapping[date, int]]) -> dict[date, int]:
    """Numbers of responses by day, added up."""
    total: dict[date, int] = {}
    for part in parts:
        for day, number in part.items():
            total[day] = total.get(day, 0) + number
    return total


def merge(connection: sa.Connection, cell: int, length: int) -> None:
    """Make larger batches of a cell's small ones, as long as there are sixteen of a level.

    Parameters
    ----------
    length : int
        Of the cell's report strings, in bytes.
    """
    for level in range(len(_LEVELS)):
        found = _LEVEL.fetch(connection, {"cell": cell, "of": level})
        if len(found) < FEW:
            return
        sizes = accumulate(len(batch.content) for batch in found)
        found = found[: max(sum(size <= PIECE for size in sizes), 2)]
        together = row_of(
            cell,
            sum(batch.n for batch in found),
            sum_days([days_of(batch.days) for batch in found]),
            encode(add_up([decode(batch.content, length) for batch in found])),
            length,
        )
        del together["cell_id"]
        kept, *others = (batch.id for batch in found)
        _REPLACE.run(
            connection, {"batch": kept, **{f"new_{name}": value for name, value in together.items()}}
        )
        _REMOVE.run(connection, {"ids": others})
