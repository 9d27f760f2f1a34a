"""Counts of respondents: one, or one for each place of the tree of strata."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from server.inputs import N_, refuse
from server.privacy.noise import geometric_interval
from server.privacy.queries import Hierarchy, hierarchy
from server.releases.kinds.base import (
    OWN_LINK,
    SEPARATOR,
    Error,
    ItemDraw,
    count_known,
    is_bounded,
    leaves_of,
)
from server.releases.noisy_cells import Noise, people
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import STRATUM, Figure


@dataclass(frozen=True, eq=False)
class Count:
    """How many responded, in all or in a stratum."""

    item: Item
    leaves: tuple[int, ...]
    mechanism: str

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "Count":
        """Check an item against a shape."""
        if is_bounded(shape) and not item.stratum and not item.where:
            template = N_(
                "must be something else; the number of respondents is public in this survey’s releases"
            )
            raise refuse(422, f"{field}.kind", template)
        return cls(item, leaves_of(item, shape, field), item.noise)

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the number of people."""
        return Error("people", float(np.sqrt(self.noise(epsilon, delta).variance)))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """The noisy number."""
        exact = np.array([people(source, self.leaves).sum()])
        (noisy,) = self.noise(epsilon, delta).add([exact])
        low, high = geometric_interval(noisy, 1, epsilon, confidence)[0].tolist()
        error = float(np.sqrt(self.noise(epsilon, delta).variance))
        place = ((STRATUM, SEPARATOR.join(self.item.stratum)),) if self.item.stratum else ()
        figure = Figure("respondents", place, int(noisy[0]), error, low, high)
        return ItemDraw((figure,), {"l1_sensitivity": 1, "noise_variance": error**2})

    def noise(self, epsilon: float, delta: float) -> Noise:
        """On each number."""
        return Noise(self.item.noise, 1, epsilon, 0.0)


def noise_of_levels(levels: Sequence[tuple[int, float]]) -> Noise:
    """Of a tree whose levels share the loss alike: on each of its numbers that is not known."""
    changes, epsilon = levels[-1]
    return Noise("geometric", changes, epsilon, 0.0)


@dataclass(frozen=True, eq=False)
class TreeCounts:
    """How many responded in each place, whole numbers that add up: to all of them where their number is public."""

    shape: Shape
    leaves: tuple[int, ...]
    mechanism: str = "geometric"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "TreeCounts":
        """Check an item against a shape."""
        if not shape.strata:
            raise refuse(422, f"{field}.kind", N_("must be something else; there are no strata"))
        return cls(shape, tuple(range(len(shape.leaves))))

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of a smallest stratum, root mean squared over them."""
        query = self._query(epsilon)
        errors = query.expected_error()
        smallest = [errors[query.nodes.index(path)] for path in query.leaves]
        return Error("people", float(np.sqrt(np.mean(np.square(smallest)))))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """The noisy tree."""
        query = self._query(epsilon)
        answer = query.release(people(source, self.leaves), confidence)
        errors = np.broadcast_to(answer.standard_error, answer.value.shape).tolist()
        figures = [
            Figure("respondents", ((STRATUM, SEPARATOR.join(map(str, node))),), value, error, *interval)
            for node, value, error, interval in zip(
                query.nodes, answer.value.tolist(), errors, answer.interval.tolist(), strict=True
            )
        ]
        return ItemDraw(
            tuple(figures),
            {"l1_sensitivity": query.sensitivity(), "levels": len(query.level_epsilons)},
        )

    def noise(self, epsilon: float, delta: float) -> Noise:
        """On each number, on every level alike, before they are made to add up."""
        return noise_of_levels(self._query(epsilon).levels)

    def _query(self, epsilon: float) -> Hierarchy:
        return hierarchy(
            [leaf.path or (OWN_LINK,) for leaf in self.shape.leaves],
            epsilon,
            self.shape.neighbours,
            total=count_known(self.shape, self.shape.versions, self.leaves),
        )
