"""A table that is not a survey: a CSV file -> the code of each of its cells, or a refusal.

Nothing of it is stored. A cell that was not declared is refused and never dropped or added: what
is seen only in the data would give away who is in it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.inputs.csv_rows import (
    PART,
    ReportProgress,
    check_length,
    code_cells,
    read_rows,
    refuse_cell,
    report_no_progress,
)
from server.inputs.decimals import read_decimal
from server.releases.table_columns import Categories, Columns, Numbers, RowOwner

_MOST_DIGITS = 30
"""Before or after the point, of a number that is worked with: bounds have 13 before it, steps nine after it."""
_NO_CODES = np.zeros(0, dtype=np.int32)
_KNOWN_LIMIT = 1 << 16
"""Most different cells of a column whose codes are remembered."""


@dataclass(frozen=True, eq=False)
class Coded:
    """The rows of a table.

    Attributes
    ----------
    columns : Columns
    rows : int
        Those that are counted.
    codes : mapping
        Of each column, for each row: the place of its text among the categories, or its number
        in steps from the lowest.
    places : array of int or None
        For each row the place of its leaf.
    """

    columns: Columns
    rows: int
    codes: Mapping[str, NDArray[np.int32]]
    places: NDArray[np.int32] | None


def read_table(
    file: IO[bytes], columns: Columns, report_progress: ReportProgress = report_no_progress
) -> Coded:
    """Read a CSV file: UTF-8, the names of the columns in its first row, a row for each person.

    Raises
    ------
    InputError
        Naming the row (the first one is 1), the column, what may be there, and what is.
    """
    rows, separator = read_rows(file, columns.headers, columns.separator, report_progress)
    header = next(rows)
    owned = _OwnRows(columns.person)
    kept: list[NDArray[np.bool_]] = []
    where = {name: header.index(name) for name in columns.headers}
    readers = {name: _reader(column, separator) for name, column in columns.columns.items()}
    leaves = {} if columns.places is None else {leaf: code for code, leaf in enumerate(columns.places.leaves)}
    parts: dict[str, list[NDArray[np.int32]]] = {name: [] for name in readers}
    placed: list[NDArray[np.int32]] = []
    number = 1
    while part := list(islice(rows, PART)):
        check_length(part, number, len(header))
        for name, reader in readers.items():
            column = where[name]
            parts[name].append(code_cells(reader, [row[column] for row in part], name, number))
        if columns.places is not None:
            path = [where[name] for name in columns.places.path]
            paths = [_path(row, path) for row in part]
            placed.append(_find_leaf(leaves, paths, columns.places.path, number))
        if columns.person is not None:
            owner = where[columns.person.column]
            kept.append(np.array([owned.takes(row[owner].strip()) for row in part], dtype=np.bool_))
        number += len(part)
    if (
        number == 1 and columns.neighbours == "bounded"
    ):  # their number is public: elsewhere none is as private as one
        raise refuse(422, "data", N_("must have a row for each person below the names of the columns"))
    chosen = np.concatenate(kept) if kept else np.ones(number - 1, dtype=np.bool_)
    return Coded(
        columns=columns,
        rows=int(chosen.sum()),
        codes={name: np.concatenate([_NO_CODES, *some])[chosen] for name, some in parts.items()},
        places=None if columns.places is None else np.concatenate([_NO_CODES, *placed])[chosen],
    )


class _OwnRows:
    """Which rows are counted where a person may have several: the first of each, whoever else is in the table.

    A row of nobody is left out: nothing would bound how many of them are one person's.
    """

    def __init__(self, person: RowOwner | None) -> None:
        self._left: dict[str, int] = {}
        self._most = 0 if person is None else person.rows

    def takes(self, owner: str) -> bool:
        """Whether the next row, which is this person's, is counted."""
        left = self._left.get(owner, self._most) if owner else 0
        self._left[owner] = left - 1
        return left > 0


class _Texts(dict[str, int]):
    """The code of each text that was declared; -1 for others."""

    template = N_("must be one of %(limit)s; it is %(value)s")

    def __init__(self, column: Categories) -> None:
        super().__init__((text, code) for code, text in enumerate(column.texts))
        self.values_named: Mapping[str, object] = {
            "limit": shorten_value(", ".join(text or '""' for text in column.texts))
        }

    def __missing__(self, text: str) -> int:
        return self.get(text.strip(), -1)


class _Steps(dict[str, int]):
    """The steps from the lowest number to the one that a text stands for, -1 for others; remembered."""

    template = N_("must be from %(low)s to %(high)s in steps of %(step)s; it is %(value)s")

    def __init__(self, column: Numbers, separator: str) -> None:
        super().__init__()
        grid, self._clamp = column.grid, column.clamp
        self.values_named: Mapping[str, object] = {"low": grid.low, "high": grid.high, "step": grid.step}
        self._of, self._comma = grid.of, separator != ","
        self._low, self._step = Fraction(repr(grid.low)), Fraction(repr(grid.step))

    def __missing__(self, text: str) -> int:
        # Where commas do not part cells, numbers may have a decimal comma.
        number = read_decimal(text.replace(",", ".") if self._comma else text)
        steps = None
        if number is not None and number.is_finite():
            if self._clamp:
                steps = self._nearest(number)
            elif abs(number.adjusted()) < _MOST_DIGITS:
                steps = (Fraction(number) - self._low) / self._step
        good = steps is not None and steps.denominator == 1 and 0 <= steps <= self._of
        code = int(steps) if steps is not None and good else -1
        if len(self) < _KNOWN_LIMIT:
            self[text] = code
        return code

    def _nearest(self, number: Decimal) -> Fraction:
        """The steps to the nearest number of the grid, a half going up. So large a number is beyond either end."""
        if number.adjusted() >= _MOST_DIGITS:
            return Fraction(self._of if number > 0 else 0)
        exact = Fraction(number) if number.adjusted() > -_MOST_DIGITS else Fraction(0)
        steps = math.floor((exact - self._low) / self._step + Fraction(1, 2))
        return Fraction(min(max(steps, 0), self._of))


def _reader(column: Categories | Numbers, separator: str) -> _Texts | _Steps:
    return _Texts(column) if isinstance(column, Categories) else _Steps(column, separator)


def _path(row: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    """The names down to a row's place; empty cells at the end belong to a shorter branch."""
    names = [row[column].strip() for column in columns]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _find_leaf(
    leaves: Mapping[tuple[str, ...], int],
    paths: Sequence[tuple[str, ...]],
    columns: Sequence[str],
    before: int,
) -> NDArray[np.int32]:
    codes = [leaves.get(path, -1) for path in paths]
    if -1 in codes:
        place = codes.index(-1)
        template = N_("must be one of the declared leaves; it is %(value)s")
        raise refuse_cell(before + 1 + place, ", ".join(columns), template, " > ".join(paths[place]))
    return np.array(codes, dtype=np.int32)
