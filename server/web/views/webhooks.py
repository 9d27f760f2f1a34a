"""Webhooks of a survey: set up, tried out, revoked, and what became of their messages."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import InputError
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import on_survey, record, researcher
from server.web.webhooks import webhook_rows
from server.web.webhooks.deliveries import GONE, PAUSES
from server.web.webhooks.posting import TIMEOUT, Trouble
from server.web.webhooks.receivers import PORTS, URL_LIMIT
from server.web.webhooks.switch import deliverer, require_webhooks
from server.web.webhooks.webhook_events import HOUR, Event

blueprint = Blueprint("webhooks", __name__, url_prefix="/manage/surveys/<slug>/webhooks")


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """Those there are, and the form for another."""
    return _page(survey, notice=request.args.get("said", ""))


@blueprint.post("")
@on_survey(Role.EDITOR)
def create(survey: Survey) -> ResponseReturnValue:
    """A new one; its secret is shown this once."""
    url = request.form.get("url", "")
    try:
        require_webhooks()
        webhook, secret = webhook_rows.create_webhook(session(), survey, researcher(), url)
    except InputError as error:
        session().rollback()
        return _page(survey, url=url, error=error), error.status
    record(Action.WEBHOOK_MADE, survey, host=webhook_rows.find_host(webhook))
    session().commit()
    return _page(survey, secret=secret)


@blueprint.post("/trial")
@on_survey(Role.EDITOR)
def add_trial(survey: Survey) -> ResponseReturnValue:
    """Send something to see whether it arrives."""
    try:
        require_webhooks()
        number = request.form.get("webhook", "")
        webhook = webhook_rows.find_webhook(session(), survey, number)
        webhook_rows.add_trial(session(), webhook)
    except InputError as error:
        session().rollback()
        return _page(survey, error=error), error.status
    record(Action.WEBHOOK_TRIED, survey, host=webhook_rows.find_host(webhook))
    session().commit()
    deliverer().notify()
    return redirect(url_for(".page", slug=survey.slug, said="tried"), 303)


@blueprint.post("/revoke")
@on_survey(Role.EDITOR, archived=True)
def revoke(survey: Survey) -> ResponseReturnValue:
    """Send nothing there any more."""
    webhook = webhook_rows.find_webhook(session(), survey, request.form.get("webhook", ""))
    record(Action.WEBHOOK_REVOKED, survey, host=webhook_rows.find_host(webhook))
    webhook_rows.revoke_webhook(session(), webhook)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="revoked"), 303)


def _page(
    survey: Survey, notice: str = "", secret: str = "", url: str = "", error: InputError | None = None
) -> str:
    return render_template(
        "manage/webhooks.html",
        survey=survey,
        webhooks=webhook_rows.list_webhooks(session(), survey),
        events=Event,
        troubles=Trouble,
        problems=[] if error is None else [describe(problem) for problem in error.problems],
        bad=set() if error is None else {problem.field for problem in error.problems},
        said=notice,
        secret=secret,
        url=url,
        limit=URL_LIMIT,
        ports=PORTS,
        hour=HOUR,
        attempts=len(PAUSES) + 1,
        seconds=round(TIMEOUT),
        gone=GONE,
    )
