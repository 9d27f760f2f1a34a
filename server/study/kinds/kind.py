"""What one kind of question says of itself: everything in which it differs from the others.

Whoever needs to know asks the kind, and never which kind it is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

from server.inputs.problems import E_
from server.privacy.designs import Design
from server.study.kinds.designing import Choice, make_designs
from server.study.kinds.encodings import Encoding
from server.study.kinds.grids import Grid, GridPoint, Number

PREFER_NOT_TO_SAY = "prefer_not_to_say"
"""The reserved name of that answer; it is randomised like any other."""

Answer = str | Number | Collection[str]
"""An answer's name; the number; the names of the boxes that are ticked."""

Truth = int | GridPoint
"""A row of a design, or a point between its first two."""

USUAL_SHARE = 0.2
"""Of "yes", and of each box, where nothing is assumed of made-up people."""

What = Literal["share", "shares", "boxes", "mean"]
WHATS: tuple[What, ...] = get_args(What)


class ShownResult(NamedTuple):
    """What the results of a question show.

    `answered` is the share of people who give a number, None where all do; `width` is what a margin of 1 is.
    """

    what: What
    answered: float | None = None
    width: float = 1.0


class Named(Protocol):
    """An option, as far as a kind looks at it."""

    @property
    def name(self) -> str:
        """Its name in files."""


class QuestionLike(Protocol):
    """What a kind may look at of a question of it."""

    @property
    def name(self) -> str:
        """Its name in files."""

    @property
    def options(self) -> Sequence[Named]:
        """The answers that the researcher wrote."""

    @property
    def grid(self) -> Grid | None:
        """The numbers that may be answered."""

    @property
    def prefer_not_to_say(self) -> bool:
        """Whether that is an answer."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of all answers, "prefer not to say" included."""

    @property
    def encoding(self) -> Encoding:
        """How an answer becomes truths."""


def answered_of(question: QuestionLike) -> float | None:
    """The share of people who give a number, as it is planned: all, told apart from who may prefer not to say."""
    return 1.0 if question.prefer_not_to_say else None


def name_options(question: QuestionLike) -> tuple[str, ...]:
    """The answers that the researcher wrote."""
    return tuple(option.name for option in question.options)


def have_no_ends(_question: QuestionLike) -> None:
    """Answers that are no numbers."""


def have_no_spans(_question: QuestionLike) -> tuple[tuple[Number, Number], ...]:
    """Answers that are no ranges of numbers."""
    return ()


def fill_one_byte(_entry: Mapping[str, Any]) -> int:
    """A single design."""
    return 1


def fill_byte_by_answer(entry: Mapping[str, Any]) -> int:
    """A design for each answer, one more than there are options or cuts."""
    return len(entry.get("options", entry.get("cuts", ()))) + 1


def estimate_shares(_question: QuestionLike) -> tuple[ShownResult, ...]:
    """The share of each answer."""
    return (ShownResult("shares"),)


def choose_row(question: QuestionLike, answer: Answer) -> tuple[Truth, ...]:
    """The truths of an answer that is called by its name.

    Raises
    ------
    ValueError
        If it is no answer to this question.
    """
    if answer not in question.answers:
        raise ValueError(f"an answer to {question.name} must be one of its own; it is {answer!r}")
    return give_row(question, question.answers.index(str(answer)))


def give_row(question: QuestionLike, row: int) -> tuple[Truth, ...]:
    """The truths of an answer by its place."""
    if question.encoding.by_answer:
        return tuple(int(row == other) for other in range(len(question.answers)))
    return (row,)


