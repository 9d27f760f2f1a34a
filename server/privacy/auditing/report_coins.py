"""The chances of reports, counted from the reports themselves: every coin is accounted for."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy.designs import TOTAL, Design, draw_coins

_TRIED = 1000
"""Coins that are drawn to see that reports follow the counted chances."""


def coins_of_reports(
    report: Callable[[ArrayLike, ArrayLike], NDArray[np.uint8]], truths: int, reports: int
) -> NDArray[np.int64]:
    """How many of the 2**32 coins lead from each truth to each report.

    Parameters
    ----------
    report : callable
        `report(truths, coins)`, such as `Design.report`. A larger coin never gives a smaller report:
        so the first coin of each report is found by halving.
    truths, reports : int
        How many there are.

    Returns
    -------
    ndarray of int64, shape (truths, reports)

    Raises
    ------
    ValueError
        If reports to coins drawn at random are others than those counted.
    """
    rows = np.repeat(np.arange(truths), reports - 1)
    wanted = np.tile(np.arange(1, reports), truths)
    low, high = np.zeros(rows.size, dtype=np.int64), np.full(rows.size, TOTAL, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        reached = report(rows, np.minimum(middle, TOTAL - 1)) >= wanted
        high = np.where((low < high) & reached, middle, high)
        low = np.where((low < high) & ~reached, middle + 1, low)
    first = high.reshape(truths, reports - 1)
    for truth in range(truths):
        coins = draw_coins(_TRIED)
        if (report(np.full(_TRIED, truth), coins) != np.searchsorted(first[truth], coins, "right")).any():
            raise ValueError(f"report must grow with the coin; that of truth {truth} does not")
    ends = np.column_stack([np.zeros(truths, dtype=np.int64), first, np.full(truths, TOTAL)])
    return np.diff(ends, axis=1)


def coins_of(design: Design) -> NDArray[np.int64]:
    """How many coins lead from each truth to each report of a design."""
    return coins_of_reports(design.report, *design.weights.shape)
