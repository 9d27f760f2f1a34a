"""Margins of a population: what a study file states of them, and groups of too few rows taken together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.reports.elsewhere.covariates import Covariate
from server.study.strata import Node, walk

STRATUM = "stratum"
"""What a margin of the strata of the study file is called."""
FEWEST_ROWS = 5
"""Of a group of a margin: what it tells is estimated from them. Groups of fewer are taken together with another."""
MOST_CELLS = 10_000
Cell = tuple[str, ...]


@dataclass(frozen=True)
class PopulationMargin:
    """Covariates, crossed if there are several, whose shares in the population are known by groups of their categories.

    `groups` has the cells of each group, a category of each covariate; `group_of` the group of each cell there is, the
    categories of the last covariate varying fastest, -1 of those in none; `shares` what groups are in proportion to.
    """

    covariates: tuple[str, ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[Cell, ...], ...]
    group_of: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def name(self) -> str:
        """All covariates."""
        return " × ".join(self.covariates)

    @property
    def total(self) -> float:
        """What the shares add up to."""
        return math.fsum(self.shares)


@dataclass(frozen=True, eq=False)
class FittedMargin:
    """The group of every row, and the groups' shares, once groups of too few rows were taken together.

    `together` has the places of the stated groups that became one, of each that did.
    """

    margin: PopulationMargin
    groups: NDArray[np.int64]
    shares: tuple[float, ...]
    together: tuple[tuple[int, ...], ...]


def read_margins(
    documents: Sequence[Mapping[str, Any]], covariates: Sequence[Covariate], nodes: Sequence[Node]
) -> tuple[PopulationMargin, ...]:
    """Check what the schema cannot.

    Raises
    ------
    InputError
        Naming the field.
    """
    known = {
        each.name: _Categories(each.categories, each.categories) for each in covariates if each.categories
    }
    if nodes and STRATUM not in known:
        every = list(walk(nodes))
        parents = {node.names[:depth] for node in every for depth in range(1, len(node.names))}
        paths = tuple(node.path for node in every)
        known[STRATUM] = _Categories(paths, tuple(node.path for node in every if node.names not in parents))
    return tuple(
        _read_margin(margin, known, f"sampling.margins[{place}]") for place, margin in enumerate(documents)
    )


@dataclass(frozen=True)
class _Categories:
    """What a column may hold; `needed` must be in some group. A name stands for what is inside it, too."""

    every: tuple[str, ...]
    needed: tuple[str, ...]

    def find(self, name: str) -> list[int]:
        inside = f"{name} > "
        return [place for place, text in enumerate(self.every) if text == name or text.startswith(inside)]


def _read_margin(
    document: Mapping[str, Any], known: Mapping[str, _Categories], field: str
) -> PopulationMargin:
    given = [name for name in ("covariate", "covariates") if name in document]
    if len(given) != 1:
        template = N_("must have exactly one of %(limit)s; it has %(value)s")
        limit = "covariate, covariates"
        raise refuse(422, field, template, limit=limit, value=", ".join(given) or "-")
    crossed = given == ["covariates"]
    names = tuple(text.strip() for text in (document["covariates"] if crossed else [document["covariate"]]))
    for name in names:
        if name not in known or names.count(name) > 1:
            template = N_("must be a covariate of categories, one of %(limit)s; it is %(value)s")
            limit = ", ".join(known) or "-"
            raise refuse(422, f"{field}.{given[0]}", template, limit=limit, value=shorten_value(name))
    sizes = tuple(len(known[name].every) for name in names)
    if np.prod(sizes) > MOST_CELLS:
        template = N_("must have at most %(limit)s cells; it has %(value)s")
        raise refuse(422, field, template, limit=MOST_CELLS, value=int(np.prod(sizes)))
    group_of = np.full(sizes, -1)
    groups = []
    for number, group in enumerate(document["groups"]):
        where = f"{field}.groups[{number}].of"
        cells = tuple(_read_cell(cell, names, crossed=crossed, field=where) for cell in group["of"])
        for cell in cells:
            _place_cell(cell, [known[name] for name in names], group_of, number, where)
        groups.append(cells)
    for cell in product(*(known[name].needed for name in names)):
        place = tuple(known[name].every.index(text) for name, text in zip(names, cell, strict=True))
        if group_of[place] < 0:
            template = N_("must hold every category; %(value)s is in none")
            raise refuse(422, f"{field}.groups", template, value=shorten_value(", ".join(cell)))
    shares = tuple(float(group["share"]) for group in document["groups"])
    return PopulationMargin(names, sizes, tuple(groups), tuple(group_of.ravel().tolist()), shares)


def _read_cell(value: object, names: Sequence[str], *, crossed: bool, field: str) -> Cell:
    texts = [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []
    if len(texts) != len(names) or isinstance(value, list) != crossed:
        template = N_("must have a category of each of %(limit)s; it is %(value)s")
        raise refuse(422, field, template, limit=", ".join(names), value=shorten_value(value))
    return tuple(text.strip() for text in texts)


def _place_cell(
    cell: Cell, categories: Sequence[_Categories], group_of: NDArray[np.int64], number: int, field: str
) -> None:
    places = []
    for text, known in zip(cell, categories, strict=True):
        places.append(known.find(text))
        if not places[-1]:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = shorten_value(", ".join(known.every))
            raise refuse(422, field, template, limit=limit, value=shorten_value(text))
    block = np.ix_(*places)
    if (group_of[block] >= 0).any():
        template = N_("must be unique; %(value)s stands twice")
        raise refuse(422, field, template, value=shorten_value(", ".join(cell)))
    group_of[block] = number


def fit_margin(margin: PopulationMargin, codes: Sequence[NDArray[np.int64]], field: str) -> FittedMargin:
    """The groups of rows whose categories have these codes.

    Raises
    ------
    InputError
        If a row is in no group, or fewer than two groups are left.
    """
    cells = np.ravel_multi_index(codes, margin.sizes) if len(codes[0]) else np.zeros(0, np.int64)
    groups = np.array(margin.group_of)[cells]
    if (groups < 0).any() or any((own < 0).any() for own in codes):
        raise refuse(422, field, N_("must hold every category; that of some rows is in none"))
    rows = np.bincount(groups, minlength=len(margin.groups)).tolist()
    sets = [[number] for number in range(len(rows))]
    while len(sets) > 1:
        counts = [sum(rows[number] for number in own) for own in sets]
        least = counts.index(min(counts))
        if counts[least] >= FEWEST_ROWS:
            break
        near = _choose_nearest(margin, sets, counts, least)
        first = min(least, near)
        sets[first : first + 2] = [sets[first] + sets[first + 1]]
    if len(sets) < 2:
        template = N_("must leave two groups of at least %(limit)d rows; the rows are too few")
        raise refuse(422, field, template, limit=FEWEST_ROWS)
    new = np.empty(len(rows), np.int64)
    for number, own in enumerate(sets):
        new[own] = number
    shares = tuple(sum(margin.shares[number] for number in own) for own in sets)
    return FittedMargin(margin, new[groups], shares, tuple(tuple(own) for own in sets if len(own) > 1))


def _choose_nearest(
    margin: PopulationMargin, sets: Sequence[Sequence[int]], counts: Sequence[int], least: int
) -> int:
    """The one before or after, as they are stated: the one alike in more covariates, then of fewer rows."""

    def alike(other: int) -> int:
        cells = [
            [cell for number in sets[place] for cell in margin.groups[number]] for place in (least, other)
        ]
        return sum(
            {cell[k] for cell in cells[0]} == {cell[k] for cell in cells[1]}
            for k in range(len(margin.covariates))
        )

    beside = [place for place in (least - 1, least + 1) if 0 <= place < len(sets)]
    return min(beside, key=lambda place: (-alike(place), counts[place]))
