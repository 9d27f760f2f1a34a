"""The figure of one question as a file: a drawing, a picture of it, or its numbers."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from server.output.charts import PAPER_CSS
from server.output.charts.drawing import embed_style
from server.output.typesetting import to_png
from server.reports.contents.estimate_sections import draw_question
from server.reports.csv_report import question_csv
from server.reports.estimate_values import QuestionReport
from server.reports.report import Report
from server.reports.report_words import ReportWords

_FONT = "svg { font-family: sans-serif; background: #fff }"


class FigureFormat(NamedTuple):
    """A file of a figure: its content type, and what writes it in a language."""

    content_type: str
    write: Callable[[Report, QuestionReport, str], str | bytes]


def draw_svg(report: Report, entry: QuestionReport, locale: str) -> str:
    """A question that has responses, drawn for paper; intervals are those of one look."""
    return embed_style(draw_question(ReportWords(locale), report, entry).svg, f"{_FONT}\n{PAPER_CSS}")


def _draw_png(report: Report, entry: QuestionReport, locale: str) -> bytes:
    return to_png(draw_svg(report, entry, locale))


def _write_csv(report: Report, entry: QuestionReport, _locale: str) -> str:
    return question_csv(report, entry)


FIGURE_FORMATS: Mapping[str, FigureFormat] = {
    "svg": FigureFormat("image/svg+xml", draw_svg),
    "png": FigureFormat("image/png", _draw_png),
    "csv": FigureFormat("text/csv", _write_csv),
}
"""By the end of a file's name."""
