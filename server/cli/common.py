"""What the commands share: the database, the way they print, and progress bars."""

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
from click.core import ParameterSource
from sqlalchemy.orm import Session

from server.config import Config, from_environment
from server.people import survey_access
from server.store.engines import open_session, snapshot
from server.store.models import Survey
from server.store.private_files import open_private
from server.study import surveys
from server.web.database_start import open_database, open_existing

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
SLUG = click.argument("slug")
_THERE = "it is there already"
_WAITING: ContextVar[list[str] | None] = ContextVar("waiting", default=None)
# What is printed while a transaction is open, where one is.


class WholeNumber(click.IntRange):
    """A whole number in a range, which is also said to whoever types something else."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does."""
        refuse_others(self, "a whole number", int, value, param, ctx)
        return super().convert(value, param, ctx)


def refuse_others(
    kind: click.IntRange | click.FloatRange,
    called: str,
    read: Callable[[Any], float],
    value: Any,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> None:
    """Refuse what is no number at all with the range, which click itself says only of numbers.

    Raises
    ------
    BadParameter
        Naming the option, the value and the range.
    """
    try:
        read(value)
    except ValueError:
        ends = "" if kind.max is None else f"<={kind.max}"
        kind.fail(f"{value!r} is not {called} in the range {kind.min}<=x{ends}.", param, ctx)


def require_beside(context: click.Context, name: str, needed: str) -> None:
    """Refuse an option that changes nothing without another: whoever typed it expects something else.

    Raises
    ------
    UsageError
        Naming both.
    """
    typed = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    if typed and context.params[needed] in (None, ()):
        option, other = (
            next(each.opts[0] for each in context.command.params if each.name == one)
            for one in (name, needed)
        )
        raise click.UsageError(f"{option} must be given with {other}, which is missing")


@contextmanager
def show_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error; yields what is told how much is done, and of how much."""
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def report_progress(done: int, of: int) -> None:
            bar.length = max(of, 1)
            bar.update(done - bar.pos)

        yield report_progress


@contextmanager
def show_steps(label: str, steps: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error for steps that take as long as they take; yields what is told the next one's name."""
    with click.progressbar(length=steps, label=label, file=sys.stderr, show_eta=False) as bar:
        begun = False

        def begin(name: str) -> None:
            nonlocal begun
            bar.label = f"{label}: {name}"
            bar.update(int(begun))
            bar.render_progress()
            begun = True

        yield begin
        bar.update(steps - bar.pos)


def open_new_file(path: Path, option: str, *, private: bool = False) -> IO[bytes]:
    """A file to write that was not there before: no command writes over what somebody has.

    A pipe or a terminal, which holds nothing, may be there.

    Raises
    ------
    UsageError
        Naming the option that named it.
    """
    check_file_name(path, option, ": for a pipe, name /dev/stdout")
    try:
        if path.is_fifo() or path.is_char_device():
            return open(path, "wb")
        return open(path, "xb", opener=open_private if private else None)
    except OSError as error:
        reason = _THERE if isinstance(error, FileExistsError) else error.strerror
        raise _refuse_file(path, option, f": {reason}") from error


def check_new_file(path: Path, option: str) -> None:
    """Refuse a file that is there already, before anything is asked or computed for it; `open_new_file` does again.

    Raises
    ------
    UsageError
        Naming the option that named it.
    """
    check_file_name(path, option)
    if os.path.lexists(path) and not (path.is_fifo() or path.is_char_device()):
        raise _refuse_file(path, option, f": {_THERE}")


def _refuse_file(path: Path, option: str, reason: str) -> click.UsageError:
    return click.UsageError(f"{option} must be a new file that can be written; {str(path)!r} is not{reason}")


def check_file_name(path: Path, option: str, instead: str = "") -> None:
    """Refuse what many programs take for standard output, and would be a file of that name here.

    `instead` says what to name, where a pipe is taken.

    Raises
    ------
    UsageError
        Naming the option that named it.
    """
    if str(path) == "-":
        raise _refuse_file(path, option, instead)


@contextmanager
def database_session(config: Config | None = None, *, check: bool = False) -> Iterator[Session]:
    """A session on the migrated database; committed unless an error leaves it.

    What is printed meanwhile is written once that is done: nothing is said that does not hold, and whoever reads the
    first line only (`| head -1`) takes nothing back. With `check`, every page of a SQLite file is looked at first.
    """
    url = (config or from_environment()).database_url
    engine = open_database(url, check=check, tell=partial(click.echo, err=True))
    try:
        with open_session(engine, writes=True) as session:
            waiting: list[str] = []
            before = _WAITING.set(waiting)
            try:
                yield session
                session.commit()
            finally:
                _WAITING.reset(before)
    finally:
        engine.dispose()
    for text in waiting:
        click.echo(text)


@contextmanager
def snapshot_session() -> Iterator[Session]:
    """A session that sees one moment of the database, and keeps no respondent waiting."""
    engine = open_database(from_environment().database_url)
    try:
        with snapshot(engine) as session:
            yield session
    finally:
        engine.dispose()


@contextmanager
def existing_session(*, writes: bool) -> Iterator[Session]:
    """A session on a database that is there and fits, which is not upgraded for it; one moment, or to be committed."""
    engine = open_existing(from_environment().database_url)
    try:
        with open_session(engine, writes=True) if writes else snapshot(engine) as session:
            yield session
    finally:
        engine.dispose()


def require_survey(session: Session, slug: str) -> Survey:
    """The survey behind a link, which must be there."""
    found = survey_access.find(session, slug)
    if found is None:
        raise click.UsageError(f"survey {slug!r} is not known")
    return found


def survey_to_change(session: Session, slug: str) -> Survey:
    """A survey that nobody else changes until the session ends."""
    survey = require_survey(session, slug)
    survey_access.lock(session, survey)
    return survey


def survey_json(survey: Survey) -> dict[str, Any]:
    """What commands print of a survey."""
    current = survey.current
    return {
        "survey": survey.slug,
        "title": surveys.draft_document(survey)["title"],
        "state": str(survey.state),
        "version": None if current is None else current.number,
        "sha256": None if current is None else current.sha256,
        "path": f"/s/{survey.link}",
    }


def print_text(text: str) -> None:
    """Write a line to standard output, or keep it until what it tells of is committed."""
    waiting = _WAITING.get()
    if waiting is None:
        click.echo(text)
    else:
        waiting.append(text)


def print_document(document: Mapping[str, Any], as_json: bool) -> None:
    """Print what a command found as JSON, or else a line for each thing."""
    if as_json:
        print_text(json.dumps(document, ensure_ascii=False))
    else:
        print_table(
            ["", ""], [[name, "-" if value is None else str(value)] for name, value in document.items()]
        )


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Print columns as wide as what they hold; without any text, no header."""
    rows = [[make_plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        print_text("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def make_plain(cell: str) -> str:
    """A cell without what a terminal would obey: a survey's texts may come from anybody."""
    return "".join(c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in cell)
