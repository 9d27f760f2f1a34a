"""`python -m server recount`: the books of surveys are held against the stored rows."""

import json
from contextlib import suppress
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.cli.common import (
    JSON,
    database_session,
    print_table,
    require_survey,
    show_progress,
    snapshot_session,
)
from server.collect import batches
from server.collect.batches import ChangedError, Recount
from server.people import survey_access
from server.store.models import Survey
from server.study import strata, surveys

_TRIES = 20
"""Times that books are looked at, until they agree: twice, unless somebody else mends them or changes the survey."""


@click.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@JSON
@click.pass_context
def recount(ctx: click.Context, slugs: tuple[str, ...], as_json: bool) -> None:
    """Hold what is counted of surveys, or of all, against their stored responses.

    What differs is said, and put right piece by piece; then the exit status is 1. Where the rows of responses were
    deleted, as their days were over, nothing is compared, and it is said so. Responses go on coming meanwhile. While a
    survey is open, what is put right is shown as new responses are, and as those that were taken back.
    """
    documents: list[dict[str, Any]] = []
    with snapshot_session() as session:
        found = [require_survey(session, slug) for slug in slugs] or _list_published(session)
        for survey in found:
            if survey.deleted:
                documents.append({"survey": survey.slug, "agrees": True, "differences": [], "deleted": True})
                continue
            with show_progress(f"Counting {survey.slug}") as report_progress:
                compared = batches.recount(session.connection(), survey.id, report_progress)
            documents.append(_document(session, survey, compared))
    for document in documents:
        if not document["agrees"]:
            _mend(document["survey"])
    if as_json:
        click.echo(json.dumps(documents, ensure_ascii=False))
    else:
        _print(documents)
    if not all(document["agrees"] for document in documents):
        ctx.exit(1)


def _list_published(session: Session) -> list[Survey]:
    query = sa.select(Survey).where(Survey.versions.any(), survey_access.HAS_ARRIVED).order_by(Survey.id)
    return list(session.scalars(query))


def _mend(slug: str) -> None:
    """Put the books of a survey right, however often it is changed meanwhile: responses do not count as that."""
    for _ in range(_TRIES):
        with database_session() as writing, snapshot_session() as reading:
            survey = require_survey(reading, slug)
            if survey.deleted:  # just now
                return
            with suppress(ChangedError):
                if batches.mend(reading, writing, survey.id, surveys.today()).agrees:
                    return
    raise click.ClickException(f"{slug} was changed again and again meanwhile; try again")


def _document(session: Session, survey: Survey, recount: Recount) -> dict[str, Any]:
    return {
        "survey": survey.slug,
        "agrees": recount.agrees,
        "differences": _differences(session, survey, recount),
        "deleted": False,
    }


def _differences(session: Session, survey: Survey, recount: Recount) -> list[dict[str, Any]]:
    numbers = {version.id: version.number for version in survey.versions}
    paths = {node.stratum.id: node.path for node in strata.walk(strata.tree(session, survey))}
    said: list[dict[str, Any]] = [
        {
            "version": numbers[each.key.version_id],
            "stratum": None if each.key.stratum_id is None else paths[each.key.stratum_id],
            "not_counted": each.missing,
            "counted_without_response": each.surplus,
        }
        for each in recount.differences
    ]
    if recount.rows != recount.counted:
        more = recount.counted - recount.rows
        everything = {"version": None, "stratum": None}
        said.append(everything | {"not_counted": max(-more, 0), "counted_without_response": max(more, 0)})
    return said


def _print(documents: list[dict[str, Any]]) -> None:
    rows = []
    for document in documents:
        if document["agrees"]:
            text = "rows deleted" if document["deleted"] else "agrees"
            rows.append([document["survey"], "-", "-", text, "-", "-"])
        rows.extend(
            [
                document["survey"],
                "total" if each["version"] is None else str(each["version"]),
                each["stratum"] or "-",
                "put right",
                str(each["not_counted"]),
                str(each["counted_without_response"]),
            ]
            for each in document["differences"]
        )
    header = ["survey", "version", "stratum", "result", "not counted", "counted without response"]
    print_table(header, rows)
