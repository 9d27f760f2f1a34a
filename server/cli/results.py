"""How the commands print what a survey found."""

import math
from collections.abc import Iterator, Mapping, Sequence

import click

from server import reports
from server.cli.common import print_table
from server.privacy.estimators import AnsweredMeanEstimate, MeanEstimate, PooledShares, ShareEstimate
from server.simulation import Entered


def print_report(made: reports.Report, entered: Mapping[str, Entered] | None = None) -> None:
    """A line for each estimate; for made-up people beside what they had entered, where there are strata by stratum."""
    header = ["question", "answer", "n", "reported", "estimate", "standard error", "95% interval"]
    header += ["entered"] if entered else []
    rows = [line for entry in made.questions for line in _lines(entry, entry, entered)]
    if made.nodes:
        header.append("stratum")
        rows = [[*line[:-1], "", line[-1]] for line in rows]
        for entry in made.questions:
            for group in made.told_strata(entry):
                rows += _group_lines(made, entry, group)
    print_table([*header, ""], rows)
    if made.strata_cut:
        click.echo("Deeper strata are left out, as there are many: --format strata writes all of them.")
    if made.unseen.number:
        click.echo(
            f"Fewer than {made.unseen.number} more responses are not shown yet; they are shown in groups of at least "
            f"{made.minimum}."
        )
    if made.left_out:
        numbers = ", ".join(map(str, made.left_out))
        click.echo(f"Left out, with fewer than {made.minimum} responses: version {numbers}.")
    if made.without_left_out:
        click.echo(f"Left out: fewer than {made.minimum} responses without stratum.")
    if made.simulated:
        click.echo("These respondents are simulated.")


def _group_lines(
    made: reports.Report, entry: reports.QuestionReport, group: reports.StratumReport
) -> Iterator[list[str]]:
    """A question in a stratum, or in all of them weighted by population; all responses are in their lines already."""
    weighted = group.weighting == reports.Weighting.BY_POPULATION
    if not group.depth and not weighted:
        return
    name = "(without stratum)" if group.own_link else group.path or "(all strata)"
    if group.report is None:
        count = f"fewer than {made.minimum}, or beside such" if group.withheld else "0"
        yield [entry.question.name, "", count, "-", "-", "-", "-", name, "withheld" if group.withheld else ""]
        return
    for line in _lines(entry, group.report, None):
        remarks = [line[-1], "weighted by population" if weighted else ""]
        yield [*line[:-1], name, ", ".join(filter(None, remarks))]


def _lines(
    entry: reports.QuestionReport, found: reports.QuestionReport, entered: Mapping[str, Entered] | None
) -> Iterator[list[str]]:
    name = entry.question.name
    for row in found.shown:
        estimate = row.column.estimate
        line = [name, row.answer, str(found.n), "-" if row.column.weights else str(row.count)]
        line += ["-"] * 3 if estimate is None else share_cells(estimate, row.code)
        line += [] if entered is None else [f"{entered[name].shares[row.index]:.4f}"]
        yield [*line, "impossible share" if row.impossible else ""]
    if found.mean is not None:
        mean = found.mean.estimate
        line = [name, "(mean)", str(found.n), "-"]
        line += ["-"] * 3 if mean is None else mean_cells(mean)
        line += [] if entered is None else [_number(entered[name].mean)]
        yield [*line, "impossible mean" if mean is not None and mean.impossible else ""]


def share_cells(estimate: ShareEstimate | PooledShares, code: int) -> list[str]:
    """Estimate, standard error and interval of a share."""
    return _cells(
        float(estimate.shares[code]),
        float(estimate.standard_errors[code]),
        estimate.intervals[code].tolist(),
    )


def mean_cells(estimate: MeanEstimate | AnsweredMeanEstimate) -> list[str]:
    """Estimate, standard error and interval of a mean."""
    return _cells(estimate.mean, estimate.standard_error, estimate.interval)


def _cells(value: float | None, error: float | None, interval: Sequence[float]) -> list[str]:
    low, high = interval
    return [_number(value), _number(error), f"{low:.4f} to {high:.4f}"]


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.4f}"
