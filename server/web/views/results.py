"""Results while a survey runs, and the report to take away."""

from functools import partial

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale, gettext

from server import reports
from server.inputs import N_, refuse
from server.output.languages import RESPONDENT_LANGUAGES
from server.reports.chosen_together import FIELD
from server.reports.elsewhere import write_study_file
from server.reports.forged_moves import FORGED
from server.reports.formats import FORMATS, Format
from server.reports.question_figures import FIGURE_FORMATS, FigureFormat
from server.store.models import Role, Survey
from server.study import planning, strata, surveys
from server.study.definitions import list_languages
from server.study.planning import find_planned_number
from server.web.comparison_choice import read_comparison
from server.web.context import send_download, send_written, session
from server.web.download_names import name_of_report, name_of_survey_file
from server.web.explanation_choice import read_explanation
from server.web.report_opening import (
    open_report,
    send_labelled,
    send_microdata,
    send_responses,
    send_study_description,
    write_report,
)
from server.web.result_choices import (
    KEPT,
    CrossingChoice,
    FoldedParts,
    StrataChoice,
    choose_anytime,
    choose_figure,
    choose_question,
    list_crossable,
)
from server.web.security import on_survey
from server.web.survey_choice import SurveysChoice, read_compared_surveys
from server.web.versions_choice import VersionsChoice

blueprint = Blueprint("results", __name__, url_prefix="/manage/surveys/<slug>")


@blueprint.get("/results")
@on_survey(Role.VIEWER)
def live(survey: Survey) -> ResponseReturnValue:
    """Responses so far and what they say."""
    anytime = choose_anytime()
    with open_report(survey, request.args.get("version")) as (report, reading):
        question_report = choose_question(report)
        which = choose_figure(question_report)
        kept = {name: request.args.getlist(name) for name in KEPT if request.args.get(name)}
        document = surveys.draft_document(survey)
        planned = find_planned_number(survey, document)
        return render_template(
            "results/live.html",
            survey=survey,
            report=report,
            formats=FORMATS.values(),
            label_languages={
                code: RESPONDENT_LANGUAGES[code].name if code in RESPONDENT_LANGUAGES else code
                for code in list_languages(report.definition)
            },
            planned=planned,
            margin=planning.planned_margin(document),
            measure_margins=reports.measure_margins,
            anytime=anytime,
            kept=kept,
            asked=question_report,
            figures=reports.figures(question_report),
            which=which,
            # Computed where they are drawn, so that a mistake in one leaves the rest of the page.
            in_groups=partial(reports.forest, report, question_report, which),
            comparing=StrataChoice(report, question_report, anytime),
            surveys_beside=SurveysChoice(reading, report, question_report, anytime),
            crossable=[entry.question for entry in list_crossable(report)],
            crossing=CrossingChoice(report),
            follow_strata=partial(reports.follow_strata, report, planned),
            forged=max(1, round(report.n * FORGED)),
            bars=reports.bars,
            interpret_question=reports.interpret_question,
            lead_with=reports.lead_with,
            follow=VersionsChoice(report, anytime).follow,
            folds=FoldedParts.choose(),
        )


def _offer(chosen: Format) -> None:
    """Give a format its address."""

    @on_survey(Role.VIEWER)
    def report(survey: Survey) -> ResponseReturnValue:
        """The report as a file."""
        args = request.args
        found, written = write_report(
            survey,
            chosen,
            args.get("version"),
            args.getlist(FIELD),
            read_explanation,
            read_comparison,
            read_compared_surveys,
        )
        return send_download(written, chosen.content_type, name_of_report(found, chosen.ending))

    blueprint.add_url_rule(f"/report.{chosen.ending}", f"report_{chosen.ending}", report)


for _format in FORMATS.values():
    _offer(_format)


def _offer_figure(ending: str, chosen: FigureFormat) -> None:
    """Give a file of a figure its address."""

    @on_survey(Role.VIEWER)
    def figure(survey: Survey) -> ResponseReturnValue:
        """What is found of one question."""
        with open_report(survey, request.args.get("version")) as (report, _session):
            reports.require_shown(report)
            entry = choose_question(report)
            if not entry.n:
                raise refuse(409, "question", N_("has no responses that are shown yet"))
            written = chosen.write(report, entry, str(get_locale()))
            name = name_of_report(report, ending, entry.question.name)
            return send_download(written, chosen.content_type, name)

    blueprint.add_url_rule(f"/figure.{ending}", f"figure_{ending}", figure)


for _ending, _figure in FIGURE_FORMATS.items():
    _offer_figure(_ending, _figure)


@blueprint.get("/microdata.zip")
@on_survey(Role.VIEWER)
def microdata(survey: Survey) -> ResponseReturnValue:
    """The noisy responses with what it takes to estimate from them elsewhere."""
    return send_microdata(survey, request.args.get("version"))


def _offer_labelled(ending: str) -> None:
    """Give a file with labels its address."""

    @on_survey(Role.VIEWER)
    def file(survey: Survey) -> ResponseReturnValue:
        """The noisy responses for SPSS or Stata."""
        return send_labelled(survey, ending, request.args.get("version"), request.args.get("language"))

    blueprint.add_url_rule(f"/responses.{ending}", f"responses_{ending}", file)


for _labelled in reports.LABELLED:
    _offer_labelled(_labelled)


@blueprint.get("/ddi.xml")
@on_survey(Role.VIEWER)
def study_description(survey: Survey) -> ResponseReturnValue:
    """The survey as data archives describe one."""
    return send_study_description(survey, request.args.get("version"))


@blueprint.get("/study.json")
@on_survey(Role.VIEWER)
def study_file(survey: Survey) -> ResponseReturnValue:
    """How the columns of the noisy responses are read as data from elsewhere, here or on another server."""
    name = name_of_survey_file(survey, gettext("study file"), "json")
    return send_download(write_study_file(session(), survey), "application/json", name)


@blueprint.get("/responses.csv")
@on_survey(Role.VIEWER)
def responses_csv(survey: Survey) -> ResponseReturnValue:
    """The noisy responses to a version."""
    return send_responses(survey, request.args.get("version"))


@blueprint.get("/strata.csv")
@on_survey(Role.VIEWER)
def strata_csv(survey: Survey) -> ResponseReturnValue:
    """A question's estimates by every stratum."""
    with open_report(survey) as (report, _session):
        reports.require_shown(report)
        name = choose_question(report).question.name
        return send_written(
            lambda file: reports.write_strata(report, [name], file),
            "text/csv",
            name_of_report(report, "csv", gettext("%(question)s by stratum", question=name)),
        )


@blueprint.get("/codebook.csv")
@on_survey(Role.VIEWER)
def codebook_csv(survey: Survey) -> ResponseReturnValue:
    """What the noisy responses' columns and codes mean."""
    version = surveys.published_version(survey, request.args.get("version"))
    nodes = strata.tree(session(), survey)
    text = reports.codebook_csv(surveys.definition_of(version), strata=bool(nodes))
    what = gettext("codebook of version %(number)d", number=version.number)
    return send_download(text, "text/csv", name_of_survey_file(survey, what, "csv"))
