"""The exact loss of mechanisms, from what they perturb and how they choose."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.auditing.dealing import HANDS, Draw, Outcome, outcomes

Rows = NDArray[np.float64]
ROUNDING = 1e-9
"""More than the rounding of chances in floats can add to a loss; taken off, so that what is left is certified."""
LEAKS = "the same noise gives another answer: it looks at more than the noisy numbers"


def dealt_loss(
    mechanism: Callable[[Any], Any], first: Any, second: Any, delta: float = 0.0, *, coins: bool = True
) -> tuple[float, str]:
    """The loss of all that a mechanism draws on two neighbouring inputs, and where it shows.

    Choices are followed one by one. Of numbers that are perturbed, the loss is that of the noisy ones:
    their distance over the scale for Laplace noise, what Balle and Wang (2018) say for
    Gaussian noise. Both inputs are dealt the same noisy numbers, so that an answer which looks at
    anything else differs: its loss is infinite.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data)`.
    delta : float
        In [0, 1), for Gaussian noise.

    Returns
    -------
    tuple of float and str
        In nats, never above the exact loss but by rounding.
    """
    worst, where = 0.0, "nothing is perturbed"
    for number in range(HANDS):
        (a, left_a), (b, left_b) = (
            outcomes(mechanism, data, number, coins=coins) for data in (first, second)
        )
        for output in {**a, **b}:
            for here, there, left in ((a, b, left_b), (b, a, left_a)):
                loss, shows = _of_output(output, here.get(output), there.get(output), left, delta)
                if loss > worst:
                    worst, where = loss, shows
    return worst, where


def _of_output(
    output: Any, here: Outcome | None, there: Outcome | None, left: float, delta: float
) -> tuple[float, str]:
    name = f"output = {output!r}" if isinstance(output, int | str) else "output"
    if here is None:
        return 0.0, ""
    if there is None and left == 0:
        return math.inf, LEAKS
    most = (0.0 if there is None else there.chance) + left
    chosen = math.log(here.chance) - math.log(most)
    if chosen:
        chosen -= ROUNDING
    drawn = there.draws if there is not None else here.draws
    noisy, shows = of_draws(here.draws, drawn, delta)
    return chosen + noisy, shows or f"{name} ({here.chance:.6f} against {most:.6f})"


def of_draws(draws: tuple[Draw, ...], others: tuple[Draw, ...], delta: float) -> tuple[float, str]:
    """The loss of numbers that were perturbed on two inputs, and by how much they moved."""
    if [(draw.kind, len(draw.values), draw.scale) for draw in draws] != [
        (draw.kind, len(draw.values), draw.scale) for draw in others
    ]:
        return math.inf, "how much noise there is tells the data apart"
    if not draws:
        return 0.0, ""
    apart = [
        [abs(a - b) for a, b in zip(first.values, second.values, strict=True)]
        for first, second in zip(draws, others, strict=True)
    ]
    moved = " and ".join(
        f"{sum(each):,} at scale {draw.scale:.6g}"
        for each, draw in zip(apart, draws, strict=True)
        if any(each)
    )
    shows = f"noisy numbers moved by {moved}" if moved else ""
    kinds = {draw.kind for draw in draws}
    if kinds == {"laplace"}:
        loss = sum(
            (Fraction(sum(each)) / Fraction(draw.scale) for each, draw in zip(apart, draws, strict=True)),
            Fraction(0),
        )
        return float(loss), shows
    if kinds != {"gaussian"}:
        raise ValueError(f"noise must be of one kind to be audited exactly; it is {sorted(kinds)}")
    square = sum(
        sum(step * step for step in each) / Fraction(draw.scale) ** 2
        for each, draw in zip(apart, draws, strict=True)
    )
    return gaussian_loss(math.sqrt(square), delta), shows


def gaussian_loss(shift: float, delta: float) -> float:
    """The smallest epsilon for which a normal value moved by so many standard deviations keeps (epsilon, delta).

    It is that of the continuous distribution; the discrete one, on grids as fine as those that are drawn
    from, differs by less than 1e-6.
    """
    if shift == 0:
        return 0.0

    def keeps_promise(epsilon: float) -> bool:
        above = math.exp(scipy.special.log_ndtr(shift / 2 - epsilon / shift))
        return bool(above - math.exp(epsilon + scipy.special.log_ndtr(-shift / 2 - epsilon / shift)) <= delta)

    if delta <= 0:
        return math.inf
    low, high = 0.0, 1.0
    while not keeps_promise(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps_promise(middle) else (middle, high)
    return low