def list_names(question: QuestionLike) -> Iterable[Answer]:
    """Every answer, where each is called by its name."""
    return question.answers


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of question.

    Attributes
    ----------
    name : str
        Its name in definitions.
    title, use : str
        What the editor calls it, and when it serves; to be translated.
    options_title : str
        What the editor calls the options that the researcher writes; to be translated.
    fixed : mapping
        The answers that it has whatever the researcher writes, and our words for them, to be translated.
    levels : bool
        Whether its answers stand in an order and count as 1, 2, 3, ...
    asks_number : bool
        Whether people enter a number on a grid.
    in_ranges : bool
        Whether such a number is known by the range that it falls into.
    encoding : Encoding or None
        How an answer becomes truths; None: whole, or with a design for each answer, as its designs are.
    example : mapping
        What a small question says beside its name, its text and its design.
    page_parts : frozenset of str
        What a respondent's page needs for it: modules by their files, texts by their ids.
    by_device : bool
        Whether a device of cards or dice could draw its reports, which a respondent's page then tells of.

    The designs it may have, beside what the schema of definitions says:

    with_refusal : tuple of str
        Those that it may have where "prefer not to say" is an answer; empty: all.
    refusal_only : tuple of str
        Those that it may have only then.
    by_gamma : tuple of str
        Those whose strength is stated as gamma, and not as epsilon.
    design_of_use : mapping
        Which design serves what, where the editor offers to change it; by the names of its buttons.
    planned_for : tuple of str
        Those that the command line plans as of a question of this kind.

    What is done with answers:

    make_designs : callable
        A choice, the number of answers and the share that the survey allots -> a design for each byte.
    most_bytes : callable
        An entry of a document -> the most bytes that it can add to a response.
    name_answers : callable
        A question -> its answers' names without "prefer not to say", in the order of rows or of boxes.
    give_ends : callable
        A question -> the numbers that its first and its last numeric truth stand for; None without numbers.
    give_spans : callable
        A question -> the lowest and the highest number of each answer that is one or a range.
    give_truths : callable
        A question and an answer -> what it enters into each design; ValueError if it is none.
    list_answers : callable
        A question -> all that can be answered.
    list_estimands : callable
        A question -> what its results estimate.
    usual_otherwise : str, tuple or None
        What a new condition lets people report to whom a question is not shown.

    What is assumed of made-up people:

    main : str or None
        The answer that a question's name alone stands for.
    usual_share : float or None
        Of that answer, or of each box; None: answers share evenly what the others leave.
    """

    name: str
    title: str
    use: str
    options_title: str = E_("Answers")
    fixed: Mapping[str, str] = field(default_factory=dict)
    levels: bool = False
    asks_number: bool = False
    in_ranges: bool = False
    encoding: Encoding | None = None
    example: Mapping[str, Any] = field(default_factory=dict)
    page_parts: frozenset[str] = frozenset()
    by_device: bool = False

    with_refusal: tuple[str, ...] = ()
    refusal_only: tuple[str, ...] = ()
    by_gamma: tuple[str, ...] = ()
    design_of_use: Mapping[str, str] = field(default_factory=dict)
    planned_for: tuple[str, ...] = ()

    make_designs: Callable[[Choice, int, float | None], tuple[Design, ...]] = make_designs
    most_bytes: Callable[[Mapping[str, Any]], int] = fill_one_byte
    name_answers: Callable[[QuestionLike], tuple[str, ...]] = name_options
    give_ends: Callable[[QuestionLike], tuple[Number, Number] | None] = have_no_ends
    give_spans: Callable[[QuestionLike], tuple[tuple[Number, Number], ...]] = have_no_spans
    give_truths: Callable[[QuestionLike, Answer], tuple[Truth, ...]] = choose_row
    list_answers: Callable[[QuestionLike], Iterable[Answer]] = list_names
    list_estimands: Callable[[QuestionLike], tuple[ShownResult, ...]] = estimate_shares
    usual_otherwise: str | tuple[()] | None = None

    main: str | None = None
    usual_share: float | None = None

    @property
    def has_options(self) -> bool:
        """Whether the researcher writes its answers."""
        return "options" in self.example

    @property
    def several(self) -> bool:
        """Whether any number of answers may be given at once."""
        return self.encoding is not None and self.encoding.several
