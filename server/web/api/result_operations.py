"""What a survey found, for programs: only what the pages show."""

import json

from flask import Response, request

from server import reports
from server.inputs import N_
from server.reports.chosen_together import FIELD
from server.reports.formats import FORMATS, Format
from server.reports.json_report import to_json
from server.store.models import Role, Survey
from server.web.api.operations import ESTIMATES, Reply, operation
from server.web.comparison_choice import read_comparison
from server.web.explanation_choice import read_explanation
from server.web.report_opening import (
    LABELLED_TYPES,
    open_report,
    send_labelled,
    send_microdata,
    send_responses,
    send_study_description,
    write_report,
)
from server.web.survey_choice import read_compared_surveys

_LANGUAGE = {"language": N_("Language of labels, one that the survey has texts in; its own without it")}
_EXPLAINED = {
    "explain": N_("Answer that it explains: a question, or QUESTION.ANSWER; with by"),
    "question": N_(
        "Question by which it compares two strata (first_stratum and second_stratum), or surveys (survey)"
    ),
    "first_stratum": N_("Path of the first of two strata to compare, such as Peru > Cusco"),
    "second_stratum": N_("Path of the second one"),
    "interval": N_("Whether the intervals of comparisons are to hold once or anytime; once without it"),
}
_BY = {"by": N_("What that answer may go with: stratum, week or trend, another question or QUESTION.ANSWER")}
_SURVEYS = {
    "survey": N_(
        "Link’s last part of another survey to compare it with by that question, such as an earlier wave"
    )
}
_VERSION = {"version": N_("Number of the version that alone counts; all that asked the same without it")}

_TOGETHER = {
    FIELD: N_("Two or three questions that it holds together, such as exam,paid.yes; at most 12 times")
}


@operation(
    "GET",
    "/surveys/<slug>/estimates",
    N_("Estimated shares and means with their intervals"),
    Role.VIEWER,
    gives="estimates",
    parameters=_VERSION,
)
def show_estimates(survey: Survey) -> Reply:
    """What `report.json` has under `questions`."""
    with open_report(survey, request.args.get("version")) as (report, _reading):
        reports.require_shown(report)
        found = json.loads(to_json(report))
    return Reply({name: found[name] for name in ESTIMATES})


def _offer(chosen: Format) -> None:
    """Make an operation of a format."""

    def report(survey: Survey) -> Response:
        _report, written = write_report(
            survey,
            chosen,
            request.args.get("version"),
            request.args.getlist(FIELD),
            read_explanation,
            read_comparison,
            read_compared_surveys,
        )
        return Response(written, mimetype=chosen.content_type)

    report.__name__ = f"download_report_{chosen.ending}"
    operation(
        "GET",
        f"/surveys/<slug>/report.{chosen.ending}",
        N_("The report as a file"),
        Role.VIEWER,
        file=chosen.content_type,
        gives="report" if chosen.ending == "json" else None,
        parameters=_VERSION,
        texts=_EXPLAINED,
        repeated={**_TOGETHER, **_BY, **_SURVEYS},
    )(report)


for _format in FORMATS.values():
    _offer(_format)


@operation(
    "GET",
    "/surveys/<slug>/microdata.zip",
    N_("The noisy responses with what it takes to estimate from them elsewhere"),
    Role.VIEWER,
    file="application/zip",
    parameters=_VERSION,
)
def download_microdata(survey: Survey) -> Response:
    """As on the page of results."""
    return send_microdata(survey, request.args.get("version"))


def _offer_labelled(ending: str) -> None:
    """Make an operation of a file with labels."""

    def file(survey: Survey) -> Response:
        return send_labelled(survey, ending, request.args.get("version"), request.args.get("language"))

    file.__name__ = f"download_responses_{ending}"
    operation(
        "GET",
        f"/surveys/<slug>/responses.{ending}",
        N_("The noisy responses with labels, for SPSS (sav) or Stata (dta)"),
        Role.VIEWER,
        file=LABELLED_TYPES[ending],
        parameters=_VERSION,
        texts=_LANGUAGE,
    )(file)


for _labelled in reports.LABELLED:
    _offer_labelled(_labelled)


@operation(
    "GET",
    "/surveys/<slug>/ddi.xml",
    N_("The survey and the columns of its responses as DDI-Codebook 2.5"),
    Role.VIEWER,
    file="application/xml",
    parameters=_VERSION,
)
def download_study_description(survey: Survey) -> Response:
    """As on the page of results."""
    return send_study_description(survey, request.args.get("version"))


@operation(
    "GET",
    "/surveys/<slug>/responses.csv",
    N_("The noisy responses to a version, the newest without one"),
    Role.VIEWER,
    file="text/csv",
    parameters=_VERSION,
)
def download_responses(survey: Survey) -> Response:
    """As on the page of results."""
    return send_responses(survey, request.args.get("version"))
