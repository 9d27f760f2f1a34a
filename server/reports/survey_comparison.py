"""A question in several surveys, one after the other: how far the last is from the first, and a trend over all.

What is said is a function of what each survey's own report shows. Whether somebody answered in two of them is not
known: errors are added as of different people.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Any

from server.collect.waves import by_option, same_question
from server.privacy.estimators.limits import split_error
from server.privacy.estimators.trends import weigh_trend
from server.privacy.planning.shown_differences import chance_to_show, least_shown
from server.reports.difference_measures import POWER, search_p_value
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, compute_limits
from server.reports.findings import count_parts
from server.reports.forest import figures
from server.reports.group_limits import GroupLimits
from server.reports.question_estimates import estimate_question
from server.reports.report import Report
from server.reports.stratum_comparison import (
    ComparedFigure,
    Distance,
    Interval,
    compare_reports,
    interpret_difference,
)
from server.store.models import Survey
from server.study.definitions import Definition, Question

_FEWEST = 3
"""Surveys for a trend: of two it is their difference."""
_FINER = 10
"""In how many parts a step of a trend is told of what a difference is told in."""


class ToldBy(StrEnum):
    """What a survey is called by, beside its title."""

    TITLE = "title"
    DAY = "day"
    LINK = "link"


class Unusable(StrEnum):
    """Why a survey is in no comparison."""

    NOT_ASKED = "not_asked"
    NOBODY = "nobody"
    DESIGNS = "designs"


@dataclass(frozen=True, eq=False)
class DatedReport:
    """What a survey found and when it was first published; `place` orders surveys of one day."""

    report: Report
    since: date
    place: int

    @classmethod
    def of(cls, report: Report, survey: Survey) -> "DatedReport":
        """Of a survey that was published."""
        return cls(report, min(version.published_on for version in survey.versions), survey.id)


@dataclass(frozen=True, eq=False)
class AskedSurvey:
    """A question in one survey of several; `asked` is None where it is not asked there, and `unusable` says why not.

    `other_words`, `other_coins`: than in the survey whose report this is. `told_by` is what tells it from another one
    of its title, if there is one.
    """

    dated: DatedReport
    asked: QuestionReport | None
    unusable: Unusable | None
    other_words: bool
    other_coins: bool
    told_by: ToldBy
    own_link: bool = False

    @property
    def slug(self) -> str:
        """What addresses call it."""
        return self.dated.report.slug

    @property
    def title(self) -> str:
        """As respondents read it."""
        return self.dated.report.definition.title

    @property
    def since(self) -> date:
        """When it was first published."""
        return self.dated.since

    @property
    def simulated(self) -> bool:
        """Whether its respondents are made up."""
        return self.dated.report.simulated

    @property
    def n(self) -> int:
        """Number of responses."""
        return 0 if self.asked is None else self.asked.n


@dataclass(frozen=True, eq=False)
class SurveyTrend:
    """One estimate in at least three surveys: the step from each to the next on the line that fits them best.

    Surveys are taken to be one step apart. One of `comparisons` that hold together at `confidence`.
    """

    figures: tuple[ShareRow | ReportMean, ...]
    limits: GroupLimits
    confidence: float
    comparisons: int

    @property
    def first(self) -> ShareRow | ReportMean:
        """Of the last survey, as in a comparison; what it is an estimate of is said by it."""
        return self.figures[-1]

    @property
    def width(self) -> float:
        """How far two of them could be apart at most."""
        return 1.0 if isinstance(self.first, ShareRow) else self.first.high - self.first.low

    @cached_property
    def coefficients(self) -> tuple[float, ...] | None:
        """What each estimate counts in the slope; None where one response says nothing of some estimate."""
        errors = [figure.standard_error for figure in self.figures]
        if not all(error is not None and 0 < error < math.inf for error in errors):
            return None
        return tuple(weigh_trend([error for error in errors if error is not None]).tolist())

    @cached_property
    def value(self) -> float | None:
        """The step."""
        values = [figure.value for figure in self.figures if figure.value is not None]
        if self.coefficients is None or len(values) < len(self.figures):
            return None
        return math.fsum(each * value for each, value in zip(self.coefficients, values, strict=True))

    @cached_property
    def interval(self) -> Interval | None:
        """Its limits; None where there is no line."""
        return self._limit(split_error(self.confidence, self.comparisons))

    @property
    def standard_error(self) -> float | None:
        """Of the step, the coefficients taken as known."""
        if self.coefficients is None:
            return None
        errors = [figure.standard_error or 0.0 for figure in self.figures]
        return math.hypot(*(each * error for each, error in zip(self.coefficients, errors, strict=True)))

    @cached_property
    def p_value(self) -> float | None:
        """Of no trend, as `DifferenceMeasures.p_value` is of no difference."""
        if self.limits.anytime or self.value is None or self.interval is None:
            return None
        return search_p_value(
            self._leaves_out_zero,
            self.interval,
            self.confidence,
            self.comparisons,
            quick=self.limits.adds_distances(*self.figures),
        )

    @property
    def least_shown(self) -> float | None:
        """The step that would have been told with a chance of `POWER`."""
        error = self.standard_error
        return None if error is None else least_shown(self._reach, error, POWER)

    @property
    def power(self) -> float | None:
        """The chance with which a step as large as the estimated one would have been told."""
        error = self.standard_error
        if error is None or self.value is None:
            return None
        return chance_to_show(self.value, self._reach, error)

    @property
    def distance(self) -> Distance | None:
        """What can be said of it: the "first" is higher where it rises."""
        if self.interval is None:
            return None
        if isinstance(self.first, ShareRow):
            return interpret_difference((100 * self.interval[0], 100 * self.interval[1]), 100, _FINER)
        return interpret_difference(self.interval, self.width, _FINER * count_parts(self.width))

    @property
    def _reach(self) -> float:
        low, high = self.interval or (0.0, 0.0)
        return (high - low) / 2

    def _limit(self, confidence: float) -> Interval | None:
        if self.coefficients is None:
            return None
        return self.limits.combine(self.figures, self.coefficients, confidence)

    def _leaves_out_zero(self, confidence: float) -> bool:
        low, high = self._limit(confidence) or (0.0, 0.0)
        return low > 0 or high < 0


@dataclass(frozen=True, eq=False)
class ComparedSurveys:
    """A question in several surveys, in the order in which they were first published.

    Attributes
    ----------
    entry : QuestionReport
        Of the survey whose report this is.
    surveys : tuple of AskedSurvey
        Those that are compared, the earliest first; fewer than two where there is nothing to compare.
    left_out : tuple of AskedSurvey
        Those that cannot be.
    figures : tuple of ComparedFigure
        The last less the first, all of it at once.
    trends : tuple of SurveyTrend
        Of three surveys or more.
    """

    entry: QuestionReport
    surveys: tuple[AskedSurvey, ...]
    left_out: tuple[AskedSurvey, ...]
    confidence: float
    anytime: bool
    figures: tuple[ComparedFigure, ...]
    trends: tuple[SurveyTrend, ...]

    @property
    def first(self) -> AskedSurvey:
        """The last one: a difference is how much more than before."""
        return self.surveys[-1]

    @property
    def second(self) -> AskedSurvey:
        """The earliest."""
        return self.surveys[0]

    @property
    def listed(self) -> tuple[tuple[AskedSurvey, tuple[ShareRow | ReportMean, ...]], ...]:
        """Each survey with its own estimates, in the order of `figures`."""
        return tuple(
            (each, tuple(figure for _name, figure in figures(each.asked)))
            for each in self.surveys
            if each.asked is not None
        )

    @property
    def other_words(self) -> tuple[AskedSurvey, ...]:
        """Those that ask in other words."""
        return tuple(each for each in self.surveys if each.other_words)

    @property
    def other_coins(self) -> tuple[AskedSurvey, ...]:
        """Those in which chance changes answers in another way."""
        return tuple(each for each in self.surveys if each.other_coins)


def describe_shape(definition: Definition, question: Question) -> dict[str, Any]:
    """What two questions have in common that may be compared: kind, answers and who is asked, but no words or coins."""
    shape = {
        name: value
        for name, value in question.as_json().items()
        if name not in ("name", "text", "options", "design", "control")
    }
    shape["answers"] = list(question.answers)
    if question.show_if is not None:
        asked = {each.name: each for each in definition.questions}
        earlier = describe_shape(definition, asked[question.show_if.question])
        shape["show_if"] = {**question.show_if.as_json(), "of": earlier}
    return shape


def find_same(definition: Definition, name: str, other: Definition) -> Question | None:
    """The question of that name in another survey, if it has the same kind and answers and the same are asked."""
    ours = next(each for each in definition.questions if each.name == name)
    theirs = next((each for each in other.questions if each.name == name), None)
    if theirs is None or describe_shape(definition, ours) != describe_shape(other, theirs):
        return None
    return theirs


def compare_surveys(
    own: DatedReport, others: Sequence[DatedReport], name: str, *, anytime: bool
) -> ComparedSurveys:
    """A question of a survey's in it and in others; those that cannot be compared are left out, and named."""
    everything = sorted([own, *others], key=lambda each: (each.since, each.place))
    entries = {each.report.slug: _find(own, each, name) for each in everything}
    split = any(entry is not None and entry.by_option for entry in entries.values())
    told_by = _tell_apart(everything)
    found = [
        _ask(own, each, name, entries, split=split, told_by=told)
        for each, told in zip(everything, told_by, strict=True)
    ]
    usable = tuple(each for each in found if each.unusable is None)
    asked = [each.asked for each in usable if each.asked is not None]
    confidence = own.report.confidence
    compared: tuple[ComparedFigure, ...] = ()
    trends: tuple[SurveyTrend, ...] = ()
    if len(asked) > 1:
        compared = compare_reports(asked[-1], asked[0], confidence, anytime)
    if len(asked) >= _FEWEST:
        compute_limits(asked)
        limits = GroupLimits(anytime)
        rows = list(zip(*(figures(each) for each in asked), strict=True))
        trends = tuple(
            SurveyTrend(tuple(figure for _name, figure in row), limits, confidence, len(rows)) for row in rows
        )
    return ComparedSurveys(
        own.report.question(name),
        usable,
        tuple(each for each in found if each.unusable is not None),
        confidence,
        anytime,
        compared,
        trends,
    )


