"""Who may release from the copies of a survey, so that all of them together keep to one budget.

An archive gives its copy nothing, unless a right goes along: the whole, after which the original
releases nothing any more, or a part, which the original has lost from then on. A right names the server
that may take it, and is taken there once. Two servers whose operators change the files or databases can cheat.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.releases.plans.plan_reader import MOST_DELTA, MOST_EPSILON, format_decimal, parse_decimal
from server.releases.spending import Booked, sum_losses
from server.releases.spending_marks import check_not_restored, debit, mark_taken
from server.releases.values import Budget
from server.store.models import GivenRight, Server, State, Survey, TakenRight
from server.study import surveys

B = TypeVar("B", bound=Booked)
NOTHING = Decimal(0)


class MayRelease(StrEnum):
    """What a survey releases from: its own budget, a share of another copy's, or nothing (any more)."""

    OWN = "own"
    SHARE = "share"
    COPY = "copy"
    MOVED = "moved"


class RightKind(StrEnum):
    """What goes along with an archive."""

    NONE = "none"
    MOVE = "move"
    SHARE = "share"


@dataclass(frozen=True)
class Limits:
    """What the releases after the first `inherited` ones may lose together."""

    epsilon: Decimal
    delta: Decimal
    inherited: int


def limits_of(session: Session, survey: Survey, budget: Budget) -> Limits:
    """What a survey may release, after what it gave away."""
    if survey.may_release == MayRelease.SHARE:
        assert survey.share_epsilon is not None
        assert survey.share_delta is not None
        return Limits(Decimal(survey.share_epsilon), Decimal(survey.share_delta), survey.inherited)
    if survey.may_release != MayRelease.OWN:
        return Limits(NOTHING, NOTHING, survey.inherited)
    rights = list_given_rights(session, survey)
    epsilon = budget.epsilon - sum((Decimal(right.epsilon) for right in rights), NOTHING)
    return Limits(epsilon, budget.delta - sum((Decimal(right.delta) for right in rights), NOTHING), 0)


def check_may_release(survey: Survey) -> None:
    """Refuse to release from a survey that may not.

    Raises
    ------
    InputError
        409.
    """
    if survey.may_release == MayRelease.MOVED:
        raise refuse(409, "survey", N_("was moved to another server with all of its budget"))
    if survey.may_release == MayRelease.COPY:
        raise refuse(409, "survey", N_("is a copy that came without a right to release"))


def list_given_rights(session: Session, survey: Survey) -> Sequence[GivenRight]:
    """What went along with archives of a survey, oldest first."""
    query = sa.select(GivenRight).where(GivenRight.survey_id == survey.id)
    return session.scalars(query.order_by(GivenRight.made_at, GivenRight.token)).all()


def server_name(session: Session) -> str:
    """The name under which others give rights to this server."""
    return session.scalars(sa.select(Server.id)).one()


def give_right(
    session: Session,
    survey: Survey,
    kind: str,
    server: str,
    left: tuple[Decimal, Decimal] | None = None,
    epsilon: str = "",
    delta: str = "",
) -> GivenRight:
    """Debit a right that will go along with an archive. The caller holds the survey, and commits before it packs.

    Parameters
    ----------
    left : pair of Decimal or None
        Epsilon and delta that the survey may still lose; None without a budget.

    Raises
    ------
    InputError
        422 on `server`, `epsilon` or `delta`; 409 if the survey has no such right itself.
    """
    server = server.strip().lower()
    if len(server) != 32 or server.strip("0123456789abcdef"):
        template = N_(
            "must be the name that the other server shows where surveys are imported; it is %(value)s"
        )
        raise refuse(422, "server", template, value=shorten_value(server) or "-")
    if survey.state == State.DRAFT:
        raise refuse(409, "survey", N_("is a draft: it goes along without any right, and has none to give"))
    check_may_release(survey)
    check_not_restored(session, survey)
    if survey.may_release != MayRelease.OWN or (
        kind == RightKind.MOVE and list_given_rights(session, survey)
    ):
        template = N_("has only a part of its budget here, which cannot be given away or moved")
        raise refuse(409, "survey", template)
    lost = (NOTHING, NOTHING)
    if kind == RightKind.SHARE:
        if left is None:
            raise refuse(409, "budget", N_("must be set first"))
        lost = (
            parse_decimal(epsilon, "epsilon", NOTHING, min(MOST_EPSILON, left[0]), above=True),
            parse_decimal(delta or "0", "delta", NOTHING, min(MOST_DELTA, left[1])),
        )
    else:
        survey.may_release = MayRelease.MOVED
    right = GivenRight(
        token=secrets.token_hex(16),
        survey_id=survey.id,
        kind=kind,
        server=server,
        epsilon=format_decimal(lost[0]),
        delta=format_decimal(lost[1]),
        made_at=surveys.now(),
    )
    session.add(right)
    debit(session, survey)
    return right


def right_json(right: GivenRight | None) -> dict[str, Any]:
    """As an archive states it."""
    if right is None:
        return {"kind": str(RightKind.NONE)}
    names = ("kind", "token", "server", "epsilon", "delta")
    return {name: getattr(right, name) for name in names}


def take_right(session: Session, survey: Survey, document: dict[str, Any], releases: int) -> None:
    """Give a survey that came with an archive what it may release. Nobody else takes a right meanwhile.

    Raises
    ------
    InputError
        409 if the right is another server's, or was taken here before.
    """
    if survey.state == State.DRAFT:  # nobody answered it: it is a survey of its own
        survey.may_release = MayRelease.OWN
        return
    if document["kind"] == RightKind.NONE:
        survey.may_release = MayRelease.COPY
        return
    here = server_name(session)
    if document["server"] != here:
        template = N_("must have been given to this server, %(limit)s; it was given to %(value)s")
        raise refuse(409, "right", template, limit=here, value=document["server"])
    if session.get(TakenRight, document["token"]) is not None:
        raise refuse(409, "right", N_("must be new; a copy with the same right was imported here before"))
    session.add(TakenRight(token=document["token"]))
    mark_taken(session, survey, document["token"])
    survey.may_release = MayRelease.OWN if document["kind"] == RightKind.MOVE else MayRelease.SHARE
    if document["kind"] == RightKind.SHARE:
        survey.share_epsilon, survey.share_delta = document["epsilon"], document["delta"]
        survey.inherited = releases
    session.flush()


def spent_within(limits: Limits, neighbours: str, booked: Sequence[tuple[int, B]]) -> tuple[Decimal, Decimal]:
    """What counts against limits, of entries each with the number of its release."""
    return sum_losses(neighbours, [entry for number, entry in booked if number > limits.inherited])
