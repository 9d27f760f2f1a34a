"""One share from groups with different innocuous items, and whether it explains them."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, chi2

from server.privacy.designs import coin_flip, crosswise, k_ary, unrelated_question
from server.privacy.estimators import estimate_several_baselines, estimate_shares
from server.privacy.estimators.one_sided import mangat

DESIGNS = (crosswise(0.8), crosswise(0.75), crosswise(0.3))
TWIN = (crosswise(0.8), crosswise(0.8), crosswise(0.2))
COUNTS = [[308, 192], [325, 175], [215, 285]]


def yes_chances(share: float) -> NDArray[np.float64]:
    return np.array([share * each.matrix[1, 1] + (1 - share) * each.matrix[0, 1] for each in DESIGNS])


def loss(share: float) -> float:
    return -sum(
        float(binom.logpmf(yes, no + yes, chance))
        for (no, yes), chance in zip(COUNTS, yes_chances(share), strict=True)
    )


def test_the_share_is_the_likeliest_and_g_squared_what_it_loses() -> None:
    found = minimize_scalar(loss, bounds=(-0.2, 1.2), method="bounded", options={"xatol": 1e-11})
    result = estimate_several_baselines(COUNTS, DESIGNS)
    assert result.share == pytest.approx(found.x, abs=1e-7)
    saturated = -sum(float(binom.logpmf(yes, no + yes, yes / (no + yes))) for no, yes in COUNTS)
    assert result.g_squared == pytest.approx(2 * (found.fun - saturated), rel=1e-7)
    assert result.p_value == pytest.approx(chi2.sf(result.g_squared, 2))
    for group, design, share in zip(COUNTS, DESIGNS, result.group_shares, strict=True):
        assert share == pytest.approx(estimate_shares(group, design).shares[1])


def test_the_share_is_the_inverse_variance_weighted_mean_at_itself() -> None:
    result = estimate_several_baselines(COUNTS, DESIGNS)
    chances = yes_chances(result.share)
    slopes = np.array([each.matrix[1, 1] - each.matrix[0, 1] for each in DESIGNS])
    weights = np.array(result.n) * slopes**2 / (chances * (1 - chances))
    assert result.share == pytest.approx(float(weights @ result.group_shares / weights.sum()), abs=1e-12)
    assert result.standard_error == pytest.approx(1 / math.sqrt(weights.sum()))


def test_the_limits_are_those_of_the_score_test_and_of_equal_designs_wilsons() -> None:
    result = estimate_several_baselines(COUNTS, DESIGNS)
    slopes = np.array([each.matrix[1, 1] - each.matrix[0, 1] for each in DESIGNS])
    yes, n = np.array(COUNTS)[:, 1], np.sum(COUNTS, axis=1)

    def squared_score(share: float) -> float:
        chances = yes_chances(share)
        score = (slopes * (yes - n * chances) / (chances * (1 - chances))).sum()
        return float(score**2 / (n * slopes**2 / (chances * (1 - chances))).sum()) - chi2.ppf(0.95, 1)

    ends = brentq(squared_score, -0.3, result.share), brentq(squared_score, result.share, 1.2)
    assert result.interval == pytest.approx(ends, abs=1e-9)
    together = estimate_several_baselines([[60, 40], [150, 50]], [coin_flip(0.25)] * 2)
    wilson = estimate_shares([210, 90], coin_flip(0.25))
    assert together.share == pytest.approx(wilson.shares[1])
    assert together.interval == pytest.approx(tuple(wilson.intervals[1]), abs=1e-9)


def test_intervals_hold_the_truth_and_one_prevalence_for_all_does_not() -> None:
    random, studies, n = np.random.default_rng(23), 250, 150
    least = binom.ppf(1e-6, studies, 0.935)
    alarms = binom.ppf(1 - 1e-6, studies, 0.06)
    for share in (0.0, 0.05, 0.3):
        held = twin = rejected = 0
        for _ in range(studies):
            yes = random.binomial(n, yes_chances(share))
            counts = np.stack([n - yes, yes], axis=1)
            result = estimate_several_baselines(counts, DESIGNS)
            held += result.interval[0] <= share <= result.interval[1]
            rejected += result.p_value <= 0.05
            mixed = estimate_several_baselines(counts, TWIN)
            twin += mixed.interval[0] <= share <= mixed.interval[1]  # one item taken for another
        assert held >= least
        assert rejected <= alarms
        assert twin < least or share == 0.3, "all items taken for as rare as the first"


def test_a_design_that_was_not_done_is_seen() -> None:
    yes = np.round(2000 * yes_chances(0.2)).astype(int)
    yes[2] = 1000  # who answers at random
    assert estimate_several_baselines(np.stack([2000 - yes, yes], axis=1), DESIGNS).p_value < 1e-6


def test_edges() -> None:
    nobody = estimate_several_baselines([[100, 0], [100, 0]], [mangat(0.5), mangat(0.8)])
    assert nobody.share == pytest.approx(-0.25)
    assert nobody.impossible is True
    assert nobody.standard_error >= 0
    assert "nan" not in repr(nobody)
    mixed = estimate_several_baselines([[90, 10], [80, 20]], [unrelated_question(0.7, 0.1), coin_flip(0.4)])
    assert mixed.degrees_of_freedom == 1


@pytest.mark.parametrize(
    ("counts", "designs", "message"),
    [
        ([[1, 2]], [DESIGNS[0]], "designs must be two or more; there are 1"),
        ([[1, 2]], DESIGNS, r"counts must have shape \(3, 2\), one row for each design; it is \(1, 2\)"),
        ([[1, 2], [3, 4]], [DESIGNS[0], k_ary(3, 1.0)], r"designs\[1\] must have shape \(2, 2\)"),
        ([[1, 2], [0, 0]], DESIGNS[:2], r"counts\[1\] must have a positive sum"),
    ],
)
def test_bad_groups_are_refused(counts: Any, designs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_several_baselines(counts, designs)
