"""Report on a survey."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from server import reports, responses, surveys
from server.cli.common import JSON, SLUG, database_session, found_survey, print_table
from server.privacy.estimators import AnsweredMeanEstimate, MeanEstimate, ShareEstimate
from server.simulation import Entered

WRITERS = ("html", "csv", "json", "responses", "codebook")


@click.command()
@SLUG
@click.option(
    "--format", "kind", type=click.Choice(WRITERS), help="What to write; without it, a table is printed."
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; standard output without it."
)
@click.option(
    "--language", type=click.Choice(["en", "es"]), default="en", show_default=True, help="Of the HTML."
)
@click.option("--version", "number", type=int, help="Published version; the newest without it.")
@JSON
def report(
    slug: str, kind: str | None, output: Path | None, language: str, number: int | None, as_json: bool
) -> None:
    """Report on a survey's responses."""
    if output is not None and kind is None and not as_json:
        raise click.UsageError(f"--output needs --format, one of {', '.join(WRITERS)}; it is missing")
    with database_session() as session:
        found = found_survey(session, slug)
        version = surveys.published_version(found, number)
        tally = responses.tally(session, version)
        made = reports.build(found, version, tally)
    if as_json:
        kind = "json"
    if kind is None:
        print_report(made)
        return
    writers: dict[str, Callable[[], str]] = {
        "html": lambda: reports.to_html(made, language),
        "csv": lambda: reports.to_csv(made),
        "json": lambda: reports.to_json(made),
        "responses": lambda: reports.responses_csv(made, tally),
        "codebook": lambda: reports.codebook_csv(made),
    }
    text = writers[kind]()
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            output.write_text(text, "utf-8", newline="")
        except OSError as error:
            raise click.UsageError(
                f"--output must be a file that can be written; {str(output)!r} is not: {error.strerror}"
            ) from error


def print_report(made: reports.Report, entered: Mapping[str, Entered] | None = None) -> None:
    """A line for each estimate; for made-up people beside what they had entered."""
    header = ["question", "answer", "n", "reported", "estimate", "standard error", "95% interval", ""]
    rows = [line for entry in made.questions for line in _lines(made, entry, entered)]
    print_table([*header[:-1], "entered", ""] if entered else header, rows)
    if made.simulated:
        click.echo("These respondents are simulated.")


def _lines(
    made: reports.Report, entry: reports.QuestionReport, entered: Mapping[str, Entered] | None
) -> Iterator[list[str]]:
    name = entry.question.name
    for row in entry.shown:
        estimate = row.column.estimate
        line = [name, row.answer, str(made.n), str(row.count)]
        line += ["-"] * 3 if estimate is None else share_cells(estimate, row.code)
        line += [] if entered is None else [f"{entered[name].shares[row.index]:.4f}"]
        yield [*line, "impossible share" if row.impossible else ""]
    if entry.mean is not None:
        found = entry.mean.estimate
        line = [name, "(mean)", str(made.n), "-"]
        line += ["-"] * 3 if found is None else mean_cells(found)
        line += [] if entered is None else [_number(entered[name].mean)]
        yield [*line, "impossible mean" if found is not None and found.impossible else ""]


def share_cells(estimate: ShareEstimate, code: int) -> list[str]:
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
