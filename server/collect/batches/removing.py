"""Responses that were taken back leave the books, so that nobody sees a count fall by one.

One that waits leaves at once: nobody is shown anything of it. One that is in a batch is noted as a *removal*, its
report string and nothing else, and leaves when the next batch of its cell is sealed, which is larger by as many as
leave: what is shown grows by the minimum or more all the same. A batch names no row, so any of its strings that is the
same will do. Closing takes out what is left (`closing`).
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from datetime import date
from secrets import SystemRandom
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.encoding import as_keys, decode, encode
from server.collect.batches.merging import row_of
from server.collect.batches.weeks import decode_days, drop_week, read_week
from server.collect.tallies import Tally
from server.store.own_tables import batches_of, cells_of, removals_of

_RANDOM = SystemRandom()


class Removed(NamedTuple):
    """Of how many responses fewer each day tells, and the week of those that come in their place, if it stays known."""

    days: Counter[date]
    week: str | None


def cut(strings: bytes, length: int) -> list[bytes]:
    """Strings of one length that stand one after the other."""
    return [strings[start : start + length] for start in range(0, len(strings), length)]


def remove(connection: sa.Connection, survey_id: int, key: CellKey, gone: Sequence[bytes]) -> int:
    """Take responses out of the books, now or with the next batch; how many it is that leave with that.

    The caller has deleted their rows, in this transaction, and holds the survey.
    """
    cells, number, length = cells_of(survey_id), cell_id(key), len(gone[0])
    waiting = Counter(
        cut(connection.scalars(sa.select(cells.c.waiting).where(cells.c.id == number)).one(), length)
    )
    at_once = waiting & Counter(gone)
    if at_once:
        rest = sorted((waiting - at_once).elements())
        values = {"waiting_n": len(rest), "waiting": b"".join(rest)}
        connection.execute(sa.update(cells).where(cells.c.id == number).values(values))
    later = list((Counter(gone) - at_once).elements())
    if later:
        removals = removals_of(survey_id)
        strings = sorted([*_read_noted(connection, survey_id, number, length), *later])
        connection.execute(sa.delete(removals).where(removals.c.cell_id == number))
        row = {"cell_id": number, "n": len(strings), "strings": b"".join(strings)}
        connection.execute(sa.insert(removals).values(row))
    return len(later)


def take_out_removals(
    connection: sa.Connection, survey_id: int, cell: int, length: int, week: str | None
) -> Removed:
    """Take out of a cell's batches what is noted; those that come in their place are of this week."""
    removals = removals_of(survey_id)
    noted = Counter(_read_noted(connection, survey_id, cell, length))
    found = take_out(connection, survey_id, cell, noted, length, week)
    connection.execute(sa.delete(removals).where(removals.c.cell_id == cell))
    return found


def take_out(
    connection: sa.Connection,
    survey_id: int,
    cell: int,
    strings: Mapping[bytes, int],
    length: int,
    week: str | None = None,
) -> Removed:
    """Take report strings out of a cell's batches, if they are there: of those of this week first.

    Where others lose some, too, the weeks of all these have no batch of the cell any more, nor has what comes in their
    place a week.
    """
    left, days = Counter(strings), Counter[date]()
    weeks: set[str | None] = set()
    batches = batches_of(survey_id)
    # Others may merge some of them at this moment: what they leave is read once they are done.
    query = sa.select(batches).where(batches.c.cell_id == cell)
    locked = connection.execute(
        sa.select(batches.c.id, batches.c.days)
        .where(batches.c.cell_id == cell)
        .order_by(batches.c.id)
        .with_for_update()
    ).all()
    for number, _days in sorted(locked, key=lambda batch: week is None or read_week(batch.days) != week):
        if not left.total():
            break
        row = connection.execute(query.where(batches.c.id == number)).one()
        before = decode(row.content, length)
        after = subtract(before, left)
        if after.n == before.n:
            continue
        told = decode_days(row.days)
        for day in _RANDOM.sample(list(told), before.n - after.n, counts=list(told.values())):
            told[day] -= 1
            days[day] += 1
        rewrite(connection, survey_id, row, after, told)
        weeks.add(read_week(row.days))
    if weeks <= {week}:
        return Removed(days, week)
    forget_weeks(connection, survey_id, cell, weeks)
    return Removed(days, None)


def rewrite(
    connection: sa.Connection, survey_id: int, batch: Any, tally: Tally, days: Mapping[date, int]
) -> None:
    """Let a batch (its `id`, `cell_id`, `level` and `days`) hold this, from these days on, in the week that it has."""
    batches = batches_of(survey_id)
    this = batches.c.id == batch.id
    if tally.n:
        length, week = tally.patterns.shape[1], read_week(batch.days)
        merged = batch.level > 0
        new = row_of(batch.cell_id, tally.n, days, encode(tally), length, merged=merged, week=week)
        del new["id"]
        connection.execute(sa.update(batches).where(this).values(new))
    else:
        connection.execute(sa.delete(batches).where(this))


def forget_weeks(
    connection: sa.Connection, survey_id: int, cell: int, weeks: Container[str | None] | None = None
) -> None:
    """From now on no batch of a cell has one of these weeks, or any."""
    batches = batches_of(survey_id)
    query = sa.select(batches.c.id, batches.c.days).where(batches.c.cell_id == cell)
    for number, text in connection.execute(query).all():
        if weeks is None or read_week(text) in weeks:
            connection.execute(sa.update(batches).where(batches.c.id == number).values(days=drop_week(text)))


def subtract(tally: Tally, strings: Counter[bytes]) -> Tally:
    """A tally without some of its report strings; they are taken off `strings`, too."""
    wanted = sorted(string for string, number in strings.items() if number)
    if not wanted:
        return tally
    keys, sought = as_keys(tally.patterns), np.array(wanted, dtype=f"S{len(wanted[0])}")
    places = np.searchsorted(sought, keys).clip(max=len(wanted) - 1)
    counts = tally.counts.copy()
    for row in np.flatnonzero(sought[places] == keys):
        string = wanted[places[row]]
        fewer = min(int(counts[row]), strings[string])
        counts[row] -= fewer
        strings[string] -= fewer
    return Tally(tally.patterns[counts > 0], counts[counts > 0])


def _read_noted(connection: sa.Connection, survey_id: int, cell: int, length: int) -> list[bytes]:
    removals = removals_of(survey_id).c
    strings = connection.scalar(sa.select(removals.strings).where(removals.cell_id == cell))
    return cut(strings or b"", length)
