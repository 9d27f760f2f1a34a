"""Copy surveys, put them away, delete them for good; write and read everything of one as a file."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import click
from sqlalchemy.orm import Session

from server import archives, people, releases
from server.cli.common import (
    JSON,
    SLUG,
    check_file_name,
    database_session,
    print_document,
    require_survey,
    show_progress,
    snapshot_session,
    survey_json,
    survey_to_change,
)
from server.cli.tidy_command import tidy_after
from server.people import change_log
from server.people.change_log import Action
from server.releases import rights
from server.store.engines import TakingTurns
from server.store.models import GivenRight, Survey
from server.store.private_files import open_private


@click.command()
@SLUG
@click.option("--title", default="", help="Of the copy; the same without it.")
@click.option("--strata", is_flag=True, help="With the same strata, which get new links.")
@JSON
def duplicate(slug: str, title: str, strata: bool, as_json: bool) -> None:
    """Make a draft with the same questions."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        owner = people.first_researcher(session)
        copy = archives.duplicate(session, found, owner, title, with_strata=strata)
        change_log.record(session, None, Action.SURVEY_COPIED, copy)
        print_document(survey_json(copy), as_json)


@click.command()
@SLUG
@JSON
def archive(slug: str, as_json: bool) -> None:
    """List a survey apart; nothing about it can be changed there."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        archives.put_away(found)
        change_log.record(session, None, Action.ARCHIVED, found)
        print_document(survey_json(found), as_json)


@click.command()
@SLUG
@JSON
def unarchive(slug: str, as_json: bool) -> None:
    """Take a survey out of the archive again."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        archives.take_out(found)
        change_log.record(session, None, Action.TAKEN_OUT, found)
        print_document(survey_json(found), as_json)


@click.command()
@SLUG
@click.option(
    "--confirm",
    prompt="Type the survey's title, or the name in its link, to delete it for good",
    help="The survey's title or the name in its link; asked for without it.",
)
@JSON
def delete(slug: str, confirm: str, as_json: bool) -> None:
    """Delete a survey and everything that belongs to it, for good."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        archives.check_confirmed(found, confirm)
        change_log.record(session, None, Action.DELETED, None, slug=slug)
        archives.delete(session, found)
    print_document({"survey": slug, "deleted": True}, as_json)
    tidy_after("The survey is deleted")


def write_archive(slug: str, path: Path, language: str, right: Mapping[str, str | None]) -> None:
    """Write everything of a survey into a new file; if that fails, there is none.

    What `right` gives along, by the names of the options, is debited before.
    """
    check_file_name(path, "--zip")
    if path.exists():  # before anything is debited
        raise click.UsageError(f"--zip must be a new file; {str(path)!r} is there already")
    with database_session() as session:
        found = survey_to_change(session, slug)
        archives.check_packable(session, found)
        token = _give(session, found, right)
        change_log.record(session, None, Action.EXPORTED, found)
    try:
        with open(path, "xb", opener=open_private) as file:  # Path.open takes no opener
            try:
                with snapshot_session() as session, show_progress("Exporting responses") as report_progress:
                    given = session.get(GivenRight, token) if token else None
                    archives.pack(
                        session, require_survey(session, slug), file, language, report_progress, given
                    )
            except BaseException:
                path.unlink()
                raise
    except OSError as error:
        raise click.UsageError(
            f"--zip must be a new file that can be written; {str(path)!r} is not: {error.strerror}"
        ) from error


def _give(session: Session, survey: Survey, options: Mapping[str, str | None]) -> str | None:
    """Debit what goes along; its token, and None for nothing."""
    chosen = [name for name in ("move_to", "share_to", "again") if options[name] is not None]
    if len(chosen) > 1:
        raise click.UsageError(
            f"--{chosen[0].replace('_', '-')} and --{chosen[1].replace('_', '-')} are one too many"
        )
    if chosen != ["share_to"] and (options["epsilon"] is not None or options["delta"] is not None):
        raise click.UsageError("--epsilon and --delta need --share-to")
    if not chosen:
        return None
    server = options[chosen[0]]
    assert server is not None
    if chosen == ["again"]:
        if server not in {each.token for each in rights.list_given_rights(session, survey)}:
            raise click.UsageError(f"--again must be a right that was given; {server!r} is not")
        return server
    book = releases.read_ledger(session, survey)
    left = None if book.budget is None else (book.left, book.left_delta)
    kind = rights.RightKind.MOVE if chosen == ["move_to"] else rights.RightKind.SHARE
    given = rights.give_right(
        session, survey, kind, server, left, options["epsilon"] or "", options["delta"] or ""
    )
    change_log.record(
        session, None, Action.RIGHT_GIVEN, survey, kind=str(kind), epsilon=given.epsilon, server=given.server
    )
    click.echo(f"With the right {given.token}; --again {given.token} writes the file once more.", err=True)
    return given.token


def read_archive(beginning: bytes, rest: IO[bytes], as_json: bool) -> None:
    """Make a survey of an archive, whose first bytes were read already."""
    with tempfile.SpooledTemporaryFile(max_size=1 << 24) as file:
        file.write(beginning)
        while part := rest.read(1 << 20):
            file.write(part)
        with database_session() as session, show_progress("Importing responses") as report_progress:
            owner = people.first_researcher(session)
            unpacked = archives.unpack(session, owner, file, TakingTurns(session), report_progress)
            change_log.record(session, None, Action.SURVEY_IMPORTED, unpacked.survey)
            document = {
                **survey_json(unpacked.survey),
                "responses": unpacked.responses,
                "may_release": unpacked.survey.may_release,
                "new_links": unpacked.new_links,
                "left_invitations": unpacked.left_invitations,
                "raised_minimum": unpacked.raised_minimum,
            }
    print_document(document, as_json)
