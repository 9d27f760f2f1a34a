"""How the commands print what a survey found."""

import math
from collections.abc import Iterator, Mapping, Sequence

import click

from server import reports
from server.cli.common import print_table
from server.output.formatting import fraction
from server.privacy.estimators import AnsweredMeanEstimate, MeanEstimate, PooledShares, ShareEstimate
from server.reports.explaining import write_p
from server.simulation import Entered

WEIGHTED = "weighted by population"
WEIGHTED_BY_ROW = "weighted"


def print_report(made: reports.Report, entered: Mapping[str, Entered] | None = None) -> None:
    """A line for each estimate; for made-up people beside what they had entered, where there are strata by stratum."""
    header = ["question", "answer", "n", "reported", "estimate", "standard error", "95% interval"]
    header += ["entered"] if entered else []
    rows = [line for entry in made.questions for line in _first_lines(made, entry, entered)]
    if made.nodes:
        header.append("stratum")
        rows = [[*line[:-1], "", line[-1]] for line in rows]
        for entry in made.questions:
            for group in made.told_strata(entry):
                rows += _group_lines(made, entry, group, bool(entered))
    print_table([*header, ""], rows)
    if any(row.count is None for entry in made.questions for row in entry.shown):
        click.echo("Reported: left out where reports are others than answers.")
    for line in weighting_lines(made):
        click.echo(line)
    click.echo(
        "Intervals hold for one look, at a moment fixed beforehand; --json has those for every look as well."
    )
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


def weighting_lines(made: reports.Report) -> Iterator[str]:
    """Whether the first numbers are weighted, and how."""
    if made.weighting == reports.Weighting.BY_ROW:
        yield "Weighted: every row counts as much as its weight."
        return
    if made.weighting != reports.Weighting.BY_POPULATION:
        why = f" ({made.weighting})" if made.nodes else ""
        yield f"Not weighted: every response counts the same{why}."
        return
    since = f", as it has stood since {made.populations_since}"
    if made.populations_since is None:
        since = "; since when the populations have stood was not recorded"
    yield f"Weighted by population: every stratum counts as much as its population{since}."
    if made.not_weighted:
        yield f"Not weighted, as no stratum has enough responses to them: {', '.join(made.not_weighted)}."
    for together, unused, questions in made.collapsed:
        of = f"Of {', '.join(questions)}: " if questions else ""
        for group in together:
            yield f"{of}Taken together, as some of them alone have too few responses: {'; '.join(group)}."
        if unused:
            yield (
                f"{of}No responses are used from: {'; '.join(unused)}. Their population counts as that of the "
                "strata beside them."
            )


def _first_lines(
    made: reports.Report, entry: reports.QuestionReport, entered: Mapping[str, Entered] | None
) -> Iterator[list[str]]:
    """A question's first numbers; where they are weighted, the others after them."""
    for line in _lines(entry, entry, entered):
        if (
            entered is not None and entry.weighted
        ):  # people are made up alike in every stratum, not by population
            line[-2] = "-"
        how = WEIGHTED if made.by_row is None else WEIGHTED_BY_ROW
        yield [*line[:-1], _join_remarks(line[-1], how if entry.weighted else "")]
    if entry.weighted:
        for line in _lines(entry, made.plain(entry), entered):
            yield [*line[:-1], _join_remarks(line[-1], "not weighted")]


def _join_remarks(*remarks: str) -> str:
    return ", ".join(filter(None, remarks))


def _group_lines(
    made: reports.Report, entry: reports.QuestionReport, group: reports.StratumReport, made_up: bool
) -> Iterator[list[str]]:
    """A question in a stratum; all of them are in their lines already, with what made-up people had entered."""
    if not group.depth:
        return
    name = "(without stratum)" if group.own_link else group.path
    if group.report is None:
        count = f"fewer than {made.minimum}, or beside such" if group.withheld else "0"
        line = [entry.question.name, "", count, "-", "-", "-", "-", *([""] * made_up)]
        yield [*line, name, "withheld" if group.withheld else ""]
        return
    for line in _lines(entry, group.report, None):
        yield [
            *line[:-1],
            *([""] * made_up),
            name,
            _join_remarks(line[-1], WEIGHTED if group.weighted else ""),
        ]


def _lines(
    entry: reports.QuestionReport,
    question_report: reports.QuestionReport,
    entered: Mapping[str, Entered] | None,
) -> Iterator[list[str]]:
    name = entry.question.name
    for row in question_report.shown:
        estimate = row.column.estimate
        count = None if row.column.weights is not None else row.count
        line = [name, row.answer, str(question_report.n), "-" if count is None else str(count)]
        line += ["-"] * 3 if estimate is None else share_cells(estimate, row.code)
        line += [] if entered is None else [_number(entered[name].shares[row.index])]
        yield [*line, _impossible(question_report) if row.impossible else ""]
    if question_report.mean is not None:
        mean = question_report.mean.estimate
        line = [name, "(mean)", str(question_report.n), "-"]
        line += ["-"] * 3 if mean is None else mean_cells(mean)
        line += [] if entered is None else [_number(entered[name].mean)]
        yield [*line, "impossible mean" if mean is not None and mean.impossible else ""]


def _impossible(entry: reports.QuestionReport) -> str:
    """As the page says it: whether chance explains a share that cannot be."""
    p_value = entry.impossible_p_value
    assert p_value is not None  # there are responses
    by_chance = p_value >= reports.UNLIKELY
    return (
        f"{'outside 0 to 1, as chance may have it' if by_chance else 'impossible share'} ({write_p(p_value)})"
    )


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
    return [_number(value), _number(error), f"{fraction(low)} to {fraction(high)}"]


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else fraction(value)
