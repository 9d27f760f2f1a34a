"""Two randomised answers together, from rows that count differently: made-up samples hold what is true.

Expected values are those of the population that is drawn from. What the estimator gives is held against guesses written
out row by row in `tests/test_analyse_samples.py`.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from server.privacy.designs import coin_flip
from server.privacy.estimators.replicate_weights import make_jackknife
from server.privacy.estimators.sample_designs import Replicates, SampleDesign
from server.privacy.estimators.sampled_joint import SampledPair, join_guesses, measure_pair
from server.privacy.estimators.sampled_ratios import estimate_ratios
from tests.support.scale import choose_size

COIN = coin_flip(0.4)
Numbers = NDArray[np.int64]
LEVELS = np.array([[0.1, 0.2], [0.3, 0.6], [0.6, 0.5], [0.8, 0.9]])
"""Of a school: the chances of both answers, which are independent inside it."""


def measure(first: Numbers, second: Numbers, sample: SampleDesign) -> SampledPair:
    found = estimate_ratios([join_guesses(np.arange(len(first)), [first, second], [COIN, COIN])], sample)
    pair = measure_pair(
        found.values.reshape(2, 2), found.covariance, int(found.degrees_of_freedom.min()), 0.95
    )
    assert pair is not None
    return pair


@pytest.mark.scaled
@pytest.mark.parametrize("way", ["linearised", "jackknife"])
def test_schools_cover_what_is_true_of_two_answers_and_rows_do_not(way: str) -> None:
    """40 schools of 25; the twin counts with the weights, and rows for schools."""
    rng, samples = np.random.default_rng(17), choose_size(300, 2000)
    schools = np.repeat(np.arange(40), 25)
    weights = np.repeat(np.where(np.arange(40) % 2, 1.0, 2.0), 25)
    table = np.array([[(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b] for a, b in LEVELS]).mean(axis=0)
    gave, others = table[3] / table[2:].sum(), table[1] / table[:2].sum()
    margins = table.reshape(2, 2).sum(axis=0).prod() * table.reshape(2, 2).sum(axis=1).prod()
    truth = {
        "difference": gave - others,
        "odds_ratio": table[0] * table[3] / (table[1] * table[2]),
        "phi": (table[0] * table[3] - table[1] * table[2]) / np.sqrt(margins),
    }
    held, naive = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    held["gave"] = 0
    for _ in range(samples):
        own = LEVELS[rng.integers(0, len(LEVELS), 40)][schools]
        answers = (rng.random((1000, 2)) < own) != (rng.random((1000, 2)) < 0.1)
        first, second = answers.astype(np.int64).T
        sample = SampleDesign(weights, clusters=schools)
        if way == "jackknife":
            made: Replicates = make_jackknife(sample)
            sample = SampleDesign(weights, replicates=made)
        pair, twin = measure(first, second, sample), measure(first, second, SampleDesign(weights))
        held["gave"] += pair.gave.interval[0] < gave < pair.gave.interval[1]
        for counts, found in ((held, pair), (naive, twin)):
            for name, value in truth.items():
                low, high = getattr(found.association, name).interval
                counts[name] += low < value < high
    for count in held.values():
        assert stats.binomtest(count, samples, 0.94, alternative="less").pvalue > 1e-6
    for count in naive.values():
        assert stats.binomtest(count, samples, 0.94, alternative="less").pvalue < 1e-6
