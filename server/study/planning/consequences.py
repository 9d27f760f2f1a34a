"""What a setting of the slider means for each yes/no question."""

from dataclasses import dataclass

from server.privacy.designs import Design, coin_flip
from server.study.planning.plans import DEFAULT_MARGIN
from server.study.planning.targets import Target, target


@dataclass(frozen=True)
class Consequences:
    """One coin flip, and what intervals of a chosen margin take."""

    gamma: float
    design: Design
    target: Target


def consequences(gamma: float, margin: float = DEFAULT_MARGIN) -> Consequences:
    """The consequences of a coin flip for intervals of ± `margin`.

    Raises
    ------
    ValueError
        If gamma is not in (0, 1/2) or too small for 32-bit coins, or the margin is not in (0, 1).
    """
    design = coin_flip(gamma)
    return Consequences(gamma, design, target("share", design, None, margin))
