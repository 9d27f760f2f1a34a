"""One thing that is estimated under a design: respondents needed, the margin reached, the price."""

from dataclasses import dataclass
from functools import lru_cache

from server.privacy.designs import Design
from server.privacy.planning import (
    margin_mean,
    margin_shares,
    price_of_privacy_mean,
    price_of_privacy_shares,
    respondents_for_margin_mean,
    respondents_for_margin_shares,
)
from server.study.kinds import What


@dataclass(frozen=True)
class Target:
    """Something that a question's results estimate.

    Attributes
    ----------
    what : {"share", "shares", "boxes", "mean"}
        The share of yes, of each answer, of each box, or a mean.
    margin : float
        What is wanted: a fraction of 1, for a mean of its range.
    respondents : int
        The fewest that give this margin.
    reached : float or None
        The margin that the planned respondents give; None where none are planned.
    price : float
        Respondents for each one that a direct question, truthfully answered, would need.
    reachable : bool or None
        Whether the planned respondents are enough.
    promised : bool
        Whether the margin is wanted of it; otherwise it is shown for information.
    range : float
        What a margin of 1 is: 1 for shares, for a mean the highest less the lowest number (levels of a scale).
    """

    what: What
    margin: float
    respondents: int
    reached: float | None
    price: float
    reachable: bool | None
    promised: bool = True
    range: float = 1.0


@lru_cache(maxsize=512)
def target(
    what: What,
    design: Design,
    respondents: int | None,
    margin: float,
    confidence: float = 0.95,
    answered: float | None = None,
    shares: tuple[float, ...] | None = None,
) -> Target:
    """Plan one thing that is estimated under a design; `shares`, `answered` as in `privacy.planning`."""
    reached = None
    if what == "mean":
        needed = respondents_for_margin_mean(margin, design, 0, 1, confidence, shares, answered)
        price = price_of_privacy_mean(design, shares, answered)
        if respondents is not None:
            reached = margin_mean(respondents, design, 0, 1, confidence, shares, answered)
    else:
        needed = respondents_for_margin_shares(margin, design, confidence, shares)
        price = price_of_privacy_shares(design, shares)
        if respondents is not None:
            reached = float(margin_shares(respondents, design, confidence, shares).max())
    return Target(
        what=what,
        margin=margin,
        respondents=needed,
        reached=reached,
        price=price,
        reachable=None if respondents is None else respondents >= needed,
    )
