"""What of a survey can be explained, and what by: for pages that offer it to be chosen."""

from collections.abc import Iterator
from dataclasses import dataclass

from server.collect.waves import same_question
from server.inputs import InputError
from server.reports.explaining.chosen_columns import (
    MOST_ANSWERS,
    choose_outcome,
    list_weekly,
    tells_answers_apart,
)
from server.reports.explaining.explained_rows import STRATUM, ExplainableRows
from server.study.definitions import Question


@dataclass(frozen=True, eq=False)
class OfferedColumn:
    """Something to choose by its name: the strata, weeks, a question with all its answers, or one of these."""

    name: str
    question: Question | None = None
    answer: int | None = None


def list_outcomes(rows: ExplainableRows) -> Iterator[OfferedColumn]:
    """What can be explained, in the order of the survey: a question whole, or answers of it one by one."""
    for question in rows.report.definition.questions:
        main = question.traits.main
        if main is not None:
            yield OfferedColumn(question.name, question, question.answers.index(main))
            continue
        try:
            choose_outcome(rows, question.name)
        except InputError:  # it has too many answers, or several may be given
            yield from _list_answers(rows, question)
            continue
        yield OfferedColumn(question.name, question)
        yield from _list_answers(rows, question)


def list_predictors(rows: ExplainableRows) -> Iterator[OfferedColumn]:
    """What they may go with: strata, weeks, then questions; answers one by one only where a whole one cannot be."""
    known = [*[STRATUM] * bool(rows.report.nodes), *list_weekly(rows)]
    for name in known:
        yield OfferedColumn(name)
    for question in rows.report.definition.questions:
        versions = same_question(question.name, rows.report.waves)
        by_answer = any(each.question.encoding.by_answer for each in versions)
        # By its own name alone, a question that is called like the strata would be taken for them.
        if by_answer or question.name in known or len(question.answers) > MOST_ANSWERS:
            yield from _list_answers(rows, question)
        elif not question.encoding.between_ends:
            yield OfferedColumn(question.name, question)


def _list_answers(rows: ExplainableRows, question: Question) -> Iterator[OfferedColumn]:
    """Each answer of a question, where its coins let it be looked at by itself."""
    if question.encoding.between_ends or not tells_answers_apart(
        same_question(question.name, rows.report.waves)
    ):
        return
    for place, answer in enumerate(question.answers):
        yield OfferedColumn(f"{question.name}.{answer}", question, place)
