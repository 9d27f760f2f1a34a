"""Selection: every choice followed to its end, comparisons over all thresholds."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from server.privacy import selection
from server.privacy.auditing.cases import (
    Case,
    by_choosing,
    by_comparing,
    by_dealing,
    by_running,
    by_searching,
)
from server.privacy.designs import forced_response
from server.privacy.estimators import share_coefficients
from server.privacy.selection import OngoingSearch, SparseAnswers
from server.privacy.selection._exact import happens_with_exp

_RUNS = 8_000
_BELOW = 6
"""Answers that are below a threshold one after the other: their comparisons share one noisy threshold."""
_FAR = 200
"""How far from a threshold an answer is that hardly needs noise to be told right, and gets it all the same."""


def cases() -> list[Case]:
    """Choices among few options, one far ahead; many answers that all rise above the threshold, and some that fall."""
    return [
        by_dealing(
            "exponential_mechanism(1)",
            1.0,
            lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0),
            [8, 0],
            [7, 1],
        ),
        by_dealing(
            "exponential_mechanism(1), monotone",
            1.0,
            lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0, monotone=True),
            [4, 0],
            [4, 1],
        ),
        by_running(
            "exponential_mechanism(1) drawn",
            1.0,
            _runs(lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0)),
            [3, 0],
            [2, 1],
            _RUNS,
        ),
        by_choosing("choose_in_gaps(1)", 1.0, partial(_choose_level, epsilon=1.0), ([0, 6, 4], [1, 5, 5])),
        by_running(
            "choose_in_gaps(4), with levels, drawn",
            4.0,
            _runs(partial(_choose_level, epsilon=4.0)),
            [1, 0, 1],
            [0, 1, 0],
            _RUNS,
        ),
        *_several(),
        by_dealing("exponential_mechanism(1) of estimates", 1.0, _estimates, [9, 0], [9, 1]),
        by_dealing(
            "noisy_maximum(1)", 1.0, lambda counts: selection.noisy_maximum(counts, 1.0), [0, 1], [0, 2]
        ),
        by_dealing(
            "noisy_maximum(1), bounded",
            1.0,
            lambda counts: selection.noisy_maximum(counts, 1.0, "bounded"),
            [0, 3],
            [1, 2],
        ),
        by_running(
            "noisy_maximum(1) drawn",
            1.0,
            _runs(lambda counts: selection.noisy_maximum(counts, 1.0)),
            [0, 1],
            [0, 2],
            _RUNS,
        ),
        by_dealing(
            "coin of chance exp(-x), x = 1/2 against 3/2",
            1.0,
            happens_with_exp,
            Fraction(1, 2),
            Fraction(3, 2),
            coins=False,
        ),
        _compare_patterns("sparse_vector(4, c = 1)", partial(_sparse, positives=1), 1),
        _compare_patterns("sparse_vector(4, c = 2)", partial(_sparse, positives=2), 2),
        _compare_patterns(
            "sparse_vector(4, c = 2), monotone",
            partial(_sparse, positives=2, monotone=True),
            2,
            monotone=True,
        ),
        _compare_patterns("sparse_vector(2 and 2 for values, c = 2)", _sparse_values, 2),
        _compare_patterns(
            "above_threshold(4)", lambda answers: selection.above_threshold(answers, 1, 1.0, 4.0), 1
        ),
        _compare_patterns(
            "above_threshold(4), monotone",
            lambda answers: selection.above_threshold(answers, 1, 1.0, 4.0, monotone=True),
            1,
            monotone=True,
        ),
        by_comparing(
            "sparse_vector(4, c = 1), far apart",
            4.0,
            partial(_sparse, positives=1),
            ([0, 1 - _FAR, 1 + _FAR], [1, -_FAR, _FAR]),
            3,
        ),
        *_searches(),
    ]


def _several() -> list[Case]:
    """Sets of two of four options: one person is in one of them, in several, or has a report of estimates."""
    apart = np.rint(1000 * np.linalg.inv(np.full((3, 3), 0.2) + 0.4 * np.eye(3))).astype(np.int64)
    return [
        by_choosing(
            f"choose_several(1), {name}",
            1.0,
            partial(_choose_set, weights=weights, size=wanted, neighbours=neighbours),
            inputs,
        )
        for name, weights, wanted, neighbours, inputs in (
            ("counts", np.eye(4, dtype=np.int64), 2, "unbounded", ([3, 1, 1, 1], [4, 1, 1, 1])),
            ("counts, bounded", np.eye(4, dtype=np.int64), 2, "bounded", ([9, 9, 1, 1], [8, 9, 1, 2])),
            ("estimates", apart, 2, "unbounded", ([20, 1, 1], [21, 1, 1])),
            ("estimates, bounded", apart, 2, "bounded", ([20, 20, 1], [20, 19, 2])),
        )
    ] + [
        by_running(
            "choose_several(1) drawn",
            1.0,
            _runs(partial(_choose_set, weights=np.eye(3, dtype=np.int64), size=2, neighbours="unbounded")),
            [1, 0, 0],
            [0, 0, 0],
            _RUNS,
        )
    ]


def _searches() -> list[Case]:
    """Searches whose questions come one at a time. With delta, what is computed is the sum of two searches' losses."""
    rise, fall = [-1] * _BELOW + [-2], [0] * _BELOW + [-3]
    once, twice = partial(_begin_search, 1, 4.0), partial(_begin_search, 2, 4.0)
    monotone, anew = partial(twice, monotone=True), partial(_begin_search, 2, 1.0, 0.1)
    return [
        by_searching(name, claim, begin, _ask, inputs)
        for name, claim, begin, inputs in (
            ("search(4, c = 1)", 4.0, once, (rise, fall)),
            ("search(4, c = 1), far apart", 4.0, once, ([-_FAR, _FAR], [-_FAR + 1, _FAR - 1])),
            ("search(4, c = 2)", 4.0, twice, ([*rise, -2], [*fall, -3])),
            ("search(4, c = 2), monotone", 4.0, monotone, ([*rise, -2], [0] * _BELOW + [-2, -2])),
            ("search(1, c = 2, delta = 0.1), at delta = 0", 1.267, anew, (rise * 2, fall * 2)),
        )
    ]


