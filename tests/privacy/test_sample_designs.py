"""Strata, clusters, finite populations and replicate weights: against formulas written down here, and made-up samples.

The formulas are those of Wolter (2007) and Särndal, Swensson and Wretman (1992), which R's survey package documents as
its own (Lumley 2010): computed here row by row, without our code. Coverage is of made-up populations: each interval is
held against 0.94 with a false-alarm rate of 1e-6, and a twin that leaves the design out must fail the same test.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from server.privacy.consistency.raking import rake_weights
from server.privacy.designs import coin_flip
from server.privacy.estimators.coefficients import Coefficients, share_coefficients
from server.privacy.estimators.replicate_weights import (
    make_bootstrap,
    make_jackknife,
    use_replicates,
)
from server.privacy.estimators.sample_designs import Replicates, SampleDesign
from server.privacy.estimators.weighted_rows import WeightedEstimate, WeightedPart, estimate_from_rows
from tests.support.scale import choose_size

COIN = coin_flip(0.25)
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


def estimate(reports: Numbers, sample: SampleDesign, rows: Numbers | None = None) -> WeightedEstimate:
    """The share of Yes under the coin."""
    whole = share_coefficients([COIN])
    yes = Coefficients(whole.numerators[1:], whole.denominator)
    places = np.arange(len(reports)) if rows is None else rows
    return estimate_from_rows([WeightedPart(places, reports, COIN, yes)], sample)


def flip(rng: np.random.Generator, truths: NDArray[np.integer] | NDArray[np.bool_]) -> Numbers:
    """The reports of true answers."""
    return (rng.random(len(truths)) < np.where(truths, 0.75, 0.25)).astype(np.int64)


def make_rows() -> tuple[Numbers, Floats, Numbers, Numbers]:
    """Reports, weights, strata and clusters of 600 rows: 3 strata of 4, 9 and 12 clusters, numbered anew in each."""
    rng = np.random.default_rng(31)
    strata = rng.choice(3, 600, p=[0.2, 0.3, 0.5])
    clusters = rng.integers(0, np.array([4, 9, 12])[strata])
    level = rng.choice([0.0, 0.9], (3, 12))[strata, clusters]
    return (
        flip(rng, rng.random(600) < level),
        np.array([1.0, 2.5, 4.0])[strata] * rng.uniform(0.8, 1.2, 600),
        strata,
        clusters,
    )


def linearise(
    guesses: Floats,
    weights: Floats,
    strata: Numbers,
    clusters: Numbers,
    sizes: dict[int, float] | None = None,
) -> tuple[float, float]:
    """A weighted mean and its variance between clusters within strata, summed one by one."""
    value = sum(w * g for w, g in zip(weights, guesses, strict=True)) / sum(weights)
    totals: dict[int, dict[int, float]] = {}
    for w, g, h, c in zip(weights, guesses, strata.tolist(), clusters.tolist(), strict=True):
        own = totals.setdefault(h, {})
        own[c] = own.get(c, 0.0) + w * (g - value) / sum(weights)
    variance = 0.0
    for h, own in totals.items():
        m, mean = len(own), sum(own.values()) / len(own)
        left = 1 - m / sizes[h] if sizes else 1
        variance += left * m / (m - 1) * sum((total - mean) ** 2 for total in own.values())
    return float(value), variance


def test_strata_and_clusters_are_the_textbook_sum() -> None:
    reports, weights, strata, clusters = make_rows()
    found = estimate(reports, SampleDesign(weights, strata=strata, clusters=clusters))
    value, variance = linearise(2 * reports - 0.5, weights, strata, clusters)
    assert found.value == pytest.approx(value)
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.degrees_of_freedom == 25 - 3
    reach = stats.t.ppf(0.975, 22) * math.sqrt(variance)
    assert found.interval == pytest.approx((value - reach, value + reach))
    assert found.effective_n == pytest.approx(600 / found.design_effect)
    # The twin takes rows for clusters.
    assert estimate(reports, SampleDesign(weights, strata=strata)).standard_error < 0.8 * found.standard_error


def test_a_part_of_a_stratum_that_was_drawn_takes_away_what_drawing_adds_and_no_coins() -> None:
    """Where all clusters were drawn, what is left is what the coins add: of each row 4 times 3/16, whatever it is."""
    reports, weights, strata, clusters = make_rows()
    sizes = np.array([8.0, 18.0, 24.0])
    half = estimate(reports, SampleDesign(weights, strata=strata, clusters=clusters, populations=sizes))
    _, endless = linearise(2 * reports - 0.5, weights, strata, clusters)
    coins = float((weights**2).sum()) * 0.75 / float(weights.sum()) ** 2
    assert half.standard_error**2 == pytest.approx(endless / 2 + coins / 2)
    whole = SampleDesign(weights, strata=strata, clusters=clusters, populations=sizes / 2)
    assert estimate(reports, whole).standard_error ** 2 == pytest.approx(coins)


def test_the_jackknife_is_what_leaving_out_each_cluster_gives() -> None:
    reports, weights, strata, clusters = make_rows()
    sample = SampleDesign(weights, strata=strata, clusters=clusters)
    found = estimate(reports, SampleDesign(weights, replicates=make_jackknife(sample)))
    guesses = 2 * reports - 0.5
    value, variance = float(weights @ guesses / weights.sum()), 0.0
    for h, m in enumerate((4, 9, 12)):
        for c in range(m):
            left = np.where(strata == h, m / (m - 1), 1.0) * ~((strata == h) & (clusters == c)) * weights
            variance += (m - 1) / m * (float(left @ guesses / left.sum()) - value) ** 2
    assert (found.value, found.standard_error) == pytest.approx((value, math.sqrt(variance)))
    assert found.degrees_of_freedom == 22
    linear = estimate(reports, sample)
    assert found.standard_error == pytest.approx(linear.standard_error, rel=0.05)
    # The same weights as columns.
    made = make_jackknife(sample)
    columns = [made.make(number) for number in range(made.count)]
    given = use_replicates(columns, "jkn", rscales=made.factors, centred=False)
    again = estimate(reports, SampleDesign(weights, replicates=given))
    assert (again.standard_error, again.degrees_of_freedom) == (pytest.approx(found.standard_error), 22)
    # Where everybody was drawn, the coins vary as ever: what replicates vary by does not vanish.
    whole = SampleDesign(weights, strata=strata, clusters=clusters, populations=np.array([4.0, 9.0, 12.0]))
    assert make_jackknife(whole).factors.tolist() == made.factors.tolist()
    assert make_bootstrap(whole, 2, 1).make(0).tolist() == make_bootstrap(sample, 2, 1).make(0).tolist()


def test_bootstrap_of_clusters_is_near_and_the_same_for_one_seed() -> None:
    reports, weights, strata, clusters = make_rows()
    sample = SampleDesign(weights, strata=strata, clusters=clusters)
    errors = [
        estimate(
            reports, SampleDesign(weights, replicates=make_bootstrap(sample, 2_000, seed))
        ).standard_error
        for seed in (1, 1, 2)
    ]
    assert errors[0] == errors[1] != errors[2]
    assert errors[0] == pytest.approx(estimate(reports, sample).standard_error, rel=0.1)
    few = strata == 0  # of four clusters: as many drawn again as there are would have 3/4 of the variance
    alone = SampleDesign(weights[few], clusters=clusters[few])
    again = SampleDesign(weights[few], replicates=make_bootstrap(alone, 2_000, 1))
    linear = estimate(reports[few], alone).standard_error
    assert estimate(reports[few], again).standard_error == pytest.approx(linear, rel=0.1)
    rows = make_bootstrap(SampleDesign(weights), 2_000, 1)
    assert estimate(reports, SampleDesign(weights, replicates=rows)).standard_error < 0.9 * errors[0]


@pytest.mark.parametrize(
    ("kind", "more", "factor"),
    [
        ("jk1", {}, 3 / 4),
        ("jkn", {"rscales": [0.5, 0.5, 0.5, 0.5]}, 0.5),
        ("brr", {}, 1 / 4),
        ("fay", {"rho": 0.3}, 1 / 4 / 0.49),
        ("bootstrap", {}, 1 / 3),
        ("other", {"scale": 0.2}, 0.2),
    ],
)
@pytest.mark.parametrize("centred", [True, False])
def test_columns_of_replicate_weights_count_as_their_kind_says(
    kind: str, more: dict[str, float], factor: float, centred: bool
) -> None:
    rng = np.random.default_rng(8)
    reports, columns = rng.integers(0, 2, 40), rng.uniform(0.1, 2, (4, 40)) ** 6
    weights = np.ones(40)
    given = use_replicates(list(columns), kind, centred=centred, **more)  # type: ignore[arg-type]
    found = estimate(reports, SampleDesign(weights, replicates=given))
    values = columns @ (2 * reports - 0.5) / columns.sum(axis=1)
    middle = values.mean() if centred else (2 * reports - 0.5).mean()
    variance = factor * float(((values - middle) ** 2).sum())
    assert variance > 0.75 / 40, "never less than what the coins add whatever the answers are"
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.degrees_of_freedom == 3


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ([[1, 1]], {"kind": "brr"}, "columns must be at least two"),
        ([[1, 1], [1]], {"kind": "brr"}, "columns must be at least two of one length"),
        ([[1, 1], [1, -1]], {"kind": "brr"}, "columns must not hold numbers below 0"),
        ([[1, 1], [1, 1]], {"kind": "jkn"}, "rscales must be given for jkn"),
        ([[1, 1], [1, 1]], {"kind": "fay"}, "rho must be given for fay"),
        ([[1, 1], [1, 1]], {"kind": "fay", "rho": 1}, r"rho must be in \[0, 1\)"),
        ([[1, 1], [1, 1]], {"kind": "brr", "scale": 0}, "scale must be"),
        ([[1, 1], [1, 1]], {"kind": "brr", "rscales": [1]}, "rscales must be 2 numbers"),
        ([[1, 1], [1, 1]], {"kind": "magic"}, "kind must be"),
    ],
)
def test_replicates_that_cannot_be_are_refused(
    columns: list[list[float]], more: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        use_replicates(columns, **more)  # type: ignore[arg-type]


def test_a_stratum_of_one_cluster_is_held_against_the_mean_of_all() -> None:
    """And has no replicates."""
    reports, strata = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1, 2])
    sample = SampleDesign(np.ones(6), strata=strata)
    found = estimate(reports, sample)
    pulls = (2 * reports - 0.5 - found.value) / 6
    variance = 1.5 * ((pulls[:3] - pulls[:3].mean()) ** 2).sum()
    variance += 2 * ((pulls[3:5] - pulls[3:5].mean()) ** 2).sum() + (pulls[5] - pulls.mean()) ** 2
    assert found.standard_error == pytest.approx(math.sqrt(max(variance, 0.75 / 6)))
    assert (found.degrees_of_freedom, sample.units.lonely) == (3, 1)
    with pytest.raises(ValueError, match="strata must have at least 2 units each; stratum 2 has 1"):
        make_jackknife(sample)


Drawn = tuple[Numbers, Floats, Numbers, Numbers]


def draw(rng: np.random.Generator, levels: Floats, schools: Numbers) -> Drawn:
    """Of two strata 12 and 18 schools of 25 people each, drawn from many; the second stratum is of 3 in 4 people."""
    strata = np.repeat([0, 1], [12 * 25, 18 * 25])
    clusters = np.repeat(np.arange(30), 25)
    chosen = np.concatenate([rng.integers(0, len(schools), 12), rng.integers(0, len(schools), 18)])
    level = levels[np.repeat([0, 1], [12, 18]), schools[chosen]]
    reports = flip(rng, rng.random(750) < level[clusters])
    return reports, np.repeat([0.25 / 300, 0.75 / 450], [300, 450]), strata, clusters


def replicate(sample: SampleDesign, method: str) -> Replicates:
    return make_jackknife(sample) if method == "jackknife" else make_bootstrap(sample, 200, 7)


@pytest.mark.scaled
@pytest.mark.parametrize("method", ["linearised", "jackknife", "bootstrap"])
def test_schools_within_strata_cover_what_is_true_and_rows_do_not(method: str) -> None:
    """The nearness of answers inside a school is as large as their share lets be: the twin counts rows for schools."""
    rng, samples = (
        np.random.default_rng(41),
        choose_size(300, 2000) if method != "bootstrap" else choose_size(150, 1000),
    )
    levels = np.array([[0.0, 0.2, 0.4, 0.6], [0.1, 0.5, 0.7, 0.9]])
    truth, covered, naive = float(0.25 * levels[0].mean() + 0.75 * levels[1].mean()), 0, 0
    for _ in range(samples):
        reports, weights, strata, clusters = draw(rng, levels, np.arange(4))
        sample = SampleDesign(weights, strata=strata, clusters=clusters)
        if method != "linearised":
            sample = SampleDesign(weights, replicates=replicate(sample, method))
        low, high = estimate(reports, sample).interval
        covered += low < truth < high
        low, high = estimate(reports, SampleDesign(weights, strata=strata)).interval
        naive += low < truth < high
    assert stats.binomtest(covered, samples, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(naive, samples, 0.94, alternative="less").pvalue < 1e-6


@pytest.mark.scaled
def test_a_large_part_of_each_stratum_covers_what_is_true() -> None:
    """Half and nine tenths of two strata are asked; the twin takes the correction for the coins' variance, too."""
    rng, samples = np.random.default_rng(43), choose_size(600, 4000)
    people = [rng.random(400) < 0.1, rng.random(200) < 0.6]
    truth = (people[0].sum() + people[1].sum()) / 600
    strata, weights = np.repeat([0, 1], [200, 180]), np.repeat([2.0, 200 / 180], [200, 180])
    sample = SampleDesign(weights, strata=strata, populations=np.array([400.0, 200.0]))
    covered, twin = 0, 0
    for _ in range(samples):
        asked = [rng.choice(own, size, replace=False) for own, size in zip(people, (200, 180), strict=True)]
        reports = flip(rng, np.concatenate(asked))
        found = estimate(reports, sample)
        covered += found.interval[0] < truth < found.interval[1]
        spread = [float(np.var(2 * reports[strata == h], ddof=1)) for h in (0, 1)]
        variance = (2 / 3) ** 2 * 0.5 * spread[0] / 200 + (1 / 3) ** 2 * 0.1 * spread[1] / 180
        twin += abs(found.value - truth) < 1.96 * math.sqrt(variance)
    assert stats.binomtest(covered, samples, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, samples, 0.94, alternative="less").pvalue < 1e-6


