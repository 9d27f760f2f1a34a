"""Results while a survey runs, and the report to take away."""

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import reports, responses, surveys
from server.context import session
from server.models import Role, Survey, SurveyVersion
from server.responses import Tally
from server.security import on_survey

blueprint = Blueprint("results", __name__, url_prefix="/manage/surveys/<slug>")


@blueprint.get("/results")
@on_survey(Role.VIEWER)
def live(survey: Survey) -> ResponseReturnValue:
    """Responses so far and what they say."""
    survey, version, tally = _asked(survey)
    report = reports.build(survey, version, tally)
    return render_template("results/live.html", survey=survey, report=report)


@blueprint.get("/report.html")
@on_survey(Role.VIEWER)
def report_html(survey: Survey) -> ResponseReturnValue:
    """The report as one HTML file."""
    report = reports.build(*_asked(survey))
    return _download(reports.to_html(report, str(get_locale())), "text/html", report, "report", "html")


@blueprint.get("/report.csv")
@on_survey(Role.VIEWER)
def report_csv(survey: Survey) -> ResponseReturnValue:
    """The report as CSV."""
    report = reports.build(*_asked(survey))
    return _download(reports.to_csv(report), "text/csv", report, "report", "csv")


@blueprint.get("/report.json")
@on_survey(Role.VIEWER)
def report_json(survey: Survey) -> ResponseReturnValue:
    """The report as JSON."""
    report = reports.build(*_asked(survey))
    return _download(reports.to_json(report), "application/json", report, "report", "json")


@blueprint.get("/responses.csv")
@on_survey(Role.VIEWER)
def responses_csv(survey: Survey) -> ResponseReturnValue:
    """The noisy responses."""
    survey, version, tally = _asked(survey)
    report = reports.build(survey, version, tally)
    return _download(reports.responses_csv(report, tally), "text/csv", report, "responses", "csv")


@blueprint.get("/codebook.csv")
@on_survey(Role.VIEWER)
def codebook_csv(survey: Survey) -> ResponseReturnValue:
    """What the noisy responses' columns and codes mean."""
    report = reports.build(*_asked(survey))
    return _download(reports.codebook_csv(report), "text/csv", report, "codebook", "csv")


def _asked(survey: Survey) -> tuple[Survey, SurveyVersion, Tally]:
    """The survey, the version asked for (the newest unless `?version=` says otherwise) and its tally."""
    version = surveys.published_version(survey, request.args.get("version"))
    return survey, version, responses.tally(session(), version)


def _download(text: str, mimetype: str, report: reports.Report, what: str, ending: str) -> Response:
    response = Response(text, mimetype=mimetype)
    name = f"{report.slug}-v{report.version_number}-{what}.{ending}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
