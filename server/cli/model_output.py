"""How `analyse` prints what models found."""

import math
from collections.abc import Sequence

import click

from server.cli.common import make_plain, print_table
from server.output.formatting import fraction
from server.reports.elsewhere.models.model_parts import FittedModel, ModelEstimate, ModelTest
from server.reports.explaining import write_p


def print_models(models: Sequence[FittedModel]) -> None:
    """Of each model a line for each of its numbers, its tests, and what it assumes."""
    for model in models:
        stated, finding = model.specification, model.finding
        click.echo(f"\n{make_plain(stated.name)}: {stated.kind.title}")
        rows = [[estimate.name, *_number_cells(estimate)] for estimate in finding.estimates]
        header = ["", "estimate", "standard error", "95% interval"]
        if any(not estimate.possible for estimate in finding.estimates):
            header.append("remark")
            for row, estimate in zip(rows, finding.estimates, strict=True):
                row.append("" if estimate.possible else "out of its range")
        print_table(header, rows)
        for test in finding.tests:
            click.echo(f"{test.label}: {_write_statistic(test)}{write_p(test.p_value)}. {test.verdict}")
        for remark in finding.remarks:
            click.echo(remark)
        if finding.freedom is not None:
            click.echo(
                "Rows count, and vary, as they were drawn: intervals are by Student's t with "
                f"{finding.freedom} degrees of freedom."
            )
        groups = ", ".join(f"{make_plain(name)} {rows}" for name, rows in model.groups)
        click.echo(f"Rows: {model.used} used{f' ({groups})' if groups else ''}, {model.left_out} left out.")
        click.echo(stated.kind.assumes)


def _write_statistic(test: ModelTest) -> str:
    """A statistic that has no limit is not printed as a number."""
    if not math.isfinite(test.statistic):
        return ""
    freedom = [test.degrees_of_freedom, *([] if test.denominator is None else [test.denominator])]
    return f"{test.letter} = {test.statistic:.2f} on {' and '.join(map(str, freedom))}, "


def _number_cells(estimate: ModelEstimate) -> list[str]:
    value, error, low, high = (
        "-" if not math.isfinite(number) else fraction(number) if estimate.share else f"{number:.4g}"
        for number in (estimate.value, estimate.standard_error, *estimate.interval)
    )
    return [value, error, f"{low} to {high}"]
