"""Surveys on paper: the form to print, and sheets that were keyed in."""

import hashlib
from pathlib import Path
from typing import IO
from unicodedata import normalize

import click

from server.cli.common import (
    JSON,
    SLUG,
    database_session,
    open_new_file,
    print_document,
    require_survey,
    snapshot_session,
    survey_to_change,
)
from server.collect.keyed_sheets import parse_sheets
from server.collect.paper_batches import PaperBatch, enter_batch
from server.output.languages import list_readings, split_reading
from server.people import change_log
from server.people.change_log import Action
from server.study import strata, surveys
from server.study.by_hand import list_paper_questions, make_paper_form
from server.study.study_sheets.senders import read_sender


@click.command()
@SLUG
@click.option(
    "--to",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="A new file, a PDF.",
)
@click.option(
    "--language",
    type=click.Choice([reading for reading, _ in list_readings()]),
    help="Of the form, and its digits; the survey's language without it.",
)
@click.option("--version", "number", type=int, help="A published version; the newest without it.")
def paper(slug: str, path: Path, language: str | None, number: int | None) -> None:
    """Write the form on which a survey is answered with coins, dice or a disc, to be printed."""
    with snapshot_session() as session:
        found = require_survey(session, slug)
        version = surveys.published_version(found, number)
        own = surveys.definition_of(version).language
        reading = language or own
        sender = read_sender(session, found, split_reading(reading)[0], own)
        form = make_paper_form(version, sender, reading)
    with open_new_file(path, "--to") as file:
        file.write(form)


@click.command()
@SLUG
@click.argument("file", type=click.File("rb"))
@click.option("--version", "number", type=int, required=True, help="The version that the form says.")
@click.option(
    "--stratum",
    default="",
    metavar="PATH",
    help='The stratum that the sheets count for, as "Spain > Madrid"; the survey\'s own link without it.',
)
@click.option(
    "--batch",
    default="",
    metavar="NAME",
    help="What these sheets are called: under one name they are stored once. Without it, what the file holds.",
)
@JSON
def enter(slug: str, file: IO[bytes], number: int, stratum: str, batch: str, as_json: bool) -> None:
    """Store sheets of paper from a CSV file: a row for each sheet, a letter in the column of each question.

    All of them or none. The same file is stored once.
    """
    content = file.read()
    for option, text in (("--batch", batch), ("--stratum", stratum)):
        if any("\udc80" <= letter <= "\udcff" for letter in text):  # what Python makes of other bytes
            raise click.UsageError(f"{option} must be UTF-8; it is {text!a}")
    with database_session() as session:
        found = survey_to_change(session, slug)
        version = surveys.published_version(found, number)
        reports = parse_sheets(content, list_paper_questions(version))
        place = strata.find_leaf(session, found, stratum).stratum if stratum else None
        # What looks the same is the same name, whichever way a keyboard or a file system composes its letters.
        name = (
            normalize("NFC", batch).encode()
            if batch
            else hashlib.sha256(stratum.encode() + b"\0" + content).digest()
        )
        stored = enter_batch(session, found, PaperBatch(name, version, place, reports), surveys.now())
        if stored:
            change_log.record(session, None, Action.SHEETS_KEYED, found, version=version.number)
        print_document({"survey": slug, "sheets": len(reports), "stored": stored}, as_json)
    if not stored and not as_json:
        click.echo(
            "These sheets are stored already. Other sheets that say the same need another --batch.", err=True
        )
