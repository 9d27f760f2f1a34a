"""Invitations: codes that let one response in each. Functions take a Session or a connection and never commit.

Only the hash of a code is kept, and whether it was used. A code has 80 random bits, so that its hash
cannot be turned back by trying.
"""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.untidied import mark_untidied
from server.inputs import CODE_ALPHABET, CODE_LENGTH, N_, refuse, shorten_value
from server.inputs import normalise_code as normalise_code
from server.store.models import InvitationBatch, State, Stratum, Survey
from server.store.own_tables import group_by_survey, invitations_of
from server.store.prepared import Prepared, give_several, is_one_of, prepare_several
from server.study import strata
from server.study.surveys import today

HASH_LENGTH = hashlib.sha256().digest_size
SIZE_LIMIT = 100_000
"""Of codes in a batch."""
LABEL_LIMIT = 200
"""Of characters in the label of a batch."""


@dataclass(frozen=True)
class Issued:
    """A batch as researchers see it.

    Attributes
    ----------
    used : int
        At least so many codes were used: a multiple of some number that is as large as the survey's
        minimum or larger, 0 below it, and never so near to all of them that it told who did not
        answer. An exact number, subtracted from that of the responses, could tell a smaller one;
        where it cannot, once the survey is closed, see `reports.used_codes`.
    step : int
        That number.
    """

    batch: InvitationBatch
    used: int
    step: int


@dataclass(frozen=True)
class Code:
    """What is known of a code of a survey: the link it was issued for, and whether it was used."""

    stratum_id: int | None
    spent: bool


def issue(
    session: Session, survey: Survey, stratum: Stratum | None, size: int, label: str
) -> tuple[InvitationBatch, list[str]]:
    """A new batch for the survey's own link or a stratum's, and its codes, which exist nowhere else.

    Raises
    ------
    InputError
        If the size or the label is out of range, the survey closed, the stratum has parts, or the link
        asks for no code.
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
            value=shorten_value(label) or "-",
        )
    if survey.state == State.CLOSED:
        raise refuse(409, "survey", N_("takes no responses any more; it is closed"))
    if stratum is not None and (stratum.survey_id != survey.id or _has_parts(session, stratum)):
        raise refuse(422, "stratum", N_("must be one of this survey without parts of its own"))
    if not strata.is_invited(session, survey, stratum):
        raise refuse(
            409, "stratum", N_("must be by invitation; at the moment everybody who has this link may answer")
        )
    batch = InvitationBatch(
        survey_id=survey.id,
        stratum_id=None if stratum is None else stratum.id,
        label=label,
        issued_on=today(),
        size=size,
    )
    session.add(batch)
    session.flush()
    return batch, _write_codes(session, batch, size)


def check_new_label(session: Session, survey: Survey, label: str) -> None:
    """Hold a label to be no other batch's: a page that is loaded again issues nothing twice.

    Raises
    ------
    InputError
        409.
    """
    if any(issued.batch.label == label for issued in batches(session, survey)):
        template = N_("must be new, so that no batch is issued twice; it is %(value)s")
        raise refuse(409, "label", template, value=shorten_value(label))


def find_batch(session: Session, survey: Survey, number: int) -> InvitationBatch:
    """A batch of this survey by its id; another survey's does not exist.

    Raises
    ------
    InputError
        404 if there is none.
    """
    # A database takes a number that is too large for an error.
    found = session.get(InvitationBatch, number) if 0 < number < 2**31 else None
    if found is None or found.survey_id != survey.id:
        raise refuse(404, "batch", N_("is not known; load the page again"))
    return found


def issue_more(session: Session, batch: InvitationBatch, size: int) -> list[str]:
    """So many codes more of a batch, which grows by them."""
    batch.size += size
    return _write_codes(session, batch, size)


def batches(session: Session, survey: Survey) -> list[Issued]:
    """The batches of a survey, newest first."""
    step = _step(survey.minimum)
    return [
        Issued(batch, count_in_steps(used, batch.size, survey.minimum), step)
        for batch, used in count_used_codes(session, survey)
    ]


def count_in_steps(used: int, issued: int, minimum: int) -> int:
    """How many codes were used at least, as it is told (`Issued`)."""
    step = _step(minimum)
    return max(min(used, issued - step), 0) // step * step


def count_used_codes(session: Session, survey: Survey) -> list[tuple[InvitationBatch, int]]:
    """The batches, newest first, each with exactly how many of its codes were used: not to be shown as it is."""
    rows = invitations_of(survey.id).c
    query = sa.select(rows.batch_id, sa.func.count()).where(rows.spent).group_by(rows.batch_id)
    used = {batch: number for batch, number in session.execute(query)}
    issued = session.scalars(
        sa.select(InvitationBatch)
        .where(InvitationBatch.survey_id == survey.id)
        .order_by(InvitationBatch.id.desc())
    )
    return [(batch, used.get(batch.id, 0)) for batch in issued]


def count_issued_codes(session: Session, survey: Survey) -> int | None:
    """How many were issued in all batches, those that were withdrawn included; None where none was."""
    query = sa.select(sa.func.sum(InvitationBatch.size)).where(InvitationBatch.survey_id == survey.id)
    return session.scalar(query)


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
    survey = session.get_one(Survey, batch.survey_id)
    codes = invitations_of(survey.id)
    session.execute(sa.delete(codes).where(codes.c.batch_id == batch.id, ~codes.c.spent))
    if survey.state == State.CLOSED:
        mark_untidied(session, survey.id)
    batch.withdrawn_on = batch.withdrawn_on or today()


def group_letters(code: str) -> str:
    """A code in its normal form as it is shown and printed: in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def code_hash(code: str) -> bytes:
    """What is kept of a code in its normal form."""
    return hashlib.sha256(code.encode("ascii")).digest()


