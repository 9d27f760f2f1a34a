"""Estimates from weighted rows: against closed forms, a jackknife, and made-up populations sampled many times."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from server.privacy.consistency.raking import fit_margins, rake_weights
from server.privacy.designs import coin_flip
from server.privacy.estimators import estimate_shares
from server.privacy.estimators.coefficients import Coefficients, share_coefficients
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.weighted_rows import WeightedEstimate, WeightedPart, estimate_from_rows

COIN = coin_flip(0.25)
Numbers = NDArray[np.int64]


def one_part(reports: Numbers, rows: Numbers | None = None) -> WeightedPart:
    """The share of Yes under the coin."""
    whole = share_coefficients([COIN])
    yes = Coefficients(whole.numerators[1:], whole.denominator)
    return WeightedPart(np.arange(len(reports)) if rows is None else rows, reports, COIN, yes)


def estimate(reports: Numbers, sample: SampleDesign) -> WeightedEstimate:
    return estimate_from_rows([one_part(reports)], sample)


def flip(rng: np.random.Generator, truths: Numbers) -> Numbers:
    """The reports of true answers."""
    return (rng.random(len(truths)) < COIN.matrix[truths, 1]).astype(np.int64)


def test_rows_that_count_the_same_give_the_plain_estimate() -> None:
    reports = np.repeat([0, 1], [130, 70])
    plain = estimate_shares([130, 70], COIN, interval="wald")
    found = estimate(reports, SampleDesign(np.full(200, 3.5)))
    assert found.value == pytest.approx(plain.shares[1], abs=1e-12)
    assert found.standard_error == pytest.approx(plain.standard_errors[1], rel=1e-12)
    assert found.degrees_of_freedom == 199
    assert found.design_effect == pytest.approx(200 / 199)


def test_clusters_of_the_same_reports_say_as_much_as_one_row_each() -> None:
    """Ten equal copies of a row are one row: the variance is that of the fifty, and ten times what 500 would have."""
    few = np.repeat([0, 1], [30, 20])
    alone = estimate(few, SampleDesign(np.ones(50)))
    copied = estimate(np.repeat(few, 10), SampleDesign(np.ones(500), clusters=np.repeat(np.arange(50), 10)))
    assert copied.value == pytest.approx(alone.value)
    assert copied.standard_error == pytest.approx(alone.standard_error)
    assert copied.interval == pytest.approx(alone.interval)
    assert copied.design_effect == pytest.approx(10 * alone.design_effect)


def test_it_is_what_leaving_out_a_cluster_at_a_time_gives() -> None:
    """The delete-one jackknife, raked anew each time, within 2 %."""
    rng = np.random.default_rng(7)
    clusters = rng.integers(0, 120, 3_000)
    groups, others = clusters % 3, rng.integers(0, 2, 3_000)
    truths = (rng.random(3_000) < 0.3 * groups + 0.4 * rng.random(120)[clusters]).astype(np.int64)
    reports, given = flip(rng, truths), rng.uniform(0.5, 3, 3_000)
    margins = [(groups, [2, 5, 3]), (others, [1, 1])]

    def value(kept: NDArray[np.bool_]) -> float:
        raked = rake_weights(given[kept], [(codes[kept], shares) for codes, shares in margins]).weights
        guesses = 2 * reports[kept] - 0.5
        return float(raked @ guesses / raked.sum())

    found = estimate(
        reports, SampleDesign(rake_weights(given, margins).weights, [groups, others], clusters=clusters)
    )
    values = np.array([value(clusters != left_out) for left_out in range(120)])
    jackknife = math.sqrt(119 / 120 * float(((values - values.mean()) ** 2).sum()))
    assert found.value == pytest.approx(value(np.ones(3_000, np.bool_)), abs=1e-9)
    assert found.standard_error == pytest.approx(jackknife, rel=0.02)
    # Twins that leave out what the margins tell, or which rows came together.
    sample = SampleDesign(rake_weights(given, margins).weights, [], clusters=clusters)
    assert estimate(reports, sample).standard_error > 1.02 * jackknife
    assert (
        estimate(reports, replace(sample, margins=[groups, others], clusters=None)).standard_error
        < 0.98 * jackknife
    )


def test_it_covers_what_is_true_where_groups_were_drawn_unevenly() -> None:
    """Of two groups one was drawn nine times as often, and raked back. Twins that count rows, or people, do not."""
    rng = np.random.default_rng(11)
    truth = 0.5 * 0.15 + 0.5 * 0.55
    covered = {"rows": 0, "raked": 0, "as people": 0}
    for _ in range(1_500):
        groups = np.repeat([0, 1], [900, 100])
        truths = (rng.random(1_000) < np.where(groups == 1, 0.55, 0.15)).astype(np.int64)
        reports = flip(rng, truths)
        raked = rake_weights(np.ones(1_000), [(groups, [1, 1])]).weights
        found = estimate(reports, SampleDesign(raked, [groups]))
        plain = estimate(reports, SampleDesign(np.ones(1_000)))
        low, high = found.interval
        covered["raked"] += low < truth < high
        covered["rows"] += plain.interval[0] < truth < plain.interval[1]
        reported = float(raked @ reports / raked.sum())
        naive = 1.96 * 2 * math.sqrt(reported * (1 - reported) / raked.sum())
        covered["as people"] += abs(found.value - truth) < naive
    assert covered["raked"] / 1_500 >= 0.94
    assert covered["rows"] / 1_500 < 0.1
    assert covered["as people"] / 1_500 < 0.85


def test_a_sample_of_everybody_still_varies_by_its_coins() -> None:
    """Of 400 people all are asked: nothing varies by who is drawn, and the coins vary as ever. The twin that takes the
    correction for the whole variance would say that the result is certain."""
    rng = np.random.default_rng(5)
    truths = np.repeat([0, 1], [300, 100])
    values, errors = [], []
    for _ in range(2_000):
        found = estimate(flip(rng, truths), SampleDesign(np.ones(400), populations=np.array([400.0])))
        values.append(found.value)
        errors.append(found.standard_error)
    spread = float(np.std(values))
    assert np.mean(values) == pytest.approx(0.25, abs=4 * spread / math.sqrt(2_000))
    assert math.sqrt(float(np.mean(np.square(errors)))) == pytest.approx(spread, rel=0.06)
    alone = estimate(flip(rng, truths), SampleDesign(np.ones(400)))
    assert 0 < np.mean(errors) < alone.standard_error


def test_a_margin_of_many_groups_pays_for_what_it_fits() -> None:
    """Twenty groups of ten rows; and where clusters are the groups, nothing is left to tell how much they vary."""
    rng = np.random.default_rng(3)
    groups, covered = np.repeat(np.arange(20), 10), 0
    for _ in range(1_000):
        reports = flip(rng, (rng.random(200) < 0.3).astype(np.int64))
        found = estimate(reports, SampleDesign(np.ones(200), [groups]))
        covered += found.interval[0] < 0.3 < found.interval[1]
    assert covered / 1_000 >= 0.93
    assert found.degrees_of_freedom == 180
    alone = estimate(reports, SampleDesign(np.ones(200), [groups], clusters=groups))
    assert alone.interval == (-math.inf, math.inf)


def test_rows_that_are_alike_make_nothing_certain() -> None:
    """All say No, and the coins are known: never an interval without a width."""
    found = estimate(np.zeros(40, np.int64), SampleDesign(np.ones(40)))
    assert found.standard_error == pytest.approx(2 * math.sqrt(3 / 16 / 40))
    whole = estimate(np.zeros(40, np.int64), SampleDesign(np.ones(40), populations=np.array([40.0])))
    assert whole.standard_error == found.standard_error


def test_rows_that_have_all_the_weight_and_are_alike_say_as_much_as_they_are() -> None:
    """Twenty of forty; before, the other twenty made a design effect of 10^11 and an effective number of 0."""
    uneven = np.repeat([1e-6, 1e6], 20)
    found = estimate(np.repeat([1, 0], 20), SampleDesign(uneven))
    assert found.effective_n == pytest.approx(20, rel=1e-6)
    # Where reports vary, the effect is that of the weights, as before.
    rng = np.random.default_rng(3)
    weights, reports = rng.uniform(0.2, 5, 4_000), flip(rng, rng.integers(0, 2, 4_000))
    kish = 4_000 * float(weights @ weights) / float(weights.sum()) ** 2
    assert estimate(reports, SampleDesign(weights)).design_effect == pytest.approx(kish, rel=0.03)


def test_rows_that_were_not_asked_count_for_nobody() -> None:
    reports = np.repeat([0, 1], [60, 40])
    weights = np.linspace(1, 2, 150)
    some = estimate_from_rows([one_part(reports, np.arange(50, 150))], SampleDesign(weights))
    own = estimate(reports, SampleDesign(weights[50:]))
    assert (some.value, some.n) == (pytest.approx(own.value), 100)
    assert some.standard_error == pytest.approx(own.standard_error)
    assert some.design_effect == pytest.approx(own.design_effect)


def test_raked_rows_are_a_fitted_table() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 3, 400), rng.integers(0, 2, 400)
    weights = rng.uniform(0.5, 2, 400)
    raked = rake_weights(weights, [(first, [2, 3, 5]), (second, [1, 3])])
    table = np.zeros((3, 2))
    np.add.at(table, (first, second), weights)
    total = weights.sum()
    fitted = fit_margins(table, [np.array([0.2, 0.3, 0.5]) * total, np.array([0.25, 0.75]) * total])
    found = np.zeros((3, 2))
    np.add.at(found, (first, second), raked.weights)
    assert found == pytest.approx(fitted.table, rel=1e-6)
    assert raked.weights.sum() == pytest.approx(total)
    assert raked.rounds > 1


@pytest.mark.parametrize(
    ("weights", "margins", "message"),
    [
        ([1, 0], [], "weights must be above 0; one is 0.0"),
        ([], [], "weights must have at least one entry"),
        ([1, 1], [([0, 0], [1, 1])], "groups of margin 0 must each have a row; 1 has none"),
        ([1, 1], [([0, 2], [1, 1])], "groups of margin 0 must be in [0, 1]; one is 2"),
        ([1, 1], [([0, 1], [1, 0])], "shares of margin 0 must be above 0; one is 0.0"),
        ([1, 1], [([0], [1])], "groups of margin 0 must have shape (2,); their shape is (1,)"),
        (
            [1, 1],
            [([0, 1], [1, 1]), ([0, 1], [1, 2])],
            "margins must be within reach of the rows; after 10000 rounds",
        ),
    ],
)
def test_what_cannot_be_raked_is_refused(weights: list[float], margins: list[object], message: str) -> None:
    with pytest.raises(
        ValueError, match="^" + message.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")
    ):
        rake_weights(weights, margins)  # type: ignore[arg-type]


def test_what_no_sample_is_is_refused() -> None:
    reports = np.array([0, 1, 1])
    alone = estimate(reports, SampleDesign(np.ones(3), clusters=np.zeros(3, np.int64)))
    assert alone.interval == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="populations must be at least the units of each stratum"):
        estimate(reports, SampleDesign(np.ones(3), populations=np.array([2.0])))
