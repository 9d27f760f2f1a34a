"""The shares of all answers: histograms, and tables of two or three questions or of one by stratum."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import EllipsisType

import numpy as np

from server.inputs import N_, refuse
from server.releases.kinds.base import (
    Error,
    ItemDraw,
    count_known,
    is_bounded,
    leaves_of,
    path_of,
    variables_of,
)
from server.releases.kinds.fitting import fit_tables
from server.releases.kinds.weighted_figures import StrataWeights, strata_weights
from server.releases.noisy_cells import Counts, Noise, VersionGroup, notes_of, parts_of, tally, versions_of
from server.releases.plans.items import Item
from server.releases.ratio_estimates import (
    Cells,
    Place,
    Row,
    cell_row,
    estimate,
    expected_error,
    margin_row,
    people_row,
    reports,
)
from server.releases.survey_shapes import Coins, Shape, Source, Variable
from server.releases.values import STRATUM, Figure

MOST_CELLS = 4096
"""Of one item."""

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class JointTable:
    """All answers to a question, or all combinations of answers to two or three, or of one by stratum.

    A question with a coin for each answer has a column of two reports for each, and a table has
    every combination of columns: one person is in one cell of each of these.

    The share of an answer by stratum is that among the respondents from there. Where one response is
    in one cell, the noisy cells are also made whole, non-negative and such that they add up to
    their margins, and to the number of respondents where that is public.
    """

    shape: Shape
    variables: tuple[Variable, ...]
    leaves: tuple[int, ...]
    by_stratum: bool = False
    mechanism: str = "geometric"
    top: tuple[str, ...] = ()

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "JointTable":
        """Check an item against a shape."""
        variables = variables_of(item, shape, field)
        for variable in variables:
            if not variable.answers or variable.first:
                template = N_("must have answers to count; %(value)s is a number, and has a mean")
                raise refuse(422, f"{field}.questions", template, value=variable.name)
        if item.by_stratum and not shape.strata:
            raise refuse(422, f"{field}.by_stratum", N_("must not be asked for; there are no strata"))
        query = cls(
            shape, variables, leaves_of(item, shape, field), item.by_stratum, item.noise, item.stratum
        )
        if not query._parts:
            raise refuse(422, f"{field}.questions", N_("must be questions of the same version; they are not"))
        if query._size > MOST_CELLS:
            template = N_("must make at most %(limit)s cells; they make %(value)s")
            raise refuse(422, f"{field}.questions", template, limit=MOST_CELLS, value=query._size)
        return query

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the share of one answer, or of one combination; by stratum, of the people in a cell."""
        noise = self.noise(epsilon, delta)
        if self.by_stratum:
            return Error("people", math.sqrt(noise.variance))
        if people is None:
            return Error("share", None)
        at = self._answers[-1]
        cells = [
            Cells.of(coins, cell_row(coins, at.truths), people_row(coins))
            for coins in self._coins(at.columns)
        ]
        total = self._total is not None
        return Error("share", *expected_error(cells, noise, people, sampled=self.shape.sampled, total=total))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Noisy cells, and the shares that they say."""
        noise = self.noise(epsilon, delta)
        exact = [
            tally(source, part, self.variables, columns, self.leaves, self.by_stratum)
            for columns in self._columns
            for part in self._parts
        ]
        noisy = noise.add(exact)
        number = len(self._parts)
        tables = {
            columns: noisy[place * number : (place + 1) * number]
            for place, columns in enumerate(self._columns)
        }
        weights = self._weights(tables, noise)
        first = [] if weights is None else self._weight_tables(tables, weights, noise, confidence)
        figures = [*first, *self._cells(tables, noise, confidence), *self._margins(tables, noise, confidence)]
        notes = {} if weights is None else weights.notes
        return ItemDraw(tuple(figures), notes_of(noise, versions_of(self._parts)) | notes)

    def _weights(self, tables: dict[Columns, list[Counts]], noise: Noise) -> StrataWeights | None:
        """How strata count by their populations, where cells were paid for by stratum."""
        if not self.by_stratum:
            return None
        people = [people_row(coins) for coins in self._coins(self._columns[0])]
        leaves = [self.shape.leaves[leaf] for leaf in self.leaves]
        cells = tables[self._columns[0]]
        return strata_weights(leaves, cells, people, noise, self.top, self.shape.populations_since)

    def _weight_tables(
        self, tables: dict[Columns, list[Counts]], weights: StrataWeights, noise: Noise, confidence: float
    ) -> list[Figure]:
        """The share of each answer, or combination of answers, in the population."""
        found = []
        for at in self._answers:
            coins = self._coins(at.columns)
            rows = [cell_row(each, at.truths) for each in coins]
            people = [people_row(each) for each in coins]
            asked = at.place, tables[at.columns], rows, people, noise, confidence
            found.append(weights.figure("weighted_share", *asked, sampled=self.shape.sampled))
        return [figure for figure in found if figure is not None]

    def _cells(
        self, tables: dict[Columns, list[Counts]], noise: Noise, confidence: float
    ) -> Iterator[Figure]:
        for where, cut in self._strata:
            for at in self._answers:
                chosen = [table[cut] for table in tables[at.columns]]
                place = (*where, *at.place)
                yield reports(place, [int(table[at.truths]) for table in chosen], noise, confidence)
                coins = self._coins(at.columns)
                rows = [cell_row(each, at.truths) for each in coins]
                yield self._share(place, chosen, rows, coins, noise, confidence)

    def _margins(
        self, tables: dict[Columns, list[Counts]], noise: Noise, confidence: float
    ) -> Iterator[Figure]:
        """What the cells say of one question of several, or of all strata; and cells that add up to margins."""
        crossed = len(self.variables) > 1 or self.by_stratum
        if crossed and len(self._columns) == 1 and noise.variance:
            (columns,) = self._columns
            names = [[((STRATUM, path),) for path in self._paths]] if self.by_stratum else []
            names += [
                [((variable.name, answer),) for answer in variable.answers] for variable in self.variables
            ]
            yield from fit_tables(
                tables[columns], names, noise, self.shape.neighbours, confidence, self._total
            )
        if not crossed:
            return
        seen = set()
        for at in self._answers:
            for axis, pair in enumerate(at.place):
                if pair in seen:
                    continue
                seen.add(pair)
                coins = self._coins(at.columns)
                rows = [margin_row(each, axis, at.truths[axis]) for each in coins]
                yield self._share((pair,), tables[at.columns], rows, coins, noise, confidence)

    def _share(
        self,
        place: Place,
        tables: Sequence[Counts],
        rows: Sequence[Row],
        coins: Sequence[Sequence[Coins]],
        noise: Noise,
        confidence: float,
    ) -> Figure:
        """An estimate from the cells of each part; from those of all strata, if they are there."""
        repeats = [table.size // row.size for table, row in zip(tables, rows, strict=True)]
        alone = self.by_stratum and tables[0].ndim == len(self.variables)
        return estimate(
            "share",
            place,
            np.concatenate([table.ravel() for table in tables]),
            np.concatenate([np.tile(row, times) for row, times in zip(rows, repeats, strict=True)]),
            np.concatenate(
                [np.tile(people_row(one), times) for one, times in zip(coins, repeats, strict=True)]
            ),
            noise,
            confidence,
            total=None if alone else self._total,
            sampled=self.shape.sampled,
        )

    @cached_property
    def _parts(self) -> tuple[VersionGroup, ...]:
        return parts_of(self.variables)

    @property
    def _total(self) -> int | None:
        return count_known(self.shape, versions_of(self._parts), self.leaves)

    @cached_property
    def _answers(self) -> "list[_Answers]":
        sides = [
            [((variable.name, name), *variable.at(answer)) for answer, name in enumerate(variable.answers)]
            for variable in self.variables
        ]
        return [_Answers(*map(tuple, zip(*each, strict=True))) for each in product(*sides)]

    @cached_property
    def _columns(self) -> list[Columns]:
        return list(product(*(range(len(coins)) for coins in self._parts[0].coins)))

    @property
    def _paths(self) -> list[str]:
        return [path_of(self.shape.leaves[leaf].path) for leaf in self.leaves]

    @property
    def _strata(self) -> list[tuple[Place, int | EllipsisType]]:
        """Where cells are, and which of the tables they are from: all, or one for each stratum."""
        if not self.by_stratum:
            return [((), ...)]
        return [(((STRATUM, path),), place) for place, path in enumerate(self._paths)]

    @property
    def _size(self) -> int:
        sizes = [
            math.prod(coins[column].reports for coins, column in zip(part.coins, columns, strict=True))
            for part in self._parts
            for columns in self._columns
        ]
        return sum(sizes) * (len(self.leaves) if self.by_stratum else 1)

    def _coins(self, columns: Columns) -> list[list[Coins]]:
        """For each part, the coins of these columns."""
        return [
            [coins[column] for coins, column in zip(part.coins, columns, strict=True)] for part in self._parts
        ]

    def noise(self, epsilon: float, delta: float) -> Noise:
        """On each number."""
        changes = (2 if is_bounded(self.shape) else 1) * len(self._columns)
        return Noise(self.mechanism, changes, epsilon, 0.0)


@dataclass(frozen=True)
class _Answers:
    """An answer to each variable: where its figures are, in which columns it is, as which of their truths."""

    place: Place
    columns: Columns
    truths: tuple[int, ...]
