"""Anytime-valid intervals of whole studies, looked at again and again: the truth hardly ever leaves."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from server.privacy.designs import coin_flip, k_ary, ordinal
from server.privacy.estimators import anytime_answered_mean, anytime_mean, anytime_shares, confidence_sequence
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.regions import allowed_drop, maximise_over_region
from server.privacy.estimators.sequences import sequence_limits

WEAK, STRONG = coin_flip(0.1), coin_flip(0.4)
STUDIES = 2000
LOOKS = np.arange(50, 5001, 50)


def most_leaving(studies: int) -> int:
    """Of so many studies of which at most 5 % leave, more than this many do with probability 1e-7 at most."""
    return int(binom.isf(1e-7, studies, 0.05))


def watch_studies(reported: NDArray[np.float64], step: int, seed: int) -> NDArray[np.int64]:
    """Counts of each study at each look, shape (studies, looks, m)."""
    return np.random.default_rng(seed).multinomial(step, reported, (STUDIES, len(LOOKS))).cumsum(axis=1)


def ranges(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of every row of counts (rows, parts, m), with values of the same shape: (rows, 2), a chunk at a time."""
    cells = np.full(counts.shape[:2], counts.shape[2])
    found = []
    for rows in np.array_split(np.arange(len(counts)), max(1, len(counts) // 20_000)):
        drop = allowed_drop(counts[rows], cells[rows], 0.95)
        below, above = (maximise_over_region(sign * values[rows], counts[rows], drop)[0] for sign in (-1, 1))
        found.append(np.stack([-below, above], axis=-1))
    return np.concatenate(found)


def leaving(limits: NDArray[np.float64], truth: Any) -> int:
    """In how many studies the truth is outside at any look; limits of shape (studies, looks, 2)."""
    return int(((truth < limits[..., 0]) | (limits[..., 1] < truth)).any(axis=1).sum())


def test_the_mean_of_a_scale_hardly_ever_leaves_in_a_hundred_looks() -> None:
    design, truth = ordinal(3, 2.0), np.array([0.5, 0.3, 0.2])
    row, mean = np.linspace(1, 5, 3) @ left_inverse(design), float(np.linspace(1, 5, 3) @ truth)
    counts = watch_studies(truth @ design.matrix, 50, 20261211)
    flat = counts.reshape(-1, 1, 3)
    limits = ranges(np.broadcast_to(row, flat.shape), flat)
    assert limits[777] == pytest.approx(anytime_mean(flat[777], [design], 1, 5), abs=1e-8)
    assert leaving(limits.reshape(STUDIES, -1, 2), mean) <= most_leaving(STUDIES)
    # The broken twin: the estimate plus and minus 1.96 standard errors at each look.
    observed = counts / LOOKS[:, None]
    centre = observed @ row
    half = 1.96 * np.sqrt((observed @ row**2 - centre**2) / LOOKS)
    assert leaving(np.stack([centre - half, centre + half], axis=-1), mean) > 3 * most_leaving(STUDIES)


def test_a_choice_of_four_hardly_ever_leaves_in_a_hundred_looks() -> None:
    design, truth = k_ary(4, 1.5), np.array([0.4, 0.3, 0.2, 0.1])
    counts = watch_studies(truth @ design.matrix, 50, 20261212)
    keep, lie = design.matrix[0, :2]
    for answer in (0, 3):
        seen = counts[..., answer]
        limits = (sequence_limits(seen, np.broadcast_to(LOOKS, seen.shape), 0.95) - lie) / (keep - lie)
        assert limits[11, 5] == pytest.approx(anytime_shares([counts[11, 5]], [design])[answer], abs=1e-9)
        assert leaving(limits, truth[answer]) <= most_leaving(STUDIES)


def test_two_versions_hardly_ever_leave_although_the_second_begins_late_and_weights_move() -> None:
    # The first version stops at 2,500 responses, the second begins there, with another gamma and other people.
    designs, shares, half = [WEAK, STRONG], [0.3, 0.6], len(LOOKS) // 2
    yes = [
        watch_studies(np.array([1 - p, p]) @ design.matrix, 50, 20261213 + part)[..., 1]
        for part, (design, p) in enumerate(zip(designs, shares, strict=True))
    ]
    first = yes[0][:, :half]
    alone = confidence_sequence(first, np.broadcast_to(LOOKS[:half], first.shape), WEAK)
    sizes = LOOKS[:half]
    seen = np.stack([np.broadcast_to(yes[0][:, half - 1 : half], (STUDIES, half)), yes[1][:, :half]], axis=-1)
    n = np.stack([np.full(half, 2500), sizes], axis=-1)
    weights = n / n.sum(axis=-1, keepdims=True)
    rows = np.stack([left_inverse(design)[1] for design in designs])
    counts = np.stack([n - seen, seen], axis=-1)
    values = np.broadcast_to(weights[..., None] * rows, counts.shape)
    both = ranges(values.reshape(-1, 2, 2), counts.reshape(-1, 2, 2)).reshape(STUDIES, half, 2)
    assert both[3, 7] == pytest.approx(anytime_shares(counts[3, 7], designs)[1], abs=1e-8)
    truth = np.concatenate([np.full(half, 0.3), weights @ np.array(shares)])
    assert leaving(np.concatenate([alone.intervals, both], axis=1), truth) <= most_leaving(STUDIES)
    # The broken twins: the fixed-sample interval at each look, and one design for both versions.
    early = np.stack([first, np.zeros_like(first)], axis=-1), np.stack([sizes, np.full(half, 1)], axis=-1)
    counted, of = np.concatenate([early[0], seen], axis=1), np.concatenate([early[1], n])
    weighting = np.concatenate([np.tile([1.0, 0.0], (half, 1)), weights])
    slopes = np.array([0.2, 0.8])
    centre = (weighting * (counted / of - [0.4, 0.1]) / slopes).sum(axis=-1)
    variance = (weighting / slopes) ** 2 * counted / of * (1 - counted / of) / of
    reach = 1.96 * np.sqrt(variance.sum(axis=-1))
    assert leaving(np.stack([centre - reach, centre + reach], axis=-1), truth) > 3 * most_leaving(STUDIES)
    late = weights @ np.array(shares)
    mixed = confidence_sequence(seen.sum(axis=-1), np.broadcast_to(n.sum(axis=-1), seen.shape[:2]), WEAK)
    assert leaving(mixed.intervals, late) > 3 * most_leaving(STUDIES)


def test_the_mean_of_those_who_answered_hardly_ever_leaves() -> None:
    # Through the public function, an iteration for each limit: 80 studies, looked at 8 times.
    design, truth, studies = k_ary(3, 2.5), np.array([0.4, 0.3, 0.3]), 80
    rng = np.random.default_rng(20261214)
    left = 0
    for counts in rng.multinomial(100, truth @ design.matrix, (studies, 8)).cumsum(axis=1):
        limits = [anytime_answered_mean([look], [design], 0, 7) for look in counts]
        left += any(not low <= 3 <= high for low, high in limits)
    assert left <= most_leaving(studies)
