"""The exact loss of choices by the exponential mechanism among many options: from how likely it keeps each."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from server.privacy.auditing.dealing import Counts, deal_randomness, freeze_output
from server.privacy.auditing.noise_losses import LEAKS, ROUNDING


class _Chooser:
    """Proposes one option and keeps it, in every choice; with what chance it would have been kept is written down."""

    def __init__(self, options: int, option: int) -> None:
        self.options, self.option = options, option
        self.exponents: list[Fraction] = []

    def noisy(self, kind: str, values: Counts, scale: float) -> Counts:
        raise ValueError("a choice must not perturb")

    def below(self, limit: int) -> int:
        if limit != self.options:
            raise ValueError(f"a choice must be among {self.options}; it is among {limit}")
        return self.option

    def happens(self, exponent: Fraction) -> bool:
        self.exponents.append(exponent)
        return True


def chosen_loss(mechanism: Callable[[Any], Any], first: Any, second: Any, options: int) -> tuple[float, str]:
    """The loss of choices that are made one after the other on two neighbouring inputs, and where it shows.

    Each draws an option at random and keeps it with some chance, or draws again: it is chosen with a probability in
    proportion to that chance. Choices are independent, so that the worst of each come together.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data)`.
    options : int
        How many there are in each choice.

    Returns
    -------
    tuple of float and str
        In nats, within 1e-9.
    """
    chances: list[list[list[float]]] = []
    outputs: list[list[Any]] = []
    for data in (first, second):
        kept, told = [], []
        for option in range(options):
            chooser = _Chooser(options, option)
            with deal_randomness(chooser):
                told.append(freeze_output(mechanism(data)))
            kept.append([math.exp(-exponent) for exponent in chooser.exponents])
        chances.append([[chance / sum(choice) for chance in choice] for choice in zip(*kept, strict=True)])
        outputs.append(told)
    if outputs[0] != outputs[1]:
        return math.inf, LEAKS
    found = []
    for here, there in (chances, chances[::-1]):
        worst = [
            max((math.log(a) - math.log(b), option) for option, (a, b) in enumerate(zip(*both, strict=True)))
            for both in zip(here, there, strict=True)
        ]
        places = ", ".join(str(option) for _, option in worst)
        found.append((max(sum(loss for loss, _ in worst) - ROUNDING, 0.0), f"options {places}"))
    return max(found)
