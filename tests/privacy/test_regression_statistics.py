"""Logistic regression over many data sets: unbiased, with honest standard errors.

Every acceptance region has a false-alarm rate of 1e-6 and is followed by a broken twin that must leave it.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from server.privacy.designs import Design, coin_flip, draw_coins
from server.privacy.estimators import LogisticRegression, logistic_regression

Array = NDArray[np.float64]
FALSE_ALARM = 1e-6
TRUTH = np.array([-0.8, 0.7, -0.5, 0.4])
N = 5000


@dataclass(frozen=True)
class Survey:
    truths: NDArray[np.int64]
    covariates: Array
    fit: LogisticRegression


def survey(design: Design, assumed: Design | None = None, n: int = N) -> Survey:
    """Fresh covariates, truths and coins, analysed under the design or under another one."""
    rng = np.random.default_rng()
    covariates = np.column_stack([rng.normal(size=n), rng.random(n) < 0.4, rng.uniform(-2, 2, n)])
    chances = 1 / (1 + np.exp(-(TRUTH[0] + covariates @ TRUTH[1:])))
    truths = (rng.random(n) < chances).astype(np.int64)
    reports = design.report(truths, draw_coins(n))
    return Survey(truths, covariates, logistic_regression(reports, covariates, assumed or design))


def wald(fits: list[LogisticRegression], errors: float = 1.0) -> float:
    """Sum over data sets of (estimate - truth)' covariance^-1 (estimate - truth)."""
    total = 0.0
    for fit in fits:
        difference = fit.coefficients - TRUTH
        total += float(difference @ np.linalg.solve(fit.covariance * errors**2, difference))
    return total


def acceptable(statistic: float, freedom: int) -> bool:
    """Two-sided: standard errors that are too wide are as wrong as those that are too narrow."""
    return bool(chi2.ppf(FALSE_ALARM / 2, freedom) <= statistic <= chi2.isf(FALSE_ALARM / 2, freedom))


@pytest.fixture(scope="module")
def surveys() -> list[Survey]:
    return [survey(coin_flip(0.25)) for _ in range(20)]


def test_estimates_scatter_about_the_truth_as_the_standard_errors_say(surveys: list[Survey]) -> None:
    fits = [each.fit for each in surveys]
    assert acceptable(wald(fits), 80)
    assert not acceptable(wald(fits, errors=0.5), 80), "broken twin: standard errors half as wide"
    assert not acceptable(wald(fits, errors=3.0), 80), "broken twin: standard errors three times as wide"


def test_no_single_coefficient_is_far_off(surveys: list[Survey]) -> None:
    # 5.7 standard errors: 80 coefficients share the false-alarm rate.
    scores = np.array([(each.fit.coefficients - TRUTH) / each.fit.standard_errors for each in surveys])
    assert np.abs(scores).max() < 5.7


def test_forgetting_the_design_is_caught() -> None:
    """The same data taken as true answers: a plain logistic regression, and far too sure of itself."""
    nearly_plain = coin_flip(0.4999999)
    twins = [survey(coin_flip(0.25), nearly_plain).fit for _ in range(20)]
    assert not acceptable(wald(twins), 80)
    slopes = np.mean([twin.coefficients[1:] for twin in twins], axis=0)
    assert np.all(np.abs(slopes) < 0.7 * np.abs(TRUTH[1:])), "it shrinks every slope towards 0"


def test_the_sandwich_agrees_with_the_hessian_where_the_model_holds(surveys: list[Survey]) -> None:
    ratios = np.array([s.fit.sandwich_standard_errors / s.fit.standard_errors for s in surveys])
    # The ratio scatters by about 0.025 from one survey to another: ten times that is allowed.
    assert np.abs(ratios - 1).max() < 0.25


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    fits = [survey(coin_flip(0.3), n=2000).fit for _ in range(200)]
    for coefficient, truth in enumerate(TRUTH.tolist()):
        limits = np.array([fit.intervals[coefficient] for fit in fits])
        held = int(np.sum((limits[:, 0] <= truth) & (truth <= limits[:, 1])))
        share = FALSE_ALARM / 8
        assert binom.ppf(share, 200, 0.95) <= held <= binom.isf(share, 200, 0.95)
        centre, half = limits.mean(axis=1), np.diff(limits).ravel() / 4
        too_few = int(np.sum(np.abs(centre - truth) <= half))
        assert too_few < binom.ppf(share, 200, 0.95), "broken twin: intervals half as wide"


def test_mean_predicted_shares_have_the_standard_error_of_the_population(surveys: list[Survey]) -> None:
    # E(1 / (1 + exp(-z'b))) over the distribution of the covariates, from four million draws of them: +- 0.0001.
    rng = np.random.default_rng(5)
    n = 4_000_000
    eta = TRUTH[0] + TRUTH[1] * rng.normal(size=n) + TRUTH[2] * (rng.random(n) < 0.4)
    share = float(np.mean(1 / (1 + np.exp(-(eta + TRUTH[3] * rng.uniform(-2, 2, n))))))
    z = np.array([(s.fit.shares[1] - share) / s.fit.share_standard_errors[1] for s in surveys])
    assert acceptable(float(z @ z), 20)
    assert not acceptable(float(z @ z) * 100, 20), "broken twin: standard errors a tenth as wide"


def test_likelihood_ratios_of_useless_covariates_follow_chi_squared() -> None:
    design = coin_flip(0.3)
    rng = np.random.default_rng()
    overall, single = 0.0, 0.0
    for _ in range(60):
        truths = (rng.random(2000) < 0.4).astype(np.int64)
        fit = logistic_regression(design.report(truths, draw_coins(2000)), rng.normal(size=(2000, 2)), design)
        overall += fit.likelihood_ratio.statistic
        single += fit.likelihood_ratios[1].statistic
    assert acceptable(overall, 120)
    assert acceptable(single, 60)
    assert not acceptable(5 * overall, 120), "broken twin: five times the statistic"
