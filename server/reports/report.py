"""(survey, tallies, strata, days) -> a `Report` value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
from sqlalchemy.orm import Session

from server import __version__, collected, strata, surveys
from server.charts import Axis, share_axis
from server.collected import Collected, Key, Unseen
from server.definitions import Definition, Question, Section
from server.inputs import N_, refuse
from server.models import State, Survey, SurveyVersion
from server.reports.days import Period, periods, summed
from server.reports.estimating import estimated
from server.reports.questions import QuestionReport
from server.reports.strata import StratumReport, by_stratum, deepest_within, hidden_in
from server.reports.withholding import left_out
from server.strata import Node
from server.waves import Wave, places_of, same_question

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
    hold responses of strata that came here as a part of them.
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
    questions: tuple[QuestionReport, ...]
    nodes: tuple[Node, ...]
    days: tuple[Period, ...]
    left_out: tuple[int, ...]
    without_left_out: bool
    merged: bool
    software: str = f"Moneda {__version__}"
    _groups: dict[tuple[str, int | None], list[StratumReport]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def n(self) -> int:
        """Number of responses, of all versions that are pooled."""
        return sum(wave.n for wave in self.waves)

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions whose responses are pooled, the newest first; the newest where there are none."""
        return tuple(wave.number for wave in self.waves if wave.n) or (self.version_number,)

    @property
    def outline(self) -> Iterator[Section | QuestionReport]:
        """The questions under the headings of their sections."""
        reports = {entry.question.name: entry for entry in self.questions}
        for entry in self.definition.entries:
            if isinstance(entry, Section):
                yield entry
            elif isinstance(entry, Question):
                yield reports[entry.name]

    def question(self, name: str) -> QuestionReport:
        """The question of that name."""
        return next(entry for entry in self.questions if entry.question.name == name)

    def strata(self, entry: QuestionReport, deepest: int | None = None) -> list[StratumReport]:
        """A question by stratum, all responses first; nothing where there are no strata, or no responses.

        `deepest` leaves those below that depth out.
        """
        if not (self.nodes and self.pooled and self.n):
            return []
        key = entry.question.name, deepest
        if key not in self._groups:  # every writer asks, and what is estimated once is kept
            asked = same_question(entry.question.name, self.waves)
            self._groups[key] = by_stratum(asked, self.nodes, self._hidden, self.confidence, deepest)
        return self._groups[key]

    def told_strata(self, entry: QuestionReport) -> list[StratumReport]:
        """The same as far as reports tell it: down from the top, if there are many (`strata_cut`)."""
        if not self.strata_cut:
            return self.strata(entry)
        return [] if self._deepest < 0 else self.strata(entry, self._deepest)

    @property
    def strata_cut(self) -> bool:
        """Whether reports leave the estimates of deeper strata to a file of their own."""
        return self._deepest < max((node.depth for node in strata.walk(self.nodes)), default=0)

    @cached_property
    def _deepest(self) -> int:
        columns = sum(len(entry.columns) + (entry.mean is not None) for entry in self.questions)
        return deepest_within(self.nodes, MOST_ESTIMATED // max(columns, 1))

    @cached_property
    def _hidden(self) -> frozenset[object]:
        """The groups that are withheld, of every question the same.

        A version that one question leaves out, or counts as a part of its own, could be told by a
        subtraction: it must not show a small group by itself. Versions that every question
        counts together cannot be told apart.
        """
        parts = [part.versions for entry in self.questions for one in entry.columns for part in one.parts]
        alike: dict[tuple[bool, ...], list[Wave]] = {}
        for wave in self.waves:
            alike.setdefault(tuple(wave.number in versions for versions in parts), []).append(wave)
        sizes = [np.sum([wave.sizes for wave in waves], axis=0).tolist() for waves in alike.values()]
        hidden = hidden_in(sizes, self.nodes, self.minimum)
        return hidden | {None} if self.merged else hidden

    def axis(self, anytime: bool) -> Axis:
        """What the charts of shares are drawn on: one axis, so that they can be compared."""
        return shares_axis(self.questions, anytime)

    def widest(self, anytime: bool) -> float:
        """Width of the widest interval of a share; 0 before the first response."""
        return max((high - low for low, high in _intervals(self.questions, anytime)), default=0.0)


def require_shown(report: Report, number: int | None = None) -> None:
    """Refuse a report that shows nothing because too few responded; with a number, of this version alone.

    Raises
    ------
    InputError
        409.
    """
    if report.withheld or number in report.left_out:
        raise refuse(
            409,
            "survey",
            N_("has fewer than %(limit)s responses that can be shown so far"),
            limit=report.minimum,
        )


def shares_axis(questions: Sequence[QuestionReport], anytime: bool) -> Axis:
    """One axis for the shares of several reports."""
    return share_axis(list(_intervals(questions, anytime)))


def _intervals(questions: Sequence[QuestionReport], anytime: bool) -> Iterator[tuple[float, float]]:
    for entry in questions:
        if entry.n:
            for row in entry.shown:
                yield row.interval(anytime)


def read(
    session: Session, survey: Survey, number: int | str | None = None, confidence: float = 0.95
) -> Report:
    """The report on a survey's responses: of all versions, or of the one with this number.

    Raises
    ------
    InputError
        If the survey is a draft, or has no such version.
    """
    version = surveys.published_version(survey, number)
    return _made(
        survey,
        version,
        collected.shown(session, survey),
        strata.tree(session, survey),
        collected.by_day(session, survey),
        pooled=number is None,
        confidence=confidence,
    )


def _made(
    survey: Survey,
    version: SurveyVersion,
    found: Collected,
    nodes: tuple[Node, ...],
    days: Mapping[Key, Mapping[date, int]],
    *,
    pooled: bool,
    confidence: float,
) -> Report:
    """Estimate every question of a version: pooled with the same questions of other ones, or alone."""
    places = places_of(nodes)
    sizes = [[found.sizes.get((each.id, place), 0) for place in places] for each in survey.versions]
    out, without = left_out(sizes, survey.minimum)
    kept = {
        (each.id, place)
        for number, each in enumerate(survey.versions)
        for place in places[without:]
        if number not in out and (each.id, place) in found.sizes
    }
    older = [each for each in reversed(survey.versions) if any(key[0] == each.id for key in kept)]
    chosen = [version, *(each for each in older if pooled and each.id != version.id)]
    waves = tuple(Wave.of(each, places, found, kept) for each in chosen)
    entries = [same_question(question.name, waves) for question in waves[0].definition.questions]
    return Report(
        definition=waves[0].definition,
        slug=survey.slug,
        version_number=version.number,
        version=version.sha256,
        published_on=version.published_on,
        made_on=surveys.today(),
        simulated=survey.simulated,
        confidence=confidence,
        minimum=survey.minimum,
        withheld=not any(wave.n for wave in waves)
        and any(key[0] in {each.id for each in chosen} for key in found.sizes),
        unseen=_unseen(survey, nodes, len(survey.versions) if pooled else 1),
        pooled=pooled,
        waves=waves,
        questions=tuple(estimated(asked, range(len(places)), confidence) for asked in entries),
        nodes=nodes,
        days=periods(summed(days, kept, {each.id for each in chosen}), survey.minimum),
        left_out=tuple(survey.versions[place].number for place in sorted(out)) if pooled else (),
        without_left_out=without,
        merged=survey.merged,
    )


def _unseen(survey: Survey, nodes: Sequence[Node], versions: int) -> Unseen:
    """What waits of so many versions."""
    if survey.state != State.OPEN:
        return Unseen(0, 0, 0)
    return collected.unseen(survey.minimum, len(strata.leaves(nodes)), versions)
