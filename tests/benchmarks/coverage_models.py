"""How often 95% intervals of models for data from elsewhere hold what is true, as a Markdown table.

    python -m tests.benchmarks.coverage_models [STUDIES [SEED]]

Of few people every outcome is weighted with its exact chance. Of more, STUDIES are made up for each truth, and the
simulation's standard error stands behind the share of them that held. Of each interval the least is told, with the
truths where it is, and the mean over all of them. The last table of docs/privacy/estimators.md about two groups, lists
and people who do not attend is the output.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from server.privacy.designs import crosswise, forced_response
from server.privacy.estimators import (
    cheating_test,
    correct_inattention,
    estimate_double_list,
    estimate_extended_crosswise,
    estimate_unknown_prevalence,
)

Floats = NDArray[np.float64]
Limits = Sequence[Sequence[float]]
STUDIES = 4_000
FEW = ((40, 40), (30, 90))
"""People of two groups of which everything is enumerated."""

SHARES = (0.0, 0.02, 0.1, 0.3, 0.5)
ASKED = (0.75, 0.25)
"""How often the sensitive question is asked, in either group."""

FORCED = (forced_response(0.6, 0.3), forced_response(0.6, 0.1))
COMMON = 0.15
"""How common the innocuous items of a crosswise question and of its anchor are."""

ROUNDING = 1e-12


@dataclass(frozen=True)
class Model:
    """What is asked of two groups: the names of its intervals, these by counts of yes, chances of yes, truths."""

    name: str
    intervals: tuple[str, ...]
    limits: Callable[[Sequence[Sequence[int]]], Limits]
    report: Callable[[Sequence[float]], Sequence[float]]
    truths: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Held:
    """How often each interval held, a row for each of the truths; of studies that were made up, how many."""

    truths: Sequence[Sequence[float]]
    shares: Floats
    studies: int | None = None

    def describe(self, place: int) -> str:
        """The least of one interval, where it is, and the mean, as cells of the table."""
        own = self.shares[:, place]
        least = float(own.min())
        error = "" if self.studies is None else f" ± {math.sqrt(least * (1 - least) / self.studies):.4f}"
        where = ", ".join(f"{value:g}" for value in self.truths[int(own.argmin())])
        return f"{len(own)} | {least:.4f}{error} | {where} | {own.mean():.4f}"


def limit_extended(counts: Sequence[Sequence[int]]) -> Limits:
    """Both intervals of the extended crosswise model."""
    found = estimate_extended_crosswise(counts, prevalence=0.2)
    return found.interval, found.preference_interval


MODELS = (
    Model(
        "unknown prevalence, asked 0.75 and 0.25",
        ("share", "prevalence"),
        lambda counts: estimate_unknown_prevalence(counts, ASKED).intervals.tolist(),
        lambda truth: [asked * truth[0] + (1 - asked) * truth[1] for asked in ASKED],
        tuple(itertools.product(SHARES, (0.0, 0.1, 0.5, 0.9))),
    ),
    Model(
        "cheating, forced yes 0.3 and 0.1",
        ("honest no", "honest yes", "cheaters"),
        lambda counts: cheating_test(counts, FORCED).intervals.tolist(),
        lambda truth: [float(truth[:2] @ design.matrix[:, 1]) for design in FORCED],
        (
            (1, 0, 0),
            (0.9, 0.1, 0),
            (0.8, 0.1, 0.1),
            (0.5, 0.3, 0.2),
            (0.3, 0.3, 0.4),
            (0.7, 0, 0.3),
            (0.6, 0.4, 0),
            (0, 0.5, 0.5),
        ),
    ),
    Model(
        "extended crosswise, 0.2 and 0.8",
        ("share", "preference"),
        limit_extended,
        lambda truth: [float([1 - truth[0], truth[0]] @ crosswise(p).matrix[:, 1]) for p in (0.2, 0.8)],
        tuple((share, 0.0) for share in SHARES),
    ),
)
ATTENTIVE = ((0.0, 1.0), (0.02, 1.0), (0.1, 0.8), (0.3, 0.8), (0.05, 0.5))
"""Share of yes, and of people who attend."""


def hold(limits: Limits, truth: Sequence[float]) -> list[bool]:
    """Whether each interval holds what it is of."""
    return [
        low - ROUNDING <= value <= high + ROUNDING for (low, high), value in zip(limits, truth, strict=True)
    ]


def enumerate_groups(model: Model, sizes: Sequence[int]) -> Held:
    """The exact chance that each interval holds."""
    seen = list(itertools.product(*(range(size + 1) for size in sizes)))
    limits = [
        model.limits([[size - yes, yes] for size, yes in zip(sizes, each, strict=True)]) for each in seen
    ]
    rows = []
    for truth in model.truths:
        first, second = (
            binom.pmf(range(size + 1), size, chance)
            for size, chance in zip(sizes, model.report(truth), strict=True)
        )
        rows.append(np.outer(first, second).ravel() @ np.array([hold(each, truth) for each in limits]))
    return Held(model.truths, np.array(rows))


def chances_attentive(share: float, attentive: float) -> Floats:
    """Of each pair of reports: to the crosswise question, and to the anchor, which is a No to everybody."""
    of_question = [1 - share, share] @ crosswise(COMMON).matrix
    return np.asarray(
        attentive * np.outer(of_question, crosswise(COMMON).matrix[0]) + (1 - attentive) / 4
    ).ravel()


def limit_attentive(counts: Sequence[int]) -> Limits:
    """Both intervals of the crosswise model with people who do not attend."""
    found = correct_inattention(np.reshape(counts, (2, 2)), COMMON, COMMON)
    return found.interval, found.attentive_interval


def enumerate_attentive(people: int) -> Held:
    """The exact chance that each interval holds."""
    seen = [each for each in itertools.product(range(people + 1), repeat=3) if sum(each) <= people]
    counts = [(*each, people - sum(each)) for each in seen]
    limits = [limit_attentive(each) for each in counts]
    rows = [
        multinomial.pmf(counts, people, chances_attentive(*truth))
        @ np.array([hold(each, truth) for each in limits])
        for truth in ATTENTIVE
    ]
    return Held(ATTENTIVE, np.array(rows))


def simulate_attentive(people: int, studies: int, seed: int) -> Held:
    """How often each interval held, of made-up studies."""
    rows = []
    for place, truth in enumerate(ATTENTIVE):
        rng = np.random.default_rng([seed, people, place])
        made = rng.multinomial(people, chances_attentive(*truth), studies)
        rows.append(np.mean([hold(limit_attentive(each), truth) for each in made], axis=0))
    return Held(ATTENTIVE, np.array(rows), studies)


def simulate_double_list(sizes: Sequence[int], studies: int, seed: int) -> Held:
    """The same of two lists of three others each, which apply to 40 and to 50 of 100 people."""
    rows = []
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng([seed, *sizes, place])
        rows.append([np.mean([hold([_limit_made(rng, sizes, share)], [share]) for _ in range(studies)])])
    return Held([(share,) for share in SHARES], np.array(rows), studies)


def _limit_made(rng: np.random.Generator, sizes: Sequence[int], share: float) -> tuple[float, float]:
    tables = []
    for people, item in zip(sizes, ((1, 0), (0, 1)), strict=True):
        table = np.zeros((4 + item[0], 4 + item[1]), dtype=np.int64)
        has = rng.random(people) < share
        places = [
            rng.binomial(3, chance, people) + own * has for chance, own in zip((0.4, 0.5), item, strict=True)
        ]
        np.add.at(table, tuple(places), 1)
        tables.append(table)
    return estimate_double_list(*tables).interval


def table(studies: int = STUDIES, seed: int = 1) -> Iterator[str]:
    """The Markdown table, line by line; without studies, what is enumerated."""
    yield "| model | people | interval of | truths | held at least | there | on average |"
    yield "|---|---|---|---:|---|---|---:|"
    for model in MODELS:
        for sizes in FEW:
            yield from _lines(model.name, sizes, model.intervals, enumerate_groups(model, sizes))
    attentive = ("share", "those who attend")
    name = "inattention, items and anchor 0.15"
    yield from _lines(name, (40,), attentive, enumerate_attentive(40))
    if studies:
        for people in (100, 300, 1000):
            yield from _lines(name, (people,), attentive, simulate_attentive(people, studies, seed))
        for sizes in ((30, 30), (60, 60), (40, 200)):
            yield from _lines(
                "double list of 3 others", sizes, ("share",), simulate_double_list(sizes, studies, seed)
            )


def _lines(name: str, sizes: Sequence[int], intervals: Sequence[str], held: Held) -> Iterator[str]:
    people = ", ".join(f"{size:,}" for size in sizes)
    for place, interval in enumerate(intervals):
        yield f"| {name} | {people} | {interval} | {held.describe(place)} |"


if __name__ == "__main__":
    for line in table(*(int(typed) for typed in sys.argv[1:3])):
        print(line, flush=True)
