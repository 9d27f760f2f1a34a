"""What the commands that compare two strata share: their option, and how they print what they found."""

import click

from server.cli.common import print_table
from server.output.formatting import count_decimals, fraction, level, ratio
from server.reports import Compared
from server.reports.comparison_values import name_group
from server.reports.difference_measures import POWER
from server.reports.estimate_values import ShareRow
from server.reports.explaining import cut_letter
from server.reports.stratum_comparison import ComparedFigure

COMPARE = click.option(
    "--compare",
    "strata",
    nargs=3,
    multiple=True,
    metavar="QUESTION FIRST SECOND",
    help="A question in two strata, by their paths: difference, ratio, test and power; repeatable.",
)


def print_comparison(compared: Compared) -> None:
    """A line for each estimate; what must be known of all."""
    names = [name_group(group) for group in (compared.first, compared.second)]
    click.echo(
        f"\n{compared.entry.question.name}: {names[0]} ({compared.first.n}) less {names[1]} ({compared.second.n}):"
    )
    interval = f"{level(compared.confidence, 'en')}% interval"
    header = ["answer", "first", "second", "difference", interval, "ratio", interval, "p"]
    told = f"told from, {level(POWER, 'en')}% of the time"
    print_table(
        [*header, told, "chance to tell the estimate"], [_line(figure) for figure in compared.figures]
    )
    if len(compared.figures) > 1:
        click.echo(f"Intervals and p values are corrected for {len(compared.figures)} comparisons at once.")
    click.echo("The ratio is not told where the second may be 0, or where one is not so many times another.")
    click.echo("The chance to tell the estimate follows from the p value and adds nothing to it.")


def _line(figure: ComparedFigure) -> list[str]:
    measures = figure.measures
    ends = measures.ratio_interval
    quotient = ["not told", "-"]
    if measures.ratio is not None and ends is not None:
        quotient = [ratio(measures.ratio, "en"), f"{ratio(ends[0], 'en')} to {ratio(ends[1], 'en')}"]
    return [
        figure.first.answer if isinstance(figure.first, ShareRow) else "(mean)",
        *(_write(value) for value in (figure.first.value, figure.second.value, figure.value)),
        f"{_write(figure.interval[0])} to {_write(figure.interval[1])}",
        *quotient,
        "-" if measures.p_value is None else cut_letter(measures.p_value),
        _write(measures.least_shown),
        "-" if measures.power is None else f"{measures.power:.{count_decimals(measures.power, 2, 1)}f}",
    ]


def _write(value: float | None) -> str:
    return "-" if value is None else fraction(value)
