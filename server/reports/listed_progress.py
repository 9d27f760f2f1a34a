"""How collecting goes in each of many surveys, as their list tells it: no more than the results of each do."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date

from sqlalchemy.orm import Session

from server.collect import response_counts
from server.collect.response_counts import Key
from server.collect.waves import places_of
from server.reports.collection_modes import count_by_mode
from server.reports.collection_progress import StratumProgress, follow_upper
from server.reports.day_counts import Timeline, add_days, find_timeline, periods
from server.reports.stratum_estimates import hidden_in
from server.store.models import Mode, Survey
from server.study import strata
from server.study.strata import Node


@dataclass(frozen=True)
class ListedProgress:
    """A survey's responses that results are about.

    Attributes
    ----------
    n : int
        All of them.
    planned : int or None
        How many are wanted.
    days : Timeline
        When they were shown.
    strata : tuple of StratumProgress
        The strata right under the survey that have a target; none where it is left to results which are withheld.
    by_mode : mapping
        How many are told apart of each way of collecting; nothing where none came from paper, or as with strata.
    """

    n: int
    planned: int | None
    days: Timeline
    strata: tuple[StratumProgress, ...]
    by_mode: Mapping[Mode, int]

    @property
    def at_target(self) -> int:
        """How many of the strata are known to have as many responses as their target."""
        return sum(each.reached is not None and each.reached >= 1 for each in self.strata)

    @property
    def withheld(self) -> int:
        """Of how many of them it is not told."""
        return sum(each.n is None for each in self.strata)


def follow_surveys(session: Session, pairs: Sequence[tuple[Survey, int | None]]) -> dict[int, ListedProgress]:
    """Of each survey, by its id; `pairs` has with each how many responses are wanted.

    It asks the database as often for many surveys as for one, but for each hundred of them.
    """
    surveys = [survey for survey, _planned in pairs]
    told = response_counts.count_reportable_by_day_of(session, surveys)
    trees = strata.trees_of(session, surveys)
    return {
        survey.id: _follow(survey, trees[survey.id], told[survey.id], planned) for survey, planned in pairs
    }


def _follow(
    survey: Survey,
    nodes: tuple[Node, ...],
    counts: Mapping[tuple[Key, Mode], Mapping[date, int]],
    planned: int | None,
) -> ListedProgress:
    by_mode = {place: sum(own.values()) for place, own in counts.items()}
    sizes: dict[Key, int] = {}
    for (key, _mode), n in by_mode.items():
        sizes[key] = sizes.get(key, 0) + n
    hidden = _find_hidden(survey, nodes, sizes)
    return ListedProgress(
        sum(sizes.values()),
        planned,
        find_timeline(periods(add_days(counts.values()), survey.minimum)),
        () if hidden is None else _follow_strata(nodes, sizes, hidden, planned),
        {} if hidden is None else count_by_mode(survey, by_mode, nodes, hidden),
    )


def _find_hidden(survey: Survey, nodes: tuple[Node, ...], counts: Mapping[Key, int]) -> Set[object] | None:
    """What results withhold; None where several versions hide something: it depends then on what each asks."""
    places, versions = places_of(nodes), {version for version, _stratum in counts}
    tables = [[counts.get((version, place), 0) for place in places] for version in versions]
    hidden = hidden_in(tables, nodes, survey.minimum)
    if hidden and len(versions) > 1:
        return None
    return hidden | {None} if survey.merged else hidden


def _follow_strata(
    nodes: tuple[Node, ...], counts: Mapping[Key, int], hidden: Set[object], planned: int | None
) -> tuple[StratumProgress, ...]:
    if not nodes or not counts:
        return ()
    sizes: dict[int | None, int] = {}
    for (_version, place), n in counts.items():
        sizes[place] = sizes.get(place, 0) + n
    return tuple(each for each in follow_upper(nodes, sizes, hidden, planned) if each.target)
