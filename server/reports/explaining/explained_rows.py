"""The responses that an explanation is about, in blocks: tallies of reports, with what is known beside them."""

from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally
from server.collect.waves import Wave, places_of
from server.collect.waves.blocks import Blocks
from server.inputs import N_, refuse
from server.privacy.estimators.sample_designs import SampleDesign
from server.reports.elsewhere import ForeignData
from server.reports.elsewhere.covariates import Covariate
from server.reports.explaining.shown_weeks import ShownWeeks, group_weeks
from server.reports.population_weights import Weigh, weigh_nothing
from server.reports.report import Report
from server.study.strata import walk

STRATUM = "stratum"
"""What a predictor is called that says which of the largest strata a response is from."""
OTHERS = "(others)"
"""What its last level is called: the strata that are not shown, together with responses without stratum."""
WEEK = "week"
"""What a predictor is called that says in which week a response was first shown."""
TREND = "trend"
"""What that week is called as a number."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of one version that are together: their reports, what each row counts, and what is known of each.

    `rows` are their places in the sample, where there is one, and `places` those of their strata in the list of all.
    """

    wave: Wave
    tally: Tally
    counts: NDArray[np.float64]
    groups: NDArray[np.int64]
    known: Mapping[str, NDArray[np.float64]]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]

    def keep(self, some: NDArray[np.bool_]) -> "RowBlock":
        """Some of the rows, of no sample."""
        return replace(
            self,
            tally=Tally(self.tally.patterns[some], self.tally.counts[some]),
            counts=self.counts[some],
            groups=self.groups[some],
            known={name: values[some] for name, values in self.known.items()},
            places=self.places[some],
        )


@dataclass(frozen=True, eq=False)
class ExplainableRows:
    """What can be explained: `groups` names the largest strata, by their numbers; `blocks` are read anew each time.

    `sample` says how rows were drawn that count differently; None where each response counts the same, or strata do by
    their populations (`weigh`). Of a survey that was collected here `weekly` says when they were first shown.
    """

    report: Report
    groups: tuple[str, ...]
    covariates: tuple[Covariate, ...]
    blocks: Callable[[], Iterator[RowBlock]]
    sample: SampleDesign | None = None
    weekly: "WeeklyRows | None" = None
    weigh: Weigh = weigh_nothing


class WeeklyRows:
    """The same rows by the weeks in which they were first shown, without those of which that is not known."""

    def __init__(self, report: Report, group_of: NDArray[np.int64]) -> None:
        self._report, self._group_of = report, group_of

    @cached_property
    def weeks(self) -> ShownWeeks | None:
        """Levels of weeks; None where there are not two."""
        counts: dict[tuple[str | None, Hashable], int] = {}
        for wave in self._report.waves:
            for place, week, n in wave.count_weeks():
                own = week, (wave.number, int(self._group_of[place]))
                counts[own] = counts.get(own, 0) + n
        return group_weeks(counts, self._report.minimum)

    def count_unknown(self, versions: Container[int]) -> int:
        """How many of these versions are left out."""
        return sum(
            n
            for wave in self._report.waves
            if wave.number in versions
            for _place, week, n in wave.count_weeks()
            if week is None
        )

    def blocks(self) -> Iterator[RowBlock]:
        """With the level of each row's week, and how far it is from the first one."""
        weeks = self.weeks
        if weeks is None:
            return
        positions, width = np.array(weeks.positions), len(weeks.positions)
        for wave in self._report.waves:
            pieces = Blocks(partial(self._list_pieces, wave, weeks.level_of, width))
            for block in pieces.walk():
                places, levels = np.divmod(block.places, width)
                counts = block.tally.counts.astype(np.float64)
                known = {WEEK: levels.astype(np.float64), TREND: positions[levels]}
                groups = self._group_of[places]
                yield RowBlock(wave, block.tally, counts, groups, known, np.zeros(0, np.int64), places)

    def _list_pieces(
        self, wave: Wave, level_of: Mapping[str, int], width: int
    ) -> Iterator[tuple[int, Tally]]:
        for place, week, tally in wave.read_weeks():
            if week is not None:
                yield place * width + level_of[week], tally


def of_report(report: Report) -> ExplainableRows:
    """Of a survey that was collected here: of what its report shows, the strata that it shows apart."""
    names, number = _group_strata(report)

    def blocks() -> Iterator[RowBlock]:
        for wave in report.waves:
            for block in wave.blocks():
                counts = block.tally.counts.astype(np.float64)
                groups, none = number[block.places], np.zeros(0, np.int64)
                yield RowBlock(wave, block.tally, counts, groups, {}, none, block.places)

    return ExplainableRows(report, names, (), blocks, weekly=WeeklyRows(report, number), weigh=report.weigh)


def of_foreign(data: ForeignData) -> ExplainableRows:
    """Of data from elsewhere, with its covariates, and how its rows were drawn.

    Raises
    ------
    InputError
        If no question is in it, but models alone.
    """
    if not data.has_questions:
        raise refuse(422, "explain", N_("needs a question with a design; the study file has none"))
    names, number = _group_strata(data.report)
    table, sample = data.table, None
    if data.sample is not None:
        sample = data.sample.drawn.design
    elif table.weights is not None:
        sample = SampleDesign(table.weights)

    def blocks() -> Iterator[RowBlock]:
        for wave in data.report.waves:
            own = table.version == wave.number
            patterns = table.patterns(wave.definition, own)
            counts = np.ones(len(patterns)) if sample is None else sample.weights[own]
            known = {name: values[own] for name, values in table.covariates.items()}
            tally = Tally(patterns, np.ones(len(patterns), np.int64))
            places = table.place[own]
            yield RowBlock(wave, tally, counts, number[places], known, np.flatnonzero(own), places)

    covariates = tuple(
        replace(each, categories=table.weeks[each.name]) if each.name in table.weeks else each
        for each in data.study.covariates
    )
    weigh = data.report.weigh if sample is None else weigh_nothing
    return ExplainableRows(data.report, names, covariates, blocks, sample, weigh=weigh)


def _group_strata(report: Report) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The largest strata that are shown, and all others together; the group of each place in the list of strata."""
    names: list[str] = []
    numbers: dict[int | None, int] = {}
    for node in report.nodes:
        if report.shows(node.stratum.id):
            numbers |= {below.stratum.id: len(names) for below in walk([node])}
            names.append(node.stratum.name)
    places: Sequence[int | None] = places_of(report.nodes)
    found = np.array([numbers.get(place, len(names)) for place in places], dtype=np.int64)
    return (*names, OTHERS), found
