"""A question that is answered by a number, of which only the range it falls into is randomised."""

import bisect

from server.inputs.problems import E_
from server.study.kinds.entering import count_steps, grid_of, list_numbers
from server.study.kinds.examples import NUMBERS
from server.study.kinds.grids import Number
from server.study.kinds.kind import (
    PREFER_NOT_TO_SAY,
    Answer,
    Kind,
    QuestionLike,
    Truth,
    choose_row,
    fill_byte_by_answer,
    give_row,
)


def _name_answers(question: QuestionLike) -> tuple[str, ...]:
    """Each says which numbers it holds."""
    return tuple(f"{low}" if low == high else f"{low} to {high}" for low, high in _give_spans(question))


def _give_spans(question: QuestionLike) -> tuple[tuple[Number, Number], ...]:
    return grid_of(question).bins


def _give_truths(question: QuestionLike, answer: Answer) -> tuple[Truth, ...]:
    if answer == PREFER_NOT_TO_SAY:
        return choose_row(question, answer)
    steps = count_steps(question, answer)
    return give_row(question, bisect.bisect(grid_of(question).first_steps, steps) - 1)


BINNED_NUMBER = Kind(
    name="binned_number",
    title=E_("Number in ranges"),
    use=E_(
        "A number is typed, and only the range that it falls into is randomised. "
        "The results estimate the share of each range."
    ),
    asks_number=True,
    in_ranges=True,
    example={**NUMBERS, "cuts": [2]},
    page_parts=frozenset({"options.js", "labels.js", "numbers.js", "field.js", "label-bins"}),
    most_bytes=fill_byte_by_answer,
    name_answers=_name_answers,
    give_spans=_give_spans,
    give_truths=_give_truths,
    list_answers=list_numbers,
)
