"""Contingency tables and their margins: perturbed apart, then made to agree."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import is_number, list_entries, probability, whole_numbers
from server.privacy._sums import laplace_scales, quantile
from server.privacy.noise import allocate, geometric, geometric_variance
from server.privacy.queries._answer import (
    ContingencyAnswer,
    check_adds_up,
    checked_neighbours,
    checked_tally,
    checked_total,
)
from server.privacy.queries._whole_tables import margin_of, whole_table
from server.privacy.queries.tabulations import Tabulation, table


@dataclass(frozen=True)
class Contingency:
    """People counted by several variables at once and by each alone; made by `contingency`.

    Attributes
    ----------
    categories : tuple of tuple
        The declared categories of each variable.
    epsilon : float
        Privacy loss of cells and margins together, in nats.
    neighbours : {"unbounded", "bounded"}
    proportion : float
        The part of epsilon that margins of their own get; 0 if there are none.
    total : int or None
        The number of people where it is public: what all cells add up to.
    """

    categories: tuple[tuple[Hashable, ...], ...]
    epsilon: float
    neighbours: str
    proportion: float
    total: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each variable."""
        return tuple(len(declared) for declared in self.categories)

    def sensitivity(self, neighbours: str | None = None) -> int:
        """The sum of changes in all cells, or in all entries of one margin, when one person changes: 1 or 2."""
        word = checked_neighbours(neighbours, self.neighbours)
        checked_total(self.total, word)
        return 2 if word == "bounded" else 1

    def expected_error(self) -> float:
        """Root mean squared error of each cell of the linear estimate, in people.

        Exact, and the same for any data and any cell. Making the table whole adds less than 1;
        making it non-negative mostly takes error away.
        """
        return self._errors[0]

    def expected_margin_errors(self) -> tuple[float, ...]:
        """The same for an entry of each margin."""
        return self._errors[1:]

    def tally(self, *data: Any) -> NDArray[np.int64]:
        """Exact counts of every declared cell, empty ones too. They must not be published."""
        return self._tabulation.tally(*data)

    def release(self, counts: ArrayLike, confidence: float = 0.95) -> ContingencyAnswer:
        """Perturb exact counts of the declared shape, and their margins, and make them agree."""
        probability("confidence", confidence, open_interval=True)
        exact = checked_tally(counts, self.shape)
        check_adds_up(exact, self.total)
        cells = geometric(exact, self.sensitivity(), self._losses[0])
        margins = tuple(
            geometric(margin_of(exact, axis), self.sensitivity(), loss)
            for axis, loss in enumerate(self._losses[1:])
        )
        return self.fit(cells, margins, confidence)

    def run(self, *data: Any, confidence: float = 0.95) -> ContingencyAnswer:
        """Count the data, one vector per variable with one entry per person, perturb and fit."""
        return self.release(self.tally(*data), confidence)

    def fit(
        self, cells: ArrayLike, noisy_margins: Sequence[ArrayLike], confidence: float = 0.95
    ) -> ContingencyAnswer:
        """The answer from cells and margins that were perturbed already. No data are needed.

        Weighted least squares makes cells and margins agree, with the total where it is known; the
        result is made whole and non-negative.
        """
        probability("confidence", confidence, open_interval=True)
        drawn = whole_numbers("cells", cells)
        given = tuple(
            whole_numbers("noisy_margins", margin) for margin in list_entries("noisy_margins", noisy_margins)
        )
        wanted = [(length,) for length in self.shape] if self.proportion else []
        if drawn.shape != self.shape or [margin.shape for margin in given] != wanted:
            raise ValueError(
                f"cells and noisy_margins must have shapes {self.shape} and {wanted}; "
                f"they have {drawn.shape} and {[margin.shape for margin in given]}"
            )
        best = drawn.astype(np.float64)
        if self.total is not None:
            best = best + (self.total - int(drawn.sum())) / drawn.size
        if self.proportion:
            lacking = np.concatenate([margin - margin_of(best, axis) for axis, margin in enumerate(given)])
            best = best + (self._gain @ lacking).reshape(self.shape)
        linear = tuple(margin_of(best, axis) for axis in range(best.ndim))
        value = whole_table(best, self.total)
        margins = tuple(margin_of(value, axis) for axis in range(best.ndim))
        halves = _halves(self, confidence)
        return ContingencyAnswer(
            value=value,
            margins=margins,
            cells=drawn,
            noisy_margins=given,
            interval=_limits(best, halves[0], value, self.total),
            margin_intervals=tuple(
                _limits(*each, self.total) for each in zip(linear, halves[1:], margins, strict=True)
            ),
            standard_error=self._errors[0],
            margin_errors=self._errors[1:],
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
        )

    @cached_property
    def _tabulation(self) -> Tabulation:
        return table(self.categories, self._losses[0], self.neighbours)

    @cached_property
    def _losses(self) -> tuple[float, ...]:
        """Of the cells, and of each margin if there are any."""
        if not self.proportion:
            return (self.epsilon,)
        axes = len(self.categories)
        parts = [1 - self.proportion, *[self.proportion / axes] * axes]
        return tuple(allocate(self.epsilon, [1] * (axes + 1), parts).epsilons.tolist())

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """Of the noise in a cell, and in an entry of each margin that is perturbed."""
        # Noise too small to occur still needs a weight.
        return tuple(max(geometric_variance(self.sensitivity(), loss), 1e-30) for loss in self._losses)

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """Rows that sum the flattened table to each entry of each margin."""
        places = np.indices(self.shape).reshape(len(self.shape), -1)
        rows = [np.arange(length)[:, None] == place for length, place in zip(self.shape, places, strict=True)]
        return np.concatenate(rows).astype(np.float64)

    @cached_property
    def _gain(self) -> NDArray[np.float64]:
        """What each unit that a noisy margin lacks adds to each cell: weighted least squares."""
        of_margins = np.repeat([variance / self.variances[0] for variance in self.variances[1:]], self.shape)
        free = self._free(self._sums)
        return np.asarray(np.linalg.solve(free @ self._sums.T + np.diag(of_margins), free).T)

    def _free(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """How the noise of the cells enters sums of them: a known total tells what all of it adds up to."""
        return rows if self.total is None else rows - rows.mean(axis=1, keepdims=True)

    @cached_property
    def weights(self) -> tuple[tuple[NDArray[np.float64], ...], ...]:
        """How the noise of the cells and of the margins enters a cell, and an entry of each margin."""
        firsts = [sum(self.shape[:axis]) for axis in range(len(self.shape))]
        rows = np.concatenate([np.eye(1, self._sums.shape[1]), self._sums[firsts]])
        own = self._free(rows)
        if not self.proportion:
            return tuple((row,) for row in own)
        through = rows @ self._gain
        own = own - through @ self._free(self._sums)
        ends = np.cumsum(self.shape)[:-1]
        return tuple((row, *np.split(part, ends)) for row, part in zip(own, through, strict=True))

    @cached_property
    def _errors(self) -> tuple[float, ...]:
        return tuple(
            float(
                np.sqrt(
                    sum(part @ part * variance for part, variance in zip(each, self.variances, strict=True))
                )
            )
            for each in self.weights
        )


def contingency(
    categories: Sequence[Iterable[Hashable]],
    epsilon: float,
    neighbours: str = "unbounded",
    margins: float = 0.0,
    total: int | None = None,
) -> Contingency:
    """How many people are in each combination of categories, with margins that agree.

    Parameters
    ----------
    categories : sequence of iterables
        The categories of each variable, declared without looking at the data.
    epsilon : float
        Privacy loss of everything together, in nats.
    neighbours : {"unbounded", "bounded"}
        The sensitivity is 1 or 2, of the cells and of each margin.
    margins : float
        The part of epsilon, in [0, 1), that is spent on noisy margins of their own, equally. They are
        worth it for large tables: an entry of a margin adds up the noise of all its cells, and to be
        better than their sum needs more of epsilon than one over the root of their number. With 0
        all of epsilon goes to the cells, and margins are fitted to their sums.
    total : int or None
        The number of people, if it is public; bounded neighbours only, which all have the same.
        Every fitted table adds up to it.

    Returns
    -------
    Contingency
        Its `run` takes one vector per variable, and its `release` exact counts.

    Raises
    ------
    ValueError
        As `table`, or if margins is not in [0, 1), or there is a total under unbounded neighbours.

    Examples
    --------
    >>> query = contingency([["<30", "30+"], ["no", "yes"]], epsilon=1.0, margins=0.25)
    >>> answer = query.release([[7, 9], [11, 0]])
    >>> bool(answer.value.min() >= 0), bool((answer.value.sum(axis=1) == answer.margins[0]).all())
    (True, True)
    >>> round(query.expected_error(), 3), [round(error, 3) for error in query.expected_margin_errors()]
    (1.796, [2.508, 2.508])
    """
    if not (is_number(margins) and 0 <= margins < 1):
        raise ValueError(f"margins must be in [0, 1), the part of epsilon that they get; it is {margins!r}")
    declared = table(categories, epsilon, neighbours)
    known = checked_total(total, declared.neighbours)
    query = Contingency(declared.categories, declared.epsilon, declared.neighbours, float(margins), known)
    query.expected_error()  # noise that cannot be drawn is refused before there are data
    return query


@lru_cache(maxsize=64)
def _halves(query: Contingency, confidence: float) -> tuple[float, ...]:
    """How far the linear estimate of a cell, and of each margin, is from the truth, with this confidence."""
    scales = laplace_scales(np.array(query.variances))
    found = []
    for weights in query.weights:
        weighted = np.abs(np.concatenate([part * scale for part, scale in zip(weights, scales, strict=True)]))
        sizes, numbers = np.unique(weighted.round(12), return_counts=True)
        # Half a step for the noise being whole, see `estimators.residuals`.
        step = max(float(np.abs(part).max()) for part in weights) / 2
        found.append(quantile(sizes, numbers.astype(np.float64), confidence) + step)
    return tuple(found)


def _limits(
    best: NDArray[np.float64], half: float, value: NDArray[np.int64], total: int | None
) -> NDArray[np.int64]:
    """Whole limits around the linear estimate, in what is possible, with what was published between them."""
    low = np.minimum(np.maximum(np.ceil(best - half), 0), value)
    high = np.maximum(np.minimum(np.floor(best + half), np.inf if total is None else total), value)
    return np.asarray(np.stack([low, high], axis=-1), dtype=np.int64)
