"""Revisions: a number for each survey that the database raises with every change of what its links show.

Triggers raise it, so that no code can forget to: on surveys, their versions and their strata. A cap that
fills is the one change that no such row tells of; `raise_revisions` stands for it.
"""

from collections.abc import Collection
from functools import lru_cache

import sqlalchemy as sa

from server.store.models import Revision, Survey
from server.store.prepared_statements import Prepared, fetch_script, write_script

# Written once: building these takes longer than running them.
_READ = Prepared(
    sa.select(Revision.survey_id, Revision.number).where(
        Revision.survey_id.in_(sa.bindparam("ids", expanding=True))
    ),
    expanding="ids",
)
_RAISE = (
    sa.update(Revision)
    .where(Revision.survey_id.in_(sa.bindparam("ids", expanding=True)))
    .values(number=Revision.number + 1)
)


def read_revisions(connection: sa.Connection, survey_ids: Collection[int]) -> dict[int, int]:
    """The revisions of surveys; those that were deleted are left out."""
    if not survey_ids:
        return {}
    return {survey_id: number for survey_id, number in _READ.fetch(connection, {"ids": list(survey_ids)})}


def lock_surveys(connection: sa.Connection, survey_ids: Collection[int]) -> dict[int, int]:
    """As `read_revisions`; on PostgreSQL, lock the surveys before, in the order of their ids.

    Whoever closes or changes a survey waits for responses on their way in, and they for him: nothing arrives after it.
    They do not wait for each other.
    """
    if not survey_ids or connection.dialect.name == "sqlite":  # which lets one write after the other
        return read_revisions(connection, survey_ids)
    _locked, revisions = fetch_script(connection, _write_locking(tuple(sorted(survey_ids))))
    return dict(revisions)


@lru_cache(maxsize=1024)
def _write_locking(survey_ids: tuple[int, ...]) -> str:
    lock = (
        sa.select(Survey.id).where(Survey.id.in_(survey_ids)).order_by(Survey.id).with_for_update(read=True)
    )
    read = sa.select(Revision.survey_id, Revision.number).where(Revision.survey_id.in_(survey_ids))
    return write_script([lock, read])


def raise_revisions(connection: sa.Connection, survey_ids: Collection[int]) -> None:
    """Note a change of what the links of surveys show."""
    connection.execute(_RAISE, {"ids": list(survey_ids)})
