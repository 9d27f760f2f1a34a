"""`python -m server recount`: the books of surveys are held against the stored rows."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.cli.common import (
    JSON,
    database_session,
    found_survey,
    print_table,
    show_progress,
    snapshot_session,
)
from server.collect import batches
from server.collect.batches import Recount
from server.collect.untidied import mark_untidied
from server.people import survey_access
from server.store.models import State, Survey
from server.study import strata, surveys

_TRIES = 3
"""Times that books are made anew before a survey takes no responses meanwhile."""


@click.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@JSON
@click.pass_context
def recount(ctx: click.Context, slugs: tuple[str, ...], as_json: bool) -> None:
    """Hold what is counted of surveys, or of all, against their stored responses.

    What differs is made anew from the responses, and said; then the exit status is 1. Where the rows of responses
    were deleted, as their days were over, nothing is compared, and it is said so. Others go on meanwhile. Only where
    responses to the survey that differs kept coming, three times, it takes none until it is done, and on SQLite no
    other one does.
    """
    documents: list[dict[str, Any]] = []
    with snapshot_session() as session:
        found = [found_survey(session, slug) for slug in slugs] or _list_published(session)
        for survey in found:
            if survey.deleted:
                documents.append({"survey": survey.slug, "agrees": True, "differences": [], "deleted": True})
                continue
            with show_progress(f"Counting {survey.slug}") as report_progress:
                compared = batches.recount(session.connection(), survey.id, report_progress)
            documents.append(_document(session, survey, compared))
    for document in documents:
        if not document["agrees"]:
            document["differences"] = _rebuild(document["survey"])
    if as_json:
        click.echo(json.dumps(documents, ensure_ascii=False))
    else:
        _print(documents)
    if not all(document["agrees"] for document in documents):
        ctx.exit(1)


def _list_published(session: Session) -> list[Survey]:
    query = sa.select(Survey).where(Survey.versions.any(), survey_access.HAS_ARRIVED).order_by(Survey.id)
    return list(session.scalars(query))


def _rebuild(slug: str) -> list[dict[str, Any]]:
    """Make the books of a survey anew; what differed.

    That takes long, and nobody waits for it, but where responses keep coming meanwhile.
    """
    for _ in range(_TRIES):
        with snapshot_session() as reading:
            seen = found_survey(reading, slug)
            if seen.deleted:  # just now
                return []
            new = batches.make_anew(reading.connection(), seen, surveys.today())
        with _holding(slug) as (session, survey):
            if batches.put_in_place(session.connection(), survey, new):
                return _close_up(session, survey, new.found)
    with _holding(slug) as (session, survey):  # nothing arrives now
        if survey.deleted:
            return []
        return _close_up(session, survey, batches.rebuild(session, survey, surveys.today()))


@contextmanager
def _holding(slug: str) -> Iterator[tuple[Session, Survey]]:
    with database_session() as session:
        survey = found_survey(session, slug)
        session.refresh(survey, with_for_update=True)
        yield session, survey


def _close_up(session: Session, survey: Survey, found: Recount) -> list[dict[str, Any]]:
    if survey.state == State.CLOSED and not found.agrees:
        mark_untidied(session, survey.id)
    return _differences(session, survey, found)


def _document(session: Session, survey: Survey, found: Recount) -> dict[str, Any]:
    return {
        "survey": survey.slug,
        "agrees": found.agrees,
        "differences": _differences(session, survey, found),
        "deleted": False,
    }


def _differences(session: Session, survey: Survey, found: Recount) -> list[dict[str, Any]]:
    numbers = {version.id: version.number for version in survey.versions}
    paths = {node.stratum.id: node.path for node in strata.walk(strata.tree(session, survey))}
    said: list[dict[str, Any]] = [
        {
            "version": numbers[each.key.version_id],
            "stratum": None if each.key.stratum_id is None else paths[each.key.stratum_id],
            "not_counted": each.missing,
            "counted_without_response": each.surplus,
        }
        for each in found.differences
    ]
    if found.rows != found.counted:
        more = found.counted - found.rows
        everything = {"version": None, "stratum": None}
        said.append(everything | {"not_counted": max(-more, 0), "counted_without_response": max(more, 0)})
    return said


def _print(documents: list[dict[str, Any]]) -> None:
    rows = []
    for document in documents:
        if document["agrees"]:
            said = "rows deleted" if document["deleted"] else "agrees"
            rows.append([document["survey"], "-", "-", said, "-", "-"])
        rows.extend(
            [
                document["survey"],
                "total" if each["version"] is None else str(each["version"]),
                each["stratum"] or "-",
                "made anew",
                str(each["not_counted"]),
                str(each["counted_without_response"]),
            ]
            for each in document["differences"]
        )
    header = ["survey", "version", "stratum", "result", "not counted", "counted without response"]
    print_table(header, rows)
