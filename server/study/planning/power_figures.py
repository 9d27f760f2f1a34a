"""A test's plan, drawn: its power over respondents, and the respondents over coins."""

import math

from server.output import charts
from server.output.charts import Axis, Drawing, PlottedCurve
from server.output.documents import Words
from server.output.formatting import power_of_ten
from server.study.planning.power_plans import PowerPlan


def draw_power(words: Words, plan: PowerPlan) -> Drawing:
    """The chance to show the difference, over the respondents that are asked."""
    points = [(float(size), reached) for size, reached in plan.over_respondents]
    marked = [(float(plan.respondents), plan.target)]
    if plan.planned is not None and plan.reached is not None:
        marked.append((float(plan.planned), plan.reached))
    most = points[-1][0]
    across = Axis(0, most, 0, most, (), tuple(most * part / 4 for part in range(5)))
    levels = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    return charts.curves(
        words.gettext("Chance to show the difference, by respondents"),
        [f"{words.integer(round(size))}: {words.percent(reached)}" for size, reached in points],
        [PlottedCurve("", points), PlottedCurve("", marked, dots=True)],
        (across, lambda mark: words.integer(round(mark))),
        (Axis(0, 1, 0, 1, levels, levels), lambda mark: f"{100 * mark:.0f} %"),
    )


def draw_coins(words: Words, plan: PowerPlan) -> Drawing:
    """The fewest respondents with the power wanted, over coins; each line is ten times the one below."""
    points = [(gamma, math.log10(size)) for gamma, size in plan.over_gamma]
    low, high = math.floor(points[-1][1]), math.ceil(points[0][1] + 1e-9)
    tens = tuple(float(power) for power in range(low, high + 1))
    gammas = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
    return charts.curves(
        words.gettext("Respondents needed, by the strength gamma of a coin flip"),
        [f"γ = {words.number(gamma)}: {words.integer(size)}" for gamma, size in plan.over_gamma],
        [PlottedCurve("", points)],
        (Axis(0.03, 0.5, 0, 0.5, (), gammas), lambda mark: words.number(mark)),
        (Axis(low, high, low, high, tens, tens), lambda mark: power_of_ten(round(mark))),
    )
