"""What results show of a question version by version: that which the address names, or each on the page."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from flask_babel import get_locale

from server.inputs import N_, refuse
from server.output.documents import Chart
from server.reports import QuestionReport, Report
from server.reports.contents.version_charts import draw_course
from server.reports.report_words import ReportWords
from server.reports.version_courses import VersionCourse, follow_versions
from server.web.result_choices import choose_question


@dataclass(frozen=True, eq=False)
class VersionsChoice:
    """A question version by version, and how that is drawn where it is looked at."""

    report: Report
    anytime: bool

    def follow(self, entry: QuestionReport) -> tuple[VersionCourse, Callable[[], Chart]] | None:
        """What is found, and what draws it; None unless two versions have it."""
        course = follow_versions(self.report, entry, self.anytime)
        return None if course is None else (course, partial(self.draw, course))

    def draw(self, course: VersionCourse) -> Chart:
        """In the reader's language."""
        return draw_course(ReportWords(str(get_locale())), course)

    def choose(self) -> VersionCourse:
        """That of the question that the address names; refused where there is none."""
        course = follow_versions(self.report, choose_question(self.report), self.anytime)
        if course is None:
            raise refuse(409, "question", N_("has responses that are shown in one version at most"))
        return course
