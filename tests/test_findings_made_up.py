"""Ten thousand made-up results, and as many intervals of every size: no sentence says more than its numbers allow."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from server.reports.estimate_values import QuestionReport, ReportMean, compute_all, compute_limits
from server.reports.findings import MeanFinding, QuestionFinding, Says, interpret_question, round_mean
from server.reports.report_columns import ReportColumn
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import HigherGroup, interpret_difference
from server.study.definitions import Question
from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind
from tests.support.sentence_reader import (
    DISTANCE,
    EXTENT,
    LEADER,
    MEAN,
    NO_LEADER,
    SHARE,
    Claim,
    SentenceReader,
)

Interval = tuple[float, float]
Ends = tuple[float, float]
FINDINGS, COMPARED, ESTIMATES = (f"words/{name}.html" for name in ("findings", "compared", "estimates"))
LANGUAGES = ["en", "es"]
UNIT = "cups"
OF_EACH = 290
"""Results of each question, each for one look and for any number of them: of 18 questions more than 10,000."""
INTERVALS = 5_000
"""Of each test, in each of the two languages."""
QUESTIONS = parse_definition(every_kind.document()).questions


def make_up_result(question: Question, rng: np.random.Generator) -> QuestionReport:
    """What one to a million people reported: as their answers and the coins have it, or anything at all."""
    people, columns = int(10 ** rng.uniform(0, 6)), []
    for name, design in zip(question.columns, question.designs, strict=True):
        truths = rng.dirichlet(np.full(len(design.weights), 10 ** rng.uniform(-1, 1)))
        chances = truths @ design.weights.astype(float)
        if rng.random() < 0.3:
            chances = np.where(chances > 0, rng.dirichlet(np.ones(len(chances))), 0.0)
        counts = rng.multinomial(people, chances / chances.sum())
        columns.append(ReportColumn(name, ((1,),), (design,), counts[None, :], None, 0.95))
    return QuestionReport(question, (1,), question.encoding.by_answer, tuple(columns))


@pytest.fixture(scope="module")
def results() -> list[tuple[QuestionReport, bool]]:
    """Results of every kind of question under every design, each for one look and for any number."""
    rng = np.random.default_rng(15)
    made = [make_up_result(question, rng) for question in QUESTIONS for _ in range(OF_EACH)]
    compute_limits(made)
    compute_all(made)
    assert 2 * len(made) >= 10_000
    return [(result, anytime) for result in made for anytime in (False, True)]


def name_leader(found: QuestionFinding, anytime: bool) -> str | None:
    """The answer of which an interval lies above that of each other one, if there is one: worked out here."""
    limits = {row.answer: row.interval(anytime) for row in found.entry.shown}
    for answer, (low, _) in limits.items():
        if all(high < low for other, (_, high) in limits.items() if other != answer):
            return answer
    return None


def is_guess_wrong(claim: Claim, value: float | None, ends: Ends, step: float) -> bool:
    """Whether a best guess is another number than the estimate, or outside what the sentence leaves."""
    if claim.guess is None:
        return False
    assert value is not None
    nearest = min(max(value, ends[0]), ends[1])
    return abs(claim.guess - nearest) > 0.51 * step or not claim.low <= claim.guess <= claim.high


def find_fault(reader: SentenceReader, sentence: str, found: QuestionFinding, anytime: bool) -> str:
    """What a sentence says beyond the result's own numbers; empty where there is nothing."""
    entry = found.entry
    if entry.mean is not None:
        claim, ends = reader.read(sentence, MEAN), (entry.mean.low, entry.mean.high)
        # Two decimals below the first digit of the range: a tenth of a hundredth of it, or less.
        guess = is_guess_wrong(claim, entry.mean.value, ends, (ends[1] - ends[0]) / 100)
        return "a mean" if guess or claim.leaves_out(entry.mean.interval(anytime), ends) else ""
    rows, leading = {row.answer: row for row in entry.shown}, name_leader(found, anytime)
    if len(rows) > 1:
        if reader.fill(sentence, NO_LEADER) is not None:
            return ""
        claim = reader.read(sentence, LEADER)
        if leading is None or found.leader is None or found.leader.row.answer != leading:
            return "a leader"
        row = rows[leading]
    else:
        claim, row = reader.read(sentence, SHARE), entry.shown[0]
    low, high = row.interval(anytime)
    guess = is_guess_wrong(claim, 100 * row.value, (0, 100), 1)
    return "a share" if guess or claim.leaves_out((100 * low, 100 * high), (0, 100)) else ""