def _begin_search(
    positives: int, epsilon: float, delta: float = 0.0, monotone: bool = False
) -> OngoingSearch:
    noise = selection.plan_search(positives, epsilon, delta, monotone)
    noise.error(_BELOW, 0.05, 1.0)  # told before; what runs is on trial
    return selection.begin_search(noise, 1)


def _ask(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch | None]:
    above, after = search.compare(excess)
    return above, after if after.left else None


def _compare_patterns(
    name: str, mechanism: Callable[[Any], Any], positives: int, *, monotone: bool = False
) -> Case:
    """Answers at the threshold less one that all rise, then answers further below that fall, or stay."""
    first = [0] * _BELOW + [-1] * positives
    second = [1] * _BELOW + [-1 if monotone else -2] * positives
    return by_comparing(name, 4.0, mechanism, (first, second), len(first))


def _runs(mechanism: Callable[[Any], int]) -> Callable[[Any, int], Any]:
    return lambda data, runs: np.array([mechanism(data) for _ in range(runs)])


def _estimates(counts: list[int]) -> int:
    """Which answer is estimated to be the most common, of reports under a design that is not symmetric."""
    made = selection.estimate_utilities(share_coefficients([forced_response(0.5, 0.125)]).numerators)
    return selection.exponential_mechanism(made.weights @ np.array(counts), made.sensitivity, 1.0)


def _sparse(answers: list[int], *, positives: int, monotone: bool = False) -> SparseAnswers:
    return selection.sparse_vector(answers, 1, 1.0, positives, 4.0, monotone)


def _sparse_values(answers: list[int]) -> SparseAnswers:
    return selection.sparse_vector(answers, 1, 1.0, 2, 2.0, values_epsilon=2.0)


def _choose_set(counts: list[int], weights: Any, size: int, neighbours: str) -> int:
    """Which set of options, as one number."""
    sensitivity = selection.several_sensitivity(weights, size, neighbours)
    found = selection.choose_several(weights @ np.array(counts), size, sensitivity, 1.0)
    return sum(1 << place for place in found.tolist())


def _choose_level(scores: list[int], epsilon: float) -> int:
    """Which of three gaps."""
    return selection.choose_in_gaps(scores, [1, 1, 9], 1.0, epsilon)[0]
