"""Logistic regression on reports against closed forms, direct maximisation and ordinary regression."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chi2, norm

from server.privacy.designs import Design, coin_flip, forced_response, kuk
from server.privacy.estimators import estimate_shares, logistic_regression
from server.privacy.estimators.logit_likelihood import evaluate_likelihood, squared_scores
from server.privacy.estimators.regression_data import prepare

Array = NDArray[np.float64]
DESIGNS = [coin_flip(0.25), coin_flip(0.1), forced_response(0.7, 0.1), kuk(0.2, 0.9)]


def made_up(design: Design, n: int = 2000, seed: int = 3) -> tuple[NDArray[np.int64], Array]:
    """Reports and three covariates of different kinds; seeded, because what is tested here is arithmetic."""
    rng = np.random.default_rng(seed)
    covariates = np.column_stack([rng.normal(size=n), rng.random(n) < 0.4, rng.integers(18, 80, n)])
    eta = -1.5 + covariates @ [0.8, -0.6, 0.02]
    truths = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    return design.report(truths, rng.integers(0, 2**32, n)).astype(np.int64), covariates


def log_likelihood(
    coefficients: Array, reports: NDArray[np.int64], covariates: Array, design: Design
) -> complex:
    """Written out anew, with nothing that stops complex numbers from passing through it."""
    odds = np.exp(coefficients[0] + covariates @ coefficients[1:])
    no, yes = design.matrix[0, 1], design.matrix[1, 1]
    chance = (yes * odds + no) / (1 + odds)
    return complex(np.sum(np.log(np.where(reports == 1, chance, 1 - chance))))


@pytest.mark.parametrize("design", DESIGNS)
def test_the_gradient_is_that_of_the_complex_step_and_the_hessian_that_of_differences(design: Design) -> None:
    reports, covariates = made_up(design, 300)
    data = prepare(reports, covariates, design, None)
    coefficients = np.array([-1.0, 0.5, 0.3, 0.01])

    def gradient(point: Array) -> Array:
        steps = 1j * 1e-30 * np.eye(4)
        return np.array([log_likelihood(point + s, reports, covariates, design).imag / 1e-30 for s in steps])

    found = evaluate_likelihood(data, data.to_columns @ coefficients)
    assert found.log_likelihood == pytest.approx(
        log_likelihood(coefficients, reports, covariates, design).real, rel=1e-12
    )
    assert found.gradient @ data.to_columns == pytest.approx(gradient(coefficients), rel=1e-9)
    widths = np.diag([1e-4, 1e-4, 1e-4, 1e-6])
    differences = [(gradient(coefficients + w) - gradient(coefficients - w)) / (2 * w.sum()) for w in widths]
    information = data.to_columns.T @ found.information @ data.to_columns
    assert information == pytest.approx(-np.array(differences), rel=1e-5)
    # Row by row: the meat of the sandwich is the sum of the squared gradients of single reports.
    rows = [(reports[i : i + 1], covariates[i : i + 1]) for i in range(reports.size)]
    steps = 1j * 1e-30 * np.eye(4)
    scores = np.array(
        [[log_likelihood(coefficients + s, *row, design).imag / 1e-30 for s in steps] for row in rows]
    )
    meat = data.to_columns.T @ squared_scores(data, data.to_columns @ coefficients) @ data.to_columns
    assert meat == pytest.approx(scores.T @ scores, rel=1e-9)


@pytest.mark.parametrize("design", DESIGNS)
def test_no_direct_maximisation_from_many_starts_finds_more(design: Design) -> None:
    reports, covariates = made_up(design)
    scale = np.array([1.0, 1.0, 1.0, 50.0])
    fit = logistic_regression(reports, covariates, design)

    def loss(scaled: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value = -log_likelihood(scaled / scale, reports, covariates, design).real
        return value if math.isfinite(value) else 1e9

    rng = np.random.default_rng(8)
    ends = [minimize(loss, rng.normal(size=4), method="BFGS") for _ in range(12)]
    best = min(ends, key=lambda end: float(end.fun))
    assert -best.fun == pytest.approx(fit.log_likelihood, abs=1e-6)
    assert best.x / scale == pytest.approx(fit.coefficients, rel=1e-3, abs=1e-4)


def test_two_groups_have_the_odds_of_their_separate_estimates() -> None:
    design = coin_flip(0.25)
    reports = np.repeat([0, 1, 0, 1], [700, 300, 600, 400])
    group = np.repeat([0, 1], 1000)
    fit = logistic_regression(reports, group, design)
    shares = [estimate_shares(counts, design) for counts in ([700, 300], [600, 400])]
    logits = [math.log(e.shares[1] / e.shares[0]) for e in shares]
    assert fit.coefficients == pytest.approx([logits[0], logits[1] - logits[0]], rel=1e-9)
    variances = [e.covariance[1, 1] * (e.n - 1) / e.n / (e.shares[1] * e.shares[0]) ** 2 for e in shares]
    assert fit.standard_errors == pytest.approx([math.sqrt(variances[0]), math.sqrt(sum(variances))])
    # A saturated model fits exactly, so both kinds of standard error are the same.
    assert fit.sandwich_standard_errors == pytest.approx(fit.standard_errors)
    assert fit.odds_ratios == pytest.approx([1 / 9, 27 / 7])
    separate = sum(k * math.log(k / 1000) for k in (700, 300, 600, 400))
    assert fit.log_likelihood == pytest.approx(separate, rel=1e-12)
    together = 1300 * math.log(0.65) + 700 * math.log(0.35)
    assert fit.null_log_likelihood == pytest.approx(together, rel=1e-12)
    assert fit.likelihood_ratio.statistic == pytest.approx(2 * (separate - together))
    assert fit.likelihood_ratio.p_value == pytest.approx(chi2.sf(2 * (separate - together), 1))
    assert fit.likelihood_ratios[1].statistic == pytest.approx(fit.likelihood_ratio.statistic, rel=1e-9)
    # Without the intercept the first group's true share is one half.
    halved = 1000 * math.log(0.5) + 600 * math.log(0.6) + 400 * math.log(0.4)
    assert fit.likelihood_ratios[0].statistic == pytest.approx(2 * (separate - halved))
    assert fit.shares == pytest.approx([0.8, 0.2])
    z = fit.coefficients / fit.standard_errors
    assert fit.z == pytest.approx(z)
    assert fit.p_values == pytest.approx(2 * norm.sf(np.abs(z)), rel=1e-9)
    half = 1.959963984540054 * fit.standard_errors
    assert fit.intervals == pytest.approx(
        np.stack([fit.coefficients - half, fit.coefficients + half], axis=1)
    )
    assert np.log(fit.odds_ratio_intervals) == pytest.approx(fit.intervals)


@pytest.mark.parametrize(("design", "yes"), [(coin_flip(0.25), 300), (kuk(0.2, 0.9), 700)])
def test_without_covariates_it_is_the_estimate_of_shares(design: Design, yes: int) -> None:
    reports = np.repeat([0, 1], [1000 - yes, yes])
    estimate = estimate_shares([1000 - yes, yes], design)
    fit = logistic_regression(reports, np.empty((1000, 0)), design)
    assert fit.shares == pytest.approx(estimate.shares, abs=1e-12)
    assert fit.share_standard_errors == pytest.approx(estimate.standard_errors * math.sqrt(999 / 1000))
    assert fit.likelihood_ratio.p_value == 1.0
    assert fit.null_log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)
    half = 2 * (fit.log_likelihood - 1000 * math.log(0.5)) if design == coin_flip(0.25) else None
    assert half is None or fit.likelihood_ratios[0].statistic == pytest.approx(half)


def ordinary(answers: NDArray[np.int64], covariates: Array) -> tuple[Array, Array]:
    """Ordinary logistic regression by iterated weighted least squares."""
    table = np.column_stack([np.ones(answers.size), covariates])
    coefficients = np.zeros(table.shape[1])
    for _ in range(30):
        share = 1 / (1 + np.exp(-table @ coefficients))
        information = table.T @ (table * (share * (1 - share))[:, None])
        coefficients = coefficients + np.linalg.solve(information, table.T @ (answers - share))
    return coefficients, np.sqrt(np.diag(np.linalg.inv(information)))


def test_with_hardly_any_noise_it_is_ordinary_logistic_regression() -> None:
    design = coin_flip(0.499999999)
    reports, covariates = made_up(design)
    fit = logistic_regression(reports, covariates, design)
    coefficients, errors = ordinary(reports, covariates)
    assert fit.coefficients == pytest.approx(coefficients, abs=1e-6)
    assert fit.standard_errors == pytest.approx(errors, rel=1e-5)
    # The broken twin: with noise, forgetting the design gives something else.
    noisy, covariates = made_up(coin_flip(0.25))
    right = logistic_regression(noisy, covariates, coin_flip(0.25))
    assert ordinary(noisy, covariates)[0] != pytest.approx(right.coefficients, abs=0.1)


def test_turning_the_meaning_of_the_reports_round_changes_nothing() -> None:
    design = coin_flip(0.25)
    reports, covariates = made_up(design)
    fit = logistic_regression(reports, covariates, design)
    turned = logistic_regression(1 - reports, covariates, Design(design.weights[:, ::-1]))
    assert turned.coefficients == pytest.approx(fit.coefficients, rel=1e-9)
    assert turned.sandwich_covariance == pytest.approx(fit.sandwich_covariance, rel=1e-9)
    assert turned.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)
