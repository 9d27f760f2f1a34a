"""Many small batches into few larger ones, so that reading all of them takes few steps.

Once there are sixteen of a level, those of one week become one, most often of the next; of the newest week only once
they are sixteen. A level holds batches whose contents are up to sixteen times as long as those of the level before; the
longest are left as they are. (`weeks` says which week a batch is of.)
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import accumulate
from typing import Any

import sqlalchemy as sa

from server.collect.batches.encoding import add_up, decode, encode
from server.collect.batches.margins import encode_margins
from server.collect.batches.weeks import decode_days, encode_days, read_week
from server.store.own_tables import batches_of
from server.store.prepared_statements import Prepared

FEW = 16
"""So many batches of a level become one."""

_BITS = 62
"""Of a batch's number: nobody has to look which ones there are."""

PIECE = 4 << 20
"""Bytes that the contents of batches have together when they are merged, at most."""

_LEVELS = (PIECE >> 10, PIECE >> 6, PIECE >> 2)
"""A batch with a content shorter than these is of level 0, 1, 2; a longer one is not merged any more.

Level 0 is left to those that were sealed as they are: closing has to know of some that they came as one (`hiding`).
"""


class _MergingStatements:
    """What is asked of the batches of one survey."""

    def __init__(self, survey_id: int) -> None:
        batches = batches_of(survey_id)
        # Not those that somebody else merges at this moment: nobody waits.
        self.find_level = Prepared(
            sa.select(batches.c.id, batches.c.n, batches.c.days, batches.c.content)
            .where(batches.c.cell_id == sa.bindparam("cell"), batches.c.level == sa.bindparam("of"))
            .order_by(batches.c.id)
            .with_for_update(skip_locked=True)
        )
        self.replace = Prepared(
            sa.update(batches)
            .where(batches.c.id == sa.bindparam("batch"))
            .values({name: sa.bindparam(f"new_{name}") for name in _CHANGED})
        )
        self.remove = Prepared(
            sa.delete(batches).where(batches.c.id.in_(sa.bindparam("ids", expanding=True))), expanding="ids"
        )


_CHANGED = ("level", "n", "days", "content", "margins")
_statements = lru_cache(maxsize=1024)(_MergingStatements)


def row_of(
    cell: int,
    n: int,
    days: Mapping[date, int],
    content: bytes,
    length: int,
    *,
    merged: bool = False,
    week: str | None = None,
) -> dict[str, Any]:
    """A row for a table of batches, under a new number.

    `length` is that of each report string, in bytes; `merged` is true where not all of it was sealed at once; `week` is
    that in which all of it was, if it is known.
    """
    level = max(sum(len(content) >= least for least in _LEVELS), int(merged))
    return {
        "id": secrets.randbits(_BITS),  # by chance, so that it does not say when
        "cell_id": cell,
        "level": level,
        "n": n,
        "days": encode_days(days, week),
        "content": content,
        "margins": encode_margins(decode(content, length)) if level else b"",
    }


def sum_days(parts: Sequence[Mapping[date, int]]) -> dict[date, int]:
    """Numbers of responses by day, added up."""
    total: dict[date, int] = {}
    for part in parts:
        for day, number in part.items():
            total[day] = total.get(day, 0) + number
    return total


def merge(connection: sa.Connection, survey_id: int, cell: int, length: int) -> None:
    """Make larger batches of a cell's small ones of a week, as long as there are sixteen of a level.

    Parameters
    ----------
    length : int
        Of the cell's report strings, in bytes.
    """
    statements = _statements(survey_id)
    for level in range(len(_LEVELS)):
        found = statements.find_level.fetch(connection, {"cell": cell, "of": level})
        if len(found) < FEW:
            return
        for week, own in _choose_alike(found):
            _put_together(connection, statements, cell, week, own, length)


def _choose_alike(cells: Sequence[Any]) -> Iterator[tuple[str | None, Sequence[Any]]]:
    """Those of a week that are to become one."""
    weeks: dict[str | None, list[Any]] = {}
    for batch in cells:
        weeks.setdefault(read_week(batch.days), []).append(batch)
    newest = max((week for week in weeks if week is not None), default="")
    for week, own in weeks.items():
        if len(own) >= FEW or (len(own) > 1 and week is not None and week < newest):
            yield week, own


def _put_together(
    connection: sa.Connection,
    statements: _MergingStatements,
    cell: int,
    week: str | None,
    cells: Sequence[Any],
    length: int,
) -> None:
    sizes = accumulate(len(batch.content) for batch in cells)
    cells = cells[: max(sum(size <= PIECE for size in sizes), 2)]
    together = row_of(
        cell,
        sum(batch.n for batch in cells),
        sum_days([decode_days(batch.days) for batch in cells]),
        encode(add_up([decode(batch.content, length) for batch in cells])),
        length,
        merged=True,
        week=week,
    )
    kept, *others = (batch.id for batch in cells)
    statements.replace.run(
        connection, {"batch": kept, **{f"new_{name}": together[name] for name in _CHANGED}}
    )
    statements.remove.run(connection, {"ids": others})
