"""Everything the library ships, on trial: one case for each mechanism and its claim.

Neighbouring inputs are chosen where the claim is tightest. What is finite, or has a formula
for each output, is tried exactly; what draws is run as it is shipped, with the operating
system's source. The formula of a noise and the noise that is drawn are two cases.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy import designs, noise, queries, selection
from server.privacy.accounting import optimal, shuffle_amplification
from server.privacy.auditing.cases import ROUNDING, Case, Finding, exact, exact_design, sampled
from server.privacy.auditing.exact import exact_loss
from server.privacy.designs import Design
from server.privacy.estimators import share_coefficients

_MANY, _FEW, _FEWER = 60_000, 2_000, 1_000
"""Runs: of a vector call, of a call for each run, of a slow one."""
DELTA = 1e-6


def cases() -> list[Case]:
    """One case or more for each shipped mechanism."""
    return [*_designs(), *_noise(), *_selection(), *_queries(), *_composed()]


def _designs() -> list[Case]:
    asked = {
        "for_epsilon(1)": designs.for_epsilon(1.0),
        "k_ary(4 options, 1)": designs.k_ary(4, 1.0),
        "ordinal(5 options, 1)": designs.ordinal(5, 1.0),
        "best_choice(4 options, 1)": designs.best_choice(4, 1.0).design,
    }
    devices = {
        "coin_flip(0.25)": designs.coin_flip(0.25),
        "warner(0.7)": designs.warner(0.7),
        "forced_response(0.75, 0.125)": designs.forced_response(0.75, 0.125),
        "unrelated_question(0.7, 0.3)": designs.unrelated_question(0.7, 0.3),
        "kuk(0.8, 0.3)": designs.kuk(0.8, 0.3),
        "crosswise(0.25)": designs.crosswise(0.25),
        "custom(3 truths, 2 reports)": designs.custom([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]]),
    }
    coin = designs.coin_flip(0.25)
    both = designs.kronecker(coin, coin)
    boxes = {True: designs.unary(1.0), False: designs.unary(1.0, optimised=False)}
    return [
        *(Case(f"design {name}", 1.0, True, exact_design(made)) for name, made in asked.items()),
        *(Case(f"design {name}", made.epsilon, True, exact_design(made)) for name, made in devices.items()),
        Case("design kronecker(two coin flips)", 2 * coin.epsilon, True, exact_design(both)),
        *(
            Case(
                f"design unary(1), {'optimised' if optimised else 'symmetric'}, one option against another",
                1.0,
                True,
                _two_boxes(box),
            )
            for optimised, box in boxes.items()
        ),
        Case("coin flips drawn", coin.epsilon, True, sampled(partial(_reports, coin), 0, 1, 4 * _MANY)),
    ]


def _noise() -> list[Case]:
    line = np.arange(-60, 62)
    wide = np.arange(-200, 202)
    return [
        Case(
            "geometric(1), formula",
            1.0,
            True,
            exact(noise.geometric_pmf(line, 1, 1.0), noise.geometric_pmf(line - 1, 1, 1.0), _output(line)),
        ),
        Case(
            "geometric(1) drawn",
            1.0,
            True,
            sampled(lambda count, runs: noise.geometric(np.full(runs, count), 1, 1.0), 0, 1, _MANY),
        ),
        Case(
            "laplace(1), grid 1/64, drawn",
            1.0,
            True,
            sampled(
                lambda value, runs: noise.laplace(np.full(runs, value), 1.0, 1.0, 1 / 64, changed=1),
                0.0,
                1.0,
                _MANY,
            ),
        ),
        Case(
            f"gaussian(1, delta {DELTA:g}), formula",
            1.0,
            True,
            _approximate(
                noise.gaussian_pmf(wide, 1.0, 1.0, DELTA), noise.gaussian_pmf(wide - 1, 1.0, 1.0, DELTA)
            ),
        ),
        Case(
            f"gaussian(1, delta {DELTA:g}) drawn",
            1.0,
            True,
            sampled(
                lambda count, runs: noise.gaussian(np.full(runs, count), 1.0, 1.0, DELTA), 0, 1, _MANY, DELTA
            ),
        ),
    ]


def _selection() -> list[Case]:
    return [
        Case(
            "exponential_mechanism(1)",
            1.0,
            True,
            sampled(
                lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0),
                [1, 0, 0],
                [0, 1, 1],
                4 * _FEW,
            ),
        ),
        Case(
            "exponential_mechanism(1), monotone",
            1.0,
            True,
            sampled(
                lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0, monotone=True),
                [0, 0, 0],
                [1, 0, 0],
                4 * _FEW,
            ),
        ),
        Case("exponential_mechanism(1) of estimates, chances", 1.0, True, _estimates()),
        Case(
            "noisy_maximum(1)",
            1.0,
            True,
            sampled(lambda counts: selection.noisy_maximum(counts, 1.0), [0, 1], [0, 2], 4 * _FEW),
        ),
        Case(
            "noisy_maximum(1), bounded",
            1.0,
            True,
            sampled(lambda counts: selection.noisy_maximum(counts, 1.0, "bounded"), [0, 3], [1, 2], 4 * _FEW),
        ),
        Case(
            "sparse_vector(4, c = 2)",
            4.0,
            True,
            sampled(partial(_sparse, positives=2), [0, 0, 1, 1], [1, 1, 0, 0], _FEW),
        ),
        Case(
            "sparse_vector(4, c = 1), monotone",
            4.0,
            True,
            sampled(partial(_sparse, positives=1, monotone=True), [0, 0, 0, 1], [1, 1, 1, 2], _FEW),
        ),
        Case(
            "sparse_vector(2 and 2 for values, c = 1)",
            4.0,
            True,
            sampled(_sparse_values, [0, 0, 1], [1, 1, 0], _FEW),
        ),
        Case(
            "above_threshold(4)",
            4.0,
            True,
            sampled(_first_above, [0, 0, 0, 1], [1, 1, 1, 0], _FEW),
        ),
    ]


def _estimates() -> Callable[[], Finding]:
    """The chances of each answer with and without a report of the second, where the first is far ahead."""
    made = selection.estimate_utilities(share_coefficients([designs.k_ary(3, 1.0)]).numerators)
    both = [made.weights @ np.array(counts) / (2 * made.sensitivity) for counts in ([90, 5, 5], [90, 6, 5])]
    chances = [np.exp(utilities - utilities.max()) for utilities in both]
    first, second = (weights / weights.sum() for weights in chances)
    return exact(first, second, lambda index: f"answer = {index}")


def _queries() -> list[Case]:
    tree = [("north", "alba"), ("north", "bruma"), ("south", "cala")]
    made: list[tuple[str, Any, tuple[Any, ...], tuple[Any, ...]]] = [
        ("count(1)", queries.count(1.0), ([1] * 3,), ([1] * 4,)),
        ("count(1), bounded", queries.count(1.0, "bounded"), ([1, 1, 0],), ([1, 1, 1],)),
        ("proportion(1)", queries.proportion(1.0), ([],), ([1],)),
        ("proportion(3), bounded", queries.proportion(3.0, "bounded"), ([0, 1],), ([1, 1],)),
        ("mean(1) in [10, 11]", queries.mean(10.0, 11.0, 1.0), ([],), ([11.0],)),
        ("mean(1) in [-1, 1]", queries.mean(-1.0, 1.0, 1.0), ([-1.0],), ([-1.0, 1.0],)),
        ("mean(3) in [-1, 1], bounded", queries.mean(-1.0, 1.0, 3.0, "bounded"), ([-1.0],), ([1.0],)),
        ("histogram(1)", queries.histogram("ab", 1.0), (["a"],), (["a", "b"],)),
        ("histogram(3), bounded", queries.histogram("ab", 3.0, "bounded"), (["a"],), (["b"],)),
        (
            "table(3), bounded",
            queries.table(["ab", "xy"], 3.0, "bounded"),
            (["a"], ["x"]),
            (["b"], ["y"]),
        ),
        ("hierarchy(3)", queries.hierarchy(tree, 3.0), ([],), ([tree[0]],)),
        ("hierarchy(3), bounded", queries.hierarchy(tree, 3.0, "bounded"), ([tree[0]],), ([tree[2]],)),
        (
            "hierarchy(3), bounded, total known",
            queries.hierarchy(tree, 3.0, "bounded", total=1),
            ([tree[0]],),
            ([tree[2]],),
        ),
    ]
    return [
        Case(f"query {name}", query.epsilon, True, sampled(partial(_answer, query), first, second, runs))
        for name, query, first, second in made
        for runs in (_FEWER if isinstance(query, queries.Hierarchy) else _FEW,)
    ]


def _composed() -> list[Case]:
    """What accounting promises about many coin flips, against their exact distributions."""
    coin = designs.coin_flip(0.25)
    no, yes = (int(weight) / designs.TOTAL for weight in coin.weights[:, 1])
    people, others = 500, _binomial(499, no)
    return [
        Case(
            f"20 coin flips of one person, delta {DELTA:g}",
            optimal(coin.epsilon, 20, DELTA).epsilon,
            True,
            _approximate(_binomial(20, no), _binomial(20, yes)),
        ),
        Case(
            f"tally of {people} coin flips, shuffled, delta {DELTA:g}",
            shuffle_amplification(people, coin.epsilon, DELTA).epsilon,
            True,
            _approximate(np.convolve(others, [1 - no, no]), np.convolve(others, [1 - yes, yes])),
        ),
    ]


def _two_boxes(box: Design) -> Callable[[], Finding]:
    empty, ticked = box.weights.astype(object)
    first, second = np.outer(ticked, empty).ravel(), np.outer(empty, ticked).ravel()
    return exact(first, second, lambda index: f"boxes = {divmod(index, 2)}")


def _approximate(first: NDArray[np.float64], second: NDArray[np.float64]) -> Callable[[], Finding]:
    return lambda: Finding(
        max(exact_loss(first, second, delta=DELTA) - ROUNDING, 0.0), "every event, by the formula"
    )


def _binomial(n: int, chance: float) -> NDArray[np.float64]:
    made = np.ones(1)
    for _ in range(n):
        made = np.convolve(made, [1 - chance, chance])
    return np.minimum(made, 1.0)


def _reports(design: Design, truth: int, runs: int) -> NDArray[np.uint8]:
    return design.report(np.full(runs, truth), designs.draw_coins(runs))


def _sparse(answers: list[int], *, positives: int, monotone: bool = False) -> str:
    made = selection.sparse_vector(answers, 1, 1.0, positives, 4.0, monotone)
    return "".join("above " if above else "below " for above in made.above).strip()


def _sparse_values(answers: list[int]) -> float:
    """The value of the last answer where it is the only one above, no number otherwise."""
    made = selection.sparse_vector(answers, 1, 1.0, 1, 2.0, values_epsilon=2.0)
    assert made.values is not None
    return float(made.values[0]) if made.positives.tolist() == [len(answers) - 1] else math.nan


def _first_above(answers: list[int]) -> int:
    found = selection.above_threshold(answers, 1, 1.0, 4.0)
    return len(answers) if found is None else found


def _answer(query: Any, data: tuple[Any, ...]) -> Any:
    """The value, flat; its interval and errors are functions of it and of what is public."""
    value = np.ravel(query.run(*data).value)
    return value[0] if value.size == 1 else value


def _output(values: NDArray[np.int64]) -> Callable[[int], str]:
    return lambda index: f"output = {int(values[index])}"
