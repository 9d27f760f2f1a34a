"""Answers that the software words, such as Yes or a range, in the survey's language: never in that of its reader."""

from server.output import formatting
from server.output.languages import load_catalogue
from server.study.definitions import PREFER_NOT_TO_SAY, Grid, Question


def answer_text(question: Question, index: int, language: str) -> str:
    """An answer as respondents read it: the researcher's as written, ours in the survey's language.

    Of a number, its lowest and its highest, between which it lies.
    """
    answer = question.answers[index]
    if answer == PREFER_NOT_TO_SAY or question.kind == "yes_no":
        return word(answer, language)
    if question.options:
        return question.options[index].text
    assert question.grid is not None  # what has neither options nor Yes and No asks for a number
    if question.encoding == "line":
        return quantity((question.grid.low, question.grid.high)[index], question.unit, language)
    return _span(*question.grid.bins[index], question.unit, language)


def span_text(grid: Grid, unit: str | None, language: str) -> str:
    """What a number may lie between."""
    return _span(grid.low, grid.high, unit, language)


def otherwise_text(question: Question, language: str) -> str:
    """The answer that stands for people to whom a question is not shown."""
    found = question.otherwise
    if isinstance(found, int | float):
        return quantity(found, question.unit, language)
    if isinstance(found, str):
        return answer_text(question, question.answers.index(found), language)
    names = [answer_text(question, question.answers.index(name), language) for name in found or ()]
    return ", ".join(names) or load_catalogue(language).gettext("None of these")


def word(answer: str, language: str) -> str:
    """What "yes", "no" or "prefer_not_to_say" is called."""
    words = load_catalogue(language)
    if answer == PREFER_NOT_TO_SAY:
        return words.gettext("Prefer not to say")
    return words.gettext("Yes") if answer == "yes" else words.gettext("No")


def quantity(value: float, unit: str | None, language: str) -> str:
    """A number of a question with its unit."""
    text = formatting.number(value, language)
    return f"{text}\N{NO-BREAK SPACE}{unit}" if unit else text


FOR_TEMPLATES = {
    "answer_text": answer_text,
    "answer_word": word,
    "otherwise_text": otherwise_text,
    "quantity": quantity,
}
"""What templates call these, on pages and in reports."""


def _span(low: float, high: float, unit: str | None, language: str) -> str:
    if low == high:
        return quantity(low, unit, language)
    said = load_catalogue(language).gettext("%(low)s to %(high)s")
    return said % {"low": formatting.number(low, language), "high": quantity(high, unit, language)}
