"""The figures of the teaching pages, with words in the language of the request."""

import math
from collections.abc import Sequence

from flask_babel import get_locale, gettext

from server.output import charts
from server.output.charts import Axis, Drawing, PlottedCurve, PlottedEstimate
from server.output.formatting import chance, integer, number, percent, ratio
from server.web.lessons.drawn_noise import COUNT, DrawnNoise, sort_into_columns
from server.web.lessons.failing_mechanisms import FailedMechanism
from server.web.lessons.larger_classes import BoardLook
from server.web.lessons.repeated_questions import Repetition


def draw_beliefs(repetitions: Sequence[Repetition]) -> Drawing:
    """What an observer believes of red, before the first report and after each."""
    locale = str(get_locale())
    times = len(repetitions)
    points = [(0.0, 0.5), *((float(place), each.belief) for place, each in enumerate(repetitions, 1))]
    step = max(1, math.ceil(times / 10))
    across = Axis(0, times, 0, times, (), tuple(map(float, range(0, times + 1, step))))
    up = Axis(0, 1, 0, 1, (0.0, 0.5, 1.0), (0.0, 0.5, 1.0))
    said = [f"{integer(int(place), locale)}: {chance(belief, locale)} %" for place, belief in points]
    return charts.curves(
        gettext("How sure an observer is that the card is red, after each report"),
        said,
        [PlottedCurve("", points)],
        (across, lambda mark: integer(int(mark), locale)),
        (up, lambda mark: f"{100 * mark:.0f} %"),
    )


def draw_two_worlds(drawn: DrawnNoise) -> Drawing:
    """How likely each released number is with one person in the count, and without."""
    places = drawn.places()
    curves = [
        PlottedCurve(label, list(zip(places, drawn.chances(places, count), strict=True)), anchor, *look)
        for label, count, anchor, look in (
            (gettext("without you"), COUNT - 1, "end", (drawn.kind == "geometric", True)),
            (gettext("with you"), COUNT, "start", (drawn.kind == "geometric", False)),
        )
    ]
    return _draw_noise(gettext("How likely each number is, with you and without you"), drawn, curves, [])


def draw_draws(drawn: DrawnNoise, values: Sequence[float]) -> Drawing:
    """Draws as columns, and what is expected of them."""
    places = drawn.places()
    expected = list(zip(places, drawn.chances(places, COUNT), strict=True))
    columns = sort_into_columns(values, places[0], places[-1])
    curve = PlottedCurve(gettext("expected"), expected, "start", drawn.kind == "geometric")
    return _draw_noise(gettext("What was drawn, as columns, and what is expected"), drawn, [curve], columns)


def draw_failures(failures: Sequence[FailedMechanism]) -> Drawing:
    """How many times what it promised each mechanism loses, at least: not all of them promise the same."""
    locale = str(get_locale())
    rows = [
        PlottedEstimate(
            gettext(failure.title),
            f"≥ {ratio(failure.times, locale)} ×",
            failure.times,
            None,
        )
        for failure in failures
    ]
    marks = tuple(map(float, range(8)))
    return charts.estimates(
        gettext("The privacy loss ε of each, at least, as so many times what it promised"),
        rows,
        Axis(0, 7, 0, 7, marks, marks),
        lambda mark: integer(int(mark), locale),
        1.0,
    )


def draw_looks(looks: Sequence[BoardLook], red: int) -> Drawing:
    """The board after more and more answers, with the cards that were dealt as a line behind."""
    locale = str(get_locale())
    rows = [
        PlottedEstimate(
            gettext("%(number)s answers", number=integer(look.answers, locale)),
            f"{percent(look.share, locale)} %",
            look.share,
            look.interval,
        )
        for look in looks
    ]
    axis = charts.share_axis([look.interval for look in looks])
    title = gettext("Red cards of 100, estimated, each with its interval; the dashed line is the truth")
    return charts.estimates(title, rows, axis, lambda mark: f"{100 * mark:.0f} %", red / 100)


def _draw_noise(
    title: str,
    drawn: DrawnNoise,
    curves: Sequence[PlottedCurve],
    columns: Sequence[tuple[float, float, float]],
) -> Drawing:
    locale = str(get_locale())
    low, high = (curves[0].points[place][0] for place in (0, -1))
    heights = [y for curve in curves for _x, y in curve.points] + [height for _, _, height in columns]
    highest = max(heights) * 1.05
    step = max(1, math.ceil((high - COUNT) / 5))
    marks = [
        float(mark) for mark in range(COUNT - 5 * step, COUNT + 5 * step + 1, step) if low <= mark <= high
    ]
    tick = _round_step(highest / 4)
    levels = tuple(place * tick for place in range(int(highest / tick) + 1))
    asked = [float(COUNT + away) for away in (-2, -1, 0, 1, 2)]
    said = [
        f"{curve.label} {number(place, locale)}: {number(round(100 * y, 2), locale)} %"
        for curve in curves
        for place, y in curve.points
        if place in asked
    ]
    return charts.curves(
        title,
        said,
        curves,
        (Axis(low, high, low, high, (), tuple(marks)), lambda mark: integer(int(mark), locale)),
        (
            Axis(0, highest, 0, highest, levels, levels),
            lambda mark: f"{number(round(100 * mark, 2), locale)} %",
        ),
        columns,
    )


def _round_step(width: float) -> float:
    """A step of 1, 2 or 5 of a power of ten that is not below this."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(part * power for part in (1, 2, 5, 10) if part * power >= width)
