"""Charts that a spreadsheet draws itself, from numbers in its cells: a mark, and its interval as error bars."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from server.output.documents.model import Cell, Chart, Number, Plot, Table, Text
from server.output.documents.vocabulary import Words

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.chart import Chart as NativeChart

WIDTH: Final = 800
"""Of a chart, in pixels."""

DATA: Final = "chart-data"
"""The name of the table that charts are drawn from."""
_LABEL, _VALUE, _BELOW, _ABOVE = 1, 2, 5, 6
_GREEN, _INK, _PALE = "#17544A", "#141414", "#8FB5AC"


def list_data(words: Words, charts: list[Chart]) -> Table:
    """The numbers of charts, a row for each mark; the ways from it to the ends of its interval are its error bars."""
    _ = words.gettext
    columns = (
        _("Chart"),
        _("what"),
        _("estimate"),
        _("from"),
        _("to"),
        _("estimate minus from"),
        _("to minus estimate"),
    )
    rows: list[tuple[Cell, ...]] = [
        (Text(chart.caption), Text(f"{point.heading} {point.label}".strip()), *_numbers(chart.plot, place))
        for chart in charts
        if chart.plot is not None
        for place, point in enumerate(chart.plot.points)
    ]
    note = _(
        "The numbers of the report, so that a spreadsheet can draw them. The last two columns are error bars."
    )
    return Table(DATA, _("Chart data"), columns, tuple(rows), (note,))


def height_of(plot: Plot) -> int:
    """In pixels."""
    return 70 + 28 * len(plot.points) if plot.bars else 260


def draw(book: "Workbook", sheet_name: str, first: int, chart: Chart, *, titled: bool) -> "NativeChart":
    """A chart from the rows of the sheet with its data that begin at `first`, counted from 0."""
    plot = chart.plot
    assert plot is not None
    last = first + len(plot.points) - 1

    def cells(column: int) -> list[Any]:
        return [sheet_name, first, column, last, column]

    def formula(column: int) -> str:
        name, letter = sheet_name.replace("'", "''"), "ABCDEFG"[column]
        return f"='{name}'!${letter}${first + 1}:${letter}${last + 1}"

    made = book.add_chart({"type": "bar" if plot.bars else "line"})
    assert made is not None  # both types are known
    ends = [tuple(_numbers(plot, place)) for place in range(len(plot.points))]
    made.add_series(
        {
            "name": chart.caption,
            "categories": cells(_LABEL),
            "values": cells(_VALUE),
            "y_error_bars": {
                "type": "custom",
                "plus_values": formula(_ABOVE),
                "minus_values": formula(_BELOW),
                "plus_data": [numbers[4].value for numbers in ends],
                "minus_data": [numbers[3].value for numbers in ends],
                "line": {"color": _INK, "width": 1.5},
            },
            **(
                {"fill": {"color": _PALE}, "gap": 60}
                if plot.bars
                else {
                    "line": {"none": True},
                    "marker": {
                        "type": "circle",
                        "size": 9,
                        "fill": {"color": _GREEN},
                        "border": {"none": True},
                    },
                }
            ),
        }
    )
    low, high, step = _scale(plot)
    values = {"min": low, "max": high, "major_unit": step, "num_format": _mark(plot)}
    # Bars lie: the first on top, and their axis of values below them.
    lying = {"reverse": True, "crossing": "max"} if plot.bars else {}
    labels = {"label_position": "low", **lying}
    across, upwards = (values, labels) if plot.bars else (labels, values)
    made.set_x_axis(across)
    made.set_y_axis(upwards)
    made.set_legend({"none": True})
    made.set_title({"name": chart.caption, "name_font": {"size": 11}} if titled else {"none": True})
    made.set_size({"width": WIDTH, "height": height_of(plot)})
    return made


def _numbers(plot: Plot | None, place: int) -> Iterator[Number]:
    """Estimate, lowest, highest, and the ways to both."""
    assert plot is not None
    point = plot.points[place]
    low, high = point.interval or (None, None)
    value = point.value if point.value is not None and math.isfinite(point.value) else None
    for number in (
        value,
        low,
        high,
        None if value is None or low is None else value - low,
        None if value is None or high is None else high - value,
    ):
        yield Number(number, "–", plot.form)


def _scale(plot: Plot) -> tuple[float, float, float]:
    """From where to where the axis of values goes, in which steps: whole quarters of what is possible."""
    first, last = plot.axis.first, plot.axis.last
    step = (last - first) / 4
    ends = [end for point in plot.points for end in (point.interval or ())]
    below = math.ceil(max(0.0, first - min(ends, default=first)) / step)
    above = math.ceil(max(0.0, max(ends, default=last) - last) / step)
    return first - below * step, last + above * step, step


def _mark(plot: Plot) -> str:
    return "0%" if plot.form.endswith("%") else "General"
