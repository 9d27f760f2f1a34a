"""Responses of one transaction into the books: they wait in their cell, or are sealed as a batch.

A cell keeps its responses waiting until there are twice the survey's minimum; then a random choice of as
many as the minimum stays, and the others become a batch. So what is shown of a cell grows by the
minimum or more each time, at the end too, when the survey is closed and what waits becomes the last batch.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from secrets import SystemRandom
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from server.batches.cells import CellKey, cell_id, least_kept
from server.batches.contents import encode_strings
from server.batches.merging import FEW, merge, row_of
from server.models import Batch, Cell
from server.prepared import Prepared

_CELLS = Cell.metadata.tables[Cell.__tablename__]
_BATCHES = Batch.metadata.tables[Batch.__tablename__]
_RANDOM = SystemRandom()

_SMALL = (
    sa.select(sa.func.count())
    .where(_BATCHES.c.cell_id == _CELLS.c.id, _BATCHES.c.level == 0)
    .scalar_subquery()
)
_WANTED = _CELLS.c.id.in_(sa.bindparam("ids", expanding=True))
_FOUND = Prepared(sa.select(_CELLS.c.id, _CELLS.c.waiting_n, _SMALL).where(_WANTED), expanding="ids")
# In the order of their numbers, so that of two writers none waits for ever.
_LOCKED = Prepared(
    sa.select(_CELLS.c.id, _CELLS.c.waiting_n, _SMALL, _CELLS.c.waiting)
    .where(_WANTED)
    .order_by(_CELLS.c.id)
    .with_for_update(key_share=True),
    expanding="ids",
)
_MAKE = {
    name: Prepared(insert(_CELLS).on_conflict_do_nothing(index_elements=[_CELLS.c.id]))
    for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_WAIT = Prepared(
    sa.update(_CELLS)
    .where(_CELLS.c.id == sa.bindparam("cell"))
    .values(waiting_n=sa.bindparam("number"), waiting=sa.bindparam("strings"))
)
_SEAL = Prepared(sa.insert(_BATCHES))


class Group(NamedTuple):
    """Report strings that were stored together in one cell, their number by day, and the survey's minimum."""

    minimum: int
    reports: list[bytes]
    days: dict[date, int]


def add(connection: sa.Connection, groups: Mapping[CellKey, Group]) -> None:
    """Count stored responses in their cells.

    Called in the transaction that stores them, and as its last step: on PostgreSQL it may lock
    cells until that ends.
    """
    keys = {cell_id(key): key for key in groups}
    new = {number: groups[keys[number]] for number in sorted(keys)}
    # As many as the minimum are a batch by themselves where enough others stay behind: nobody waits for a lock.
    many = [number for number, group in new.items() if len(group.reports) >= group.minimum]
    found: dict[int, Any] = {}
    if many:
        found = {row.id: row for row in _FOUND.fetch(connection, {"ids": many})}
    sealed: dict[int, Sequence[bytes]] = {
        number: new[number].reports
        for number, row in found.items()
        if row.waiting_n >= least_kept(new[number].minimum)
    }
    others = [number for number in new if number not in sealed]
    if others:
        found |= _lock(connection, {number: keys[number] for number in others})
        waiting = []
        for number in others:
            group = new[number]
            stay, leave = _divide(found[number].waiting, group)
            waiting.append({"cell": number, "number": len(stay), "strings": b"".join(sorted(stay))})
            if leave:
                sealed[number] = leave
        _WAIT.run_each(connection, waiting)
    if not sealed:
        return
    _SEAL.run_each(
        connection,
        [
            row_of(
                number,
                len(reports),
                _days(new[number], len(reports)),
                encode_strings(reports),
                len(reports[0]),
            )
            for number, reports in sealed.items()
        ],
    )
    for number, reports in sealed.items():
        if found[number][2] + 1 >= FEW:
            merge(connection, number, len(reports[0]))


def _lock(connection: sa.Connection, keys: Mapping[int, CellKey]) -> dict[int, Any]:
    """The rows of cells, locked until the transaction ends; those that were never used are made."""
    found = _locked(connection, keys)
    if len(found) < len(keys):
        made = [
            {**keys[number]._asdict(), "id": number, "waiting_n": 0, "waiting": b""}
            for number in keys
            if number not in found
        ]
        _MAKE[connection.dialect.name].run_each(connection, made)
        found = _locked(connection, keys)
    return found


def _locked(connection: sa.Connection, numbers: Iterable[int]) -> dict[int, Any]:
    return {row.id: row for row in _LOCKED.fetch(connection, {"ids": list(numbers)})}


def _divide(waiting: bytes, group: Group) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Those that wait on, and those that are shown from now on, chosen by chance."""
    length = len(group.reports[0])
    strings = [waiting[start : start + length] for start in range(0, len(waiting), length)]
    strings.extend(group.reports)
    kept = least_kept(group.minimum)
    if len(strings) < kept + group.minimum:
        return strings, ()
    _RANDOM.shuffle(strings)
    return strings[:kept], strings[kept:]


def _days(group: Group, number: int) -> Mapping[date, int]:
    """The days of as many of a group as are shown; those that have waited before count with the last."""
    if number == len(group.reports):
        return group.days
    last = max(group.days)
    if number > len(group.reports):
        return {**group.days, last: group.days[last] + number - len(group.reports)}
    if len(group.days) == 1:
        return {last: number}
    return Counter(_RANDOM.sample(list(group.days), number, counts=list(group.days.values())))
