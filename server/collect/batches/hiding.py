"""Which sealed responses wait for good where some were taken back, and too few new ones come for them on closing.

Somebody may have looked after any batch was sealed, and looks again once the survey is closed. Of what is shown then
and what was shown at that moment, the responses that stand in one of the two only are to be as many as the minimum, or
none. To hide as many as the minimum, drawn at random, is not enough: beside a look from before the last batch, which
was as many, one response may be gone and one be new.

A batch that was sealed at once was shown whole at a moment, or not at all. Hide some of it, and leave as many: either
those are gone since that moment, or these are new, whenever it was. So equal parts of a few such batches, as many as
the minimum together, are enough, whoever looked when. Nothing of what was taken back counts here: it adds to the
difference.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from secrets import SystemRandom

import numpy as np
import sqlalchemy as sa

from server.collect.batches.encoding import decode
from server.store.own_tables import batches_of

_RANDOM = SystemRandom()

_LARGE = 12
"""Times the minimum: of so many merged responses twice the minimum are enough, drawn at random.

They were sealed in groups of the minimum or more each. For a look to differ from the end by less than
the minimum, three quarters of those that are hidden would have to be among one or two of them: where the minimum is
three, five of six among six of 36, which is less likely than 1 in 10,000; where it is ten, less than 1 in 10^9.
"""

Size = tuple[int, int, int]
"""A batch: its number, its level, and how many responses it holds."""


def choose_numbers(sizes: Sequence[Size], minimum: int) -> dict[int, int]:
    """How many responses of which batch to hide, so that no look at a sum of batches differs from the rest by a few.

    Parameters
    ----------
    sizes : sequence of (number, level, n)
        The batches of a cell, what was taken back not among them.
    minimum : int
        The survey's smallest group.

    Returns
    -------
    dict
        From numbers of batches to numbers of responses. All of them, where nothing else is enough.
    """
    whole = sorted((size for size in sizes if size[1] == 0), key=lambda size: -size[2])
    ways = []
    for parts in range(1, len(whole) + 1):
        part = -(-minimum // parts)
        if whole[parts - 1][2] >= 2 * part:
            ways.append({number: part for number, _level, _n in whole[:parts]})
    if ways:
        return min(ways, key=lambda way: sum(way.values()))
    merged = [size for size in sizes if size[1] > 0]
    if sum(n for _number, _level, n in merged) < _LARGE * minimum:
        return {number: n for number, _level, n in sizes}
    numbers = [number for number, _level, _n in merged]
    drawn = _RANDOM.sample(numbers, 2 * minimum, counts=[n for _number, _level, n in merged])
    return Counter(drawn)


def choose_hidden(connection: sa.Connection, survey_id: int, cell: int, minimum: int) -> dict[int, int]:
    """How many responses of which batch of a cell to hide: `choose_numbers`."""
    batches = batches_of(survey_id).c
    query = (
        sa.select(batches.id, batches.level, batches.n).where(batches.cell_id == cell).order_by(batches.id)
    )
    return choose_numbers([(row.id, row.level, row.n) for row in connection.execute(query)], minimum)


def draw_hidden(
    connection: sa.Connection, survey_id: int, numbers: Mapping[int, int], length: int
) -> list[bytes]:
    """The report strings of as many responses of each batch, drawn at random; they are left in place."""
    batches = batches_of(survey_id).c
    drawn: list[bytes] = []
    for number, few in sorted(numbers.items()):
        content = connection.scalars(sa.select(batches.content).where(batches.id == number)).one()
        tally = decode(content, length)
        places = _RANDOM.sample(range(tally.n), few)
        rows = np.searchsorted(np.cumsum(tally.counts), places, side="right")
        drawn += [tally.patterns[row].tobytes() for row in rows]
    return drawn
