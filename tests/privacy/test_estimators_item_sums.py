"""Item sums: a difference of mean totals with Welch's interval."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, ttest_ind

from server.privacy.estimators import estimate_item_sum

CONTROL, TREATMENT = [10, 14, 9, 11, 16, 12], [15.5, 12, 19, 14, 22, 11, 30]


def test_it_is_welchs_interval() -> None:
    # scipy.stats.ttest_ind with unequal variances.
    estimate = estimate_item_sum(CONTROL, TREATMENT, confidence=0.9)
    expected = ttest_ind(TREATMENT, CONTROL, equal_var=False)
    assert estimate.mean == pytest.approx(np.mean(TREATMENT) - np.mean(CONTROL))
    assert estimate.degrees_of_freedom == pytest.approx(expected.df)
    assert estimate.standard_error == pytest.approx(estimate.mean / expected.statistic)
    assert estimate.interval == pytest.approx(tuple(expected.confidence_interval(0.9)))
    assert estimate.n == (6, 7)


def test_intervals_of_few_people_hold_and_a_normal_quantile_does_not() -> None:
    random, studies = np.random.default_rng(3), 3000
    least = binom.ppf(1e-6, studies, 0.94)
    held = twin = 0
    for _ in range(studies):
        control = random.gamma(9.0, 1.0, size=6)
        treatment = random.gamma(9.0, 1.0, size=5) + 2.0
        estimate = estimate_item_sum(control, treatment)
        held += estimate.interval[0] <= 2.0 <= estimate.interval[1]
        twin += abs(estimate.mean - 2.0) <= 1.96 * estimate.standard_error  # the broken twin
    assert held >= least
    assert twin < least


def test_where_no_spread_is_known_everything_is_possible() -> None:
    alone = estimate_item_sum([10], TREATMENT)
    assert alone.standard_error == math.inf
    assert alone.interval == (-math.inf, math.inf)
    same = estimate_item_sum([10, 10, 10], [12, 12])
    assert (same.mean, same.standard_error, same.degrees_of_freedom) == (2.0, 0.0, 0.0)
    assert same.interval == (-math.inf, math.inf)
    half = estimate_item_sum([10, 10, 10], [12, 13, 11])
    assert half.degrees_of_freedom == pytest.approx(2)


@pytest.mark.parametrize(
    ("control", "treatment", "message"),
    [
        ([], [1.0], "control must"),
        ([1.0], [], "treatment must"),
        ([1.0, math.nan], [1.0], "control must be finite"),
        (["a"], [1.0], "control must be numbers"),
        ([[1.0]], [1.0], "control must be a row"),
        ([1e101], [1.0], r"control must be in \[-1e\+100, 1e\+100\]"),
    ],
)
def test_what_are_no_totals_is_refused(control: Any, treatment: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_item_sum(control, treatment)
