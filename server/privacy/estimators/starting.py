"""Where the search for a maximum begins: everybody with the same chances, found without any predictor; and others."""

from collections.abc import Iterator

import numpy as np
import scipy

from server.privacy.estimators.latent_likelihood import Floats, LatentData

_SHARES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
_LEAST = 0.02
_ROUNDS = 200
_LOOKOUTS, _MOST_ROWS = 24, 60_000
_STEEP = (2.0, 5.0, 15.0, 40.0)
_SEED = 17


def find_start(data: LatentData) -> Floats:
    """Intercepts alone; answers to predictors all equally often."""
    theta = np.zeros(data.parameters)
    if data.levels == 2:

        def value(share: float) -> float:
            return float(data.counts @ np.log(data.outcome @ np.array([1 - share, share])))

        theta[0] = float(scipy.special.logit(max(_SHARES, key=value)))
        return theta
    shares = _find_shares(data)
    if data.model == "multinomial":
        theta[: data.slopes : data.columns] = np.log(shares[1:] / shares[0])
        return theta
    above = scipy.special.logit(1 - np.cumsum(shares)[:-1])
    theta[0] = above[0]
    theta[data.columns : data.slopes] = np.log(np.maximum(-np.diff(above), _LEAST))
    return theta


def _find_shares(data: LatentData) -> Floats:
    """Of each level, the likeliest, by expectation and maximisation; none below what a start can be at."""
    shares = np.full(data.levels, 1 / data.levels)
    for _ in range(_ROUNDS):
        parts = data.outcome * shares
        shares = data.counts @ (parts / parts.sum(axis=1, keepdims=True))
        shares /= shares.sum()
    shares = np.maximum(shares, _LEAST)
    return np.asarray(shares / shares.sum())


def list_lookouts(data: LatentData) -> Iterator[Floats]:
    """Places all around from which other maxima can be seen, the same each time.

    In each, some people are nearly certain, on one side of a plane between known predictors, and the others not. Fewer
    of many rows, each of which takes its time.
    """
    rng, known = np.random.default_rng(_SEED), data.known[:, 1:]
    if data.combined or not known.shape[1]:
        return
    start, spread = find_start(data), known.std(axis=0)
    spread[spread == 0] = 1.0
    predictors = range(
        0, (data.levels - 1) * data.columns if data.model == "multinomial" else 1, data.columns
    )
    for number in range(min(_LOOKOUTS, _MOST_ROWS // len(known))):
        theta = start.copy()
        for first in predictors:
            slopes = rng.normal(size=known.shape[1]) / spread * _STEEP[number % len(_STEEP)]
            theta[first + 1 : first + 1 + known.shape[1]] = slopes
            theta[first] = -float(np.quantile(known @ slopes, rng.random()))
        yield theta
