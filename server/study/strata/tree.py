"""The tree as a value, and what must hold of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, InputError, Problem, refuse, shorten_value
from server.store.models import Stratum, Survey

MOST_STRATA = 2_000
"""In one survey, inner ones included."""
DEEPEST = 6
SEPARATOR = " > "


@dataclass(frozen=True)
class StratumProblem(Problem):
    """What is wrong with a stratum, whose path is the field; `input` holds it on a page: "population.12"."""

    input: str


@dataclass(frozen=True)
class Node:
    """A stratum in its tree. `names` are those of the strata above it and its own."""

    stratum: Stratum
    names: tuple[str, ...]
    children: tuple["Node", ...]

    @property
    def depth(self) -> int:
        """1 right under the survey."""
        return len(self.names)

    @property
    def path(self) -> str:
        """All names in one text: "Spain > Madrid > Getafe"."""
        return SEPARATOR.join(self.names)

    @property
    def leaf(self) -> bool:
        """Whether it has a working link."""
        return not self.children

    @property
    def population(self) -> int | None:
        """Its own population, else the sum of those below; None while one of them is missing."""
        if self.stratum.population is not None or self.leaf:
            return self.stratum.population
        parts = [child.population for child in self.children]
        return None if None in parts else sum(part for part in parts if part is not None)


def tree(session: Session, survey: Survey) -> tuple[Node, ...]:
    """The strata right under the survey, each with those below it, in the researcher's order."""
    return trees_of(session, [survey])[survey.id]


def trees_of(session: Session, surveys: Iterable[Survey]) -> dict[int, tuple[Node, ...]]:
    """The same of several surveys, by their ids, in one question to the database."""
    ids = [survey.id for survey in surveys]
    below: dict[tuple[int, int | None], list[Stratum]] = defaultdict(list)
    rows = session.scalars(
        sa.select(Stratum).where(Stratum.survey_id.in_(ids)).order_by(Stratum.position, Stratum.id)
    )
    for stratum in rows:
        below[stratum.survey_id, stratum.parent_id].append(stratum)

    def nodes(survey_id: int, parent: int | None, above: tuple[str, ...]) -> tuple[Node, ...]:
        return tuple(
            Node(stratum, names := (*above, stratum.name), nodes(survey_id, stratum.id, names))
            for stratum in below[survey_id, parent]
        )

    return {survey_id: nodes(survey_id, None, ()) for survey_id in ids}


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Every stratum of a tree, each before those below it."""
    for node in nodes:
        yield node
        yield from walk(node.children)


def list_leaves(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The strata that have a working link, in order."""
    return tuple(node for node in walk(nodes) if node.leaf)


def find(session: Session, survey: Survey, number: int | str) -> Node:
    """A stratum of this survey by its id; another survey's does not exist.

    Raises
    ------
    InputError
        404 if there is none.
    """
    for node in walk(tree(session, survey)):
        if str(node.stratum.id) == str(number):
            return node
    raise refuse(404, "stratum", N_("is not known; load the page again"))


def find_leaf(session: Session, survey: Survey, path: str) -> Node:
    """A stratum with a link, by its path.

    Raises
    ------
    InputError
        If there is none at this path, or it has strata below it.
    """
    for node in list_leaves(tree(session, survey)):
        if node.path == path:
            return node
    template = N_("must be the path of a stratum without strata below it; it is %(value)s")
    raise refuse(422, "stratum", template, value=shorten_value(path))


def check_populations(nodes: Iterable[Node]) -> None:
    """Refuse a population that contradicts those of the strata below.

    Raises
    ------
    InputError
        Naming each such stratum, its population and the sum of its parts.
    """
    problems = []
    for node in walk(nodes):
        own = node.stratum.population
        if own is None or node.leaf:
            continue
        known = sum(map(_count_people, node.children))
        if all(child.population is not None for child in node.children) and known != own:
            template = N_("its population must be the sum of its parts, %(limit)s; it is %(value)s")
        elif known > own:
            template = N_(
                "its population must be at least what is known of its parts, %(limit)s; it is %(value)s"
            )
        else:
            continue
        values = {"limit": known, "value": own}
        problems.append(StratumProblem(node.path, template, values, f"population.{node.stratum.id}"))
    if problems:
        raise InputError(422, problems)


def check_large_enough(nodes: Iterable[Node], minimum: int) -> None:
    """Refuse strata that are known to have fewer people than the smallest group that is shown.

    Whoever is asked there could be told by the link: the group would stand for its few people in every file.

    Raises
    ------
    InputError
        Naming each such stratum, its population and the minimum.
    """
    template = N_(
        "its population must be at least the smallest group shown, %(limit)s; it is %(value)s. Take it together "
        "with another stratum"
    )
    problems = [
        StratumProblem(node.path, template, {"limit": minimum, "value": own}, f"population.{node.stratum.id}")
        for node in nodes
        if (own := node.stratum.population) is not None and own < minimum
    ]
    if problems:
        raise InputError(422, problems)


def _count_people(node: Node) -> int:
    """How many people are known to be in a stratum."""
    if node.stratum.population is not None:
        return node.stratum.population
    return sum(map(_count_people, node.children))


def same_name(name: str) -> str:
    """What two names have in common that nobody tells apart."""
    return name.casefold()
