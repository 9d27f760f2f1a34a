"""Revisions: a number for each survey that the database raises with every change of what its links show.

Triggers raise it, so that no code can forget to: on surveys, their versions and their strata. A cap that
fills is the one change that no such row tells of; `raise_revisions` stands for it.
"""

from collections.abc import Collection

import sqlalchemy as sa

from server.store.models import Revision
from server.store.prepared import Prepared

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


def raise_revisions(connection: sa.Connection, survey_ids: Collection[int]) -> None:
    """Note a change of what the links of surveys show."""
    connection.execute(_RAISE, {"ids": list(survey_ids)})
