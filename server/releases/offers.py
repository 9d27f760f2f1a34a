"""What a page offers to release of each question."""

from collections.abc import Iterator
from dataclasses import dataclass

from server.releases.kinds import KINDS, is_countable, query_of
from server.releases.plans.plan_reader import Item, ItemKind
from server.releases.survey_shapes import Shape, Variable
from server.store.models import Survey
from server.study import surveys
from server.study.definitions import Question


@dataclass(frozen=True)
class QuestionOffer:
    """A question, what suits it as a whole, and its answers one by one."""

    variable: Variable
    items: tuple[Item, ...]
    single: tuple[Item, ...]


def offers(shape: Shape) -> tuple[QuestionOffer, ...]:
    """For each question, in the survey's order, what suits it."""
    return tuple(
        QuestionOffer(variable, _suiting(variable, shape), tuple(_single(variable)))
        for variable in shape.variables
    )


def list_crossable(shape: Shape) -> tuple[Variable, ...]:
    """Questions that can be a side of a table."""
    return tuple(
        variable for variable in shape.variables if is_countable(variable) and len(variable.answers) > 1
    )


def instead_of_comparing(item: Item, shape: Shape) -> tuple[Item, float] | None:
    """The histogram that says more than a comparison of the answers to one question, and how much more exactly.

    How many times the noise of each comparison is that of the histogram's shares, at the same loss (of 1) and
    whatever the number of respondents; None where it is not larger, or several questions are compared.
    """
    if item.kind != ItemKind.EXCEEDING or len(item.questions) != 1:
        return None
    variable = shape.variable(item.questions[0])
    if variable is None or variable.yes_no or not is_countable(variable) or len(variable.answers) < 2:
        return None
    histogram = Item(ItemKind.HISTOGRAM, item.questions, stratum=item.stratum)
    noise = [query_of(each, shape, "items[0]").error(1.0, 0.0, 1000).noise for each in (item, histogram)]
    compared, shown = noise
    if not compared or not shown or compared <= shown:
        return None
    return histogram, compared / shown


def _suiting(variable: Variable, shape: Shape) -> tuple[Item, ...]:
    return tuple(
        item for kind in KINDS.values() for offer in kind.offers for item in offer.items(variable, shape)
    )


def _single(variable: Variable) -> Iterator[Item]:
    if is_countable(variable) and not variable.yes_no:
        yield from (Item(ItemKind.SHARE, (variable.name,), option=answer) for answer in variable.answers)


def questions_of(survey: Survey) -> dict[str, Question]:
    """The questions of all versions by name, in their newest wording."""
    return {
        question.name: question
        for version in survey.versions
        for question in surveys.definition_of(version).questions
    }
