"""Designs: the reports that every coin leads to, and coins as they are drawn."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy import designs
from server.privacy.auditing.cases import Case, Finding, by_counting, by_running, exact, of_coins
from server.privacy.auditing.report_coins import coins_of, coins_of_reports
from server.privacy.designs import Design

_RUNS = 240_000
_GRID = 1e-8
"""More than rounding to 32 bits can add to the loss of a device."""
_COIN = math.log(3)
_STEPS = 4
"""Of a number, from the lowest to the highest."""


def cases() -> list[Case]:
    """Of designs asked for by their loss the claim is that; of devices it follows from their chances."""
    asked: dict[str, Callable[[], Design]] = {
        "for_epsilon(1)": lambda: designs.for_epsilon(1.0),
        "k_ary(4 options, 1)": lambda: designs.k_ary(4, 1.0),
        "ordinal(5 options, 1)": lambda: designs.ordinal(5, 1.0),
        "best_choice(4 options, 1)": lambda: designs.best_choice(4, 1.0).design,
        "split_answer(k_ary(4 options, 1))": lambda: designs.split_answer(designs.k_ary(4, 1.0)),
    }
    devices: dict[str, tuple[float, Callable[[], Design]]] = {
        "coin_flip(0.25)": (3, _coin),
        "warner(0.7)": (0.7 / 0.3, lambda: designs.warner(0.7)),
        "forced_response(0.75, 0.125)": (0.875 / 0.125, lambda: designs.forced_response(0.75, 0.125)),
        "unrelated_question(0.7, 0.3)": (0.79 / 0.09, lambda: designs.unrelated_question(0.7, 0.3)),
        "kuk(0.8, 0.3)": (0.7 / 0.2, lambda: designs.kuk(0.8, 0.3)),
        "crosswise(0.25)": (3, lambda: designs.crosswise(0.25)),
        "custom(3 truths, 2 reports)": (
            0.7 / 0.2,
            lambda: designs.custom([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]]),
        ),
    }
    boxes: dict[str, Callable[[], Design]] = {
        "optimised": lambda: designs.unary(1.0),
        "symmetric": lambda: designs.unary(1.0, optimised=False),
    }
    return [
        *(by_counting(f"design {name}", 1.0, made) for name, made in asked.items()),
        *(
            by_counting(f"design {name}", math.log(ratio) + _GRID, made)
            for name, (ratio, made) in devices.items()
        ),
        by_counting(
            "design kronecker(two coin flips)",
            2 * _COIN,
            lambda: designs.kronecker(_coin(), _coin()),
        ),
        *(
            Case(
                f"design unary(1), {name}, one option against another",
                1.0,
                partial(_two_boxes, box),
                partial(_once, box),
            )
            for name, box in boxes.items()
        ),
        Case(
            "number rounded at random and flipped, coin_flip(0.25)",
            _COIN,
            lambda: of_coins(coins_of_reports(_number, _STEPS + 1, 2)),
            lambda: (designs.weigh_between(_coin(), 1, _STEPS), _number([0], [0])),
        ),
        by_running("coins drawn, coin_flip(0.25)", _COIN, _reports, 0, 1, _RUNS),
    ]


def _coin() -> Design:
    return designs.coin_flip(0.25)


def _number(steps: ArrayLike, coins: ArrayLike) -> NDArray[np.uint8]:
    return designs.report_between(_coin(), steps, _STEPS, coins)


def _once(made: Callable[[], Design]) -> object:
    return made().report([0], [0])


def _two_boxes(made: Callable[[], Design]) -> Finding:
    """Two of the boxes, of which one or the other is ticked."""
    empty, ticked = coins_of(made()).astype(object)
    first, second = np.outer(ticked, empty).ravel(), np.outer(empty, ticked).ravel()
    return exact(first, second, lambda index: f"boxes = {divmod(index, 2)}")()


def _reports(truth: int, runs: int) -> NDArray[np.uint8]:
    return _coin().report(np.full(runs, truth), designs.draw_coins(runs))
