"""Selections: which answer is the most common, and which answers are given by more than a share."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.noise import geometric_variance
from server.privacy.selection import (
    WholeWeights,
    best_split,
    estimate_utilities,
    exponential_mechanism,
    noisy_maximum,
    selection_error,
    sparse_vector,
)
from server.releases.kinds.base import Drawn, Error, is_bounded, leaves_of, variables_of
from server.releases.kinds.single import Share
from server.releases.noisy_cells import Counts, Noise, VersionGroup, parts_of, tally, versions_of
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source, Variable
from server.releases.values import Figure

MISSING = 0.05
"""How often the most common answer may fall short by more than what is said."""


@dataclass(frozen=True, eq=False)
class MostCommon:
    """The most common answer, and nothing else.

    Where all answers are treated alike, the reports that arrived are in the order of the estimates:
    their counts are compared. Elsewhere the estimated numbers of people are.
    """

    item: Item
    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "MostCommon":
        """Check an item against a shape."""
        (variable,) = variables_of(item, shape, field)
        if len(variable.answers) < 2 or variable.first:
            template = N_("must have several answers; %(value)s has not")
            raise refuse(422, f"{field}.questions", template, value=variable.name)
        return cls(item, shape, variable, leaves_of(item, shape, field))

    @property
    def mechanism(self) -> str:
        """Comparing estimates takes the exponential mechanism."""
        return self.item.noise if self._alike else "exponential"

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """By how many people the answer may fall short of the most common one, except in 5 of 100 cases."""
        options = len(self.variable.answers)
        if not self._alike:
            utilities = self._utilities
            return Error(
                "people", utilities.unit * selection_error(options, utilities.sensitivity, epsilon, MISSING)
            )
        kept, other = self._parts[0].coins[0][0].matrix[1, 1], self._parts[0].coins[0][0].matrix[0, 1]
        monotone = not is_bounded(self.shape)
        return Error(
            "people", selection_error(options, 1.0, epsilon, MISSING, monotone) / float(kept - other)
        )

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> Drawn:
        """Choose."""
        if not self._alike:
            sums = self._sums(source)
            chosen = exponential_mechanism(sums, self._utilities.sensitivity, epsilon)
        elif self.item.noise == "exponential":
            chosen = exponential_mechanism(self._reports(source, 0), 1.0, epsilon, not is_bounded(self.shape))
        else:
            chosen = noisy_maximum(self._reports(source, 0), epsilon, self.shape.neighbours)
        place = ((self.variable.name, self.variable.answers[chosen]),)
        versions = ", ".join(map(str, sorted(versions_of(self._parts))))
        return Drawn((Figure("most_common", place, None),), {"versions": versions})

    def _reports(self, source: Source, number: int) -> Counts:
        """Of one part, the reports of each answer as they arrived."""
        part = self._parts[number]
        if not self.variable.split:
            return tally(source, part, [self.variable], [0], self.leaves)
        columns = range(len(self.variable.answers))
        return np.array([tally(source, part, [self.variable], [each], self.leaves)[1] for each in columns])

    def _sums(self, source: Source) -> NDArray[np.int64]:
        """For each answer what is compared, exactly."""
        weights = self._utilities.weights
        reports = [self._reports(source, number) for number in range(len(self._parts))]
        if not self.variable.split:
            return np.asarray(weights @ np.concatenate(reports))
        options = len(self.variable.answers)
        total = np.zeros(options, dtype=np.int64)
        for number, (part, own) in enumerate(zip(self._parts, reports, strict=True)):
            n = int(tally(source, part, [self.variable], [0], self.leaves).sum())
            for answer in range(options):
                with_it = weights[answer, number * options + answer]
                without = weights[answer, number * options + (answer + 1) % options]
                total[answer] += own[answer] * with_it + (n - own[answer]) * without
        return total

    @cached_property
    def _utilities(self) -> WholeWeights:
        """What each report adds to the number of people of each answer.

        With a coin for each answer a response has a report of each. They move two answers furthest
        apart where one of them is reported alone: those are the columns here.
        """
        if self.variable.split:
            inverses = [part.coins[0][0].inverse for part in self._parts]
            alone = np.eye(len(self.variable.answers))
            rows = [inverse[1, 0] + (inverse[1, 1] - inverse[1, 0]) * alone for inverse in inverses]
        else:
            rows = [part.coins[0][0].inverse for part in self._parts]
        return estimate_utilities(np.concatenate(rows, axis=1), self.shape.neighbours)

    @cached_property
    def _parts(self) -> tuple[VersionGroup, ...]:
        return parts_of([self.variable])

    @cached_property
    def _alike(self) -> bool:
        coins = self._parts[0].coins[0][0]
        alike = self.variable.split or coins.design is None or coins.design.treats_options_alike()
        return len(self._parts) == 1 and alike and bool(coins.matrix[1, 1] > coins.matrix[0, 1])


@dataclass(frozen=True, eq=False)
class Exceeding:
    """Which answers are given by more than a share of the respondents: the sparse vector technique.

    What is compared with 0 is the estimated number of people with the answer less the share of
    all respondents, a sum over reports, so that nobody needs to know how many responded.
    """

    item: Item
    shape: Shape
    leaves: tuple[int, ...]
    singles: tuple[Share, ...]
    mechanism: str = "sparse_vector"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "Exceeding":
        """Check an item against a shape."""
        leaves = leaves_of(item, shape, field)
        singles: list[Share] = []
        for variable in variables_of(item, shape, field):
            if not variable.answers or variable.first:
                template = N_("must have answers to count; %(value)s is a number, and has a mean")
                raise refuse(422, f"{field}.questions", template, value=variable.name)
            answers = variable.answers[1:] if variable.yes_no else variable.answers
            singles += [Share(shape, variable, answer, leaves) for answer in answers]
        return cls(item, shape, leaves, tuple(singles))

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of a share as it is compared: the noise of the limit and its own."""
        if people is None:
            return Error("share", None)
        first, second = best_split(self.item.positives, self._compare_loss(epsilon))
        steps = self._weights[0].sensitivity
        variance = geometric_variance(steps, first)
        variance += geometric_variance(2 * self.item.positives * steps, second)
        return Error("share", math.sqrt(variance) * max(each.unit for each in self._weights) / people)

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> Drawn:
        """Compare one after the other, then perturb the numbers of those above where they are wanted."""
        counts = [single.counts(source) for single in self.singles]
        sums = [
            int(np.concatenate(own) @ each.weights) for own, each in zip(counts, self._weights, strict=True)
        ]
        found = sparse_vector(
            sums, 0.0, self._weights[0].sensitivity, self.item.positives, self._compare_loss(epsilon)
        )
        above = found.above.tolist()
        figures = [
            Figure("above", single.place, int(above[number]) if number < len(above) else None)
            for number, single in enumerate(self.singles)
        ]
        chosen = found.positives.tolist()
        if self.item.values and chosen:
            # One response is in a cell of each, whether or not so many were found.
            changes = (2 if is_bounded(self.shape) else 1) * self.item.positives
            noise = Noise("geometric", changes, epsilon / 2, 0.0)
            noisy = iter(noise.add([cells for number in chosen for cells in counts[number]]))
            for number in chosen:
                own = [next(noisy) for _ in counts[number]]
                figures += self.singles[number].figures(own, noise, confidence)
        return Drawn(tuple(figures), {"asked": len(self.singles), "answered": len(above)})

    def _compare_loss(self, epsilon: float) -> float:
        return epsilon / 2 if self.item.values else epsilon

    @cached_property
    def _weights(self) -> list[WholeWeights]:
        """What each report adds to what is compared, so that one person changes all of it by the same at most."""
        assert self.item.share is not None  # the plan was checked
        return [single.weigh_excess(float(self.item.share)) for single in self.singles]
