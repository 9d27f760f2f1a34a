"""How many respondents show a difference or a trend, and with what chance so many show it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from server.privacy.designs import Design, coin_flip, split_answer
from server.privacy.planning import Comparison, compare_groups, compare_means
from server.study.definitions import Question
from server.study.kinds.designing import DEVICES, Choice

DEFAULT_POWER = 0.8
GAMMAS = tuple(place / 100 for place in range(5, 50, 2))
"""Coins that are set beside each other: 0.05, 0.07, ..., 0.49."""
_MOST_NEEDED = 10**12
POINTS = 40
"""Of the curve over respondents."""

Value = float | tuple[float, ...]
"""A true share, or a mean in parts of its range; where answers have chances of their own, the shares of all of them."""


@dataclass(frozen=True)
class PowerTest:
    """A test of one group against a fixed value, of two groups, or of a trend over more.

    Attributes
    ----------
    values : tuple of Value
        Of each group or wave.
    null : float or None
        Of one group, the fixed value; of more, the share that all have under the null hypothesis, if it is stated.
    sizes : tuple of int
        Respondents in each group for each one in the first, which has 1.
    alpha : float
        Chance of a false alarm, in (0, 1).
    sides : int
        1 or 2.
    second : Design or None
        Of the groups behind the first, if they are asked in another way.
    answer : int or None
        Where values are the shares of all answers: the place of the one that is tested; without it, the mean is.
    """

    values: tuple[Value, ...]
    null: float | None = None
    sizes: tuple[int, ...] = (1,)
    alpha: float = 0.05
    sides: int = 2
    second: Design | None = None
    answer: int | None = None

    @property
    def groups(self) -> int:
        """How many."""
        return len(self.values)

    def compare(self, design: Design) -> Comparison:
        """The test, where the first group (and all others, without a second design) are asked under this one."""
        designs = [design, *[self.second or design] * (self.groups - 1)]
        rest = (designs, self.sizes, self.null, self.alpha, self.sides)
        shares = [value for value in self.values if not isinstance(value, tuple)]
        if shares:
            return compare_groups(shares, *rest)
        return compare_means([value for value in self.values if isinstance(value, tuple)], *rest, self.answer)

    def count_all(self, respondents: int) -> int:
        """In all groups together."""
        return sum(self.sizes) * respondents


@dataclass(frozen=True)
class PowerPlan:
    """What a test needs, and what so many respondents give.

    Attributes
    ----------
    test : PowerTest
        The values, the groups, alpha and sides.
    comparison : Comparison
        The test under the design that was asked for.
    target : float
        The power wanted.
    respondents : int
        The fewest for it; in the first group where there are more.
    planned : int or None
        Respondents asked for, in the first group where there are more.
    reached : float or None
        Their power.
    over_respondents : sequence of (int, float)
        Respondents in the first group, and their power.
    over_gamma : sequence of (float, int)
        Coins, each of which tells the truth with chance 1/2 + gamma, and the fewest respondents with each, or with
        a question of the same privacy loss.
    """

    test: PowerTest
    comparison: Comparison
    target: float
    respondents: int
    planned: int | None
    reached: float | None
    over_respondents: Sequence[tuple[int, float]]
    over_gamma: Sequence[tuple[float, int]]

    def find_power(self, respondents: int) -> float:
        """With so many respondents; in the first group where there are more."""
        return self.comparison.power(respondents)


def plan_power(
    test: PowerTest,
    design: Design,
    target: float = DEFAULT_POWER,
    planned: int | None = None,
    make_design: Callable[[float], Design] = coin_flip,
) -> PowerPlan:
    """The plan of a test under a design; `make_design` gives that of the first group for each coin's gamma.

    Raises
    ------
    ValueError
        If a value, alpha, sides, a size, the power or the number planned is outside its range, if nothing
        differs, or so little that nobody could show it, or if the design is of another shape than the values.
    """
    comparison = test.compare(design)
    if comparison.squared == 0:
        raise ValueError("true values must differ from the null hypothesis; they do not")
    respondents = comparison.respondents(target)
    if respondents > _MOST_NEEDED:
        raise ValueError(
            f"true values must differ more from the null hypothesis; it takes more than {_MOST_NEEDED:,} respondents"
        )
    most = max(2 * respondents, planned or 0)
    sizes = sorted({max(1, -(-most * place // POINTS)) for place in range(1, POINTS + 1)})
    return PowerPlan(
        test,
        comparison,
        target,
        respondents,
        planned,
        None if planned is None else comparison.power(planned),
        [(size, comparison.power(size)) for size in sizes],
        [(gamma, test.compare(make_design(gamma)).respondents(target)) for gamma in GAMMAS],
    )


def tested_design(question: Question) -> Design:
    """The design under which one of a question's answers, or its mean, is tested.

    Where chance treats the answers alike, whether one arrived is a report of whether it was given.
    """
    (design, *_) = question.designs
    if len(design.weights) > 2 and not question.encoding.between_ends and design.treats_options_alike():
        return split_answer(design)
    return design


def vary_strength(question: Question) -> Callable[[float], Design]:
    """The question's design with the privacy loss of a coin of each strength; that of a device has a coin's."""
    if question.choice.mechanism in (*DEVICES, "coin_flip"):
        return coin_flip
    return partial(_strengthen, question)


def _strengthen(question: Question, gamma: float) -> Design:
    choice = Choice(question.choice.mechanism, (("epsilon", coin_flip(gamma).epsilon),))
    return tested_design(replace(question, choice=choice))
