"""Whether respondents did what was asked, and what a few who did not could have done."""

from collections.abc import Iterator

from server.output.documents import Block, Number, Paragraph, Table, Text
from server.reports.contents import cell_texts
from server.reports.estimate_remarks import UNLIKELY
from server.reports.estimate_values import QuestionReport
from server.reports.forged_moves import FORGED
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.definitions import Question


def diagnostics(words: ReportWords, report: Report) -> Iterator[Block]:
    """The tests of each question, and the reach of forged responses."""
    _ = words.gettext
    forged = max(1, round(report.n * FORGED))
    yield Paragraph(
        Text(
            _(
                "Whether the reports fit the coins, and how far forged ones could have moved an estimate: here if "
                "%(forged)s of %(all)s responses were forged in the worst way.",
                forged=words.integer(forged),
                all=words.integer(report.n),
            )
        )
    )
    yield Paragraph(Text(words.macro("words/diagnostics.html", "reach_note", report)))
    rows = tuple(
        (
            cell_texts.quote_question(report.definition, entry.question),
            Text(_impossible(words, entry)),
            cell_texts.p_value(words, entry.impossible_p_value if entry.impossible else None),
            cell_texts.p_value(
                words, min(entry.control.above, entry.control.below) if entry.control else None
            ),
            Text(_("mean") if _moves_mean(entry.question) else _("share")),
            _measure_move(words, entry, min(forged, entry.n)),
        )
        for entry in report.questions
        if entry.n
    )
    columns = (
        _("Question"),
        _("Impossible shares"),
        _("their p value"),
        _("p value of the control question"),
        _("What forged responses could move"),
        _("by at most"),
    )
    yield Table(
        "diagnostics",
        _("Diagnostics"),
        columns,
        rows,
        (_("p values near 0: something other than chance is going on"),),
    )


def _impossible(words: ReportWords, entry: QuestionReport) -> str:
    """Whether shares are impossible, by chance or not."""
    _ = words.gettext
    if not entry.impossible or entry.impossible_p_value is None:
        return _("none")
    return _("yes") if entry.impossible_p_value < UNLIKELY else _("perhaps by chance")


def _measure_move(words: ReportWords, entry: QuestionReport, forged: int) -> Number:
    """A share in points; the mean of a number that everybody gives, in its unit."""
    share = entry.manipulation(forged)
    question, mean = entry.question, entry.mean
    if _moves_mean(question) and mean is not None:
        width = mean.high - mean.low
        return cell_texts.measure(words, share * width, width)
    number = cell_texts.share(words, share)
    points = words.gettext("%(points)s points", points=number.text.removesuffix("\N{NO-BREAK SPACE}%"))
    return Number(share, points, "0.0%")


def _moves_mean(question: Question) -> bool:
    """Whether the bound is told of a mean: of a number that everybody gives."""
    return question.encoding.between_ends and not question.prefer_not_to_say
