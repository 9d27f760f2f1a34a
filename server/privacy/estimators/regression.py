"""Logistic regression of a true answer that is only seen through the coins of a design."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.designs import Design
from server.privacy.estimators.inverse import require_yes_no
from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.logit_likelihood import (
    evaluate_likelihood,
    maximise,
    shares,
    squared_scores,
    start,
)
from server.privacy.estimators.regression_data import Data, prepare


@dataclass(frozen=True)
class LikelihoodRatioTest:
    """Twice the log-likelihood lost by leaving something out, and how likely chance loses as much.

    Attributes
    ----------
    statistic : float
        Non-negative.
    degrees_of_freedom : int
        Number of coefficients left out.
    p_value : float
        Of the chi-squared distribution; 1.0 without degrees of freedom.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True)
class LogisticRegression:
    """A logistic model of the true answer. Arrays have the intercept first, then the p covariates.

    Attributes
    ----------
    n : int
        Number of reports with a positive weight.
    coefficients : ndarray, shape (p + 1,)
        Changes of the log odds of a true "yes" per unit of the covariate.
    standard_errors : ndarray, shape (p + 1,)
        From the Hessian of the log-likelihood (observed information).
    sandwich_standard_errors : ndarray, shape (p + 1,)
        Robust: they hold when the model is only an approximation, and for sampling weights.
    covariance, sandwich_covariance : ndarray, shape (p + 1, p + 1)
        The squares and products behind them.
    z, p_values : ndarray, shape (p + 1,)
        Coefficients over `standard_errors`, and the two-sided normal p values.
    intervals : ndarray, shape (p + 1, 2)
        Coefficients plus and minus a normal quantile times `standard_errors`.
    odds_ratios, odds_ratio_intervals : ndarray, shapes (p + 1,) and (p + 1, 2)
        Exponentials of coefficients and intervals; the first is the odds where all covariates are 0.
    log_likelihood, null_log_likelihood : float
        Of the reports, in nats; the null model has the intercept alone.
    likelihood_ratio : LikelihoodRatioTest
        All covariates at once, against the null model.
    likelihood_ratios : tuple of LikelihoodRatioTest, length p + 1
        Each coefficient by itself, against the model refitted without it.
    shares : ndarray, shape (2,)
        Mean predicted shares of true (no, yes) among the respondents, between 0 and 1.
    share_standard_errors : ndarray, shape (2,)
        By the delta method, for the population that the respondents are a sample of.
    iterations : int
        Newton steps taken.
    confidence : float
        Of each interval by itself.
    """

    n: int
    coefficients: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    sandwich_standard_errors: NDArray[np.float64]
    covariance: NDArray[np.float64]
    sandwich_covariance: NDArray[np.float64]
    z: NDArray[np.float64]
    p_values: NDArray[np.float64]
    intervals: NDArray[np.float64]
    odds_ratios: NDArray[np.float64]
    odds_ratio_intervals: NDArray[np.float64]
    log_likelihood: float
    null_log_likelihood: float
    likelihood_ratio: LikelihoodRatioTest
    likelihood_ratios: tuple[LikelihoodRatioTest, ...]
    shares: NDArray[np.float64]
    share_standard_errors: NDArray[np.float64]
    iterations: int
    confidence: float


