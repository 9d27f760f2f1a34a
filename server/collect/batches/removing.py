"""Responses that were taken back leave the books, so that nobody sees a count fall by one.

One that waits leaves at once: nobody is shown anything of it. One that is in a batch is noted as a *removal*, its
report string and nothing else, and leaves when the next batch of its cell is sealed, which is larger by as many as
leave: what is shown grows by the minimum or more all the same. A batch names no row, so any of its strings that is the
same will do. Closing takes out what is left (`closing`).
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from secrets import SystemRandom

import numpy as np
import sqlalchemy as sa

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.encoding import decode, encode
from server.collect.batches.merging import days_of, row_of
from server.collect.tallies import Tally
from server.store.own_tables import batches_of, cells_of, removals_of

_RANDOM = SystemRandom()


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


def take_out_removals(connection: sa.Connection, survey_id: int, cell: int, length: int) -> Counter[date]:
    """Take out of a cell's batches what is noted; of how many responses fewer each day tells."""
    removals = removals_of(survey_id)
    noted = Counter(_read_noted(connection, survey_id, cell, length))
    days = take_out(connection, survey_id, cell, noted, length)
    connection.execute(sa.delete(removals).where(removals.c.cell_id == cell))
    return days


def take_out(
    connection: sa.Connection, survey_id: int, cell: int, strings: Mapping[bytes, int], length: int
) -> Counter[date]:
    """Take report strings out of a cell's batches, if they are there; of how many responses fewer each day tells."""
    left, days = Counter(strings), Counter[date]()
    batches = batches_of(survey_id)
    # Others may merge some of them at this moment: what they leave is read once they are done.
    query = sa.select(batches.c.id, batches.c.level, batches.c.days, batches.c.content).where(
        batches.c.cell_id == cell
    )
    for number in connection.scalars(
        sa.select(batches.c.id).where(batches.c.cell_id == cell).order_by(batches.c.id).with_for_update()
    ).all():
        if not left.total():
            break
        row = connection.execute(query.where(batches.c.id == number)).one()
        before = decode(row.content, length)
        after = subtract(before, left)
        if after.n == before.n:
            continue
        told = days_of(row.days)
        for day in _RANDOM.sample(list(told), before.n - after.n, counts=list(told.values())):
            told[day] -= 1
            days[day] += 1
        this = batches.c.id == number
        if after.n:
            new = row_of(cell, after.n, told, encode(after), length, merged=row.level > 0)
            del new["id"]
            connection.execute(sa.update(batches).where(this).values(new))
        else:
            connection.execute(sa.delete(batches).where(this))
    return days


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
