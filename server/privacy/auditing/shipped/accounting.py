"""What accounting promises, against what noisy numbers and the reports of coin flips say together."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from server.privacy import accounting, designs, noise
from server.privacy.auditing.cases import Case, Finding, approximate, by_dealing
from server.privacy.auditing.report_coins import coins_of
from server.privacy.designs import TOTAL

DELTA = 1e-6
_FLIPS, _PEOPLE = 20, 500


def cases() -> list[Case]:
    """Sums and maxima of losses; repeated coin flips of one person; one coin flip among many."""
    coin = designs.coin_flip(0.25).epsilon
    repeated: dict[str, Callable[[], accounting.Loss | accounting.Composition]] = {
        "advanced": lambda: accounting.advanced(coin, _FLIPS, DELTA),
        "optimal": lambda: accounting.optimal(coin, _FLIPS, DELTA),
        "best_composition": lambda: accounting.best_composition(coin, _FLIPS, DELTA),
    }
    return [
        by_dealing(
            "sequential(0.4, 0.6)",
            accounting.sequential([0.4, 0.6]).epsilon,
            lambda counts: (
                accounting.sequential([0.4, 0.6]),
                noise.geometric(counts, 1, 0.4),
                noise.geometric(counts, 1, 0.6),
            ),
            [3],
            [4],
        ),
        by_dealing(
            "parallel(0.4, 0.6)",
            accounting.parallel([0.4, 0.6], "unbounded").epsilon,
            lambda counts: (
                accounting.parallel([0.4, 0.6], "unbounded"),
                noise.geometric(counts[:1], 1, 0.4),
                noise.geometric(counts[1:], 1, 0.6),
            ),
            [3, 3],
            [3, 4],
        ),
        by_dealing(
            "bounded_from_unbounded(0.5)",
            accounting.bounded_from_unbounded(0.5).epsilon,
            lambda counts: (accounting.bounded_from_unbounded(0.5), noise.geometric(counts, 1, 0.5)),
            [3, 4],
            [4, 3],
        ),
        *(
            Case(
                f"{_FLIPS} coin flips of one person, delta {DELTA:g}, {name}",
                promised().epsilon,
                _audit_repetition,
                promised,
            )
            for name, promised in repeated.items()
        ),
        Case(
            f"tally of {_PEOPLE} coin flips, shuffled, delta {DELTA:g}",
            accounting.shuffle_amplification(_PEOPLE, coin, DELTA).epsilon,
            _audit_shuffling,
            lambda: accounting.shuffle_amplification(_PEOPLE, coin, DELTA),
        ),
    ]


def _audit_repetition() -> Finding:
    no, yes = _chances()
    return approximate(_binomial(_FLIPS, no), _binomial(_FLIPS, yes), DELTA)


def _audit_shuffling() -> Finding:
    no, yes = _chances()
    others = _binomial(_PEOPLE - 1, no)
    return approximate(np.convolve(others, [1 - no, no]), np.convolve(others, [1 - yes, yes]), DELTA)


def _chances() -> tuple[float, float]:
    """Of a yes, for no and for yes, counted from the reports that coins lead to."""
    no, yes = (coins_of(designs.coin_flip(0.25))[:, 1] / TOTAL).tolist()
    return no, yes


def _binomial(n: int, chance: float) -> NDArray[np.float64]:
    made = np.ones(1)
    for _ in range(n):
        made = np.convolve(made, [1 - chance, chance])
    return np.minimum(made, 1.0)
