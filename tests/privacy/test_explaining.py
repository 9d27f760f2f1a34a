"""What an answer goes with: held against a likelihood written down here, and against repeated studies.

Expected values come from `reference`, the likelihood of one person after the other, maximised by SciPy without
derivatives; from closed forms of two groups; and from made-up people whose odds ratio is known.
"""

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from server.privacy.designs import Design, coin_flip, custom, kuk
from server.privacy.estimators import logistic_regression
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explained_effects import Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.one_sided import mangat
from tests.support.scale import choose_size

COIN = coin_flip(0.25)
OTHER = custom([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])


def expit(eta: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.asarray(eta))))


def list_groups(tables: dict[float, tuple[int, int]], design: Design) -> LatentData:
    """So many reports of no and of yes in groups whose known predictor has these numbers."""
    rows = [(x, report, float(n)) for x, counts in tables.items() for report, n in enumerate(counts)]
    return LatentData(
        np.array([n for *_, n in rows]),
        np.array([[1.0, x] for x, *_ in rows]),
        np.array([design.matrix[:, report] for _, report, _ in rows]),
        np.ones((len(rows), 1)),
        np.zeros((1, 0)),
    )


def groups(tables: dict[float, tuple[int, int]], design: Design) -> Explanation:
    """What their answer goes with."""
    ends = EffectSetting(True, (1,), (min(tables),)), EffectSetting(True, (1,), (max(tables),))
    return explain(list_groups(tables, design), [Predictor((1,), (ends,))])


@pytest.mark.parametrize("design", [COIN, kuk(0.9, 0.4), kuk(0.2, 0.7)], ids=["coin", "kuk", "turned round"])
def test_two_groups_are_compared_as_by_hand(design: Design) -> None:
    """The model has a coefficient for each group: the odds are those of the unbiased shares, by Bayes backwards."""
    if_no, if_yes = design.matrix[:, 1]
    shares = {0: 0.15, 1: 0.35}
    tables = {x: round(2000 * (if_no + share * (if_yes - if_no))) for x, share in shares.items()}
    found = groups({float(x): (2000 - yes, yes) for x, yes in tables.items()}, design)
    low, high = ((yes / 2000 - if_no) / (if_yes - if_no) for yes in tables.values())
    (effect,) = found.effects[0]
    assert effect.odds_ratio == pytest.approx(high / (1 - high) / (low / (1 - low)), rel=1e-5)
    assert effect.average == pytest.approx(high - low, abs=1e-6)
    errors = [
        math.sqrt(yes / 2000 * (1 - yes / 2000) / 2000) / abs(if_yes - if_no) for yes in tables.values()
    ]
    assert effect.average_error == pytest.approx(math.hypot(*errors), rel=1e-4)
    assert not found.prior


def known_only() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(5)
    known = rng.normal(size=(3000, 2))
    truth = rng.random(3000) < expit(-1 + known @ [0.9, -0.4])
    return known, (rng.random(3000) < np.where(truth, 0.75, 0.25)).astype(np.int64)


