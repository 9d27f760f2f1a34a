"""A class that plays with cards: its survey, made with one button, and the board for all to see."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import reports
from server.inputs import N_, refuse, shorten_value
from server.output.languages import LANGUAGES
from server.people.change_log import Action
from server.store.models import Role, State, Survey
from server.study import gallery, surveys
from server.web.context import link_to, session
from server.web.lessons.dealt_cards import compare_cards, read_cards
from server.web.report_opening import open_report
from server.web.security import on_survey, record, researcher, signed_in

blueprint = Blueprint("lesson_board", __name__, url_prefix="/manage")


@blueprint.get("/class")
@signed_in
def start() -> ResponseReturnValue:
    """What is made, and the button."""
    language = str(get_locale() or "en")
    return render_template(
        "teaching/start.html", definition=gallery.read_class_survey(language), form_languages=LANGUAGES
    )


@blueprint.post("/class")
@signed_in
def make() -> ResponseReturnValue:
    """The survey of a class, published and open."""
    language = request.form.get("language", "")
    if language not in LANGUAGES:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, "language", template, limit=", ".join(LANGUAGES), value=shorten_value(language))
    survey = surveys.create(session(), researcher(), gallery.read_class_survey(language))
    record(Action.SURVEY_CREATED, survey)
    version = surveys.publish(session(), survey)
    record(Action.PUBLISHED, survey, version=version.number)
    session().commit()
    return redirect(url_for(".board", slug=survey.slug), 303)


@blueprint.get("/surveys/<slug>/board")
@on_survey(Role.VIEWER)
def board(survey: Survey) -> ResponseReturnValue:
    """The link to scan and what is found so far, in letters for a wall; of any published survey."""
    with open_report(survey) as (report, _session):
        entry = next((entry for entry in report.questions if entry.question.name == gallery.CARD), None)
        dealt = None if entry is None else read_cards()
        return render_template(
            "teaching/board.html",
            survey=survey,
            report=report,
            link=link_to(survey.link),
            # On the way intervals must hold at every look; at the end there is one.
            anytime=survey.state == State.OPEN,
            waiting=report.unseen.each,
            interpret_question=reports.interpret_question,
            with_cards=entry is not None
            and survey.state == State.CLOSED
            and entry.n > 0
            and not report.withheld,
            compared=None if entry is None or dealt is None or not entry.n else compare_cards(entry, dealt),
        )
