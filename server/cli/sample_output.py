"""How `analyse` prints estimates from rows that count differently."""

import math

import click

from server.cli.common import print_table
from server.output.formatting import fraction
from server.privacy.estimators.weighted_rows import WeightedEstimate
from server.reports.elsewhere.sample_estimates import UNEVEN, SampleReport


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
    if found.clusters is not None:
        click.echo(f"Clusters: {found.clusters} ({sampling.clusters}).")
    click.echo(f"Kish's design effect of the weights: {found.kish:.2f}.")
    if found.uneven:
        click.echo(UNEVEN)
    click.echo("Intervals are by linearisation and Student's t; the table above counts every row once.")


def _number_cells(estimate: WeightedEstimate) -> list[str]:
    value = "-" if math.isnan(estimate.value) else fraction(estimate.value)
    if not math.isfinite(estimate.standard_error):  # the rows do not tell how much they vary
        return [value, "-", "-", "-"]
    low, high = estimate.interval
    return [
        value,
        fraction(estimate.standard_error),
        f"{fraction(low)} to {fraction(high)}",
        f"{estimate.design_effect:.2f}",
    ]
