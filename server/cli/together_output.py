"""How the command line prints questions together."""

import math
from collections.abc import Iterable, Sequence

import click

from server.cli.common import print_table
from server.output.formatting import fraction, ratio
from server.reports import Crossed, Report
from server.reports.crossing import CrossedSide
from server.reports.three_together import ThreeTogether
from server.reports.together_values import TogetherRow, list_rows
from server.reports.weighting_notes import WITHIN_STRATA, list_weighting, say_in_english


def print_together(made: Report) -> None:
    """Of each that was asked for the table of shares, and how strongly its chosen answers go together.

    Where they are weighted, the others come after them.
    """
    for crossing in made.crossings:
        _print_one(made, crossing)
        if crossing.plain is not None and not crossing.too_large:
            _print_one(made, crossing.plain)


def _print_one(made: Report, crossing: Crossed | ThreeTogether) -> None:
    sides = crossing.sides
    click.echo(f"\n{' x '.join(side.question.name for side in sides)} ({crossing.n} responses):")
    if crossing.too_large:
        click.echo("Too many answers for a joint table.")
        return
    print_together_rows(sides, list_rows(made, crossing))
    for line in list_weighting(None if crossing.strata is None else crossing.strata.weighed, say_in_english):
        click.echo(line)
    if crossing.strata is not None:
        click.echo(WITHIN_STRATA)
    if isinstance(crossing, ThreeTogether) and not crossing.pairs:
        click.echo("Within each answer of the third, too many reports may arrive to compare two.")
        return
    if len(sides) == 3:
        click.echo("Within the last: of the first two, among those who gave the last answer.")
    click.echo("Intervals of two groups hold together, and with them what follows from them.")


def print_together_rows(sides: Sequence[CrossedSide], rows: Iterable[TogetherRow]) -> None:
    """A line for each number of some questions together."""
    header = [*(side.question.name for side in sides), "", "estimate", "standard error", "interval"]
    print_table(header, [_line(row, len(sides)) for row in rows])


def _line(row: TogetherRow, width: int) -> list[str]:
    write = _write_ratio if row.statistic.startswith("odds ratio") else _write
    names = [*row.answers, *[""] * (width - len(row.answers))]
    low, high = row.ends
    interval = f"{write(low)} to {write(high)}" if row.interval else ""
    return [*names, row.statistic, write(row.value), _write(row.standard_error), interval]


def _write(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else fraction(value)


def _write_ratio(value: float | None) -> str:
    return "-" if value is None else ratio(value, "en")
