"""The linear algebra of a design: checked counts in, unbiased shares out."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import counts as checked_counts
from server.privacy.designs.design import Design, require_design

MOST_REPORTS = 1 << 53
"""Counts up to here are exact as floats."""


def checked_reports(
    counts: ArrayLike, design: Design, name: str = "counts", *, empty: bool = False
) -> NDArray[np.int64]:
    """Counts of the reports of a design, shape (m,); `empty` allows those of no report at all.

    Raises
    ------
    ValueError
        If they are not m non-negative whole numbers with a sum in [1, 2**53], or if a
        report was counted that no truth can send.
    """
    return checked_tally(counts, (design,), name, empty=empty)


def checked_tally(
    counts: ArrayLike, designs: tuple[Design, ...], name: str, *, empty: bool = False
) -> NDArray[np.int64]:
    """Counts of the joint reports of several designs, shape (m1, m2, ...); raises as `checked_reports`."""
    reports = checked_counts(name, counts, tuple(design.weights.shape[1] for design in designs), empty=empty)
    if sum(reports.ravel().tolist()) > MOST_REPORTS:
        raise ValueError(f"{name} must have a sum in [1, 2**53]; it is {sum(reports.ravel().tolist())}")
    for axis, design in enumerate(designs):
        others = tuple(other for other in range(reports.ndim) if other != axis)
        undeclared = (reports.sum(axis=others) > 0) & ~possible_reports(design)
        if undeclared.any():
            raise ValueError(
                f"{name} must be 0 for reports that no truth can send; report {int(undeclared.argmax())} has "
                f"{int(reports.sum(axis=others)[undeclared.argmax()])}"
            )
    return reports


def possible_reports(design: Design) -> NDArray[np.bool_]:
    """Which reports some truth can send, shape (m,)."""
    return np.asarray(design.weights.sum(axis=0) > 0)


def require_yes_no(design: Design, name: str = "design") -> None:
    """Refuse a design that is not 2 x 2 or whose two rows are equal."""
    if require_design(design, name).weights.shape != (2, 2):
        raise ValueError(f"{name} must have shape (2, 2); it has {design.weights.shape}")
    if design.weights[0, 1] == design.weights[1, 1]:
        raise ValueError(f"{name} must tell the two answers apart; its rows are equal")


def left_inverse(design: Design, name: str = "design") -> NDArray[np.float64]:
    """The estimator as a matrix: `left_inverse(design) @ observed` are the unbiased shares.

    With as many reports as truths it is the inverse of P^T. With more reports it is the
    weighted least-squares solution whose weights are the multinomial covariance of the
    reports *when every truth is equally frequent*. Weights taken from the observed counts
    would make the estimator non-linear, and so biased, and the margins of a joint table
    would no longer equal the separate estimates; `maximum_likelihood` is the efficient
    estimator for such designs.

    Parameters
    ----------
    design : Design
        Shape (k, m) with m >= k.
    name : str
        What the caller calls it.

    Returns
    -------
    ndarray, shape (k, m)
        Its columns sum to 1, those of impossible reports are 0; read-only.

    Raises
    ------
    ValueError
        If the design is singular, that is, two mixtures of truths give the same reports.
    """
    truths = len(require_design(design, name).weights)
    if design.weights.shape == (2, 2):
        require_yes_no(design, name)  # in whole numbers: a tiny difference is still one
    elif _rank(design) < truths:
        raise ValueError(
            f"{name} must tell its {truths} truths apart (be of rank {truths}); its rank is {_rank(design)}"
        )
    return _inverse(design)


# A page of results asks for the same few designs hundreds of times.
@lru_cache(maxsize=256)
def _rank(design: Design) -> int:
    return int(np.linalg.matrix_rank(design.matrix[:, possible_reports(design)]))


@lru_cache(maxsize=256)
def _inverse(design: Design) -> NDArray[np.float64]:
    possible = possible_reports(design)
    used = design.matrix[:, possible]
    inverse = np.zeros(design.weights.shape)
    if used.shape[1] == len(used):
        inverse[:, possible] = np.linalg.inv(used.T)
    else:
        roots = np.sqrt(used.mean(axis=0))
        inverse[:, possible] = np.linalg.pinv((used / roots).T) / roots
    inverse.flags.writeable = False
    return inverse


def covariance(inverse: NDArray[np.float64], observed: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The unbiased covariance of `inverse @ observed`, infinite when n is 1."""
    if n == 1:
        return np.full((inverse.shape[0],) * 2, np.inf)
    centred = inverse - (inverse @ observed)[:, None]
    return np.asarray((centred * observed) @ centred.T / (n - 1))


def standard_errors(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Roots of estimated variances of shares; infinite for 0, which is all that reports that are alike could give.

    A share that rests on one report of many would vary by 1 / n^2: what is less is a rounding error.
    """
    return np.asarray(np.where(variances > 1e-24, np.sqrt(variances), np.inf))
