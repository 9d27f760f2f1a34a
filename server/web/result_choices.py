"""What the address of results asks to look at: a question, strata, two questions. What is not there is refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from flask import request, url_for
from flask_babel import get_locale, gettext

from server import reports
from server.inputs import N_, refuse, shorten_value
from server.output.charts import Axis
from server.output.documents import Chart
from server.reports import Compared, Crossed, CrossedFinding, QuestionReport, Report
from server.reports.chosen_strata import FIELDS
from server.reports.chosen_together import FIELD, choose_answer
from server.reports.contents.compared_charts import axis_of
from server.reports.contents.crossed_charts import draw_groups, draw_table
from server.reports.difference_measures import POWER
from server.reports.formats import FORMATS
from server.reports.report_words import ReportWords
from server.reports.stratum_estimates import NO_STRATUM
from server.reports.weighting_notes import WITHIN_STRATA, list_weighting
from server.study.definitions import Question
from server.study.strata import walk

KEPT = (
    "version",
    "interval",
    "question",
    "figure",
    "first_stratum",
    "second_stratum",
    "survey",
    "row",
    "column",
    "row_answer",
    "column_answer",
    "open",
)
"""What the address says the page shall show; each of its forms and links changes some of it."""


def choose_name(field: str, names: Sequence[str], default: str = "") -> str:
    """What the address asks for; where it says nothing, `default`, or the first."""
    asked = request.args.get(field) or default or names[0]
    if asked not in names:
        raise refuse(
            404,
            field,
            N_("must be one of %(limit)s; it is %(value)s"),
            limit=", ".join(filter(None, names)),
            value=shorten_value(asked),
        )
    return asked


def choose_question(report: Report) -> QuestionReport:
    """The question that the address names."""
    return report.question(choose_name("question", [entry.question.name for entry in report.questions]))


def choose_figure(entry: QuestionReport) -> str:
    """Which estimate of it, by its name; the first where the address has none of this question."""
    names = [name for name, _ in reports.figures(entry)]
    which = request.args.get("figure", "")
    return which if which in names else names[0]


def choose_anytime() -> bool:
    """Whether intervals are to hold at every look."""
    return choose_name("interval", ("once", "anytime")) == "anytime"


@dataclass(frozen=True)
class FoldedParts:
    """The parts of a page that are sent only where the reader opened them, by their names."""

    opened: tuple[str, ...]

    @classmethod
    def choose(cls) -> "FoldedParts":
        """Those that the address names; a page has no use for names that it does not know."""
        return cls(tuple(filter(None, request.args.get("open", "").split(","))))

    def address(self, name: str) -> str:
        """The same page with this part as well, and there."""
        query = {**request.args.to_dict(flat=False), "open": ",".join((*self.opened, name))}
        return f"?{urlencode(query, doseq=True)}#part-{name}"


@dataclass(frozen=True, eq=False)
class StrataChoice:
    """Two strata to compare of those that can be: as the page offers them, and as the address names them."""

    report: Report
    entry: QuestionReport
    anytime: bool

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """What an address calls each group of which something is said, and what people do; none without stratum."""
        report = self.report
        known = [(node.path, node.path) for node in walk(report.nodes) if report.shows(node.stratum.id)]
        apart = report.shows(None) and any(wave.sizes[0] for wave in report.waves)
        return [*known, (NO_STRATUM, "")] if apart else known

    def compare(self) -> Compared | None:
        """The two that the address names; None where it names none."""
        keys = request.args.get("first_stratum", ""), request.args.get("second_stratum", "")
        if not (all(keys) and self.report.nodes and self.report.pooled and self.report.n):
            return None
        return reports.compare_strata(self.report, self.entry, keys, self.anytime)

    def axis(self, compared: Compared, shares: bool) -> Axis:
        """What differences are drawn on."""
        return axis_of(compared, shares)

    def files(self) -> list[tuple[str, str]]:
        """The addresses of the comparison's files, by their endings."""
        return list_files(self.report, "comparison", ("interval", *FIELDS))

    def report_files(self) -> list[tuple[str, str]]:
        """The addresses of the report with the comparison in it, by the names of its formats."""
        query = {name: request.args[name] for name in ("interval", *FIELDS) if request.args.get(name)}
        return list_reports(self.report, {**query, FIELDS[0]: self.entry.question.name})

    @property
    def power(self) -> float:
        """The chance with which a difference is to be seen that is called one that could have been."""
        return POWER


def list_crossable(report: Report) -> Iterator[QuestionReport]:
    """The questions that can be crossed with others."""
    return (entry for entry in report.questions if reports.can_be_crossed(entry.question))


