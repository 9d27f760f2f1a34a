"""Adding strata, one or two thousand at once, all of them or none."""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.store.models import InvitationBatch, Stratum, Survey
from server.store.own_tables import responses_of
from server.study.smallest_group import hides_responses
from server.study.strata.populations import mark_populations
from server.study.strata.tree import (
    DEEPEST,
    MOST_STRATA,
    Node,
    check_large_enough,
    check_populations,
    same_name,
    tree,
    walk,
)
from server.study.strata.typed_lines import StratumLine
from server.study.surveys import new_slug
from server.study.ticket_keys import check_links_stay

_Key = tuple[str, ...]


def list_used(session: Session, survey: Survey) -> set[int]:
    """The ids of strata whose links may have let responses in, or were given invitations.

    While the survey is open that is each that has a link: what may be done with one must not tell
    whether anybody has answered there. So it is where responses were deleted, and nobody knows any more.
    """
    answered: sa.ColumnElement[bool] = Stratum.id.in_(sa.select(responses_of(survey.id).c.stratum_id))
    if hides_responses(survey) or survey.deleted:
        part = sa.orm.aliased(Stratum)
        answered = ~sa.exists().where(part.parent_id == Stratum.id)
    invited = sa.exists().where(InvitationBatch.stratum_id == Stratum.id)
    return set(
        session.scalars(sa.select(Stratum.id).where(Stratum.survey_id == survey.id, answered | invited))
    )


def add_strata(
    session: Session, survey: Survey, lines: Iterable[StratumLine], under: Node | None = None
) -> int:
    """Add strata by their paths, `under` another one or right under the survey; how many are new.

    What is missing on the way is added too. A line for a stratum that is there already gives it
    a population; without one it is refused.

    Raises
    ------
    InputError
        On `lines[number]`, if a stratum is there already, too deep, or below one that has
        responses or invitations; on `strata` if there would be too many; on the path of a
        stratum whose population is not the sum of its parts, or below the survey's minimum.
    """
    there = {_key(node.names): node.stratum for node in walk(tree(session, survey))}
    growing = _Growing(survey, there, list_used(session, survey))
    counted: set[_Key] = set()
    for line in lines:
        names = (*(under.names if under else ()), *line.names)
        stratum = growing.reach(names, f"lines[{line.number}]")
        if line.population is not None:
            if stratum.population != line.population:
                mark_populations(survey)
            stratum.population = line.population
            counted.add(_key(names))
        elif _key(names) in there:
            template = N_("is there already; give it a population, or leave it out")
            raise refuse(422, f"lines[{line.number}]", template)
    if len(growing.known) > MOST_STRATA:
        template = N_("must be at most %(limit)s in one survey; it has %(length)s")
        raise refuse(422, "strata", template, limit=MOST_STRATA, length=len(growing.known))
    new = [key for key in growing.known if key not in there]
    if new:
        check_links_stay(survey)
    for depth in range(1, DEEPEST + 1):  # a stratum needs the id of the one above it
        level = [key for key in new if len(key) == depth]
        for key in level:
            growing.known[key].parent_id = growing.known[key[:-1]].id if depth > 1 else None
        session.add_all(growing.known[key] for key in level)
        session.flush()
    check_populations(made := tree(session, survey))
    check_large_enough((node for node in walk(made) if _key(node.names) in counted), survey.minimum)
    return len(new)


class _Growing:
    """The strata by their names, those to be added among them."""

    def __init__(self, survey: Survey, there: dict[_Key, Stratum], taken: set[int]) -> None:
        self.survey = survey
        self.known = dict(there)
        self.taken = taken
        self.last: dict[_Key, int] = {}
        for key, stratum in there.items():
            self.last[key[:-1]] = max(stratum.position, self.last.get(key[:-1], 0))

    def reach(self, names: tuple[str, ...], field: str) -> Stratum:
        """The stratum at a path; what is missing down to it is added at the end of its level."""
        if len(names) > DEEPEST:
            template = N_("must be at most %(limit)s levels deep; it has %(length)s")
            raise refuse(422, field, template, limit=DEEPEST, length=len(names))
        key = _key(names)
        for depth in range(1, len(names) + 1):
            if key[:depth] in self.known:
                continue
            above = key[: depth - 1]
            if above and self.known[above].id in self.taken:
                template = N_(
                    "must not be below “%(stratum)s”, whose link has invitations or may have let responses in"
                )
                raise refuse(409, field, template, stratum=self.known[above].name)
            self.last[above] = self.last.get(above, -1) + 1
            self.known[key[:depth]] = Stratum(
                survey_id=self.survey.id, position=self.last[above], name=names[depth - 1], slug=new_slug()
            )
        return self.known[key]


def _key(names: tuple[str, ...]) -> _Key:
    return tuple(map(same_name, names))
