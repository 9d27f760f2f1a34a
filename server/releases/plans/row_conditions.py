"""Conditions on other columns, under which alone a row is counted: untrusted JSON -> `RowCondition`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from server.inputs.decimals import format_decimal
from server.inputs.problems import N_, refuse

TESTS = ("equal", "in", "at_least", "more_than", "at_most", "less_than")
"""What a condition can ask of a cell; the last four of numbers alone."""


@dataclass(frozen=True)
class RowCondition:
    """One thing asked of a cell: that it is one of some texts or numbers, or on one side of a number.

    `values` are texts, numbers written out; `number` is the place of the condition in its list.
    """

    column: str
    test: str
    values: tuple[str, ...]
    number: int = 0


def parse_conditions(documents: Sequence[Mapping[str, Any]], field: str) -> tuple[RowCondition, ...]:
    """What must hold of a row, all of it together; the schema was checked.

    Raises
    ------
    InputError
        If a condition asks nothing.
    """
    found = []
    for number, document in enumerate(documents):
        asked = [test for test in TESTS if test in document]
        if not asked:
            template = N_("must have at least one of %(limit)s; it has none")
            raise refuse(422, f"{field}.where[{number}]", template, limit=", ".join(TESTS))
        for test in asked:
            values = document[test] if test == "in" else [document[test]]
            found.append(RowCondition(document["column"], test, tuple(map(_write_value, values)), number))
    return tuple(found)


def conditions_json(conditions: Iterable[RowCondition]) -> list[dict[str, Any]]:
    """What `parse_conditions` reads back."""
    documents: dict[int, dict[str, Any]] = {}
    for condition in conditions:
        document = documents.setdefault(condition.number, {"column": condition.column})
        document[condition.test] = list(condition.values) if condition.test == "in" else condition.values[0]
    return list(documents.values())


def _write_value(value: object) -> str:
    """A text as it stands; a number as its shortest decimal."""
    return value.strip() if isinstance(value, str) else format_decimal(Decimal(repr(value)))
