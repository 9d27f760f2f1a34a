"""Batches of invitations: codes issued together, counted as used in steps, and withdrawn. Functions never commit."""

import secrets
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.response_codes import HASH_LENGTH, code_hash, group_letters
from server.collect.untidied_surveys import mark_untidied
from server.inputs import CODE_ALPHABET, CODE_LENGTH, N_, refuse, shorten_value
from server.store.models import InvitationBatch, State, Stratum, Survey
from server.store.own_tables import invitations_of
from server.store.prepared_statements import pick_piece
from server.study import strata
from server.study.surveys import today

SIZE_LIMIT = 100_000
"""Of codes in a batch."""
LABEL_LIMIT = 200
"""Of characters in the label of a batch."""
_LETTERS = CODE_ALPHABET.encode() * (256 // len(CODE_ALPHABET))
"""A letter for each byte, each letter for as many: there are 32."""


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


def _write_codes(session: Session, batch: InvitationBatch, size: int) -> list[str]:
    """Make codes and keep their hashes; the codes as they are printed."""
    codes = draw_codes(size)
    # In one statement: others wait, and of a hundred thousand rows most of the time would go into handing them over.
    last = sa.literal(size - 1)
    places = sa.select(sa.literal(0).label("place")).cte("places", recursive=True)
    places = places.union_all(sa.select(places.c.place + 1).where(places.c.place < last))
    rows = invitations_of(batch.survey_id)
    hashes = pick_piece("hashes", HASH_LENGTH, places.c.place)
    given = sa.select(hashes, sa.literal(batch.id), sa.literal(False)).select_from(places)
    insert = sa.insert(rows).from_select([rows.c.code_hash, rows.c.batch_id, rows.c.spent], given)
    session.execute(insert, {"hashes": b"".join(sorted(map(code_hash, codes)))})
    return [group_letters(code) for code in codes]


def draw_codes(size: int) -> list[str]:
    """Codes in their normal form. All are drawn at once, as others wait: one letter at a time took most of the time."""
    letters = secrets.token_bytes(size * CODE_LENGTH).translate(_LETTERS).decode()
    return [letters[start : start + CODE_LENGTH] for start in range(0, len(letters), CODE_LENGTH)]


def _has_parts(session: Session, stratum: Stratum) -> bool:
    return bool(session.scalar(sa.select(sa.exists().where(Stratum.parent_id == stratum.id))))
