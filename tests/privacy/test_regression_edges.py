"""Logistic regression at its edges: weights, no maximum, a saddle, refused arguments, anything goes."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.designs import TOTAL, Design, coin_flip
from server.privacy.estimators import LogisticRegression, estimate_shares, logistic_regression

DESIGN = coin_flip(0.25)
REPORTS = np.repeat([0, 1, 0, 1], [350, 150, 300, 200])
GROUP = np.repeat([0, 1], 500)
AGE = np.tile(np.arange(18, 68), 20)
BOTH = np.column_stack([GROUP, AGE])


def same(a: LogisticRegression, b: LogisticRegression, *names: str) -> bool:
    return all(getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-7, abs=1e-9) for name in names)


def test_a_weight_is_a_number_of_equal_respondents() -> None:
    numbers = 1 + AGE % 3
    weighted = logistic_regression(REPORTS, BOTH, DESIGN, weights=numbers)
    repeated = logistic_regression(np.repeat(REPORTS, numbers), np.repeat(BOTH, numbers, axis=0), DESIGN)
    assert same(
        weighted, repeated, "coefficients", "standard_errors", "log_likelihood", "null_log_likelihood"
    )
    assert weighted.likelihood_ratio.statistic == pytest.approx(repeated.likelihood_ratio.statistic)
    assert (weighted.n, repeated.n) == (1000, int(numbers.sum()))


def test_the_sandwich_does_not_take_weights_for_respondents() -> None:
    once = logistic_regression(REPORTS, BOTH, DESIGN)
    hundred = logistic_regression(REPORTS, BOTH, DESIGN, weights=np.full(1000, 100.0))
    assert same(once, hundred, "coefficients", "sandwich_standard_errors")
    assert hundred.standard_errors == pytest.approx(once.standard_errors / 10)


def test_rows_of_weight_zero_are_left_out() -> None:
    kept = AGE < 50
    weighted = logistic_regression(REPORTS, BOTH, DESIGN, weights=kept.astype(int))
    assert same(
        weighted, logistic_regression(REPORTS[kept], BOTH[kept], DESIGN), "coefficients", "covariance", "n"
    )


def test_units_of_the_covariates_do_not_matter() -> None:
    fit = logistic_regression(REPORTS, BOTH, DESIGN)
    moved = logistic_regression(REPORTS, np.column_stack([GROUP * 1e-9, AGE * 1e9 + 1e12]), DESIGN)
    assert moved.coefficients[1:] == pytest.approx(fit.coefficients[1:] * [1e9, 1e-9], rel=1e-5)
    assert moved.z[1:] == pytest.approx(fit.z[1:], rel=1e-5)
    assert moved.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)


def test_every_run_gives_the_same_and_true_and_false_are_numbers() -> None:
    first, second = (logistic_regression(REPORTS, x, DESIGN) for x in (GROUP.astype(bool), GROUP[:, None]))
    assert all(
        np.array_equal(getattr(first, f.name), getattr(second, f.name)) for f in dataclasses.fields(first)
    )


@pytest.mark.parametrize("yes", [99, 124, 376, 480])
def test_a_group_beyond_the_design_leaves_no_maximum_and_is_named(yes: int) -> None:
    reports = np.repeat([0, 1, 0, 1], [350, 150, 500 - yes, yes])
    with pytest.raises(ValueError, match=r"must have a maximum.* covariates column 1"):
        logistic_regression(reports, np.column_stack([AGE, GROUP]), DESIGN)


@pytest.mark.parametrize("yes", [0, 124, 125, 375, 376, 500])
def test_everybody_on_or_beyond_the_limits_of_the_design_leaves_no_maximum(yes: int) -> None:
    with pytest.raises(ValueError, match=r"must have a maximum.* coefficient called intercept"):
        logistic_regression(np.repeat([0, 1], [500 - yes, yes]), np.empty((500, 0)), DESIGN)


@pytest.mark.parametrize("yes", [126, 374])
def test_one_report_inside_the_design_there_is_a_maximum(yes: int) -> None:
    reports = np.repeat([0, 1, 0, 1], [350, 150, 500 - yes, yes])
    fit = logistic_regression(reports, GROUP, DESIGN)
    share = estimate_shares([500 - yes, yes], DESIGN).shares[1]
    assert fit.coefficients.sum() == pytest.approx(math.log(share / (1 - share)), rel=1e-7)


def test_a_smaller_model_without_a_maximum_is_taken_at_its_supremum() -> None:
    # 550 of 2300 "yes" is less than 1/4: without the covariate, no share explains it better than 0.
    place = np.repeat([0, 0, 1, 1, 2, 2, 3, 3], [1600, 400, 70, 30, 50, 50, 30, 70])
    reports = np.repeat([0, 1, 0, 1, 0, 1, 0, 1], [1600, 400, 70, 30, 50, 50, 30, 70])
    fit = logistic_regression(reports, place, DESIGN)
    assert fit.null_log_likelihood == pytest.approx(550 * math.log(0.25) + 1750 * math.log(0.75))
    assert fit.likelihood_ratios[1].statistic == pytest.approx(fit.likelihood_ratio.statistic, abs=1e-6)


def test_a_start_that_is_a_saddle_is_left() -> None:
    """Rare "yes" in the middle, frequent at both ends: without the covariate is stationary, but no maximum."""
    place = np.repeat([-1, -1, 0, 0, 1, 1], [30, 70, 1480, 520, 30, 70])
    reports = np.repeat([0, 1, 0, 1, 0, 1], [30, 70, 1480, 520, 30, 70])
    fit = logistic_regression(reports, place, DESIGN)
    mirrored = logistic_regression(reports, -place, DESIGN)
    assert fit.likelihood_ratio.statistic > 10
    assert abs(fit.coefficients[1]) > 2
    assert fit.log_likelihood == pytest.approx(mirrored.log_likelihood, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reports": np.full(1000, 2)}, r"reports must be in \[0, 1\]; one is 2"),
        ({"reports": -REPORTS}, r"reports must be in \[0, 1\]; one is -1"),
        ({"reports": REPORTS * 1.0}, "reports must be whole numbers"),
        ({"reports": REPORTS[:, None]}, r"reports must have shape \(n,\)"),
        ({"reports": np.array([], dtype=int)}, "at least 1"),
        ({"reports": REPORTS[:-1]}, r"covariates must have shape \(999, p\)"),
        ({"covariates": BOTH[:-1]}, r"covariates must have shape \(1000, p\).*\(999, 2\)"),
        ({"covariates": BOTH[None]}, r"covariates must have shape"),
        ({"covariates": 1.0}, r"covariates must have shape"),
        ({"covariates": np.where(AGE == 30, np.nan, AGE)}, "covariates must be finite; one is nan"),
        ({"covariates": np.where(AGE == 30, np.inf, AGE)}, "covariates must be finite; one is inf"),
        ({"covariates": AGE.astype(str)}, "covariates must be numbers"),
        ({"covariates": AGE * 1e150}, "magnitudes of at most 1e.100.*column 0"),
        ({"covariates": AGE * 1e-150}, "not all below 1e-100.*column 0"),
        ({"covariates": np.ones(1000)}, "column 0 is a linear combination of the intercept"),
        ({"covariates": np.zeros(1000)}, "column 0 is a linear combination of the intercept"),
        ({"covariates": np.column_stack([AGE, GROUP, 3 * GROUP - AGE])}, "column 2 is a linear combination"),
        ({"covariates": np.column_stack([GROUP, 1 - GROUP])}, "column 1 is a linear combination"),
        ({"weights": GROUP}, "column 0 is a linear combination.*500 rows with a positive weight"),
        ({"weights": np.eye(1000)[0]}, "reports must be at least 3, the number of coefficients; 1 have"),
        ({"weights": np.zeros(1000)}, "weights must have a positive sum"),
        ({"weights": -AGE}, r"weights must be 0 or in \[1e-100, 1e\+100\]; one is -18"),
        ({"weights": np.where(AGE == 30, np.nan, AGE)}, "weights must be finite; one is nan"),
        ({"weights": AGE[:9]}, r"weights must have shape \(1000,\)"),
        ({"design": Design([[TOTAL // 2] * 2] * 2)}, "design must tell the two answers apart"),
        ({"design": Design([[TOTAL // 2, TOTAL // 4, TOTAL // 4]] * 2)}, r"design must have shape \(2, 2\)"),
        ({"confidence": 1.0}, r"confidence must be in the open interval \(0, 1\)"),
        ({"confidence": math.nan}, r"confidence must be in the open interval \(0, 1\)"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"reports": REPORTS, "covariates": BOTH, "design": DESIGN}
    with pytest.raises(ValueError, match=message):
        logistic_regression(**{**valid, **arguments})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_there_is_a_finite_answer_or_a_named_reason(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    columns = data.draw(st.integers(0, 2))
    values = st.one_of(
        st.integers(-3, 3).map(float), st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)
    )
    covariates = np.array(data.draw(st.lists(values, min_size=n * columns, max_size=n * columns)))
    reports = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    gamma = data.draw(st.floats(0.001, 0.499))
    weights = data.draw(st.none() | st.lists(st.floats(0.01, 100), min_size=n, max_size=n))
    fit, reason = None, ""
    try:
        fit = logistic_regression(reports, covariates.reshape(n, columns), coin_flip(gamma), weights)
    except ValueError as error:
        reason = str(error)
    if fit is None:
        assert any(known in reason for known in ("must have a maximum", "linear combination", "at least"))
        return
    for field in dataclasses.fields(fit):
        value = getattr(fit, field.name)
        if field.name not in ("odds_ratios", "odds_ratio_intervals", "likelihood_ratio", "likelihood_ratios"):
            assert np.isfinite(value).all(), field.name
    tests = [fit.likelihood_ratio, *fit.likelihood_ratios]
    assert all(test.statistic >= 0 and 0 <= test.p_value <= 1 for test in tests)
    assert (fit.standard_errors > 0).all()
    assert not np.isnan(fit.odds_ratio_intervals).any()
