"""How many respondents show a difference, and with what chance so many show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.privacy.designs import Design, coin_flip
from server.privacy.planning import (
    power,
    power_two_samples,
    respondents_for_power,
    respondents_for_power_two_samples,
)

DEFAULT_POWER = 0.8
GAMMAS = tuple(place / 100 for place in range(5, 50, 2))
"""Coins that are set beside each other: 0.05, 0.07, ..., 0.49."""
POINTS = 40
"""Of the curve over respondents."""


@dataclass(frozen=True)
class ShareTest:
    """A test of a share of "yes" against a fixed share, or of two groups asked with the same coin.

    Attributes
    ----------
    share : float
        The true share, in [0, 1]; of group A where there are two.
    other : float
        The fixed share, or the true share of group B.
    groups : int
        1 or 2.
    ratio : int
        Respondents in group B for each one in group A; 1 where there is one group.
    alpha : float
        Chance of a false alarm, in (0, 1).
    sides : int
        1 or 2.
    """

    share: float
    other: float
    groups: int
    ratio: int = 1
    alpha: float = 0.05
    sides: int = 2

    def find_power(self, respondents: int, design: Design) -> float:
        """With so many respondents; in group A where there are two."""
        if self.groups == 1:
            return power(respondents, self.share, self.other, design, self.alpha, self.sides)
        sizes = respondents, self.ratio * respondents
        return power_two_samples(*sizes, self.share, self.other, design, self.alpha, self.sides)

    def find_respondents(self, wanted: float, design: Design) -> int:
        """The fewest with at least this power; in group A where there are two."""
        if self.groups == 1:
            return respondents_for_power(self.share, self.other, design, wanted, self.alpha, self.sides)
        return respondents_for_power_two_samples(
            self.share, self.other, design, wanted, self.alpha, self.sides, self.ratio
        )

    def count_all(self, respondents: int) -> int:
        """In both groups together, where there are two."""
        return respondents if self.groups == 1 else (1 + self.ratio) * respondents


@dataclass(frozen=True)
class PowerPlan:
    """What a test needs, and what so many respondents give.

    Attributes
    ----------
    test : ShareTest
        The shares, the groups, alpha and sides.
    design : Design
        Of the question, shape (2, 2).
    wanted : float
        The power wanted.
    respondents : int
        The fewest for it; in group A where there are two.
    planned : int or None
        Respondents asked for, in group A where there are two.
    reached : float or None
        Their power.
    over_respondents : sequence of (int, float)
        Respondents in group A, and their power.
    over_gamma : sequence of (float, int)
        Coins, each of which tells the truth with chance 1/2 + gamma, and the fewest respondents with each.
    """

    test: ShareTest
    design: Design
    wanted: float
    respondents: int
    planned: int | None
    reached: float | None
    over_respondents: Sequence[tuple[int, float]]
    over_gamma: Sequence[tuple[float, int]]

    def find_power(self, respondents: int) -> float:
        """With so many respondents; in group A where there are two."""
        return self.test.find_power(respondents, self.design)


def plan_power(
    test: ShareTest, design: Design, wanted: float = DEFAULT_POWER, planned: int | None = None
) -> PowerPlan:
    """The plan of a test under a yes/no design.

    Raises
    ------
    ValueError
        If a share, alpha, sides, the ratio, the power or the number planned is outside its range, if the two
        shares are equal, or if the design is not 2 x 2.
    """
    respondents = test.find_respondents(wanted, design)
    most = max(2 * respondents, planned or 0)
    sizes = sorted({max(1, -(-most * place // POINTS)) for place in range(1, POINTS + 1)})
    return PowerPlan(
        test,
        design,
        wanted,
        respondents,
        planned,
        None if planned is None else test.find_power(planned, design),
        [(size, test.find_power(size, design)) for size in sizes],
        [(gamma, test.find_respondents(wanted, coin_flip(gamma))) for gamma in GAMMAS],
    )
