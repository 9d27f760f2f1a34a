"""Noisy tables made whole and non-negative, adding up to their margins."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from server.privacy.queries import contingency
from server.releases.noisy_cells import Counts, Noise
from server.releases.ratio_estimates import Place
from server.releases.values import Figure


def fit_tables(
    tables: Sequence[Counts],
    names: Sequence[Sequence[Place]],
    noise: Noise,
    neighbours: str,
    confidence: float,
    total: int | None,
) -> Iterator[Figure]:
    """Cells and margins of noisy tables, that of each part fitted and then added up; `names` are those of each axis.

    Sums of tables that add up add up as well. Where the total is known, it is that of all parts:
    they are added up first, and fitted to it. Of several parts no interval is told.
    """
    # All of the loss went into the cells; that of one combination of columns, of which there is one.
    query = contingency([range(len(axis)) for axis in names], noise.epsilon, neighbours, total=total)
    pieces = tables if total is None else [np.sum(tables, axis=0)]
    answers = [query.fit(piece, (), confidence) for piece in pieces]
    alone = answers[0] if len(tables) == 1 else None
    root = math.sqrt(len(tables))
    value = np.sum([answer.value for answer in answers], axis=0)
    for at in product(*(range(len(axis)) for axis in names)):
        place = tuple(pair for axis, index in zip(names, at, strict=True) for pair in axis[index])
        limits = (None, None) if alone is None else alone.interval[at].tolist()
        yield Figure("fitted", place, int(value[at]), float(answers[0].standard_error) * root, *limits)
    for axis, places in enumerate(names):
        margin = np.sum([answer.margins[axis] for answer in answers], axis=0)
        for index, place in enumerate(places):
            limits = (None, None) if alone is None else alone.margin_intervals[axis][index].tolist()
            error = float(answers[0].margin_errors[axis]) * root
            yield Figure("fitted", place, int(margin[index]), error, *limits)
