"""How much wider intervals are that hold at every look: what the guide says is what the estimators give.

The guide's table says the least and the greatest ratio of the two widths, for each kind of estimate and for one
group or three weighted strata. Here both are computed, for reports as they are expected of declared people.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from server.privacy.designs import Design, for_epsilon, k_ary, ordinal
from server.privacy.estimators import (
    anytime_answered_mean,
    anytime_mean,
    anytime_shares,
    estimate_pooled_answered_mean,
    estimate_pooled_mean,
    estimate_pooled_shares,
)
from server.reports.report_columns import INTERVAL
from tests.support.help_reader import read_guide

EPSILONS = (0.5, 1.0986, 2.2)
SIZES = (300, 1_000, 10_000)
"""Responses of each group."""
STRATA = ((1.0,), (0.5, 0.3, 0.2))
"""What each group counts."""
LEVELS = ((0.2,) * 5, (0.6, 0.2, 0.1, 0.05, 0.05), (0.05, 0.1, 0.7, 0.1, 0.05), (0.45, 0.05, 0, 0.05, 0.45))

Widths = tuple[float, float]


def expect_counts(design: Design, truth: Sequence[float], n: int) -> list[int]:
    """So many reports as they are expected."""
    return [round(n * chance) for chance in (np.array(truth) @ design.matrix).tolist()]


def of_shares(design: Design, truth: Sequence[float], n: int, weights: Sequence[float]) -> Iterator[float]:
    """The ratio of the widths of each share."""
    parts = [expect_counts(design, truth, n)] * len(weights), [design] * len(weights), list(weights)
    once = estimate_pooled_shares(*parts, 0.95, INTERVAL).intervals
    yield from (np.ptp(anytime_shares(*parts), axis=1) / np.ptp(once, axis=1)).tolist()


def of_mean(design: Design, truth: Sequence[float], n: int, weights: Sequence[float]) -> Iterator[float]:
    """That of the mean."""
    counts, designs = [expect_counts(design, truth, n)] * len(weights), [design] * len(weights)
    low, high = estimate_pooled_mean(counts, designs, 0, 1, list(weights), 0.95, INTERVAL).interval
    first, last = anytime_mean(counts, designs, 0, 1, list(weights))
    yield (last - first) / (high - low)


def of_answered(design: Design, truth: Sequence[float], n: int, weights: Sequence[float]) -> Iterator[float]:
    """That of the mean of those who answered, where the reports show that somebody did."""
    counts, designs = [expect_counts(design, truth, n)] * len(weights), [design] * len(weights)
    low, high = estimate_pooled_answered_mean(counts, designs, 0, 1, list(weights), 0.95, INTERVAL).interval
    first, last = anytime_answered_mean(counts, designs, 0, 1, list(weights))
    if (low, high) != (0, 1) and (first, last) != (0, 1):
        yield (last - first) / (high - low)


YES = tuple((1 - share, share) for share in (0.02, 0.1, 0.3, 0.5, 0.9))
FOUR = ((0.25,) * 4, (0.7, 0.2, 0.08, 0.02), (0.4, 0.4, 0.1, 0.1))
ENDS = tuple((0.9 - share, share, 0.1) for share in (0.1, 0.3, 0.5))
KINDS = {
    "yes": ((for_epsilon,), YES, of_shares),
    "choice": ((lambda epsilon: k_ary(4, epsilon),), FOUR, of_shares),
    "number": ((for_epsilon,), YES, of_mean),
    "answered": ((lambda epsilon: k_ary(3, epsilon),), ENDS, of_answered),
    "scale": ((lambda epsilon: k_ary(5, epsilon), lambda epsilon: ordinal(5, epsilon)), LEVELS, of_mean),
    "near": ((lambda epsilon: ordinal(5, epsilon),), LEVELS, of_shares),
}


ROWS = (("yes", "choice", "number"), ("answered",), ("scale",), ("near",))
"""The rows of the guide's table."""


def ratios(kind: str, weights: Sequence[float]) -> Widths:
    """The least and the greatest."""
    makes, truths, of = KINDS[kind]
    found = [
        ratio
        for make, epsilon, truth, n in product(makes, EPSILONS, truths, SIZES)
        for ratio in of(make(epsilon), truth, n, weights)
    ]
    return min(found), max(found)


def read_widths(language: str) -> list[tuple[Widths, ...]]:
    """The numbers of the table that follows the sentence on width: of each row, both ranges."""
    text = read_guide(language)
    section = text[text.index({"en": "## Looking more", "es": "## Mirar más"}[language]) :]
    section = section[: section.index("\n## ", 5)]
    found = re.findall(r"\| (\d[.,]\d) (?:to|a) (\d[.,]\d)(?= \|)", section)
    numbers = [(float(low.replace(",", ".")), float(high.replace(",", "."))) for low, high in found]
    return [tuple(numbers[place : place + 2]) for place in range(0, len(numbers), 2)]


def outwards(widths: Sequence[Widths]) -> Widths:
    """From the least to the greatest, with one decimal."""
    low, high = min(one[0] for one in widths), max(one[1] for one in widths)
    return math.floor(low * 10) / 10, math.ceil(high * 10) / 10


def test_the_guides_say_how_much_wider_intervals_are_that_hold_at_every_look() -> None:
    computed = [
        tuple(outwards([ratios(kind, weights) for kind in kinds]) for weights in STRATA) for kinds in ROWS
    ]

    assert read_widths("en") == computed
    assert read_widths("es") == computed
    # What the guide said of all kinds, before: false of every row but the first.
    assert [row[0][1] <= 2.1 for row in computed] == [True, False, False, False]
    assert all(row[1][1] > 2.1 for row in computed)
