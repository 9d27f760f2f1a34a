"""A tree of strata that is known as a whole -> the same tree in another survey."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from server.store.models import Stratum, Survey
from server.study import strata
from server.study.strata.populations import mark_populations
from server.study.strata.tree import check_populations


@dataclass(frozen=True)
class StratumCopy:
    """A stratum by the names down to it, with its population, if it is known, its link, whether its
    responses are among those of the one above it, its identity, if it has one already, and whether it says
    to be open or by invitation."""

    names: tuple[str, ...]
    population: int | None
    slug: str
    merged: bool = False
    identity: str = ""
    by_invitation: bool | None = None


def copy_tree(session: Session, survey: Survey, parts: Iterable[StratumCopy]) -> dict[int | None, int | None]:
    """Make the strata of a new survey, each after the one above it; the id of each by its number, from 1.

    Raises
    ------
    InputError
        On the path of a stratum whose population contradicts those of its parts.
    """
    made: dict[tuple[str, ...], Stratum] = {}
    for position, part in enumerate(parts):
        if part.population is not None:
            mark_populations(survey)
        made[part.names] = Stratum(
            survey_id=survey.id,
            position=position,
            name=part.names[-1],
            population=part.population,
            slug=part.slug,
            merged=part.merged,
            identity=part.identity or secrets.token_hex(16),
            by_invitation=part.by_invitation,
        )
    for depth in range(1, max(map(len, made), default=0) + 1):  # a stratum needs the id of the one above it
        for names, stratum in made.items():
            if len(names) == depth:
                stratum.parent_id = made[names[:-1]].id if depth > 1 else None
                session.add(stratum)
        session.flush()
    check_populations(strata.tree(session, survey))
    return {None: None, **{number: stratum.id for number, stratum in enumerate(made.values(), 1)}}