def read_crossing(report: Report) -> Crossed | None:
    """The two questions that the address names, and an answer of each."""
    names = ["", *(entry.question.name for entry in list_crossable(report))]
    row, column = choose_name("row", names), choose_name("column", names)
    if not (row and column and report.n):
        return None
    if row == column:
        raise refuse(404, "column", N_("must be another question than %(value)s"), value=shorten_value(row))
    if all(report.question(name).question.encoding.between_ends for name in (row, column)):
        raise refuse(
            404, "column", N_("must have answers; it is a number like %(value)s"), value=shorten_value(row)
        )
    chosen = _choose_answer(report, "row_answer", row), _choose_answer(report, "column_answer", column)
    return reports.cross_questions(report.waves, row, column, chosen, report.confidence, report.weigh)


@dataclass(frozen=True, eq=False)
class CrossingChoice:
    """The two questions that the address names: what is found of them, and how it is drawn where it is looked at.

    `known` is what was found of them, where that is read already.
    """

    report: Report
    known: Crossed | None = None

    @cached_property
    def crossed(self) -> Crossed | None:
        """The two; None where the address names none."""
        return self.known or read_crossing(self.report)

    @cached_property
    def plain(self) -> "CrossingChoice | None":
        """With every response counting the same, where strata count by their populations else."""
        plain = self.chosen.plain
        return None if plain is None else CrossingChoice(self.report, plain)

    @property
    def notes(self) -> list[str]:
        """Whether strata count by their populations, and how."""
        strata = self.chosen.strata
        notes = list(list_weighting(None if strata is None else strata.weighed, gettext))
        return notes if strata is None else [*notes, gettext(WITHIN_STRATA)]

    @property
    def chosen(self) -> Crossed:
        """The two, where something can be shown of them; else what asks for them is refused."""
        if self.crossed is None or not self.crossed.n or self.crossed.too_large:
            raise refuse(409, "column", N_("cannot be shown together with the rows"))
        return self.crossed

    @property
    def finding(self) -> CrossedFinding:
        """What is found of the chosen answers."""
        return reports.interpret_crossing(self.chosen)

    @cached_property
    def groups(self) -> Chart:
        """The chosen answer, or the mean, in groups."""
        return draw_groups(ReportWords(str(get_locale())), self.report, self.chosen)

    @cached_property
    def table(self) -> Chart | None:
        """Every pair of answers; None where there is no room for so many."""
        return draw_table(ReportWords(str(get_locale())), self.report, self.chosen)

    @property
    def ratio(self) -> reports.RatioChart:
        """The odds ratio with the limits that follow from the groups' intervals."""
        crossed = self.chosen
        return reports.ratio_chart(crossed.association.odds_ratio.value, crossed.comparison.odds_ratio)

    def files(self, name: str) -> list[tuple[str, str]]:
        """The addresses of a figure's files, by their endings."""
        return list_files(self.report, name, ("version", "row", "column", "row_answer", "column_answer"))

    def report_files(self) -> list[tuple[str, str]]:
        """The addresses of the report with the two questions in it, by the names of its formats."""
        sides = zip((self.chosen.row, self.chosen.column), self.chosen.chosen, strict=True)
        query: dict[str, object] = {
            FIELD: ",".join(_name_side(side.question, answer) for side, answer in sides)
        }
        if not self.report.pooled:
            query["version"] = self.report.version_number
        return list_reports(self.report, query)


def list_reports(report: Report, query: Mapping[str, object]) -> list[tuple[str, str]]:
    """The addresses of the report with what is asked for in it, by the names of its formats."""
    return [
        (
            entry.name,
            f"{url_for(f'results.report_{entry.ending}', slug=report.slug)}?{urlencode(query, doseq=True)}",
        )
        for entry in FORMATS.values()
    ]


def list_files(report: Report, name: str, kept: Sequence[str]) -> list[tuple[str, str]]:
    """The addresses of a figure's files, by their endings; they name what the address of the page does of `kept`."""
    query = urlencode({field: request.args[field] for field in kept if request.args.get(field)})
    return [
        (ending, url_for(f"result_figures.{name}_{ending}", slug=report.slug) + f"?{query}")
        for ending in ("svg", "png", "csv")
    ]


def _name_side(question: Question, answer: int) -> str:
    """As `parse_together` reads it; a number has no answers."""
    return question.name if question.encoding.between_ends else f"{question.name}.{question.answers[answer]}"


def _choose_answer(report: Report, field: str, name: str) -> int:
    """The place of the answer that is asked for; yes or the first one where the address has none of this question."""
    question = report.question(name).question
    places = [f"{name}-{place}" for place in range(len(question.answers))]
    asked = request.args.get(field, "")
    if asked in places:
        return places.index(asked)
    return choose_answer(question)
