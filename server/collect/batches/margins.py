"""How often each report arrived in each byte: enough for every share and mean, and short however many responded.

Batches that were merged hold it beside their content, which then need not be read; small ones are counted.
A margin is a vector: the counts of the reports of the first byte, then those of the second, and so on.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from server.collect.batches.cells import with_batches
from server.collect.batches.encoding import STRINGS, decode
from server.collect.batches.weeks import decode_days
from server.collect.tallies import Tally, count_cells
from server.store.models import Mode, SurveyVersion
from server.store.own_tables import batches_of, cells_of

Margin = NDArray[np.int64]

_COUNT = np.dtype("<u4")
_COUNTED_AT_ONCE = 2000
"""Small batches, of at most four kilobytes each."""


def encode_margins(tally: Tally) -> bytes:
    """Of a batch: a row for each byte, all as wide as the largest report needs."""
    width = int(tally.patterns.max()) + 1
    rows = [count_cells(column, tally.counts, width) for column in tally.patterns.T]
    return np.stack(rows).astype(_COUNT).tobytes()


def margin_of(tally: Tally, reports: bytes) -> Margin:
    """Of a tally of a version whose bytes have so many reports each."""
    (margin,) = _margins(tally, np.zeros(len(tally.counts), dtype=np.int64), reports, 1)
    return np.asarray(margin)


def read_sealed_margins(
    session: Session, version: SurveyVersion, mode: Mode | None = None
) -> dict[int | None, Margin]:
    """Of the batches of each stratum, None for the survey's own link; of one mode or all."""
    length = len(version.reports)
    found: dict[int | None, Margin] = {}

    def add(stratum: int | None, margin: Margin) -> None:
        found[stratum] = found[stratum] + margin if stratum in found else margin

    merged: dict[tuple[int | None, int], list[bytes]] = {}
    small: list[tuple[int | None, int, bytes]] = []
    cells, batches = cells_of(version.survey_id).c, batches_of(version.survey_id).c
    small_ones = sa.case((batches.level == 0, batches.content))
    query = (
        sa.select(cells.stratum_id, batches.n, batches.margins, small_ones)
        .select_from(with_batches(version.survey_id))
        .where(cells.version_id == version.id)
    )
    if mode is not None:
        query = query.where(cells.mode == mode)
    executed = session.connection().execute(query, execution_options={"yield_per": _COUNTED_AT_ONCE})
    for rows in executed.partitions():
        for stratum, n, margins, content in rows:
            if content is None:
                merged.setdefault((stratum, len(margins)), []).append(margins)
            else:
                small.append((stratum, n, content))
        for stratum, margin in _count_margins(small, version.reports):
            add(stratum, margin)
        small.clear()
    for (stratum, size), together in merged.items():
        table = np.frombuffer(b"".join(together), dtype=_COUNT).reshape(len(together), -1)
        width = size // _COUNT.itemsize // length
        add(stratum, _laid_out(table.sum(axis=0, dtype=np.int64).reshape(length, width), version.reports))
    return found


def count_wrong_sums(session: Session, version: SurveyVersion) -> int:
    """How many batches have, beside their content, margins or numbers by day that are not its own."""
    cells, batches = cells_of(version.survey_id).c, batches_of(version.survey_id).c
    query = (
        sa.select(batches.level, batches.n, batches.days, batches.margins, batches.content)
        .select_from(with_batches(version.survey_id))
        .where(cells.version_id == version.id)
    )
    wrong = 0
    # One after the other: each may have four megabytes.
    for level, n, days, margins, content in session.execute(query, execution_options={"yield_per": 1}):
        try:
            expected = encode_margins(decode(content, len(version.reports))) if level else b""
            wrong += margins != expected or sum(decode_days(days).values()) != n
        except (ValueError, TypeError, AttributeError, IndexError):
            wrong += 1
    return wrong


def _count_margins(
    small: Iterable[tuple[int | None, int, bytes]], reports: bytes
) -> Iterator[tuple[int | None, Margin]]:
    """The margins of many small batches: those of strings are counted together."""
    strings: list[bytes] = []
    numbers: list[int] = []
    strata: list[int | None] = []
    for stratum, n, content in small:
        if content[0] == STRINGS:
            strings.append(content[1:])
            numbers.append(n)
            strata.append(stratum)
        else:
            yield stratum, margin_of(decode(content, len(reports)), reports)
    if strings:
        order = {stratum: place for place, stratum in enumerate(dict.fromkeys(strata))}
        places = np.repeat([order[stratum] for stratum in strata], numbers)
        margins = _margins(Tally.of(b"".join(strings), len(reports)), places, reports, len(order))
        yield from zip(order, margins, strict=True)


def _margins(tally: Tally, places: NDArray[np.int64], reports: bytes, number: int) -> NDArray[np.int64]:
    """A margin for each place."""
    counts = None if tally.n == len(tally.counts) else tally.counts
    parts = []
    for column, possible in zip(tally.patterns.T, reports, strict=True):
        cells = column if number == 1 else places * possible + column
        if counts is None:
            found = np.bincount(cells, minlength=number * possible)
        else:
            found = count_cells(cells, counts, number * possible)
        parts.append(found.reshape(number, possible))
    return np.concatenate(parts, axis=1)


def _laid_out(table: NDArray[np.int64], reports: bytes) -> Margin:
    """The rows of a table after each other, each as long as its byte has reports."""
    parts = []
    for row, possible in zip(table, reports, strict=True):
        parts.append(np.pad(row[:possible], (0, max(possible - len(row), 0))))
    return np.concatenate(parts)
