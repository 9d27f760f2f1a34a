"""Tables made to add up: proportional fitting and constrained least squares."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from server.privacy.consistency import fit_margins, least_squares_table


def test_fitting_keeps_odds_ratios_and_reaches_both_margins() -> None:
    table = np.array([[10.0, 20.0, 5.0], [8.0, 2.0, 15.0]])
    fitted = fit_margins(table, [[60, 40], [30, 50, 20]])
    assert fitted.converged
    assert fitted.discrepancy <= 1e-9 * 100
    assert fitted.table.sum(axis=1) == pytest.approx([60, 40])
    assert fitted.table.sum(axis=0) == pytest.approx([30, 50, 20])
    odds = [t[0, 0] * t[1, 1] / t[0, 1] / t[1, 0] for t in (table, fitted.table)]
    assert odds[1] == pytest.approx(odds[0], rel=1e-9)


def test_fitting_is_the_least_divergence() -> None:
    table, margins = np.array([[3.0, 1.0], [2.0, 4.0]]), [[5.0, 5.0], [6.0, 4.0]]
    fitted = fit_margins(table, margins).table
    # One free cell: go through all of them.
    cells = np.linspace(1.001, 4.999, 200_000)
    tables = np.stack([cells, 5 - cells, 6 - cells, cells - 1])
    divergence = (tables * np.log(tables / table.ravel()[:, None])).sum(axis=0)
    assert fitted[0, 0] == pytest.approx(cells[divergence.argmin()], abs=1e-4)


def test_fitting_three_dimensions_and_a_free_axis() -> None:
    table = np.arange(1.0, 25.0).reshape(2, 3, 4)
    fitted = fit_margins(table, [[100, 200], None, [90, 80, 70, 60]])
    assert fitted.converged
    assert fitted.table.sum(axis=(1, 2)) == pytest.approx([100, 200])
    assert fitted.table.sum(axis=(0, 1)) == pytest.approx([90, 80, 70, 60])


def test_zeros_stay_and_a_margin_of_zero_empties_its_cells() -> None:
    fitted = fit_margins([[0.0, 2.0], [3.0, 4.0]], [[5, 10], [7, 8]])
    assert fitted.table[0].tolist() == [0.0, pytest.approx(5)]
    assert fit_margins([[1.0, 2.0], [3.0, 4.0]], [[0, 10], [4, 6]]).table[0].tolist() == [0.0, 0.0]
    assert fit_margins([[0, 0], [0, 0]], [[0, 0], [0, 0]]).converged


def test_a_pattern_of_zeros_that_allows_no_table_is_said_not_to_converge() -> None:
    # Cell (0, 1) must hold 5 of row 0, but column 1 has only 2.
    fitted = fit_margins([[0.0, 1.0], [1.0, 1.0]], [[5, 5], [8, 2]], rounds=500)
    assert not fitted.converged
    assert fitted.rounds == 500
    assert fitted.discrepancy > 1


def nearest_by_nnls(noisy: np.ndarray, margins: list[Any], variances: np.ndarray) -> np.ndarray:
    """Least distance programming (Lawson and Hanson 1974, chapter 23), independent of our dual."""
    shape = noisy.shape
    rows = [np.arange(shape[0]) == r for r in range(shape[0])]
    sums = np.array(
        [np.repeat(row, shape[1]) for row in rows]
        + [np.tile(np.arange(shape[1]) == c, shape[0]) for c in range(shape[1])],
        dtype=float,
    )
    root = np.sqrt(variances.ravel())
    scaled = sums * root
    start = np.linalg.lstsq(scaled, np.concatenate(margins) - sums @ noisy.ravel(), rcond=None)[0]
    _, _, basis = np.linalg.svd(scaled)
    free = basis[np.linalg.matrix_rank(scaled) :].T
    at = noisy.ravel() + root * start
    inequality = root[:, None] * free
    solution, _ = nnls(
        np.vstack([inequality.T, -at]), np.append(np.zeros(free.shape[1]), 1.0), maxiter=10_000
    )
    rest = np.vstack([inequality.T, -at]) @ solution - np.append(np.zeros(free.shape[1]), 1.0)
    move = -rest[:-1] / rest[-1] if np.abs(rest[-1]) > 1e-12 else np.zeros(free.shape[1])
    return np.asarray((at + inequality @ move).reshape(shape))


@pytest.mark.parametrize("size", [(2, 2), (3, 5), (6, 2), (8, 9)])
@pytest.mark.parametrize("seed", range(5))
def test_least_squares_agrees_with_an_independent_solver(size: tuple[int, int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    noisy = generator.normal(2, 6, size)
    truth = generator.integers(0, 9, size).astype(float)
    variances = generator.uniform(0.2, 5, size)
    margins = [truth.sum(axis=1), truth.sum(axis=0)]
    ours = least_squares_table(noisy, margins, variances)
    assert ours == pytest.approx(nearest_by_nnls(noisy, margins, variances), abs=1e-7)
    assert (ours >= 0).all()


def test_variances_a_million_apart_do_not_stop_the_search() -> None:
    # One column: the margins of its rows say it all. Newton's steps alone stop short of it.
    noisy = np.array([[1.0], [-8.0], [-18.0], [12.0], [31.0]])
    variances = np.array([[453.0], [174.0], [0.001], [77.0], [883.0]])
    ours = least_squares_table(noisy, [[1.8, 0.0, 0.28, 0.0, 4.1], [6.18]], variances)
    assert ours.ravel() == pytest.approx([1.8, 0.0, 0.28, 0.0, 4.1], abs=1e-9)


def test_least_squares_agrees_with_scipys_general_optimiser() -> None:
    noisy = np.array([[12.0, -3.0, 4.0], [5.0, 6.0, -2.0]])
    found = minimize(
        lambda x: ((x - noisy.ravel()) ** 2).sum(),
        np.array([4, 3, 5, 6, 1, 1.0]),
        bounds=[(0, None)] * 6,
        constraints=[
            {"type": "eq", "fun": lambda x: x.reshape(2, 3).sum(axis=1) - [12, 8]},
            {"type": "eq", "fun": lambda x: x.reshape(2, 3).sum(axis=0)[:2] - [10, 4]},
        ],
        tol=1e-12,
    )
    assert found.success
    ours = least_squares_table(noisy, [[12, 8], [10, 4, 6]])
    assert ours.ravel() == pytest.approx(found.x, abs=1e-4)


def test_without_the_sign_constraint_it_is_the_closed_form() -> None:
    noisy = np.array([[1.0, 9.0], [-4.0, 3.0], [2.0, 2.0]])
    rows, columns = np.array([8.0, 2.0, 6.0]), np.array([5.0, 11.0])
    ours = least_squares_table(noisy, [rows, columns], non_negative=False)
    # Spread each row's and each column's gap evenly, minus the double-counted total.
    gap_rows, gap_columns = rows - noisy.sum(axis=1), columns - noisy.sum(axis=0)
    expected = noisy + gap_rows[:, None] / 2 + gap_columns[None, :] / 3 - gap_rows.sum() / 6
    assert ours == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-3, 1.0, 1e6]),
    st.booleans(),
)
def test_margins_are_reached_and_no_cell_is_negative(
    rows: int, columns: int, seed: int, unit: float, sparse: bool
) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3 if sparse else 1000, (rows, columns)) * unit
    noisy = truth + generator.laplace(0, 10 * unit, truth.shape)
    margins = [truth.sum(axis=1), truth.sum(axis=0)]
    ours = least_squares_table(noisy, margins, generator.uniform(0.01, 10, truth.shape))
    tolerance = 1e-9 * max(float(np.abs(noisy).max()), float(truth.sum()), unit)
    assert (ours >= 0).all()
    assert ours.sum(axis=1) == pytest.approx(margins[0], abs=tolerance)
    assert ours.sum(axis=0) == pytest.approx(margins[1], abs=tolerance)
    fitted = fit_margins(truth + unit, margins, rounds=50)
    assert np.isfinite(fitted.table).all()


@pytest.mark.parametrize("function", [fit_margins, least_squares_table])
@pytest.mark.parametrize(
    ("table", "margins", "message"),
    [
        ([[1.0, 2.0]], [[3], [1, 1]], "margins must not contradict each other"),
        ([[1.0, 2.0]], [[-3], [-1, -2]], "margins of axis 0 must not be negative; one is -3.0"),
        ([[1.0, 2.0]], [[3, 4], [1, 2]], r"margins of axis 0 must have shape \(1,\)"),
        ([[1.0, 2.0]], [[3]], "margins must have one entry per axis of the table, 2; they have 1"),
        ([[1.0, 2.0]], [None, None], "margins must have an entry that is not None"),
        ([[1.0, math.nan]], [[3], [1, 2]], "table must be finite; one is nan"),
        ([[1.0, 2.0]], [[math.inf], [1, 2]], "margins of axis 0 must be finite"),
        ([], [[1]], "table must have at least one entry"),
        (5.0, [], "table must have an axis; it is 5.0"),
        ([[1.0, 2.0]], None, "margins must be a list or an array"),
    ],
)
def test_bad_tables_and_margins_are_refused(function: Any, table: Any, margins: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(table, margins)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_margins([[-1.0, 2.0]], [[1], [0, 1]]), "table must not be negative; one entry is -1.0"),
        (
            lambda: fit_margins([[0.0, 0.0]], [[1], [0, 1]]),
            "margins of axis 0 must be 0 where all cells are 0",
        ),
        (lambda: fit_margins([[1.0]], [[1], [1]], tolerance=0), "tolerance must be positive"),
        (lambda: fit_margins([[1.0]], [[1], [1]], rounds=0), "rounds must be a whole number from 1 up"),
        (lambda: least_squares_table([[1.0]], [[1], [1]], [1.0]), r"variances must have shape \(1, 1\)"),
        (lambda: least_squares_table([[1.0]], [[1], [1]], [[0.0]]), "variances must be positive; one is 0.0"),
        (lambda: least_squares_table([[1.0, 1.0]], [None, [1, 1]], [[1.0, 2e6]]), "within a factor of 1e"),
        (lambda: least_squares_table([[1e160]], [None, [1]]), "table must be in"),
        (lambda: fit_margins([[1.0]], [None, [1e160]]), "margins of axis 1 must be in"),
    ],
)
def test_other_bad_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
