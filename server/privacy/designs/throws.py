"""Designs thrown by hand: coins, dice or a disc of ten fields that do what the browser's coin does."""

from dataclasses import dataclass
from typing import Literal

from server.privacy.designs.coins import TOTAL
from server.privacy.designs.design import Design, require_design

Device = Literal["coin", "die", "disc"]

FACES: dict[Device, int] = {"coin": 2, "die": 6, "disc": 10}
"""What can be thrown, and how many faces or fields it has, each as likely as the others."""

MOST_THROWS = 3
"""More are not asked of anybody."""


@dataclass(frozen=True)
class Throws:
    """How to throw a design by hand.

    Of the `FACES[device] ** times` outcomes, each as likely as the others, `own` leave a person's answer
    as it is, and `chance[y]` make it the report y, whatever the answer.
    """

    device: Device
    times: int
    own: int
    chance: tuple[int, ...]


def plan_throws(design: Design) -> Throws | None:
    """The fewest throws that do exactly what a design does; of as many, coins before dice before a disc.

    Parameters
    ----------
    design : Design
        Shape (k, m).

    Returns
    -------
    Throws or None
        None where more than three throws would be needed, where no number of them suffices, or where the
        design is none that either keeps an answer or lets chance give one (`forced_response` is the
        general case for two answers). Published weights are whole multiples of 2**-32, rounded so that
        each is less than k of them away from the share that it stands for; a share that is thrown must
        be as near.

    Raises
    ------
    ValueError
        If `design` is no `Design`.

    References
    ----------
    Boruch, R. F. (1971). Assuring confidentiality of responses in social research. *The American
    Sociologist* 6, 308-311.

    Examples
    --------
    The two coins of the usual strength: heads first, and the answer stays; else the second coin gives it.

    >>> from server.privacy.designs import coin_flip, k_ary
    >>> plan_throws(coin_flip(0.25))
    Throws(device='coin', times=2, own=2, chance=(1, 1))
    >>> plan_throws(k_ary(4, 1.0986122886681098))
    Throws(device='die', times=1, own=2, chance=(1, 1, 1, 1))
    >>> plan_throws(coin_flip(0.2))
    Throws(device='disc', times=1, own=4, chance=(3, 3))
    >>> plan_throws(coin_flip(0.2001)) is None
    True
    """
    rows = require_design(design).weights.tolist()
    if len(rows) != len(rows[0]):
        return None
    for times in range(1, MOST_THROWS + 1):
        for device, faces in FACES.items():
            outcomes = faces**times
            chance = tuple(round(min(column) * outcomes / TOTAL) for column in zip(*rows, strict=True))
            throws = Throws(device, times, outcomes - sum(chance), chance)
            if throws.own > 0 and _do_as(throws, rows):
                return throws
    return None


def _do_as(throws: Throws, rows: list[list[int]]) -> bool:
    outcomes = throws.own + sum(throws.chance)
    rounding = len(rows) * outcomes
    return all(
        abs((throws.chance[report] + throws.own * (truth == report)) * TOTAL - weight * outcomes) < rounding
        for truth, row in enumerate(rows)
        for report, weight in enumerate(row)
    )
