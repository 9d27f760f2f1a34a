"""A question in several surveys, one after the other: how far the last is from the first, and a trend over all.

What is said is a function of what each survey's own report shows. Whether somebody answered in two of them is not
known: errors are added as of different people.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from server.collect.waves import by_option, same_question
from server.privacy.estimators.latent_likelihood import do_nothing
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, compute_limits
from server.reports.forest import figures
from server.reports.group_limits import GroupLimits
from server.reports.question_estimates import estimate_question
from server.reports.questions_by_survey import DatedReport, QuestionInSurvey, SurveyLabel, Unusable, find_same
from server.reports.report import Report
from server.reports.stratum_comparison import ComparedFigure, Interval, compare_reports
from server.reports.survey_trends import SurveyTrend
from server.study.definitions import Question

_FEWEST = 3
"""Surveys for a trend: of two it is their difference."""


@dataclass(frozen=True, eq=False)
class ComparedSurveys:
    """A question in several surveys, in the order in which they were first published.

    Attributes
    ----------
    entry : QuestionReport
        Of the survey whose report this is.
    surveys : tuple of QuestionInSurvey
        Those that are compared, the earliest first; fewer than two where there is nothing to compare.
    left_out : tuple of QuestionInSurvey
        Those that cannot be.
    figures : tuple of ComparedFigure
        The last less the first, all of it at once.
    trends : tuple of SurveyTrend
        Of three surveys or more.
    """

    entry: QuestionReport
    surveys: tuple[QuestionInSurvey, ...]
    left_out: tuple[QuestionInSurvey, ...]
    confidence: float
    anytime: bool
    figures: tuple[ComparedFigure, ...]
    trends: tuple[SurveyTrend, ...]

    @property
    def first(self) -> QuestionInSurvey:
        """The last one: a difference is how much more than before."""
        return self.surveys[-1]

    @property
    def second(self) -> QuestionInSurvey:
        """The earliest."""
        return self.surveys[0]

    @property
    def listed(self) -> tuple[tuple[QuestionInSurvey, tuple[ShareRow | ReportMean, ...]], ...]:
        """Each survey with its own estimates, in the order of `figures`."""
        return tuple(
            (each, tuple(figure for _name, figure in figures(each.entry)))
            for each in self.surveys
            if each.entry is not None
        )

    @property
    def other_words(self) -> tuple[QuestionInSurvey, ...]:
        """Those that ask in other words."""
        return tuple(each for each in self.surveys if each.other_words)

    @property
    def other_coins(self) -> tuple[QuestionInSurvey, ...]:
        """Those in which chance changes answers in another way."""
        return tuple(each for each in self.surveys if each.other_coins)


def compare_surveys(
    base: DatedReport,
    others: Sequence[DatedReport],
    name: str,
    *,
    anytime: bool,
    on_step: Callable[[], None] = do_nothing,
) -> ComparedSurveys:
    """A question of a survey's in it and in others; those that cannot be compared are left out, and named.

    Before each step `on_step` is called, which may end the work by what it raises.
    """
    everything = sorted([base, *others], key=lambda each: (each.since, each.place))
    entries = {each.report.slug: _find(base, each, name) for each in everything}
    split = any(entry is not None and entry.by_option for entry in entries.values())
    told_by = _tell_apart(everything)
    found = [
        _ask(base, each, name, entries, split=split, told_by=told)
        for each, told in zip(everything, told_by, strict=True)
    ]
    usable = tuple(each for each in found if each.unusable is None)
    asked = [each.entry for each in usable if each.entry is not None]
    confidence = base.report.confidence
    compared: tuple[ComparedFigure, ...] = ()
    trends: tuple[SurveyTrend, ...] = ()
    if len(asked) > 1:
        compared = compare_reports(asked[-1], asked[0], confidence, anytime, on_step)
    if len(asked) >= _FEWEST:
        compute_limits(asked)
        limits = GroupLimits(anytime, on_step)
        rows = list(zip(*(figures(each) for each in asked), strict=True))
        trends = tuple(
            SurveyTrend(tuple(figure for _name, figure in row), limits, confidence, len(rows)) for row in rows
        )
    _compute_tests(compared, trends)
    return ComparedSurveys(
        base.report.question(name),
        usable,
        tuple(each for each in found if each.unusable is not None),
        confidence,
        anytime,
        compared,
        trends,
    )


def _compute_tests(
    compared: Sequence[ComparedFigure], trends: Sequence[SurveyTrend]
) -> list[tuple[Interval | float | None, ...]]:
    """Most of the work, and kept: done where it can be ended, and not as a page is drawn."""
    return [
        *((each.measures.ratio_interval, each.measures.p_value) for each in compared),
        *((each.interval, each.p_value) for each in trends),
    ]


def _tell_apart(dated: Sequence[DatedReport]) -> Iterator[SurveyLabel]:
    titles = [each.report.definition.title for each in dated]
    days = [(title, each.since) for title, each in zip(titles, dated, strict=True)]
    for title, day in zip(titles, days, strict=True):
        if titles.count(title) == 1:
            yield SurveyLabel.TITLE
        else:
            yield SurveyLabel.DAY if days.count(day) == 1 else SurveyLabel.LINK


def _find(base: DatedReport, dated: DatedReport, name: str) -> QuestionReport | None:
    if dated is base:
        return base.report.question(name)
    if find_same(base.report.definition, name, dated.report.definition) is None:
        return None
    return dated.report.question(name)


def _ask(
    base: DatedReport,
    dated: DatedReport,
    name: str,
    entries: Mapping[str, QuestionReport | None],
    *,
    split: bool,
    told_by: SurveyLabel,
) -> QuestionInSurvey:
    entry, ours = entries[dated.report.slug], entries[base.report.slug]
    assert ours is not None
    if entry is None:
        return QuestionInSurvey(dated, None, Unusable.NOT_ASKED, False, False, told_by)
    other_words = _list_words(entry.question) != _list_words(ours.question)
    other_coins = entry.question.designs != ours.question.designs
    unusable, question_report = None, None if dated.report.withheld or not entry.n else entry
    if question_report is None:
        unusable = Unusable.NOBODY
    elif split and not entry.by_option:
        question_report = _split(dated.report, entry)
        unusable = None if question_report is not None else Unusable.DESIGNS
    return QuestionInSurvey(dated, question_report, unusable, other_words, other_coins, told_by)


def _split(report: Report, entry: QuestionReport) -> QuestionReport | None:
    """The same, looked at answer by answer, as surveys with a coin for each are; None where that cannot be."""
    versions = same_question(entry.question.name, report.waves)
    alike = all(each.question.designs[0].treats_options_alike() for each in versions)
    if by_option(versions) or entry.weighted or not alike:
        return None
    places = range(len(versions[0].wave.strata))
    return estimate_question(versions, places, report.confidence, split=True)


def _list_words(question: Question) -> list[str]:
    return [question.text, *(option.text for option in question.options)]
