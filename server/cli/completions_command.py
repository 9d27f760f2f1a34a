"""`python -m server survey completions`: which codes that a panel hands in are good."""

from typing import Any

import click

from server.cli.common import (
    JSON,
    SLUG,
    database_session,
    print_document,
    require_survey,
    snapshot_session,
    survey_to_change,
)
from server.collect.checked_codes import CodeVerdict, note_codes, open_checker
from server.inputs import N_, refuse
from server.people import change_log
from server.people.change_log import Action
from server.study.completion_codes import split_codes


@click.command()
@SLUG
@click.argument("file", type=click.File("r", encoding="utf-8-sig"))
@JSON
def completions(slug: str, file: Any, as_json: bool) -> None:
    """Check the completion codes in a file, one on each line; - for standard input. Each is good once."""
    pasted = split_codes(file.read())
    if not pasted:
        raise refuse(422, "codes", N_("must be at least one; there are none"))
    found: dict[str, list[str]] = {str(verdict): [] for verdict in CodeVerdict}
    # Of many codes this takes minutes, in which responses are stored.
    with snapshot_session() as session:
        find_genuine = open_checker(session, require_survey(session, slug))
    genuine = find_genuine(pasted)
    with database_session() as session:
        survey = survey_to_change(session, slug)
        for checked in note_codes(session, survey, pasted, genuine):
            found[checked.verdict].append(checked.code)
        if good := len(found[CodeVerdict.GOOD]):
            change_log.record(session, None, Action.COMPLETIONS_CHECKED, survey, count=good)
        if as_json:
            print_document({"survey": slug, **found}, as_json)
        else:
            rows = {verdict: len(codes) for verdict, codes in found.items()}
            print_document({"survey": slug, **rows}, as_json)
