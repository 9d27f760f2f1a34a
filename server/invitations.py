"""Invitations: codes that let one response in each. Functions take a Session or a connection and never commit.

Only the hash of a code is kept, and whether it was used. A code has 80 random bits, so that its hash
cannot be turned back by trying.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import CODE_ALPHABET, CODE_LENGTH, N_, refuse, shown
from server.inputs import normalised as normalised
from server.models import Invitation, InvitationBatch, State, Stratum, Survey
from server.surveys import today

SIZE_LIMIT = 100_000
"""Of codes in a batch."""
LABEL_LIMIT = 200
"""Of characters in the label of a batch."""

_CODES = (
    sa.select(Invitation.code_hash, Invitation.spent, InvitationBatch.survey_id, InvitationBatch.stratum_id)
    .join(InvitationBatch, Invitation.batch_id == InvitationBatch.id)
    .where(Invitation.code_hash.in_(sa.bindparam("hashes", expanding=True)))
    # On PostgreSQL, of two responses with one code the second waits until it is known what became of the first.
    .order_by(Invitation.code_hash)
    .with_for_update(of=Invitation, key_share=True)
)
_SPEND = (
    sa.update(Invitation)
    .where(Invitation.code_hash.in_(sa.bindparam("hashes", expanding=True)))
    .values(spent=True)
)


@dataclass(frozen=True)
class Issued:
    """A batch as researchers see it.

    Attributes
    ----------
    used : int
        At least so many codes were used: a multiple of some number that is as large as the survey's
        minimum or larger, 0 below it, and never so near to all of them that it told who did not
        answer. An exact number, subtracted from that of the responses, could tell a smaller one.
    step : int
        That number.
    """

    batch: InvitationBatch
    used: int
    step: int


@dataclass(frozen=True)
class Code:
    """What is known of a code: the link it was issued for, and whether it was used."""

    survey_id: int
    stratum_id: int | None
    spent: bool


def issue(
    session: Session, survey: Survey, stratum: Stratum | None, size: int, label: str
) -> tuple[InvitationBatch, list[str]]:
    """A new batch for the survey's own link or a stratum's, and its codes, which exist nowhere else.

    Raises
    ------
    InputError
        If the size or the label is out of range, the survey closed, or the stratum has parts.
    """
    if not 1 <= size <= SIZE_LIMIT:
        raise refuse(
            422,
            "size",
            N_("must be from %(low)s to %(high)s; it is %(value)s"),
            low=1,
            high=SIZE_LIMIT,
            value=size,
        )
    label = " ".join(label.split())
    if not 1 <= len(label) <= LABEL_LIMIT or not label.isprintable():
        raise refuse(
            422,
            "label",
            N_("must have 1 to %(limit)s characters, in one line; it is %(value)s"),
            limit=LABEL_LIMIT,
            value=shown(label) or "-",
        )
    if survey.state == State.CLOSED:
        raise refuse(409, "survey", N_("takes no responses any more; it is closed"))
    if stratum is not None and (stratum.survey_id != survey.id or _has_parts(session, stratum)):
        raise refuse(422, "stratum", N_("must be one of this survey without parts of its own"))
    batch = InvitationBatch(
        survey_id=survey.id,
        stratum_id=None if stratum is None else stratum.id,
        label=label,
        issued_on=today(),
        size=size,
    )
    session.add(batch)
    session.flush()
    codes = ["".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH)) for _ in range(size)]
    rows = [{"code_hash": key, "batch_id": batch.id, "spent": False} for key in sorted(map(code_hash, codes))]
    session.execute(sa.insert(Invitation), rows)
    return batch, [grouped(code) for code in codes]


def batches(session: Session, survey: Survey) -> list[Issued]:
    """The batches of a survey, newest first."""
    used = sa.func.count().filter(Invitation.spent)
    query = (
        sa.select(InvitationBatch, used)
        .outerjoin(Invitation, Invitation.batch_id == InvitationBatch.id)
        .where(InvitationBatch.survey_id == survey.id)
        .group_by(*InvitationBatch.__table__.c)
        .order_by(InvitationBatch.id.desc())
    )
    step = _step(survey.minimum)
    return [
        Issued(batch, max(min(number, batch.size - step), 0) // step * step, step)
        for batch, number in session.execute(query)
    ]


def _step(minimum: int) -> int:
    """The smallest of 3, 6, 12, 24, ... that is not below the minimum.

    Each is a multiple of those before it: who raises the minimum learns nothing that was not shown before.
    """
    step = min(minimum, 3)
    while step < minimum:
        step *= 2
    return step


def withdraw(session: Session, batch: InvitationBatch) -> None:
    """Let the codes of a batch that were not used let nobody in any more: they are deleted."""
    session.execute(sa.delete(Invitation).where(Invitation.batch_id == batch.id, ~Invitation.spent))
    batch.withdrawn_on = batch.withdrawn_on or today()


def grouped(code: str) -> str:
    """A code in its normal form as it is shown and printed: in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def code_hash(code: str) -> bytes:
    """What is kept of a code in its normal form."""
    return hashlib.sha256(code.encode("ascii")).digest()


def look_up(connection: sa.Connection, codes: Iterable[str | None]) -> dict[str, Code]:
    """What is known of codes in their normal form; nothing of those that were never issued, or withdrawn.

    On PostgreSQL, locks them until the transaction ends.
    """
    asked = {code_hash(code): code for code in codes if code is not None}
    if not asked:
        return {}
    rows = connection.execute(_CODES, {"hashes": list(asked)})
    return {asked[bytes(key)]: Code(survey, stratum, spent) for key, spent, survey, stratum in rows}


def check(
    codes: Mapping[str, Code], code: str | None, survey: Survey | sa.Row[Any], stratum_id: int | None
) -> None:
    """Hold the code of a response against the link it came by.

    Raises
    ------
    InputError
        If the survey is by invitation and there is no code, or one of no use; if it is not, and there is one.
    """
    if not survey.by_invitation:
        if code is not None:
            raise refuse(422, "invitation", N_("must be left out; this survey takes no codes"))
        return
    if code is None:
        raise refuse(422, "invitation", N_("is required"))
    found = codes.get(code)
    # The same words for every other link: whoever holds a code learns nothing about where it belongs.
    if found is None or (found.survey_id, found.stratum_id) != (survey.id, stratum_id):
        raise refuse(422, "invitation", N_("must be one that was issued for this link; it is not"))
    if found.spent:
        raise refuse(409, "invitation", N_("must be new; this one was used already"))


def spend(connection: sa.Connection, codes: Sequence[str]) -> None:
    """Mark codes as used."""
    if codes:
        connection.execute(_SPEND, {"hashes": sorted(map(code_hash, codes))})


def _has_parts(session: Session, stratum: Stratum) -> bool:
    return bool(session.scalar(sa.select(sa.exists().where(Stratum.parent_id == stratum.id))))
