"""The mean of a number or of a scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from server.inputs import N_, refuse
from server.inputs.releases import Item
from server.releases.cells import NOTHING_ADDED, Counts, Noise, Part, notes_of, parts_of, tally, versions_of
from server.releases.estimates import Cells, Row, estimate, expected_error, people_row
from server.releases.kinds.base import Drawn, Error, bounded, known, leaves_of, variables_of
from server.releases.shapes import Coins, Shape, Source, Variable
from server.releases.values import Figure


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of what people entered, from noisy numbers of reports.

    A number arrives as its lowest or highest possible value: the noisy numbers of both are a noisy
    sum and a noisy count at once, with less noise than if the loss were divided over two. With
    "prefer not to say" it is the mean of those who gave a number.
    """

    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]
    mechanism: str = "geometric"

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the mean, in its own unit."""
        if people is None:
            return Error("value", None)
        parts = [Cells.of([coins], self._numerator(coins), self._denominator(coins)) for coins in self._coins]
        total = known(self.shape, self._versions, self.leaves) is not None
        noise = self._noise(epsilon, delta)
        return Error("value", *expected_error(parts, noise, people, sampled=self.shape.sampled, total=total))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> Drawn:
        """Noisy numbers of reports, and what they say of the mean."""
        noise = self._noise(epsilon, delta)
        noisy = noise.add([tally(source, part, [self.variable], [0], self.leaves) for part in self._parts])
        notes = notes_of(noise, self._versions) | {"lowest": self._values[0], "highest": self._values[-1]}
        return Drawn(tuple(self.figures(noisy, noise, confidence)), notes)

    def figures(self, noisy: Sequence[Counts], noise: Noise, confidence: float) -> list[Figure]:
        """The mean and, with "prefer not to say", the share of those who gave a number."""
        values = self._values
        cells = np.concatenate(noisy)
        place = ((self.variable.name, ""),)
        answered = np.concatenate([self._denominator(coins) for coins in self._coins])
        total = known(self.shape, self._versions, self.leaves)
        mean = estimate(
            "mean",
            place,
            cells,
            np.concatenate([self._numerator(coins) for coins in self._coins]),
            answered,
            noise,
            confidence,
            total=total,
            sampled=self.shape.sampled,
            reach=(values[0], values[-1]),
        )
        if not self._some_give_none:
            return [mean]
        everybody = np.concatenate([people_row([coins]) for coins in self._coins])
        share = estimate(
            "answered",
            place,
            cells,
            answered,
            everybody,
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
    def _parts(self) -> tuple[Part, ...]:
        return parts_of([self.variable])

    @property
    def _coins(self) -> list[Coins]:
        return [part.coins[0][0] for part in self._parts]

    @property
    def _versions(self) -> list[int]:
        return versions_of(self._parts)

    def _noise(self, epsilon: float, delta: float) -> Noise:
        return Noise(self.mechanism, 2 if bounded(self.shape) else 1, epsilon, delta)


@dataclass(frozen=True, eq=False)
class ExactMean:
    """The mean of a number that is known exactly: noisy sum over noisy count, each for half of the loss.

    The sum is that of distances from the middle of the range, in half steps: nobody adds more to it
    than half of the range. Under bounded neighbours the count is public, and the sum has all of
    the loss.
    """

    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]
    mechanism: str = "geometric"

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the mean, in its own unit, where it is in the middle of the range."""
        if people is None:
            return Error("value", None)
        low, high = self._ends
        half_step = (high - low) / self._steps / 2
        noise = math.sqrt(self._noise(epsilon, delta)[0].variance) * half_step / people
        return Error("value", noise, noise)

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> Drawn:
        """The noisy sum, the noisy count, and what they say of the mean."""
        total = count = 0
        for rows in source.of([one.version for one in self.variable.asked]):
            chosen = rows.chosen(self.leaves)
            steps = rows.codes(self.variable.name)[-1]
            away = 2 * steps[chosen].astype(np.int64) - self._steps
            total += int(away @ rows.counts[chosen])
            count += int(rows.counts[chosen].sum())
        of_sum, of_count = self._noise(epsilon, delta)
        (noisy_sum,) = of_sum.add([np.array([total])])
        (noisy_count,) = of_count.add([np.array([count])])
        low, high = self._ends
        half_step = (high - low) / self._steps / 2
        figure = estimate(
            "mean",
            ((self.variable.name, ""),),
            np.concatenate([noisy_sum, noisy_count]),
            np.array([half_step, (low + high) / 2]),
            np.array([0.0, 1.0]),
            of_sum,
            confidence,
            total=None,
            sampled=False,
            reach=(low, high),
            variances=[of_sum.variance, of_count.variance],
        )
        notes: dict[str, float | int | str] = {
            "noisy_sum": float(noisy_sum[0]) * half_step,
            "noisy_count": int(noisy_count[0]),
            "sum_sensitivity": of_sum.changes * half_step,
            "about": (low + high) / 2,
            "lowest": low,
            "highest": high,
        }
        return Drawn((figure,), notes)

    @property
    def _ends(self) -> tuple[float, float]:
        assert self.variable.values is not None  # as `mean_of` checked
        return self.variable.values[0], self.variable.values[-1]

    @property
    def _steps(self) -> int:
        assert self.variable.steps is not None
        return self.variable.steps

    def _noise(self, epsilon: float, delta: float) -> tuple[Noise, Noise]:
        """Of the sum and of the count."""
        kind = self.mechanism
        if known(self.shape, [one.version for one in self.variable.asked], self.leaves) is not None:
            return Noise(kind, 2 * self._steps, epsilon, delta, single=True), Noise(
                NOTHING_ADDED, 0, epsilon, delta
            )
        most = 2 * self._steps if bounded(self.shape) else self._steps
        return (
            Noise(kind, most, epsilon / 2, delta / 2, single=True),
            Noise(kind, 1, epsilon / 2, delta / 2, single=True),
        )


def mean_of(item: Item, shape: Shape, field: str) -> Mean | ExactMean:
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
    made = Mean if variable.steps is None else ExactMean
    return made(shape, variable, leaves_of(item, shape, field), item.noise)
