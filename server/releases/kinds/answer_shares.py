"""The share of one answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import count_cells
from server.inputs import N_, refuse, shorten_value
from server.privacy.selection import WholeWeights, excess_weights
from server.releases.kinds.base import Error, ItemDraw, count_known, is_bounded, leaves_of, variables_of
from server.releases.noisy_cells import Counts, Noise, VersionGroup, notes_of, parts_of, tally, versions_of
from server.releases.plans.items import Item
from server.releases.ratio_estimates import (
    Cells,
    Row,
    cell_row,
    estimate,
    expected_error,
    people_row,
    reports,
)
from server.releases.survey_shapes import Coins, Shape, Source, Variable
from server.releases.values import Figure


@dataclass(frozen=True, eq=False)
class Share:
    """The share of one answer.

    Reports that add the same to the share are counted together: an answer and all others, where the
    others are alike.
    """

    shape: Shape
    variable: Variable
    answer: str
    leaves: tuple[int, ...]
    mechanism: str = "geometric"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "Share":
        """Check an item against a shape."""
        (variable,) = variables_of(item, shape, field)
        if item.option not in variable.answers:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = shorten_value(", ".join(variable.answers))
            raise refuse(422, f"{field}.option", template, limit=limit, value=shorten_value(item.option))
        return cls(shape, variable, item.option, leaves_of(item, shape, field), item.noise)

    @property
    def place(self) -> tuple[tuple[str, str]]:
        """Where its figures are."""
        return ((self.variable.name, self.answer),)

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the share."""
        if people is None:
            return Error("share", None)
        cells = [
            Cells(group.add_up(coins.matrix.mean(axis=0)), group.row, group.people)
            for group, coins in zip(self.groups, self._coins, strict=True)
        ]
        total = self._total is not None
        noise = self.noise(epsilon, delta)
        return Error("share", *expected_error(cells, noise, people, sampled=self.shape.sampled, total=total))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Noisy numbers of reports, and what they say of the share."""
        noise = self.noise(epsilon, delta)
        figures = self.figures(noise.add(self.counts(source)), noise, confidence)
        return ItemDraw(tuple(figures), notes_of(noise, versions_of(self._parts)))

    def counts(self, source: Source) -> list[Counts]:
        """Exact numbers of reports, those of a group together, for each part."""
        return [
            count_cells(
                group.members,
                tally(source, part, [self.variable], [self._at[0]], self.leaves),
                group.row.size,
            )
            for part, group in zip(self._parts, self.groups, strict=True)
        ]

    def figures(self, noisy: Sequence[Counts], noise: Noise, confidence: float) -> Iterator[Figure]:
        """What noisy numbers say: of the reports, where the answer is counted by itself, and of the share."""
        if all(group.row.size == 2 for group in self.groups):
            own = [
                int(cells[group.members[self._at[1]]])
                for cells, group in zip(noisy, self.groups, strict=True)
            ]
            yield reports(self.place, own, noise, confidence)
        yield estimate(
            "share",
            self.place,
            np.concatenate(noisy),
            np.concatenate([group.row for group in self.groups]),
            np.concatenate([group.people for group in self.groups]),
            noise,
            confidence,
            total=self._total,
            sampled=self.shape.sampled,
        )

    def weigh_excess(self, share: float | None) -> WholeWeights:
        """What each report adds to the number of people by which the answer exceeds a share of all; without one, 0."""
        people = np.concatenate([group.people for group in self.groups])
        return excess_weights(
            np.concatenate([group.row for group in self.groups]),
            np.zeros_like(people) if share is None else people,
            0.5 if share is None else share,  # of nobody
            self.shape.neighbours,
        )

    @cached_property
    def groups(self) -> "list[_ReportGroup]":
        """The reports of each part, those that add the same together."""
        return [_ReportGroup.of(coins, self._at[1]) for coins in self._coins]

    @cached_property
    def _at(self) -> tuple[int, int]:
        return self.variable.at(self.variable.answers.index(self.answer))

    @cached_property
    def _parts(self) -> tuple[VersionGroup, ...]:
        return parts_of([self.variable])

    @property
    def _coins(self) -> list[Coins]:
        return [part.coins[0][self._at[0]] for part in self._parts]

    @property
    def _total(self) -> int | None:
        return count_known(self.shape, versions_of(self._parts), self.leaves)

    def noise(self, epsilon: float, delta: float) -> Noise:
        """On each number."""
        return Noise(self.mechanism, 2 if is_bounded(self.shape) else 1, epsilon, 0.0)


@dataclass(frozen=True, eq=False)
class _ReportGroup:
    """Which group each report is in; what a report of each group adds to the share, and to the people."""

    members: NDArray[np.intp]
    row: Row
    people: Row

    @classmethod
    def of(cls, coins: Coins, truth: int) -> "_ReportGroup":
        """Of one column."""
        row, people = cell_row([coins], [truth]), people_row([coins])
        both = np.stack([row.round(12), people], axis=1)
        _, first, members = np.unique(both, axis=0, return_index=True, return_inverse=True)
        return cls(members.ravel(), row[first], people[first])

    def add_up(self, values: Row) -> Row:
        """Values of reports, those of each group added up."""
        return np.asarray(np.bincount(self.members, weights=values), dtype=np.float64)
