"""What the files of a survey are called where they are downloaded: its title, what they hold, and the day."""

from flask_babel import gettext

from server.output.file_names import name_file
from server.reports import Published, Report
from server.store.models import Survey
from server.study import surveys


def name_of_survey_file(survey: Survey, what: str, ending: str) -> str:
    """`What students do in exams, codebook, 2026-11-23.csv`; `what` is in the reader's language."""
    return name_file(_find_title(survey), what, day=surveys.today(), ending=ending)


def name_of_report(report: Report, ending: str, what: str = "") -> str:
    """An internal report, which nobody shall take for the public one, or what else is made from it."""
    version = "" if report.pooled else gettext("version %(number)d", number=report.version_number)
    title = report.definition.title
    return name_file(title, what or gettext("internal report"), version, day=report.made_on, ending=ending)


def name_of_public_report(published: Published, ending: str, what: str = "") -> str:
    """A public report, or `what` of it, has the day of its newest release; before the first, of its questionnaire."""
    newest = published.newest
    day = published.released_on or newest.published_on
    return name_file(newest.definition.title, what, day=day, ending=ending)


def _find_title(survey: Survey) -> str:
    """As published; of a draft, as it stands."""
    if survey.current is not None:
        return surveys.definition_of(survey.current).title
    return str(surveys.draft_document(survey)["title"])
