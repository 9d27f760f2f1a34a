"""A table of codes as Stata reads it: the format 118 of its manual ("Description of the .dta file format").

Stata 14 and later, R and Python read it. Codes are whole numbers of one, two or four bytes; what is missing is `.a`,
which has a label.
"""

import struct
from typing import IO, Final, NamedTuple

import numpy as np

from server.output.labelled.code_table import MISSING, CodeTable, CodeVariable, count_bytes, shorten_label

MOST_VARIABLES: Final = 32_767
"""Of Stata/SE; Stata/BE takes 2,048."""
_LABEL = 80
"""Letters of a label of the table or of a variable."""
_CODE_LABEL = 32_000
"""Bytes of the label of a code."""
_MISSING_IN_LABELS: Final = 2_147_483_622
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class _Width(NamedTuple):
    """How codes up to `most` are stored: the number of the type, what NumPy calls it, and what `.a` is in it."""

    most: int
    number: int
    stored: str
    missing: int


_WIDTHS = (
    _Width(100, 65_530, "<i1", 102),
    _Width(32_740, 65_529, "<i2", 32_742),
    _Width(2_147_483_620, 65_528, "<i4", _MISSING_IN_LABELS),
)


def write_stata(table: CodeTable, file: IO[bytes]) -> None:
    """Write a table of at most `MOST_VARIABLES` variables. Labels are shortened to what Stata takes."""
    widths = [next(width for width in _WIDTHS if entry.most <= width.most) for entry in table.variables]
    row = np.dtype([(f"v{place}", width.stored) for place, width in enumerate(widths)])
    before = _describe(table, widths)
    after = [
        b"<strls></strls>",
        b"<value_labels>" + b"".join(map(_write_labels, table.variables)) + b"</value_labels>",
        b"</stata_dta>",
    ]
    data = len(b"<data></data>") + table.n * row.itemsize
    sizes = [*map(len, before), data, *map(len, after)]
    # What the map says: where each part begins, itself among them, and where the file ends.
    map_size = len("<map></map>") + 14 * 8
    starts = [0, sizes[0]]
    place = sizes[0] + map_size
    for size in sizes[1:]:
        starts.append(place)
        place += size
    starts.append(place)
    file.write(before[0])
    file.write(b"<map>" + struct.pack("<14Q", *starts) + b"</map>")
    file.write(b"".join(before[1:]) + b"<data>")
    for codes in table.parts():
        rows = np.empty(len(codes), row)
        for number, width in enumerate(widths):
            column = codes[:, number]
            rows[f"v{number}"] = np.where(column == MISSING, width.missing, column)
        file.write(rows.tobytes())
    file.write(b"</data>" + b"".join(after))


def _describe(table: CodeTable, widths: list[_Width]) -> list[bytes]:
    """The parts before the data, without the map, in their order."""
    count = len(widths)
    day = f"{table.day.day:02} {_MONTHS[table.day.month - 1]} {table.day.year:04} 00:00".encode()
    label = shorten_label(table.label, _LABEL, len).encode()
    names = [entry.name for entry in table.variables]
    sets = [name if _has_labels(entry) else "" for name, entry in zip(names, table.variables, strict=True)]
    labels = [shorten_label(entry.label, _LABEL, len) for entry in table.variables]
    notes = [("note0", str(len(table.notes)))] * bool(table.notes)
    notes += [(f"note{number}", text) for number, text in enumerate(table.notes, start=1)]
    return [
        b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder>"
        + b"<K>" + struct.pack("<H", count) + b"</K><N>" + struct.pack("<Q", table.n) + b"</N>"
        + b"<label>" + struct.pack("<H", len(label)) + label + b"</label>"
        + b"<timestamp>" + bytes([len(day)]) + day + b"</timestamp></header>",
        _enclose("variable_types", struct.pack(f"<{count}H", *(width.number for width in widths))),
        _enclose("varnames", _pad(names, 129)),
        _enclose("sortlist", bytes(2 * (count + 1))),
        _enclose("formats", _pad(["%8.0g"] * count, 57)),
        _enclose("value_label_names", _pad(sets, 129)),
        _enclose("variable_labels", _pad(labels, 321)),
        _enclose("characteristics", b"".join(_write_note(name, text) for name, text in notes)),
    ]  # fmt: skip


def _has_labels(entry: CodeVariable) -> bool:
    return bool(entry.codes or entry.missing)


def _write_note(name: str, text: str) -> bytes:
    content = _pad(["_dta", name], 129) + text.encode() + b"\0"
    return b"<ch>" + struct.pack("<I", len(content)) + content + b"</ch>"


def _write_labels(entry: CodeVariable) -> bytes:
    """The labels of the codes of a variable, under its name; nothing where none has one."""
    if not _has_labels(entry):
        return b""
    values = [*entry.codes, *([_MISSING_IN_LABELS] if entry.missing else [])]
    texts = [*entry.codes.values(), *([entry.missing] if entry.missing else [])]
    written = [shorten_label(text, _CODE_LABEL, count_bytes).encode() + b"\0" for text in texts]
    starts = np.cumsum([0, *map(len, written)])[:-1].tolist()
    many = len(values)
    content = struct.pack(f"<II{many}I{many}i", many, sum(map(len, written)), *starts, *values)
    content += b"".join(written)
    return (
        b"<lbl>" + struct.pack("<I", len(content)) + _pad([entry.name], 129) + bytes(3) + content + b"</lbl>"
    )


def _pad(texts: list[str], size: int) -> bytes:
    return b"".join(text.encode().ljust(size, b"\0") for text in texts)


def _enclose(name: str, content: bytes) -> bytes:
    return b"<" + name.encode() + b">" + content + b"</" + name.encode() + b">"
