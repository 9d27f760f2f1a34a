"""The tables of an archive -> checked rows, in large parts: the file may have a million."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from server.archives import layout
from server.archives.archive_reader import Archive
from server.archives.layout import INVITATION_CELLS, MODES, name_cells, response_header
from server.inputs import N_, InputError, refuse, shorten_value
from server.reports.csv_cells import csv_text
from server.store.models import Mode
from server.study import surveys

_PART = 10_000
_EARLIEST = date(2000, 1, 1)
_CODES = {str(code): code for code in range(256)}
_USUAL_MODE = "browser"
_SPENT = {"true": True, "false": False}


@dataclass(frozen=True)
class ResponseRows:
    """Some responses: of each the number of its stratum (None: without), how it was collected, and its reports."""

    strata: Sequence[int | None]
    modes: Sequence[Mode]
    reports: Sequence[bytes]


@dataclass(frozen=True)
class ResponseTable:
    """What the responses to a version must keep to; `modes` says whether they tell how they were collected."""

    name: str
    columns: Sequence[str]
    reports: bytes
    responses: int
    modes: bool

    @property
    def first(self) -> int:
        """The place of the first report in a row."""
        return len(name_cells(self.modes))


def response_rows(archive: Archive, table: ResponseTable, paths: Sequence[str]) -> Iterator[ResponseRows]:
    """The responses to a version, as many as the manifest says; `paths` are those of its strata, in their order.

    Raises
    ------
    InputError
        Naming the row and the cell.
    """
    cells = response_header(table.columns, table.modes)
    numbered = _rows(archive, table.name, cells)
    places: dict[str, int | None] = {"": None, **{str(place): place for place in range(1, len(paths) + 1)}}
    # As a table spells them: what a spreadsheet would run was made harmless.
    spelt = ["", *(row[0] for row in csv.reader(csv_text([(path,) for path in paths]).splitlines()))]
    limits = np.frombuffer(table.reports, np.uint8)
    found = 0
    while part := list(islice(numbered, _PART)):
        found += len(part)
        chosen, modes, packed = [], [], []
        for number, row in part:
            field = f"{table.name}[{number}]"
            if row[0] not in places:
                template = N_("must be the number of a stratum; it is %(value)s")
                raise refuse(422, f"{field}.stratum", template, value=shorten_value(row[0]))
            stratum = places[row[0]]
            if row[1] != spelt[stratum or 0]:
                template = N_("must be the path of the row’s stratum, %(limit)s; it is %(value)s")
                limit, value = shorten_value(spelt[stratum or 0]), shorten_value(row[1])
                raise refuse(422, f"{field}.stratum_path", template, limit=limit, value=value)
            mode = row[table.first - 1] if table.modes else _USUAL_MODE
            if mode not in MODES:
                template = N_("must be one of %(limit)s; it is %(value)s")
                limit = ", ".join(MODES)
                raise refuse(422, f"{field}.mode", template, limit=limit, value=shorten_value(mode))
            chosen.append(stratum)
            modes.append(MODES[mode])
            try:
                packed.append(bytes([_CODES[text] for text in row[table.first :]]))
            except KeyError:
                raise _out_of_range(table, number, row) from None
        reports = np.frombuffer(b"".join(packed), np.uint8).reshape(len(part), len(limits))
        _check_range(table, part, reports >= limits)
        yield ResponseRows(chosen, modes, packed)
    if found != table.responses:
        template = N_("must have as many rows as the manifest says, %(limit)s; it has %(length)s")
        raise refuse(422, table.name, template, limit=table.responses, length=found)


def invitation_rows(archive: Archive, sizes: Sequence[int]) -> Iterator[Sequence[tuple[bytes, int, bool]]]:
    """The invitations: hash, number of the batch, and whether it was used.

    Raises
    ------
    InputError
        Naming the row and the cell.
    """
    name = layout.INVITATIONS
    rows = _rows(archive, name, INVITATION_CELLS)
    left = dict(zip(map(str, range(1, len(sizes) + 1)), sizes, strict=True))
    before = b""
    while part := list(islice(rows, _PART)):
        read = []
        for number, (code, batch, spent) in part:
            field = f"{name}[{number}]"
            code_hash = check_hash(code, f"{field}.code_sha256")
            if code_hash <= before:
                template = N_("must be above the one before it: they are sorted, and each stands once")
                raise refuse(422, f"{field}.code_sha256", template)
            before = code_hash
            if left.get(batch, 0) < 1:
                template = N_("must be the number of a batch that is not full; it is %(value)s")
                raise refuse(422, f"{field}.batch", template, value=shorten_value(batch))
            left[batch] -= 1
            if spent not in _SPENT:
                template = N_("must be one of %(limit)s; it is %(value)s")
                raise refuse(422, f"{field}.spent", template, limit="true, false", value=shorten_value(spent))
            read.append((code_hash, int(batch), _SPENT[spent]))
        yield read


def check_day(text: str, field: str) -> date:
    """A day as it is written in archives.

    Raises
    ------
    InputError
        If it is none, or was never the day of anything here.
    """
    day = _day(text)
    if day is None:
        raise describe_misspelling(field, text, "2026-12-31")
    latest = surveys.today() + timedelta(days=1)  # clocks differ
    if not _EARLIEST <= day <= latest:
        template = N_("must be from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, field, template, low=_EARLIEST, high=latest, value=text)
    return day


def describe_misspelling(field: str, text: str, example: str) -> InputError:
    """What is said of a text that has one way to be written."""
    template = N_("must be written like %(limit)s; it is %(value)s")
    return refuse(422, field, template, limit=example, value=shorten_value(text))


@lru_cache(maxsize=4096)
def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None


def _rows(archive: Archive, name: str, header: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their numbers in the file, each with as many cells as the header."""
    rows = csv.reader(archive.lines(name), strict=True)
    try:
        first = next(rows, [])
        if tuple(first) != tuple(header):
            template = N_("must begin with the columns %(limit)s; it begins with %(value)s")
            raise refuse(
                422,
                name,
                template,
                limit=shorten_value(", ".join(header)),
                value=shorten_value(", ".join(first)),
            )
        for number, row in enumerate(rows, start=2):
            if len(row) != len(header):
                template = N_("must have %(limit)d cells; it has %(length)d")
                raise refuse(422, f"{name}[{number}]", template, limit=len(header), length=len(row))
            yield number, row
    except csv.Error:
        template = N_("must be CSV; it is not from row %(position)d on")
        raise refuse(422, name, template, position=rows.line_num) from None


def _check_range(
    table: ResponseTable, part: Sequence[tuple[int, list[str]]], beyond: NDArray[np.bool_]
) -> None:
    if beyond.any():
        number, row = part[int(beyond.any(axis=1).argmax())]
        raise _out_of_range(table, number, row)


def _out_of_range(table: ResponseTable, number: int, row: Sequence[str]) -> InputError:
    """Which report of a row is none, and what it may be."""
    for place, text in enumerate(row[table.first :]):
        most = table.reports[place] - 1
        if _CODES.get(text, 256) > most:
            field = f"{table.name}[{number}].{table.columns[place]}"
            template = N_("must be a whole number from 0 to %(limit)d; it is %(value)s")
            return refuse(422, field, template, limit=most, value=shorten_value(text))
    raise AssertionError("every report of this row is possible")


def check_hash(text: str, field: str) -> bytes:
    """A SHA-256 as it is written in archives.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        code_hash = bytes.fromhex(text)
    except ValueError:
        code_hash = b""
    if code_hash.hex() != text or len(code_hash) != 32:
        raise describe_misspelling(field, text, "9f86d081…")
    return code_hash
