"""Whether a response is stored, and taking it back, by its receipt alone and while its survey is open.

What was taken back is gone: its row is deleted, what counts it is made up for (`server.collect.batches.removing`), and
a mark, the hash of its receipt, keeps it out, should it be sent once more. The same mark stands in a list outside the
database (`server.collect.withdrawal_lists`), for a backup from before. The code that let it in stays used, and its
place under a cap taken: either would show that somebody took a response back.

A sheet of paper has no receipt. What stands in its place is made of its batch's name (`server.collect.paper_batches`),
which others may know or guess: by that nothing is told, and nothing taken back.
"""

from datetime import datetime

import sqlalchemy as sa

from server.collect import batches
from server.collect.batches import CellKey
from server.collect.responses.open_links import Links, ResponseLink, find
from server.collect.withdrawal_lists import Withdrawals, keep_withdrawals
from server.inputs import N_, refuse
from server.store.models import Mode, State, Survey
from server.store.outside_files import hash_name
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
    return _has_receipt(connection, _find_open(connection, slug, now).survey.id, response_id)


def take_back(connection: sa.Connection, slug: str, response_id: bytes, now: datetime) -> None:
    """Delete the response with this id, if it is stored; the caller commits. It makes no difference how often.

    On PostgreSQL, responses to the survey wait until that: none that is on its way is taken for another one than
    that which is deleted.

    Raises
    ------
    InputError
        As `is_stored`.
    OSError
        If the list outside the database cannot be written.
    """
    survey_id = _find_open(connection, slug, now).survey.id
    connection.execute(sa.select(Survey.id).where(Survey.id == survey_id).with_for_update(key_share=True))
    _find_open(connection, slug, now)  # it may have been closed meanwhile
    if _has_receipt(connection, survey_id, response_id) and _remove(connection, survey_id, response_id):
        connection.execute(sa.insert(withdrawals_of(survey_id)).values(id=response_id))
        keep_withdrawals(connection, survey_id)


def replay_withdrawals(connection: sa.Connection, withdrawals: Withdrawals) -> int:
    """Take back what lists name and a database does not know of, as it is an older one; the number of those.

    One that is not there, as it was sent after the backup, stays out as well, with its place under a cap. Of a survey
    that is closed, only what is there goes, and that where the backup closed it; the caller commits.
    """
    surveys = connection.execute(sa.select(Survey.id, Survey.slug).order_by(Survey.id)).all()
    return sum(
        _replay(connection, survey_id, withdrawals[hash_name(slug)])
        for survey_id, slug in surveys
        if hash_name(slug) in withdrawals
    )


def _replay(connection: sa.Connection, survey_id: int, listed: frozenset[bytes]) -> int:
    query = sa.select(Survey.state, Survey.incomplete).where(Survey.id == survey_id)
    survey = connection.execute(query.with_for_update(key_share=True)).one_or_none()
    if survey is None or (survey.state == State.CLOSED and not survey.incomplete):
        return 0
    marks, number = withdrawals_of(survey_id), batches.count_stored(connection, survey_id)
    missing = sorted(listed.difference(map(bytes, connection.scalars(sa.select(marks.c.id)))))
    if not missing:
        return 0
    gone = sum(_remove(connection, survey_id, response_id) for response_id in missing)
    if survey.state != State.CLOSED:
        connection.execute(sa.insert(marks), [{"id": response_id} for response_id in missing])
    batches.set_stored(connection, survey_id, number - gone)
    return gone if survey.state == State.CLOSED else len(missing)


def _has_receipt(connection: sa.Connection, survey_id: int, response_id: bytes) -> bool:
    """Whether this is the id of a stored response whose receipt a respondent has."""
    rows = responses_of(survey_id)
    there = rows.c.id == response_id, rows.c.mode == Mode.BROWSER
    return bool(connection.scalar(sa.select(sa.exists().where(*there))))


def _remove(connection: sa.Connection, survey_id: int, response_id: bytes) -> bool:
    """Delete the row of a response, and take it out of the books; whether there was one."""
    rows = responses_of(survey_id)
    held = rows.c.version_id, rows.c.stratum_id, rows.c.mode, rows.c.reports
    gone = connection.execute(sa.delete(rows).where(rows.c.id == response_id).returning(*held)).one_or_none()
    if gone is None:
        return False
    key = CellKey(gone.version_id, gone.stratum_id, gone.mode)
    batches.remove(connection, survey_id, key, [bytes(gone.reports)])
    return True


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
