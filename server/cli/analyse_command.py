"""`python -m server analyse`: reports collected on paper, by telephone or with another tool, estimated as if here."""

import sys
from pathlib import Path
from typing import IO, Any

import click

from server import reports
from server.cli.common import JSON, make_plain, print_document
from server.cli.explain_output import BY, EXPLAIN, print_explanation
from server.cli.result_output import print_report
from server.reports.elsewhere import STUDY_LIMIT, ForeignData, parse_study, read_foreign_data
from server.reports.explaining import explain_answer, explanation_json, of_foreign


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option(
    "--study",
    required=True,
    type=click.File("rb"),
    help="What the columns hold: questions with their designs, covariates, weights (JSON).",
)
@EXPLAIN
@BY
@JSON
def analyse(
    file: IO[bytes], study: IO[bytes], answer: str | None, by: tuple[str, ...], as_json: bool
) -> None:
    """Estimate from a CSV file of reports that were collected elsewhere, a row for each person.

    Nothing is stored. `survey study-file` writes the study file of a survey that was published here.
    """
    if by and answer is None:
        raise click.UsageError("--by needs --explain; it is missing")
    stated = parse_study(study.read(STUDY_LIMIT + 1))
    size = _size(file)
    with click.progressbar(length=size or 1, label="Reading", file=sys.stderr) as bar:
        data = read_foreign_data(file, stated, lambda done: bar.update(min(done, size) - bar.pos))
    explained = None if answer is None else explain_answer(of_foreign(data), answer, by)
    if as_json:
        told = {} if explained is None else {"explanation": explanation_json(explained)}
        print_document({**_json(data), **told}, as_json)
        return
    made = data.report
    click.echo(f"{make_plain(made.definition.title)} ({made.n} rows, collected elsewhere)")
    print_report(made)
    if explained is not None:
        print_explanation(explained)


def _size(file: IO[bytes]) -> int:
    """Bytes of a file; 0 of what comes through a pipe."""
    try:
        return Path(file.name).stat().st_size
    except OSError:
        return 0


def _json(data: ForeignData) -> dict[str, Any]:
    made = data.report
    return {
        "title": made.definition.title,
        "study_sha256": data.study.sha256,
        "software": made.software,
        "n": made.n,
        "versions": list(made.versions),
        "weights": data.study.weights,
        "strata_cut": made.strata_cut,
        "questions": reports.questions_json(made),
    }
