"""The likelihood of an outcome of two levels beside the formula written out, and its derivatives beside differences."""

import numpy as np
import pytest
from numpy.typing import NDArray

from server.privacy.estimators.two_level_likelihood import evaluate_two_levels

Floats = NDArray[np.float64]


def write_out(counts: Floats, known: Floats, outcome: Floats, slopes: Floats) -> float:
    yes = 1 / (1 + np.exp(-(known @ slopes)))
    return float(counts @ np.log(outcome[:, 0] * (1 - yes) + outcome[:, 1] * yes))


def draw_rows(seed: int) -> tuple[Floats, Floats, Floats]:
    """Rows of two coins, gamma 1/4 and 1/10, and of one that was asked without."""
    draw = np.random.default_rng(seed)
    gamma, said = draw.choice([0.25, 0.1, 0.0], 60), draw.integers(0, 2, 60)
    if_yes = np.where(said == 1, 1 - gamma, gamma)
    known = np.column_stack([np.ones(60), draw.normal(size=60), draw.integers(0, 2, 60)])
    return draw.integers(1, 9, 60).astype(float), known, np.column_stack([1 - if_yes, if_yes])


@pytest.mark.parametrize("seed", range(5))
def test_value_gradient_and_curvature_are_those_of_the_formula(seed: int) -> None:
    counts, known, outcome = draw_rows(seed)
    slopes = np.random.default_rng(100 + seed).normal(size=3)

    value, gradient, information = evaluate_two_levels(counts, known, outcome, slopes)

    assert value == pytest.approx(write_out(counts, known, outcome, slopes), rel=1e-12)
    step = 1e-5 * np.eye(3)
    slope = [
        (write_out(counts, known, outcome, slopes + each) - write_out(counts, known, outcome, slopes - each))
        / 2e-5
        for each in step
    ]
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
    bend = [
        (
            evaluate_two_levels(counts, known, outcome, slopes - each)[1]
            - evaluate_two_levels(counts, known, outcome, slopes + each)[1]
        )
        / 2e-5
        for each in step
    ]
    np.testing.assert_allclose(information, bend, rtol=1e-6, atol=1e-6)


def test_a_coin_that_is_left_out_is_caught() -> None:
    """The twin: reports taken for answers have another likelihood, and another gradient."""
    counts, known, outcome = draw_rows(1)
    slopes = np.array([0.3, -0.5, 0.8])

    value, gradient, _information = evaluate_two_levels(counts, known, outcome, slopes)
    other, slope, _bend = evaluate_two_levels(counts, known, np.round(outcome), slopes)

    assert abs(value - other) > 1
    assert np.abs(gradient - slope).max() > 1


@pytest.mark.parametrize("reach", [40.0, 800.0])
def test_scores_beyond_every_number_have_finite_ends(reach: float) -> None:
    """Where a chance is 0 or 1 for a computer, the coin keeps the likelihood from it."""
    known, outcome = np.array([[1.0], [-1.0]]), np.array([[0.75, 0.25], [0.25, 0.75]])

    value, gradient, information = evaluate_two_levels(np.ones(2), known, outcome, np.array([reach]))

    assert value == pytest.approx(2 * np.log(0.25), rel=1e-12)
    assert np.isfinite([*gradient, *information.ravel()]).all()
    assert abs(gradient[0]) < 1e-15
