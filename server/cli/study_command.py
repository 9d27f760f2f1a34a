"""`python -m server survey study`, the study sheet of a survey, and `survey study-file`, how to read its responses."""

import json
from typing import IO

import click

from server.cli.common import SLUG, database_session, print_text, require_survey, survey_to_change
from server.inputs import parse_json
from server.people import change_log
from server.people.change_log import Action
from server.reports.elsewhere import write_study_file
from server.study import study_sheets
from server.study.definitions.definition_reader import DEFINITION_LIMIT


@click.command()
@SLUG
@click.argument("file", type=click.File("rb"), required=False)
def study(slug: str, file: IO[bytes] | None) -> None:
    """Print a survey's study sheet as JSON; with a FILE, replace it first (- for standard input).

    What the file leaves out is not stated any more.
    """
    with database_session() as session:
        if file is None:
            sheet = study_sheets.read_study_sheet(session, require_survey(session, slug)).sheet
        else:
            sheet = study_sheets.parse_study_sheet(
                parse_json(file.read(DEFINITION_LIMIT + 1), DEFINITION_LIMIT, "sheet")
            )
            found = survey_to_change(session, slug)
            changed = study_sheets.save_study_sheet(session, found, sheet)
            if changed:
                change_log.record(session, None, Action.STUDY_CHANGED, found, fields=", ".join(changed))
        print_text(json.dumps(sheet.as_json(), ensure_ascii=False, indent=2))


@click.command("study-file")
@SLUG
def study_file(slug: str) -> None:
    """Print what the columns of a published survey's responses hold, as `analyse` reads it (JSON)."""
    with database_session() as session:
        click.echo(write_study_file(session, require_survey(session, slug)), nl=False)
