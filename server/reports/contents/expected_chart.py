"""What to expect of a release before it is paid for, drawn on a made-up result: never from what was answered."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from server.inputs import N_
from server.output import charts, formatting
from server.output.charts import Axis, Label, PlottedEstimate
from server.output.documents import Chart
from server.releases import Expected, Shape
from server.releases.plans.items import Item, ItemKind
from server.releases.survey_shapes import Variable
from server.reports.contents.estimate_sections import percent_label
from server.reports.report_words import ReportWords

_BEST: dict[str, str] = {
    ItemKind.MOST_COMMON: N_("The most common answer, made up"),
    ItemKind.TOP: N_("The last of the most common answers, made up"),
}
"""Of what is chosen: behind which answer it may be."""


@dataclass(frozen=True)
class _Scale:
    """All that a result could be: its axis with room for an interval, and how numbers and errors are written."""

    axis: Callable[[tuple[float, float]], Axis]
    label: Label
    error: Callable[[str], str]


def draw_expected(
    words: ReportWords, expected: Expected, shape: Shape, confidence: float, unit: str | None
) -> Chart | None:
    """The error of an item beside all that its result could be; None while nobody says how many people to expect.

    `unit` is that of the question's number. Everything here follows from the plan and from what is public.
    """
    if expected.error is None or expected.people is None:
        return None
    _, item, people = words.gettext, expected.item, expected.people
    variables = [found for name in item.questions if (found := shape.variable(name)) is not None]
    scale = _scale_of(words, expected, variables, unit)
    if item.kind in _BEST:
        rows = _plot_choice(words, expected, scale)
    else:
        rows = _plot_errors(words, expected, confidence, _make_up(item, variables, shape, people), scale)
    widest = rows[-1].interval
    assert widest is not None
    caption = _("An example, not your data: how far chance may move a result")
    made = charts.estimates(caption, rows, scale.axis(widest), scale.label)
    return Chart(made.svg, caption, made.alternative, reading=_say_made_up(words, item, people))


def _say_made_up(words: ReportWords, item: Item, people: int) -> str:
    """What was assumed; and of what the result is, where there are others beside it."""
    _, number = words.gettext, words.integer(people)
    if item.kind == ItemKind.MEAN and item.by_stratum:
        return _(
            "The result is made up, and that of all strata together: those of single strata are less sure. Number of "
            "respondents: %(number)s.",
            number=number,
        )
    if item.kind in (ItemKind.COUNT, ItemKind.EXCEEDING, *_BEST):
        return _("The result is made up. Number of respondents: %(number)s.", number=number)
    return _(
        "The result is made up: everything equally common. Number of respondents: %(number)s.", number=number
    )


def _scale_of(
    words: ReportWords, expected: Expected, variables: Sequence[Variable], unit: str | None
) -> _Scale:
    _, people = words.gettext, expected.people
    assert people is not None
    if expected.unit == "share":
        return _Scale(
            lambda ends: charts.share_axis([ends]),
            percent_label,
            lambda size: _("± %(points)s points", points=size),
        )
    if expected.unit == "people":
        return _Scale(
            lambda ends: _people_axis(people),
            lambda number: words.integer(round(number)),
            lambda size: "±\N{NO-BREAK SPACE}" + _("%(number)s people", number=size),
        )
    (variable,) = variables
    assert variable.values is not None  # it has a mean
    first, last = variable.values[0], variable.values[-1]
    return _Scale(
        lambda ends: charts.mean_axis(first, last, ends),
        words.number,
        lambda size: words.macro("_macros.html", "with_unit", f"±\N{NO-BREAK SPACE}{size}", unit),
    )


def _people_axis(people: int) -> Axis:
    """From nobody on; more than are expected may come."""
    return Axis(-0.1 * people, 1.3 * people, 0, 1.3 * people, (0, people), (0, people))


def _make_up(item: Item, variables: Sequence[Variable], shape: Shape, people: int) -> float:
    """A result as the errors are expected for: every answer equally often, strata of one size."""
    if item.share is not None:
        return float(item.share)
    if item.kind == ItemKind.MEAN:
        return fmean(variables[0].values or ())
    part = math.prod(1 / 2 if one.boxes else 1 / len(one.answers) for one in variables)
    if item.kind == ItemKind.HIERARCHY or item.by_stratum:
        part /= sum(bool(leaf.path) for leaf in shape.leaves)
    return people * part if item.kind in (ItemKind.COUNT, ItemKind.HIERARCHY) or item.by_stratum else part


def _plot_errors(
    words: ReportWords, expected: Expected, confidence: float, value: float, scale: _Scale
) -> list[PlottedEstimate]:
    """The noise alone, and all of chance where that is known."""
    _, factor = words.gettext, 100 if expected.unit == "share" else 1
    sizes = [(_("Noise alone, its typical size"), expected.error)]
    sizes.append((_("%(confidence)s %% interval", confidence=words.level(confidence)), expected.margin))
    return [
        PlottedEstimate(
            label,
            scale.error(formatting.margin(factor * size, words.locale)),
            value,
            (value - size, value + size),
        )
        for label, size in sizes
        if size is not None
    ]


def _plot_choice(words: ReportWords, expected: Expected, scale: _Scale) -> list[PlottedEstimate]:
    """The answer that should be chosen, and how common one may be that is chosen in its place."""
    _ = words.gettext
    assert expected.people is not None
    assert expected.error is not None
    best = expected.people / (1 + (expected.item.how_many or 1))
    size = formatting.margin(expected.error, words.locale)
    return [
        PlottedEstimate(_(_BEST[expected.item.kind]), "", best, None),
        PlottedEstimate(
            _("What is chosen, in 95 of 100 cases"),
            _("at most %(number)s people fewer", number=size),
            None,
            (best - expected.error, best),
        ),
    ]