def logistic_regression(
    reports: ArrayLike,
    covariates: ArrayLike,
    design: Design,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> LogisticRegression:
    """Regress the true answer to a yes/no question on what is known about the respondents.

    Parameters
    ----------
    reports : array_like of int, shape (n,)
        0 for a report of "no", 1 for "yes".
    covariates : array_like, shape (n, p) or (n,)
        Numbers, without a column of ones: the intercept is added. p may be 0.
    design : Design
        The 2 x 2 design that all reports passed through.
    weights : array_like, shape (n,), optional
        Non-negative. `standard_errors` and the tests take a weight as a number of equal
        respondents; `sandwich_standard_errors` do not, and are the ones to use with
        sampling weights. Rows of weight 0 are left out.
    confidence : float
        In (0, 1).

    Returns
    -------
    LogisticRegression

    Raises
    ------
    ValueError
        If reports are not 0 or 1, covariates not finite, lengths differ, a weight is
        negative, a column is a linear combination of the intercept and earlier ones, the
        design is not 2 x 2 or has equal rows, or if the likelihood rises without end as
        some coefficients go to infinity. The last happens by chance where the share of
        "yes" reports in some group is not between the design's two probabilities, that
        is, where an unclipped share would be outside (0, 1).

    Notes
    -----
    Pr(true yes) = 1 / (1 + exp(-z'b)) with z = (1, covariates), and the report is "yes"
    with probability P[1, 1] Pr(true yes) + P[0, 1] Pr(true no). The coefficients maximise
    the likelihood of the reports. It is bounded and not concave: in small samples it can
    have a second maximum, or be higher far out, where everybody is a certain "yes" or
    "no". The estimate is the maximum reached by Newton's method from the model without
    covariates, the same in every run. Statistics are 2 (log_likelihood - that of the
    smaller model), the latter at its supremum when it has no maximum.

    References
    ----------
    Maddala, G. S. (1983). *Limited-Dependent and Qualitative Variables in Econometrics*,
    section 2.11.
    van den Hout, A. and van der Heijden, P. G. M. (2002). Randomized response, statistical
    disclosure control and misclassification. *International Statistical Review* 70, 269-288.
    Blair, G., Imai, K. and Zhou, Y.-Y. (2015). Design and analysis of the randomized
    response technique. *JASA* 110, 1304-1319.
    Heck, D. W. and Moshagen, M. (2018). RRreg: an R package for correlation and regression
    analyses of randomized response data. *Journal of Statistical Software* 85(2).
    White, H. (1982). Maximum likelihood estimation of misspecified models. *Econometrica*
    50, 1-25.

    Examples
    --------
    Of 1,000 people in either of two groups, 300 and 400 report "yes": true shares of 0.1
    and 0.3, whose odds are 1/9 and 3/7.

    >>> from server.privacy.designs import coin_flip
    >>> reports = np.repeat([0, 1, 0, 1], [700, 300, 600, 400])
    >>> fit = logistic_regression(reports, np.repeat([0, 1], 1000), coin_flip(0.25))
    >>> fit.coefficients.round(4).tolist(), fit.odds_ratios.round(4).tolist()
    ([-2.1972, 1.3499], [0.1111, 3.8571])
    >>> fit.standard_errors.round(4).tolist(), round(fit.likelihood_ratio.statistic, 3)
    ([0.322, 0.3542], 22.035)
    """
    require_yes_no(design)
    confidence = probability("confidence", confidence, open_interval=True)
    data = prepare(reports, covariates, design, weights)
    low, high = design.matrix[:, 1].tolist()
    observed = float(data.weights @ data.reports) / data.total
    beginning = start(data, (observed - low) / (high - low))
    found = maximise(data, beginning)
    if found.flat is not None:
        raise ValueError(_no_maximum(data, found.flat))

    to_coefficients = scipy.linalg.solve_triangular(data.to_columns, np.eye(beginning.size))
    point = found.point
    coefficients = to_coefficients @ point.theta
    inverse = np.asarray(np.linalg.inv(point.information), dtype=np.float64)
    covariance = to_coefficients @ inverse @ to_coefficients.T
    sandwich = to_coefficients @ (inverse @ squared_scores(data, point.theta) @ inverse) @ to_coefficients.T
    errors = np.sqrt(np.diag(covariance))
    z = coefficients / errors
    half = normal_quantile(confidence) * errors
    intervals = np.stack([coefficients - half, coefficients + half], axis=1)
    null = data.total * _log_likelihood_of_share(observed, min(low, high), max(low, high))
    predicted = shares(data, point.theta)
    # Two independent parts: the coefficients are estimated, and the respondents' covariates are a sample.
    share_error = float(np.sqrt(predicted.gradient @ inverse @ predicted.gradient + predicted.variance))
    with np.errstate(over="ignore"):
        odds_ratios, odds_ratio_intervals = np.exp(coefficients), np.exp(intervals)
    return LogisticRegression(
        n=data.reports.size,
        coefficients=coefficients,
        standard_errors=errors,
        sandwich_standard_errors=np.sqrt(np.diag(sandwich)),
        covariance=covariance,
        sandwich_covariance=sandwich,
        z=z,
        p_values=2 * scipy.special.ndtr(-np.abs(z)),
        intervals=intervals,
        odds_ratios=odds_ratios,
        odds_ratio_intervals=odds_ratio_intervals,
        log_likelihood=point.log_likelihood,
        null_log_likelihood=null,
        likelihood_ratio=_likelihood_ratio(point.log_likelihood, null, coefficients.size - 1),
        likelihood_ratios=tuple(
            _likelihood_ratio(point.log_likelihood, _without(data, beginning, row), 1)
            for row in to_coefficients
        ),
        shares=np.array([1 - predicted.mean, predicted.mean]),
        share_standard_errors=np.array([share_error, share_error]),
        iterations=found.iterations,
        confidence=confidence,
    )


def _log_likelihood_of_share(observed: float, low: float, high: float) -> float:
    """Per report, at the share in [low, high] under which the observed share is likeliest."""
    share = min(max(observed, low), high)
    return float(scipy.special.xlogy(observed, share) + scipy.special.xlogy(1 - observed, 1 - share))


def _without(data: Data, beginning: NDArray[np.float64], row: NDArray[np.float64]) -> float:
    """The log-likelihood without the coefficient `row @ theta`."""
    normal = row / np.linalg.norm(row)
    if row.size == 1:
        return evaluate_likelihood(data, 0 * row).log_likelihood
    others = np.linalg.qr(normal[:, None], mode="complete")[0][:, 1:]
    within = beginning - normal * float(normal @ beginning)
    return maximise(data, within, others).point.log_likelihood


def _likelihood_ratio(larger: float, smaller: float, freedom: int) -> LikelihoodRatioTest:
    statistic = max(2 * (larger - smaller), 0.0)
    return LikelihoodRatioTest(
        statistic, freedom, float(scipy.special.chdtrc(freedom, statistic)) if freedom else 1.0
    )


def _no_maximum(data: Data, flat: NDArray[np.float64]) -> str:
    """Name the coefficient that does most along a direction of theta without end."""
    lengths = np.sqrt(np.sum(data.to_columns**2, axis=0))
    direction = scipy.linalg.solve_triangular(data.to_columns, flat)
    worst = int(np.argmax(np.abs(direction) * lengths))
    name = f"of covariates column {worst - 1}" if worst else "called intercept"
    return (
        f"the likelihood of the reports must have a maximum; it rises without end along the coefficient {name}: "
        'some group reports "yes" less or more often than any true share between 0 and 1 explains'
    )