def look_up(
    connection: sa.Connection, codes: Iterable[tuple[int, str | None]], *, locks: bool = True
) -> dict[tuple[int, str | None], Code]:
    """What is known of codes in their normal form, each with the id of the survey that it was sent to.

    Nothing of those that were never issued for that survey, or withdrawn. On PostgreSQL, locks them
    until the transaction ends; one that only reads may not.
    """
    found: dict[tuple[int, str | None], Code] = {}
    dialect = connection.dialect.name
    for survey_id, sent in group_by_survey((survey, code) for survey, code in codes if code is not None):
        asked = {code_hash(code): code for code in sent}
        values = {"hashes": give_several(dialect, list(asked))}
        for hashes, spent, stratum in _codes(survey_id, dialect, locks).fetch(connection, values):
            code = Code(stratum, bool(spent))
            for start in range(0, len(hashes), HASH_LENGTH):
                found[survey_id, asked[hashes[start : start + HASH_LENGTH]]] = code
    return found


def check(found: Code | None, code: str | None, invited: bool, stratum_id: int | None) -> None:
    """Hold the code of a response, and what is known of it, against the link it came by.

    Raises
    ------
    InputError
        If the link asks for a code (`invited`) and there is none, or one of no use; if it does not, and there is one.
    """
    if not invited:
        if code is not None:
            raise refuse(410, "invitation", N_("must be left out; this link takes no codes"))
        return
    if code is None:
        raise refuse(422, "invitation", N_("is required"))
    # The same words for every other link: whoever holds a code learns nothing about where it belongs.
    if found is None or found.stratum_id != stratum_id:
        raise refuse(422, "invitation", N_("must be one that was issued for this link; it is not"))
    if found.spent:
        raise refuse(409, "invitation", N_("must be new; this one was used already"))


def spend(connection: sa.Connection, codes: Iterable[tuple[int, str]]) -> None:
    """Mark codes as used, each with the id of its survey."""
    for survey_id, sent in group_by_survey(codes):
        hashes = give_several(connection.dialect.name, sorted(map(code_hash, sent)))
        _spending(survey_id, connection.dialect.name).run(connection, {"hashes": hashes})


def write_spending(survey_id: int, dialect: str) -> sa.Update:
    """A statement, or a part of one, that marks those codes as used whose `hashes` it is given."""
    codes = invitations_of(survey_id)
    wanted = is_one_of(dialect, codes.c.code_hash, "hashes", HASH_LENGTH)
    return sa.update(codes).where(wanted).values(spent=True)


@lru_cache(maxsize=1024)
def _codes(survey_id: int, dialect: str, locks: bool) -> Prepared:
    codes = invitations_of(survey_id)
    query = (
        sa.select(codes.c.code_hash, codes.c.spent, InvitationBatch.stratum_id)
        .join(InvitationBatch, codes.c.batch_id == InvitationBatch.id)
        .where(is_one_of(dialect, codes.c.code_hash, "hashes", HASH_LENGTH))
        .order_by(codes.c.code_hash)
    )
    if locks:
        # On PostgreSQL, of two responses with one code the second waits until it is known what became of the first.
        query = query.with_for_update(of=codes, key_share=True)
    if dialect == "postgresql":  # whose driver takes longer over many rows than over long ones
        rows = query.cte("found").c
        none = sa.literal_column("''::bytea", sa.LargeBinary)
        together = sa.func.string_agg(rows.code_hash, none, type_=sa.LargeBinary)
        return Prepared(
            sa.select(together, rows.spent, rows.stratum_id).group_by(rows.spent, rows.stratum_id)
        )
    return prepare_several(dialect, query, "hashes")


@lru_cache(maxsize=1024)
def _spending(survey_id: int, dialect: str) -> Prepared:
    return prepare_several(dialect, write_spending(survey_id, dialect), "hashes")


def _write_codes(session: Session, batch: InvitationBatch, size: int) -> list[str]:
    """Make codes and keep their hashes; the codes as they are printed."""
    codes = ["".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH)) for _ in range(size)]
    rows = [{"code_hash": key, "batch_id": batch.id, "spent": False} for key in sorted(map(code_hash, codes))]
    session.execute(sa.insert(invitations_of(batch.survey_id)), rows)
    return [group_letters(code) for code in codes]


def _has_parts(session: Session, stratum: Stratum) -> bool:
    return bool(session.scalar(sa.select(sa.exists().where(Stratum.parent_id == stratum.id))))
