"""Results while a survey runs, and the report to take away."""

from collections.abc import Iterator
from functools import partial

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import reports
from server.inputs import N_, refuse, shorten_value
from server.reports import Crossed, QuestionReport, Report
from server.reports.contents.diagnostic_sections import FORGED
from server.reports.formats import FORMATS, Format
from server.reports.question_figures import FIGURE_FORMATS, FigureFormat
from server.store.models import Role, Survey
from server.study import strata, surveys
from server.web.context import send_written, session
from server.web.report_opening import open_report, send_microdata, send_responses, write_report
from server.web.security import on_survey
from server.web.webhooks.webhook_events import find_planned_number

blueprint = Blueprint("results", __name__, url_prefix="/manage/surveys/<slug>")

_KEPT = ("version", "interval", "question", "figure", "row", "column", "row_answer", "column_answer")
"""What the address says the page shall show; each of its forms and links changes some of it."""


@blueprint.get("/results")
@on_survey(Role.VIEWER)
def live(survey: Survey) -> ResponseReturnValue:
    """Responses so far and what they say."""
    anytime = _one_of("interval", ("once", "anytime")) == "anytime"
    with open_report(survey, request.args.get("version")) as (report, _session):
        asked = report.question(_one_of("question", [entry.question.name for entry in report.questions]))
        shares = [name for name, _ in reports.figures(asked)]
        which = request.args.get("figure", "")
        kept = {name: request.args[name] for name in _KEPT if request.args.get(name)}
        return render_template(
            "results/live.html",
            survey=survey,
            report=report,
            formats=FORMATS.values(),
            planned=find_planned_number(survey),
            anytime=anytime,
            kept=kept,
            asked=asked,
            figures=reports.figures(asked),
            which=which if which in shares else shares[0],
            # Computed where they are drawn, so that a mistake in one leaves the rest of the page.
            in_groups=partial(reports.forest, report, asked, which if which in shares else shares[0]),
            crossable=[entry.question for entry in _crossable(report)],
            cross=partial(_read_crossing, report),
            forged=max(1, round(report.n * FORGED)),
            bars=reports.bars,
            interpret_question=reports.interpret_question,
            highest=reports.find_highest,
            ratio_chart=reports.ratio_chart,
        )


def _offer(chosen: Format) -> None:
    """Give a format its address."""

    @on_survey(Role.VIEWER)
    def report(survey: Survey) -> ResponseReturnValue:
        """The report as a file."""
        found, written = write_report(survey, chosen, request.args.get("version"))
        return _download(written, chosen.content_type, f"{_name(found)}.{chosen.ending}")

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
            entry = report.question(_one_of("question", [entry.question.name for entry in report.questions]))
            if not entry.n:
                raise refuse(409, "question", N_("has no responses that are shown yet"))
            written = chosen.write(report, entry, str(get_locale()))
            return _download(written, chosen.content_type, f"{_name(report)}-{entry.question.name}.{ending}")

    blueprint.add_url_rule(f"/figure.{ending}", f"figure_{ending}", figure)


for _ending, _figure in FIGURE_FORMATS.items():
    _offer_figure(_ending, _figure)


@blueprint.get("/microdata.zip")
@on_survey(Role.VIEWER)
def microdata(survey: Survey) -> ResponseReturnValue:
    """The noisy responses with what it takes to estimate from them elsewhere."""
    return send_microdata(survey, request.args.get("version"))


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
        name = _one_of("question", [entry.question.name for entry in report.questions])
        return send_written(
            lambda file: reports.write_strata(report, [name], file),
            "text/csv",
            f"{survey.slug}-{name}-strata.csv",
        )


@blueprint.get("/codebook.csv")
@on_survey(Role.VIEWER)
def codebook_csv(survey: Survey) -> ResponseReturnValue:
    """What the noisy responses' columns and codes mean."""
    version = surveys.published_version(survey, request.args.get("version"))
    nodes = strata.tree(session(), survey)
    text = reports.codebook_csv(surveys.definition_of(version), strata=bool(nodes))
    return _download(text, "text/csv", f"{survey.slug}-v{version.number}-codebook.csv")


def _name(report: Report) -> str:
    return f"{report.slug}-report" if report.pooled else f"{report.slug}-v{report.version_number}-report"


def _download(text: str | bytes, mimetype: str, name: str) -> Response:
    response = Response(text, mimetype=mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _one_of(field: str, names: list[str] | tuple[str, ...]) -> str:
    """What the address asks for; the first where it says nothing."""
    asked = request.args.get(field) or names[0]
    if asked not in names:
        raise refuse(
            404,
            field,
            N_("must be one of %(limit)s; it is %(value)s"),
            limit=", ".join(names),
            value=shorten_value(asked),
        )
    return asked


def _crossable(report: Report) -> Iterator[QuestionReport]:
    return (entry for entry in report.questions if reports.can_be_crossed(entry.question))


def _read_crossing(report: Report) -> Crossed | None:
    """The two questions that the address names, and an answer of each."""
    names = ["", *(entry.question.name for entry in _crossable(report))]
    row, column = _one_of("row", names), _one_of("column", names)
    if not (row and column and report.n):
        return None
    if row == column:
        raise refuse(404, "column", N_("must be another question than %(value)s"), value=shorten_value(row))
    if all(report.question(name).question.encoding.between_ends for name in (row, column)):
        raise refuse(
            404, "column", N_("must have answers; it is a number like %(value)s"), value=shorten_value(row)
        )
    chosen = _answer(report, "row_answer", row), _answer(report, "column_answer", column)
    return reports.cross_questions(report, row, column, chosen)


def _answer(report: Report, field: str, name: str) -> int:
    """The place of the answer that is asked for; yes or the first one where the address has none of this question."""
    question = report.question(name).question
    places = [f"{name}-{place}" for place in range(len(question.answers))]
    asked = request.args.get(field, "")
    if asked in places:
        return places.index(asked)
    main = question.traits.main
    return 0 if main is None else question.answers.index(main)
