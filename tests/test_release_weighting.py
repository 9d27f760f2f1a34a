"""Weighted shares in releases: from noisy cells that were paid for by stratum, and nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.inputs.releases import parse_plan
from server.privacy.designs import coin_flip
from server.releases import divide, expected, ledger
from server.releases.cells import Counts, Noise
from server.releases.estimates import cell_row, people_row
from server.releases.kinds.weighting import strata_weights
from server.releases.shapes import Asked, Coins, Leaf, Shape, Variable
from server.releases.values import Figure
from server.reports import public_json, published
from tests import factories
from tests.conftest import NewDatabase
from tests.ledgers import found, grant

COINS = Coins(2, coin_flip(0.25))
ROW, PEOPLE = cell_row([COINS], [1]), people_row([COINS])
PLACE = (("q1", "yes"),)


def leaves(*populations: int | None) -> list[Leaf]:
    named = (Leaf((f"s{number}",), (number,), size) for number, size in enumerate(populations))
    return [Leaf((), ()), *named]


def weighted(
    strata: Sequence[Leaf], cells: Sequence[Sequence[int]], epsilon: float = 1.0
) -> tuple[Figure | None, Any]:
    noise = Noise("geometric", 1, epsilon, 0.0)
    table: Counts = np.array(cells)
    weights = strata_weights(strata, [table], [PEOPLE], noise, ())
    if weights is None:
        return None, {}
    return weights.share(PLACE, [table], [ROW], [PEOPLE], noise, 0.95, sampled=True), weights.notes


def test_strata_count_as_their_populations_and_those_without_stratum_do_not() -> None:
    figure, notes = weighted(leaves(9000, 1000), [[5, 5], [700, 300], [450, 550]])
    assert figure is not None
    assert figure.value == pytest.approx(0.9 * (0.3 - 0.25) / 0.5 + 0.1 * (0.55 - 0.25) / 0.5)
    assert notes == {"weighted_population": 10_000}
    # The twin: every response counting the same, 0.36 instead of 0.15.
    assert figure.value != pytest.approx((855 / 2010 - 0.25) / 0.5, abs=0.05)


def test_which_strata_stand_alone_follows_from_noisy_numbers() -> None:
    figure, notes = weighted(leaves(100, 200, 300), [[0, 0], [300, 100], [4, 2], [-3, 9]], 2.0)
    assert figure is not None
    # 6 and 6 are 12 together: enough for a cell of 500 people.
    assert notes["strata_together"] == "s1 + s2"
    assert figure.value == pytest.approx((0.25 - 0.25) / 0.5 / 6 + 5 / 6 * (11 / 12 - 0.25) / 0.5)
    _, few = weighted(leaves(100, 200, 300), [[0, 0], [300, 100], [1, 2], [-3, 4]], 2.0)
    assert few["strata_not_used"] == "s1; s2"


def test_a_missing_population_leaves_the_release_unweighted() -> None:
    assert weighted(leaves(9000, None), [[0, 0], [700, 300], [450, 550]]) == (None, {})


def test_the_interval_holds_the_weighted_share_as_often_as_it_says() -> None:
    """800 studies at a false-alarm rate of 1e-6; the twin, unweighted, misses almost always."""
    generator = np.random.default_rng(20261122)
    truths, sizes, noise = (0.1, 0.6), (300, 900), Noise("geometric", 1, 0.5, 0.0)
    true = 0.9 * truths[0] + 0.1 * truths[1]
    hits = twins = 0
    for _ in range(800):
        cells = np.zeros((3, 2), dtype=np.int64)
        for place, (share, size) in enumerate(zip(truths, sizes, strict=True), 1):
            yes = generator.binomial(size, 0.25 + 0.5 * share)
            cells[place] = size - yes, yes
        (noisy,) = noise.add([cells])
        weights = strata_weights(leaves(9000, 1000), [noisy], [PEOPLE], noise, ())
        assert weights is not None
        figure = weights.share(PLACE, [noisy], [ROW], [PEOPLE], noise, 0.95, sampled=True)
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        hits += figure.low <= true <= figure.high
        alike = float((noisy @ ROW).sum() / (noisy @ PEOPLE).sum())
        twins += abs(alike - true) <= (figure.high - figure.low) / 2
    assert hits >= 800 * 0.95 - 4.76 * (800 * 0.95 * 0.05) ** 0.5
    assert twins < 80


def test_a_release_by_stratum_says_the_weighted_share_first_and_names_the_other(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """By the command line and in the public report: strata of 9,000 and 1,000 people, 15 % weighted, 55 % not."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25]))
    links = factories.plant(database_url, survey.slug, "large, 9000\nsmall, 1000")
    factories.store(database_url, survey, [([1], 3000), ([0], 7000)], links["large"])
    factories.store(database_url, survey, [([1], 49500), ([0], 40500)], links["small"])
    factories.close(database_url, survey.slug)
    grant(database_url, survey.slug, epsilon="100")
    plan = tmp_path / "plan.json"
    plan.write_text(
        '{"format": 1, "items": [{"kind": "table", "questions": ["q1"], "by_stratum": true}], "epsilon": "50"}'
    )

    done = factories.run(database_url, "release", survey.slug, "--plan", str(plan), "--yes")

    assert done.exit_code == 0, done.output

    lines = [line for line in done.stdout.splitlines() if "q1 = yes" in line and "share" in line]
    assert "weighted_share" in lines[0]
    assert "0.15" in lines[0]
    assert "share, not weighted" in lines[-1]
    with factories.writing(database_url) as session:
        text = public_json(
            published(found(session, survey.slug), ledger(session, found(session, survey.slug)))
        )
    assert text.index('"weighted_share"') < text.index('"share"')


def test_a_plan_for_a_stratum_expects_the_error_of_as_many_people_as_are_there() -> None:
    """A stratum of a hundredth of the population: the noise of its share is a hundred times that of all."""
    shape = Shape(
        neighbours="unbounded",
        versions=(1,),
        variables=(Variable("q1", "q1", ("no", "yes"), False, False, 0, None, None, (Asked(1, (COINS,)),)),),
        leaves=tuple(leaves(9900, 100)),
        sampled=True,
        respondents=None,
    )

    def error(**item: object) -> float:
        asked = {"kind": "share", "question": "q1", "option": "yes", "epsilon": "1", **item}
        plan = parse_plan({"format": 1, "items": [asked], "people": 10_000, "division": "given"})
        (found,) = expected(divide(plan, shape), shape)
        assert found.standard_error is not None
        assert found.error is not None
        return found.error

    assert error(stratum=["s1"]) / error() == pytest.approx(100, rel=0.01)
    assert error(stratum=["s0"]) / error() == pytest.approx(1 / 0.99, rel=0.01)
