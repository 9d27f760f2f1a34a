"""Responses that were taken back leave the books, so that nobody sees a count fall by one.

One that waits leaves at once: nobody is shown anything of it. One that is in a batch is noted as a *removal*, its
report string and nothing else, and leaves when the next batch of its cell is sealed, which is larger by as many as
leave: what is shown grows by the minimum or more all the same. A batch names no row, so any of its strings that is the
same will do. Closing takes out what is left (`closing`).
"""

from collections import Counter
from collections.abc import Container, Mapping
from datetime import date
from secrets import SystemRandom
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.encoding import decode, encode
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


def remove(connection: sa.Connection, survey_id: int, key: CellKey, reports: bytes) -> None:
    """Take one response out of the books, now or with the next batch.

    The caller has deleted its row, in this transaction, and holds the survey.
    """
    cells, number = cells_of(survey_id), cell_id(key)
    waiting = cut(
        connection.scalars(sa.select(cells.c.waiting).where(cells.c.id == number)).one(), len(reports)
    )
    if reports in waiting:
        waiting.remove(reports)
        rest = {"waiting_n": len(waiting), "waiting": b"".join(waiting)}
        connection.execute(sa.update(cells).where(cells.c.id == number).values(rest))
        return
    removals = removals_of(survey_id)
    strings = sorted([*_read_noted(connection, survey_id, number, len(reports)), reports])
    connection.execute(sa.delete(removals).where(removals.c.cell_id == number))
    row = {"cell_id": number, "n": len(strings), "strings": b"".join(strings)}
    connection.execute(sa.insert(removals).values(row))


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
    query = sa.select(batches.c.id, batches.c.level, batches.c.days, batches.c.content).where(
        batches.c.cell_id == cell
    )
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
        told, own = decode_days(row.days), read_week(row.days)
        for day in _RANDOM.sample(list(told), before.n - after.n, counts=list(told.values())):
            told[day] -= 1
            days[day] += 1
        this = batches.c.id == number
        if after.n:
            new = row_of(cell, after.n, told, encode(after), length, merged=row.level > 0, week=own)
            del new["id"]
            connection.execute(sa.update(batches).where(this).values(new))
        else:
            connection.execute(sa.delete(batches).where(this))
        weeks.add(own)
    if weeks <= {week}:
        return Removed(days, week)
    forget_weeks(connection, survey_id, cell, weeks)
    return Removed(days, None)


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
    counts = None
    for string in [string for string, number in strings.items() if number]:
        for place in np.flatnonzero((tally.patterns == np.frombuffer(string, dtype=np.uint8)).all(axis=1)):
            counts = tally.counts.copy() if counts is None else counts
            fewer = min(int(counts[place]), strings[string])
            counts[place] -= fewer
            strings[string] -= fewer
    return tally if counts is None else Tally(tally.patterns[counts > 0], counts[counts > 0])


def _read_noted(connection: sa.Connection, survey_id: int, cell: int, length: int) -> list[bytes]:
    removals = removals_of(survey_id).c
    strings = connection.scalar(sa.select(removals.strings).where(removals.cell_id == cell))
    return cut(strings or b"", length)
