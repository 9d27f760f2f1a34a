"""Where made-up people answer: by the links of a survey's strata, as real ones would."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from server.archives.stratum_copies import StratumCopy, copy_tree
from server.collect import invitation_batches
from server.inputs import N_, normalise_code, refuse, shorten_value
from server.store.models import InvitationBatch, Stratum, Survey
from server.study import strata, surveys

LABEL = "Made-up respondents"
"""Of the batches whose codes they use: nobody else ever sees one."""


@dataclass(frozen=True)
class Setting:
    """The strata of a survey, and whether it is by invitation: what a rehearsal copies of it beside its draft."""

    by_invitation: bool = False
    parts: tuple[StratumCopy, ...] = ()


@dataclass(frozen=True)
class Place:
    """A link, how many people answer by it, and whether it asks for a code."""

    slug: str
    stratum: Stratum | None
    people: int
    invited: bool


@dataclass(frozen=True)
class Spread:
    """How people were spread: over so many links, and whether in proportion to populations."""

    links: int
    by_population: bool


def setting_of(session: Session, survey: Survey) -> Setting:
    """What a rehearsal needs to know of a survey; nothing of it is needed afterwards."""
    nodes = strata.walk(strata.tree(session, survey))
    return Setting(
        survey.by_invitation,
        tuple(
            StratumCopy(
                node.names,
                node.stratum.population,
                surveys.new_slug(),
                by_invitation=node.stratum.by_invitation,
            )
            for node in nodes
        ),
    )


def build_strata(session: Session, survey: Survey, setting: Setting) -> None:
    """Give a new survey the same strata."""
    survey.by_invitation = setting.by_invitation
    copy_tree(session, survey, setting.parts)


def find_places(
    session: Session, survey: Survey, respondents: int, path: str = ""
) -> tuple[list[Place], Spread]:
    """Spread people over the links below a stratum, or over all.

    In proportion to populations where that of each link is known, otherwise evenly; without strata, all
    come by the survey's own link.

    Raises
    ------
    InputError
        On `stratum`, if there is none at this path.
    """
    nodes = strata.tree(session, survey)
    invited = strata.invited_links(session, survey)
    if path:
        nodes = tuple(node for node in strata.walk(nodes) if node.path == path)
        if not nodes:
            raise refuse(
                422,
                "stratum",
                N_("must be the path of a stratum; it is %(value)s"),
                value=shorten_value(path),
            )
    leaves = strata.list_leaves(nodes)
    if not leaves:
        return [Place(survey.link, None, respondents, None in invited)], Spread(1, by_population=False)
    known = [node.population for node in leaves if node.population is not None]
    by_population = len(known) == len(leaves)
    numbers = _divide(respondents, known if by_population else [1] * len(leaves))
    return [
        Place(node.stratum.slug, node.stratum, number, node.stratum.id in invited)
        for node, number in zip(leaves, numbers, strict=True)
        if number
    ], Spread(len(leaves), by_population)


class Codes:
    """Codes for made-up people, in batches of their own: no code that somebody holds is used."""

    def __init__(self, session: Session, survey: Survey) -> None:
        self._session = session
        self._survey = survey
        self._batches: dict[str, InvitationBatch] = {}

    def make(self, place: Place, number: int) -> list[str | None]:
        """A code for each of so many people at a link, or none where it asks for none."""
        if not place.invited:
            return [None] * number
        batch = self._batches.get(place.slug)
        if batch is None:
            issued = invitation_batches.issue(self._session, self._survey, place.stratum, number, LABEL)
            self._batches[place.slug], codes = issued
        else:
            codes = invitation_batches.issue_more(self._session, batch, number)
        return [normalise_code(code) for code in codes]


def group_people(places: Sequence[Place], most: int) -> Iterator[list[tuple[Place, int]]]:
    """Groups of at most so many people: links, and how many of each."""
    group: list[tuple[Place, int]] = []
    room = most
    for place in places:
        left = place.people
        while left:
            number = min(left, room)
            group.append((place, number))
            left, room = left - number, room - number
            if not room:
                yield group
                group, room = [], most
    if group:
        yield group


def _divide(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers that add up, as near to proportional as they can be; larger remainders are rounded up first."""
    whole = sum(weights)
    numbers = [total * weight // whole for weight in weights]
    remainders = [total * weight % whole for weight in weights]
    first = sorted(range(len(weights)), key=lambda place: -remainders[place])
    for place in first[: total - sum(numbers)]:
        numbers[place] += 1
    return numbers
