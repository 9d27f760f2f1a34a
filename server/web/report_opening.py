"""A survey's report for one request, read at one moment, and its files: for pages and for programs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from flask import Response, current_app
from flask_babel import get_locale, gettext
from sqlalchemy.orm import Session

from server import releases, reports
from server.inputs import N_, refuse
from server.people import survey_access
from server.reports import Compared, ComparedSurveys, Report
from server.reports.chosen_together import parse_together
from server.reports.explaining import ExplainedAnswer
from server.reports.formats import FileContent, Format, InternalReport
from server.store.engines import snapshot
from server.store.models import Survey
from server.study import surveys
from server.web.context import send_download, send_written
from server.web.download_names import name_of_report, name_of_survey_file

LABELLED_TYPES = {"sav": "application/x-spss-sav", "dta": "application/x-stata-dta"}
"""What the files of `reports.LABELLED` are sent as."""


@contextmanager
def open_report(survey: Survey, version: str | None = None) -> Iterator[tuple[Report, Session]]:
    """The report of all versions or of one, and the session it is read from.

    Raises
    ------
    InputError
        404 if the survey was deleted a moment ago, or has no such version; 409 if it was never published.
    """
    with snapshot(current_app.extensions["moneda.engine"]) as reading:
        found = survey_access.find(reading, survey.slug)
        if found is None:
            raise refuse(404, "survey", N_("is not known; check the link"))
        yield reports.read(reading, found, version), reading


def write_report(
    survey: Survey,
    chosen: Format,
    version: str | None,
    together: Sequence[str] = (),
    explain: Callable[[Report], ExplainedAnswer | None] = lambda _report: None,
    compare: Callable[[Report], tuple[Compared, ...]] = lambda _report: (),
    compare_surveys: Callable[[Session, Report], tuple[ComparedSurveys, ...]] = lambda _reading, _report: (),
) -> tuple[Report, FileContent]:
    """The report, and it in a format, in the request's language; what was asked for is in it.

    That is some questions `together` (`parse_together`), and what `explain`, `compare` and `compare_surveys` find in it
    and in others, if anything.

    Raises
    ------
    InputError
        As `open_report` and `parse_together`; 409 if nothing of it is shown.
    """
    with open_report(survey, version) as (report, reading):
        reports.require_shown(report)
        report = replace(report, together=parse_together(report.definition, together))
        read_ledger = partial(releases.read_ledger, reading, survey)
        compared, surveys = compare(report), compare_surveys(reading, report)
        source = InternalReport(report, read_ledger, str(get_locale()), explain(report), compared, surveys)
        finish = chosen.prepare_internal(source)
    return report, finish()


def send_microdata(survey: Survey, version: str | None) -> Response:
    """The noisy responses with what it takes to estimate from them elsewhere, as a file.

    Raises
    ------
    InputError
        As `write_report`.
    """
    with open_report(survey, version) as (report, _reading):
        reports.require_shown(report)
        name = name_of_report(report, "zip", gettext("microdata"))
        return send_written(lambda file: reports.write_microdata(report, file), "application/zip", name)


def send_labelled(survey: Survey, ending: str, version: str | None, language: str | None) -> Response:
    """The same rows for SPSS or Stata, with labels in a language of the survey's.

    Raises
    ------
    InputError
        As `write_report`, and `reports.write_labelled`.
    """
    with open_report(survey, version) as (report, _reading):
        reports.require_shown(report)
        return send_written(
            lambda file: reports.write_labelled(report, ending, language, file),
            LABELLED_TYPES[ending],
            name_of_report(report, ending, gettext("noisy responses")),
        )


def send_study_description(survey: Survey, version: str | None) -> Response:
    """The survey and its columns as DDI-Codebook, for data archives.

    Raises
    ------
    InputError
        As `write_report`.
    """
    with open_report(survey, version) as (report, _reading):
        reports.require_shown(report)
        written = reports.write_ddi(report)
    return send_download(written, "application/xml", name_of_report(report, "xml", "DDI"))


def send_responses(survey: Survey, number: str | None) -> Response:
    """The noisy responses to a version, the newest without one, as a file.

    Raises
    ------
    InputError
        As `write_report`.
    """
    version = surveys.published_version(survey, number)
    definition = surveys.definition_of(version)
    what = gettext("noisy responses to version %(number)d", number=version.number)
    with open_report(survey) as (report, _reading):
        reports.require_shown(report, version.number)
        return send_written(
            lambda file: reports.write_responses(report, definition, version.number, file),
            "text/csv",
            name_of_survey_file(survey, what, "csv"),
        )
