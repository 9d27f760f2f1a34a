"""A question of whose answers any number are ticked."""

from collections.abc import Iterator
from itertools import combinations

from server.inputs.problems import E_
from server.privacy.designs import Design, for_epsilon
from server.study.kinds.designing import Choice, loss_of
from server.study.kinds.encodings import Encoding
from server.study.kinds.examples import OPTIONS
from server.study.kinds.kind import (
    USUAL_SHARE,
    Answer,
    Kind,
    QuestionLike,
    ShownResult,
    Truth,
    fill_byte_by_answer,
)


def _make_designs(choice: Choice, answers: int, share: float | None) -> tuple[Design, ...]:
    """A coin for each box; the losses of the boxes add up to that of the question."""
    return (for_epsilon(loss_of(choice, share) / answers),) * answers


def _give_truths(question: QuestionLike, answer: Answer) -> tuple[Truth, ...]:
    if isinstance(answer, str | int | float) or not set(answer) <= set(question.answers):
        raise ValueError(f"an answer to {question.name} must be a list of its boxes; it is {answer!r}")
    return tuple(int(name in answer) for name in question.answers)


def _list_answers(question: QuestionLike) -> Iterator[Answer]:
    sizes = range(len(question.answers) + 1)
    return (some for size in sizes for some in combinations(question.answers, size))


def _list_estimands(_question: QuestionLike) -> tuple[ShownResult, ...]:
    return (ShownResult("boxes"),)


SELECT_MULTIPLE = Kind(
    name="select_multiple",
    title=E_("Tick all that apply"),
    use=E_(
        "Every box passes through a coin of its own. The more boxes, the less each of them tells: "
        "keep to what you need."
    ),
    options_title=E_("Boxes"),
    encoding=Encoding.BOXES,
    example={"options": OPTIONS},
    page_parts=frozenset({"options.js", "labels.js", "ticks.js", "label-boxes"}),
    make_designs=_make_designs,
    most_bytes=fill_byte_by_answer,
    give_truths=_give_truths,
    list_answers=_list_answers,
    list_estimands=_list_estimands,
    usual_otherwise=(),
    usual_share=USUAL_SHARE,
)
