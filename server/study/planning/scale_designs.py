"""Which design of an ordered scale serves what is asked: the share of each level, or the average alone."""

from dataclasses import dataclass

from server.privacy.designs import k_ary, ordinal
from server.study.planning.plans import DEFAULT_MARGIN
from server.study.planning.targets import target


@dataclass(frozen=True)
class ScaleNeeds:
    """Respondents that a scale takes under one draw over all levels, and where near levels are likelier.

    Each for the share of each level and for the average, at the same loss and the same margin: points of
    100 for a share, of the whole range for an average.
    """

    levels: int
    epsilon: float
    margin: float
    one_draw_shares: int
    one_draw_mean: int
    near_shares: int
    near_mean: int

    @property
    def one_draw_serves_both(self) -> bool:
        """Whether it also takes the fewest for the average."""
        return self.one_draw_mean <= self.near_mean


def compare_scale_designs(levels: int, epsilon: float, margin: float = DEFAULT_MARGIN) -> ScaleNeeds:
    """What both designs of a scale take.

    Raises
    ------
    ValueError
        If there are fewer than 2 levels, epsilon is not positive and finite or too small for 32-bit coins,
        or the margin is not in (0, 1).
    """
    found = [
        target(what, design, None, margin).respondents
        for design in (k_ary(levels, epsilon), ordinal(levels, epsilon))
        for what in ("shares", "mean")
    ]
    return ScaleNeeds(levels, epsilon, margin, *found)
