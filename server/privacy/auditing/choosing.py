"""The exact loss of choices among many options, of which each is proposed and then kept or not."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from server.privacy.auditing.dealing import Path, deal_randomness, freeze_output
from server.privacy.auditing.noise_losses import LEAKS, ROUNDING


@dataclass
class _KeptAtOnce(Path):
    """A way on which all that is proposed is kept, with the chance of that: what is not starts all over again."""

    def happens(self, exponent: Fraction) -> bool:
        """It does."""
        self.chance *= math.exp(-exponent)
        return True

    def keeps(self, levels: int) -> bool:
        """It does."""
        self.chance *= (8 / 3 * math.exp(-1)) ** levels
        return True

    def fits(self, size: int, most: int) -> bool:
        """It does; a way on which it does not leads nowhere."""
        if size != most:
            raise _DrawnAgainError
        return True


class _DrawnAgainError(Exception):
    """Everything is drawn again, as if this way had not been taken."""


def chosen_loss(mechanism: Callable[[Any], Any], first: Any, second: Any) -> tuple[float, str]:
    """The loss of choices on two neighbouring inputs, and where it shows.

    An option that is proposed is kept with some chance, or another one proposed, in the same way: so it is chosen in
    proportion to the chance of being proposed and kept. Several choices, one after the other, are independent. So are
    options of which each is taken or not, until so many are.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data)`; perturbs nothing.

    Returns
    -------
    tuple of float and str
        In nats, within 1e-9.
    """
    here, there = (_chances(mechanism, data) for data in (first, second))
    if here.keys() != there.keys():
        return math.inf, LEAKS
    losses = {output: abs(math.log(here[output]) - math.log(there[output])) for output in here}
    worst = max(losses, key=lambda output: losses[output])
    return max(losses[worst] - ROUNDING, 0.0), f"({here[worst]:.6f} against {there[worst]:.6f})"


def _chances(mechanism: Callable[[Any], Any], data: Any) -> dict[Any, float]:
    """How likely each output is."""
    found: dict[Any, float] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        path = _KeptAtOnce(waiting.pop())
        output = None
        with deal_randomness(path), suppress(_DrawnAgainError):
            output = freeze_output(mechanism(data))
        if path.draws:
            raise ValueError("mechanism must perturb no number; it does")
        waiting += [script for script, _ in path.others]
        if output is not None:
            found[output] = found.get(output, 0.0) + path.chance
    whole = sum(found.values())
    return {output: chance / whole for output, chance in found.items()}
