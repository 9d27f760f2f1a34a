"""The answer to explain and what it may go with, by their names -> columns of chances for the likelihood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from server.collect.waves import Byte, WaveQuestion, same_question
from server.inputs import N_, InputError, refuse, shorten_value
from server.privacy.estimators import answered_mean_coefficients, mean_coefficients, share_coefficients
from server.reports.explaining.explained_rows import STRATUM, TREND, WEEK, ExplainableRows, RowBlock
from server.study.definitions import Question

MOST_ANSWERS = 8
"""Of a question that is a predictor whole, or explained whole: each but the first is a coefficient, or some."""
MOST_LEVELS = 20
"""Of a question whose answers stand in an order, to be explained: each but the first is a coefficient."""


ExplainedModel = Literal["binary", "cumulative", "multinomial", "linear"]


@dataclass(frozen=True, eq=False)
class CoinColumn:
    """A question, or an answer of it, as each version asked it: a truth for each of `levels`.

    Where `flips`, the truth of its second row comes first. `answer` is the place of the answer that it is about, if it
    is about one of several: without it, levels are answers of the question. Where a version has a coin for each answer,
    of which one is given, there is a byte for each level.
    """

    name: str
    question: Question
    levels: tuple[str, ...]
    bytes_of: Mapping[int, Sequence[Byte]]
    flips: bool = False
    answer: int | None = None

    def chances(self, block: RowBlock) -> NDArray[np.float64]:
        """The chance of each row's report under each truth, shape (n, levels)."""
        found = self.bytes_of[block.wave.number]
        if len(found) > 1:
            return self._chances_of_boxes(found, block)
        chances = found[0].design.matrix[:, found[0].codes(block.tally)].T
        return np.asarray(chances[:, ::-1] if self.flips else chances)

    def _chances_of_boxes(self, candidates: Sequence[Byte], block: RowBlock) -> NDArray[np.float64]:
        chances = np.ones((len(block.tally.patterns), len(self.levels)))
        for place, byte in enumerate(candidates):
            no, yes = byte.design.matrix[:, byte.codes(block.tally)]
            chances *= np.where(np.arange(len(self.levels)) == place, yes[:, None], no[:, None])
        return chances

    def guess(self, block: RowBlock) -> NDArray[np.float64]:
        """An unbiased guess of each truth, shape (n, levels)."""
        (byte,) = self.bytes_of[block.wave.number]
        guesses = share_coefficients([byte.design]).numerators[:, byte.codes(block.tally)].T
        return np.asarray(guesses[:, ::-1] if self.flips else guesses)

    def guess_number(self, block: RowBlock) -> NDArray[np.float64]:
        """Of a number: a guess of it, 0 of whoever gave none, and of whether one was given, shape (n, 2)."""
        (byte,), ends = self.bytes_of[block.wave.number], self.question.ends
        assert ends is not None
        make = answered_mean_coefficients if self.question.prefer_not_to_say else mean_coefficients
        coefficients = make([byte.design], *ends)
        return np.asarray(
            np.stack([coefficients.numerators[0], coefficients.denominator], axis=1)[byte.codes(block.tally)]
        )


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """What is known of each row: a number, or one of some `levels`, the first of which others are compared with.

    `weekly` are those that are of the weeks in which responses were first shown.
    """

    name: str
    levels: tuple[str, ...]
    weekly: bool = False

    def values(self, block: RowBlock) -> NDArray[np.float64]:
        """Of each row."""
        return block.groups.astype(np.float64) if self.name == STRATUM else block.known[self.name]


def choose_outcome(rows: ExplainableRows, name: str) -> tuple[CoinColumn, ExplainedModel]:
    """The answer to explain, and how: a question, or one answer of it as NAME.ANSWER.

    Levels of a scale and ranges of a number stand in an order; other answers are each held against the first one, as
    are those of a scale where nobody need say. A number is explained as such.

    Raises
    ------
    InputError
        If there is none of that name, or its coins do not tell it from all others.
    """
    versions, answer = _find(rows, name, "explain")
    question = versions[0].question
    if answer is not None:
        return _choose_answer(versions, answer, "explain"), "binary"
    if question.traits.main is not None:
        return _choose_answer(versions, question.answers.index(question.traits.main), "explain"), "binary"
    bytes_of = {one.wave.number: one.bytes(False) for one in versions}
    if question.encoding.between_ends:
        return CoinColumn(name, question, (), bytes_of), "linear"
    if any(one.question.encoding.several for one in versions):
        raise _name_answers(question, "explain", name)
    ordered = (question.traits.levels or question.traits.in_ranges) and not question.prefer_not_to_say
    most = MOST_LEVELS if ordered else MOST_ANSWERS
    if len(question.answers) > most:
        template = N_("must have at most %(limit)d answers, or be one answer; it has %(length)d")
        raise refuse(422, "explain", template, limit=most, length=len(question.answers))
    return CoinColumn(name, question, question.answers, bytes_of), "cumulative" if ordered else "multinomial"


