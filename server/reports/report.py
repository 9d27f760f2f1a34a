"""What a survey found: a `Report` value, and what follows from it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property

import numpy as np

from server import __version__
from server.collect.waves import Wave, same_question
from server.output.charts import Axis, share_axis
from server.reports.admission import Admission
from server.reports.chosen_together import ChosenTogether
from server.reports.collection_modes import CollectionModes
from server.reports.crossing import Crossed, cross_questions
from server.reports.day_counts import Period, Timeline, find_timeline
from server.reports.estimate_values import QuestionReport, compute_limits
from server.reports.forged_moves import has_open_link
from server.reports.population_weights import StratumCells, Weighting
from server.reports.response_rates import InvitedCodes
from server.reports.stratum_estimates import (
    StratumReport,
    StratumTree,
    by_stratum,
    deepest_within,
    hidden_in,
    whole_of,
)
from server.reports.three_together import ThreeTogether, join_three
from server.reports.version_designs import VersionDesigns
from server.study import strata
from server.study.definitions import Definition, Question, SurveySection
from server.study.retention import UNLIMITED, Retention
from server.study.smallest_group import Unseen
from server.study.strata import Node
from server.study.study_sheets import UNSTATED, StudySheet

MOST_ESTIMATED = 2_500
"""Estimates of strata in a report, those that others are added up from included: about half a second."""


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a report shows, in whatever format.

    `version` is the newest one, or the only one that was asked for; `waves` are those that are
    pooled, it first. Where the survey has responses, but too few to say anything, the report is
    `withheld`: it holds none of them. `unseen` says how many more may be stored while it is open, and is
    all 0 afterwards. `left_out` are the numbers of versions, and `without_left_out`
    says whether the responses without stratum are, that are too few to stand alone. `merged` says that these
    hold responses of strata that came here as a part of them. A survey that is `incomplete` came from a backup that
    left out what was not shown yet. In `unweighted` every response counts the
    same. `populations_since` is when a population last changed, where that is known. `admissions` say who was
    let in to each version that is pooled. `stated_hidden` are the groups to withhold, where small ones stand together
    already and no longer tell which (an archive folder). `study` is what the researchers say of it. `invited` are the
    codes that were issued, if any were, of a report on all versions. `by_row` are the questions where each
    row of a table from elsewhere has a weight of its own. `together` are the questions that the reader of this report
    asked to see together. `modes` are the responses apart by how they were collected, where some came from paper.
    """

    definition: Definition
    slug: str
    version_number: int
    version: str
    published_on: date
    made_on: date
    simulated: bool
    confidence: float
    minimum: int
    withheld: bool
    unseen: Unseen
    pooled: bool
    waves: tuple[Wave, ...]
    unweighted: tuple[QuestionReport, ...]
    nodes: tuple[Node, ...]
    days: tuple[Period, ...]
    left_out: tuple[int, ...]
    without_left_out: bool
    merged: bool
    incomplete: bool
    populations_since: date | None
    admissions: tuple[Admission, ...]
    software: str = f"Moneda {__version__}"
    stated_hidden: frozenset[object] | None = None
    study: StudySheet = UNSTATED
    invited: InvitedCodes | None = None
    by_row: tuple[QuestionReport, ...] | None = None
    kept: Retention = UNLIMITED
    together: tuple[ChosenTogether, ...] = ()
    modes: CollectionModes | None = None

    @property
    def n(self) -> int:
        """Number of responses, of all versions that are pooled."""
        return sum(wave.n for wave in self.waves)

    @cached_property
    def questions(self) -> tuple[QuestionReport, ...]:
        """What is said first: of the population, where the strata can be weighted by theirs; else of the responses."""
        if self.by_row is not None:
            return self.by_row
        groups = [self.whole(entry) for entry in self.unweighted]
        return tuple(
            entry if group is None or group.report is None else group.report
            for entry, group in zip(self.unweighted, groups, strict=True)
        )

    def whole(self, entry: QuestionReport) -> StratumReport | None:
        """A question in all strata, or all responses; None where there are no strata, or no responses."""
        if not (self.nodes and self.pooled and self.n):
            return None
        return self._estimate_whole(entry.question.name)

    @property
    def weighting(self) -> Weighting:
        """Whether the first numbers are weighted (those of some question, `not_weighted`), and if not, why."""
        if self.by_row is not None:
            return Weighting.BY_ROW
        found = {group.weighting for entry in self.unweighted if (group := self.whole(entry)) is not None}
        if Weighting.BY_POPULATION in found:
            return Weighting.BY_POPULATION
        if not self.pooled and self.nodes:
            return Weighting.ONE_VERSION
        return next(iter(found), Weighting.NO_STRATA)

    @property
    def not_weighted(self) -> list[str]:
        """Where others are weighted, the questions to which no stratum has enough responses, by their names."""
        if self.weighting != Weighting.BY_POPULATION:
            return []
        return [entry.question.name for entry in self.questions if not entry.weighted]

    @property
    def collapsed(self) -> list[tuple[tuple[tuple[str, ...], ...], tuple[str, ...], list[str]]]:
        """Strata that do not stand alone: groups taken together, those not used, of which questions.

        The questions are left out where it is the same for all.
        """
        found: dict[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]], list[str]] = {}
        for entry in self.unweighted:
            group = self.whole(entry)
            if group is not None and group.weighted:
                found.setdefault((group.together, group.unused), []).append(entry.question.name)
        alike = len(found) == 1
        return [(*key, [] if alike else names) for key, names in found.items() if any(key)]

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions whose responses are pooled, the newest first; the newest where there are none."""
        return tuple(wave.number for wave in self.waves if wave.n) or (self.version_number,)

    @property
    def timeline(self) -> Timeline:
        """What is drawn of the days: each, or week by week where they are many."""
        return find_timeline(self.days)

    @cached_property
    def designs(self) -> VersionDesigns:
        """The newest version and all others whose responses are pooled."""
        return VersionDesigns({wave.number: wave.definition for wave in self.waves})

    @cached_property
    def answered(self) -> VersionDesigns:
        """Those of them that have responses; the newest where none has."""
        return VersionDesigns({number: self.designs.definitions[number] for number in self.versions})

    @property
    def has_open_link(self) -> bool:
        """Whether anybody who had a link could answer any number of times, or may have been able to."""
        return has_open_link(self.admissions)

    def outline(self, unweighted: bool = False) -> Iterator[SurveySection | QuestionReport]:
        """The questions under the headings of their sections."""
        shown = self.unweighted if unweighted else self.questions
        reports = {entry.question.name: entry for entry in shown}
        for entry in self.definition.entries:
            if isinstance(entry, SurveySection):
                yield entry
            elif isinstance(entry, Question):
                yield reports[entry.name]

    def question(self, name: str) -> QuestionReport:
        """The question of that name."""
        return next(entry for entry in self.questions if entry.question.name == name)

    def plain(self, entry: QuestionReport) -> QuestionReport:
        """The same question with every response counting the same."""
        return next(one for one in self.unweighted if one.question.name == entry.question.name)

    def strata(self, entry: QuestionReport, deepest: int | None = None) -> tuple[StratumReport, ...]:
        """A question by stratum, all responses first; nothing where there are no strata, or no responses.

        `deepest` leaves those below that depth out.
        """
        if not (self.nodes and self.pooled and self.n):
            return ()
        return self._estimate_strata(entry.question.name, deepest)

    @cached_property
    def crossings(self) -> tuple[Crossed | ThreeTogether, ...]:
        """What is estimated of the questions that were asked for together, in their order; nothing of nobody."""
        return tuple(self._join(one) for one in self.together) if self.n else ()

    def _join(self, chosen: ChosenTogether) -> Crossed | ThreeTogether:
        names, answers = chosen.questions, chosen.answers
        if len(names) == 3:
            return join_three(self.waves, names, answers, self.confidence, self.weigh)
        first, second = names
        return cross_questions(
            self.waves, first, second, (answers[0], answers[1]), self.confidence, self.weigh
        )

    def weigh(self, waves: Sequence[Wave]) -> StratumCells | None:
        """How strata count by their populations in what several questions say together, as these versions ask it."""
        if not (self.nodes and self.pooled and self.n) or self.by_row is not None:
            return None
        return self.tree.weigh(waves)

    def told_strata(self, entry: QuestionReport) -> tuple[StratumReport, ...]:
        """The same as far as reports tell it: down from the top, if there are many (`strata_cut`)."""
        if not self.strata_cut:
            return self.strata(entry)
        return () if self._deepest < 0 else self.strata(entry, self._deepest)

    @property
    def strata_cut(self) -> bool:
        """Whether reports leave the estimates of deeper strata to a file of their own."""
        return self._deepest < max((node.depth for node in strata.walk(self.nodes)), default=0)

    @cached_property
    def _deepest(self) -> int:
        columns = sum(len(entry.columns) + (entry.mean is not None) for entry in self.unweighted)
        return deepest_within(self.nodes, MOST_ESTIMATED // max(columns, 1))

    def shows(self, stratum: int | None) -> bool:
        """Whether the responses of a stratum (None: those without one) are told apart from those that are withheld."""
        return stratum not in self.hidden

    # Every writer asks for these, one question after the other: what was estimated once is kept with the report.

    @cached_property
    def _estimate_whole(self) -> Callable[[str], StratumReport]:
        return cache(lambda name: whole_of(same_question(name, self.waves), self.tree))

    @cached_property
    def _estimate_strata(self) -> Callable[[str, int | None], tuple[StratumReport, ...]]:
        return cache(lambda name, deepest: by_stratum(same_question(name, self.waves), self.tree, deepest))

    @cached_property
    def tree(self) -> StratumTree:
        """The strata, and which of them are withheld."""
        return StratumTree(self.nodes, self.hidden, self.confidence, self.minimum)

    @cached_property
    def hidden(self) -> frozenset[object]:
        """The keys of the groups that are withheld (`hidden_in`), of every question the same.

        A version that one question leaves out, or counts as a part of its own, could be told by a
        subtraction: it must not show a small group by itself.
        """
        if self.stated_hidden is not None:
            return self.stated_hidden
        sizes = [np.sum([wave.sizes for wave in waves], axis=0).tolist() for waves in self.alike]
        hidden = hidden_in(sizes, self.nodes, self.minimum)
        return hidden | {None} if self.merged else hidden

    @cached_property
    def alike(self) -> tuple[tuple[Wave, ...], ...]:
        """The versions in groups that every question counts together: nothing tells those of a group apart."""
        parts = [versions for entry in self.unweighted for one in entry.columns for versions in one.versions]
        alike: dict[tuple[bool, ...], list[Wave]] = {}
        for wave in self.waves:
            alike.setdefault(tuple(wave.number in versions for versions in parts), []).append(wave)
        return tuple(map(tuple, alike.values()))

    def axis(self, anytime: bool, unweighted: bool = False) -> Axis:
        """What the charts of shares are drawn on: one axis, so that they can be compared."""
        return shares_axis(self.unweighted if unweighted else self.questions, anytime)


def shares_axis(questions: Sequence[QuestionReport], anytime: bool) -> Axis:
    """One axis for the shares of several reports."""
    return share_axis(list(_intervals(questions, anytime)))


def _intervals(questions: Sequence[QuestionReport], anytime: bool) -> Iterator[tuple[float, float]]:
    if not anytime:
        compute_limits(questions)
    for entry in questions:
        if entry.n:
            for row in entry.shown:
                yield row.interval(anytime)
