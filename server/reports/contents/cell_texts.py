"""Numbers and texts of a report as they stand in its document."""

from decimal import Decimal

from server.output import formatting
from server.output.documents import Number, Paragraph, Text
from server.output.formatting import count_decimals, count_measured, finite
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.answer_texts import answer_text
from server.study.definitions import Definition, Question

NOTHING = "–"
_AS_BOOKED = "0.##########"


def share(words: ReportWords, value: float | None) -> Number:
    """A fraction, in percent."""
    value = finite(value)
    decimals = 1 if value is None else count_decimals(value, 1, 100)
    return Number(value, words.percent(value), f"0.{'0' * decimals}%")


def measure(words: ReportWords, value: float | None, width: float) -> Number:
    """A number in its own unit, whose range is `width` wide."""
    value = finite(value)
    decimals = count_measured(width)
    return Number(value, words.measure(value, width), "0" + "." * bool(decimals) + "0" * decimals)


def exact(words: ReportWords, value: float | None) -> Number:
    """A number that was chosen among others, which a rounded one would not be."""
    return Number(value, NOTHING if value is None else words.number(value), _AS_BOOKED)


def count(words: ReportWords, value: int | None) -> Number:
    """How many."""
    return Number(value, NOTHING if value is None else words.integer(value), "#,##0")


def real(words: ReportWords, value: float | None) -> Number:
    """A noisy number of people, or its error, with one decimal where it has any."""
    value = finite(value)
    if value is None or value == int(value):
        return count(words, None if value is None else int(value))
    return Number(value, formatting.tenths(round(value, 1), words.locale), "#,##0.0")


def epsilon(words: ReportWords, value: float) -> Number:
    """A privacy loss, rounded up where it is read; a spreadsheet, which would round it to the nearest, shows more."""
    return Number(finite(value), words.epsilon(value), "0.0000")


def format_spent(words: ReportWords, value: Decimal) -> Number:
    """A loss of a ledger, rounded up where it is read; as it was booked where it is calculated with."""
    return Number(float(value), formatting.loss(value, words.locale), _AS_BOOKED)


def format_left(words: ReportWords, value: Decimal) -> Number:
    """What is left of a budget, rounded down where it is read."""
    return Number(float(value), formatting.remainder(value, words.locale), _AS_BOOKED)


def format_delta(words: ReportWords, value: Decimal) -> Number:
    """A failure probability of a ledger."""
    return Number(float(value), formatting.scientific(value, words.locale), _AS_BOOKED)


def p_value(words: ReportWords, value: float | None) -> Number:
    """A p value, without its letter, which the head of its column has."""
    if value is None:
        return Number(None, NOTHING, "0.000")
    return Number(
        value, words.p_value(value).removeprefix("p\N{NO-BREAK SPACE}").removeprefix("=").strip(), "0.000"
    )


def explain_dash(words: ReportWords) -> Paragraph:
    """What `NOTHING` says, once in a document."""
    return Paragraph(Text(words.macro("words/estimates.html", "dash_note")))


def describe_nobody(words: ReportWords, report: Report) -> str:
    """What is said where nobody's answers are shown: some may wait."""
    return (
        words.gettext("Nothing is shown yet.")
        if report.unseen.number
        else words.gettext("No response is shown.")
    )


def quote_text(definition: Definition, text: str) -> Text:
    """A text of the survey's own."""
    return Text(text, from_survey=True, language=definition.language)


def quote_question(definition: Definition, question: Question) -> Text:
    """A question's wording."""
    return quote_text(definition, question.text)


def answer(definition: Definition, question: Question, index: int) -> Text:
    """An answer as respondents read it, whatever the report's language."""
    return quote_text(definition, answer_text(question, index, definition.language))
