"""Auditing: exact losses, certified bounds from samples, and twins that must be told apart."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from server.privacy.auditing import audit, exact_loss
from server.privacy.designs import coin_flip, draw_coins, forced_response

# Of each audit below; there are about a dozen in this file.
CONFIDENCE = 1 - 1e-7


def report(truth: int, runs: int) -> Any:
    return coin_flip(0.25).report(np.full(runs, truth), draw_coins(runs))


def laplace(scale: float) -> Callable[[float, int], Any]:
    return lambda value, runs: value + np.random.default_rng().laplace(0, scale, runs)


def test_a_design_loses_the_logarithm_of_its_worst_column() -> None:
    assert exact_loss(coin_flip(0.25)) == math.log(3) == coin_flip(0.25).epsilon
    assert exact_loss(coin_flip(0.25).weights) == math.log(3)
    assert exact_loss([3, 1], [1, 3]) == exact_loss([0.75, 0.25], [0.25, 0.75]) == math.log(3)


def test_the_loss_is_the_maximum_over_reports() -> None:
    # methods.md section 9: ln(Pr(yes|yes)/Pr(no|yes)) is another number for a design that is not symmetric.
    design = forced_response(0.5, 0.125)
    yes = design.matrix[1]
    assert exact_loss(design) == pytest.approx(math.log(0.625 / 0.125))
    assert math.log(yes[1] / yes[0]) == pytest.approx(0.511, abs=5e-4)


def test_a_loss_is_exact_and_never_rounded_down() -> None:
    third = [Fraction(1, 3), Fraction(2, 3)]
    loss = exact_loss(third, third[::-1])
    assert loss >= math.log(2)
    assert math.nextafter(loss, 0) <= math.log(2)
    assert exact_loss([2**70 + 1, 1], [2**70, 2]) == pytest.approx(math.log(2), abs=1e-15)


def test_an_output_possible_on_one_side_only_is_an_infinite_loss() -> None:
    assert exact_loss([1, 1, 0], [0, 1, 1]) == math.inf
    assert exact_loss([0, 1], [0, 1]) == 0
    assert exact_loss([1, 999, 0], [0, 999, 1], delta=1e-4) == math.inf
    assert exact_loss([1, 999, 0], [0, 999, 1], delta=1e-3) == 0


def test_a_failure_probability_is_granted_exactly() -> None:
    # Pr(0) - delta <= e^eps Pr'(0): eps = ln((3/4 - 1/100) / (1/4)).
    assert exact_loss([3, 1], [1, 3], delta=0.01) == pytest.approx(math.log(2.96), abs=1e-12)


def test_a_gaussian_has_the_loss_of_balle_and_wang() -> None:
    # Continuous N(0, 4) against N(1, 4) on a fine grid; the formula is theorem 8 of Balle and Wang (2018).
    cuts = np.arange(-40, 40, 0.005)
    first, second = np.diff(norm.cdf(cuts, 0, 2)), np.diff(norm.cdf(cuts, 1, 2))
    loss = exact_loss(first, second, delta=1e-3)
    delta = norm.cdf(1 / 4 - 2 * loss) - math.exp(loss) * norm.cdf(-1 / 4 - 2 * loss)
    assert delta == pytest.approx(1e-3, rel=1e-2)


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)), min_size=2, max_size=8))
def test_losses_are_finite_symmetric_and_fall_with_delta(weights: list[tuple[int, int]]) -> None:
    first, second = zip(*weights, strict=True)
    loss = exact_loss(first, second)
    assert 0 <= loss == exact_loss(second, first) < math.inf
    assert exact_loss(first, second, delta=1e-3) <= loss + 1e-9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2],), "a row of design must be a vector"),
        (([1, 2], [1, 2, 3]), r"the rows of design and other must have one length; theirs are \[2, 3\]"),
        (([1, -2], [1, 2]), "a row of design must hold numbers of at least 0"),
        (([0, 0], [1, 2]), "not all 0"),
        (([], []), "a row of design must be a vector"),
        (([[1, 2]],), "design must have at least 2 rows"),
        ((None,), "design must be a list or an array"),
        (([True, False], [1, 1]), "a row of design must hold finite numbers"),
        (([1, 1], 3), "a row of other must be a vector"),
        (([math.nan, 1.0], [0.5, 0.5]), "a row of design must hold finite numbers"),
        (([math.inf, 1.0], [0.5, 0.5]), "a row of design must hold finite numbers"),
        (([0.75, 0.5], [0.5, 0.5]), r"must sum to at most 1; it sums to 1\.25"),
        ((["a", "b"], [0.5, 0.5]), "a row of design must hold finite numbers"),
        ((coin_flip(0.25), [1, 2]), "other must be left out"),
    ],
)
def test_what_is_no_pair_of_distributions_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact_loss(*arguments)


@pytest.mark.parametrize(
    ("mechanism", "a", "b", "loss"),
    [
        (report, 0, 1, math.log(3)),
        (laplace(1.0), 0.0, 1.0, 1.0),
        (
            lambda value, runs: np.column_stack([laplace(9)(value, runs), laplace(0.5)(value, runs)]),
            0,
            1,
            2.0,
        ),
        (lambda value, runs: np.where(report(value, runs) == 1, "yes", "no"), 0, 1, math.log(3)),
    ],
    ids=["reports", "Laplace", "one entry of two", "texts"],
)
def test_a_certified_bound_is_close_below_the_loss(mechanism: Any, a: Any, b: Any, loss: float) -> None:
    found = audit(mechanism, a, b, 200_000, CONFIDENCE)
    assert 0.85 * loss < found.epsilon <= loss


@pytest.mark.parametrize(("scale", "caught"), [(1.0, False), (0.8, True)])
def test_noise_a_fifth_too_small_is_told_from_noise_that_is_right(scale: float, caught: bool) -> None:
    assert (audit(laplace(scale), 0.0, 1.0, 400_000, CONFIDENCE).epsilon > 1) is caught


def test_a_failure_probability_is_subtracted() -> None:
    # Fully revealing with probability 1/10, otherwise silent: (0, 0.1)-private, and nothing pure.
    def leaky(value: int, runs: int) -> Any:
        return np.where(np.random.default_rng().random(runs) < 0.1, value, -1)

    assert audit(leaky, 0, 1, 20_000, CONFIDENCE).epsilon > 3.5
    assert audit(leaky, 0, 1, 20_000, CONFIDENCE, delta=0.1).epsilon == 0
    assert audit(leaky, 0, 1, 20_000, CONFIDENCE, delta=0.05).epsilon > 2.5


def test_the_bound_is_clopper_and_pearsons_on_the_second_half() -> None:
    found = audit(report, 0, 1, 20_001, 0.96)
    more, less = found.hits if found.likelier == "a" else found.hits[::-1]
    low = binomtest(more, 10_001).proportion_ci(0.98).low
    high = binomtest(less, 10_001).proportion_ci(0.98).high
    assert found.epsilon == pytest.approx(math.log(low / high), rel=1e-9)


def test_bounds_are_too_high_no_oftener_than_stated() -> None:
    # At confidence 0.9 the loss is exceeded with chance at most 0.1 in each of 400 audits: more than 73 times
    # with chance below 1e-6. The broken twin certifies on the half that chose, and takes no bound at all.
    def twin(a: Any, b: Any) -> float:
        counts = [np.bincount(sample, minlength=8) / sample.size for sample in (a, b)]
        return float(np.abs(np.log(counts[0] / counts[1])).max())

    def octal(value: int, runs: int) -> Any:
        keep = np.random.default_rng().random(runs) < (math.e - 1) / (math.e + 7)
        return np.where(keep, value, np.random.default_rng().integers(0, 8, runs))

    exceeded = sum(audit(octal, 0, 1, 1000, 0.9).epsilon > 1 for _ in range(400))
    assert exceeded <= 73
    assert sum(twin(octal(0, 1000), octal(1, 1000)) > 1 for _ in range(400)) > 73


def test_a_mechanism_without_runs_is_called_once_for_each() -> None:
    generator = np.random.default_rng()
    found = audit(lambda chance: bool(generator.random() < chance), 0.1, 0.9, 8000, CONFIDENCE)
    assert 1.5 < found.epsilon < math.log(9)
    assert found.event in (
        "output = 0",
        "output = 1",
        "output <= 0",
        "0 < output",
        "output > 0",
        "0 < output <= 1",
    )


def test_outputs_that_are_no_numbers_are_events_too() -> None:
    found = audit(lambda value, runs: np.full(runs, math.nan if value else 1.0), 0, 1, 1000, 0.99)
    assert found.epsilon > 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 1}, r"runs must be a whole number in \[2, 2147483648\]; it is 1"),
        ({"confidence": 1.0}, r"confidence must be in the open interval \(0, 1\); it is 1\.0"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\); it is 1\.0"),
        ({"delta": math.nan}, r"delta must be in \[0, 1\); it is nan"),
        ({"mechanism": lambda value, runs: np.zeros(3)}, "outputs must be 100 numbers"),
        ({"mechanism": lambda value, runs: [object()] * runs}, "their type object"),
    ],
)
def test_bad_arguments_of_an_audit_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"mechanism": report, "input_a": 0, "input_b": 1, "runs": 100, "confidence": 0.9}
    with pytest.raises(ValueError, match=message):
        audit(**{**valid, **arguments})
