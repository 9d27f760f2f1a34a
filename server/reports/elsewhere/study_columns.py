"""The cells of a table from elsewhere: which texts a column may hold, and what they stand for."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.inputs.decimals import read_decimal
from server.study.definitions import Definition, Question

ABSENT = 256
"""The code of an empty cell, where the version of its row does not have the column."""
LEFT_OUT = -2
"""The code of a cell that leaves its row out: one that is missing, or a group that is not one of a model's."""
_LONGEST_NAME = 200


@dataclass(frozen=True)
class ReportCells:
    """A column of reports: the name of it in the first row, and the report of each text."""

    header: str
    codes: Mapping[str, int]


class TextCells(dict[str, int]):
    """The code of each text that was declared; -1 for others."""

    template = N_("must be one of %(limit)s; it is %(value)s")

    def __init__(self, codes: Mapping[str, int]) -> None:
        super().__init__(codes)
        self.values_named: Mapping[str, object] = {
            "limit": shorten_value(", ".join(text or '""' for text in codes))
        }

    def __missing__(self, text: str) -> int:
        return self.get(text.strip(), -1)


class NumberCells(dict[str, int]):
    """The place of each number that was read among `numbers`, -1 for what is none or out of range."""

    template = N_("must be a number from %(low)s to %(high)s; it is %(value)s")

    def __init__(self, low: float, high: float, *, comma: bool) -> None:
        super().__init__()
        self.values_named: Mapping[str, object] = {"low": f"{low:g}", "high": f"{high:g}"}
        self.numbers: list[float] = []
        self._low, self._high, self._comma = low, high, comma

    def __missing__(self, text: str) -> int:
        if text.strip() != text:
            return self[text.strip()]
        read = read_decimal(text.replace(",", ".") if self._comma else text)
        number = None if read is None or not read.is_finite() or abs(read.adjusted()) > 30 else float(read)
        if number is None or not self._low <= number <= self._high:
            return -1
        self.numbers.append(number)
        self[text] = len(self.numbers) - 1
        return self[text]


class DateCells(dict[str, int]):
    """The place of each day that was read among `days`, -1 for what is none."""

    template = N_("must be a day like %(limit)s; it is %(value)s")

    def __init__(self) -> None:
        super().__init__()
        self.values_named: Mapping[str, object] = {"limit": "2026-05-01"}
        self.days: list[date] = []

    def __missing__(self, text: str) -> int:
        written = text.strip()
        try:
            day = date.fromisoformat(written)
        except ValueError:
            return -1
        if day.isoformat() != written:  # which has other ways to write it
            return -1
        self.days.append(day)
        self[text] = len(self.days) - 1
        return self[text]


class NameCells(dict[str, int]):
    """The number of each name that was read, in their order; -1 for none."""

    template = N_("must be a name of at most %(limit)d characters; it is %(value)s")

    def __init__(self) -> None:
        super().__init__()
        self.values_named: Mapping[str, object] = {"limit": _LONGEST_NAME}

    def __missing__(self, text: str) -> int:
        name = unicodedata.normalize("NFC", text.strip())
        if not 0 < len(name) <= _LONGEST_NAME:
            return -1
        if name != text:
            return self[name]
        self[name] = len(self)
        return self[name]


def mark_missing(cells: dict[str, int], missing: Iterable[str]) -> None:
    """Let a reader of cells take these texts for missing; one that the column declares keeps its meaning there."""
    for text in missing:
        cells.setdefault(text, LEFT_OUT)


def number_names(
    reader: TextCells | NumberCells | NameCells | DateCells, codes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The number of each cell among the different ones of a column, and how the table calls these."""
    different, numbers = np.unique(codes, return_inverse=True)
    if isinstance(reader, DateCells):
        called = {code: reader.days[code].isoformat() for code in different.tolist()}
    elif isinstance(reader, NumberCells):
        called = {code: f"{reader.numbers[code]:g}" for code in different.tolist()}
    else:
        called = {code: text for text, code in reversed(reader.items())}
    return numbers.astype(np.int64), tuple(called[code] for code in different.tolist())


def name_cells(
    definitions: Mapping[int, Definition], documents: Sequence[Mapping[str, Any]]
) -> dict[str, ReportCells]:
    """Of each column of reports of any version, how the file calls it and which texts it may hold.

    These are the numbers of the reports, as our exports have them, and the names of answers; or what is stated.
    """
    usual: dict[str, dict[str, int]] = {}
    for definition in definitions.values():
        for question in definition.questions:
            for place, column in enumerate(question.columns):
                own = _usual_codes(question, place)
                known = usual.setdefault(column, own)
                if known != own:  # a version with other answers: numbers mean what they do in each of them
                    most = max(len(known), len(own))
                    usual[column] = {str(code): code for code in range(most)}
    found = {column: ReportCells(column, codes) for column, codes in usual.items()}
    check_unique((entry["name"] for entry in documents), "columns")
    for place, entry in enumerate(documents):
        field, name = f"columns[{place}]", entry["name"]
        if name not in usual:
            template = N_("must be one of %(limit)s; it is %(value)s")
            raise refuse(422, f"{field}.name", template, limit=", ".join(usual), value=shorten_value(name))
        codes = usual[name]
        if "cells" in entry:
            check_unique(map(str.strip, entry["cells"]), f"{field}.cells")
            codes = {
                text.strip(): find_code(usual[name], code, f"{field}.cells.{shorten_value(text)}")
                for text, code in entry["cells"].items()
            }
        found[name] = ReportCells(entry.get("header", name).strip(), codes)
    return found


def _usual_codes(question: Question, place: int) -> dict[str, int]:
    design = question.designs[place]
    codes = {str(code): code for code in range(design.weights.shape[1])}
    names = ("no", "yes") if question.encoding.by_answer else question.answers
    return codes | {name: code for code, name in enumerate(names)}


def find_code(usual: Mapping[str, int], value: object, field: str) -> int:
    """The code of an answer that is stated by its name or number; refused where it is none of the usual ones."""
    code = usual.get(str(value))
    if code is None:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, field, template, limit=", ".join(usual), value=shorten_value(value))
    return code


def check_unique(names: Iterable[str], field: str) -> None:
    """Refuse a name that stands twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise refuse(422, field, N_("must be unique; %(value)s stands twice"), value=shorten_value(name))
        seen.add(name)
