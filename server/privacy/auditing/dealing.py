"""Mechanisms run with noise that is dealt to them: what they perturb, by how much, and what they make of it.

The sources of randomness are exchanged for a dealer while a mechanism runs. The noise itself has no
switch for that, so that nothing but an audit, in a process of its own, can turn it off.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from math import exp
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from server.privacy.noise import _opendp
from server.privacy.selection import _exact, choice, gaps, several

Counts = NDArray[np.int64]
LEAST = 1e-7
"""Paths less likely than this are left aside; what they could come to counts against the audit."""
HANDS = 3
"""How many different noisy results are dealt, to see that an answer is made of them and of nothing else."""


@dataclass(frozen=True)
class Draw:
    """What noise was asked for: the exact numbers and the scale, in steps of the grid."""

    kind: str
    values: tuple[int, ...]
    scale: float


@dataclass(frozen=True)
class Outcome:
    """How likely the choices that led to an output are, and what was perturbed on the way to it."""

    chance: float
    draws: tuple[Draw, ...]


class Dealer(Protocol):
    """What takes the place of all randomness."""

    def noisy(self, kind: str, values: Counts, scale: float) -> Counts:
        """What noise makes of exact numbers."""

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, but without, the limit."""

    def happens(self, exponent: Fraction) -> bool:
        """An event of chance exp(-exponent)."""

    def picks(self, weights: Sequence[int]) -> int:
        """The place of a weight, with a chance in proportion to it."""

    def keeps(self, levels: int) -> bool:
        """An event of chance (8 / (3 e))**levels."""

    def fits(self, size: int, most: int) -> bool:
        """Whether as many were taken as are wanted; else all of it is drawn again."""


@contextmanager
def deal_randomness(dealer: Dealer, *, coins: bool = True) -> Iterator[None]:
    """Let a dealer take the place of all randomness; without `coins`, exact coins are made of whole numbers."""

    def source(kind: str) -> Callable[[float], Callable[[Counts], Counts]]:
        return lambda scale: lambda values: dealer.noisy(kind, values, scale)

    exchanged: list[tuple[Any, str, object]] = [
        (_opendp, "_laplace", source("laplace")),
        (_opendp, "_gaussian", source("gaussian")),
        (choice, "randbelow", dealer.below),
        (gaps, "randbelow", dealer.below),
        (several, "randbelow", dealer.below),
        (_exact, "randbelow", dealer.below),
    ]
    if coins:
        exchanged += [
            (choice, "happens_with_exp", dealer.happens),
            (gaps, "happens_with_exp", dealer.happens),
            (several, "happens_with_exp", dealer.happens),
            (several, "has_size", dealer.fits),
            (gaps, "pick_weighted", dealer.picks),
            (gaps, "keep_levels", dealer.keeps),
        ]
    before = [(module, name, getattr(module, name)) for module, name, _ in exchanged]
    try:
        for module, name, other in exchanged:
            setattr(module, name, other)
        yield
    finally:
        for module, name, own in before:
            setattr(module, name, own)


def deal_number(number: int, size: int) -> Counts:
    """One of the noisy results that are dealt: small, large, or negative in part."""
    places = np.arange(size, dtype=np.int64)
    return np.asarray(((7 * places) % 5 + 2, 1000 + (37 * places) % 101, (11 * places) % 9 - 4)[number])


@dataclass
class Path:
    """One way through a mechanism: choices as the script says, then the last possible ones.

    `others` are scripts of the ways that were not taken, each with its chance.
    """

    script: tuple[int, ...]
    number: int = 0
    taken: list[int] = field(default_factory=list)
    chance: float = 1.0
    draws: list[Draw] = field(default_factory=list)
    others: list[tuple[tuple[int, ...], float]] = field(default_factory=list)

    def noisy(self, kind: str, values: Counts, scale: float) -> Counts:
        """The hand, whatever the exact numbers are."""
        self.draws.append(Draw(kind, tuple(values.tolist()), scale))
        return deal_number(self.number, values.size)

    def below(self, limit: int) -> int:
        """Each number is equally likely."""
        return self._choose_branch([1 / limit] * limit)

    def happens(self, exponent: Fraction) -> bool:
        """True comes last."""
        chance = exp(-exponent)
        return bool(self._choose_branch([1 - chance, chance]))

    def picks(self, weights: Sequence[int]) -> int:
        """Each as likely as it weighs."""
        whole = sum(weights)
        return self._choose_branch([weight / whole for weight in weights])

    def keeps(self, levels: int) -> bool:
        """True comes last."""
        chance = (8 / 3 * exp(-1)) ** levels
        return bool(self._choose_branch([1 - chance, chance]))

    def fits(self, size: int, most: int) -> bool:
        """As it is."""
        return size == most

    def _choose_branch(self, chances: Sequence[float]) -> int:
        place = len(self.taken)
        possible = [index for index, chance in enumerate(chances) if chance > 0]
        index = self.script[place] if place < len(self.script) else possible[-1]
        if place >= len(self.script):
            way = tuple(self.taken)
            self.others += [((*way, other), self.chance * chances[other]) for other in possible[:-1]]
        self.taken.append(index)
        self.chance *= chances[index]
        return index


def outcomes(
    mechanism: Callable[[Any], Any], data: Any, number: int = 0, *, coins: bool = True
) -> tuple[dict[Any, Outcome], float]:
    """Every output that choices can lead to, and the chance of the ways that were left aside.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data)`; its outputs are compared as values.
    number : int
        Of the hand that is dealt wherever numbers are perturbed.

    Raises
    ------
    ValueError
        If one output is reached after different numbers were perturbed: what they say of it is not
        worked out here.
    """
    found: dict[Any, Outcome] = {}
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    left = 0.0
    while waiting:
        script, chance = waiting.pop()
        if chance < LEAST:
            left += chance
            continue
        path = Path(script, number)
        with deal_randomness(path, coins=coins):
            output = freeze_output(mechanism(data))
        waiting += path.others
        draws = tuple(path.draws)
        known = found.get(output, Outcome(0.0, draws))
        if known.draws != draws:
            raise ValueError(f"mechanism must perturb the same numbers on every way to {output!r}")
        found[output] = Outcome(known.chance + path.chance, draws)
    return found, left


def freeze_output(output: Any) -> Any:
    """An output as something that can be looked up, the same for equal ones; no number equals itself here."""
    if isinstance(output, np.ndarray):
        return ("array", output.shape, freeze_output(output.ravel().tolist()))
    if is_dataclass(output) and not isinstance(output, type):
        return (
            type(output).__name__,
            *(freeze_output(getattr(output, one.name)) for one in fields(output) if one.compare),
        )
    if isinstance(output, dict):
        return tuple((name, freeze_output(value)) for name, value in output.items())
    if isinstance(output, list | tuple):
        return tuple(freeze_output(entry) for entry in output)
    if isinstance(output, float) and output != output:
        return "no number"
    return output