def write_sentence(words: ReportWords, found: QuestionFinding) -> str:
    return words.macro(FINDINGS, "sentence", found, "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_result_says_more_than_its_intervals(
    results: list[tuple[QuestionReport, bool]], language: str
) -> None:
    words, reader, said = ReportWords(language), SentenceReader(language, UNIT), Counter[str]()
    for result, anytime in results:
        found = interpret_question(result, anytime)
        sentence = write_sentence(words, found)
        fault = find_fault(reader, sentence, found, anytime)
        assert not fault, (fault, sentence, result.question.name, result.columns[0].counts, anytime)
        said[f"mean {found.mean.says}" if found.mean else "leader" if found.leader else "none"] += 1
        if len(found.shares) == 1:
            said[f"share {found.shares[0].says}"] += 1
    # Each of the sentences was among them, and not once by accident.
    expected = {f"{what} {says}" for what in ("mean", "share") for says in Says} | {"leader", "none"}
    assert {name for name, times in said.items() if times > 20} == expected, said


def test_sentences_that_round_to_the_nearest_or_take_the_largest_for_the_most_common_are_noticed(
    results: list[tuple[QuestionReport, bool]],
) -> None:
    words, reader, noticed = ReportWords("en"), SentenceReader("en", UNIT), Counter[str]()
    for result, anytime in results[::3]:
        found = interpret_question(result, anytime)
        if found.mean is not None and result.mean is not None:
            low, high = (
                round(min(max(end, result.mean.low), result.mean.high))
                for end in result.mean.interval(anytime)
            )
            twin = replace(found, mean=replace(found.mean, low=low, high=high, guess=None))
        elif len(found.shares) > 1:
            twin = replace(found, leader=max(found.shares, key=lambda share: share.row.value))
        else:
            (share,) = found.shares
            low, high = (round(100 * min(max(end, 0), 1)) for end in share.row.interval(anytime))
            twin = replace(found, shares=(replace(share, low=low, high=high, guess=None),))
        noticed[find_fault(reader, write_sentence(words, twin), twin, anytime)] += 1
    assert all(noticed[fault] > 100 for fault in ("a mean", "a leader", "a share")), noticed


def make_up_means(seed: int) -> Iterator[tuple[Ends, float, Interval]]:
    """Ranges from a millionth to a thousand million wide, of up to six decimals; estimates, intervals of all widths."""
    rng = np.random.default_rng(seed)
    for _ in range(INTERVALS):
        decimals = int(rng.integers(0, 7))
        step = 10.0**-decimals
        width = max(round(float(10 ** rng.uniform(-decimals, 9)), decimals), step)
        first = round(float(rng.uniform(-3, 3) * width), decimals)
        ends = first, round(first + width, decimals)
        middle, half = first + width * rng.uniform(-0.3, 1.3), width * 10 ** rng.uniform(-4, 0.3)
        yield (
            ends,
            float(middle),
            (float(middle - half * rng.uniform()), float(middle + half * rng.uniform())),
        )


