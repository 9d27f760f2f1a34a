"""What the commands that compare strata or surveys share: their options, and how they print what they found."""

from collections.abc import Sequence

import click

from server.cli.common import make_plain, print_table
from server.output.formatting import count_decimals, fraction, level, ratio
from server.reports import Compared, ComparedSurveys
from server.reports.comparison_values import name_group
from server.reports.difference_measures import POWER
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.explaining import cut_letter
from server.reports.stratum_comparison import ComparedFigure
from server.reports.survey_trends import SurveyTrend

COMPARE = click.option(
    "--compare",
    "strata",
    nargs=3,
    multiple=True,
    metavar="QUESTION FIRST SECOND",
    help="A question in two strata, by their paths: difference, ratio, test and power; repeatable.",
)

SURVEYS = click.option(
    "--surveys",
    nargs=2,
    multiple=True,
    metavar="QUESTION SLUG,SLUG",
    help="A question in other surveys, too: how far the last is from the first, and of three a trend; repeatable.",
)


def print_comparison(compared: Compared) -> None:
    """A line for each estimate; what must be known of all."""
    names = [name_group(group) for group in (compared.first, compared.second)]
    click.echo(
        f"\n{compared.entry.question.name}: {names[0]} ({compared.first.n}) less {names[1]} ({compared.second.n}):"
    )
    _print_figures(compared.figures, compared.confidence)


def print_surveys(compared: ComparedSurveys) -> None:
    """The same of surveys, each of which has a line of its own; and a trend."""
    click.echo(f"\n{compared.entry.question.name} in {len(compared.surveys)} surveys:")
    interval = f"{level(compared.confidence, 'en')}% interval"
    rows = [
        [survey.slug, survey.title, survey.since.isoformat(), str(survey.n), *_show(figure)]
        for survey, figures in compared.listed
        for figure in figures
    ]
    print_table(["survey", "title", "published", "n", "answer", "estimate", interval], rows)
    for survey in compared.surveys:
        if survey.simulated:
            click.echo(f"The respondents of {survey.slug} are simulated.")
    for survey in compared.other_words:
        assert survey.entry is not None
        click.echo(f"{survey.slug} asks in other words: {make_plain(survey.entry.question.text)}")
    for survey in compared.other_coins:
        click.echo(f"In {survey.slug} chance changes answers in another way.")
    click.echo(f"\n{compared.first.slug} less {compared.second.slug}:")
    _print_figures(compared.figures, compared.confidence)
    if compared.trends:
        click.echo("\nFrom each survey to the next, on the line that fits all best, as if equally far apart:")
        header = ["answer", "step", interval, "p", *_name_power()]
        print_table(header, [_step(trend) for trend in compared.trends])
    click.echo(
        "Nothing tells whether somebody answered several surveys: all are taken to be different people. Where the "
        "same people answered, intervals are usually wider than need be."
    )


def _print_figures(figures: Sequence[ComparedFigure], confidence: float) -> None:
    interval = f"{level(confidence, 'en')}% interval"
    header = ["answer", "first", "second", "difference", interval, "ratio", interval, "p"]
    print_table([*header, *_name_power()], [_line(figure) for figure in figures])
    if len(figures) > 1:
        click.echo(f"Intervals and p values are corrected for {len(figures)} comparisons at once.")
    click.echo("The ratio is not told where the second may be 0, or where one is not so many times another.")
    click.echo("The chance to tell the estimate follows from the p value and adds nothing to it.")


def _line(figure: ComparedFigure) -> list[str]:
    measures = figure.measures
    ends = measures.ratio_interval
    quotient = ["not told", "-"]
    if measures.ratio is not None and ends is not None:
        quotient = [ratio(measures.ratio, "en"), f"{ratio(ends[0], 'en')} to {ratio(ends[1], 'en')}"]
    return [
        _name(figure.first),
        *(_write(value) for value in (figure.first.value, figure.second.value, figure.value)),
        f"{_write(figure.interval[0])} to {_write(figure.interval[1])}",
        *quotient,
        "-" if measures.p_value is None else cut_letter(measures.p_value),
        _write(measures.least_shown),
        _write_power(measures.power),
    ]


def _name_power() -> list[str]:
    return [f"told from, {level(POWER, 'en')}% of the time", "chance to tell the estimate"]


def _name(figure: ShareRow | ReportMean) -> str:
    return figure.answer if isinstance(figure, ShareRow) else "(mean)"


def _show(figure: ShareRow | ReportMean) -> list[str]:
    low, high = figure.interval(False)
    return [_name(figure), _write(figure.value), f"{_write(low)} to {_write(high)}"]


def _step(trend: SurveyTrend) -> list[str]:
    return [
        _name(trend.first),
        _write(trend.value),
        "-" if trend.interval is None else f"{_write(trend.interval[0])} to {_write(trend.interval[1])}",
        "-" if trend.p_value is None else cut_letter(trend.p_value),
        _write(trend.least_shown),
        _write_power(trend.power),
    ]


def _write_power(power: float | None) -> str:
    return "-" if power is None else f"{power:.{count_decimals(power, 2, 1)}f}"


def _write(value: float | None) -> str:
    return "-" if value is None else fraction(value)
