"""`python -m server plan --null` and `--against`: how many respondents show a difference, and with what chance."""

from collections.abc import Callable
from typing import Any

import click

from server.cli.common import print_document, print_table
from server.output.charts import PAPER_CSS
from server.output.charts.drawing import embed_style
from server.output.documents import Words
from server.output.formatting import fraction
from server.study import planning
from server.study.definitions import Question
from server.study.planning.power_figures import draw_coins, draw_power

_CURVES = {"respondents": draw_power, "gamma": draw_coins}
_PARTS = (0.25, 0.5, 1, 2)
"""Parts of the respondents needed, whose power is printed."""

_OPTIONS = (
    click.option(
        "--power",
        "wanted",
        type=float,
        help=f"Chance to show the difference, {planning.DEFAULT_POWER} without it.",
    ),
    click.option("--null", type=float, help="The fixed share that the true --share is compared with."),
    click.option("--against", type=float, help="The true share of a second group, asked with the same coin."),
    click.option(
        "--ratio",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Respondents in the second group for each in the first.",
    ),
    click.option("--sides", type=click.IntRange(1, 2), default=2, show_default=True, help="Of the test."),
    click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance of a false alarm."),
    click.option("--curve", type=click.File("w", encoding="utf-8", lazy=True), help="Draw a curve: SVG."),
    click.option(
        "--over",
        type=click.Choice(list(_CURVES)),
        default="respondents",
        show_default=True,
        help="The curve: power over respondents, or respondents over the coin's gamma.",
    ),
)


def power_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a plan that shows a difference."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_test(
    share: str | None, null: float | None, against: float | None, ratio: int, sides: int, alpha: float
) -> planning.ShareTest:
    """The test that the options describe."""
    if (null is None) == (against is None):
        raise click.UsageError("either --null or --against must be given, and not both")
    if share is None:
        raise click.UsageError("--share must be given with --null and --against: the true share of yes")
    try:
        true_share = float(share)
    except ValueError:
        raise click.UsageError(f"--share must be one number from 0 to 1; it is {share!r}") from None
    if null is not None and ratio != 1:
        raise click.UsageError("--ratio must not be given with --null: there is one group")
    other = null if against is None else against
    assert other is not None
    for name, value in (("--share", true_share), ("--null" if against is None else "--against", other)):
        if not 0 <= value <= 1:
            raise click.UsageError(f"{name} must be from 0 to 1; it is {value!r}")
    if true_share == other:
        name = "--null" if against is None else "--against"
        raise click.UsageError(f"--share and {name} must be different numbers; both are {other!r}")
    if not 0 < alpha < 1:
        raise click.UsageError(f"--alpha must be between 0 and 1; it is {alpha!r}")
    return planning.ShareTest(true_share, other, 1 if against is None else 2, ratio, alpha, sides)


def plan_test(
    test: planning.ShareTest, question: Question, wanted: float | None, planned: int | None
) -> planning.PowerPlan:
    """Its plan under the question's design."""
    design = question.designs[0]
    if design.weights.shape != (2, 2):
        raise click.UsageError("--null and --against need a --mechanism for a yes/no question")
    power = planning.DEFAULT_POWER if wanted is None else wanted
    if not 0 < power < 1:
        raise click.UsageError(f"--power must be between 0 and 1; it is {power!r}")
    return planning.plan_power(test, design, power, planned)


def draw_curve(plan: planning.PowerPlan, over: str) -> str:
    """The curve that was asked for, as a file."""
    return embed_style(_CURVES[over](Words("en"), plan).svg, f"svg {{ background: #fff }}\n{PAPER_CSS}")


def print_power(plan: planning.PowerPlan, as_json: bool) -> None:
    """What a test needs, and what so many respondents give."""
    test = plan.test
    if as_json:
        print_document(_power_json(plan), as_json)
        return
    if test.groups == 1:
        needed = (
            f"{plan.respondents} respondents show a share of {test.share:g} to differ from {test.other:g}"
        )
    else:
        needed = (
            f"{plan.respondents} respondents with a share of {test.share:g} and "
            f"{test.ratio * plan.respondents} with one of {test.other:g} show that the two differ"
        )
    click.echo(
        f"{needed} with a chance of at least {plan.wanted:g} "
        f"({'one' if test.sides == 1 else 'two'}-sided test, alpha {test.alpha:g}; normal approximation)."
    )
    sizes = {max(1, round(part * plan.respondents)) for part in _PARTS}
    sizes |= set() if plan.planned is None else {plan.planned}
    first = "respondents" if test.groups == 1 else "in the first group"
    print_table([first, "power"], [[str(n), fraction(plan.find_power(n))] for n in sorted(sizes)])
    print_table(
        ["coin flip, gamma", "needed"],
        [[f"{gamma:g}", str(needed)] for gamma, needed in plan.over_gamma[::2]],
    )


def _power_json(plan: planning.PowerPlan) -> dict[str, Any]:
    test = plan.test
    return {
        "share": test.share,
        "null" if test.groups == 1 else "against": test.other,
        "groups": test.groups,
        "ratio": test.ratio,
        "alpha": test.alpha,
        "sides": test.sides,
        "power": plan.wanted,
        "respondents": plan.respondents,
        "respondents_in_all": test.count_all(plan.respondents),
        "planned": plan.planned,
        "planned_power": plan.reached,
        "over_respondents": [{"respondents": n, "power": power} for n, power in plan.over_respondents],
        "over_gamma": [{"gamma": gamma, "respondents": n} for gamma, n in plan.over_gamma],
    }
