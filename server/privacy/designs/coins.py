"""Coins, and the reports they turn truths into."""

import os

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import check_range, whole_number, whole_numbers

TOTAL = 1 << 32
"""What every row of a design sums to: the number of values of one coin."""

REPORTS_LIMIT = 256
"""A report is one byte of a response."""


def draw_coins(n: int) -> NDArray[np.uint32]:
    """Draw n coins, at most 2**28, uniform on {0, ..., 2**32 - 1}, from the operating system's generator."""
    return np.frombuffer(os.urandom(4 * whole_number("n", n, 0, 1 << 28)), dtype=np.uint32)


def reports_of(weights: NDArray[np.int64], truths: ArrayLike, coins: ArrayLike) -> NDArray[np.uint8]:
    """Reports under checked weights; `Design.report` says what the arguments are."""
    if weights.shape[1] > REPORTS_LIMIT:
        raise ValueError(
            f"a report is one byte: the design must have at most {REPORTS_LIMIT} reports; "
            f"it has {weights.shape[1]}"
        )
    rows, draws = _vector("truths", truths), _vector("coins", coins)
    if rows.shape != draws.shape or rows.ndim != 1:
        raise ValueError(
            f"truths and coins must be two vectors of one length; they are {rows.shape} and {draws.shape}"
        )
    _check("truths", rows, weights.shape[0] - 1)
    if draws.dtype != np.uint32:  # what `draw_coins` returns cannot be out of range
        _check("coins", draws, TOTAL - 1)
        draws = draws.astype(np.uint32)
    thresholds = weights.cumsum(axis=1)[:, :-1]
    # A threshold of 2**32 is never reached by a coin, and does not fit 32 bits. It stands before
    # reports that nobody sends, and these are the same for every truth.
    thresholds = thresholds[:, thresholds[0] < TOTAL].astype(np.uint32)
    if thresholds.shape == (2, 1):
        # Two comparisons with a constant and a choice by bits take a tenth of the time of looking up a
        # threshold for each person.
        if_no, if_yes = draws >= thresholds[0, 0], draws >= thresholds[1, 0]
        reports: NDArray[np.uint8] = (if_no ^ ((if_no ^ if_yes) & rows.astype(np.bool_))).view(np.uint8)
        return reports
    rows = rows.astype(np.intp)
    reports = np.zeros(rows.shape, dtype=np.uint8)
    for column in thresholds.T:
        reports += column[rows] <= draws
    return reports


def _vector(name: str, values: ArrayLike) -> NDArray[np.integer]:
    """Whole numbers; an array of integers is taken as it is, because copying a million costs time."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values
    return whole_numbers(name, values)


def _check(name: str, values: NDArray[np.integer], high: int) -> None:
    # The two ends are found several times faster than every entry outside, which only a message needs.
    if values.size and (int(values.min()) < 0 or int(values.max()) > high):
        check_range(name, whole_numbers(name, values), 0, high)
