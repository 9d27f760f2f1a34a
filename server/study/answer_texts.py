"""Answers that the software words, such as Yes or a range, in the survey's language: never in that of its reader."""

from server.inputs.problems import N_
from server.output import formatting
from server.output.languages import load_catalogue
from server.study.definitions import Grid, Question
from server.study.kinds import KINDS, PREFER_NOT_TO_SAY


def answer_text(question: Question, index: int, language: str) -> str:
    """An answer as respondents read it: the researcher's as written, ours in the survey's language.

    Of a number, its lowest and its highest, between which it lies.
    """
    answer = question.answers[index]
    if answer == PREFER_NOT_TO_SAY or answer in question.traits.fixed:
        return word_answer(answer, language)
    if question.options:
        return question.options[index].text
    return word_span(*question.spans[index], question.unit, language)


def span_text(grid: Grid, unit: str | None, language: str) -> str:
    """What a number may lie between."""
    return word_span(grid.low, grid.high, unit, language)


def otherwise_text(question: Question, language: str) -> str:
    """The answer that stands for people to whom a question is not shown."""
    found = question.otherwise
    if isinstance(found, int | float):
        return quantity(found, question.unit, language)
    if isinstance(found, str):
        return answer_text(question, question.answers.index(found), language)
    names = [answer_text(question, question.answers.index(name), language) for name in found or ()]
    return formatting.join_list(names, language) or load_catalogue(language).gettext("None of these")


def word_answer(answer: str, language: str) -> str:
    """What "yes", "no" or "prefer_not_to_say" is called: an answer that no researcher writes."""
    return load_catalogue(language).gettext(_FIXED[answer])


def quantity(value: float, unit: str | None, language: str) -> str:
    """A number of a question with its unit."""
    text = formatting.number(value, language)
    return f"{text}\N{NO-BREAK SPACE}{unit}" if unit else text


def word_span(low: float, high: float, unit: str | None, language: str) -> str:
    """A number that lies between two, with its unit; where these are one, that."""
    if low == high:
        return quantity(low, unit, language)
    sentence = load_catalogue(language).gettext("%(low)s to %(high)s")
    return sentence % {"low": formatting.number(low, language), "high": quantity(high, unit, language)}


_FIXED = {
    PREFER_NOT_TO_SAY: N_("Prefer not to say"),
    **{name: text for kind in KINDS.values() for name, text in kind.fixed.items()},
}

FOR_TEMPLATES = {
    "answer_text": answer_text,
    "answer_word": word_answer,
    "otherwise_text": otherwise_text,
    "quantity": quantity,
    "question_kinds": KINDS,
}
"""What templates call these, on pages and in reports."""
