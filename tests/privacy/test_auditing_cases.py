"""What `python -m server audit` tries: published errors worked by hand, and the whole table."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import laplace

from server.privacy.auditing import exact_loss, published_errors
from server.privacy.auditing.cases import Case, Finding, judge

ROOT = Path(__file__).resolve().parents[2]


def test_geometric_noise_by_sign_loses_ln_2_too_much() -> None:
    # methods.md section 9: eps 1 -> 1.6931.
    line = np.arange(-50, 52)
    first, second = (published_errors.signed_geometric_pmf(line, count, 1.0) for count in (0, 1))
    assert first.sum() == pytest.approx(1, abs=1e-12)
    assert exact_loss(first, second) == pytest.approx(1 + math.log(2), abs=1e-12)
    # The right one, two-sided: a twin that must pass.
    right = [math.tanh(0.5) * np.exp(-np.abs(line - count)) for count in (0, 1)]
    assert exact_loss(*right) == pytest.approx(1, abs=1e-12)


def test_uniform_noise_shows_who_is_there() -> None:
    few = np.arange(-3, 5)
    weights = [published_errors.uniform_noise_weights(few, count) for count in (0, 1)]
    assert exact_loss(*weights) == math.inf


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_clamping_down_loses_what_its_density_ratio_says(n: int) -> None:
    # methods.md section 9: (n+1)/n exp(eps n/(n+1)), above e^eps whenever eps < (n+1) ln(1+1/n).
    inside = np.linspace(-0.9999, 0.9999, 200_001)
    densities = [size * laplace.pdf(inside * size, total, 2.0) for size, total in ((n, -n), (n + 1, -n + 1))]
    worst = float((densities[1] / densities[0]).max())
    assert worst == pytest.approx((n + 1) / n * math.exp(n / (n + 1)), rel=1e-3)
    assert (worst > math.e) is ((n + 1) * math.log(1 + 1 / n) > 1)


def test_clamping_down_of_one_person_loses_more_than_e() -> None:
    assert 2 * math.exp(0.5) == pytest.approx(3.297, abs=5e-4)
    assert 2 * math.exp(0.5) > math.e == pytest.approx(2.718, abs=5e-4)


def redrawn_density(x: float, n: int, total: float) -> float:
    """Density of (total + Lap(2)) / n, redrawn until it is in [-1, 1]; eps = 1."""
    return float(
        n * laplace.pdf(n * x, total, 2.0) / (laplace.cdf(n, total, 2.0) - laplace.cdf(-n, total, 2.0))
    )


def test_a_redrawn_mean_loses_up_to_2_e_in_large_groups_only() -> None:
    # Against methods.md section 9, which gives 2 e^eps for D = {-1}, D' = {-1, 1}: the chances to be inside are
    # 1 to 2, but so are the densities' own factors n, and e^eps is what is left.
    assert redrawn_density(-1, 1, -1) / redrawn_density(-1, 2, 0) == pytest.approx(math.e, rel=1e-12)
    # With n people on the lower bound it is n/(n+1) (2 e - 1 - e^(1-n)) / (1 - e^-n), above e from n = 2.
    for n in (2, 20, 200):
        expected = n / (n + 1) * (2 * math.e - 1 - math.exp(1 - n)) / (1 - math.exp(-n))
        found = redrawn_density(-1, n, -n) / redrawn_density(-1, n + 1, -n + 1)
        assert found == pytest.approx(expected, rel=1e-12)
        assert found > math.e


@pytest.mark.parametrize(("scale", "sensitivity", "loss"), [(2.0, 11.0, 5.5), (0.5, 1.0, 2.0)])
def test_laplace_noise_of_the_wrong_scale_loses_the_ratio(
    scale: float, sensitivity: float, loss: float
) -> None:
    # methods.md section 9: the sum of [10, 11] loses 5.5 eps; the count with Lap(eps/2) loses 2 at eps 1.
    x = np.linspace(-100, 100, 2001)
    ratios = laplace.logpdf(x, sensitivity, scale) - laplace.logpdf(x, 0, scale)
    assert np.abs(ratios).max() == pytest.approx(loss)


@pytest.mark.parametrize("positives", [1, 2, 5])
def test_sparse_vector_noise_that_ignores_the_positives_loses_what_its_paper_says(positives: int) -> None:
    # methods.md section 9: (1 + 6c) / 4 * eps. A thousand answers below and then c above, eps 1, integrated over
    # the noisy threshold: an answer's noise is Lap(4/3), the threshold's Lap(4).
    offsets = np.linspace(-200, 200, 400_001)

    def chance(below: float, above: float) -> float:
        logarithms = 1000 * laplace.logcdf(offsets - below, 0, 4 / 3)
        logarithms += positives * laplace.logsf(offsets - above, 0, 4 / 3) + laplace.logpdf(offsets, 0, 4)
        return float(logsumexp(logarithms))

    assert chance(0, 1) - chance(1, 0) == pytest.approx((1 + 6 * positives) / 4, abs=1e-6)


def test_a_shipped_loss_above_its_claim_is_certified_and_a_wrong_one_below_is_missed() -> None:
    def verdict(certified: float, *, shipped: bool) -> str:
        once = (lambda: None) if shipped else None
        return judge(Case("one", 1.0, lambda: Finding(certified, "an event"), once)).verdict

    assert verdict(1.01, shipped=True) == "certified above"
    assert verdict(1.0, shipped=True) == "not refuted"
    assert verdict(math.inf, shipped=False) == "caught"
    assert verdict(0.99, shipped=False) == "missed"


def test_the_command_refutes_no_shipped_claim_and_catches_every_wrong_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "server", "audit", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    def no_json(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    rows = json.loads(done.stdout, parse_constant=no_json)
    keys = {
        "mechanism",
        "claimed_epsilon",
        "certified_epsilon",
        "detectable",
        "event",
        "shipped",
        "verdict",
    }
    assert all(set(row) == keys for row in rows)
    assert len({row["mechanism"] for row in rows}) == len(rows)
    shipped = [row for row in rows if row["shipped"]]
    wrong = [row for row in rows if not row["shipped"]]
    assert [row for row in shipped if not row["certified_epsilon"] <= row["claimed_epsilon"]] == []
    assert [row for row in shipped if not row["detectable"] >= 1.3 * row["claimed_epsilon"]] == []
    assert [row for row in wrong if not row["certified_epsilon"] > row["claimed_epsilon"]] == []
    assert {row["verdict"] for row in shipped} == {"not refuted"}
    assert {row["verdict"] for row in wrong} == {"caught"}
    # Rows of methods.md section 9 marked [audit]: seven, and four variants of the sparse vector.
    assert len(wrong) == 11
    # Where noise can be followed the loss is computed; by running, only that it is drawn as it was asked for.
    assert all("drawn" in row["mechanism"] for row in shipped if math.isfinite(row["detectable"]))
