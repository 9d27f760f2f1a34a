"""Joint tables of several questions, from several independent parts.

References
----------
Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
*Statistics in Medicine* 27, 1693-1702.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability, whole_number
from server.privacy.designs import Design
from server.privacy.estimators.association import Association, associate
from server.privacy.estimators.checked_tallies import Tally, checked_joint_parts
from server.privacy.estimators.inverse import left_inverse, possible_reports, standard_errors
from server.privacy.estimators.joint import (
    JointEstimate,
    exact_limits,
    joint_of,
    list_alike,
    marginals_of,
    product_of,
    rounding_errors,
)
from server.privacy.estimators.limits import limits_of_means
from server.privacy.estimators.parts import part_weights
from server.privacy.estimators.pooled_shares import pooled_intervals
from server.privacy.estimators.together import compute
from server.privacy.estimators.weighted_limits import POOLED_INTERVALS, kind_by_size

_MOST_TOGETHER = 1 << 21
"""Numbers that limits are computed of at once."""


def estimate_pooled_joint(
    tallies: Sequence[Tally],
    designs: Sequence[Sequence[Design]],
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> JointEstimate:
    """Estimate the joint table of two or more questions from several independent parts.

    Parameters
    ----------
    tallies : sequence of mapping or of array_like of int
        Per part what `estimate_joint` takes; empty, or all 0, where a part has no reports.
    designs : sequence of sequences of Design
        Per part one design for each question. The questions have the same numbers of truths
        in every part.
    weights : array_like, shape (parts,), or None
        As in `estimate_pooled_shares`.
    confidence : float
        In (0, 1), of each interval by itself.
    interval : {"wilson", "exact", "by_size"}
        As in `estimate_pooled_shares`, for the cells; of several parts "wilson" adds the limits of the parts.

    Returns
    -------
    JointEstimate
        For a single part as `estimate_joint`, to the last digit; `n` is the total. The
        measures of association are those of the pooled table with its pooled covariance.

    Raises
    ------
    ValueError
        As `estimate_joint` and, about the weights, `estimate_pooled_shares`; or if there is not
        one list of designs per part, or they have different numbers of truths.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> tallies = [[[630, 370], [330, 270]], [[80, 20], [10, 20]]]
    >>> designs = [[coin_flip(0.25)] * 2, [coin_flip(0.4)] * 2]
    >>> joint = estimate_pooled_joint(tallies, designs)
    >>> joint.n, joint.table.round(4).tolist()
    (1730, [[0.6112, 0.1453], [0.0919, 0.1516]])
    """
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, POOLED_INTERVALS)
    reports, asked = checked_joint_parts(tallies, designs)
    sizes = [int(part.sum()) for part in reports]
    factors = part_weights(weights, sizes, "tallies").tolist()
    some = [each for each in zip(factors, reports, asked, strict=True) if each[0]]
    kind = kind_by_size(interval, min(int(part.sum()) for _, part, _ in some))
    if len(some) == 1:
        return replace(joint_of(*some[0][1:], confidence, kind), n=sum(sizes))
    stacks = [
        _JointStack.of([some[place] for place in own]) for own in list_alike([used for _, _, used in some])
    ]
    table = np.sum([stack.factors @ stack.tables for stack in stacks], axis=0).reshape(
        [design.weights.shape[0] for design in some[0][2]]
    )
    covariance = np.sum([stack.covariance for stack in stacks], axis=0)
    intervals = (
        exact_limits(some, confidence)
        if kind == "exact"
        else pooled_intervals(
            np.concatenate([stack.factors for stack in stacks]),
            np.concatenate([stack.tables for stack in stacks]),
            np.concatenate([stack.limits(confidence) for stack in stacks]),
        )
    )
    rounding = max(rounding_errors(part) for part in asked)
    return JointEstimate(
        n=sum(sizes),
        table=table,
        standard_errors=standard_errors(np.diag(covariance)).reshape(table.shape),
        intervals=intervals.reshape(*table.shape, 2),
        covariance=covariance,
        marginals=marginals_of(table),
        impossible=bool(table.min() < -rounding or table.max() > 1 + rounding),
        association=associate(table, covariance, confidence) if table.shape == (2, 2) else None,
        confidence=confidence,
        interval=kind,
    )


@dataclass(frozen=True, eq=False)
class _JointStack:
    """Parts under the same designs: hundreds of strata take the steps of one.

    Attributes
    ----------
    factors, sizes : ndarray, shape (parts,)
        What each counts, and its reports.
    seen : ndarray of int, shape (parts, m)
        Of each combination of reports that some truth can send.
    product : ndarray, shape (cells, m)
        What such a report adds to each cell.
    """

    factors: NDArray[np.float64]
    sizes: NDArray[np.float64]
    seen: NDArray[np.int64]
    product: NDArray[np.float64]

    @classmethod
    def of(cls, parts: Sequence[tuple[float, NDArray[np.int64], Sequence[Design]]]) -> "_JointStack":
        designs = parts[0][2]
        possible = [possible_reports(design) for design in designs]
        inverses = [left_inverse(design)[:, sent] for design, sent in zip(designs, possible, strict=True)]
        return cls(
            np.array([factor for factor, _, _ in parts]),
            np.array([float(part.sum()) for _, part, _ in parts]),
            np.stack([part[np.ix_(*possible)].ravel() for _, part, _ in parts]),
            product_of(inverses),
        )

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """Of each part, shape (parts, cells)."""
        return np.asarray(self.seen / self.sizes[:, None] @ self.product.T)

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Of what the parts add to the pooled cells; infinite where one has a single report."""
        if (self.sizes == 1).any():
            return np.full((len(self.product),) * 2, np.inf)
        masses = self.factors**2 / (self.sizes - 1)
        moments = (self.product * (masses / self.sizes @ self.seen)) @ self.product.T
        found = moments - (self.tables * masses[:, None]).T @ self.tables
        found[np.diag_indices(len(found))] = np.maximum(np.diag(found), 0)  # rounding
        return np.asarray(found)

    def limits(self, confidence: float) -> NDArray[np.float64]:
        """Those of each part, shape (parts, cells, 2)."""
        found, together = [], max(1, _MOST_TOGETHER // self.seen.size)
        for first in range(0, len(self.product), together):
            rows = list(self.product[first : first + together])
            own = compute(limits_of_means(rows, [self.seen] * len(rows), confidence, "wilson"))
            found.append(own.reshape(len(rows), len(self.factors), 2))
        return np.concatenate(found).transpose(1, 0, 2)


def association_of(joint: JointEstimate, first: int, second: int) -> Association:
    """How strongly one answer to a question goes together with one answer to another.

    Parameters
    ----------
    joint : JointEstimate
        Of two questions, of any numbers of answers.
    first : int
        A truth of the first question, in [0, k1 - 1].
    second : int
        A truth of the second question, in [0, k2 - 1].

    Returns
    -------
    Association
        Of "gave answer `first` to the first question" and "gave answer `second` to the second",
        each a yes or a no, at the confidence of `joint`. For two yes/no questions
        `association_of(joint, 1, 1)` is `joint.association`.

    Raises
    ------
    ValueError
        If `joint` is no joint estimate of two questions, or an answer is not in its range.

    Notes
    -----
    The table is added up to 2 x 2, a linear map, and its covariance is carried through.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, k_ary
    >>> from server.privacy.estimators import estimate_joint
    >>> joint = estimate_joint([[300, 150, 90], [100, 140, 220]], [coin_flip(0.4), k_ary(3, 3.0)])
    >>> round(association_of(joint, 1, 2).odds_ratio.value, 2)
    10.89
    """
    estimate: object = joint
    if not isinstance(estimate, JointEstimate):
        raise ValueError(f"joint must be a JointEstimate; it is {estimate!r}")
    if joint.table.ndim != 2:
        raise ValueError(f"joint must be of two questions; it is of {joint.table.ndim}")
    rows, columns = joint.table.shape
    row = whole_number("first", first, 0, rows - 1)
    column = whole_number("second", second, 0, columns - 1)
    yes = np.arange(rows) == row, np.arange(columns) == column
    indicators = [np.stack([~chosen, chosen]).astype(np.float64) for chosen in yes]
    table = indicators[0] @ joint.table @ indicators[1].T
    if not np.isfinite(joint.covariance).all():
        return associate(table, np.full((4, 4), np.inf), joint.confidence)
    collapse = np.kron(*indicators)
    return associate(table, collapse @ joint.covariance @ collapse.T, joint.confidence)
