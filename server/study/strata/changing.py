"""Renaming, counting, moving and removing strata."""

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, InputError, refuse
from server.store.models import Stratum, Survey
from server.study.strata.planting import list_used
from server.study.strata.populations import mark_populations, population_changes, populations_of
from server.study.strata.tree import (
    Node,
    StratumProblem,
    check_large_enough,
    check_populations,
    find,
    same_name,
    tree,
    walk,
)
from server.study.strata.typed_lines import parse_name, parse_population
from server.study.ticket_keys import check_links_stay


def change(session: Session, survey: Survey, names: Mapping[int, str], populations: Mapping[int, str]) -> int:
    """Give strata, by their ids, other names and populations as typed; how many changed.

    Raises
    ------
    InputError
        On the path of each stratum whose name or population is refused; 404 for an unknown one.
    """
    before = {node.stratum.id: node for node in walk(tree(session, survey))}
    people = populations_of(tree(session, survey))
    if not before.keys() >= {*names, *populations}:
        raise refuse(404, "stratum", N_("is not known; load the page again"))
    problems: list[StratumProblem] = []
    changed, counted = set(), set()
    for number, node in before.items():
        stratum, kept = node.stratum, (node.stratum.name, node.stratum.population)
        try:
            if number in names:
                stratum.name = parse_name(names[number])
            if number in populations:
                stratum.population = parse_population(populations[number])
        except InputError as error:
            problems += [
                StratumProblem(node.path, each.template, each.values, f"{each.field}.{number}")
                for each in error.problems
            ]
        if (stratum.name, stratum.population) != kept:
            changed.add(number)
        if stratum.population != kept[1]:
            counted.add(number)
    siblings: dict[tuple[int | None, str], Node] = {}
    for node in before.values():
        first = siblings.setdefault((node.stratum.parent_id, same_name(node.stratum.name)), node)
        if first is not node:
            template = N_("must not have the same name as “%(stratum)s” beside it")
            values = {"stratum": first.path}
            problems.append(StratumProblem(node.path, template, values, f"name.{node.stratum.id}"))
    if problems:
        raise InputError(422, problems)
    if population_changes(people, tree(session, survey)):
        mark_populations(survey)
    session.flush()
    check_populations(made := tree(session, survey))
    check_large_enough((node for node in walk(made) if node.stratum.id in counted), survey.minimum)
    return len(changed)


def move(session: Session, survey: Survey, number: int | str, *, up: bool) -> Stratum:
    """Exchange a stratum with the one above or below it beside it; at the end it stays where it is."""
    node = find(session, survey, number)
    beside = [
        other.stratum
        for other in walk(tree(session, survey))
        if other.stratum.parent_id == node.stratum.parent_id
    ]
    here = beside.index(node.stratum)
    there = here - 1 if up else here + 1
    if 0 <= there < len(beside):
        beside[here].position, beside[there].position = beside[there].position, beside[here].position
        session.flush()
    return node.stratum


def remove(session: Session, survey: Survey, number: int | str) -> Node:
    """Remove a stratum and those below it, if no link among them can have been used.

    Raises
    ------
    InputError
        409 if one of them has responses or invitations, or may have responses as the survey is open.
    """
    check_links_stay(survey)
    node = find(session, survey, number)
    taken = list_used(session, survey)
    for below in walk([node]):
        if below.stratum.id in taken:
            raise refuse(
                409, below.path, N_("must stay; its link has invitations or may have let responses in")
            )
    session.execute(sa.delete(Stratum).where(Stratum.id == node.stratum.id))
    for below in walk([node]):
        session.expunge(below.stratum)
    return node
