"""The linear algebra of a design: checked counts in, unbiased shares out."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import stacked_counts
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
    return np.asarray(checked_tallies([counts], designs, [name], empty=empty)[0])


def checked_tallies(
    counts: Sequence[ArrayLike] | NDArray[Any],
    designs: tuple[Design, ...],
    names: Sequence[str],
    *,
    empty: bool = False,
) -> NDArray[np.int64]:
    """As `checked_tally`, of several parts under the same designs, one name each; shape (parts, m1, m2, ...)."""
    reports = stacked_counts(names, counts, tuple(design.weights.shape[1] for design in designs), empty=empty)
    cells = tuple(range(1, reports.ndim))
    # A sum of huge counts can wrap round; as floats they cannot.
    rough = reports.sum(axis=cells, dtype=np.float64) > 2 * MOST_REPORTS
    many = rough | (reports.sum(axis=cells) > MOST_REPORTS)
    if many.any():
        place = int(many.argmax())
        total = sum(reports[place].ravel().tolist())
        raise ValueError(f"{names[place]} must have a sum in [1, 2**53]; it is {total}")
    for axis, design in zip(cells, designs, strict=True):
        possible = possible_reports(design)
        if possible.all():
            continue
        seen = reports.sum(axis=tuple(other for other in cells if other != axis))
        undeclared = (seen > 0) & ~possible
        if undeclared.any():
            place = int(undeclared.any(axis=1).argmax())
            report = int(undeclared[place].argmax())
            raise ValueError(
                f"{names[place]} must be 0 for reports that no truth can send; report {report} has "
                f"{int(seen[place, report])}"
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


def covariances(
    inverse: NDArray[np.float64], observed: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The unbiased covariance of `inverse @ observed` of each part, infinite where its size is 1.

    Parameters
    ----------
    inverse : ndarray, shape (k, m)
    observed : ndarray, shape (parts, m)
        Shares of the reports.
    sizes : ndarray of int, shape (parts,)
        Positive.

    Returns
    -------
    ndarray, shape (parts, k, k)
    """
    centred = inverse - (observed @ inverse.T)[:, :, None]
    spread = (centred * observed[:, None, :]) @ centred.transpose(0, 2, 1)
    sizes = sizes[:, None, None]
    return np.where(sizes == 1, np.inf, spread / np.maximum(sizes - 1, 1))


def standard_errors(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Roots of estimated variances of shares; infinite for 0, which is all that reports that are alike could give.

    A share that rests on one report of many would vary by 1 / n^2: what is less is a rounding error.
    """
    return np.asarray(np.where(variances > 1e-24, np.sqrt(variances), np.inf))
