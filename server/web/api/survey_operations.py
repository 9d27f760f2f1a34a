"""Surveys for programs: listed, made, changed, published, closed."""

import re
from dataclasses import asdict
from typing import Any

from flask import request

from server.collect import acceptance
from server.inputs import N_, refuse, shorten_value
from server.people import survey_access
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import planning, surveys
from server.study.definitions.definition_reader import parse_definition
from server.study.retention import retention_of
from server.study.schedule import schedule_of
from server.study.switches import SWITCHES, name_action
from server.web.api.api_guard import require_token
from server.web.api.operations import Reply, operation
from server.web.context import link_to, session
from server.web.security import get_role, record, researcher

_TAG = re.compile(r'(?:W/)?"([0-9]{1,9})"')


@operation(
    "GET", "/surveys", N_("The surveys that the token reaches, newest first"), Role.VIEWER, gives="surveys"
)
def list_surveys() -> Reply:
    """All of them, without their questions."""
    only = require_token().survey_id
    entries = survey_access.shared_with(session(), researcher())
    return Reply({"surveys": [_survey_json(each, role) for each, role in entries if only in (None, each.id)]})


@operation(
    "POST",
    "/surveys",
    N_("Make a survey from a definition"),
    Role.EDITOR,
    takes="definition",
    gives="survey",
    status=201,
    keyed=True,
)
def create_survey(body: Any) -> Reply:
    """A draft; the researcher owns it."""
    survey = surveys.create(session(), researcher(), parse_definition(body))
    record(Action.SURVEY_CREATED, survey)
    return Reply(_survey_json(survey, Role.OWNER), new_survey=survey)


@operation("GET", "/surveys/<slug>", N_("A survey, without its questions"), Role.VIEWER, gives="survey")
def show_survey(survey: Survey) -> Reply:
    """Its state and settings."""
    return Reply(_survey_json(survey, get_role()))


@operation(
    "GET",
    "/surveys/<slug>/definition",
    N_("The draft of a survey; ETag names its state"),
    Role.VIEWER,
    gives="draft",
)
def show_definition(survey: Survey) -> Reply:
    """As it stands, finished or not."""
    return Reply(surveys.draft_document(survey), {"ETag": f'"{survey.draft_number}"'})


@operation(
    "PUT",
    "/surveys/<slug>/definition",
    N_("Replace the draft; with If-Match only if it is still in that state"),
    Role.EDITOR,
    takes="definition",
    gives="survey",
)
def replace_definition(survey: Survey, body: Any) -> Reply:
    """What was published stays as it is."""
    definition = parse_definition(body)
    surveys.save_draft(session(), survey, definition.as_json(), _read_state())
    record(Action.DRAFT_CHANGED, survey)
    return Reply(_survey_json(survey, get_role()))


@operation(
    "POST",
    "/surveys/<slug>/publish",
    N_("Freeze the draft as the next version and take responses; the same draft again changes nothing"),
    Role.EDITOR,
    takes="publish",
    gives="survey",
)
def publish_survey(survey: Survey, body: Any) -> Reply:
    """As the button does: what it asks first must be said here."""
    version = surveys.publish(
        session(), survey, body.get("sha256"), keep_brackets=body.get("keep_brackets", False)
    )
    if planning.plan(surveys.draft(survey)).shortfalls and not body.get("despite_plan", False):
        raise refuse(
            409,
            "despite_plan",
            N_("must be true; the planned respondents give less than the margin that is wanted"),
        )
    record(Action.PUBLISHED, survey, version=version.number)
    return Reply(_survey_json(survey, get_role()))


@operation("POST", "/surveys/<slug>/pause", N_("Take no responses for a while"), Role.EDITOR, gives="survey")
def pause_survey(survey: Survey) -> Reply:
    """Until it is resumed."""
    acceptance.pause(survey)
    record(Action.PAUSED, survey)
    return Reply(_survey_json(survey, get_role()))


@operation("POST", "/surveys/<slug>/resume", N_("Take responses again"), Role.EDITOR, gives="survey")
def resume_survey(survey: Survey) -> Reply:
    """After a pause."""
    acceptance.resume(survey)
    record(Action.RESUMED, survey)
    return Reply(_survey_json(survey, get_role()))


@operation(
    "POST",
    "/surveys/<slug>/settings",
    N_("Change what devices keep of the survey; what is left out stays"),
    Role.EDITOR,
    takes="settings",
    gives="survey",
)
def change_settings(survey: Survey, body: Any) -> Reply:
    """As the page does; after how many days the server deletes what, its owner says there."""
    schedule = schedule_of(survey).turn(body)
    for name, on in acceptance.set_schedule(session(), survey, schedule, surveys.now()).items():
        record(name_action(name, on=on), survey)
    return Reply(_survey_json(survey, get_role()))


@operation(
    "POST", "/surveys/<slug>/close", N_("Take no responses any more, for good"), Role.EDITOR, gives="survey"
)
def close_survey(survey: Survey) -> Reply:
    """A closed survey stays closed; closing it again changes nothing."""
    if acceptance.close_survey(survey):
        record(Action.CLOSED, survey)
    return Reply(_survey_json(survey, get_role()))


def _read_state() -> int | None:
    """The state of the draft that the request was made for."""
    asked = request.headers.get("If-Match")
    if asked is None or asked.strip() == "*":
        return None
    found = _TAG.fullmatch(asked.strip())
    if found is None:
        template = N_("must be the ETag of a definition; it is %(value)s")
        raise refuse(422, "If-Match", template, value=shorten_value(asked))
    return int(found[1])


def _survey_json(survey: Survey, role: Role) -> dict[str, Any]:
    session().flush()
    document = surveys.draft_document(survey)
    times = {
        name: None if moment is None else f"{moment.isoformat(timespec='minutes')}Z"
        for name, moment in (("opens_at", survey.opens_at), ("closes_at", survey.closes_at))
    }
    return {
        "slug": survey.slug,
        "title": str(document.get("title", "")),
        "language": str(document.get("language", "")),
        "role": str(role),
        "state": str(survey.state),
        "paused": survey.paused,
        "archived": survey.archived_on is not None,
        "simulated": survey.simulated,
        "created_on": survey.created_on.isoformat(),
        **times,
        "time_zone": survey.time_zone,
        "cap": survey.cap,
        "minimum": survey.minimum,
        "by_invitation": survey.by_invitation,
        **{name: getattr(survey, name) for name in SWITCHES},
        **asdict(retention_of(survey)),
        "link": link_to(survey.link),
        "versions": [
            {"number": each.number, "sha256": each.sha256, "published_on": each.published_on.isoformat()}
            for each in survey.versions
        ],
    }
