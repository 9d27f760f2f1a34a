"""A question that is answered by a number, of which the mean is estimated."""

from server.inputs.problems import E_
from server.study.kinds.encodings import Encoding
from server.study.kinds.entering import count_steps, grid_of, list_numbers
from server.study.kinds.examples import NUMBERS
from server.study.kinds.grids import GridPoint, Number
from server.study.kinds.kind import (
    PREFER_NOT_TO_SAY,
    Answer,
    Kind,
    QuestionLike,
    ShownResult,
    Truth,
    answered_of,
    choose_row,
)


def _name_answers(_question: QuestionLike) -> tuple[str, ...]:
    """The ends, between which it lies."""
    return "low", "high"


def _give_ends(question: QuestionLike) -> tuple[Number, Number]:
    grid = grid_of(question)
    return grid.low, grid.high


def _give_spans(question: QuestionLike) -> tuple[tuple[Number, Number], ...]:
    low, high = _give_ends(question)
    return (low, low), (high, high)


def _give_truths(question: QuestionLike, answer: Answer) -> tuple[Truth, ...]:
    if answer == PREFER_NOT_TO_SAY:
        return choose_row(question, answer)
    return (GridPoint(count_steps(question, answer), grid_of(question).of),)


def _list_estimands(question: QuestionLike) -> tuple[ShownResult, ...]:
    low, high = _give_ends(question)
    return (ShownResult("mean", answered_of(question), float(high - low)),)


NUMBER = Kind(
    name="number",
    title=E_("Number"),
    use=E_("The results estimate the mean. Everybody’s number must lie between the lowest and the highest."),
    asks_number=True,
    encoding=Encoding.LINE,
    example=NUMBERS,
    page_parts=frozenset({"options.js", "labels.js", "numbers.js", "field.js", "label-line"}),
    planned_for=("stochastic_rounding",),
    name_answers=_name_answers,
    give_ends=_give_ends,
    give_spans=_give_spans,
    give_truths=_give_truths,
    list_answers=list_numbers,
    list_estimands=_list_estimands,
)
