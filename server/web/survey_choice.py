"""Which other surveys an address asks to compare one with: only those that its reader may see exist."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial

from flask import g, request
from flask_babel import get_locale
from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.output.charts import Axis
from server.output.documents import Chart
from server.people import survey_access
from server.reports import ComparedSurveys, QuestionReport, Report
from server.reports.chosen_surveys import FIELD, compare_chosen_surveys, read_surveys
from server.reports.contents.compared_charts import axis_of, draw_surveys
from server.reports.difference_measures import POWER
from server.reports.questions_by_survey import find_same
from server.reports.report_words import ReportWords
from server.store.models import Role, Survey
from server.study import surveys
from server.study.retention import has_counts
from server.web.long_work import limit_time, take_place
from server.web.result_choices import choose_anytime, list_reports
from server.web.security import researcher

_MOST_OFFERED = 200
"""Surveys that can be chosen, the newest; others are left to addresses and commands."""
_MOST_TICKED = 6
"""Of these so many can be ticked at once, beside those that the address names; the others stand in one list."""


@dataclass(frozen=True)
class OfferedSurvey:
    """A survey that some question of the page's is asked in, too."""

    slug: str
    title: str
    since: date


@dataclass(frozen=True, eq=False)
class SurveysChoice:
    """The other surveys that a page of results offers to compare with, and those that its address names."""

    reading: Session
    report: Report
    entry: QuestionReport
    anytime: bool

    @cached_property
    def any(self) -> bool:
        """Whether the reader sees another survey that was published, and these are results of all versions."""
        if not self.report.pooled:
            return False
        own = find_readable(self.reading, self.report.slug)
        return survey_access.sees_published(self.reading, researcher(), own)

    @cached_property
    def offered(self) -> list[OfferedSurvey]:
        """Those that have results and ask some question of this one, the newest first."""
        found: list[OfferedSurvey] = []
        for survey, _role in survey_access.shared_with(self.reading, researcher()):
            has_results = survey.versions and has_counts(survey)
            if len(found) < _MOST_OFFERED and survey.slug != self.report.slug and has_results:
                version = max(survey.versions, key=lambda each: each.number)
                definition, own = surveys.definition_of(version), self.report.definition
                if any(find_same(own, each.name, definition) is not None for each in own.questions):
                    since = min(each.published_on for each in survey.versions)
                    found.append(OfferedSurvey(survey.slug, definition.title, since))
        return found

    @property
    def ticked(self) -> list[OfferedSurvey]:
        """The newest of them, and those that the address names."""
        newest = self.offered if len(self.offered) <= _MOST_TICKED + 1 else self.offered[:_MOST_TICKED]
        return [each for each in self.offered if each in newest or each.slug in self.chosen_slugs]

    @property
    def listed(self) -> list[OfferedSurvey]:
        """The others: the page stays short however many surveys somebody has."""
        ticked = self.ticked
        return [each for each in self.offered if each not in ticked]

    @property
    def chosen_slugs(self) -> list[str]:
        """The links that the address names, each once."""
        return list(dict.fromkeys(filter(None, request.args.getlist(FIELD))))

    def compare(self) -> ComparedSurveys | None:
        """The question in all of them; None where the address names none."""
        if not self.chosen_slugs:
            return None
        name, find = self.entry.question.name, partial(find_readable, self.reading)
        with take_place(FIELD):
            end = limit_time(FIELD)
            return read_surveys(
                self.reading, self.report, name, self.chosen_slugs, find, anytime=self.anytime, on_step=end
            )

    def axis(self, compared: ComparedSurveys, shares: bool) -> Axis:
        """What differences are drawn on."""
        return axis_of(compared, shares)

    def draw(self, compared: ComparedSurveys) -> Chart:
        """Survey by survey, in the reader's language."""
        return draw_surveys(ReportWords(str(get_locale())), self.report, compared)

    def report_files(self) -> list[tuple[str, str]]:
        """The addresses of the report with the comparison in it, by the names of its formats."""
        query: dict[str, object] = {FIELD: self.chosen_slugs, "question": self.entry.question.name}
        if self.anytime:
            query["interval"] = "anytime"
        return list_reports(self.report, query)

    @property
    def power(self) -> float:
        """The chance with which a difference is to be seen that is called one that could have been."""
        return POWER


def read_compared_surveys(reading: Session, report: Report) -> tuple[ComparedSurveys, ...]:
    """The question that the address names in the surveys that it names; nothing where it names none.

    Raises
    ------
    InputError
        As `compare_chosen_surveys`; 404 for what the reader may not see, as if there were none; and where too much is
        being worked out, or for too long.
    """
    slugs = request.args.getlist(FIELD)
    if not any(slugs):
        return ()
    question = request.args.get("question", "")
    if not question:
        raise refuse(422, "question", N_("is required where surveys are compared"))
    find = partial(find_readable, reading)
    anytime = choose_anytime()
    with take_place(FIELD):
        end = limit_time(FIELD)
        return (compare_chosen_surveys(reading, report, question, slugs, find, anytime=anytime, on_step=end),)


def find_readable(reading: Session, slug: str) -> Survey:
    """The survey behind a link, if whoever asks may see its results, and so may the token they ask with.

    Raises
    ------
    InputError
        404 else, as if there were no such survey.
    """
    survey, _role = survey_access.find_for(reading, researcher(), slug, Role.VIEWER)
    token = g.get("token")
    if token is not None and token.survey_id not in (None, survey.id):
        raise refuse(404, "survey", N_("is not known; check the link"))
    return survey
