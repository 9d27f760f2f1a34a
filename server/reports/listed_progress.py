"""How collecting goes in each of many surveys, as their list tells it: no more than the results of each do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy.orm import Session

from server.collect import response_counts
from server.collect.response_counts import Key
from server.collect.waves import places_of
from server.reports.collection_progress import StratumProgress, follow_upper
from server.reports.day_counts import Timeline, find_timeline, periods, sum_days
from server.reports.stratum_estimates import hidden_in
from server.store.models import Survey
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
    """

    n: int
    planned: int | None
    days: Timeline
    strata: tuple[StratumProgress, ...]

    @property
    def at_target(self) -> int:
        """How many of the strata are known to have as many responses as their target."""
        return sum(each.reached is not None and each.reached >= 1 for each in self.strata)

    @property
    def withheld(self) -> int:
        """Of how many of them it is not told."""
        return sum(each.n is None for each in self.strata)


def follow_surveys(
    session: Session, wanted: Sequence[tuple[Survey, int | None]]
) -> dict[int, ListedProgress]:
    """Of each survey, by its id; `wanted` has with each how many responses are wanted.

    It asks the database as often for many surveys as for one, but for each hundred of them.
    """
    surveys = [survey for survey, _planned in wanted]
    told = response_counts.count_told_by_day_of(session, surveys)
    trees = strata.trees_of(session, surveys)
    return {
        survey.id: _follow(survey, trees[survey.id], told[survey.id], planned) for survey, planned in wanted
    }


def _follow(
    survey: Survey, nodes: tuple[Node, ...], told: Mapping[Key, Mapping[date, int]], planned: int | None
) -> ListedProgress:
    days = sum_days(told, told.keys(), {version for version, _stratum in told})
    sizes = {key: sum(own.values()) for key, own in told.items()}
    return ListedProgress(
        sum(sizes.values()),
        planned,
        find_timeline(periods(days, survey.minimum)),
        _follow_strata(survey, nodes, sizes, planned),
    )


def _follow_strata(
    survey: Survey, nodes: tuple[Node, ...], told: Mapping[Key, int], planned: int | None
) -> tuple[StratumProgress, ...]:
    """Nothing where several versions hide something: what results withhold then depends on what each asks."""
    if not nodes or not told:
        return ()
    places, versions = places_of(nodes), {version for version, _stratum in told}
    tables = [[told.get((version, place), 0) for place in places] for version in versions]
    hidden = hidden_in(tables, nodes, survey.minimum)
    if hidden and len(versions) > 1:
        return ()
    sizes = {place: sum(table[at] for table in tables) for at, place in enumerate(places)}
    return tuple(each for each in follow_upper(nodes, sizes, hidden, planned) if each.target)
