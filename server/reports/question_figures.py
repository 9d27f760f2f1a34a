"""Figures as files: a drawing, a picture of it, or its numbers."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from server.output.charts import PAPER_CSS
from server.output.charts.drawing import embed_style
from server.output.documents import Chart
from server.output.typesetting import to_png
from server.reports.contents.estimate_sections import draw_question
from server.reports.csv_report import question_csv
from server.reports.estimate_values import QuestionReport
from server.reports.report import Report
from server.reports.report_words import ReportWords

_FONT = "svg { font-family: sans-serif } #paper { fill: #fff }"
_GROUND = '<rect id="paper" x="-100%" y="-100%" width="300%" height="300%"/>'
"""White, also where a picture of nothing behind black letters would be shown on black."""


class PictureFormat(NamedTuple):
    """A file of a drawing: its content type, and what writes it."""

    content_type: str
    write: Callable[[Chart], str | bytes]


class FigureFormat(NamedTuple):
    """A file of a question's figure: its content type, and what writes it in a language."""

    content_type: str
    write: Callable[[Report, QuestionReport, str], str | bytes]


def write_svg(chart: Chart) -> str:
    """A chart for paper that needs no other file."""
    head, style, rest = embed_style(chart.svg, f"{_FONT}\n{PAPER_CSS}").partition("</style>")
    return f"{head}{style}{_GROUND}{rest}"


def _write_png(chart: Chart) -> bytes:
    return to_png(write_svg(chart))


PICTURE_FORMATS: Mapping[str, PictureFormat] = {
    "svg": PictureFormat("image/svg+xml", write_svg),
    "png": PictureFormat("image/png", _write_png),
}
"""By the end of a file's name."""


def _draw(chosen: PictureFormat) -> FigureFormat:
    """A question that has responses, drawn for paper; intervals are those of one look."""
    return FigureFormat(
        chosen.content_type,
        lambda report, entry, locale: chosen.write(draw_question(ReportWords(locale), report, entry)),
    )


def _write_csv(report: Report, entry: QuestionReport, _locale: str) -> str:
    return question_csv(report, entry)


FIGURE_FORMATS: Mapping[str, FigureFormat] = {
    **{ending: _draw(chosen) for ending, chosen in PICTURE_FORMATS.items()},
    "csv": FigureFormat("text/csv", _write_csv),
}
"""By the end of a file's name."""
