"""The columns that models read: what a study file states of each, and the values of its cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, InputError, refuse, shorten_value
from server.privacy.designs import Design
from server.reports.elsewhere.foreign_designs import read_survey
from server.reports.elsewhere.study_columns import (
    LEFT_OUT,
    NumberCells,
    TextCells,
    check_unique,
    find_code,
    mark_missing,
)


@dataclass(frozen=True)
class ModelColumn:
    """A column: its name in the first row, and the code of each text (`cells`), or numbers from `low` to `high`."""

    header: str
    cells: Mapping[str, int] = field(default_factory=dict)
    low: float = 0.0
    high: float = 0.0

    @property
    def group_names(self) -> tuple[str, ...]:
        """Of a column of groups, how the table calls each, by its code."""
        return tuple(text for text, code in self.cells.items() if code != LEFT_OUT)

    def make_reader(self, missing: Iterable[str], *, comma: bool) -> "OptionalCells":
        """What reads its cells, some texts of which are missing ones; numbers may have a decimal comma."""
        inner = TextCells(self.cells) if self.cells else NumberCells(self.low, self.high, comma=comma)
        mark_missing(inner, missing)
        return OptionalCells(inner)


class OptionalCells(dict[str, int]):
    """The codes of another reader, and `LEFT_OUT` of an empty cell."""

    def __init__(self, inner: TextCells | NumberCells) -> None:
        super().__init__()
        self.template, self.values_named, self._inner = inner.template, inner.values_named, inner

    def __missing__(self, text: str) -> int:
        code = self._inner[text]
        self[text] = LEFT_OUT if code == -1 and not text.strip() else code
        return self[text]

    def find_values(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """The numbers of a column, or the codes of its texts; NaN where the row is left out."""
        values = codes.astype(np.float64)
        if isinstance(self._inner, NumberCells):
            values = np.array([*self._inner.numbers, np.nan])[np.maximum(codes, -1)]
        return np.where(codes == LEFT_OUT, np.nan, values)


def read_answer_column(column: str | Mapping[str, Any], answers: Sequence[str], at: str) -> ModelColumn:
    """A column of answers: their names or numbers from 0, or of stated `cells` the answer of each text."""
    usual = {str(code): code for code in range(len(answers))}
    usual |= {answer: code for code, answer in enumerate(answers)}
    if isinstance(column, str):
        return ModelColumn(_name_column(column, at), usual)
    check_unique(map(str.strip, column.get("cells", ())), f"{at}.cells")
    cells = {
        text.strip(): find_code(usual, answer, f"{at}.cells.{shorten_value(text)}")
        for text, answer in column.get("cells", usual).items()
    }
    return ModelColumn(_name_column(column["header"], f"{at}.header"), cells)


def read_number_column(name: str, low: float, high: float, at: str) -> ModelColumn:
    """A column of numbers within these limits."""
    return ModelColumn(_name_column(name, at), low=low, high=high)


def read_group_column(document: Mapping[str, Any], at: str) -> ModelColumn:
    """The column `group`, with the code of each entry of `groups` by its `cell`.

    Texts in `leave_out` are those of groups that are not in the model.
    """
    names = tuple(entry["cell"].strip() for entry in document["groups"])
    others = [text.strip() for text in document.get("leave_out", ())]
    check_unique([*names, *others], f"{at}.groups")
    cells = {name: code for code, name in enumerate(names)} | dict.fromkeys(others, LEFT_OUT)
    return ModelColumn(_name_column(document["group"], f"{at}.group"), cells)


def read_truths(document: Mapping[str, Any], at: str) -> tuple[float, ...]:
    """The chance `truth` of each of two groups, which must not have the same."""
    first, second = (entry["truth"] for entry in document["groups"])
    if first == second:
        template = N_("must differ from that of the other group; both are %(value)s")
        raise refuse(422, f"{at}.groups[1].truth", template, value=second)
    return float(first), float(second)


def read_yes_no_design(document: Mapping[str, Any], at: str) -> Design:
    """The design of Yes or No that stands at a field; it may be one that we do not collect with."""
    question = {"name": "answer", "kind": "yes_no", "text": "?", "design": document}
    try:
        return read_survey({"questions": [question]}, "survey").designs[0]
    except InputError as error:
        (first, *_) = error.problems
        part = first.field.removeprefix("survey.questions[0].design")
        raise refuse(error.status, at + part, first.template, **first.values) from None


def count_groups(column: ModelColumn, codes: NDArray[np.float64], at: str) -> tuple[tuple[str, int], ...]:
    """How the table calls each group, and its rows.

    Raises
    ------
    InputError
        If a group has none.
    """
    counts = np.bincount(codes.astype(np.int64), minlength=len(column.group_names)).tolist()
    for number, (name, n) in enumerate(zip(column.group_names, counts, strict=True)):
        if not n:
            template = N_("must stand in a row that has all cells of the model; %(value)s does not")
            raise refuse(422, f"{at}.groups[{number}].cell", template, value=name)
    return tuple(zip(column.group_names, counts, strict=True))


def count_answers(rows: Mapping[str, NDArray[np.float64]], answers: int) -> NDArray[np.int64]:
    """How often each answer of the role `report` stands in each group of the role `group`, shape (groups, answers)."""
    groups = int(rows["group"].max()) + 1
    codes = (rows["group"] * answers + rows["report"]).astype(np.int64)
    return np.bincount(codes, minlength=groups * answers).reshape(groups, answers).astype(np.int64)


def _name_column(text: str, at: str) -> str:
    if not text.strip():
        raise refuse(422, at, N_("must name a column; it is empty"))
    return text.strip()
