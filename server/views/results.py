"""Results while a survey runs, and the report to take away."""

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import reports, responses, surveys
from server.context import session
from server.models import Survey, SurveyVersion
from server.responses import Tally
from server.security import researcher, signed_in

blueprint = Blueprint("results", __name__, url_prefix="/manage/surveys/<slug>")


@blueprint.get("/results")
@signed_in
def live(slug: str) -> ResponseReturnValue:
    """Responses so far and what they say."""
    survey, version, tally = _asked(slug)
    report = reports.build(survey, version, tally)
    return render_template("results/live.html", survey=survey, report=report)


@blueprint.get("/report.html")
@signed_in
def report_html(slug: str) -> ResponseReturnValue:
    """The report as one HTML file."""
    report = reports.build(*_asked(slug))
    return _download(reports.to_html(report, str(get_locale())), "text/html", report, "report", "html")


@blueprint.get("/report.csv")
@signed_in
def report_csv(slug: str) -> ResponseReturnValue:
    """The report as CSV."""
    report = reports.build(*_asked(slug))
    return _download(reports.to_csv(report), "text/csv", report, "report", "csv")


@blueprint.get("/report.json")
@signed_in
def report_json(slug: str) -> ResponseReturnValue:
    """The report as JSON."""
    report = reports.build(*_asked(slug))
    return _download(reports.to_json(report), "application/json", report, "report", "json")


@blueprint.get("/responses.csv")
@signed_in
def responses_csv(slug: str) -> ResponseReturnValue:
    """The noisy responses."""
    survey, version, tally = _asked(slug)
    report = reports.build(survey, version, tally)
    return _download(reports.responses_csv(report, tally), "text/csv", report, "responses", "csv")


@blueprint.get("/codebook.csv")
@signed_in
def codebook_csv(slug: str) -> ResponseReturnValue:
    """What the noisy responses' columns and codes mean."""
    report = reports.build(*_asked(slug))
    return _download(reports.codebook_csv(report), "text/csv", report, "codebook", "csv")


def _asked(slug: str) -> tuple[Survey, SurveyVersion, Tally]:
    """The survey, the version asked for (the newest unless `?version=` says otherwise) and its tally."""
    survey = surveys.find_own(session(), researcher(), slug)
    version = surveys.published_version(survey, request.args.get("version"))
    return survey, version, responses.tally(session(), version)


def _download(text: str, mimetype: str, report: reports.Report, what: str, ending: str) -> Response:
    response = Response(text, mimetype=mimetype)
    name = f"{report.slug}-v{report.version_number}-{what}.{ending}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
