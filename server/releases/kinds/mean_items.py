"""The mean of a number or of a scale: of all who responded, or by stratum and weighted by population."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from server.releases.kinds.exact_means import ExactMean
from server.releases.kinds.weighted_figures import StrataWeights, strata_weights
from server.releases.noisy_cells import Counts, Noise, VersionGroup, notes_of, parts_of, tally, versions_of
from server.releases.plans.items import Item
from server.releases.ratio_estimates import Cells, Place, Row, estimate, expected_error, people_row
from server.releases.survey_shapes import Coins, Shape, Source, Variable
from server.releases.values import STRATUM, Figure


@dataclass(frozen=True, eq=False)
class MeanItem:
    """The mean of what people entered, from noisy numbers of reports.

    A number arrives as its lowest or highest possible value: the noisy numbers of both are a noisy
    sum and a noisy count at once, with less noise than if the loss were divided over two. With
    "prefer not to say" it is the mean of those who gave a number.

    By stratum, a person is in one cell of one stratum: each has its mean, and where all populations are
    known the weighted mean comes first. Among those who gave a number it would be a ratio of two weighted
    sums; there it is left out.
    """

    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]
    mechanism: str = "geometric"
    by_stratum: bool = False
    top: tuple[str, ...] = ()

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the mean, in its own unit."""
        if people is None:
            return Error("value", None)
        parts = [Cells.of([coins], self._numerator(coins), self._denominator(coins)) for coins in self._coins]
        if self.by_stratum:  # cells of every stratum, each with its noise
            parts = [*parts, *parts * (len(self.leaves) - 1)]
        total = count_known(self.shape, self._versions, self.leaves) is not None
        noise = self.noise(epsilon, delta)
        return Error("value", *expected_error(parts, noise, people, sampled=self.shape.sampled, total=total))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Noisy numbers of reports, and what they say of the mean."""
        noise = self.noise(epsilon, delta)
        exact = [
            tally(source, part, [self.variable], [0], self.leaves, self.by_stratum) for part in self._parts
        ]
        noisy = noise.add(exact)
        notes = notes_of(noise, self._versions) | {"lowest": self._values[0], "highest": self._values[-1]}
        if not self.by_stratum:
            return ItemDraw(tuple(self.figures(noisy, noise, confidence)), notes)
        weights = self._weights(noisy, noise)
        first = [] if weights is None else self._weight_means(noisy, weights, noise, confidence)
        in_strata = [
            figure
            for place, leaf in enumerate(self.leaves)
            for figure in self.figures(
                [table[place] for table in noisy], noise, confidence, path_of(self.shape.leaves[leaf].path)
            )
        ]
        whole = self.figures(noisy, noise, confidence)
        return ItemDraw((*first, *in_strata, *whole), notes | ({} if weights is None else weights.notes))

    def _weights(self, noisy: Sequence[Counts], noise: Noise) -> StrataWeights | None:
        if self._some_give_none:
            return None
        leaves = [self.shape.leaves[leaf] for leaf in self.leaves]
        people = [self._denominator(coins) for coins in self._coins]
        return strata_weights(leaves, noisy, people, noise, self.top, self.shape.populations_since)

    def _weight_means(
        self, noisy: Sequence[Counts], weights: StrataWeights, noise: Noise, confidence: float
    ) -> list[Figure]:
        found = weights.figure(
            "weighted_mean",
            ((self.variable.name, ""),),
            noisy,
            [self._numerator(coins) for coins in self._coins],
            [self._denominator(coins) for coins in self._coins],
            noise,
            confidence,
            sampled=self.shape.sampled,
            reach=(self._values[0], self._values[-1]),
        )
        return [] if found is None else [found]

    def figures(
        self, noisy: Sequence[Counts], noise: Noise, confidence: float, stratum: str | None = None
    ) -> list[Figure]:
        """The mean and, with "prefer not to say", the share of those who gave a number; of one stratum or of all.

        `noisy` has the cells of each part, those of several strata one after the other.
        """
        values, coins = self._values, self._coins
        answer: Place = ((self.variable.name, ""),)
        place = answer if stratum is None else ((STRATUM, stratum), *answer)
        cells = np.concatenate([table.ravel() for table in noisy])

        def every(rows: Sequence[Row]) -> Row:
            return np.concatenate(
                [np.tile(row, table.size // row.size) for row, table in zip(rows, noisy, strict=True)]
            )

        answered = every([self._denominator(one) for one in coins])
        total = count_known(self.shape, self._versions, self.leaves) if stratum is None else None
        mean = estimate(
            "mean",
            place,
            cells,
            every([self._numerator(one) for one in coins]),
            answered,
            noise,
            confidence,
            total=total,
            sampled=self.shape.sampled,
            reach=(values[0], values[-1]),
        )
        if not self._some_give_none:
            return [mean]
        share = estimate(
            "answered",
            place,
            cells,
            answered,
            every([people_row([one]) for one in coins]),
            noise,
            confidence,
            total=total,
            sampled=self.shape.sampled,
        )
        return [mean, share]

    @property
    def _values(self) -> tuple[float, ...]:
        assert self.variable.values is not None  # as `mean_of` checked
        return self.variable.values

    @property
    def _some_give_none(self) -> bool:
        return self._coins[0].truths > len(self._values)

    def _numerator(self, coins: Coins) -> Row:
        return np.asarray(np.array(self._values) @ coins.inverse[: len(self._values)])

    def _denominator(self, coins: Coins) -> Row:
        if not self._some_give_none:
            return people_row([coins])
        return np.asarray(coins.inverse[: len(self._values)].sum(axis=0))

    @cached_property
    def _parts(self) -> tuple[VersionGroup, ...]:
        return parts_of([self.variable])

    @property
    def _coins(self) -> list[Coins]:
        return [part.coins[0][0] for part in self._parts]

    @property
    def _versions(self) -> list[int]:
        return versions_of(self._parts)

    def noise(self, epsilon: float, delta: float) -> Noise:
        """On each number of reports."""
        return Noise(self.mechanism, 2 if is_bounded(self.shape) else 1, epsilon, delta)


def mean_of(item: Item, shape: Shape, field: str) -> MeanItem | ExactMean:
    """Check an item against a shape.

    Raises
    ------
    InputError
        On its questions, if they are no number and no scale.
    """
    (variable,) = variables_of(item, shape, field)
    if variable.values is None:
        template = N_("must be a number or a scale; %(value)s is not")
        raise refuse(422, f"{field}.questions", template, value=variable.name)
    leaves = leaves_of(item, shape, field)
    if variable.steps is not None:
        if item.by_stratum:
            template = N_(
                "must not be asked for; %(value)s is known exactly, and has a mean in one stratum or all"
            )
            raise refuse(422, f"{field}.by_stratum", template, value=variable.name)
        return ExactMean(shape, variable, leaves, item.noise)
    if item.by_stratum and not shape.strata:
        raise refuse(422, f"{field}.by_stratum", N_("must not be asked for; there are no strata"))
    return MeanItem(shape, variable, leaves, item.noise, item.by_stratum, item.stratum)
