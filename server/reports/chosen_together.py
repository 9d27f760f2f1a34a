"""Which questions a reader of a report asks to see together, and the answer of each that is looked at more closely."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from server.inputs import N_, InputError, refuse, shorten_value
from server.study.definitions import Definition, Question

FIELD = "together"
MOST = 12
"""In one report."""


@dataclass(frozen=True)
class ChosenTogether:
    """Two or three different questions by their names, and the place of an answer of each."""

    questions: tuple[str, ...]
    answers: tuple[int, ...]


def parse_together(definition: Definition, texts: Sequence[str]) -> tuple[ChosenTogether, ...]:
    """What texts such as `exam,paid.yes` name, in their order; the same once.

    Raises
    ------
    InputError
        422 if there are too many, or one does not name two or three different questions that can be seen together.
    """
    if len(texts) > MOST:
        raise refuse(
            422, FIELD, N_("must be at most %(limit)d; there are %(length)d"), limit=MOST, length=len(texts)
        )
    return tuple(dict.fromkeys(_parse(definition, text) for text in texts))


def choose_answer(question: Question) -> int:
    """The place of the answer that is looked at where none is named: yes, or the first."""
    main = question.traits.main
    return 0 if main is None else question.answers.index(main)


def can_be_crossed(question: Question) -> bool:
    """Whether a question has answers, or is a number that everybody gives."""
    return not question.encoding.between_ends or not question.prefer_not_to_say


def _parse(definition: Definition, text: str) -> ChosenTogether:
    names = [name.strip() for name in text.split(",")]
    if len(names) not in (2, 3):
        template = N_("must name two or three questions with commas between them; it is %(value)s")
        raise refuse(422, FIELD, template, value=shorten_value(text))
    found = [_find(definition, name) for name in names]
    asked = [question for question, _ in found]
    _refuse_alike(asked, text)
    answers = (choose_answer(question) if place is None else place for question, place in found)
    return ChosenTogether(tuple(question.name for question in asked), tuple(answers))


def _find(definition: Definition, name: str) -> tuple[Question, int | None]:
    """A question, and the place of its answer where one is named."""
    before, point, answer = name.partition(".")
    question = next((each for each in definition.questions if each.name == before), None)
    if question is None:
        raise _refuse_name(name, (each.name for each in definition.questions if can_be_crossed(each)))
    if not can_be_crossed(question):
        template = N_("must not name a number that somebody may prefer not to say; it names %(value)s")
        raise refuse(422, FIELD, template, value=shorten_value(before))
    if not point:
        return question, None
    if question.encoding.between_ends or answer not in question.answers:
        answers = () if question.encoding.between_ends else question.answers
        raise _refuse_name(name, (before, *(f"{before}.{each}" for each in answers)))
    return question, question.answers.index(answer)


def _refuse_name(name: str, known: Iterable[str]) -> InputError:
    template = N_("must name some of %(limit)s; it names %(value)s")
    return refuse(422, FIELD, template, limit=", ".join(known), value=shorten_value(name))


def _refuse_alike(sides: Sequence[Question], text: str) -> None:
    """Raise where a question is there twice, or numbers are that cannot be."""
    if len({question.name for question in sides}) < len(sides):
        raise refuse(
            422, FIELD, N_("must name different questions; it is %(value)s"), value=shorten_value(text)
        )
    numbers = [question.name for question in sides if question.encoding.between_ends]
    if len(numbers) > (len(sides) == 2):
        template = N_("must name at most one number, and none among three; it is %(value)s")
        raise refuse(422, FIELD, template, value=shorten_value(text))
