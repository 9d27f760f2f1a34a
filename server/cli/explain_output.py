"""What the commands that explain an answer share: their options, and how they print what they found."""

import math

import click

from server.cli.common import print_table
from server.output.formatting import level
from server.reports.explaining import ExplainedAnswer, explanation_lines, write_p
from server.reports.weighting_notes import list_weighting, say_in_english

EXPLAIN = click.option(
    "--explain",
    "answer",
    metavar="ANSWER",
    help="What this answer goes with: a question, or QUESTION.ANSWER; with --by.",
)
BY = click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="What it may go with: a covariate, `stratum`, `week` or `trend`, another question or QUESTION.ANSWER; "
    "repeatable.",
)


def print_explanation(explained: ExplainedAnswer) -> None:
    """A line for each step of each predictor, and what must be known of all; of weighted strata, the others after."""
    _print_one(explained)
    if explained.unweighted is not None:
        _print_one(explained.unweighted)


def _print_one(explained: ExplainedAnswer) -> None:
    found = explained.explanation
    click.echo(f"\nWhat “{explained.name}” goes with ({explained.rows} responses):")
    if not explained.weighted or explained.weighed is not None:  # whatever stands above it
        for line in list_weighting(explained.weighed, say_in_english):
            click.echo(line)
    rows, notes = explanation_lines(explained)
    what = "mean" if explained.model == "linear" else "odds"
    interval = f"with {level(found.confidence, 'en')}% interval"
    average = f"on average, {'levels' if explained.model == 'cumulative' else 'points'}, {interval}"
    print_table(["by", "", f"{what}, {interval}", average, "p"], rows)
    test = found.test
    if not math.isnan(test.p_value):
        written = write_p(test.p_value)
        click.echo(f"All together: chi-squared {test.statistic:.2f} on {test.degrees_of_freedom}, {written}.")
    for note in notes:
        click.echo(note)