@pytest.fixture(scope="module")
def mean() -> ReportMean:
    """A mean of which findings are said; what they say is taken from elsewhere."""
    cups = next(question for question in QUESTIONS if question.name == "cups")
    made = make_up_result(cups, np.random.default_rng(1)).mean
    assert made is not None
    return made


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_mean_says_more_whatever_the_range(mean: ReportMean, language: str) -> None:
    words, reader, said = ReportWords(language), SentenceReader(language, UNIT), set()
    question = next(question for question in QUESTIONS if question.name == "cups")
    for ends, value, interval in make_up_means(16):
        found = MeanFinding(mean, *round_mean(value, interval, ends))
        sentence, extent = (
            words.macro(FINDINGS, "mean_sentence", question, found),
            words.macro(ESTIMATES, "extent", found),
        )
        near = 1e-9 * (abs(ends[0]) + abs(ends[1]))
        for claim in (reader.read(sentence, MEAN), reader.read(extent, EXTENT)):
            assert not claim.leaves_out(interval, ends, near), (sentence, extent, interval, ends)
            assert not is_guess_wrong(claim, value, ends, (ends[1] - ends[0]) / 50 + near), (sentence, value)
        said.add(found.says)
    assert said == set(Says)


def read_difference(reader: SentenceReader, sentence: str) -> Claim:
    """How much more, at least and at most, the first group ("AA") has than the second ("BB")."""
    claim = reader.read(sentence, DISTANCE)
    if claim.kind == "impossible":
        return claim
    if claim.kind == "not_told":
        return replace(claim, low=-claim.low)
    low = 0.0 if claim.kind == "at_most" else claim.low
    return (
        replace(claim, low=low)
        if claim.parts["higher"] == "AA"
        else replace(claim, low=-claim.high, high=-low)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_two_means_says_more_than_the_interval_of_their_difference(language: str) -> None:
    words, reader, rng, seen = (
        ReportWords(language),
        SentenceReader(language, UNIT),
        np.random.default_rng(17),
        set(),
    )
    question = next(question for question in QUESTIONS if question.name == "cups")
    for _ in range(INTERVALS):
        width = round(float(10 ** rng.uniform(-3, 6)), 3)
        middle, half = width * rng.uniform(-1.3, 1.3), width * 10 ** rng.uniform(-4, 0.3)
        interval = float(middle - half), float(middle + half)
        distance = interpret_difference(interval, width, count_by_hand(width))
        sentence = words.macro(COMPARED, "mean_distance", distance, question, "AA", "BB")
        claim = read_difference(reader, sentence)
        seen.add(distance.verdict)
        assert not claim.leaves_out(interval, (-width, width), 1e-9 * width), (sentence, interval)
        if claim.kind in ("between", "at_most"):
            assert interval[0] > 0 or interval[1] < 0, (sentence, interval)
            assert (claim.parts["higher"] == "AA") == (interval[0] > 0), (sentence, interval)
    assert seen == set(HigherGroup)


def count_by_hand(width: float) -> int:
    """Parts of a unit in which a number is told whose range is so wide: three digits of it, or a whole one."""
    parts = 1
    while width * parts < 100:
        parts *= 10
    return parts


def test_a_difference_that_rounds_to_the_nearest_or_forgets_who_is_higher_is_noticed() -> None:
    words, reader = ReportWords("en"), SentenceReader("en", UNIT)
    question = next(question for question in QUESTIONS if question.name == "cups")
    interval, right = (3.4, 16.6), interpret_difference((3.4, 16.6), 100, 1)

    def leaves_out(distance: object, first: str = "AA", second: str = "BB") -> bool:
        sentence = words.macro(COMPARED, "mean_distance", distance, question, first, second)
        return read_difference(reader, sentence).leaves_out(interval, (-100, 100))

    assert not leaves_out(right)
    assert leaves_out(replace(right, low=4.0))
    assert leaves_out(replace(right, high=16.0))
    assert leaves_out(replace(right, verdict=HigherGroup.SECOND))
    assert leaves_out(right, "BB", "AA")
    assert leaves_out(replace(right, verdict=HigherGroup.IMPOSSIBLE))
