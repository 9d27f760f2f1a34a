"""`python -m server report`: a survey's report in every format, internal or public."""

import sys
from collections.abc import Callable
from pathlib import Path

import click
from sqlalchemy.orm import Session

from server import documents, releases, reports, surveys
from server.cli.common import JSON, SLUG, found_survey, snapshot_session
from server.cli.results import print_report
from server.models import Survey

WRITERS = ("html", "pdf", "xlsx", "csv", "json", "microdata", "responses", "codebook")
PUBLIC = ("html", "pdf", "xlsx", "csv", "json")
BINARY = ("pdf", "xlsx", "microdata")

Write = Callable[[], str | bytes]


@click.command()
@SLUG
@click.option(
    "--format", "kind", type=click.Choice(WRITERS), help="What to write; without it, a table is printed."
)
@click.option(
    "--public", is_flag=True, help="From what was released alone: the report that everybody may read."
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; standard output without it."
)
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Of HTML, PDF and XLSX.",
)
@click.option("--version", "number", type=int, help="One published version; all of them, pooled, without it.")
@JSON
def report(
    slug: str,
    kind: str | None,
    public: bool,
    output: Path | None,
    language: str,
    number: int | None,
    as_json: bool,
) -> None:
    """Report on a survey's responses; with --public, on its releases alone.

    Microdata are a ZIP file: the noisy responses as CSV and Parquet, their codebook, and scripts for R and
    Python that estimate the same.
    """
    if as_json:
        kind = "json"
    _check(kind, public, output, number)
    with snapshot_session() as session:
        found = found_survey(session, slug)
        if kind is None:
            print_report(_shown(session, found, number))
            return
        write = (
            _public(session, found, kind, language)
            if public
            else _internal(session, found, number, kind, language)
        )
        made = _made(write, kind)
    _put(made, output)


def _check(kind: str | None, public: bool, output: Path | None, number: int | None) -> None:
    """Refuse options that contradict each other."""
    if output is not None and kind is None:
        raise click.UsageError(f"--output needs --format, one of {', '.join(WRITERS)}; it is missing")
    if public and kind not in PUBLIC:
        said = "it is missing" if kind is None else f"it is {kind}"
        raise click.UsageError(f"--public needs --format, one of {', '.join(PUBLIC)}; {said}")
    if public and number is not None:
        raise click.UsageError("--version must not be given with --public: releases cover all versions")
    if kind in BINARY and output is None and sys.stdout.isatty():
        raise click.UsageError(f"--output must be given with --format {kind}: it is no text for a terminal")


def _shown(session: Session, survey: Survey, number: int | None) -> reports.Report:
    made = reports.read(session, survey, number)
    reports.require_shown(made)
    return made


def _internal(session: Session, survey: Survey, number: int | None, kind: str, language: str) -> Write:
    """What writes the report from the stored responses, or what goes with it."""
    version = surveys.published_version(survey, number)
    definition = surveys.definition_of(version)
    if kind == "codebook":
        return lambda: reports.codebook_csv(definition)
    if kind == "responses":
        pooled = _shown(session, survey, None)
        reports.require_shown(pooled, version.number)
        return lambda: reports.responses_csv(pooled, definition, version.number)
    made, ledger = _shown(session, survey, number), releases.ledger(session, survey)
    writers: dict[str, Write] = {
        "html": lambda: documents.to_html(reports.internal(made, ledger, language)),
        "pdf": lambda: documents.to_pdf(reports.internal(made, ledger, language)),
        "xlsx": lambda: documents.to_xlsx(reports.internal(made, ledger, language)),
        "csv": lambda: reports.to_csv(made),
        "json": lambda: reports.to_json(made, ledger),
        "microdata": lambda: reports.microdata(made),
    }
    return writers[kind]


def _public(session: Session, survey: Survey, kind: str, language: str) -> Write:
    """What writes the report from releases alone."""
    surveys.published_version(survey, None)
    published = reports.published(survey, releases.ledger(session, survey))
    writers: dict[str, Write] = {
        "html": lambda: documents.to_html(reports.public(published, language)),
        "pdf": lambda: documents.to_pdf(reports.public(published, language)),
        "xlsx": lambda: documents.to_xlsx(reports.public(published, language)),
        "csv": lambda: reports.public_csv(published),
        "json": lambda: reports.public_json(published),
    }
    return writers[kind]


def _made(write: Write, kind: str) -> str | bytes:
    """Write; at a terminal, what can take more than a second says so."""
    if kind not in BINARY:
        return write()
    with click.progressbar(length=1, label=f"Writing {kind}", file=sys.stderr) as bar:
        made = write()
        bar.update(1)
    return made


def _put(made: str | bytes, output: Path | None) -> None:
    if output is None:
        click.echo(made, nl=False)
        return
    try:
        output.write_bytes(made if isinstance(made, bytes) else made.encode())
    except OSError as error:
        raise click.UsageError(
            f"--output must be a file that can be written; {str(output)!r} is not: {error.strerror}"
        ) from error
