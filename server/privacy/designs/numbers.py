"""A bounded number under a design: a row between the rows of its two ends."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import check_range, whole_number, whole_numbers
from server.privacy.designs.coins import reports_of
from server.privacy.designs.design import Design, require_design

STEPS_LIMIT = 1 << 20
"""Most steps from the lowest number to the highest: in the browser, a product of steps and weights stays exact."""


def weigh_between(design: Design, steps: int, of: int) -> NDArray[np.int64]:
    """The row of weights for a number that is steps/of of the way from the lowest to the highest.

    Rounding the number at random to one of the two ends, with the chance that keeps its mean, and
    randomising that under the design (Duchi et al. 2013) are together one row of weights,
    (1 - steps/of) times the first row plus steps/of times the second. One coin is enough for both.

    Parameters
    ----------
    design : Design
        Shape (k, m); its rows 0 and 1 are the lowest and the highest number. Further rows are
        answers that are no number ("prefer not to say").
    steps : int
        In [0, of].
    of : int
        In [1, 2**20].

    Returns
    -------
    ndarray of int64, shape (m,)
        Each weight is rounded down, and the last takes what is left, so that the row sums to
        2**32: within (m - 1) times 2**-32 of the exact mixture. Under a 2 x 2 design, and under
        k-ary response, every weight stays between the extremes of its column, so that no number
        loses more than the design's epsilon.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Duchi, J. C., Jordan, M. I. and Wainwright, M. J. (2013). Local privacy and statistical
    minimax rates. *FOCS*.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> (weigh_between(coin_flip(0.25), 1, 4) / 2**32).tolist()
    [0.625, 0.375]
    """
    whole_number("of", of, 1, STEPS_LIMIT)
    whole_number("steps", steps, 0, of)
    low, high = require_design(design).weights[:2]
    row: NDArray[np.int64] = low + (high - low) * steps // of
    row[-1] += low.sum() - row.sum()
    return row


def report_between(design: Design, steps: ArrayLike, of: int, coins: ArrayLike) -> NDArray[np.uint8]:
    """Reports sent by people with these numbers and coins: `Design.report` for rows from `between`.

    The Python twin of what `client/numbers.js` does for a number, held equal to it by
    `tests/vectors/numbers.json`.

    Parameters
    ----------
    design, of
        As in `between`.
    steps : array_like of int, shape (n,)
        Each person's number, in [0, of].
    coins : array_like of int, shape (n,)
        Uniform on {0, ..., 2**32 - 1}; see `draw_coins`.

    Returns
    -------
    ndarray of uint8, shape (n,)
        Column numbers of the design.

    Raises
    ------
    ValueError
        If a number or a coin is outside its range or the lengths differ.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> report_between(coin_flip(0.25), [0, 2, 4], 4, [1 << 31] * 3).tolist()
    [0, 1, 1]
    """
    whole_number("of", of, 1, STEPS_LIMIT)
    numbers = whole_numbers("steps", steps)
    check_range("steps", numbers, 0, of)
    # A survey holds few distinct numbers beside its respondents: one row for each of them.
    distinct, rows = np.unique(numbers, return_inverse=True)
    weights = np.array([weigh_between(design, int(step), of) for step in distinct], dtype=np.int64)
    if not distinct.size:
        weights = require_design(design).weights
    return reports_of(weights, rows.reshape(numbers.shape), coins)