def _name_answers(question: Question, field: str, name: str) -> InputError:
    template = N_("must name an answer too, one of %(limit)s; it is %(value)s")
    named = ", ".join(f"{question.name}.{each}" for each in question.answers)
    return refuse(422, field, template, limit=named, value=shorten_value(name))


def choose_predictor(rows: ExplainableRows, name: str) -> CoinColumn | KnownColumn:
    """A covariate, the strata, weeks, a question with all its answers, or one answer as NAME.ANSWER."""
    for covariate in rows.covariates:
        if covariate.name == name:
            return KnownColumn(name, covariate.categories)
    if name == STRATUM and rows.report.nodes:
        return KnownColumn(name, rows.groups)
    if rows.weekly is not None and name in list_weekly(rows):
        assert rows.weekly.weeks is not None
        return KnownColumn(name, rows.weekly.weeks.names if name == WEEK else (), weekly=True)
    if rows.weekly is not None and name in (WEEK, TREND) and name not in rows.report.waves[0].questions:
        template = N_(
            "needs two weeks or more in which responses were first shown, with at least %(limit)d in each"
        )
        raise refuse(422, "by", template, limit=rows.report.minimum)
    versions, answer = _find(rows, name, "by")
    question = versions[0].question
    if answer is not None:
        return _choose_answer(versions, answer, "by")
    if question.encoding.by_answer or any(other.question.encoding.by_answer for other in versions):
        raise _name_answers(question, "by", name)
    _refuse_numbers(question, "by")
    if len(question.answers) > MOST_ANSWERS:
        template = N_("must have at most %(limit)d answers, or be one answer; it has %(length)d")
        raise refuse(422, "by", template, limit=MOST_ANSWERS, length=len(question.answers))
    bytes_of = {each.wave.number: each.bytes(False) for each in versions}
    return CoinColumn(name, question, question.answers, bytes_of)


def list_weekly(rows: ExplainableRows) -> tuple[str, ...]:
    """What weeks are called as predictors, where there are two or more."""
    return (WEEK, TREND) if rows.weekly is not None and rows.weekly.weeks is not None else ()


def _find(rows: ExplainableRows, name: str, field: str) -> tuple[Sequence[WaveQuestion], int | None]:
    """A question as every version asked it, and which of its answers is named."""
    waves = rows.report.waves
    before, _, answer = name.partition(".")
    known = {question.name: question for question in waves[0].definition.questions}
    question = known.get(before)
    if question is None or (answer and answer not in question.answers):
        names = [covariate.name for covariate in rows.covariates] if field == "by" else []
        names += [STRATUM] * bool(rows.report.nodes and field == "by")
        names += list_weekly(rows) if field == "by" else ()
        names += [f"{before}.{each}" for each in question.answers] if question else list(known)
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, field, template, limit=", ".join(names), value=shorten_value(name) or '""')
    return same_question(before, waves), question.answers.index(answer) if answer else None


def _choose_answer(versions: Sequence[WaveQuestion], answer: int, field: str) -> CoinColumn:
    question = versions[0].question
    _refuse_numbers(question, field)
    name = f"{question.name}.{question.answers[answer]}"
    levels = (f"not {question.answers[answer]}", question.answers[answer])
    if question.answers == ("no", "yes"):
        flips = answer == 0
        bytes_of = {each.wave.number: each.bytes(False) for each in versions}
        return CoinColumn(
            name if flips else question.name,
            question,
            ("yes", "no") if flips else ("no", "yes"),
            bytes_of,
            flips,
        )
    if not tells_answers_apart(versions):
        template = N_("must be of a question whose coins treat its answers alike; %(value)s is not")
        raise refuse(422, field, template, value=name)
    bytes_of = {each.wave.number: [each.bytes(True)[answer]] for each in versions}
    return CoinColumn(name, question, levels, bytes_of, answer=answer)


def tells_answers_apart(versions: Sequence[WaveQuestion]) -> bool:
    """Whether each answer of a question can be looked at by itself, in every version that asks it."""
    return all(
        each.question.encoding.by_answer or each.question.designs[0].treats_options_alike()
        for each in versions
    )


def _refuse_numbers(question: Question, field: str) -> None:
    if question.encoding.between_ends:
        raise refuse(422, field, N_("must have answers; it is a number like %(value)s"), value=question.name)


def refuse_same(outcome: CoinColumn, predictors: Sequence[CoinColumn | KnownColumn]) -> None:
    """Refuse a question that stands on both sides, or a predictor twice."""
    seen = {outcome.question.name}
    for predictor in predictors:
        if isinstance(predictor, CoinColumn):
            name = predictor.question.name
        else:
            name = f"known {WEEK if predictor.weekly else predictor.name}"
        if name in seen and isinstance(predictor, KnownColumn) and predictor.weekly:
            raise refuse(422, "by", N_("must have the weeks once: each by itself, or as a trend"))
        if name in seen:
            raise repeat_error(predictor.name)
        seen.add(name)


def repeat_error(name: str) -> InputError:
    """What is said of a predictor whose question, or what else it is, stands there already."""
    return refuse(
        422,
        "by",
        N_("must name no question twice; that of %(value)s is there already"),
        value=shorten_value(name),
    )