def test_known_predictors_give_what_the_regression_of_the_library_gives() -> None:
    """Which is RRlog's and RRglm's model, and is tested against values of R by itself."""
    known, reports = known_only()
    expected = logistic_regression(reports, known, COIN)
    predictors = [
        Predictor(
            (k,), ((EffectSetting(True, (k,), (-1e-4,), True), EffectSetting(True, (k,), (1e-4,), True)),)
        )
        for k in (1, 2)
    ]
    data = LatentData(
        np.ones(3000),
        np.column_stack([np.ones(3000), known]),
        COIN.matrix[:, reports].T,
        np.ones((3000, 1)),
        np.zeros((1, 0)),
    )
    found = explain(data, predictors)
    for k, (effect,) in enumerate(found.effects, start=1):
        assert effect.coefficient == pytest.approx(expected.coefficients[k], abs=1e-5)
        assert effect.standard_error == pytest.approx(expected.standard_errors[k], abs=1e-5)
        assert found.tests[k - 1].statistic == pytest.approx(
            expected.likelihood_ratios[k].statistic, abs=1e-5
        )
    assert found.test.statistic == pytest.approx(expected.likelihood_ratio.statistic, abs=1e-5)
    # The intervals are those of the profile: what they lose is the quantile of chi-squared.
    low, high = found.effects[0][0].interval

    def compute_loss(value: float) -> float:
        """Twice the log-likelihood that fixing the first slope costs, without our code."""

        def negative(other: NDArray[np.float64]) -> float:
            chance = 0.25 + 0.5 * expit(other[0] + value * known[:, 0] + other[1] * known[:, 1])
            return -float(np.log(np.where(reports == 1, chance, 1 - chance)).sum())

        made = optimize.minimize(negative, [-1.0, -0.4], method="Nelder-Mead", options={"fatol": 1e-7})
        return 2 * (expected.log_likelihood + float(made.fun))

    assert [compute_loss(low), compute_loss(high)] == pytest.approx([stats.chi2.ppf(0.95, 1)] * 2, abs=0.02)


@cache
def make_study(n: int = 4000) -> tuple[NDArray[np.int64], ...]:
    """What people with a known x, a true z of three and a true outcome report, under two designs of the outcome."""
    rng = np.random.default_rng(11)
    known, version = rng.integers(0, 2, n), rng.integers(0, 2, n)
    z = np.where(rng.random(n) < 0.3 + 0.2 * known, 2, rng.integers(0, 2, n))
    truth = rng.random(n) < expit(-1.2 + 0.7 * known + 1.4 * (z == 1) - 0.5 * (z == 2))
    chance = np.where(version, np.where(truth, 0.9, 0.3), np.where(truth, 0.75, 0.25))
    outcome = (rng.random(n) < chance).astype(np.int64)
    seen = np.array([rng.choice(3, p=OTHER.matrix[each]) for each in z])
    return known.astype(np.int64), version.astype(np.int64), outcome, seen


def latent(seen_through: Design) -> LatentData:
    known, version, outcome, seen = make_study()
    designs = [COIN.matrix, kuk(0.9, 0.3).matrix]
    chances = np.array([designs[v][:, y] for v, y in zip(version, outcome, strict=True)])
    return LatentData(
        np.ones(len(known)),
        np.column_stack([np.ones(len(known)), known]).astype(np.float64),
        chances,
        seen_through.matrix[:, seen].T,
        np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    )


def predictors() -> list[Predictor]:
    nobody = (0.0, 0.0)
    pairs = tuple(
        (EffectSetting(False, (0, 1), nobody), EffectSetting(False, (0, 1), there))
        for there in ((1.0, 0.0), (0.0, 1.0))
    )
    return [
        Predictor((1,), ((EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))),)),
        Predictor((2, 3), pairs),
    ]


def reference(theta: NDArray[np.float64]) -> float:
    """Minus the log-likelihood: the outcome's three slopes and intercept, then z's chances by x, saturated."""
    known, version, outcome, seen = make_study()
    logits = np.array([[[0, theta[4], theta[5]], [0, theta[6], theta[7]]]][0])
    given = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    total = 0.0
    for x, v, y, s in Counter(zip(known, version, outcome, seen, strict=True)):
        if_no, if_yes = ((0.25, 0.75), (0.3, 0.9))[v]
        row = 0.0
        for z in range(3):
            pi = float(expit(theta[0] + theta[1] * x + theta[2] * (z == 1) + theta[3] * (z == 2)))
            said = if_no + (if_yes - if_no) * pi
            row += given[x, z] * OTHER.matrix[z, s] * (said if y else 1 - said)
        cell = (known == x) & (version == v) & (outcome == y) & (seen == s)
        total -= int(cell.sum()) * math.log(row)
    return total


