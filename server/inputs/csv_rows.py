"""A table from outside: a CSV file -> its rows, and the codes of its cells, or a refusal.

UTF-8, the names of the columns in its first row, a row for each person. Cells stay texts: a formula is one
that was not declared, and is refused as such.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from server.inputs.problems import N_, InputError, refuse, shorten_value

PART = 10_000
"""Rows that are read at once."""
_LINE_LIMIT = 1 << 16
_SEPARATORS = (",", ";", "\t")

ReportProgress = Callable[[int], None]
"""Is told how many bytes were read."""


def report_no_progress(_done: int) -> None:
    """Nobody waits."""


class CellReader(Protocol):
    """The code of each text that a cell may hold; -1 for others, and what is then said of them."""

    template: str
    values_named: Mapping[str, object]

    def __getitem__(self, text: str, /) -> int: ...


def read_rows(
    file: IO[bytes],
    headers: Sequence[str],
    separator: str | None,
    report_progress: ReportProgress = report_no_progress,
) -> tuple[Iterator[list[str]], str]:
    """The rows of a file, the names of the columns first, and what stands between two cells.

    Parameters
    ----------
    headers : sequence of str
        Names that the first row must have; other columns may stand beside them.
    separator : str or None
        Between two cells, where it was declared.

    Raises
    ------
    InputError
        Naming the row (the first one is 1).
    """
    lines = _lines(file, report_progress)
    first = next(lines, "")
    chosen = separator or _find_separator(first, headers)

    def rows() -> Iterator[list[str]]:
        reader = csv.reader(_chain_lines(first, lines), delimiter=chosen, strict=True)
        try:
            names = _check_header(next(reader, []), headers)
            yield names
            blank = 0
            for row in reader:
                if not row and len(names) > 1:  # some programs write such lines at the end
                    blank += 1
                    continue
                yield from [[]] * blank
                blank = 0
                yield row or [""]
        except csv.Error:
            template = N_("must be CSV; it is not from row %(position)d on")
            raise refuse(422, "data", template, position=reader.line_num) from None

    return rows(), chosen


def _chain_lines(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _lines(file: IO[bytes], report_progress: ReportProgress) -> Iterator[str]:
    """The lines of a text, with their ends; without the mark that some programs put before it."""
    done, number = 0, 0
    while line := file.readline(_LINE_LIMIT):
        if not done and line.startswith(b"PK\x03\x04"):
            raise refuse(422, "data", N_("must be a CSV file; it is a workbook (.xlsx) or another ZIP file"))
        if not done and b"\r" in line.rstrip(b"\r\n") and b"\n" not in line:
            template = N_("must have rows that end with a line feed (LF, or CR LF); they end with CR alone")
            raise refuse(422, "data", template)
        if len(line) == _LINE_LIMIT and not line.endswith(b"\n"):
            template = N_("must have rows of at most %(limit)d bytes; one has more")
            raise refuse(413, "data", template, limit=_LINE_LIMIT)
        number += 1
        try:
            text = line.decode("utf-8-sig" if done == 0 else "utf-8")
        except UnicodeDecodeError as error:
            template = N_("must be UTF-8; line %(number)d is not, at byte %(position)d of the file")
            raise refuse(400, "data", template, number=number, position=done + error.start) from None
        if "\0" in text:  # as in UTF-16 without its mark
            raise refuse(422, "data", N_("must not contain a NUL character"))
        done += len(line)
        report_progress(done)
        yield text


def _find_separator(first: str, headers: Sequence[str]) -> str:
    """The separator by which most of the names that are needed are found."""
    wanted = set(headers)

    def count_cells(separator: str) -> int:
        try:
            return len(
                wanted.intersection(map(str.strip, next(csv.reader([first], delimiter=separator), [])))
            )
        except csv.Error:
            return 0

    return max(_SEPARATORS, key=count_cells)  # of equals the first


def _check_header(row: list[str], headers: Sequence[str]) -> list[str]:
    names = [name.strip() for name in row]
    for name in headers:
        if name not in names:
            template = N_(
                "must have a column for each name that is declared, also %(limit)s; it has %(value)s"
            )
            raise refuse(
                422, "data", template, limit=shorten_value(name), value=shorten_value(", ".join(names)) or "-"
            )
        if names.count(name) > 1:
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, "data[1]", template, value=shorten_value(name))
    return names


def check_length(part: Sequence[list[str]], before: int, cells: int) -> None:
    """Refuse a row, after so many `before` these, that has more or fewer cells."""
    for number, row in enumerate(part, before + 1):
        if len(row) != cells:
            template = N_("must have %(limit)d cells; it has %(length)d")
            raise refuse(422, f"data[{number}]", template, limit=cells, length=len(row))


def code_cells(reader: CellReader, cells: Sequence[str], name: str, before: int) -> NDArray[np.int32]:
    """The code of each cell of a column, below so many rows."""
    codes = [reader[cell] for cell in cells]
    if -1 in codes:
        place = codes.index(-1)
        raise refuse_cell(before + 1 + place, name, reader.template, cells[place], **reader.values_named)
    return np.array(codes, dtype=np.int32)


def refuse_cell(row: int, column: str, template: str, value: str, **values: object) -> InputError:
    """What a cell may hold, and what it does; the first row is 1."""
    return refuse(
        422, f"data[{row}].{shorten_value(column)}", template, **values, value=shorten_value(value) or '""'
    )
