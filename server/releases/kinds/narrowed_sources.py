"""A shape and its responses as one item sees them: rows under its conditions, numbers in its bins.

Which rows are meant is said by the plan alone. Leaving rows out by what each says itself moves two neighbours
no further apart, so every kind of item does with these rows what it does with all, at the same price. How many they
are is as private as what they say: where the number of all rows is public, theirs is not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.inputs.decimals import format_decimal, parse_decimal
from server.releases.kinds.exact_steps import ExactSteps
from server.releases.plans.items import LARGEST_NUMBER, Item
from server.releases.plans.row_conditions import RowCondition
from server.releases.survey_shapes import Coins, CountedRows, Shape, Source, Variable, VariableVersion
from server.releases.table_columns import EMPTY

Mask = NDArray[np.bool_]


def narrow_shape(item: Item, shape: Shape, field: str) -> Shape:
    """What the item may ask about; no row is looked at.

    Raises
    ------
    InputError
        On a condition or a break that the columns have nothing for.
    """
    find_chosen_values(item, shape, field)
    if item.breaks:
        variables = (
            _in_bins(item, variable, field) if variable.name in item.questions else variable
            for variable in shape.variables
        )
        shape = replace(shape, variables=tuple(variables))
    return replace(shape, respondents=None) if item.where else shape


def narrow_source(item: Item, source: Source, field: str) -> Source:
    """The rows that the item is about, as it sees them."""
    if not item.where and not item.breaks:
        return source
    masks = find_chosen_values(item, source.shape, field)
    edges = {
        variable.name: np.array([first for _, first in _bins(item, variable, field)])
        for variable in source.shape.variables
        if item.breaks and variable.name in item.questions
    }
    rows = tuple(_narrow_rows(each, masks, edges) for each in source.rows)
    return Source(narrow_shape(item, source.shape, field), rows)


def find_chosen_values(item: Item, shape: Shape, field: str) -> Mapping[str, Mask]:
    """By column, which of its values fulfil all conditions on it: places of its answers, or steps of its numbers.

    Raises
    ------
    InputError
        On a condition on a column that there is not, that does not fit it, or that nothing declared fulfils.
    """
    found: dict[str, Mask] = {}
    for condition in item.where:
        at = f"{field}.where[{condition.number}]"
        variable = shape.variable(condition.column)
        if variable is None:
            limit = shorten_value(", ".join(each.name for each in shape.variables))
            template = N_("must be one of %(limit)s; it is %(value)s")
            raise refuse(422, f"{at}.column", template, limit=limit, value=shorten_value(condition.column))
        if any(coins.design is not None for asked in variable.versions for coins in asked.coins):
            template = N_(
                "must be a column that is known exactly, as in a table; answers to %(value)s were randomised"
            )
            raise refuse(422, f"{at}.column", template, value=variable.name)
        mask = _numbers_in(condition, variable, at) if variable.steps else _texts_in(condition, variable, at)
        found[variable.name] = mask & found.get(variable.name, np.True_)
        if not found[variable.name].any():
            template = N_("must leave something that %(value)s can be; its conditions leave nothing")
            raise refuse(422, at, template, value=variable.name)
    return found


def _texts_in(condition: RowCondition, variable: Variable, field: str) -> Mask:
    at = f"{field}.{condition.test}"
    if condition.test not in ("equal", "in"):
        raise refuse(422, at, N_("goes with numbers only; %(value)s has categories"), value=variable.name)
    names = {answer: place for place, answer in enumerate(variable.answers)}
    mask = np.zeros(len(names), dtype=np.bool_)
    for value in condition.values:
        place = names.get(value or EMPTY)
        if place is None:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = shorten_value(", ".join(variable.answers))
            raise refuse(422, at, template, limit=limit, value=shorten_value(value))
        mask[place] = True
    return mask


def _numbers_in(condition: RowCondition, variable: Variable, field: str) -> Mask:
    at = f"{field}.{condition.test}"
    steps = ExactSteps.of_variable(variable, at)
    numbers = [
        Fraction(parse_decimal(text, at, -LARGEST_NUMBER, LARGEST_NUMBER)) for text in condition.values
    ]
    mask = np.zeros(steps.of + 1, dtype=np.bool_)
    match condition.test:
        case "at_least":
            mask[steps.first_from(numbers[0]) :] = True
        case "more_than":
            mask[steps.first_from(numbers[0], above=True) :] = True
        case "at_most":
            mask[: steps.first_from(numbers[0], above=True)] = True
        case "less_than":
            mask[: steps.first_from(numbers[0])] = True
        case _:
            mask[[steps.steps_to(number, at) for number in numbers]] = True
    return mask


def _narrow_rows(
    rows: CountedRows, masks: Mapping[str, Mask], edges: Mapping[str, NDArray[np.int64]]
) -> CountedRows:
    kept = np.ones(rows.places.size, dtype=np.bool_)
    for name, mask in masks.items():
        kept &= mask[rows.codes(name)[-1]]
    return CountedRows(rows.version, rows.places[kept], rows.counts[kept], _codes(rows, kept, edges))


def _codes(
    rows: CountedRows, kept: Mask, edges: Mapping[str, NDArray[np.int64]]
) -> Callable[[str], Sequence[NDArray[np.integer]]]:
    def codes(name: str) -> Sequence[NDArray[np.integer]]:
        own = [column[kept] for column in rows.codes(name)]
        if name not in edges:
            return own
        return [np.searchsorted(edges[name], own[-1], side="right") - 1, own[-1]]

    return codes


def _in_bins(item: Item, variable: Variable, field: str) -> Variable:
    """The number with the bins of the item as its answers."""
    names = tuple(name for name, _ in _bins(item, variable, field))
    asked = tuple(VariableVersion(each.version, (Coins(len(names)),)) for each in variable.versions)
    return replace(variable, answers=names, versions=asked)


def _bins(item: Item, variable: Variable, field: str) -> list[tuple[str, int]]:
    """Each bin with its first step: half-open, the last one closed, and what the declared numbers go beyond them.

    Raises
    ------
    InputError
        On the breaks, if they do not rise, or if no declared number is in a bin: it would hold noise alone.
    """
    at = f"{field}.breaks"
    steps = ExactSteps.of_variable(variable, f"{field}.questions")
    ends = [format_decimal(end) for end in item.breaks]
    names = [f"[{low}, {high})" for low, high in pairwise(ends)]
    names[-1] = f"{names[-1][:-1]}]"
    firsts = [steps.first_from(Fraction(end)) for end in item.breaks[:-1]]
    after = steps.first_from(Fraction(item.breaks[-1]), above=True)
    for place, (first, following) in enumerate(pairwise((*firsts, after))):
        if first >= following:
            template = N_("must rise, with a declared number in every bin; %(value)s has none")
            raise refuse(422, f"{at}[{place}]", template, value=names[place])
    below = [(f"< {ends[0]}", 0)] if firsts[0] else []
    beyond = [(f"> {ends[-1]}", after)] if after <= steps.of else []
    return [*below, *zip(names, firsts, strict=True), *beyond]
