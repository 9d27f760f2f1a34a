"""Whether rows refer to what is there, and responses are counted as they are stored."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.due_deletions import list_unfinished
from server.collect import batches
from server.store.models import Base, InvitationBatch, Stratum, Survey, SurveyVersion
from server.store.own_tables import (
    batches_of,
    cells_of,
    invitations_of,
    removals_of,
    responses_of,
)


def check_references(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """No row refers to one that is not there, and none of a survey to something of another."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            for key in column.foreign_keys:
                both = {"survey_id"} & set(table.c.keys()) & set(key.column.table.c.keys())
                # By the columns that are asked for: an alias of the whole table takes longer to make than to ask.
                asked: list[sa.ColumnClause[Any]] = [sa.column(name) for name in {key.column.name, *both}]
                target = sa.table(key.column.table.name, *asked).alias()
                there = sa.exists().where(target.c[key.column.name] == column)
                lost = ~there
                if both:
                    lost = ~there.where(
                        sa.or_(table.c.survey_id.is_(None), target.c.survey_id == table.c.survey_id)
                    )
                yield from _count(session, table, sa.and_(column.is_not(None), lost), str(column))
    yield from _check_tree(session)
    unfinished = list_unfinished(session)  # of which rows go after what they refer to
    for survey_id in ids:
        if survey_id not in unfinished:
            yield from _check_own(session, survey_id)


def _check_tree(session: Session) -> Iterator[str]:
    above = {number: parent for number, parent in session.execute(sa.select(Stratum.id, Stratum.parent_id))}
    below: dict[int | None, list[int]] = {}
    for number, parent in above.items():
        below.setdefault(parent, []).append(number)
    reached = [*below.get(None, ())]
    for number in reached:  # which grows meanwhile
        reached += below.get(number, ())
    if len(reached) < len(above):
        yield f"{len(above) - len(reached)} strata are below none that is a survey's own"


def _check_own(session: Session, survey_id: int) -> Iterator[str]:
    version = sa.select(SurveyVersion.id).where(SurveyVersion.survey_id == survey_id)
    stratum = sa.select(Stratum.id).where(Stratum.survey_id == survey_id)
    batch = sa.select(InvitationBatch.id).where(InvitationBatch.survey_id == survey_id)
    cells = cells_of(survey_id)
    for rows in (responses_of(survey_id), cells):
        yield from _count(session, rows, rows.c.version_id.not_in(version), f"{rows.name}.version_id")
        lost = sa.and_(rows.c.stratum_id.is_not(None), rows.c.stratum_id.not_in(stratum))
        yield from _count(session, rows, lost, f"{rows.name}.stratum_id")
    invitations, sealed = invitations_of(survey_id), batches_of(survey_id)
    yield from _count(
        session, invitations, invitations.c.batch_id.not_in(batch), f"{invitations.name}.batch_id"
    )
    for rows in (sealed, removals_of(survey_id)):
        in_cells = rows.c.cell_id.not_in(sa.select(cells.c.id))
        yield from _count(session, rows, in_cells, f"{rows.name}.cell_id")


def _count(session: Session, table: sa.FromClause, lost: sa.ColumnElement[bool], name: str) -> Iterator[str]:
    number = session.scalar(sa.select(sa.func.count()).select_from(table).where(lost)) or 0
    if number:
        yield f"{number} rows refer by {name} to what is not there"


def check_counts(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """What is shown of each survey agrees with its stored responses; `recount` puts right what does not."""
    unfinished = list_unfinished(session)
    for survey_id in ids:
        survey = session.get_one(Survey, survey_id)
        rows = responses_of(survey_id)
        for version in survey.versions:
            other_length = sa.func.length(rows.c.reports) != len(version.reports)
            wrong = sa.and_(rows.c.version_id == version.id, other_length)
            if session.scalar(sa.select(sa.exists().where(wrong))):
                yield f"survey {survey.slug}: responses have another number of reports than their version"
                break
        else:
            if survey.arriving_until is not None:
                continue  # nobody sees it yet, and what is counted comes last
            if (
                survey.deleted
                and survey_id not in unfinished
                and session.scalar(sa.select(sa.exists().select_from(rows)))
            ):
                yield f"survey {survey.slug}: there are responses, whose rows were deleted as their days were over"
            if (
                survey.versions
                and not survey.deleted
                and not batches.recount(session.connection(), survey_id).agrees
            ):
                yield f"survey {survey.slug}: what is counted differs from the stored responses; see `recount`"
            if wrong_batches := sum(batches.count_wrong_sums(session, each) for each in survey.versions):
                yield f"survey {survey.slug}: {wrong_batches} batches have sums that are not those of what they hold"
