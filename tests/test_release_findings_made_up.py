"""Public findings of groups, of combinations and of numbers of people: thousands of made-up releases, read back."""

from collections import Counter

import numpy as np
import pytest

from server.releases import STRATUM, Figure
from server.releases.plans.items import Item, ItemKind
from server.reports.contents import finding_texts
from server.reports.contents.finding_reader import read_entry
from server.reports.report_words import ReportWords
from tests.support import sample_ledger
from tests.support.sentence_reader import SentenceReader
from tests.test_release_findings import ASKED, make_figure

Interval = tuple[float, float]
LANGUAGES = ["en", "es"]
RELEASES = 1_000
"""Of each kind, in each of the two languages."""
HIGHER = {
    "share": "“%(answer)s” is more common in %(group)s than in the other groups.",
    "mean": "The average is higher in %(group)s than in the other groups.",
}
OPEN = {
    "share": "These responses do not tell where “%(answer)s” is the most common.",
    "mean": "These responses do not tell where the average is the highest.",
}
COMBINED = "The most common combination is %(answers)s."
NOT_COMBINED = "These responses do not tell which combination of answers is the most common."
COUNTED, HIDDEN = "%(low)s to %(high)s responses.", "So few responses that noise hides their number."


def make_up_intervals(rng: np.random.Generator, number: int, first: float, last: float) -> list[Interval]:
    """Some that lie apart and some that do not; also beyond what is possible."""
    middles = rng.uniform(first - 0.1 * (last - first), last, number)
    halves = (last - first) * 10 ** rng.uniform(-3, -0.5, number)
    return list(zip((middles - halves).tolist(), (middles + halves).tolist(), strict=True))


def find_top(intervals: list[Interval]) -> int | None:
    """The place of the interval that lies above all others, worked out here."""
    for place, (low, _) in enumerate(intervals):
        if all(high < low for other, (_, high) in enumerate(intervals) if other != place):
            return place
    return None


@pytest.mark.parametrize("statistic", ["share", "mean"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_group_is_named_only_where_it_is_above_all_others(language: str, statistic: str) -> None:
    words, reader, rng = ReportWords(language), SentenceReader(language), np.random.default_rng(18)
    (first, last), variable = ((0, 1), ("coin", "yes")) if statistic == "share" else ((-10, 30), ("cups", ""))
    said = Counter[bool]()
    for _ in range(RELEASES):
        intervals = make_up_intervals(rng, int(rng.integers(2, 6)), first, last)
        groups = [f"Group {letter}" for letter in "ABCDE"[: len(intervals)]]
        figures = [
            make_figure(statistic, sum(each) / 2, each, (STRATUM, group), variable)
            for group, each in zip(groups, intervals, strict=True)
        ]
        kind = ItemKind.TABLE if statistic == "share" else ItemKind.MEAN
        entry = sample_ledger.entry(1, Item(kind, (variable[0],), by_stratum=True), figures)
        (found,) = read_entry(words, entry, ASKED)
        top, parts = find_top(intervals), reader.fill(found.sentence, HIGHER[statistic])
        if top is None:
            assert parts is None
            assert reader.fill(found.sentence, OPEN[statistic]) is not None, found.sentence
        else:
            assert parts is not None, found.sentence
            assert parts["group"] == groups[top]
        said[top is None] += 1
    assert min(said.values()) > RELEASES / 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_combination_is_named_only_where_it_is_above_all_others(language: str) -> None:
    words, reader, rng, said = (
        ReportWords(language),
        SentenceReader(language),
        np.random.default_rng(19),
        Counter(),
    )
    pairs = [(party, answer) for party in ("red", "blue") for answer in ("no", "yes")]
    for _ in range(RELEASES):
        intervals = make_up_intervals(rng, len(pairs), 0, 1)
        figures = [
            make_figure("share", sum(each) / 2, each, ("party", party), ("coin", answer))
            for (party, answer), each in zip(pairs, intervals, strict=True)
        ]
        entry = sample_ledger.entry(1, Item(ItemKind.TABLE, ("party", "coin")), figures)
        (found,) = read_entry(words, entry, ASKED)
        top, parts = find_top(intervals), reader.fill(found.sentence, COMBINED)
        if top is None:
            assert reader.fill(found.sentence, NOT_COMBINED) is not None, found.sentence
        else:
            assert parts is not None, found.sentence
            assert f"Option {pairs[top][0]}" in parts["answers"]
            assert found.headline is not None
            assert found.headline.interval == intervals[top]
        said[top is None] += 1
    assert min(said.values()) > RELEASES / 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_number_of_people_is_said_more_exactly_than_it_was_released(language: str) -> None:
    words, reader, rng, said = (
        ReportWords(language),
        SentenceReader(language),
        np.random.default_rng(20),
        Counter(),
    )
    for _ in range(RELEASES):
        middle, half = float(10 ** rng.uniform(-1, 7)), float(10 ** rng.uniform(-1, 3))
        low, high = middle - half * rng.uniform(0, 30), middle + half - 2 * half * (rng.random() < 0.2)
        if rng.random() < 0.5:
            low, high = float(round(low)), float(round(high))
        sentence = finding_texts.say_count(
            words, Figure("respondents", (), middle, half, low, max(low, high))
        )
        parts = reader.fill(sentence, COUNTED)
        if high < 0 or low == max(low, high):
            said["hidden" if reader.fill(sentence, HIDDEN) is not None else "exact"] += 1
            continue
        assert parts is not None, sentence
        # People are whole ones: those from the lower to the higher end, of which there are none below 0.
        assert reader.number(parts["low"]) <= max(np.ceil(low), 0)
        assert reader.number(parts["high"]) >= np.floor(max(low, high))
        said["between"] += 1
    assert said["between"] > RELEASES / 2
    assert said["hidden"] > 0


def test_a_group_that_only_its_estimate_makes_the_highest_is_noticed() -> None:
    words, reader = ReportWords("en"), SentenceReader("en")
    intervals = [(0.3, 0.5), (0.2, 0.35)]
    figures = [
        make_figure("share", sum(each) / 2, each, (STRATUM, group), ("coin", "yes"))
        for group, each in zip(("A", "B"), intervals, strict=True)
    ]
    entry = sample_ledger.entry(1, Item(ItemKind.TABLE, ("coin",), by_stratum=True), figures)
    (found,) = read_entry(words, entry, ASKED)
    twin = finding_texts.say_strata(words, found.ranges[0], "Yes")
    assert find_top(intervals) is None
    assert reader.fill(found.sentence, HIGHER["share"]) is None
    assert reader.fill(twin, HIGHER["share"]) is not None
