"""Responses of one transaction into the books: they wait in their cell, or are sealed as a batch.

A cell keeps its responses waiting until there are twice the survey's minimum; then a random choice of as
many as the minimum stays, and the others become a batch. So what is shown of a cell grows by the
minimum or more each time, at the end too, when the survey is closed and what waits becomes the last batch. Where
responses in batches were taken back, the next one waits until it is larger by as many, and they leave with it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from secrets import SystemRandom
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.encoding import encode_strings
from server.collect.batches.merging import FEW, merge, row_of, sum_days
from server.collect.batches.removing import Removed, cut, take_out_removals
from server.collect.batches.weeks import find_week
from server.store.own_tables import batches_of, cells_of, removals_of
from server.store.prepared_statements import Prepared
from server.study.smallest_group import least_kept

_RANDOM = SystemRandom()


class _AddingStatements:
    """What is asked of the books of one survey."""

    def __init__(self, survey_id: int) -> None:
        cells, batches = cells_of(survey_id), batches_of(survey_id)
        small, leaving = _count_small(survey_id), _count_leaving(survey_id)
        wanted = cells.c.id.in_(sa.bindparam("ids", expanding=True))
        found = sa.select(cells.c.id, cells.c.waiting_n, small, leaving)
        self.find = Prepared(found.where(wanted), expanding="ids")
        # In the order of their numbers, so that of two writers none waits for ever.
        self.lock = Prepared(
            found.add_columns(cells.c.waiting)
            .where(wanted)
            .order_by(cells.c.id)
            .with_for_update(key_share=True),
            expanding="ids",
        )
        self.make = {
            name: Prepared(insert(cells).on_conflict_do_nothing(index_elements=[cells.c.id]))
            for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
        }
        self.wait = Prepared(
            sa.update(cells)
            .where(cells.c.id == sa.bindparam("cell"))
            .values(waiting_n=sa.bindparam("number"), waiting=sa.bindparam("strings"))
        )
        self.seal = Prepared(sa.insert(batches))


_statements = lru_cache(maxsize=1024)(_AddingStatements)


def _count_small(survey_id: int) -> sa.ScalarSelect[int]:
    """How many batches that were sealed as they are a cell has."""
    cells, batches = cells_of(survey_id).c, batches_of(survey_id).c
    own = batches.cell_id == cells.id, batches.level == 0
    return sa.select(sa.func.count()).where(*own).scalar_subquery()


def _count_leaving(survey_id: int) -> sa.ColumnElement[int]:
    """How many responses leave with a cell's next batch."""
    removals = removals_of(survey_id).c
    noted = sa.select(removals.n).where(removals.cell_id == cells_of(survey_id).c.id)
    return sa.func.coalesce(noted.scalar_subquery(), 0)


class Group(NamedTuple):
    """Report strings that were stored together in one cell, their number by day, and the survey's minimum.

    Those of an archive are not `dated`: on which of these days each was shown is not known.
    """

    minimum: int
    reports: list[bytes]
    days: dict[date, int]
    dated: bool = True

    @property
    def week(self) -> str | None:
        """In which what is sealed of them is shown."""
        return find_week(self.days) if self.dated else None


def add(connection: sa.Connection, survey_id: int, groups: Mapping[CellKey, Group]) -> None:
    """Count stored responses to a survey in their cells.

    Called in the transaction that stores them, and as its last step, survey by survey in the order of
    their ids: on PostgreSQL it may lock cells until that ends.
    """
    statements = _statements(survey_id)
    keys = {cell_id(key): key for key in groups}
    new = {number: groups[keys[number]] for number in sorted(keys)}
    # As many as the minimum are a batch by themselves where enough others stay behind: nobody waits for a lock.
    many = {number: group for number, group in new.items() if is_batch(group)}
    small = _seal_many(connection, statements, many) if many else {}
    others = [number for number in new if number not in small]
    if others:
        found = _lock(connection, statements, {number: keys[number] for number in others})
        waiting, rows = [], []
        for number in others:
            group = new[number]
            stay, shown = _divide(found[number].waiting, group, found[number][3])
            waiting.append({"cell": number, "number": len(stay), "strings": b"".join(sorted(stay))})
            if shown:
                removed = Removed(Counter(), group.week)
                if found[number][3]:
                    removed = take_out_removals(connection, survey_id, number, len(shown[0]), group.week)
                rows.append(_row(number, group, shown, removed))
                small[number] = found[number][2]
        statements.wait.run_each(connection, waiting)
        if rows:
            statements.seal.run_each(connection, rows)
    for number, before in small.items():
        merge_small(connection, survey_id, keys[number], new[number], before)


