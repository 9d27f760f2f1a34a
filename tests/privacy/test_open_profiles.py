"""Intervals of odds ratios that the reports alone leave without an end: held against repeated studies, and likelihoods.

Expected limits come from the likelihood of two groups of known size, written down here and maximised on a grid. The
twin takes the limits of the likelihood with the weak prior, which has an end on both sides.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import expit, logit, xlogy

from server.privacy.designs import coin_flip
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.climbing import add_prior, add_ridge, climb
from server.privacy.estimators.explained_effects import ExplainedEffect, Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.open_profiles import OpenProfile
from server.privacy.estimators.profiles import find_limit
from server.privacy.estimators.starting import find_start
from tests.privacy.test_explaining import groups, list_groups
from tests.support.scale import choose_size

COIN = coin_flip(0.4)
QUANTILE = float(stats.norm.ppf(0.975))
_IF_NO, _IF_YES = COIN.matrix[:, 1]


@cache
def compare(people: int, first: int, second: int) -> ExplainedEffect:
    """Of two groups of so many people, so many of whom report yes."""
    return groups({0.0: (people - first, first), 1.0: (people - second, second)}, COIN).effects[0][0]


@cache
def trust_prior(people: int, first: int, second: int) -> tuple[float, float]:
    """The broken twin: the limits of the likelihood with the prior, and no others."""
    data = list_groups({0.0: (people - first, first), 1.0: (people - second, second)}, COIN)
    weak = add_prior(data)
    top = climb(weak, find_start(data))
    low, high = (find_limit(weak, top, 1, step, QUANTILE) for step in (-2.0, 2.0))
    return low, high


@pytest.mark.scaled
@pytest.mark.parametrize(
    ("people", "shares"), [(200, (0.005, 0.3)), (1000, (0.001, 0.5))], ids=["0.5 %", "0.1 %"]
)
def test_large_odds_ratios_are_covered(people: int, shares: tuple[float, float]) -> None:
    """A coverage of 0.94 is refuted with a false alarm of 1e-6."""
    rng, studies = np.random.default_rng(31), choose_size(100, 1000)
    truth = float(logit(shares[1]) - logit(shares[0]))
    chances = (_IF_NO + share * (_IF_YES - _IF_NO) for share in shares)
    drawn = list(zip(*(rng.binomial(people, chance, studies).tolist() for chance in chances), strict=True))
    found = [compare(people, *pair) for pair in drawn]
    covered = sum(effect.interval[0] <= truth <= effect.interval[1] for effect in found)
    assert all(effect.tells for effect in found)
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    twins = [trust_prior(people, *pair) for pair in drawn]
    twin = sum(low <= truth <= high for low, high in twins)
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


def lose(people: int, first: int, second: int, slope: float) -> float:
    """The root of twice the log-likelihood that a slope costs, on a grid of the first group's share."""
    low = np.linspace(-60, 60, 240_001)

    def value(yes: int, share: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = _IF_NO + share * (_IF_YES - _IF_NO)
        return np.asarray(xlogy(yes, chance) + xlogy(people - yes, 1 - chance))

    best = sum(float(value(yes, np.linspace(0, 1, 100_001)).max()) for yes in (first, second))
    own = float((value(first, expit(low)) + value(second, expit(low + slope))).max())
    return math.sqrt(max(2 * (best - own), 0.0))


@pytest.mark.parametrize(
    ("people", "first", "second"),
    [(40, 3, 27), (40, 4, 36), (200, 18, 84), (1000, 100, 500), (1000, 112, 500)],
)
def test_a_limit_is_where_the_reports_alone_lose_the_quantile_or_with_the_prior(
    people: int, first: int, second: int
) -> None:
    low, high = compare(people, first, second).interval
    assert high == math.inf
    assert lose(people, first, second, 30.0) < QUANTILE
    own = lose(people, first, second, low)
    # The prior's own limit, where it is the farther of the two.
    assert own == pytest.approx(QUANTILE, abs=0.01) or (
        own > QUANTILE and low == pytest.approx(trust_prior(people, first, second)[0], abs=0.01)
    )


COUNTED = ((0.0, 0.0, 150), (0.0, 1.0, 6), (1.0, 0.0, 20), (1.0, 1.0, 150))


def list_cells(yes: Sequence[int]) -> LatentData:
    """Of so many people with either value of two known predictors, so many report yes."""
    rows = [
        (count, (1.0, first, second), COIN.matrix[:, report])
        for (first, second, people), own in zip(COUNTED, yes, strict=True)
        for report, count in enumerate((people - own, own))
    ]
    counts, known, outcome = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return LatentData(counts, known, outcome, np.ones((len(rows), 1)), np.zeros((1, 0)))


def explain_cells(yes: Sequence[int]) -> Explanation:
    sides = [
        (EffectSetting(True, (place,), (0.0,)), EffectSetting(True, (place,), (1.0,))) for place in (1, 2)
    ]
    return explain(list_cells(yes), [Predictor((place,), (sides[place - 1],)) for place in (1, 2)])


def weigh_by_prior(data: LatentData, place: int) -> float:
    """The broken twin: the p value of the likelihood with the prior."""
    weak, free = add_prior(data), np.arange(data.parameters) != place
    top = climb(weak, find_start(data))
    without = climb(weak, np.where(free, top.theta, 0.0), free)
    return float(stats.chi2.sf(2 * (top.value - without.value), 1))


def test_a_p_value_is_below_5_percent_where_the_interval_leaves_out_1() -> None:
    """Of numbers that chance gave, near and far from a limit; the twin's is below beside an interval that holds 1."""
    disagreed = 0
    for yes in ([17, 3, 16, 129], [16, 2, 16, 135], [10, 2, 16, 141], [12, 1, 15, 134], [14, 0, 14, 136]):
        found = explain_cells(yes)
        low, high = found.effects[1][0].interval
        assert found.effects[1][0].open
        assert (found.tests[1].p_value < 0.05) == (not low <= 0 <= high)
        disagreed += (weigh_by_prior(list_cells(yes), 2) < 0.05) != (not low <= 0 <= high)
    assert disagreed


def test_a_p_value_is_that_of_these_reports_where_they_set_no_end() -> None:
    """By the likelihood that is written down here, whose supremum is at no odds ratio that is a number."""
    found = groups({0.0: (20, 4), 1.0: (3, 21)}, COIN).test
    own = lose(24, 4, 21, 0.0)
    assert found.statistic <= own**2 + 1e-3
    assert found.statistic == pytest.approx(own**2, rel=0.2)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_test_at_5_percent_errs_at_most_so_often(share: float) -> None:
    """Two groups of 15 with the same share, every outcome enumerated; three times as much, the twin, errs more."""
    people = 15
    chance = stats.binom.pmf(np.arange(people + 1), people, _IF_NO + share * (_IF_YES - _IF_NO))
    statistics = np.zeros((people + 1, people + 1))
    for first, second in zip(*np.nonzero(np.outer(chance, chance) > 1e-6), strict=True):
        tables = {0.0: (people - first, first), 1.0: (people - second, second)}
        statistics[first, second] = groups(tables, COIN).test.statistic
    likely = np.outer(chance, chance)
    assert likely[statistics > QUANTILE**2].sum() <= 0.05
    assert likely[3 * statistics > QUANTILE**2].sum() > 0.05


def test_a_ratio_that_may_be_nothing_is_open_below() -> None:
    effect = compare(1000, 500, 100)
    assert effect.interval[0] == -math.inf
    assert effect.odds_ratio_interval[0] == 0
    assert 0 < effect.odds_ratio < effect.odds_ratio_interval[1] < 1
    assert effect.open
    assert effect.tells


def draw_study(seed: int) -> LatentData:
    """Simulated: 500 people, a number and a group, and few who say yes."""
    rng, coin = np.random.default_rng(seed), coin_flip(0.25)
    group = np.arange(500) % 2.0
    known = np.column_stack([np.ones(500), rng.normal(size=500), group])
    truths = rng.random(500) < expit(known @ [-3.0, 0.8, 0.5])
    reports = rng.random(500) < coin.matrix[truths.astype(int), 1]
    return LatentData(
        np.ones(500), known, coin.matrix[:, reports.astype(int)].T, np.ones((500, 1)), np.zeros((1, 0))
    )


def find_most(data: LatentData, fixed: dict[int, float]) -> float:
    """The log-likelihood at its highest, looked for from many starts, with coefficients that are fixed."""
    free = [place for place in range(3) if place not in fixed]

    def lose(moving: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        theta = np.zeros(3)
        theta[free], theta[list(fixed)] = moving, list(fixed.values())
        share = expit(data.known @ theta)
        step = data.outcome[:, 1] - data.outcome[:, 0]
        chance = data.outcome[:, 0] + step * share
        slope = data.known.T @ (step * share * (1 - share) / chance)
        return -float(np.log(chance).sum()), -slope[free]

    rng = np.random.default_rng(5)
    starts = [np.zeros(len(free)), *(rng.normal(scale=scale, size=len(free)) for scale in (2, 5, 15, 40) * 5)]
    return max(-float(optimize.minimize(lose, start, jac=True).fun) for start in starts)


@pytest.mark.parametrize("seed", [8, 17, 31, 268])
def test_nothing_beyond_a_limit_is_as_likely_as_what_is_within(seed: int) -> None:
    """Of studies whose likelihoods have several maxima; the twin walks outwards, and stops before the next."""
    data = draw_study(seed)
    sides = [[EffectSetting(True, (k,), (step,), moves=True) for step in (-1e-4, 1e-4)] for k in (1, 2)]
    found = explain(
        data, [Predictor((k,), ((low, high),)) for k, (low, high) in zip((1, 2), sides, strict=True)]
    )
    most = find_most(data, {})
    for place, effects in zip((1, 2), found.effects, strict=True):
        for end, away in zip(effects[0].interval, (-1, 1), strict=True):
            assert is_farthest(data, most, place, end, away)
    if seed == 8:
        weak = climb(add_prior(data), find_start(data))
        twin = OpenProfile(add_ridge(data), (find_start(data), weak.theta))
        own = find_limit(add_prior(data), weak, 1, 1.0, QUANTILE)
        assert not is_farthest(data, most, 1, twin.widen(own, weak, 1, 1.0, QUANTILE), 1)


def is_farthest(data: LatentData, most: float, place: int, end: float, away: int) -> bool:
    """Whether no coefficient beyond an end that is a number loses clearly less than the quantile."""
    if math.isinf(end):
        return True
    beyond = max(find_most(data, {place: end + away * far}) for far in (1, 3, 8, 20))
    return math.sqrt(max(2 * (most - beyond), 0.0)) > QUANTILE - 0.02


def draw_levels(seed: int) -> LatentData:
    """Simulated: 300 people, a skewed number and three groups, the first of which the others are held against."""
    rng, coin = np.random.default_rng(seed), coin_flip(0.3)
    number = rng.lognormal(size=300)
    number = (number - number.mean()) / number.std() / 2
    group = rng.integers(0, 3, 300)
    known = np.column_stack([np.ones(300), number, group == 1, group == 2])
    truths = rng.random(300) < expit(-1.5 + 1.4 * number + 1.5 * (group == 2))
    reports = rng.random(300) < np.where(truths, *coin.matrix[::-1, 1])
    return LatentData(
        np.ones(300), known, coin.matrix[:, reports.astype(int)].T, np.ones((300, 1)), np.zeros((1, 0))
    )


def weigh_reports(data: LatentData, theta: NDArray[np.float64]) -> float:
    """The log-likelihood, written down here."""
    share = expit(data.known @ theta)
    return float(np.log(data.outcome[:, 0] * (1 - share) + data.outcome[:, 1] * share).sum())


@pytest.mark.parametrize("seed", [25, 149])
def test_levels_may_go_along_where_a_limit_is_looked_for(seed: int) -> None:
    """Where the first level alone is far away, and both others with it, less may be lost than on the way there.

    The twin looks where one level goes with the first one, as `explain` did: it has an end for the likelihood.
    """
    data = draw_levels(seed)
    sides = EffectSetting(True, (2, 3), (0.0, 0.0)), EffectSetting(True, (2, 3), (1.0, 0.0))
    found = explain(data, [Predictor((2, 3), (sides, sides))])
    top = climb(add_ridge(data), find_start(data))
    most = weigh_reports(data, top.theta)
    for start in (top.theta + np.array([-25.0, 0, 25, 25]), top.theta + np.array([-25.0, 0, 25, 0])):

        def lose(rest: NDArray[np.float64], start: NDArray[np.float64] = start) -> float:
            return -weigh_reports(data, np.array([start[0], rest[0], start[2] + rest[1], start[3] + rest[2]]))

        lost = math.sqrt(2 * (most + float(optimize.minimize(lose, np.array([start[1], 0, 0])).fun)))
        assert (lost < QUANTILE) == (start[3] > 20)
    assert [math.isinf(effect.interval[1]) for effect in found.effects[0]] == [True, True]


def test_a_limit_is_where_the_likelihood_loses_the_quantile_to_five_digits() -> None:
    """The likelihood is that written down here; the twin takes the point that is right to three digits."""
    data = draw_levels(3)
    sides = EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))
    found = explain(data, [Predictor((k,), (sides,)) for k in (1, 2, 3)])
    assert not found.prior

    def fit(fixed: dict[int, float]) -> float:
        free = [place for place in range(4) if place not in fixed]

        def lose(moving: NDArray[np.float64]) -> float:
            theta = np.zeros(4)
            theta[free], theta[list(fixed)] = moving, list(fixed.values())
            return -weigh_reports(data, theta)

        return -float(optimize.minimize(lose, np.zeros(len(free)), tol=1e-9).fun)

    most = fit({})
    for place, effects in zip((1, 2, 3), found.effects, strict=True):
        assert effects[0].method == "profile"
        for end in effects[0].interval:
            assert math.sqrt(2 * (most - fit({place: end}))) == pytest.approx(QUANTILE, abs=5e-5)
