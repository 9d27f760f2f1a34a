"""Numbers that people enter: on a question's grid, in steps above its lowest."""

from collections.abc import Iterator

from server.study.kinds.grids import Grid
from server.study.kinds.kind import PREFER_NOT_TO_SAY, Answer, QuestionLike


def grid_of(question: QuestionLike) -> Grid:
    """The numbers that may be entered.

    Raises
    ------
    ValueError
        If a draft does not say yet which.
    """
    if question.grid is None:
        raise ValueError(f"{question.name} must have a lowest and a highest number")
    return question.grid


def count_steps(question: QuestionLike, answer: Answer) -> int:
    """Where a number stands on the grid, in steps above the lowest.

    Raises
    ------
    ValueError
        If it is no number that may be entered.
    """
    grid = grid_of(question)
    if not isinstance(answer, int | float) or not grid.holds(answer):
        raise ValueError(f"an answer to {question.name} must be on its grid; it is {answer!r}")
    return grid.steps(answer)


def list_numbers(question: QuestionLike) -> Iterator[Answer]:
    """Every number, and "prefer not to say" where it is an answer."""
    grid = grid_of(question)
    yield from (grid.number(steps) for steps in range(grid.of + 1))
    yield from (PREFER_NOT_TO_SAY,) if question.prefer_not_to_say else ()