def _tell_apart(dated: Sequence[DatedReport]) -> Iterator[ToldBy]:
    titles = [each.report.definition.title for each in dated]
    days = [(title, each.since) for title, each in zip(titles, dated, strict=True)]
    for title, day in zip(titles, days, strict=True):
        if titles.count(title) == 1:
            yield ToldBy.TITLE
        else:
            yield ToldBy.DAY if days.count(day) == 1 else ToldBy.LINK


def _find(own: DatedReport, dated: DatedReport, name: str) -> QuestionReport | None:
    if dated is own:
        return own.report.question(name)
    if find_same(own.report.definition, name, dated.report.definition) is None:
        return None
    return dated.report.question(name)


def _ask(
    own: DatedReport,
    dated: DatedReport,
    name: str,
    entries: Mapping[str, QuestionReport | None],
    *,
    split: bool,
    told_by: ToldBy,
) -> AskedSurvey:
    entry, ours = entries[dated.report.slug], entries[own.report.slug]
    assert ours is not None
    if entry is None:
        return AskedSurvey(dated, None, Unusable.NOT_ASKED, False, False, told_by)
    other_words = _list_words(entry.question) != _list_words(ours.question)
    other_coins = entry.question.designs != ours.question.designs
    unusable, asked = None, None if dated.report.withheld or not entry.n else entry
    if asked is None:
        unusable = Unusable.NOBODY
    elif split and not entry.by_option:
        asked = _split(dated.report, entry)
        unusable = None if asked is not None else Unusable.DESIGNS
    return AskedSurvey(dated, asked, unusable, other_words, other_coins, told_by)


def _split(report: Report, entry: QuestionReport) -> QuestionReport | None:
    """The same, looked at answer by answer, as surveys with a coin for each are; None where that cannot be."""
    asked = same_question(entry.question.name, report.waves)
    alike = all(each.question.designs[0].treats_options_alike() for each in asked)
    if by_option(asked) or entry.weighted or not alike:
        return None
    places = range(len(asked[0].wave.strata))
    return estimate_question(asked, places, report.confidence, split=True)


def _list_words(question: Question) -> list[str]:
    return [question.text, *(option.text for option in question.options)]
