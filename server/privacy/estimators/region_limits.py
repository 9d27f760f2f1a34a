"""Anytime-valid limits of weighted sums of shares, of many groups at once: those of `regions`, for shares and means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.parts import Stack, combine_stacks
from server.privacy.estimators.regions import allowed_drop, maximise_over_region, pad_rows
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.sequences import sequence_limits

_AT_ONCE = 1 << 16
"""Numbers that are computed with at once: half a megabyte of each."""


def region_limits(
    groups: Sequence[Sequence[Stack]],
    rows_of: Callable[[Stack], NDArray[np.float64]],
    confidence: float,
) -> list[NDArray[np.float64]]:
    """Anytime-valid limits of weighted sums of means of `row[report]`, shape (rows, 2), of each group.

    Parameters
    ----------
    groups : sequence of sequences of Stack
        Parts that have reports, of groups that are treated side by side, each with its own limits.
    rows_of : callable
        What a report that can occur adds to each mean, shape (rows, m): the same for parts under one design.
    confidence : float
        In (0, 1).
    """
    limits: list[NDArray[np.float64]] = [np.empty((0, 2))] * len(groups)
    alike: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for place, stacks in enumerate(groups):
        alike.setdefault(tuple((id(each.design), len(each.sizes)) for each in stacks), []).append(place)
    for places in alike.values():
        first = groups[places[0]]
        rows = [rows_of(each) for each in first]
        step = max(_AT_ONCE // sum(each.reports.size * len(rows[0]) for each in first), 1)
        for start in range(0, len(places), step):
            some = places[start : start + step]
            combined = [combine_stacks(each) for each in zip(*(groups[place] for place in some), strict=True)]
            for place, own in zip(some, _limits_of_alike(combined, len(some), rows, confidence), strict=True):
                limits[place] = own
    return limits


def _limits_of_alike(
    stacks: Sequence[Stack], groups: int, rows: Sequence[NDArray[np.float64]], confidence: float
) -> NDArray[np.float64]:
    """Of groups with as many parts under the same designs: in each stack one group after the other.

    Returns
    -------
    ndarray, shape (groups, rows, 2)
    """
    merged = [
        [_merge_parts(row, each) for row, each in zip(of_stacks, stacks, strict=True)]
        for of_stacks in zip(*rows, strict=True)
    ]
    limits = np.empty((len(merged), groups, 2))
    lengths = [len(each.sizes) for each in stacks]
    binomial = np.array([sum(lengths) == groups and len(own[0].lowest) == 2 for own in merged])
    if binomial.any():
        single = [own[0] for own, one in zip(merged, binomial, strict=True) if one]
        yes = np.stack([own.counts[:, 1] for own in single])
        chances = sequence_limits(yes, np.broadcast_to(stacks[0].sizes, yes.shape), confidence)
        low, high = (
            stacks[0].weights * np.array([own.highest[end] for own in single])[:, None] for end in (0, 1)
        )
        limits[binomial] = low[:, :, None] + (high - low)[:, :, None] * chances
    if not binomial.all():
        others = [own for own, one in zip(merged, binomial, strict=True) if not one]
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        # Where the parts of each group are, shape (groups, parts).
        order = np.concatenate(
            [
                start + np.arange(length).reshape(groups, -1)
                for start, length in zip(starts, lengths, strict=True)
            ],
            axis=1,
        )
        factors = [each.weights[:, None] for each in stacks]
        counts = pad_rows([each.counts for own in others for each in own], 0)
        lowest, highest = (
            pad_rows(
                [
                    factor * getattr(each, end)
                    for own in others
                    for factor, each in zip(factors, own, strict=True)
                ]
            )
            for end in ("lowest", "highest")
        )
        counts, lowest, highest = (
            of.reshape(len(others), sum(lengths), -1)[:, order].reshape(-1, order.shape[1], of.shape[1])
            for of in (counts, lowest, highest)
        )
        cells = np.array([[len(each.lowest) for each in own for _ in each.counts] for own in others])
        drop = allowed_drop(counts, cells[:, order].reshape(-1, order.shape[1]), confidence)
        far, _ = maximise_over_region(
            np.concatenate([-lowest, highest]), np.concatenate([counts, counts]), np.tile(drop, 2)
        )
        below, above = far.reshape(2, len(others), groups)
        limits[~binomial] = np.stack([-below, above], axis=-1)
    return limits.swapaxes(0, 1)


@dataclass(frozen=True)
class _Merged:
    """Reports of some parts that add the same, but for rounding: between these values; and their counts."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    counts: NDArray[np.int64]


def _merge_parts(row: NDArray[np.float64], parts: Stack) -> _Merged:
    order = np.argsort(row)
    ordered = row[order]
    steps = np.diff(ordered) > SAME * (ordered[-1] - ordered[0])
    starts = np.concatenate([[0], np.flatnonzero(steps) + 1])
    ends = np.append(starts[1:], len(row)) - 1
    counts = np.add.reduceat(parts.reports[:, order], starts, axis=1)
    return _Merged(ordered[starts], ordered[ends], counts)
