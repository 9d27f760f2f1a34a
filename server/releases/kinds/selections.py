"""Selections: which answer is the most common, which several are, and which are given by more than a share."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from server.inputs import N_, refuse
from server.privacy.noise import geometric_variance
from server.privacy.selection import (
    WholeWeights,
    best_split,
    choose_several,
    exponential_mechanism,
    noisy_maximum,
    rate_of,
    selection_error,
    several_error,
    several_sensitivity,
    sparse_vector,
)
from server.releases.kinds.answer_shares import Share
from server.releases.kinds.base import Error, ItemDraw, is_bounded, leaves_of, variables_of
from server.releases.kinds.compared_answers import ComparedAnswers
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import Figure

MISSING = 0.05
"""How often what is chosen may fall short by more than what is said."""


@dataclass(frozen=True, eq=False)
class MostCommon:
    """The most common answer, and nothing else."""

    item: Item
    shape: Shape
    compared: ComparedAnswers

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "MostCommon":
        """Check an item against a shape."""
        return cls(item, shape, ComparedAnswers.of(item, shape, field))

    @property
    def leaves(self) -> tuple[int, ...]:
        """Those of its answers."""
        return self.compared.leaves

    @property
    def mechanism(self) -> str:
        """Comparing estimates takes the exponential mechanism."""
        return self.item.noise if self.compared.alike else "exponential"

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """By how many people the answer may fall short of the most common one, except in 5 of 100 cases."""
        options, weights = len(self.compared.variable.answers), self.compared.weights
        if not self.compared.alike:
            return Error(
                "people", weights.unit * selection_error(options, weights.sensitivity, epsilon, MISSING)
            )
        monotone = not is_bounded(self.shape)
        return Error("people", self.compared.unit * selection_error(options, 1.0, epsilon, MISSING, monotone))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Choose."""
        sums = self.compared.sums(source)
        if not self.compared.alike:
            chosen = exponential_mechanism(sums, self.compared.weights.sensitivity, epsilon)
        elif self.item.noise == "exponential":
            chosen = exponential_mechanism(sums, 1.0, epsilon, not is_bounded(self.shape))
        else:
            chosen = noisy_maximum(sums, epsilon, self.shape.neighbours)
        figure = Figure("most_common", self.compared.place(chosen), None)
        return ItemDraw((figure,), {**self.compared.notes, "log_odds_per_person": self.log_odds(epsilon)})

    def log_odds(self, epsilon: float) -> float:
        """With each person that an answer is behind the most common one."""
        if not self.compared.alike:
            weights = self.compared.weights
            return float(rate_of(weights.sensitivity, epsilon, monotone=False)) / weights.unit
        return float(rate_of(1.0, epsilon, monotone=not is_bounded(self.shape))) / self.compared.unit


@dataclass(frozen=True, eq=False)
class TopAnswers:
    """So many of the most common answers, in no order and without any number."""

    item: Item
    shape: Shape
    compared: ComparedAnswers
    mechanism: str = "exponential"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "TopAnswers":
        """Check an item against a shape."""
        query = cls(item, shape, ComparedAnswers.of(item, shape, field))
        options = len(query.compared.variable.answers)
        if query._wanted >= options:
            template = N_("must be from %(low)s to %(high)s; it is %(value)s")
            raise refuse(422, f"{field}.how_many", template, low=1, high=options - 1, value=query._wanted)
        return query

    @property
    def leaves(self) -> tuple[int, ...]:
        """Those of its answers."""
        return self.compared.leaves

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """By how many people one of them may fall short of the last that belongs there, except in 5 of 100 cases."""
        options = len(self.compared.variable.answers)
        off = several_error(options, self._wanted, self.sensitivity(), epsilon, MISSING)
        return Error("people", self.compared.unit * off)

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Choose all of them at once."""
        chosen = choose_several(self.compared.sums(source), self._wanted, self.sensitivity(), epsilon)
        figures = tuple(Figure("top", self.compared.place(each), None) for each in chosen.tolist())
        options = len(self.compared.variable.answers)
        off = several_error(options, self._wanted, self.sensitivity(), epsilon, 1 - confidence)
        notes = {
            "options": options,
            "people_off": self.compared.unit * off,
            "log_odds_per_person": self.log_odds(epsilon),
        }
        return ItemDraw(figures, {**self.compared.notes, **notes})

    def log_odds(self, epsilon: float) -> float:
        """Of one set against another that has an answer in place of one, with each person that it is behind that."""
        return float(rate_of(self.sensitivity(), epsilon, monotone=False)) / self.compared.unit

    def sensitivity(self) -> float:
        """Half of the most by which a person changes what one set of answers adds up to more than another.

        Somebody with a report of each answer moves as many of a set as they please, and leaves those of another.
        """
        options, wanted = len(self.compared.variable.answers), self._wanted
        if self.compared.variable.split:
            return min(wanted, options - wanted) * self._of_each(1)
        return self._of_each(wanted)

    def _of_each(self, answer: int) -> float:
        if self.compared.alike:  # counts, in one of which somebody comes or goes
            return 1.0 if is_bounded(self.shape) else 0.5
        return several_sensitivity(self.compared.weights.weights, answer, self.shape.neighbours)

    @property
    def _wanted(self) -> int:
        assert self.item.how_many is not None  # the plan was checked
        return self.item.how_many


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

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
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
        return ItemDraw(tuple(figures), {"asked": len(self.singles), "answered": len(above)})

    def _compare_loss(self, epsilon: float) -> float:
        return epsilon / 2 if self.item.values else epsilon

    @cached_property
    def _weights(self) -> list[WholeWeights]:
        """What each report adds to what is compared, so that one person changes all of it by the same at most."""
        assert self.item.share is not None  # the plan was checked
        return [single.weigh_excess(float(self.item.share)) for single in self.singles]
