"""The answer to explain and what it may go with, by their names -> columns of chances for the likelihood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.collect.waves import Byte, WaveQuestion, same_question
from server.inputs import N_, InputError, refuse, shorten_value
from server.reports.explaining.explained_rows import STRATUM, ExplainableRows, RowBlock
from server.study.definitions import Question

MOST_ANSWERS = 8
"""Of a question that is a predictor whole: each but the first is a coefficient."""


@dataclass(frozen=True, eq=False)
class CoinColumn:
    """A question, or an answer of it, as each version asked it: a truth for each of `levels`.

    Where `flips`, the truth of its second row comes first. `answer` is the place of the answer that it is about, if it
    is about one of several: without it, levels are answers of the question.
    """

    name: str
    question: Question
    levels: tuple[str, ...]
    bytes_of: Mapping[int, Byte]
    flips: bool = False
    answer: int | None = None

    def chances(self, block: RowBlock) -> NDArray[np.float64]:
        """The chance of each row's report under each truth, shape (n, levels)."""
        found = self.bytes_of[block.wave.number]
        chances = found.design.matrix[:, found.codes(block.tally)].T
        return np.asarray(chances[:, ::-1] if self.flips else chances)


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """What is known of each row: a number, or one of some `levels`, the first of which others are compared with."""

    name: str
    levels: tuple[str, ...]

    def values(self, block: RowBlock) -> NDArray[np.float64]:
        """Of each row."""
        return block.groups.astype(np.float64) if self.name == STRATUM else block.known[self.name]


def choose_outcome(rows: ExplainableRows, name: str) -> CoinColumn:
    """The answer to explain: a question of Yes or No, or an answer of another as NAME.ANSWER.

    Raises
    ------
    InputError
        If there is none of that name, or its coins do not tell it from all others.
    """
    asked, answer = _find(rows, name, "explain")
    question = asked[0].question
    if answer is None:
        main = question.traits.main
        if main is None:
            template = N_("must name an answer too, one of %(limit)s; it is %(value)s")
            named = ", ".join(f"{question.name}.{each}" for each in question.answers)
            raise refuse(422, "explain", template, limit=named, value=shorten_value(name))
        answer = question.answers.index(main)
    return _choose_answer(asked, answer, "explain")


def choose_predictor(rows: ExplainableRows, name: str) -> CoinColumn | KnownColumn:
    """A covariate, the strata, a question with all its answers, or one answer as NAME.ANSWER."""
    for covariate in rows.covariates:
        if covariate.name == name:
            return KnownColumn(name, covariate.categories)
    if name == STRATUM and rows.report.nodes:
        return KnownColumn(name, rows.groups)
    asked, answer = _find(rows, name, "by")
    question = asked[0].question
    if answer is not None:
        return _choose_answer(asked, answer, "by")
    if question.encoding.by_answer or any(other.question.encoding.by_answer for other in asked):
        template = N_("must name an answer too, one of %(limit)s; it is %(value)s")
        named = ", ".join(f"{question.name}.{each}" for each in question.answers)
        raise refuse(422, "by", template, limit=named, value=shorten_value(name))
    _refuse_numbers(question, "by")
    if len(question.answers) > MOST_ANSWERS:
        template = N_("must have at most %(limit)d answers, or be one answer; it has %(length)d")
        raise refuse(422, "by", template, limit=MOST_ANSWERS, length=len(question.answers))
    bytes_of = {each.wave.number: each.bytes(False)[0] for each in asked}
    return CoinColumn(name, question, question.answers, bytes_of)


def _find(rows: ExplainableRows, name: str, field: str) -> tuple[Sequence[WaveQuestion], int | None]:
    """A question as every version asked it, and which of its answers is named."""
    waves = rows.report.waves
    before, _, answer = name.partition(".")
    known = {question.name: question for question in waves[0].definition.questions}
    question = known.get(before)
    if question is None or (answer and answer not in question.answers):
        names = [covariate.name for covariate in rows.covariates] if field == "by" else []
        names += [STRATUM] * bool(rows.report.nodes and field == "by")
        names += [f"{before}.{each}" for each in question.answers] if question else list(known)
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, field, template, limit=", ".join(names), value=shorten_value(name))
    return same_question(before, waves), question.answers.index(answer) if answer else None


def _choose_answer(asked: Sequence[WaveQuestion], answer: int, field: str) -> CoinColumn:
    question = asked[0].question
    _refuse_numbers(question, field)
    name = f"{question.name}.{question.answers[answer]}"
    levels = (f"not {question.answers[answer]}", question.answers[answer])
    if question.answers == ("no", "yes"):
        flips = answer == 0
        bytes_of = {each.wave.number: each.bytes(False)[0] for each in asked}
        return CoinColumn(
            name if flips else question.name,
            question,
            ("yes", "no") if flips else ("no", "yes"),
            bytes_of,
            flips,
        )
    if not tells_answers_apart(asked):
        template = N_("must be of a question whose coins treat its answers alike; %(value)s is not")
        raise refuse(422, field, template, value=name)
    bytes_of = {each.wave.number: each.bytes(True)[answer] for each in asked}
    return CoinColumn(name, question, levels, bytes_of, answer=answer)


def tells_answers_apart(asked: Sequence[WaveQuestion]) -> bool:
    """Whether each answer of a question can be looked at by itself, in every version that asks it."""
    return all(
        each.question.encoding.by_answer or each.question.designs[0].treats_options_alike() for each in asked
    )


def _refuse_numbers(question: Question, field: str) -> None:
    if question.encoding.between_ends:
        raise refuse(422, field, N_("must have answers; it is a number like %(value)s"), value=question.name)


def refuse_same(outcome: CoinColumn, predictors: Sequence[CoinColumn | KnownColumn]) -> None:
    """Refuse a question that stands on both sides, or a predictor twice."""
    seen = {outcome.question.name}
    for predictor in predictors:
        name = predictor.question.name if isinstance(predictor, CoinColumn) else f"known {predictor.name}"
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
