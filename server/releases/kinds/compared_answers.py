"""Answers to one question, to be compared: by reports as they arrived, or by how many people gave each, estimated."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.selection import WholeWeights, estimate_utilities
from server.releases.kinds.base import leaves_of, variables_of
from server.releases.noisy_cells import Counts, VersionGroup, parts_of, tally, versions_of
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source, Variable


@dataclass(frozen=True, eq=False)
class ComparedAnswers:
    """What is compared of each answer.

    Where all answers are treated alike, the reports that arrived are in the order of the estimates:
    their counts are compared. Elsewhere the estimated numbers of people are.
    """

    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "ComparedAnswers":
        """Check an item against a shape."""
        (variable,) = variables_of(item, shape, field)
        if len(variable.answers) < 2 or variable.first:
            template = N_("must have several answers; %(value)s has not")
            raise refuse(422, f"{field}.questions", template, value=variable.name)
        return cls(shape, variable, leaves_of(item, shape, field))

    def place(self, answer: int) -> tuple[tuple[str, str]]:
        """Of an answer, in a figure."""
        return ((self.variable.name, self.variable.answers[answer]),)

    @property
    def notes(self) -> Mapping[str, float | int | str]:
        """Whose responses these are."""
        return {"versions": ", ".join(map(str, sorted(versions_of(self._parts))))}

    @cached_property
    def alike(self) -> bool:
        """Whether reports are in the order of the estimates."""
        coins = self._parts[0].coins[0][0]
        alike = self.variable.split or coins.design is None or coins.design.treats_options_alike()
        return len(self._parts) == 1 and alike and bool(coins.matrix[1, 1] > coins.matrix[0, 1])

    @property
    def unit(self) -> float:
        """How many people one step of what is compared is worth."""
        if not self.alike:
            return self.weights.unit
        matrix = self._parts[0].coins[0][0].matrix
        return 1 / float(matrix[1, 1] - matrix[0, 1])

    @cached_property
    def weights(self) -> WholeWeights:
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

    def sums(self, source: Source) -> NDArray[np.int64]:
        """For each answer what is compared, exactly."""
        if self.alike:
            return self._reports(source, 0)
        weights = self.weights.weights
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

    def _reports(self, source: Source, number: int) -> Counts:
        """Of one part, the reports of each answer as they arrived."""
        part = self._parts[number]
        if not self.variable.split:
            return tally(source, part, [self.variable], [0], self.leaves)
        columns = range(len(self.variable.answers))
        return np.array([tally(source, part, [self.variable], [each], self.leaves)[1] for each in columns])

    @cached_property
    def _parts(self) -> tuple[VersionGroup, ...]:
        return parts_of([self.variable])
