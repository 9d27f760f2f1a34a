"""`python -m server survey completions`: which codes that a panel hands in are good."""

from typing import Any

import click

from server.cli.common import JSON, SLUG, database_session, print_document, survey_to_change
from server.collect.checked_codes import MOST_AT_ONCE, CodeVerdict, check_codes
from server.people import change_log
from server.people.change_log import Action


@click.command()
@SLUG
@click.argument("file", type=click.File("r", encoding="utf-8-sig"))
@JSON
def completions(slug: str, file: Any, as_json: bool) -> None:
    """Check the completion codes in a file, one on each line; - for standard input. Each is good once."""
    pasted = file.read().split()
    found: dict[str, list[str]] = {str(verdict): [] for verdict in CodeVerdict}
    with database_session() as session:
        survey = survey_to_change(session, slug)
        for start in range(0, max(len(pasted), 1), MOST_AT_ONCE):
            for checked in check_codes(session, survey, pasted[start : start + MOST_AT_ONCE]):
                found[checked.verdict].append(checked.code)
        if good := len(found[CodeVerdict.GOOD]):
            change_log.record(session, None, Action.COMPLETIONS_CHECKED, survey, count=good)
        if as_json:
            print_document({"survey": slug, **found}, as_json)
        else:
            rows = {verdict: len(codes) for verdict, codes in found.items()}
            print_document({"survey": slug, **rows}, as_json)
