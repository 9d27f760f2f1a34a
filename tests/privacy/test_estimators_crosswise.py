"""The crosswise model where people do not attend: two groups, and an anchor question."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom, chi2

from server.privacy.estimators import correct_inattention, estimate_extended_crosswise

EXACT = 1e-8
"""Designs are of whole numbers out of 2^32."""


def draw_pairs(
    rng: np.random.Generator,
    n: int,
    share: float,
    attentive: float,
    chances: tuple[float, float] = (0.15, 0.2),
) -> NDArray[np.int64]:
    """Respondents by both reports, an anchor of share 0; who does not attend throws a coin for each."""
    attends = rng.random(n) < attentive
    same = [
        np.where(attends, truth == (rng.random(n) < chance), rng.random(n) < 0.5)
        for truth, chance in ((rng.random(n) < share, chances[0]), (np.zeros(n, bool), chances[1]))
    ]
    return np.bincount(2 * same[0] + same[1], minlength=4).reshape(2, 2)


def test_what_the_package_of_the_authors_prints_of_its_example_comes_out() -> None:
    """README of cWise, `cmdata` (simulated, n = 2000, p = p' = 0.15): naive 0.1950 (0.0144; 0.1667 to 0.2233 by Wald),
    attentive 0.7729, corrected 0.1054. The counts are those that round to these. Its printed interval of the last
    (0.0227 to 0.0504) does not hold the estimate, and is not looked for.
    """
    found = correct_inattention([[173, 400], [286, 1141]], 0.15, 0.15)
    assert round(found.uncorrected, 4) == 0.1950
    assert round(found.uncorrected_error, 4) == 0.0144
    assert round(found.attentive, 4) == 0.7729
    assert round(found.share, 4) == 0.1054
    assert found.interval[0] < found.share < found.interval[1]


@pytest.mark.parametrize("known", [0.0, 1.0, 0.3])
def test_the_correction_is_that_of_the_published_bias(known: float) -> None:
    """share - (1/2 - 1/(2 g)) (l - 1/2) / (p - 1/2), Atsusaka and Stevenson; the error by a numerical gradient."""
    counts, p, other = np.array([[90, 260], [210, 640]]), 0.2, 0.3

    def correct(cells: NDArray[np.float64]) -> float:
        same, anchor = cells[1].sum(), cells[:, 1].sum()
        attentive = (anchor - 0.5) / ((2 * other - 1) * (known - 0.5))
        naive = (same + p - 1) / (2 * p - 1)
        return float(naive - (0.5 - 1 / (2 * attentive)) * (same - 0.5) / (p - 0.5))

    found = correct_inattention(counts, p, other, known)
    cells = counts / counts.sum()
    assert found.share == pytest.approx(correct(cells), abs=EXACT)
    gradient = np.zeros(4)
    for place in range(4):
        step = np.zeros(4)
        step[place] = 1e-6
        gradient[place] = (correct(cells + step.reshape(2, 2)) - correct(cells - step.reshape(2, 2))) / 2e-6
    flat = cells.ravel()
    spread = (np.diag(flat) - np.outer(flat, flat)) / (counts.sum() - 1)
    assert found.standard_error == pytest.approx(math.sqrt(gradient @ spread @ gradient), rel=1e-5)


def test_the_correction_covers_where_the_uncorrected_share_does_not() -> None:
    """0.95 of 3,000 made-up surveys, less 4.9 standard errors of simulation: a false alarm of 1e-6."""
    rng, share, surveys = np.random.default_rng(11), 0.1, 3000
    held = naive = 0
    values = []
    for _ in range(surveys):
        found = correct_inattention(draw_pairs(rng, 1000, share, 0.75), 0.15, 0.2)
        values.append(found.share)
        held += found.interval[0] <= share <= found.interval[1]
        naive += found.uncorrected_interval[0] <= share <= found.uncorrected_interval[1]
    allowed = 0.95 - 4.9 * math.sqrt(0.95 * 0.05 / surveys)
    assert held / surveys >= allowed
    assert naive / surveys < 0.5  # the twin: pulled to 1/2 by a quarter of the way
    assert np.mean(values) == pytest.approx(share, abs=4.9 * np.std(values) / math.sqrt(surveys) + 0.002)


def test_standard_errors_are_the_spread_of_estimates() -> None:
    rng = np.random.default_rng(12)
    found = [correct_inattention(draw_pairs(rng, 2000, 0.2, 0.8), 0.15, 0.2) for _ in range(1500)]
    spread = np.std([each.share for each in found])
    # 4.9 standard errors of a standard deviation over 1,500.
    assert np.mean([each.standard_error for each in found]) == pytest.approx(
        spread, rel=4.9 / math.sqrt(3000)
    )


def test_inattention_of_everybody_leaves_an_interval_without_ends() -> None:
    found = correct_inattention([[25, 25], [25, 25]], 0.15, 0.15)
    assert math.isnan(found.share)
    assert found.standard_error == math.inf
    assert found.interval == (-math.inf, math.inf)
    assert found.attentive == pytest.approx(0, abs=1e-12)
    weak = correct_inattention([[20, 25], [25, 30]], 0.15, 0.15)
    assert weak.interval == (-math.inf, math.inf)
    alone = correct_inattention([[0, 0], [0, 1]], 0.15, 0.15)
    assert alone.interval == (-math.inf, math.inf)


def test_that_all_attend_is_an_exact_test() -> None:
    found = correct_inattention([[10, 90], [30, 170]], 0.2, 0.2)
    assert found.inattention_p_value == pytest.approx(binom.cdf(260, 300, 0.8), abs=EXACT)
    # To an anchor that all have, "same" is rare, and inattention makes it common.
    found = correct_inattention([[200, 40], [50, 10]], 0.2, 0.2, 1.0)
    assert found.inattention_p_value == pytest.approx(binom.sf(49, 300, 0.2), abs=EXACT)


COUNTS = np.array([[310, 690], [520, 280]])


def test_both_groups_have_the_likeliest_share_and_its_test() -> None:
    """Maximised anew, of chances that are written here."""
    p = 0.25

    def loss(share: float) -> float:
        same = share * p + (1 - share) * (1 - p), share * (1 - p) + (1 - share) * p
        return -sum(
            float(binom.logpmf(yes, no + yes, chance)) for (no, yes), chance in zip(COUNTS, same, strict=True)
        )

    best = minimize_scalar(loss, bounds=(-0.4, 1.4), method="bounded", options={"xatol": 1e-11})
    saturated = sum(float(binom.logpmf(yes, no + yes, yes / (no + yes))) for no, yes in COUNTS)
    found = estimate_extended_crosswise(COUNTS, p)
    assert found.share == pytest.approx(best.x, abs=1e-6)
    assert found.g_squared == pytest.approx(2 * (saturated + best.fun), abs=1e-6)
    assert found.p_value == pytest.approx(chi2.sf(found.g_squared, 1), abs=1e-12)
    assert found.group_shares == pytest.approx([(0.69 - 0.75) / -0.5, (0.65 - 0.75) / -0.5], abs=1e-7)
    assert found.preference == pytest.approx(0.69 - 0.65)
    assert found.preference_error == pytest.approx(math.sqrt(0.69 * 0.31 / 999 + 0.65 * 0.35 / 799))
    low, high = found.preference_interval
    assert low < 0.04 < high


def test_groups_that_prefer_an_answer_are_told_from_those_that_throw_coins() -> None:
    """Expected counts of 10^6: of a fifth who say "same", or throw a coin; the share of all others is 0.2."""
    p, n = 0.25, 10**6
    same = np.array([0.2 * p + 0.8 * (1 - p), 0.2 * (1 - p) + 0.8 * p])

    def estimate(chances: NDArray[np.float64]) -> Any:
        yes = np.round(chances * n).astype(int)
        return estimate_extended_crosswise(np.stack([n - yes, yes], axis=1), p)

    preferring, tossing, honest = estimate(0.8 * same + 0.2), estimate(0.8 * same + 0.1), estimate(same)
    assert preferring.p_value < 1e-6
    assert preferring.preference == pytest.approx(0.2, abs=1e-5)
    assert tossing.p_value > 0.9
    assert tossing.share == pytest.approx(0.5 + 0.8 * (0.2 - 0.5), abs=1e-5)
    assert (honest.share, honest.p_value > 0.9) == (pytest.approx(0.2, abs=1e-5), True)


@pytest.mark.parametrize("answer", ["same", "different"])
def test_who_says_one_answer_whatever_is_true_is_taken_out(answer: str) -> None:
    """By maximum likelihood over the share and the sayers, written anew (Cruyff et al. 2024); a loss over a grid of
    both finds nothing better.
    """
    p, counts = 0.2, np.array([[370, 630], [780, 220]])  # more say "different" than any share gives
    turned = answer == "same"
    # Of who says "same", the groups change places, and so do the answers.
    found = estimate_extended_crosswise(counts[::-1, ::-1] if turned else counts, p)

    def loss(share: float, sayers: float) -> float:
        honest = share * p + (1 - share) * (1 - p)
        same = (1 - sayers) * np.array([honest, 1 - honest])
        return -float(np.sum(counts[:, 1] * np.log(same) + counts[:, 0] * np.log(1 - same)))

    best = minimize(
        lambda at: loss(*at), [0.2, 0.1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    assert found.followers_share == pytest.approx(best.x[0], abs=1e-6)
    assert abs(found.preference) == pytest.approx(best.x[1], abs=1e-6)
    assert found.preference == pytest.approx(0.15 if turned else -0.15)
    assert found.share - found.followers_share == pytest.approx(0.06, abs=0.01)  # the twin, drawn to 1/2


@pytest.mark.parametrize(("share", "sayers"), [(0.1, 0.0), (0.1, 0.3)])
def test_what_is_left_without_them_is_covered(share: float, sayers: float) -> None:
    """Exactly, over all pairs of counts of 30 people in each group that are not too rare."""
    p, n, held, naive, total = 0.2, 30, 0.0, 0.0, 0.0
    honest = share * p + (1 - share) * (1 - p)
    first, second = (binom.pmf(np.arange(n + 1), n, (1 - sayers) * each) for each in (honest, 1 - honest))
    for one in np.flatnonzero(first > 1e-5):
        for two in np.flatnonzero(second > 1e-5):
            chance = first[one] * second[two]
            found = estimate_extended_crosswise([[n - one, one], [n - two, two]], p)
            total += chance
            held += chance * (found.followers_interval[0] <= share <= found.followers_interval[1])
            naive += chance * (found.interval[0] <= share <= found.interval[1])
    assert held / total >= 0.93
    assert naive / total < 0.8 or not sayers  # the twin


def test_five_percent_of_honest_studies_are_suspected() -> None:
    """Exactly, over all pairs of counts that are not too rare."""
    p, n, total = 0.25, 60, 0.0
    first, second = (binom.pmf(np.arange(n + 1), n, chance) for chance in (0.65, 0.35))  # a share of 0.2
    for one in np.flatnonzero(first > 1e-6):
        for two in np.flatnonzero(second > 1e-6):
            found = estimate_extended_crosswise([[n - one, one], [n - two, two]], p)
            total += first[one] * second[two] * (found.p_value <= 0.05)
    assert total == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (estimate_extended_crosswise, ([[1, 2], [3, 4]], 1.0), "prevalence must be in the open interval"),
        (estimate_extended_crosswise, ([[1, 2], [0, 0]], 0.2), "must have a positive sum"),
        (estimate_extended_crosswise, ([1, 2], 0.2), r"counts must have shape \(2, 2\)"),
        (correct_inattention, ([[1, 2], [3, 4]], 0.2, 1.1), r"anchor_prevalence must be in \[0, 1\]"),
        (correct_inattention, ([[1, 2], [3, 4]], 0.2, 0.5), "anchor_prevalence must not be 1/2"),
        (correct_inattention, ([[1, 2], [3, 4]], 0.2, 0.2, 0.5), "anchor_share must not be 1/2"),
        (correct_inattention, ([[1, 2], [3, -4]], 0.2, 0.2), "must not be negative"),
        (correct_inattention, ([[1, 2, 3], [3, 4, 5]], 0.2, 0.2), "counts must have shape"),
    ],
)
def test_what_is_no_such_study_is_refused(call: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*arguments)


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(
        lambda cells: cells[0] + cells[1] > 0 < cells[2]
    ),
    st.floats(0.01, 0.45),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_no_table_raises_and_what_is_untold_is_said_to_be(
    cells: list[int], chance: float, known: float
) -> None:
    counts = np.reshape(cells, (2, 2))
    both = estimate_extended_crosswise(counts, chance)
    assert 0 <= both.p_value <= 1
    ends = (*both.interval, *both.preference_interval, *both.followers_interval)
    for value in (both.share, both.standard_error, *ends):
        assert not math.isnan(value)
    found = correct_inattention(counts, chance, 1 - chance, known)
    low, high = found.interval
    assert low <= high
    assert 0 <= found.inattention_p_value <= 1
    if math.isfinite(low):
        width = 1e-9 * max(1.0, high - low)
        assert low - width <= found.share <= high + width
        assert math.isfinite(found.standard_error)
    else:
        assert (low, high) == (-math.inf, math.inf)
