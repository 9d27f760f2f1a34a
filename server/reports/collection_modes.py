"""Responses apart by the way in which they were collected: from browsers, or thrown by hand on paper and keyed in.

Estimates pool them: both are reports under the same designs. Apart they show whether the two ways differ. Told apart
are the responses of strata that are shown, and in which no version has some, but fewer than the minimum, of either way.
So every number here is a sum of groups that are as many as the minimum: beside what else is shown, which tells how many
there are of a stratum but not in which way, no difference is fewer.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass

from sqlalchemy.orm import Session

from server.collect import response_counts
from server.collect.response_counts import Collected, Key
from server.collect.waves import Wave, places_of
from server.reports.stratum_estimates import hidden_in
from server.store.models import Mode, Survey, SurveyVersion
from server.study.strata import Node


@dataclass(frozen=True, eq=False)
class CollectionModes:
    """Responses from browsers and from paper, as far as they are told apart.

    Attributes
    ----------
    waves : mapping
        Of each way, the versions with its responses.
    rest : tuple of Wave
        Everything but the responses from paper that are told apart.
    left_out : bool
        Whether responses of some strata are not told apart.
    """

    waves: Mapping[Mode, tuple[Wave, ...]]
    rest: tuple[Wave, ...]
    left_out: bool

    @property
    def sizes(self) -> dict[Mode, int]:
        """How many there are of each way."""
        return {mode: sum(wave.n for wave in waves) for mode, waves in self.waves.items()}

    @property
    def named(self) -> tuple[tuple[str, tuple[Wave, ...]], ...]:
        """What archives call each way, with its responses: those that are not told apart stand with browsers'."""
        return (("browser", self.rest), ("paper", self.waves[Mode.PAPER]))


def split_by_mode(
    session: Session,
    survey: Survey,
    chosen: Sequence[SurveyVersion],
    nodes: Sequence[Node],
    keys: Collection[Key],
    withheld: Set[object],
) -> CollectionModes | None:
    """The responses to all versions apart by mode; None where nothing shown came from paper.

    `withheld` are the groups that their report withholds.
    """
    found = response_counts.read_shown_by_mode(session, survey)
    if not any(key in keys for key in found.get(Mode.PAPER, response_counts.NOTHING).sizes):
        return None
    places = places_of(nodes)
    sizes = {(key, mode): n for mode, own in found.items() for key, n in own.sizes.items() if key in keys}
    apart = _choose_places(survey, sizes, nodes, withheld)
    wanted = {key for key in keys if key[1] in apart}
    waves = {
        mode: tuple(
            Wave.of(version, places, found.get(mode, response_counts.NOTHING), wanted) for version in chosen
        )
        for mode in Mode
    }
    every = _join(found, {Mode.PAPER: wanted})
    rest = tuple(Wave.of(version, places, every, keys) for version in chosen)
    left_out = any(
        (version.id, place) in keys and place not in apart for version in chosen for place in places
    )
    return CollectionModes(waves, rest, left_out)


def count_by_mode(
    survey: Survey, counts: Mapping[tuple[Key, Mode], int], nodes: Sequence[Node], withheld: Set[object]
) -> dict[Mode, int]:
    """How many are told apart of each way, of responses that results are about: `CollectionModes.sizes`.

    Nothing where none came from paper. `withheld` are the groups that results withhold.
    """
    if not any(mode == Mode.PAPER for _key, mode in counts):
        return {}
    apart = _choose_places(survey, counts, nodes, withheld)
    return {
        mode: sum(n for ((_version, place), way), n in counts.items() if way == mode and place in apart)
        for mode in Mode
    }


def _choose_places(
    survey: Survey, counts: Mapping[tuple[Key, Mode], int], nodes: Sequence[Node], withheld: Set[object]
) -> set[int | None]:
    """The strata of which responses are told apart; `counts` are those of each version, stratum and mode."""
    places, minimum = places_of(nodes), survey.minimum
    sizes = [
        [[counts.get(((version.id, place), mode), 0) for mode in Mode] for place in places]
        for version in survey.versions
    ]
    by_version = [[sum(modes) for modes in row] for row in sizes]
    totals = [sum(own) for own in zip(*by_version, strict=True)]
    hidden = withheld | hidden_in([*by_version, totals], nodes, minimum)
    return {
        stratum
        for place, stratum in enumerate(places)
        if stratum not in hidden
        and ("own", stratum) not in hidden
        and not any(0 < n < minimum for row in sizes for n in row[place])
    }


def _join(by_mode: Mapping[Mode, Collected], without: Mapping[Mode, Collection[Key]]) -> Collected:
    """Responses of all modes together, but for those of some versions and strata."""
    kept = {
        mode: {key for key in collected.sizes if key not in without.get(mode, ())}
        for mode, collected in by_mode.items()
    }
    sizes: dict[Key, int] = {}
    margins: dict[Key, response_counts.Margin] = {}
    for mode, keys in kept.items():
        for key in keys:
            own = by_mode[mode]
            sizes[key] = sizes.get(key, 0) + own.sizes[key]
            margins[key] = margins[key] + own.margins[key] if key in margins else own.margins[key]
    return Collected(
        sizes,
        margins,
        lambda version_id: (
            piece
            for mode, collected in by_mode.items()
            for piece in collected.pieces(version_id)
            if piece[0] in kept[mode]
        ),
    )