def test_another_randomised_answer_is_read_through_its_own_coins_and_two_designs_together() -> None:
    found = explain(latent(OTHER), predictors())
    made = optimize.minimize(reference, np.zeros(8), method="BFGS", options={"gtol": 1e-4})
    (first,), others = found.effects
    assert [first.coefficient, *(each.coefficient for each in others)] == pytest.approx(made.x[1:4], abs=2e-3)
    assert found.log_likelihood == pytest.approx(-made.fun, abs=1e-4)
    # The truth is within what is said; whoever takes reports of z for answers misses it: the broken twin.
    assert others[0].interval[0] < 1.4 < others[0].interval[1]
    twin = explain(latent(custom([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])), predictors())
    assert twin.effects[1][0].interval[1] < 1.4


def test_coins_that_hide_a_predictor_make_its_interval_wider() -> None:
    wide, narrow = (
        explain(latent(design), predictors()) for design in (OTHER, custom(np.eye(3) * 0.97 + 0.01))
    )
    assert wide.effects[1][0].standard_error > 1.5 * narrow.effects[1][0].standard_error


def test_responses_that_do_not_tell_have_no_odds_ratio_to_believe() -> None:
    """A group that reports yes less often than the coins alone would; and two of them."""
    found = groups({-0.5: (150, 40), 0.5: (140, 50)}, COIN)
    assert found.prior
    assert not found.effects[0][0].tells
    known = groups({-0.5: (1500, 400), 0.5: (900, 1000)}, COIN)
    assert known.prior
    assert known.effects[0][0].tells
    assert known.effects[0][0].odds_ratio_interval[0] > 5
    assert known.effects[0][0].interval[1] == math.inf


def test_everybody_who_said_yes_through_a_one_sided_design_is_no_obstacle() -> None:
    found = groups({-0.5: (0, 40), 0.5: (20, 20)}, mangat(0.6))
    assert found.prior
    assert found.effects[0][0].odds_ratio < 1


def test_predictors_that_repeat_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="must not repeat each other"):
        groups({1.0: (10, 20)}, COIN)


@cache
def small_study(first: int, second: int) -> Explanation:
    return groups({-0.5: (250 - first, first), 0.5: (250 - second, second)}, COIN)


@pytest.mark.scaled
def test_no_small_study_is_refused_and_slopes_are_covered() -> None:
    """n = 500, 5 % against 15 %, γ 1/4: of 1,000 made-up studies (100 in short) none is refused.

    A coverage of 0.94 is refuted with a false alarm of 1e-6; the twin, a third of a standard error, is caught.
    """
    rng, studies = np.random.default_rng(17), choose_size(100, 1000)
    truth = math.log(0.15 / 0.85) - math.log(0.05 / 0.95)
    first, second = rng.binomial(250, 0.275, studies), rng.binomial(250, 0.325, studies)
    effects = [small_study(*pair).effects[0][0] for pair in zip(first.tolist(), second.tolist(), strict=True)]
    assert len(effects) == studies
    covered = sum(effect.interval[0] <= truth <= effect.interval[1] for effect in effects)
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    twin = sum(abs(effect.coefficient - truth) <= effect.standard_error / 3 for effect in effects)
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


@pytest.mark.scaled
def test_slopes_of_larger_studies_are_covered() -> None:
    """n = 2,000, 10 % against 30 %, by the likelihood alone in most."""
    rng, studies = np.random.default_rng(23), choose_size(60, 1000)
    truth = math.log(0.3 / 0.7) - math.log(0.1 / 0.9)
    found = [
        groups({-0.5: (1000 - a, a), 0.5: (1000 - b, b)}, COIN)
        for a, b in zip(
            rng.binomial(1000, 0.3, studies).tolist(), rng.binomial(1000, 0.4, studies).tolist(), strict=True
        )
    ]
    ends = [one.effects[0][0].interval for one in found]
    covered = sum(low <= truth <= high for low, high in ends)
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    assert sum(not one.prior for one in found) > studies * 0.8
