"""A table of codes as SPSS reads it: a system file, compressed by SPSS's own bytecode, in UTF-8.

As "System File Format" of the manual for developers of PSPP describes it. What is missing is -1, which has a label and
is declared as missing.
"""

import struct
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.output.labelled.code_table import (
    MISSING,
    CodeTable,
    CodeVariable,
    count_bytes,
    shorten_label,
    shorten_labels,
)

_LABEL = 256
"""Bytes of the label of a variable."""
_CODE_LABEL = 120
"""Bytes of the label of a code."""
_TABLE_LABEL = 64
_NOTE_LINE = 80
_BIAS = 100
_LARGEST = 251 - _BIAS
"""The largest number that one byte stands for."""
_BESIDE = 253
"""The byte that says that a number stands beside the others, in eight bytes."""
_AT_ONCE = 8
"""Bytes that stand together; the numbers beside them follow."""
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_PLAIN = 5 << 16 | 8 << 8
"""How a number is shown: F8.0."""


def write_spss(table: CodeTable, file: IO[bytes]) -> None:
    """Write a table. Labels are shortened to what SPSS takes, those of its codes so that none are alike."""
    file.write(_head(table))
    for place, entry in enumerate(table.variables, start=1):
        file.write(_write_variable(entry, place))
    for place, entry in enumerate(table.variables, start=1):
        file.write(_write_labels(entry, place))
    file.write(_write_notes(table.notes))
    file.write(_write_extensions(table))
    file.write(struct.pack("<2i", 999, 0))
    for piece in _compress(table):
        file.write(piece)


def _head(table: CodeTable) -> bytes:
    # The number of rows has four bytes here; a larger one stands in the extension alone.
    n = table.n if table.n < 1 << 31 else -1
    return (
        b"$FL2"
        + b"@(#) SPSS DATA FILE Moneda".ljust(60)
        + struct.pack("<5id", 2, len(table.variables), 1, 0, n, _BIAS)
        + _write_day(table.day)
        + b"00:00:00"
        + _fill(shorten_label(table.label, _TABLE_LABEL, count_bytes), _TABLE_LABEL)
        + bytes(3)
    )


def _write_day(day: date) -> bytes:
    return f"{day.day:02} {_MONTHS[day.month - 1]} {day.year % 100:02}".encode()


def _write_variable(entry: CodeVariable, place: int) -> bytes:
    label = shorten_label(entry.label, _LABEL, count_bytes).encode()
    written = struct.pack("<6i", 2, 0, bool(label), bool(entry.missing), _PLAIN, _PLAIN) + _fill(
        _short(place), 8
    )
    if label:
        written += struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4)
    return written + (struct.pack("<d", MISSING) if entry.missing else b"")


def _short(place: int) -> str:
    """What a variable is called where eight letters fit: no name of ours begins so."""
    return f"@{place}"


def _write_labels(entry: CodeVariable, place: int) -> bytes:
    """The labels of the codes of a variable; nothing where none has one."""
    codes = {**entry.codes, **({MISSING: entry.missing} if entry.missing else {})}
    if not codes:
        return b""
    written = struct.pack("<2i", 3, len(codes))
    for code, text in shorten_labels(codes, _CODE_LABEL, count_bytes).items():
        label = text.encode()
        written += struct.pack("<d", code) + bytes([len(label)])
        written += label.ljust((1 + len(label) + 7) // 8 * 8 - 1)
    return written + struct.pack("<3i", 4, 1, place)


def _write_notes(notes: Sequence[str]) -> bytes:
    """Notes, in lines of as many bytes as fit."""
    lines = [line for note in notes for line in _break_lines(note)]
    if not lines:
        return b""
    return struct.pack("<2i", 6, len(lines)) + b"".join(_fill(line, _NOTE_LINE) for line in lines)


def _break_lines(note: str) -> Iterator[str]:
    line = ""
    for word in note.split():
        longer = f"{line} {word}".lstrip()
        if line and count_bytes(longer) > _NOTE_LINE:
            yield line
            longer = word
        line = shorten_label(longer, _NOTE_LINE, count_bytes)
    yield line


def _write_extensions(table: CodeTable) -> bytes:
    """Of the machine, how variables are shown, their whole names, the number of rows, and UTF-8."""
    largest = sys.float_info.max
    names = "\t".join(f"{_short(place)}={entry.name}" for place, entry in enumerate(table.variables, start=1))
    # Of each: 1 nominal or 2 ordinal, eight letters wide, to the right.
    shown = [number for entry in table.variables for number in (1 + entry.ordered, 8, 1)]
    return b"".join(
        (
            _extend(3, 4, struct.pack("<8i", 1, 0, 0, -1, 1, 1, 2, 65_001)),
            _extend(4, 8, struct.pack("<3d", -largest, largest, np.nextafter(-largest, 0))),
            _extend(11, 4, struct.pack(f"<{len(shown)}i", *shown)),
            _extend(13, 1, names.encode()),
            _extend(16, 8, struct.pack("<2q", 1, table.n)),
            _extend(20, 1, b"UTF-8"),
        )
    )


def _extend(kind: int, size: int, content: bytes) -> bytes:
    return struct.pack("<4i", 7, kind, size, len(content) // size) + content


def _compress(table: CodeTable) -> Iterator[bytes]:
    """The rows one after the other, eight cells at a time, whatever row they are of."""
    rest = np.empty(0, np.int32)
    for codes in table.parts():
        cells = np.concatenate([rest, codes.ravel()])
        whole = len(cells) // _AT_ONCE * _AT_ONCE
        yield _pack(cells[:whole], 0)
        rest = cells[whole:]
    if len(rest):
        unused = _AT_ONCE - len(rest)
        yield _pack(np.concatenate([rest, np.zeros(unused, np.int32)]), unused)


def _pack(cells: NDArray[np.int32], unused: int) -> bytes:
    """Cells, eight to a piece; the last `unused` are none."""
    beside = cells > _LARGEST
    stated = np.where(beside, _BESIDE, cells + _BIAS).astype(np.uint8)
    if unused:
        stated[-unused:] = 0
    if not beside.any():
        return stated.tobytes()
    pieces = beside.reshape(-1, _AT_ONCE)
    sizes = _AT_ONCE + 8 * pieces.sum(axis=1)
    starts = np.cumsum(sizes) - sizes
    packed = np.empty(int(sizes.sum()), np.uint8)
    packed[starts[:, None] + np.arange(_AT_ONCE)] = stated.reshape(-1, _AT_ONCE)
    places = (starts[:, None] + _AT_ONCE + 8 * (np.cumsum(pieces, axis=1) - 1))[pieces]
    numbers = cells[beside].astype("<f8").view(np.uint8).reshape(-1, 8)
    packed[places[:, None] + np.arange(8)] = numbers
    return packed.tobytes()


def _fill(text: str, size: int) -> bytes:
    return text.encode().ljust(size)
