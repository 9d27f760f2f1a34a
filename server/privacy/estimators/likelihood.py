"""Maximum likelihood inside the simplex: shares that are never negative, at the price of bias.

References
----------
Dempster, A. P., Laird, N. M. and Rubin, D. B. (1977). Maximum likelihood from incomplete
data via the EM algorithm. *JRSS B* 39, 1-38.
Wang, Y. (2007). On fast computation of the non-parametric maximum likelihood estimate of a
mixing distribution. *JRSS B* 69, 185-198.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, left_inverse, possible_reports

_MOST_STEPS = 1000


@dataclass(frozen=True)
class LikelihoodEstimate:
    """Maximum-likelihood shares of true answers.

    Attributes
    ----------
    n : int
        Number of reports.
    shares : ndarray, shape (k,)
        In [0, 1], summing to 1.
    log_likelihood : float
        Nats, without the multinomial coefficient.
    shortfall : float
        Nats: the log-likelihood is certified to be within this of its maximum.
    steps : int
        Steps of the algorithm; 0 when the unbiased estimate is the maximum.
    """

    n: int
    shares: NDArray[np.float64]
    log_likelihood: float
    shortfall: float
    steps: int


def maximum_likelihood(counts: ArrayLike, design: Design) -> LikelihoodEstimate:
    """Estimate the shares of true answers by maximum likelihood, inside [0, 1].

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Reports received.
    design : Design
        The k x m design that produced them.

    Returns
    -------
    LikelihoodEstimate

    Raises
    ------
    ValueError
        As `estimate_shares`.

    Notes
    -----
    With as many reports as truths and an unbiased estimate inside the simplex, that
    estimate is the maximum and is returned as it is. Otherwise EM starts from equal shares;
    each of its steps is followed by a Newton step constrained to the simplex, halved until
    the likelihood does not fall (Wang 2007), because EM alone needs thousands of steps
    where the design tells little. The likelihood is concave: n times the largest gradient of
    the mean log-likelihood, minus n, bounds what is left to gain. The algorithm stops when
    neither that bound nor the likelihood improves any more, and reports the bound.

    Shares at the edge of [0, 1] are biased inwards; the intervals of `estimate_shares` do
    not belong to them.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> maximum_likelihood([800, 200], coin_flip(0.25)).shares.tolist()
    [1.0, 0.0]
    >>> maximum_likelihood([600, 400], coin_flip(0.25)).shares.round(12).tolist()
    [0.7, 0.3]
    """
    inverse = left_inverse(design)
    reports = checked_reports(counts, design)
    possible = possible_reports(design)
    n = int(reports.sum())
    matrix, observed = design.matrix[:, possible], reports[possible] / n
    shares = inverse[:, possible] @ observed
    steps = 0
    if matrix.shape[0] < matrix.shape[1] or shares.min() < 0:
        shares, steps = _climb(matrix, observed)
    shares = shares / shares.sum()
    reported = shares @ matrix
    return LikelihoodEstimate(
        n=n,
        shares=shares,
        log_likelihood=n * float(scipy.special.xlogy(observed, reported).sum()),
        shortfall=n * max(0.0, float((matrix @ (observed / reported)).max()) - 1),
        steps=steps,
    )


def _climb(matrix: NDArray[np.float64], observed: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    shares = best = np.full(matrix.shape[0], 1 / matrix.shape[0])
    highest, smallest = -np.inf, np.inf
    for steps in range(_MOST_STEPS):
        reported = shares @ matrix
        gradient = matrix @ (observed / reported)
        likelihood, gap = float(scipy.special.xlogy(observed, reported).sum()), float(gradient.max()) - 1
        if gap < smallest:
            best = shares
        elif likelihood <= highest:
            return best, steps  # nothing left to gain that a float can hold
        highest, smallest = max(highest, likelihood), min(smallest, gap)
        shares = shares * gradient
        shares /= shares.sum()
        shares = _towards(_newton(matrix, observed, shares), shares, matrix, observed)
    return best, _MOST_STEPS


def _newton(
    matrix: NDArray[np.float64], observed: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The maximum over the simplex of the quadratic that fits the likelihood at these shares.

    Minimises |A s - b|^2 with A = sqrt(o) P / reported and b = 2 sqrt(o); for shares summing to
    1 that is a non-negative least-squares problem with one more row (Wang 2007, section 4).
    """
    roots = np.sqrt(observed)
    slopes = (roots / (shares @ matrix)) * matrix - 2 * roots
    system = np.vstack([slopes.T, np.ones(matrix.shape[0])])
    target = np.zeros(system.shape[0])
    target[-1] = 1
    try:
        solution = scipy.optimize.nnls(system, target)[0]
    except RuntimeError:  # it did not settle; EM alone goes on
        return shares
    return np.asarray(solution / solution.sum()) if solution.sum() > 0 else shares


def _towards(
    goal: NDArray[np.float64],
    shares: NDArray[np.float64],
    matrix: NDArray[np.float64],
    observed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The goal, or the first point halfway, a quarter of the way, ... whose likelihood is not lower.

    "Lower" by more than rounding: close to the maximum the likelihood is flat, and the last
    Newton steps improve the gradient alone.
    """
    here = float(scipy.special.xlogy(observed, shares @ matrix).sum())
    for _ in range(40):
        if float(scipy.special.xlogy(observed, goal @ matrix).sum()) >= here * (1 + 1e-15):  # it is negative
            return goal
        goal = (goal + shares) / 2
    return shares
