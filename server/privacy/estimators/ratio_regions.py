"""The range of a ratio of two sums over an anytime-valid region: a mean among those who gave a number.

Many groups are treated side by side: each iteration takes a step for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.answered_means import answered_rows
from server.privacy.estimators.parts import Stack
from server.privacy.estimators.regions import allowed_drop, maximise_over_region, pad_rows


@dataclass(frozen=True, eq=False)
class Ratio:
    """Of one group what a part's share of a report adds to the sum of numbers, on the scale [0, 1], and to those
    who gave one, weights included; counts; shapes (parts, cells). `cells`: how many reports each part can give.
    """

    numbers: NDArray[np.float64]
    answers: NDArray[np.float64]
    counts: NDArray[np.int64]
    cells: NDArray[np.int64]

    @classmethod
    def of(cls, stacks: Sequence[Stack]) -> "Ratio":
        """Of parts that have reports."""
        rows = answered_rows(stacks)
        weighted = [each.weights[:, None] for each in stacks]
        return cls(
            pad_rows([weight * own for weight, (own, _) in zip(weighted, rows, strict=True)]),
            pad_rows([weight * own for weight, (_, own) in zip(weighted, rows, strict=True)]),
            pad_rows([each.reports for each in stacks], 0),
            np.concatenate([np.full(len(each.sizes), each.reports.shape[1]) for each in stacks]),
        )


def ratio_limits(groups: Sequence[Ratio], confidence: float) -> NDArray[np.float64]:
    """On the scale [0, 1]: the range of the sum of numbers over the people who gave one; shape (groups, 2)."""
    numbers, answers, counts, cells = (
        np.stack([getattr(group, name) for group in groups])
        for name in ("numbers", "answers", "counts", "cells")
    )
    drop = allowed_drop(counts, cells, confidence)
    fewest = -maximise_over_region(-answers, counts, drop)[0]
    limits = np.tile([0.0, 1.0], (len(groups), 1))
    some = fewest > 0
    if not some.any():
        return limits
    signs = np.tile([-1.0, 1.0], int(some.sum()))
    # Each group has a row for its lower limit and one for its upper limit.
    numbers, answers, counts, drop, fewest = (
        np.repeat(of[some], 2, axis=0) for of in (numbers, answers, counts, drop, fewest)
    )
    observed = counts / counts.sum(axis=-1, keepdims=True)
    ratio = (observed * numbers).sum(axis=(-1, -2)) / (observed * answers).sum(axis=(-1, -2))
    for _ in range(30):
        values = signs[:, None, None] * (numbers - ratio[:, None, None] * answers)
        beyond, chances = maximise_over_region(values, counts, drop)
        totals = np.maximum((chances * answers).sum(axis=(-1, -2)), fewest)
        moved = (chances * numbers).sum(axis=(-1, -2)) / totals
        near = signs * (moved - ratio) <= 1e-9 * (1 + np.abs(ratio))
        ended = np.repeat(near.reshape(-1, 2).all(axis=1), 2)
        if ended.all():
            break
        ratio = np.where(ended, ratio, moved)
    # No chances of the region have a ratio further out than this, wherever the iteration stopped.
    limits[some] = (ratio + signs * np.maximum(beyond, 0) / fewest).reshape(-1, 2)
    return limits
