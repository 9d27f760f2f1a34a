"""Estimate, and report."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from server import reports, responses, surveys
from server.cli.common import JSON, SLUG, database_session, found_survey, print_document, print_table
from server.privacy.designs import coin_flip, round_up
from server.privacy.estimators import INTERVALS, estimate_shares


@click.command()
@click.option("--gamma", type=float, required=True, help="Of the coin flip, in (0, 1/2).")
@click.option("--counts", required=True, metavar="NO,YES", help="Reports received.")
@click.option("--confidence", default=0.95, show_default=True)
@click.option("--interval", type=click.Choice(INTERVALS), default=INTERVALS[0], show_default=True)
@JSON
def estimate(gamma: float, counts: str, confidence: float, interval: str, as_json: bool) -> None:
    """Estimate true shares from counts of reports, without a database."""
    try:
        numbers = [int(count) for count in counts.split(",")]
    except ValueError:
        raise click.BadParameter(f"must be two whole numbers, NO,YES; it is {counts!r}") from None
    design = coin_flip(gamma)
    result = reports.estimate_json(estimate_shares(numbers, design, confidence, interval))
    if as_json:
        print_document({**result, "epsilon": design.epsilon}, as_json)
        return
    print_table(
        ["answer", "reported", "estimate", "standard error", f"{confidence:.0%} interval ({interval})"],
        [
            [answer, str(numbers[index]), *_estimate_row(result, index)]
            for index, answer in enumerate(("no", "yes"))
        ],
    )
    click.echo(f"n = {result['n']}, epsilon = {round_up(design.epsilon)}. {design.odds_label()}")
    if result["impossible"]:
        click.echo("Impossible share: no true shares give such reports in expectation.")


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
        _report_table(made)
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


def _report_table(made: reports.Report) -> None:
    print_table(
        ["question", "n", "reported yes", "estimate", "standard error", "95% interval", ""],
        [
            [entry.question.name, str(made.n), str(entry.counts[1])]
            + (
                ["-", "-", "-", ""]
                if entry.estimate is None
                else [
                    *_estimate_row(reports.estimate_json(entry.estimate), 1),
                    "impossible share" if entry.estimate.impossible else "",
                ]
            )
            for entry in made.questions
        ],
    )
    if made.simulated:
        click.echo("These respondents are simulated.")


def _estimate_row(result: Mapping[str, Any], index: int) -> list[str]:
    error = result["standard_errors"][index]
    low, high = result["intervals"][index]
    return [
        f"{result['shares'][index]:.4f}",
        "-" if error is None else f"{error:.4f}",
        f"{low:.4f} to {high:.4f}",
    ]
