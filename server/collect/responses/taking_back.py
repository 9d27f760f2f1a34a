"""Whether a response is stored, and taking it back, by its receipt alone and while its survey is open.

What was taken back is gone: its row is deleted, what counts it is made up for (`server.collect.batches.removing`), and
a mark, the hash of its receipt, keeps it out, should it be sent once more. The code that let it in stays used, and its
place under a cap taken: either would show that somebody took a response back.
"""

from datetime import datetime

import sqlalchemy as sa

from server.collect import batches
from server.collect.batches import CellKey
from server.collect.responses.open_links import Links, ResponseLink, find
from server.inputs import N_, refuse
from server.store.models import Survey
from server.store.own_tables import responses_of, withdrawals_of
from server.study import surveys
from server.study.surveys import Standing


def is_stored(connection: sa.Connection, slug: str, response_id: bytes, now: datetime) -> bool:
    """Whether the response with this id is stored: the hash of its receipt. The connection sees one moment.

    Raises
    ------
    InputError
        404 if the link leads nowhere, 410 if its survey is closed.
    """
    link = _find_open(connection, slug, now)
    rows = responses_of(link.survey.id)
    return bool(connection.scalar(sa.select(sa.exists().where(rows.c.id == response_id))))


def take_back(connection: sa.Connection, slug: str, response_id: bytes, now: datetime) -> None:
    """Delete the response with this id, if it is stored; the caller commits. It makes no difference how often.

    On PostgreSQL, responses to the survey wait until that: none that is on its way is taken for another one than
    that which is deleted.

    Raises
    ------
    InputError
        As `is_stored`.
    """
    survey_id = _find_open(connection, slug, now).survey.id
    connection.execute(sa.select(Survey.id).where(Survey.id == survey_id).with_for_update(key_share=True))
    _find_open(connection, slug, now)  # it may have been closed meanwhile
    rows, withdrawals = responses_of(survey_id), withdrawals_of(survey_id)
    held = rows.c.version_id, rows.c.stratum_id, rows.c.mode, rows.c.reports
    gone = connection.execute(sa.delete(rows).where(rows.c.id == response_id).returning(*held)).one_or_none()
    if gone is not None:
        connection.execute(sa.insert(withdrawals).values(id=response_id))
        key = CellKey(gone.version_id, gone.stratum_id, gone.mode)
        batches.remove(connection, survey_id, key, bytes(gone.reports))


def _find_open(connection: sa.Connection, slug: str, now: datetime) -> ResponseLink:
    """What a link leads to now: any link of the survey will do, also one that takes nothing new."""
    link = find(Links(locks=False).look_up(connection, {slug}), slug)
    if surveys.find_standing(link.survey, now) in (Standing.CLOSED, Standing.OVER):
        raise refuse(
            410,
            "survey",
            N_(
                "is closed: since then nothing leads from a receipt to a response, and none can be taken back"
            ),
        )
    return link
