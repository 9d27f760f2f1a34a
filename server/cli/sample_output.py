"""How `analyse` prints estimates from rows that count differently."""

import math

import click

from server.cli.common import print_table
from server.output.formatting import fraction
from server.privacy.estimators.weighted_rows import WeightedEstimate
from server.reports.elsewhere.sample_estimates import SampleReport


def print_sample(found: SampleReport) -> None:
    """A line for each share and mean; how rows were drawn."""
    click.echo("\nFor the population, by how the rows were drawn:")
    rows = [
        [
            row.question.name,
            "(mean)" if row.index is None else row.question.answers[row.index],
            str(row.estimate.n),
            *_number_cells(row.estimate),
        ]
        for row in found.rows
    ]
    header = ["question", "answer", "n", "estimate", "standard error", "95% interval", "design effect"]
    print_table(header, rows)
    sampling = found.sampling
    if sampling.margins:
        click.echo(f"Raked to: {', '.join(margin.covariate for margin in sampling.margins)}.")
    click.echo("Intervals are by linearisation and Student's t; the table above counts every row once.")


def _number_cells(estimate: WeightedEstimate) -> list[str]:
    if not math.isfinite(
        estimate.standard_error
    ):  # nobody is of whom it would be, or all rows are of one cluster
        return ["-"] * 4
    low, high = estimate.interval
    shown = (estimate.value, estimate.standard_error)
    return [*map(fraction, shown), f"{fraction(low)} to {fraction(high)}", f"{estimate.design_effect:.2f}"]
