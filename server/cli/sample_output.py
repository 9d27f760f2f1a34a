"""How `analyse` prints estimates from rows that count differently."""

import math

import click

from server.cli.common import print_table
from server.cli.together_output import print_together_rows
from server.output.formatting import fraction, ratio
from server.privacy.estimators.weighted_rows import WeightedEstimate, WeightedOddsRatio
from server.reports.elsewhere.sample_estimates import UNEVEN, SampleReport
from server.reports.elsewhere.sample_tables import SampleTable
from server.reports.elsewhere.sample_together import list_sampled_rows
from server.reports.explaining import cut_letter
from server.study.definitions import Definition


def print_sample(definition: Definition, sample_report: SampleReport) -> None:
    """A line for each share and mean; how rows were drawn. Without a question, of what models are estimated by."""
    if sample_report.rows:
        _print_rows(sample_report)
    else:
        click.echo("\nHow the rows were drawn that models are estimated from:")
    _print_drawing(sample_report)
    for table in sample_report.tables:
        _print_comparison(table)
    for together in sample_report.together:
        names = " x ".join(side.question.name for side in together.sides)
        click.echo(f"\n{names} ({together.n} rows), for the population:")
        print_together_rows(together.sides, list_sampled_rows(definition, together))
        if len(together.sides) == 3:
            click.echo("Within the last: of the first two, among those who gave the last answer.")
        click.echo("Where a group's share is less than three standard errors above 0, nothing is told of it.")


def _print_rows(sample_report: SampleReport) -> None:
    click.echo("\nFor the population, by how the rows were drawn:")
    rows = [
        [
            row.question.name,
            "(mean)" if row.index is None else row.question.answers[row.index],
            str(row.estimate.n),
            *_number_cells(row.estimate),
        ]
        for row in sample_report.rows
    ]
    header = ["question", "answer", "n", "estimate", "standard error", "95% interval"]
    print_table([*header, "design effect", "effective n"], rows)


def _print_drawing(sample_report: SampleReport) -> None:
    sampling = sample_report.sampling
    if sampling.margins:
        click.echo(f"Raked to: {', '.join(margin.name for margin in sampling.margins)}.")
    for margin, total in sample_report.rescaled:
        click.echo(
            f"Shares of {margin} add up to {total:.9g}, not to 1 or 100: each counts as its part of that."
        )
    for margin, groups in sample_report.collapsed:
        click.echo(f"Too few rows, so taken together in {margin}: {' + '.join(groups)}.")
    if sample_report.strata is not None:
        lonely = sample_report.drawn.design.units.lonely
        alone = f"; {lonely} of one cluster or row, held against the mean of all" if lonely else ""
        click.echo(f"Strata: {sample_report.strata} ({sampling.strata}){alone}.")
    if sample_report.clusters is not None:
        click.echo(f"Clusters: {sample_report.clusters} ({sampling.clusters}).")
    replicate_plan, replicates = sampling.replicates, sample_report.drawn.design.replicates
    if replicate_plan is not None and replicates is not None:
        seed = (
            f", seed {replicate_plan.seed}"
            if replicate_plan.kind == "bootstrap" and not replicate_plan.columns
            else ""
        )
        click.echo(f"Replicate weights: {replicates.count} ({replicate_plan.kind}{seed}).")
    click.echo(f"Kish's design effect of the weights: {sample_report.kish:.2f}.")
    if sample_report.uneven:
        click.echo(UNEVEN)
    way = "linearisation" if replicates is None else "replicate weights"
    even = "; the table above counts every row once" if sample_report.rows else ""
    click.echo(f"Intervals are by {way} and Student's t{even}.")


def _print_comparison(table: SampleTable) -> None:
    click.echo(f"\n{table.question.name} by {table.by}, for the population:")
    rows = []
    for line in table.lines:
        answer = "(mean)" if line.index is None else table.question.answers[line.index]
        for place, (name, own) in enumerate(zip(table.names, line.groups, strict=True)):
            apart = _number_cells(line.differences[place - 1])[::2][:2] if place else ["", ""]
            p_value = "" if place or math.isnan(line.test.p_value) else cut_letter(line.test.p_value)
            odds = line.odds[place - 1] if place else None
            told = ["", ""] if odds is None else _odds_cells(odds)
            rows.append([answer, name, *_number_cells(own)[:3], *apart, *told, p_value])
    header = ["answer", "group", "estimate", "standard error", "95% interval"]
    header += ["above the first group", "95% interval", "odds ratio", "95% interval", "p of all groups"]
    print_table(header, rows)


def _odds_cells(odds: WeightedOddsRatio) -> list[str]:
    value, low, high = (ratio(number, "en") for number in (odds.value, *odds.interval))
    return [value, f"{low} to {high}"]


def _number_cells(estimate: WeightedEstimate) -> list[str]:
    value = "-" if math.isnan(estimate.value) else fraction(estimate.value)
    if not math.isfinite(estimate.standard_error):  # the rows do not tell how much they vary
        return [value, "-", "-", "-", "-"]
    low, high = estimate.interval
    return [
        value,
        fraction(estimate.standard_error),
        f"{fraction(low)} to {fraction(high)}",
        f"{estimate.design_effect:.2f}",
        f"{estimate.effective_n:.0f}",
    ]
