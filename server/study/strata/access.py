"""Which links ask for a code. Whatever needs to know asks here.

A stratum is open, is by invitation, or says nothing: then it is as the one above it, and right under the
survey as the survey is. The survey's own link is always as the survey. Functions never commit.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, InputError, refuse, shorten_value
from server.store.models import State, Stratum, Survey
from server.study.strata.renewing import renew_links
from server.study.strata.tree import StratumProblem, tree, walk
from server.study.ticket_keys import check_links_stay

Link = int | None
"""The id of a stratum, or the survey's own link."""

_STRATA = Stratum.__table__
_ABOVE, _PART = _STRATA.alias("above"), _STRATA.alias("part")
_CHOICES: Mapping[str, bool | None] = {"": None, "open": False, "invited": True}


@dataclass(frozen=True)
class AccessChange:
    """What a stratum says now, other than before."""

    path: str
    says: bool | None


@dataclass(frozen=True)
class Switched:
    """Working links that ask for a code since a change, and that ask for none any more."""

    on: frozenset[Link]
    off: frozenset[Link]


def asks_for_code(whole: bool, nearest: bool | None) -> bool:
    """Whether a link does: `whole` is what the survey says, `nearest` what its stratum or the nearest above says."""
    return whole if nearest is None else nearest


def find_stated(connection: sa.Connection, strata: Collection[int]) -> dict[Link, bool | None]:
    """By the ids of strata, what these or the nearest above them say; None where only the survey does."""
    return _read(connection, _STRATA.c.id.in_(strata)) if strata else {}


def invited_links(session: Session, survey: Survey, whole: bool | None = None) -> frozenset[Link]:
    """The working links of a survey that ask for a code, or that would if the survey said `whole`."""
    said = survey.by_invitation if whole is None else whole
    leaf = ~sa.exists().where(_PART.c.parent_id == _STRATA.c.id)
    stated: dict[Link, bool | None] = {None: None}
    stated |= _read(session.connection(), (_STRATA.c.survey_id == survey.id) & leaf)
    return frozenset(link for link, says in stated.items() if asks_for_code(said, says))


def following_links(session: Session, survey: Survey) -> frozenset[Link]:
    """The working links that are as the survey is: those that switching the whole survey touches."""
    return invited_links(session, survey, whole=True) - invited_links(session, survey, whole=False)


def is_invited(session: Session, survey: Survey, stratum: Stratum | None) -> bool:
    """Whether a link asks for a code: that of a stratum, or the survey's own."""
    stated = {} if stratum is None else find_stated(session.connection(), [stratum.id])
    return asks_for_code(survey.by_invitation, None if stratum is None else stated[stratum.id])


def switch(session: Session, survey: Survey, change: Callable[[], None]) -> Switched:
    """Make a change of what survey or strata say, whichever it is, and find the links that it has switched.

    Everything that switches links of a survey does so through here. Once it was published, those that ask for a code
    now are replaced: nobody slips in by one that was handed out before.
    """
    session.flush()
    before = invited_links(session, survey)
    change()
    session.flush()
    after = invited_links(session, survey)
    switched = Switched(after - before, before - after)
    if survey.versions:
        renew_links(session, survey, switched.on)
    return switched


def change_access(session: Session, survey: Survey, typed: Mapping[int, str]) -> list[AccessChange]:
    """Let strata, by their ids, say what was typed; those that say something else now.

    Raises
    ------
    InputError
        On the path of each stratum whose field is refused; 404 for an unknown one, 409 if the survey is closed.
    """
    nodes = {node.stratum.id: node for node in walk(tree(session, survey))}
    if not nodes.keys() >= typed.keys():
        raise refuse(404, "stratum", N_("is not known; load the page again"))
    problems: list[StratumProblem] = []
    changed: list[AccessChange] = []
    for number, text in typed.items():
        node = nodes[number]
        try:
            says = parse_access(text)
        except InputError as error:
            problems += [
                StratumProblem(node.path, each.template, each.values, f"{each.field}.{number}")
                for each in error.problems
            ]
            continue
        if says is not node.stratum.by_invitation:
            changed.append(AccessChange(node.path, says))
    if problems:
        raise InputError(422, problems)
    if not changed:
        return []
    if survey.state == State.CLOSED:
        raise refuse(409, "state", N_("must not be closed; a closed survey stays closed"))
    check_links_stay(survey)

    def write() -> None:
        for number, text in typed.items():
            nodes[number].stratum.by_invitation = parse_access(text)

    switch(session, survey, write)
    return changed


def parse_access(text: str) -> bool | None:
    """What a stratum says, as a form holds it: by invitation, open, or nothing.

    Raises
    ------
    InputError
        On the field `access`.
    """
    if text not in _CHOICES:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(
            422, "access", template, limit=", ".join(filter(None, _CHOICES)), value=shorten_value(text)
        )
    return _CHOICES[text]


def write_access(says: bool | None) -> str:
    """As `parse_access` reads it."""
    return next(text for text, meant in _CHOICES.items() if meant is says)


def _read(connection: sa.Connection, which: sa.ColumnElement[bool]) -> dict[Link, bool | None]:
    """Upwards from each until one says something, or there is none above."""
    # Of tables, joined where it is said: nothing is left to infer of a statement that several threads make first.
    way = (
        sa.select(_STRATA.c.id.label("link"), _STRATA.c.parent_id, _STRATA.c.by_invitation)
        .where(which)
        .cte("way", recursive=True)
    )
    further = sa.select(way.c.link, _ABOVE.c.parent_id, _ABOVE.c.by_invitation).select_from(
        way.join(_ABOVE, _ABOVE.c.id == way.c.parent_id)
    )
    way = way.union_all(further.where(way.c.by_invitation.is_(None)))
    ends = way.c.by_invitation.is_not(None) | way.c.parent_id.is_(None)
    return {
        link: says
        for link, says in connection.execute(sa.select(way.c.link, way.c.by_invitation).where(ends))
    }
