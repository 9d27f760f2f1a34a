"""The invitations of an archive -> those of a new survey, unless another one here has them already."""

from collections.abc import Iterator, Sequence
from datetime import date

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.archive_reader import Archive
from server.archives.arriving import go_on
from server.archives.checking import Checked
from server.store.engines import TakingTurns
from server.store.models import InvitationBatch, Survey
from server.store.own_tables import invitations_of

_COPIES = 0x6D6F6E01
"""Of PostgreSQL's advisory locks, that of whoever imports what there may be once only."""
_PART = 2_000
"""Codes that are stored or removed at once."""


def store_codes(
    session: Session,
    survey: Survey,
    archive: Archive,
    checked: Checked,
    ids: dict[int | None, int | None],
    turns: TakingTurns,
) -> bool:
    """Store the invitations, in parts; False, and none of them, if one is known here already."""
    made = [
        InvitationBatch(
            survey_id=survey.id,
            stratum_id=ids[stated.get("stratum")],
            label=stated["label"],
            issued_on=date.fromisoformat(stated["issued_on"]),
            size=int(stated["size"]),
            withdrawn_on=date.fromisoformat(stated["withdrawn_on"]) if "withdrawn_on" in stated else None,
        )
        for stated in checked.manifest["batches"]
    ]
    session.add_all(made)
    session.flush()
    turns.give_way()
    for rows in checked.invitation_rows(archive):
        for start in range(0, len(rows), _PART):
            part = rows[start : start + _PART]
            go_on(session, survey)
            # Of two copies that come at the same moment, one sees the other: it has come as far, or further.
            hold_copies(session)
            if _known_elsewhere(session, survey, [code for code, _batch, _spent in part]):
                _remove(session, survey, turns)
                return False
            values = [
                {"code_hash": code, "batch_id": made[batch - 1].id, "spent": spent}
                for code, batch, spent in part
            ]
            session.execute(sa.insert(invitations_of(survey.id)), values)
            turns.after_a_part()
        turns.give_way()  # the next ones are read first
    return True


def hold_copies(session: Session) -> None:
    """Let others who import the same wait until the transaction ends. SQLite lets one write after the other."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sa.select(sa.func.pg_advisory_xact_lock(_COPIES)))


def _known_elsewhere(session: Session, survey: Survey, hashes: Sequence[bytes]) -> bool:
    return any(session.scalar(known) for known in _query_known(session, survey, hashes))


def _query_known(
    session: Session, survey: Survey, hashes: Sequence[bytes]
) -> Iterator[sa.Select[tuple[bool]]]:
    """Whether one of these codes lets somebody into another survey, for each that has any."""
    others = sa.select(InvitationBatch.survey_id).distinct().where(InvitationBatch.survey_id != survey.id)
    for other in session.scalars(others).all():
        yield sa.select(sa.exists().where(invitations_of(other).c.code_hash.in_(hashes)))


def _remove(session: Session, survey: Survey, turns: TakingTurns) -> None:
    """Take away what was stored before one was found that is known."""
    codes = invitations_of(survey.id)
    some = sa.select(codes.c.code_hash).order_by(codes.c.code_hash).limit(_PART)
    while session.scalar(sa.select(sa.exists().select_from(codes))):
        go_on(session, survey)
        session.execute(sa.delete(codes).where(codes.c.code_hash.in_(some)))
        turns.after_a_part()
    session.execute(sa.delete(InvitationBatch).where(InvitationBatch.survey_id == survey.id))
