"""How `plan` prints what it takes to show a difference or a trend, and draws its curves."""

from collections.abc import Mapping
from typing import Any

import click

from server.cli.common import print_document, print_table
from server.cli.power_options import PowerRequest, read_list, read_request
from server.output.charts import PAPER_CSS
from server.output.charts.drawing import embed_style
from server.output.documents import Words
from server.output.formatting import fraction
from server.study import planning
from server.study.definitions import Question
from server.study.planning.power_figures import draw_coins, draw_power

_DRAW = {"respondents": draw_power, "gamma": draw_coins}
_SOME_TENS = 50
"""Respondents of a group, below which the normal approximation is not relied on."""
_PARTS = (0.25, 0.5, 1, 2)
"""Parts of the respondents needed, whose power is printed."""


def draw_curve(plan: planning.PowerPlan, over: str) -> str:
    """The curve that was asked for, as a file."""
    return embed_style(_DRAW[over](Words("en"), plan).svg, f"svg {{ background: #fff }}\n{PAPER_CSS}")


def print_power(request: PowerRequest, plan: planning.PowerPlan, as_json: bool) -> None:
    """What a test needs, and what so many respondents give."""
    test = plan.test
    if as_json:
        print_document(_power_json(request, plan), as_json)
        return
    click.echo(
        f"{_say_needed(request, plan)} with a chance of at least {plan.target:.10g} "
        f"({'one' if test.sides == 1 else 'two'}-sided test, alpha {test.alpha:g}; normal approximation)."
    )
    if min(test.sizes) * plan.respondents < _SOME_TENS:
        click.echo(
            "Of so few respondents the approximation may be far off, both in the chance of a false alarm and in power."
        )
    sizes = {max(1, round(part * plan.respondents)) for part in _PARTS}
    sizes |= set() if plan.planned is None else {plan.planned}
    first = "respondents" if test.groups == 1 else "in the first group"
    print_table([first, "power"], [[str(n), fraction(plan.find_power(n))] for n in sorted(sizes)])
    print_table(
        ["coin flip, gamma", "needed"],
        [[f"{gamma:g}", str(needed)] for gamma, needed in plan.over_gamma[::2]],
    )


def print_grid(question: Question, named: Mapping[str, Any], as_json: bool) -> None:
    """The power at each share with each number of respondents."""
    if named["each_share"] is None or named["each_size"] is None:
        raise click.UsageError("--each-share and --each-size must be given together; one is missing")
    for option in ("wanted", "curve", "respondents", "shares"):
        if named[option] is not None:
            text = {"wanted": "power", "shares": "share"}.get(option, option)
            raise click.UsageError(f"--{text} must not be given with --each-share")
    shares = read_list("--each-share", named["each_share"])
    sizes = read_list("--each-size", named["each_size"])
    wrong = [size for size in sizes if not 1 <= size <= 10_000_000 or size != int(size)]
    if wrong:
        raise click.UsageError(f"--each-size must be whole numbers from 1 to 10000000; one is {wrong[0]:g}")
    design = planning.tested_design(question)
    rows = []
    for share in shares:
        test = read_request(question, repr(share), named, distinct=False).test
        comparison = test.compare(design)
        rows.append([comparison.power(int(size)) for size in sizes])
    if as_json:
        grid = [
            {"share": share, "respondents": int(size), "power": power}
            for share, row in zip(shares, rows, strict=True)
            for size, power in zip(sizes, row, strict=True)
        ]
        print_document({"null": named["null"], "against": list(named["against"]), "grid": grid}, as_json)
        return
    print_table(
        ["share", *(f"with {size:g}" for size in sizes)],
        [[f"{share:g}", *map(fraction, row)] for share, row in zip(shares, rows, strict=True)],
    )


def _say_needed(request: PowerRequest, plan: planning.PowerPlan) -> str:
    what = "mean" if request.mean else "share"
    first, *others = request.typed
    if not others:
        return f"{plan.respondents} respondents show a {what} of {first} to differ from {request.null:g}"
    sizes = [size * plan.respondents for size in plan.test.sizes]
    if len(others) == 1:
        return (
            f"{sizes[0]} respondents with a {what} of {first} and {sizes[1]} with one of {others[0]} show that "
            "the two differ"
        )
    waves = ", ".join(f"{size} ({typed})" for size, typed in zip(sizes, request.typed, strict=True))
    return f"Waves of {waves} respondents, with their {what}s in brackets, show a trend"


def _power_json(request: PowerRequest, plan: planning.PowerPlan) -> dict[str, Any]:
    test = plan.test
    typed = [float(text) if "," not in text else list(map(float, text.split(","))) for text in request.typed]
    sizes = list(test.sizes[1:])
    return {
        "share": typed[0],
        "null": request.null,
        "against": typed[1] if test.groups == 2 else typed[1:] or None,
        "second": request.second,
        "estimate": "mean" if request.mean else "share",
        "groups": test.groups,
        "ratio": sizes if test.groups > 2 else (sizes or [1])[0],
        "alpha": test.alpha,
        "sides": test.sides,
        "power": plan.target,
        "respondents": plan.respondents,
        "respondents_in_all": test.count_all(plan.respondents),
        "planned": plan.planned,
        "planned_power": plan.reached,
        "over_respondents": [{"respondents": n, "power": power} for n, power in plan.over_respondents],
        "over_gamma": [{"gamma": gamma, "respondents": n} for gamma, n in plan.over_gamma],
    }
