"""Designs some of whose reports exclude a truth: others collect with them, we estimate from them and collect with none.

Whoever has something to hide always says "yes", so that a "no" is certainly the truth: its privacy loss is infinite,
and a `Design` is refused. What follows from counts of reports is the same mathematics.

References
----------
Mangat, N. S. (1994). An improved randomized response strategy. *JRSS B* 56, 93-95.
Yu, J.-W., Tian, G.-L. and Tang, M.-L. (2008). Two new models for survey sampling with sensitive characteristic:
design and analysis. *Metrika* 67, 251-263.
"""

import math
from functools import cached_property

from numpy.typing import ArrayLike

from server.privacy._checks import probability
from server.privacy.designs.design import Design, check_rows
from server.privacy.designs.matrices import weigh_rows


class OneSidedDesign(Design):
    """A design that may exclude a truth: to estimate from, never to collect with.

    Parameters
    ----------
    weights : array_like of int, shape (k, m)
        As of a `Design`, but for a report that is possible for one truth and impossible for another.
    """

    def __init__(self, weights: ArrayLike) -> None:
        object.__setattr__(self, "weights", check_rows(weights))

    @cached_property
    def epsilon(self) -> float:
        """Infinite where some report excludes a truth."""
        mixed = (self.weights == 0).any(axis=0) & (self.weights > 0).any(axis=0)
        return math.inf if mixed.any() else Design(self.weights).epsilon


def one_sided(matrix: ArrayLike) -> OneSidedDesign:
    """A design from any matrix of probabilities, as `custom`; a chance of 0 may stand anywhere.

    Examples
    --------
    >>> one_sided([[0.5, 0.5], [0, 1]]).epsilon
    inf
    """
    return OneSidedDesign(weigh_rows(matrix))


def mangat(truth: float) -> OneSidedDesign:
    """Yes is always said; who has nothing to hide answers truly with chance `truth`, else says yes (Mangat 1994)."""
    return _always_yes(1 - probability("truth", truth, open_interval=True))


def triangular(prevalence: float) -> OneSidedDesign:
    """One answer for yes and for a harmless yes, which has this prevalence (Yu, Tian and Tang 2008)."""
    return _always_yes(probability("prevalence", prevalence, open_interval=True))


def forced_yes(yes: float) -> OneSidedDesign:
    """A chance of `yes` makes everybody say yes; all others answer truly."""
    return _always_yes(probability("yes", yes, open_interval=True))


def _always_yes(if_no: float) -> OneSidedDesign:
    return one_sided([[1 - if_no, if_no], [0.0, 1.0]])
