"""The rows of a model that count, and vary, as they were drawn: their weighted means."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_moments import Moments, measure_means

Floats = NDArray[np.float64]
_MOST_NUMBERS = 1 << 24
"""Rows times means: each is a number in memory some times over."""


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """`places` are those of the model's rows in the sample; `field` is the model's own."""

    places: NDArray[np.int64]
    sample: SampleDesign
    field: str

    @property
    def weights(self) -> Floats:
        """What each of the model's rows counts."""
        return self.sample.weights[self.places]

    def measure(
        self,
        values: Sequence[Floats],
        inside: Sequence[NDArray[np.bool_]],
        least: Sequence[Floats | float] | None = None,
    ) -> Moments:
        """The mean of each of several columns, of those of the model's rows that are inside.

        `least` are the variances that coins add to each row's number, whatever is true.

        Raises
        ------
        InputError
            If there are too many rows for so many means.
        """
        rows = len(self.sample.weights)
        if rows * len(values) > _MOST_NUMBERS:
            template = N_(
                "must have at most %(limit)d rows where they count differently; the table has %(value)d"
            )
            raise refuse(422, self.field, template, limit=_MOST_NUMBERS // len(values), value=rows)
        tops, bottoms = np.zeros((rows, len(values))), np.zeros((rows, len(values)))
        tops[self.places] = np.stack(values, axis=1)
        bottoms[self.places] = np.stack(inside, axis=1)
        floor = None
        if least is not None:
            floor = np.zeros((rows, len(values)))
            floor[self.places] = np.stack([np.broadcast_to(own, len(self.places)) for own in least], axis=1)
        return measure_means(tops, bottoms, self.sample, floor)

    def measure_groups(self, group: Floats, values: Floats, least: Sequence[float] | None = None) -> Moments:
        """The mean of a column in each group."""
        groups = range(int(group.max()) + 1)
        return self.measure([values for _ in groups], [group == place for place in groups], least)
