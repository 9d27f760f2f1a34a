"""The figures of a release in words: what each is, of what, its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from server.inputs import N_
from server.output.documents import Cell, Number, Text
from server.releases import OWN_LINK, STRATUM, Covers, Figure, Released
from server.reports.contents import cell_texts
from server.reports.estimate_values import value_range
from server.reports.report_words import ReportWords
from server.store.models import Survey
from server.study.definitions import Definition, Question
from server.study.surveys import definition_of

STATISTICS = {
    "respondents": N_("Respondents"),
    "reports": N_("Reports as they arrived, with noise"),
    "fitted": N_("Reports with noise, made to add up"),
    "weighted_share": N_("Estimated share of true answers, weighted by population"),
    "share": N_("Estimated share of true answers, not weighted"),
    "weighted_mean": N_("Estimated mean, weighted by population"),
    "mean": N_("Estimated mean, not weighted"),
    "most_common": N_("Most common answer, not weighted"),
    "top": N_("Among the most common answers, not weighted"),
    "above": N_("Above the limit asked for? Not weighted"),
    "answered": N_("Estimated share of those who gave a number, not weighted"),
    "sum": N_("Sum"),
    "variance": N_("Variance"),
    "standard_deviation": N_("Standard deviation"),
    "quantile": N_("Number below which so many of the rows lie"),
}

OF_ROWS = {
    **STATISTICS,
    "respondents": N_("Rows"),
    "reports": N_("Rows, with noise"),
    "fitted": N_("Rows with noise, made to add up"),
    "share": N_("Share of the rows"),
    "mean": N_("Mean"),
    "most_common": N_("Most common"),
    "top": N_("Among the most common"),
    "above": N_("Above the limit asked for?"),
}
"""The same of a table that is no survey."""

_OF_NUMBERS = ("sum", "variance", "standard_deviation")
"""Those that are calculated from numbers of a table."""


@dataclass(frozen=True)
class QuestionsByVersion:
    """What the versions of a survey asked, by their numbers."""

    definitions: Mapping[int, Definition]

    @classmethod
    def of_survey(cls, survey: Survey) -> "QuestionsByVersion":
        """Those of its published versions."""
        return cls({version.number: definition_of(version) for version in survey.versions})

    def question(self, name: str, covers: Covers) -> tuple[Definition, Question] | None:
        """A question as the newest of the versions that a release covers asked it; None where none did."""
        for number in sorted(covers.versions, reverse=True):
            definition = self.definitions.get(number)
            for question in definition.questions if definition is not None else ():
                if question.name == name and definition is not None:
                    return definition, question
        return None


def place(words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion) -> Text:
    """What a figure is of: answers, a stratum, everybody."""
    parts, between = [part(words, entry, pair, questions) for pair in figure.place], " × "
    several = len(entry.item.questions) > 1
    if (len(parts) == 1 and several) or figure.statistic == "above":  # an answer to one of them
        name, value = figure.place[-1]
        found = questions.question(name, entry.covers)
        if found is not None and value and len(entry.item.questions) != 1:
            parts.insert(-1, cell_texts.quote_question(*found))
            between = " · "
    if figure.statistic in ("mean", "weighted_mean") and entry.item.by_stratum:
        parts = parts[:-1]  # the question is that of the whole entry
    if not parts:
        return Text(words.gettext("All rows") if entry.covers.of_table else words.gettext("All responses"))
    if figure.statistic == "quantile":
        share = words.number(float(100 * Decimal(figure.place[-1][1])))
        return Text(words.gettext("%(share)s %% of the rows below", share=share))
    text = between.join(part.text for part in parts)
    languages = [part.language for part in parts if part.from_survey]
    return Text(text, from_survey=bool(languages), language=languages[0] if languages else "")


def part(words: ReportWords, entry: Released, pair: tuple[str, str], questions: QuestionsByVersion) -> Text:
    """A stratum, an answer, or a question as a whole."""
    name, value = pair
    if name == STRATUM:
        if value == OWN_LINK:
            return Text(words.gettext("Without stratum"))
        return Text(value, from_survey=True) if value else Text(words.gettext("All strata"))
    found = questions.question(name, entry.covers)
    if found is None:
        return Text(value or name, code=True)
    definition, question = found
    if not value:
        return cell_texts.quote_question(definition, question)
    if value not in question.answers:
        return Text(value, code=True)
    return cell_texts.answer(definition, question, question.answers.index(value))


def numbers(
    words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion
) -> tuple[Cell, ...]:
    """Value, standard error, lower and upper limit, in the unit of the figure."""
    found = (figure.value, figure.standard_error, figure.low, figure.high)
    if figure.statistic in ("weighted_share", "share", "answered"):
        return tuple(cell_texts.share(words, number) for number in found)
    if figure.statistic in ("mean", "weighted_mean"):
        ends = span(entry, figure, questions)
        if ends is None:
            width = max(abs(figure.value or 1.0), 1e-6)
        else:
            width, possible = ends[1] - ends[0], figure.within(*ends)
            found = (possible.value, possible.standard_error, possible.low, possible.high)
        return tuple(cell_texts.measure(words, number, width) for number in found)
    if figure.statistic == "quantile":
        return tuple(cell_texts.exact(words, number) for number in found)
    if figure.statistic in _OF_NUMBERS:
        ends = span(entry, figure, questions)
        width = max(abs(figure.value or 1.0), 1e-6) if ends is None else width_of(figure.statistic, ends)
        return tuple(cell_texts.measure(words, number, width) for number in found)
    if figure.statistic == "above":
        text = words.gettext("Yes") if figure.value else words.gettext("No")
        return Number(figure.value, text, "0"), *(cell_texts.real(words, number) for number in found[1:])
    return tuple(cell_texts.real(words, number) for number in found)


def span(entry: Released, figure: Figure, questions: QuestionsByVersion) -> tuple[float, float] | None:
    """What the mean of a question lies between, which stands last, after a stratum; and each number of a column."""
    found = questions.question(figure.place[-1][0], entry.covers) if figure.place else None
    if found is not None:
        return value_range(found[1])
    low, high = entry.notes.get("lowest"), entry.notes.get("highest")
    if not (isinstance(low, int | float) and isinstance(high, int | float)) or low == high:
        return None
    return float(low), float(high)


def width_of(statistic: str, ends: tuple[float, float]) -> float:
    """How wide the range of such a number is, as far as its decimals go; of a sum, what one row adds at most."""
    width = ends[1] - ends[0]
    return {"variance": width**2, "sum": max(map(abs, ends))}.get(statistic, width)
