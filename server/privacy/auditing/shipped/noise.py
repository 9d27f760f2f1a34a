"""Central noise: what it is asked for, and what is drawn."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from server.privacy import noise
from server.privacy.auditing.cases import Case, by_dealing, by_running

_RUNS = 20_000
DELTA, _LARGE = 1e-6, 0.05


def cases() -> list[Case]:
    """Each noise on two vectors as far apart as its sensitivity allows, and its draws on single numbers."""
    return [
        by_dealing("geometric(1)", 1.0, lambda counts: noise.geometric(counts, 3, 1.0), [5, 5], [6, 7]),
        by_running(
            "geometric(1) drawn",
            1.0,
            lambda count, runs: noise.geometric(np.full(runs, count), 1, 1.0),
            0,
            1,
            _RUNS,
        ),
        # Rounded to the grid, 0.49 and 0.51 are a whole step apart.
        by_dealing(
            "laplace(1), grid 1",
            1.0,
            lambda values: noise.laplace(values, 0.5, 1.0, 1),
            [0.3, 0.4],
            [0.6, 0.6],
        ),
        by_running(
            "laplace(1), grid 1/64, drawn",
            1.0,
            lambda value, runs: noise.laplace(np.full(runs, value), 1.0, 1.0, 1 / 64, changed=1),
            0.0,
            1.0,
            _RUNS,
        ),
        *(
            by_dealing(
                f"laplace_shared(1), {'equal scales' if proportions is None else 'proportions'}",
                1.0,
                partial(_share_noise, proportions=proportions),
                [0.0, 3.0],
                [0.5, -97.0],
            )
            for proportions in (None, [3, 1])
        ),
        by_dealing(
            f"gaussian(1, delta {DELTA:g})",
            1.0,
            lambda counts: noise.gaussian(counts, 5.0, 1.0, DELTA),
            [5, 5],
            [8, 9],
            DELTA,
        ),
        # A large delta: what a small one leaves to be seen happens too rarely.
        by_running(
            f"gaussian(1, delta {_LARGE:g}) drawn",
            1.0,
            lambda count, runs: noise.gaussian(np.full(runs, count), 1.0, 1.0, _LARGE),
            0,
            1,
            _RUNS,
            _LARGE,
        ),
    ]


def _share_noise(values: list[float], proportions: list[int] | None) -> NDArray[np.float64]:
    return noise.laplace_shared(values, [0.5, 100.0], 1.0, 0.25, proportions)
