"""`python -m server report`: a survey's report in every format, internal or public."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import click

from server import reports
from server.cli.common import JSON, SLUG, open_new_file, require_survey, snapshot_session
from server.cli.comparison_output import COMPARE, SURVEYS, print_comparison, print_surveys
from server.cli.explain_output import BY, EXPLAIN, print_explanation
from server.cli.report_writers import ReportRequest, Write, list_internal_writers, list_public_writers
from server.cli.result_output import print_report
from server.cli.together_output import print_together
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.reports.formats import FORMATS

PUBLIC = tuple(FORMATS)
WRITERS = (*PUBLIC, "microdata", *reports.LABELLED, "ddi", "responses", "codebook", "strata")
BINARY = (*(entry.ending for entry in FORMATS.values() if entry.binary), "microdata", *reports.LABELLED)
ENDINGS = {
    **{f".{kind}": kind for kind in PUBLIC},
    ".zip": "microdata",
    **{f".{kind}": kind for kind in reports.LABELLED},
    ".xml": "ddi",
}
"""What the name of a file says about its format."""

_WORDED = " and ".join(", ".join(e.ending.upper() for e in FORMATS.values() if e.worded).rsplit(", ", 1))
_IN_MEMORY = 1 << 24


@click.command()
@SLUG
@click.option(
    "--format",
    "kind",
    type=click.Choice(WRITERS),
    help="What to write; without it, the ending of the file says so, and without a file, a table is printed.",
)
@click.option(
    "--public", is_flag=True, help="From what was released alone: the report that everybody may read."
)
@click.option(
    "--output",
    "outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="New file; standard output without it. Several, in formats by their endings: give it several times.",
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help=f"Of {_WORDED}.",
)
@click.option(
    "--labels",
    help="Of SPSS and Stata files: the language of their labels, one that the survey has texts in; its own without it.",
)
@click.option("--version", "number", type=int, help="One published version; all of them, pooled, without it.")
@click.option(
    "--together",
    multiple=True,
    metavar="QUESTION,QUESTION",
    help="Two or three questions together, each with .ANSWER or without; repeatable.",
)
@EXPLAIN
@BY
@COMPARE
@SURVEYS
@JSON
def report(
    slug: str,
    kind: str | None,
    public: bool,
    outputs: Sequence[Path],
    language: str,
    labels: str | None,
    number: int | None,
    together: tuple[str, ...],
    answer: str | None,
    by: tuple[str, ...],
    strata: tuple[tuple[str, str, str], ...],
    surveys: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Report on a survey's responses; with --public, on its releases alone.

    Microdata are a ZIP file: the noisy responses as CSV and Parquet, their codebook, and a notebook and scripts
    for R and Python that estimate the same. The same rows with labels are for SPSS (sav) and Stata (dta); ddi
    is the survey as DDI-Codebook 2.5.
    """
    kinds = _kinds("json" if as_json else kind, outputs)
    _check(kinds, public, outputs, number, together)
    _check_explaining(kinds, public, number, answer, by, (*strata, *surveys))
    if labels is not None and not set(kinds) & set(reports.LABELLED):
        raise click.UsageError(
            f"--labels needs a file that has some, one of {', '.join(reports.LABELLED)}; it is {labels}"
        )
    wanted = ReportRequest(number, language, labels, together, answer, by, strata, surveys)
    with snapshot_session() as session:
        found = require_survey(session, slug)
        if not kinds:
            made = wanted.read(session, found)
            # Refused before anything is printed.
            explained, compared = wanted.explain(made), wanted.compare(made)
            beside = wanted.compare_surveys(session, made)
            print_report(made)
            for comparison in compared:
                print_comparison(comparison)
            for surveys_beside in beside:
                print_surveys(surveys_beside)
            print_together(made)
            if explained is not None:
                print_explanation(explained)
            return
        writers = (
            list_public_writers(session, found, language)
            if public
            else list_internal_writers(session, found, wanted)
        )
        with ExitStack() as stack:
            files = [stack.enter_context(_write_aside(writers[kind], kind)) for kind in kinds]
            targets: Sequence[Path | None] = outputs or [None]
            for file, target in zip(files, targets, strict=True):
                _put(file, target)


def _kinds(kind: str | None, outputs: Sequence[Path]) -> tuple[str, ...]:
    """The format of each file; of standard output, where there is no file; none for a table."""
    if len(outputs) > 1 and kind is not None:
        raise click.UsageError(
            f"--format must not be given with more than one --output, whose endings say it; it is {kind}"
        )
    if kind is not None:
        return (kind,)
    for output in outputs:
        if output.suffix.lower() not in ENDINGS:
            raise click.UsageError(
                f"--output must end in one of {', '.join(ENDINGS)}, or --format say what to write; "
                f"it is {str(output)!r}"
            )
    return tuple(ENDINGS[output.suffix.lower()] for output in outputs)


def _check(
    kinds: Sequence[str], public: bool, outputs: Sequence[Path], number: int | None, together: Sequence[str]
) -> None:
    """Refuse options that contradict each other."""
    if public and not set(kinds) <= set(PUBLIC):
        wrong = next(kind for kind in kinds if kind not in PUBLIC)
        raise click.UsageError(f"--public needs --format, one of {', '.join(PUBLIC)}; it is {wrong}")
    if public and not kinds:
        raise click.UsageError(f"--public needs --format, one of {', '.join(PUBLIC)}; it is missing")
    if public and number is not None:
        raise click.UsageError("--version must not be given with --public: releases cover all versions")
    if together and (public or not set(kinds) <= set(PUBLIC)):
        other = "--public" if public else f"--format {next(kind for kind in kinds if kind not in PUBLIC)}"
        raise click.UsageError(
            f"--together must not be given with {other}, which has every question by itself"
        )
    if not outputs and set(kinds) & set(BINARY) and sys.stdout.isatty():
        raise click.UsageError(
            f"--output must be given with --format {kinds[0]}: it is no text for a terminal"
        )


def _check_explaining(
    kinds: Sequence[str],
    public: bool,
    number: int | None,
    answer: str | None,
    by: Sequence[str],
    strata: Sequence[object],
) -> None:
    """Refuse an explanation, and a comparison, where there is no report on all stored responses to hold it."""
    if by and answer is None:
        raise click.UsageError("--by needs --explain; it is missing")
    if answer is None and not strata:
        return
    wrong = [option for option, given in (("--public", public), ("--version", number is not None)) if given]
    wrong += [f"--format {kind}" for kind in kinds if kind not in FORMATS]
    if wrong:
        raise click.UsageError(
            f"{wrong[0]} must not be given with {'a comparison' if answer is None else '--explain'}"
        )


def _write_aside(write: Write, kind: str) -> IO[bytes]:
    """A file of no name that it was written to; at a terminal, what can take more than a second says so."""
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    try:
        if kind not in BINARY:
            write(file)
        else:
            with click.progressbar(length=1, label=f"Writing {kind}", file=sys.stderr) as bar:
                write(file)
                bar.update(1)
    except BaseException:  # what refuses to be written
        file.close()
        raise
    file.seek(0)
    return file


def _put(file: IO[bytes], output: Path | None) -> None:
    if output is None:
        shutil.copyfileobj(file, sys.stdout.buffer)
        return
    with open_new_file(output, "--output", private=True) as target:  # microdata are among them
        shutil.copyfileobj(file, target)
