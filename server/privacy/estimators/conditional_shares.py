"""How many of those who gave one answer gave another one too, and how many of those who did not.

Both are ratios of two sums over the joint reports of two questions. An interval holds the shares r in [0, 1] for
which the interval of sum((both - r * first) * report), which is 0 but for chance at the true one, contains 0. So it
is as good as the limits that are inverted (`weighted_limits`), however small the group is; the delta method is not.

References
----------
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
Kish, L. (1992). Weighting for unequal Pi. *Journal of Official Statistics* 8, 183-200.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability, whole_number
from server.privacy.designs import Design
from server.privacy.estimators.checked_tallies import Tally, checked_joint_parts
from server.privacy.estimators.exact_ratios import SingleRatio
from server.privacy.estimators.inverse import left_inverse, possible_reports
from server.privacy.estimators.joint import list_alike
from server.privacy.estimators.limits import split_error
from server.privacy.estimators.parts import Mixture, part_weights
from server.privacy.estimators.together import Steps, compute, find_root
from server.privacy.estimators.weighted_limits import SMALL, limits_of_sums

Row = NDArray[np.float64]
Interval = tuple[float, float]

_STEPS = 50


@dataclass(frozen=True)
class ConditionalShare:
    """The share of an answer among the people of a group.

    Attributes
    ----------
    people : float
        The share of the group among all, unbiased and unclipped.
    value : float or None
        Unclipped; None where the group is estimated to be nobody.
    interval : tuple of float
        Within [0, 1]; all of it where the reports do not show that the group is anybody.
    kind : str
        Of the interval: "wilson" or "exact".
    """

    people: float
    value: float | None
    interval: Interval
    kind: str

    @property
    def possible(self) -> float | None:
        """The value where a share can be, in [0, 1]; what lies elsewhere says nothing of one."""
        return self.value if self.value is not None and 0 <= self.value <= 1 else None


@dataclass(frozen=True)
class GroupComparison:
    """An answer among those who gave another one, and among all others.

    Attributes
    ----------
    gave, others : ConditionalShare
        Their intervals hold together at `confidence`.
    confidence : float
    """

    gave: ConditionalShare
    others: ConditionalShare
    confidence: float

    @property
    def difference_limits(self) -> Interval:
        """Of the difference, where both intervals hold."""
        (low, high), (least, most) = self.gave.interval, self.others.interval
        return low - most, high - least

    @property
    def odds_ratio(self) -> Interval:
        """Of the odds of the answer in the first group over those in the second, where both intervals hold."""
        (low, high), (least, most) = (
            (_odds(ends[0]), _odds(ends[1])) for ends in (self.gave.interval, self.others.interval)
        )
        # Where both groups may be all or nobody the ratio may be anything.
        smallest = 0.0 if not low or math.isinf(most) else low / most if most else math.inf
        largest = math.inf if not least or math.isinf(high) else high / least
        return smallest, largest


def compare_conditional_shares(
    tallies: Sequence[Tally],
    designs: Sequence[Sequence[Design]],
    first: int,
    second: int,
    confidence: float = 0.95,
    within: int | None = None,
    weights: ArrayLike | None = None,
) -> GroupComparison:
    """The share of answer `second` to a question among those who gave `first` to another, and among the others.

    Parameters
    ----------
    tallies : sequence of array_like of int
        Of each part the table of reports to the two questions, or to three, as in `estimate_pooled_joint`.
    designs : sequence of sequences of Design
        Of each part one for each question.
    first, second : int
        A truth of the first question, and one of the second.
    confidence : float
        In (0, 1), of both intervals together: each has half of the error (Bonferroni).
    within : int, optional
        A truth of the third question: both groups are of those who gave it.
    weights : array_like, shape (parts,), or None
        As in `estimate_pooled_joint`; None: every report counts the same.

    Returns
    -------
    GroupComparison

    Raises
    ------
    ValueError
        As `estimate_pooled_joint`, also about the weights; or if there are not two questions, or three with `within`,
        or an answer is not in its range.

    Notes
    -----
    The intervals are guaranteed whatever the true table is ("exact", by Chernoff's bound) where some part has
    fewer than 100 reports, or fewer than 100 people are estimated in the smaller of the two groups, of as many as
    would say as much if all counted the same (Kish 1992); elsewhere they invert the score test ("wilson").

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> found = compare_conditional_shares([[[6300, 3700], [3300, 2700]]], [[coin_flip(0.25)] * 2], 1, 1)
    >>> round(found.gave.value, 3), [round(end, 3) for end in found.gave.interval]
    (0.6, [0.529, 0.673])
    >>> round(found.others.value, 3), [round(end, 3) for end in found.others.interval]
    (0.2, [0.172, 0.228])
    """
    reports, asked = checked_joint_parts(tallies, designs)
    wanted = [("first", first), ("second", second), *([] if within is None else [("within", within)])]
    if len(asked[0]) != len(wanted):
        number = "two" if within is None else "three"
        raise ValueError(f"designs must be of {number} questions; they are of {len(asked[0])}")
    shape = [design.weights.shape[0] for design in asked[0]]
    row, column, *rest = (
        whole_number(name, answer, 0, truths - 1)
        for (name, answer), truths in zip(wanted, shape, strict=True)
    )
    confidence = probability("confidence", confidence, open_interval=True)
    sizes = [int(part.sum()) for part in reports]
    factors = part_weights(weights, sizes, "tallies").tolist()
    some = [each for each in zip(factors, reports, asked, strict=True) if each[0]]
    alike = list_alike([used for _factor, _part, used in some])
    groups = [
        [_GroupPart.of([some[place] for place in own], (row, column, *rest), gave) for own in alike]
        for gave in (True, False)
    ]
    n = sum(sizes)
    if weights is not None:
        n = 1 / sum(factor**2 / int(part.sum()) for factor, part, _used in some)
    smallest = min(n * _sum(parts, "people") for parts in groups)
    fewest = min([smallest, *(float(part.sum()) for _factor, part, _used in some)])
    kind = "exact" if fewest < SMALL else "wilson"
    by_itself = split_error(confidence, 2)
    gave, others = (compute(_share_of(parts, by_itself, kind)) for parts in groups)
    return GroupComparison(gave, others, confidence)


@dataclass(frozen=True, eq=False)
class _GroupPart:
    """Parts under the same designs, of which those are looked at who gave an answer, or who did not.

    Reports that add the same are one.

    Attributes
    ----------
    part : Mixture
    both, people : ndarray, shape (m,)
        What each report adds to those of the group with the other answer, and to the group.
    """

    part: Mixture
    both: Row
    people: Row

    @classmethod
    def of(
        cls,
        parts: Sequence[tuple[float, NDArray[np.int64], Sequence[Design]]],
        answers: tuple[int, ...],
        inside: bool,
    ) -> "_GroupPart":
        """Of all reports of parts, with what each counts; a third answer is that of all who count."""
        row, column, *rest = answers
        designs = parts[0][2]
        possible = [possible_reports(design) for design in designs]
        chances = [design.matrix[:, sent] for design, sent in zip(designs, possible, strict=True)]
        inverses = [left_inverse(design)[:, sent] for design, sent in zip(designs, possible, strict=True)]
        of_row = inverses[0][row] if inside else np.delete(inverses[0], row, axis=0).sum(axis=0)
        others = [inverse[answer] for inverse, answer in zip(inverses[2:], rest, strict=True)]
        both = _cross([of_row, inverses[1][column], *others])
        people = _cross([of_row, inverses[1].sum(axis=0), *others])
        scale = max(float(np.abs(both).max()), float(np.abs(people).max()))
        # What adds the same but for rounding is one report: of k answers that are treated alike four are left.
        _, chosen, group = np.unique(
            np.round(np.stack([both, people]) / scale, 12), axis=1, return_index=True, return_inverse=True
        )
        seen = [
            np.bincount(group.ravel(), reports[np.ix_(*possible)].ravel(), len(chosen)).astype(np.int64)
            for _factor, reports, _designs in parts
        ]
        sums = np.zeros((both.size, len(chosen)))
        sums[np.arange(both.size), group.ravel()] = 1
        matrix = np.unique(np.round(_cross(chances) @ sums, 15), axis=0)
        part = Mixture(np.stack(seen), np.array([factor for factor, _reports, _designs in parts]), matrix)
        return cls(part, both[chosen], people[chosen])

    def away(self, share: float) -> Row:
        """What each report adds to how far the share is from this one."""
        return self.both - share * self.people


def _sum(parts: Sequence[_GroupPart], what: str) -> float:
    return sum(float(each.part.weights @ (each.part.observed @ getattr(each, what))) for each in parts)


def _share_of(parts: Sequence[_GroupPart], confidence: float, kind: str) -> Steps[ConditionalShare]:
    people, both = _sum(parts, "people"), _sum(parts, "both")
    value = both / people if people > 1e-12 else None
    if kind == "exact" and len(parts) == 1 and len(parts[0].part.weights) == 1:
        found = yield SingleRatio(parts[0].part, parts[0].both, parts[0].people, confidence)
        low, high = found.tolist()
    else:
        low, high = yield from _accepted_shares(parts, 0.0 if value is None else value, confidence, kind)
    return ConditionalShare(people, value, (low, high), kind)


def _accepted_shares(
    parts: Sequence[_GroupPart], value: float, confidence: float, kind: str
) -> Steps[Interval]:
    """The outermost shares that are not refuted; all of them where none is left."""
    stacks = [each.part for each in parts]

    def inside(shares: Sequence[float]) -> Steps[list[float]]:
        """How far 0 is inside the limits at each share; negative outside."""
        sums = [[each.away(share) for each in parts] for share in shares]
        limits = yield from limits_of_sums(stacks, sums, confidence, kind)
        return [min(-low, high) for low, high in limits]

    def alone(share: float) -> Steps[float]:
        found = yield from inside([share])
        return found[0]

    # The estimate is accepted wherever it is possible, however narrow the interval is.
    shares = sorted({*(place / _STEPS for place in range(_STEPS + 1)), min(max(value, 0.0), 1.0)})
    found = yield from inside(shares)
    accepted = [place for place, distance in enumerate(found) if distance >= 0]
    if not accepted:
        return 0.0, 1.0
    first, last = accepted[0], accepted[-1]
    low, high = shares[first], shares[last]
    if first:
        low = yield from find_root(alone, shares[first - 1], low, (found[first - 1], found[first]))
    if last + 1 < len(shares):
        high = yield from find_root(alone, high, shares[last + 1], (found[last], found[last + 1]))
    return low, high


def _cross(factors: Sequence[Row]) -> Row:
    """Their Kronecker product."""
    product = factors[0]
    for factor in factors[1:]:
        product = np.asarray(np.kron(product, factor), dtype=np.float64)
    return product


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf
