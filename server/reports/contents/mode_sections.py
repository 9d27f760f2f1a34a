"""Responses from browsers and from paper: how many, and whether the two ways differ."""

from collections.abc import Iterator

from server.inputs import N_
from server.output.documents import Block, Cell, Paragraph, Table, Text
from server.reports.contents import cell_texts
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.mode_comparison import ComparedModes, compare_modes
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import ComparedFigure, HigherGroup
from server.store.models import Mode

MODES = {Mode.BROWSER: N_("On the respondent’s device"), Mode.PAPER: N_("On paper, keyed in")}
"""What each way of collecting is called."""
VERDICTS = {
    HigherGroup.FIRST: N_("higher on the device"),
    HigherGroup.SECOND: N_("higher on paper"),
    HigherGroup.NOT_TOLD: N_("not told"),
    HigherGroup.IMPOSSIBLE: N_("no possible difference fits"),
}
"""What an interval of a difference lets one retell."""


def describe_modes(words: ReportWords, report: Report) -> Iterator[Block]:
    """How many responses came in each way, and each estimate in both; nothing where none came from paper."""
    modes = report.modes
    if modes is None:
        return
    _ = words.gettext
    yield Paragraph(
        Text(
            _(
                "Some responses were thrown by hand on paper and keyed in. The estimates take both ways together: the "
                "chances are the same. Here they are apart."
            )
        )
    )
    rows = tuple((Text(_(MODES[mode])), cell_texts.count(words, n)) for mode, n in modes.sizes.items())
    left_out = (
        _(
            "Left out are strata of which fewer than %(minimum)s responses came in one of the two ways, and those "
            "that are withheld.",
            minimum=words.integer(report.minimum),
        ),
    )
    columns = (_("How the answers were collected"), _("responses"))
    yield Table(
        "modes", _("Responses by way of collecting"), columns, rows, left_out if modes.left_out else ()
    )
    compared = compare_modes(report)
    if compared:
        yield _tabulate_differences(words, report, compared)


def _tabulate_differences(words: ReportWords, report: Report, compared: tuple[ComparedModes, ...]) -> Table:
    _ = words.gettext
    rows = tuple(
        _describe_difference(words, report, one, figure) for one in compared for figure in one.figures
    )
    columns = (
        _("Question"),
        _("Estimate of"),
        _("device"),
        _("paper"),
        _("difference"),
        _("from"),
        _("to"),
        _("which is higher"),
    )
    notes = (
        _(
            "The device less paper, each %(level)s %% interval widened for the figures of its question; every response "
            "counts the same. Of twenty questions that do not differ, about one may seem to.",
            level=words.level(report.confidence),
        ),
        _(
            "“Not told” does not mean equal: a difference as large as either end of the interval may be there. And one "
            "that is told may be of the people: nobody was drawn for paper or for a device."
        ),
    )
    return Table("mode-differences", _("Device and paper compared"), columns, rows, notes)


def _describe_difference(
    words: ReportWords, report: Report, compared: ComparedModes, figure: ComparedFigure
) -> tuple[Cell, ...]:
    question = compared.browser.question
    low, high = figure.interval
    first, second = figure.first, figure.second
    return (
        cell_texts.quote_question(report.definition, question),
        cell_texts.answer(report.definition, question, first.index)
        if isinstance(first, ShareRow)
        else Text(words.gettext("mean")),
        *(_write(words, figure, value) for value in (first.value, second.value, figure.value, low, high)),
        Text(words.gettext(VERDICTS[figure.distance.verdict])),
    )


def _write(words: ReportWords, figure: ComparedFigure, value: float | None) -> Cell:
    if isinstance(figure.first, ReportMean):
        return cell_texts.measure(words, value, figure.width)
    return cell_texts.share(words, value)
