"""`python -m server report`: a survey's report in every format, internal or public."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import IO, TypeVar

import click
from sqlalchemy.orm import Session

from server import releases, reports
from server.cli.common import JSON, SLUG, found_survey, snapshot_session
from server.cli.explain_output import BY, EXPLAIN, print_explanation
from server.cli.result_output import print_report
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.reports.explaining import explain_answer, of_report
from server.reports.formats import FORMATS, Finish, InternalReport, PublicReport
from server.store.models import Survey
from server.store.private_files import open_private
from server.study import strata, surveys

PUBLIC = tuple(FORMATS)
WRITERS = (*PUBLIC, "microdata", "responses", "codebook", "strata")
BINARY = (*(entry.ending for entry in FORMATS.values() if entry.binary), "microdata")
ENDINGS = {**{f".{kind}": kind for kind in PUBLIC}, ".zip": "microdata"}
"""What the name of a file says about its format."""

_WORDED = " and ".join(", ".join(e.ending.upper() for e in FORMATS.values() if e.worded).rsplit(", ", 1))
_IN_MEMORY = 1 << 24
Write = Callable[[IO[bytes]], None]
Source = TypeVar("Source")


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
    help="File; standard output without it. Several, in formats by their endings: give it several times.",
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help=f"Of {_WORDED}.",
)
@click.option("--version", "number", type=int, help="One published version; all of them, pooled, without it.")
@EXPLAIN
@BY
@JSON
def report(
    slug: str,
    kind: str | None,
    public: bool,
    outputs: Sequence[Path],
    language: str,
    number: int | None,
    answer: str | None,
    by: tuple[str, ...],
    as_json: bool,
) -> None:
    """Report on a survey's responses; with --public, on its releases alone.

    Microdata are a ZIP file: the noisy responses as CSV and Parquet, their codebook, and scripts for R and
    Python that estimate the same.
    """
    kinds = _kinds("json" if as_json else kind, outputs)
    _check(kinds, public, outputs, number)
    _check_explaining(kinds, public, number, answer, by)
    with snapshot_session() as session:
        found = found_survey(session, slug)
        if not kinds:
            made = _shown(session, found, number)
            print_report(made)
            if answer is not None:
                print_explanation(explain_answer(of_report(made), answer, by))
            return
        if public:
            writers = _public(session, found, language)
        else:
            writers = _internal(session, found, number, language, answer, by)
        with ExitStack() as stack:
            files = [stack.enter_context(_made(writers[kind], kind)) for kind in kinds]
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


def _check(kinds: Sequence[str], public: bool, outputs: Sequence[Path], number: int | None) -> None:
    """Refuse options that contradict each other."""
    if public and not set(kinds) <= set(PUBLIC):
        wrong = next(kind for kind in kinds if kind not in PUBLIC)
        raise click.UsageError(f"--public needs --format, one of {', '.join(PUBLIC)}; it is {wrong}")
    if public and not kinds:
        raise click.UsageError(f"--public needs --format, one of {', '.join(PUBLIC)}; it is missing")
    if public and number is not None:
        raise click.UsageError("--version must not be given with --public: releases cover all versions")
    if not outputs and set(kinds) & set(BINARY) and sys.stdout.isatty():
        raise click.UsageError(
            f"--output must be given with --format {kinds[0]}: it is no text for a terminal"
        )


def _check_explaining(
    kinds: Sequence[str], public: bool, number: int | None, answer: str | None, by: Sequence[str]
) -> None:
    """Refuse an explanation where there is no report on all stored responses to hold it."""
    if by and answer is None:
        raise click.UsageError("--by needs --explain; it is missing")
    if answer is None:
        return
    wrong = [option for option, given in (("--public", public), ("--version", number is not None)) if given]
    wrong += [f"--format {kind}" for kind in kinds if kind not in FORMATS]
    if wrong:
        raise click.UsageError(f"{wrong[0]} must not be given with --explain")


def _shown(session: Session, survey: Survey, number: int | None) -> reports.Report:
    made = reports.read(session, survey, number)
    reports.require_shown(made)
    return made


def _internal(
    session: Session,
    survey: Survey,
    number: int | None,
    language: str,
    answer: str | None,
    by: Sequence[str],
) -> Mapping[str, Write]:
    """What writes the report from the stored responses, and what goes with it; each part is made once."""
    version = surveys.published_version(survey, number)
    definition = surveys.definition_of(version)
    made = cache(lambda: _shown(session, survey, number))
    pooled = cache(lambda: _shown(session, survey, None))
    explained = cache(lambda: None if answer is None else explain_answer(of_report(made()), answer, by))
    read_ledger = partial(releases.read_ledger, session, survey)
    source = cache(lambda: InternalReport(made(), read_ledger, language, explained()))

    def responses(file: IO[bytes]) -> None:
        reports.require_shown(pooled(), version.number)
        reports.write_responses(pooled(), definition, version.number, file)

    return {
        **{
            entry.ending: _whole(partial(_finish, entry.prepare_internal, source))
            for entry in FORMATS.values()
        },
        "microdata": lambda file: reports.write_microdata(made(), file),
        "responses": responses,
        "strata": lambda file: reports.write_strata(
            made(), [entry.question.name for entry in made().questions], file
        ),
        "codebook": _whole(
            lambda: reports.codebook_csv(definition, strata=bool(strata.tree(session, survey)))
        ),
    }


def _public(session: Session, survey: Survey, language: str) -> Mapping[str, Write]:
    """What writes the report from releases alone."""
    surveys.published_version(survey, None)
    published = reports.read_published(session, survey, releases.read_ledger(session, survey))
    source = cache(lambda: PublicReport(published, language))
    return {
        entry.ending: _whole(partial(_finish, entry.prepare_public, source)) for entry in FORMATS.values()
    }


def _finish(prepare: Callable[[Source], Finish], source: Callable[[], Source]) -> str | bytes:
    return prepare(source())()


def _whole(make: Callable[[], str | bytes]) -> Write:
    """Writes what is made in one piece."""

    def write(file: IO[bytes]) -> None:
        made = make()
        file.write(made if isinstance(made, bytes) else made.encode())

    return write


def _made(write: Write, kind: str) -> IO[bytes]:
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
    try:
        with open(output, "wb", opener=open_private) as target:  # microdata are among them
            shutil.copyfileobj(file, target)
    except OSError as error:
        raise click.UsageError(
            f"--output must be a file that can be written; {str(output)!r} is not: {error.strerror}"
        ) from error
