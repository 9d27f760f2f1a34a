"""Confidence sequences: valid at every look together, as no fixed-sample interval is."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import betaln
from scipy.stats import binom

from server.privacy.designs import TOTAL, Design, coin_flip, forced_response, k_ary
from server.privacy.estimators import confidence_sequence, estimate_shares

STUDIES = 2000
LOOKS = np.arange(50, 5001, 50)
# Of 2,000 studies of which at most 5 % leave, more than this many do with probability 1e-6 at most.
MOST_LEAVING = int(binom.isf(1e-6, STUDIES, 0.05))


def watch_studies(share: float, gamma: float, seed: int) -> NDArray[np.int64]:
    """ "Yes" reports of each study at each look, shape (studies, looks)."""
    reported = 0.5 - gamma + 2 * gamma * share
    return np.random.default_rng(seed).binomial(50, reported, (STUDIES, len(LOOKS))).cumsum(axis=1)


def wilson(yes: NDArray[np.int64], gamma: float) -> NDArray[np.float64]:
    """Wilson's interval at each look, carried through the estimator: the broken twin."""
    z2, observed = 1.959964**2, yes / LOOKS
    centre = (observed + z2 / 2 / LOOKS) / (1 + z2 / LOOKS)
    half = np.sqrt(z2 * (observed * (1 - observed) / LOOKS + z2 / 4 / LOOKS**2)) / (1 + z2 / LOOKS)
    return (np.stack([centre - half, centre + half], axis=-1) - 0.5 + gamma) / (2 * gamma)


def leaving(intervals: NDArray[np.float64], share: float) -> int:
    """In how many studies the true share is outside at any look."""
    outside = (share < intervals[..., 0]) | (intervals[..., 1] < share)
    return int(outside.any(axis=1).sum())


@pytest.mark.parametrize(("share", "gamma"), [(0.0, 0.25), (0.1, 0.25), (0.5, 0.1), (0.9, 0.4)])
def test_the_true_share_hardly_ever_leaves_in_a_hundred_looks(share: float, gamma: float) -> None:
    yes = watch_studies(share, gamma, seed=20261121)
    looks = np.broadcast_to(LOOKS, yes.shape)
    assert MOST_LEAVING == 149
    assert leaving(confidence_sequence(yes, looks, coin_flip(gamma)).intervals, share) <= MOST_LEAVING
    # The broken twin: Wilson's interval at each look loses the true share in a third of the studies.
    assert leaving(wilson(yes, gamma), share) > 3 * MOST_LEAVING


def test_limits_are_where_the_mixture_is_twenty_times_the_likelihood() -> None:
    sequence = confidence_sequence(400, 1000, coin_flip(0.25))
    for limit in sequence.intervals.tolist():
        reported = 0.25 + limit / 2
        mixture = betaln(400.5, 600.5) - betaln(0.5, 0.5)
        ratio = mixture - 400 * math.log(reported) - 600 * math.log1p(-reported)
        assert ratio == pytest.approx(math.log(20), abs=1e-6)


def test_the_mixture_ratio_is_a_martingale_with_mean_one() -> None:
    # By enumeration: under the share itself the expected ratio after n reports is exactly 1, for each n.
    for n in (1, 7, 60):
        yes = np.arange(n + 1)
        ratio = np.exp(betaln(yes + 0.5, n - yes + 0.5) - betaln(0.5, 0.5))
        choices = np.exp(-betaln(yes + 1, n - yes + 1)) / (n + 1)
        assert (ratio * choices).sum() == pytest.approx(1, abs=1e-9)


def test_looks_together_equal_looks_one_by_one() -> None:
    together = confidence_sequence([20, 210, 400], [50, 500, 1000], coin_flip(0.25))
    assert together.intervals.shape == (3, 2)
    for look, (yes, n) in enumerate([(20, 50), (210, 500), (400, 1000)]):
        alone = confidence_sequence(yes, n, coin_flip(0.25))
        assert alone.intervals.shape == (2,)
        assert together.intervals[look] == pytest.approx(alone.intervals, abs=1e-12)
        assert together.shares[look] == alone.shares == pytest.approx((yes / n - 0.25) / 0.5)


def test_intervals_narrow_and_stay_wider_than_the_fixed_sample_ones() -> None:
    n = np.array([100, 1000, 10_000, 10**6])
    widths = np.diff(confidence_sequence(n * 4 // 10, n, coin_flip(0.25)).intervals)[:, 0]
    alone = [estimate_shares([k * 6 // 10, k * 4 // 10], coin_flip(0.25)) for k in n.tolist()]
    fixed = [float(np.diff(estimate.intervals[1])[0]) for estimate in alone]
    assert (np.diff(widths) < 0).all()
    assert (widths > np.array(fixed)).all()
    assert (widths < 2.5 * np.array(fixed)).all()


def test_a_design_whose_yes_means_no_is_carried_all_the_same() -> None:
    mirrored = Design(coin_flip(0.25).weights[::-1])
    plain = confidence_sequence(400, 1000, coin_flip(0.25)).intervals
    assert confidence_sequence(400, 1000, mirrored).intervals == pytest.approx(1 - plain[::-1], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"yes": -1}, r"yes must be in \[0, n = 1000\]; one is -1"),
        ({"yes": 1001}, r"yes must be in \[0, n = 1000\]; one is 1001"),
        ({"yes": [1, 7], "n": [5, 6]}, r"yes must be in \[0, n = 6\]; one is 7"),
        ({"yes": 0, "n": 0}, r"n must be in \[1, "),
        ({"yes": 1.5}, "yes must be whole numbers"),
        ({"n": math.nan}, "n must be whole numbers"),
        ({"yes": [1, 2]}, "one shape"),
        ({"yes": np.array([], int), "n": np.array([], int)}, "an entry each"),
        ({"confidence": 0.0}, "confidence must be"),
        ({"confidence": math.inf}, "confidence must be"),
        ({"design": k_ary(3, 1.0)}, r"design must have shape \(2, 2\)"),
        ({"design": Design([[TOTAL // 2] * 2] * 2)}, "tell the two answers apart"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"yes": 400, "n": 1000, "design": coin_flip(0.25)}
    with pytest.raises(ValueError, match=message):
        confidence_sequence(**{**valid, **arguments})


@given(st.integers(0, 2**52), st.integers(0, 2**52), st.floats(1e-9, 1 - 1e-12), st.floats(0.01, 0.9))
def test_every_look_has_limits_around_its_estimate(
    yes: int, no: int, confidence: float, truth: float
) -> None:
    if yes + no == 0:
        return
    sequence = confidence_sequence(yes, yes + no, forced_response(truth, (1 - truth) / 2), confidence)
    low, high = sequence.intervals
    slack = 1e-9 / truth
    assert low - slack <= sequence.shares <= high + slack
