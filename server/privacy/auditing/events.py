"""Events by which two samples of outputs may be told apart: what is tried, on one half of the runs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Where numeric outputs are cut: quantiles of either sample, closer together in the tails.
_TAILS = np.array([1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02])
_CUTS = np.concatenate([_TAILS, np.arange(1, 24) / 24, 1 - _TAILS[::-1]])
_OUTCOMES_LIMIT = 4096


@dataclass(frozen=True)
class Events:
    """Candidate events: unions of cells into which outputs fall.

    Attributes
    ----------
    cells_a, cells_b : ndarray of int
        The cell of each output of either sample.
    first, last : ndarray of int
        Candidate events: the cells from first to last, in the order of `order`.
    order : ndarray of int
        Position of each cell.
    labels : list of str
        Of the cells in that order; for numeric ones see `edges`.
    edges : ndarray or None
        Cuts between numeric cells; None where cells are single outcomes.
    name : str
        Of the output, or of one entry of it.
    """

    cells_a: NDArray[np.intp]
    cells_b: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    order: NDArray[np.intp]
    labels: list[str]
    edges: NDArray[np.float64] | None
    name: str

    def counts(self, half: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many outputs of each sample, in one half of the runs, fall into each event."""
        return self._counts(self.cells_a[half]), self._counts(self.cells_b[half])

    def _counts(self, cells: NDArray[np.intp]) -> NDArray[np.int64]:
        sums = np.concatenate([[0], np.cumsum(np.bincount(self.order[cells], minlength=len(self.order)))])
        return np.asarray(sums[self.last + 1] - sums[self.first])

    def describe(self, index: int) -> str:
        """One event in words."""
        first, last = int(self.first[index]), int(self.last[index])
        if self.edges is None:
            chosen = self.labels[first : last + 1]
            more = "" if len(chosen) <= 4 else f", ... ({len(chosen)} outcomes)"
            if len(chosen) == 1:
                return f"{self.name} = {chosen[0]}"
            return f"{self.name} in {{{', '.join(chosen[:4])}{more}}}"
        return _interval(self.name, self.edges, first, last)


def candidates(a: NDArray[np.generic], b: NDArray[np.generic]) -> Iterator[Events]:
    """Families of events for two samples; they are chosen by looking at the first half only.

    Numbers are cut at quantiles into open intervals and points (a clamped mean has whole
    masses on its limits), and every run of neighbouring cells is an event. Vectors give one
    such family for each entry. Texts, and vectors of few values, are outcomes by themselves:
    the events are the outcomes most in favour of one input, as many as one likes.
    """
    if a.ndim == 1 and a.dtype.kind == "f":
        yield _numeric(a.astype(np.float64), b.astype(np.float64), "output")
    elif a.ndim == 1 and a.dtype.kind == "i":
        yield _numeric(a.astype(np.float64), b.astype(np.float64), "output")
        yield from _outcomes(a, b)
    elif a.ndim == 2 and a.dtype.kind in "if":
        for column in range(a.shape[1]):
            yield _numeric(
                a[:, column].astype(np.float64), b[:, column].astype(np.float64), f"output[{column}]"
            )
        yield from _outcomes(a, b)
    else:
        yield from _outcomes(a, b)


def _numeric(a: NDArray[np.float64], b: NDArray[np.float64], name: str) -> Events:
    half = a.size // 2
    seen = np.concatenate([a[:half], b[:half]])
    seen = seen[~np.isnan(seen)]
    values = np.unique(seen) if seen.size else np.zeros(1)
    if values.size <= 2 * _CUTS.size:
        edges = values
    else:
        cuts = [
            np.quantile(sample[~np.isnan(sample)], _CUTS, method="lower")
            for sample in (a[:half], b[:half])
            if not np.isnan(sample).all()
        ]
        edges = np.unique(np.concatenate(cuts))
    # Cell 2i is below edge i, cell 2i + 1 is edge i itself; the last one is for outputs that are no number.
    cells = 2 * edges.size + 1
    first, last = np.triu_indices(cells)
    first, last = np.append(first, cells), np.append(last, cells)

    def cell(sample: NDArray[np.float64]) -> NDArray[np.intp]:
        left = np.searchsorted(edges, sample, "left")
        on = edges[np.minimum(left, edges.size - 1)] == sample
        return np.where(np.isnan(sample), cells, 2 * left + on)

    return Events(cell(a), cell(b), first, last, np.arange(cells + 1), [], edges, name)


def _outcomes(a: NDArray[np.generic], b: NDArray[np.generic]) -> Iterator[Events]:
    half, runs = len(a) // 2, len(a)
    start = np.concatenate([a[: min(half, 1000)], b[: min(half, 1000)]])
    if a.dtype.kind in "if" and len(np.unique(start, axis=0)) > len(start) // 4:
        return  # continuous, or nearly so: hardly any outcome comes twice
    both = np.concatenate([a, b])
    codes = _codes(both)
    first_half = np.concatenate([np.arange(half), np.arange(runs, runs + half)])
    values, where = np.unique(codes[first_half], return_index=True)
    if len(values) > _OUTCOMES_LIMIT:
        return
    # The last cell is for whatever the first half never gave: no event may depend on the second.
    size = len(values) + 1
    place = np.minimum(np.searchsorted(values, codes), size - 2)
    cells = np.where(values[place] == codes, place, size - 1)
    cells_a, cells_b = cells[:runs], cells[runs:]
    seen_a, seen_b = (np.bincount(part[:half], minlength=size) + 0.5 for part in (cells_a, cells_b))
    favours_a = np.argsort(-np.log(seen_a / seen_b), kind="stable")
    order = np.empty(size, dtype=np.intp)
    order[favours_a] = np.arange(size)
    shown = both[first_half[where]]
    labels = ["anything else" if index == size - 1 else _text(shown[index]) for index in favours_a]
    ends = np.arange(size)
    first = np.concatenate([np.zeros(size, dtype=np.intp), ends])
    last = np.concatenate([ends, np.full(size, size - 1)])
    yield Events(cells_a, cells_b, first, last, order, labels, None, "output")


def _codes(outputs: NDArray[np.generic]) -> NDArray[np.generic]:
    """One comparable value for each output; small whole numbers in a vector become the digits of one."""
    if outputs.ndim == 1:
        return outputs
    if outputs.dtype.kind == "i":
        whole = outputs.astype(np.int64)
        low = whole.min(axis=0)
        spans = [int(high) - int(least) + 1 for high, least in zip(whole.max(axis=0), low, strict=True)]
        if math.prod(spans) < 1 << 62:
            radix = np.array([math.prod(spans[:column]) for column in range(len(spans))], dtype=np.int64)
            return np.asarray((whole - low) @ radix)
    return np.asarray(np.unique(outputs, axis=0, return_inverse=True)[1].ravel())


def _text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"({', '.join(_text(entry) for entry in value)})"
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _interval(name: str, edges: NDArray[np.float64], first: int, last: int) -> str:
    cells = 2 * edges.size
    if first > cells:
        return f"{name} is not a number"
    if first == 0 and last == cells:
        return f"{name} is a number"
    if first == last and first % 2:
        return f"{name} = {edges[first // 2]:.6g}"
    low = "" if first == 0 else f"{edges[(first - 1) // 2]:.6g} {'<=' if first % 2 else '<'} "
    high = "" if last == cells else f" {'<=' if last % 2 else '<'} {edges[last // 2]:.6g}"
    if not low:
        return f"{name}{high}"
    if not high:
        bound, sign = low.split()
        return f"{name} {'>=' if sign == '<=' else '>'} {bound}"
    return f"{low}{name}{high}"
