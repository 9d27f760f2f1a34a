"""Two designs, means and trends: simulated studies reach the power that was planned, those of a smaller size do not.

The tests of the made-up studies are written out here: the score test with the common share found by a grid, that
of Cochran and Armitage, and the z test of means of unbiased guesses. Each is run on 20,000 studies: with a
power of 0.8 their share is within 0.0142 of it in all but one of a million, to which the normal approximation adds.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from server.privacy.designs import Design, coin_flip, k_ary, kuk, ordinal, warner
from server.privacy.planning import (
    compare_groups,
    compare_means,
    power,
    power_two_samples,
    respondents_for_power,
    respondents_for_power_two_samples,
)

STUDIES, NEAR = 20_000, 0.02
CRITICAL = float(norm.isf(0.025))
Floats = NDArray[np.float64]


def draw(share: float, design: Design, size: int, seed: int) -> Floats:
    """The share of "yes" reports of each study."""
    reported = share * design.matrix[1, 1] + (1 - share) * design.matrix[0, 1]
    return np.random.default_rng(seed).binomial(size, reported, STUDIES) / size


def show_two(shares: Sequence[float], designs: Sequence[Design], sizes: Sequence[int]) -> float:
    """How often the score test of no difference is significant; the common share is the best of 401."""
    places = range(2)
    rates = [draw(shares[k], designs[k], sizes[k], 5 + k) for k in places]
    slopes = [design.matrix[1, 1] - design.matrix[0, 1] for design in designs]
    found = [(rates[k] - designs[k].matrix[0, 1]) / slopes[k] for k in places]
    best, height = np.zeros(STUDIES), np.full(STUDIES, -np.inf)
    for share in np.linspace(0, 1, 401):
        at = [designs[k].matrix[0, 1] + slopes[k] * share for k in places]
        own = sum(sizes[k] * (rates[k] * np.log(at[k]) + (1 - rates[k]) * np.log(1 - at[k])) for k in places)
        best, height = np.where(own > height, share, best), np.maximum(height, own)
    at = [designs[k].matrix[0, 1] + slopes[k] * best for k in places]
    variance = sum(at[k] * (1 - at[k]) / sizes[k] / slopes[k] ** 2 for k in places)
    return float(np.mean(np.abs(found[0] - found[1]) > CRITICAL * np.sqrt(variance)))


def show_trend(shares: Sequence[float], designs: Sequence[Design], sizes: Sequence[int]) -> float:
    """How often the test of Cochran and Armitage is significant, of the reports."""
    n = np.array(sizes, dtype=float)[:, None]
    rates = np.array([draw(*each, 5 + k) for k, each in enumerate(zip(shares, designs, sizes, strict=True))])
    times = np.arange(len(sizes))[:, None] - (np.arange(len(sizes)) @ n) / n.sum()
    pooled = (n * rates).sum(0) / n.sum()
    statistic = (n * times * rates).sum(0) / np.sqrt(pooled * (1 - pooled) * (n * times**2).sum())
    return float(np.mean(np.abs(statistic) > CRITICAL))


def show_means(shares: Sequence[Sequence[float]], designs: Sequence[Design], sizes: Sequence[int]) -> float:
    """How often two means of unbiased guesses, with their sample variances, differ."""
    found = []
    for k, (own, design, size) in enumerate(zip(shares, designs, sizes, strict=True)):
        reported = np.asarray(own) @ design.matrix
        counts = np.random.default_rng(9 + k).multinomial(size, reported, STUDIES) / size
        guesses = np.linalg.inv(design.matrix) @ np.linspace(0, 1, len(own))
        mean = counts @ guesses
        found.append((mean, (counts @ guesses**2 - mean**2) / size))
    (one, its), (other, others) = found
    return float(np.mean(np.abs(one - other) > CRITICAL * np.sqrt(its + others)))


COIN, STRONG, LEVELS = coin_flip(0.25), coin_flip(0.4), ordinal(5, 1.5)
LOW, HIGH = [0.4, 0.3, 0.1, 0.1, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2]
PLANS = {
    "two coins": (show_two, compare_groups, [0.15, 0.25], [COIN, STRONG], (1, 1)),
    "a coin and a die, 1 to 3": (show_two, compare_groups, [0.3, 0.15], [STRONG, warner(0.8)], (1, 3)),
    "two that turn unlike": (show_two, compare_groups, [0.1, 0.2], [kuk(0.9, 0.4), kuk(0.2, 0.7)], (1, 1)),
    "three waves": (show_trend, compare_groups, [0.1, 0.15, 0.2], [COIN] * 3, (1, 1, 1)),
    "uneven waves": (show_trend, compare_groups, [0.3, 0.2, 0.22, 0.15], [STRONG] * 4, (3, 1, 1, 2)),
    "means of levels": (show_means, compare_means, [LOW, HIGH], [LEVELS] * 2, (1, 1)),
    "means by two designs": (show_means, compare_means, [LOW, HIGH], [LEVELS, k_ary(5, 2)], (1, 2)),
}


@pytest.mark.parametrize(("show", "compare", "shares", "designs", "parts"), PLANS.values(), ids=PLANS)
def test_simulated_studies_reach_the_power_and_smaller_ones_do_not(
    show: Callable[..., float],
    compare: Callable[..., object],
    shares: Sequence[object],
    designs: Sequence[Design],
    parts: Sequence[int],
) -> None:
    planned = compare(shares, designs, parts)
    n = planned.respondents(0.8)  # type: ignore[attr-defined]
    assert planned.power(n) >= 0.8 > planned.power(n - 1)  # type: ignore[attr-defined]
    reached = show(shares, designs, [part * n for part in parts])
    assert reached == pytest.approx(0.8, abs=NEAR)
    fewer = [round(0.85 * part * n) for part in parts]
    assert show(shares, designs, fewer) != pytest.approx(0.8, abs=NEAR)


def test_of_one_and_of_two_groups_it_is_what_stands_elsewhere() -> None:
    """Two shares by one design as `power_two_samples`, one as `power`; two ends of a scale as two shares."""
    both = compare_groups([0.1, 0.3], [COIN] * 2, (1, 2))
    assert both.respondents(0.9) == respondents_for_power_two_samples(0.1, 0.3, COIN, 0.9, ratio=2)
    assert both.power(100) == pytest.approx(power_two_samples(100, 200, 0.1, 0.3, COIN), rel=1e-12)
    one = compare_groups([0.1], [COIN], null=0.3, sides=1)
    assert one.respondents(0.8) == respondents_for_power(0.1, 0.3, COIN, sides=1)
    assert one.power(70) == pytest.approx(power(70, 0.1, 0.3, COIN, sides=1), rel=1e-12)
    ends = compare_means([[0.7, 0.3]], [COIN], null=0.3)
    assert ends.power(50) == pytest.approx(0.05, abs=1e-9)
    level = compare_means([LOW, HIGH], [LEVELS] * 2, answer=0)
    assert level.power(800) > compare_means([LOW, HIGH], [LEVELS] * 2, answer=1).power(
        800
    )  # 20 points, and 10


def test_a_common_share_that_is_stated_is_in_the_critical_value() -> None:
    lam = [0.25 + 0.5 * share for share in (0.1, 0.2, 0.5)]
    variances = [rate * (1 - rate) / 0.25 for rate in lam]
    critical = norm.isf(0.05) * np.sqrt(2 * variances[2] / 400)
    expected = norm.sf((critical - 0.1) / np.sqrt((variances[0] + variances[1]) / 400))
    stated = compare_groups([0.1, 0.2], [COIN] * 2, null=0.5, sides=1)
    assert stated.power(400) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: compare_groups([0.1], [COIN]), "null must be given for one group"),
        (lambda: compare_groups([0.1, 0.2], [COIN]), "they are of 2, 1 and 2"),
        (lambda: compare_groups([0.1, 0.2], [COIN] * 2, (1, 0)), "sizes must be"),
        (lambda: compare_groups([0.1, 1.2], [COIN] * 2), "shares must be"),
        (lambda: compare_means([LOW, HIGH], [LEVELS] * 2, null=0.5), "null must be given for one group, and"),
        (lambda: compare_means([LOW], [LEVELS], null=0.5, answer=5), "answer must be"),
    ],
)
def test_what_is_no_comparison_is_named(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()