def is_batch(group: Group) -> bool:
    """Whether a group can be a batch by itself, where enough others of its cell stay behind."""
    return len(group.reports) >= group.minimum


def write_sealing(survey_id: int, stored: sa.ColumnElement[bool]) -> tuple[sa.CTE, sa.ScalarSelect[int]]:
    """On PostgreSQL, a part of a statement that makes a batch of all that it stores, which are of one cell.

    It does so where that was `stored` and enough others wait in the cell, none of which leaves; then the other part
    finds how many small batches the cell had before, for `merge_small`. Both are given what `give_sealing` gives.
    """
    cells, batches = cells_of(survey_id), batches_of(survey_id)
    enough = cells.c.waiting_n >= sa.bindparam("kept", type_=sa.Integer)
    of_cell = cells.c.id == sa.bindparam("cell_id", type_=sa.BigInteger)
    found = sa.select(_count_small(survey_id).label("small"))
    ready = found.where(of_cell, enough, _count_leaving(survey_id) == 0, stored).cte("ready")
    row = [sa.bindparam(column.name, type_=column.type) for column in batches.c]
    seal = postgresql.insert(batches).from_select(list(batches.c), sa.select(*row).select_from(ready))
    return seal.cte("sealed"), sa.select(ready.c.small).scalar_subquery()


def give_sealing(key: CellKey, group: Group) -> dict[str, Any]:
    """The values for it."""
    return {**_whole_row(cell_id(key), group), "kept": least_kept(group.minimum)}


def merge_small(connection: sa.Connection, survey_id: int, key: CellKey, group: Group, before: int) -> None:
    """Merge a cell's small batches if they are many, now that a group became one besides those `before`."""
    if before + 1 >= FEW:
        merge(connection, survey_id, cell_id(key), len(group.reports[0]))


def _seal_many(
    connection: sa.Connection, statements: _AddingStatements, groups: Mapping[int, Group]
) -> dict[int, int]:
    """Make a batch of each group whose cell has enough others; how many small ones each of these cells had."""
    kept = {number: least_kept(group.minimum) for number, group in groups.items()}
    found = statements.find.fetch(connection, {"ids": list(groups)})
    ready = {row.id: row[2] for row in found if row.waiting_n >= kept[row.id] and not row[3]}
    if ready:
        statements.seal.run_each(connection, [_whole_row(number, groups[number]) for number in ready])
    return ready


def _whole_row(number: int, group: Group) -> dict[str, Any]:
    """A row for a batch of all that came with a group."""
    return _row(number, group, group.reports, Removed(Counter(), group.week))


def _row(number: int, group: Group, reports: Sequence[bytes], removed: Removed) -> dict[str, Any]:
    """A row for a batch of some of a cell's reports, with which this group came.

    What left other batches for it is made up for by as many of its own: no day's number falls.
    """
    days = sum_days([_days(group, len(reports) - removed.days.total()), removed.days])
    strings = encode_strings(reports)
    return row_of(number, len(reports), days, strings, len(reports[0]), week=removed.week)


def _lock(
    connection: sa.Connection, statements: _AddingStatements, keys: Mapping[int, CellKey]
) -> dict[int, Any]:
    """The rows of cells, locked until the transaction ends; those that were never used are made."""
    found = _lock_counters(connection, statements, keys)
    if len(found) < len(keys):
        made = [
            {**keys[number]._asdict(), "id": number, "waiting_n": 0, "waiting": b""}
            for number in keys
            if number not in found
        ]
        statements.make[connection.dialect.name].run_each(connection, made)
        found = _lock_counters(connection, statements, keys)
    return found


def _lock_counters(
    connection: sa.Connection, statements: _AddingStatements, numbers: Iterable[int]
) -> dict[int, Any]:
    return {row.id: row for row in statements.lock.fetch(connection, {"ids": list(numbers)})}


def _divide(waiting: bytes, group: Group, leaving: int) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Those that wait on, and those that are shown from now on, chosen by chance; as many leave batches then."""
    strings = [*cut(waiting, len(group.reports[0])), *group.reports]
    kept = least_kept(group.minimum)
    if len(strings) < kept + group.minimum + leaving:
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
