"""What a page offers to release of each question."""

from collections.abc import Iterator
from dataclasses import dataclass

from server import surveys
from server.definitions import Question
from server.inputs.releases import Item, Kind
from server.models import Survey
from server.releases.shapes import Shape, Variable


@dataclass(frozen=True)
class Offer:
    """A question, what suits it as a whole, and its answers one by one."""

    variable: Variable
    items: tuple[Item, ...]
    single: tuple[Item, ...]


def offers(shape: Shape) -> tuple[Offer, ...]:
    """For each question, in the survey's order, what suits it."""
    return tuple(
        Offer(variable, tuple(_whole(variable)), tuple(_single(variable))) for variable in shape.variables
    )


def crossable(shape: Shape) -> tuple[Variable, ...]:
    """Questions that can be a side of a table."""
    return tuple(
        variable for variable in shape.variables if countable(variable) and len(variable.answers) > 1
    )


def countable(variable: Variable) -> bool:
    """Whether it has answers to count; a number has a mean instead."""
    return bool(variable.answers) and not variable.first


def _whole(variable: Variable) -> Iterator[Item]:
    several = countable(variable) and len(variable.answers) > 1
    if variable.yes_no:
        yield Item(Kind.SHARE, (variable.name,), option="yes")
    if variable.values is not None:
        yield Item(Kind.MEAN, (variable.name,))
    if several and not variable.yes_no:
        yield Item(Kind.HISTOGRAM, (variable.name,))
        yield Item(Kind.MOST_COMMON, (variable.name,), noise="noisy_maximum")


def _single(variable: Variable) -> Iterator[Item]:
    if countable(variable) and not variable.yes_no:
        yield from (Item(Kind.SHARE, (variable.name,), option=answer) for answer in variable.answers)


def questions_of(survey: Survey) -> dict[str, Question]:
    """The questions of all versions by name, in their newest wording."""
    return {
        question.name: question
        for version in survey.versions
        for question in surveys.definition_of(version).questions
    }