@pytest.mark.scaled
def test_margins_that_cross_are_raked_again_in_each_replicate() -> None:
    """Two margins, one of them of crossed cells; the twin leaves the calibration out of its replicates."""
    rng, samples = np.random.default_rng(47), choose_size(80, 1000)
    covered, twins = 0, []
    for _ in range(samples):
        sex, age, town = (rng.random((3, 400)) < np.array([[0.3], [0.6], [0.5]])).astype(np.int64)
        reports = flip(rng, rng.random(400) < 0.05 + 0.5 * sex + 0.3 * age * sex)
        margins = [(2 * sex + age, np.array([25, 25, 25, 25])), (town, np.array([1, 1]))]

        def calibrate(weights: Floats, margins: list[tuple[Numbers, Numbers]] = margins) -> Floats:
            kept = weights > 0
            raked = np.zeros(len(weights))
            raked[kept] = rake_weights(
                weights[kept], [(own[kept], shares) for own, shares in margins]
            ).weights
            return raked

        groups = [own for own, _ in margins]
        start = SampleDesign(np.ones(400), groups)
        weights = calibrate(np.ones(400))
        again = SampleDesign(weights, replicates=make_bootstrap(start, 100, 3, calibrate))
        found, linear = estimate(reports, again), estimate(reports, SampleDesign(weights, groups))
        covered += found.interval[0] < 0.05 + 0.5 * 0.5 + 0.3 * 0.25 < found.interval[1]
        plain = estimate(
            reports, SampleDesign(weights, replicates=make_bootstrap(SampleDesign(weights), 100, 3))
        )
        twins.append(
            (found.standard_error / linear.standard_error, plain.standard_error / linear.standard_error)
        )
    assert stats.binomtest(covered, samples, 0.94, alternative="less").pvalue > 1e-6
    with_it, without = np.array(twins).mean(axis=0)
    assert 0.97 < with_it < 1.03
    assert without > 1.05
