"""`python -m server analyse`: reports collected on paper, by telephone or with another tool, estimated as if here."""

import sys
from pathlib import Path
from typing import IO

import click

from server.cli.common import JSON, check_new_file, make_plain, open_new_file, print_document
from server.cli.explain_output import BY, EXPLAIN, print_explanation
from server.cli.model_output import print_models
from server.cli.result_output import print_report
from server.cli.sample_output import print_sample
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.reports.elsewhere import STUDY_LIMIT, parse_study, read_foreign_data
from server.reports.explaining import explain_answer, of_foreign
from server.reports.foreign_writers import FOREIGN_WRITERS, ForeignReport

ENDINGS = [f".{ending}" for ending in FOREIGN_WRITERS]


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
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write the report into this new file, whose ending is one of {', '.join(ENDINGS)}.",
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help="Of the file.",
)
@JSON
def analyse(
    file: IO[bytes],
    study: IO[bytes],
    answer: str | None,
    by: tuple[str, ...],
    output: Path | None,
    language: str,
    as_json: bool,
) -> None:
    """Estimate from a CSV file of reports that were collected elsewhere, a row for each person.

    Nothing is stored. `survey study-file` writes the study file of a survey that was published here.
    """
    if output is not None and output.suffix.lower() not in ENDINGS:
        raise click.UsageError(f"--output must end in one of {', '.join(ENDINGS)}; it is {str(output)!r}")
    if output is not None:
        check_new_file(output, "--output")  # before a large file is read
    if by and answer is None:
        raise click.UsageError("--by needs --explain; it is missing")
    stated = parse_study(study.read(STUDY_LIMIT + 1))
    size = _size(file)
    with click.progressbar(length=size or 1, label="Reading", file=sys.stderr) as bar:
        data = read_foreign_data(file, stated, lambda done: bar.update(min(done, size) - bar.pos))
    explained = None if answer is None else explain_answer(of_foreign(data), answer, by)
    report = ForeignReport(data, explained)
    if output is not None:
        written = FOREIGN_WRITERS[output.suffix.lower()[1:]](report, language)
        with open_new_file(output, "--output", private=True) as target:
            target.write(written if isinstance(written, bytes) else written.encode())
    if as_json:
        print_document(report.as_json(), as_json)
        return
    made = data.report
    click.echo(f"{make_plain(made.definition.title)} ({made.n} rows, collected elsewhere)")
    if data.table.left_out:
        rows = made.n + data.table.left_out
        click.echo(f"{data.table.left_out} of {rows} rows were left out, as something in them is missing.")
    if data.has_questions:
        print_report(made)
    if data.sample is not None:
        print_sample(made.definition, data.sample)
    print_models(data.models)
    if explained is not None:
        print_explanation(explained)


def _size(file: IO[bytes]) -> int:
    """Bytes of a file; 0 of what comes through a pipe."""
    try:
        return Path(file.name).stat().st_size
    except OSError:
        return 0
