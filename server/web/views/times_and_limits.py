"""When a survey takes responses, how many and from whom; pausing it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.collect import acceptance
from server.inputs import InputError
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import schedule, strata, surveys
from server.study.smallest_group import LARGEST_MINIMUM, LEAST_MINIMUM
from server.study.switches import SWITCHES, Until, name_action
from server.study.ticket_keys import MOST_LINKS
from server.web.context import link_to, session
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("schedule", __name__, url_prefix="/manage/surveys/<slug>")


@blueprint.get("/schedule")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """Times and limits as they are."""
    return _page(
        survey, schedule.format_schedule(schedule.schedule_of(survey)), notice=request.args.get("said", "")
    )


@blueprint.post("/schedule")
@on_survey(Role.EDITOR)
def save(survey: Survey) -> ResponseReturnValue:
    """Change them, all or none."""
    fields: Mapping[str, str] = {name: request.form.get(name, "") for name in schedule.FIELDS}
    if _is_over(survey) and "time_zone" not in request.form:  # its form asks for the minimum alone
        fields = {**schedule.format_schedule(schedule.schedule_of(survey)), "minimum": fields["minimum"]}
    try:
        changed = acceptance.set_schedule(session(), survey, schedule.parse_schedule(fields), surveys.now())
    except InputError as error:
        session().rollback()
        return _page(survey, fields, error), error.status
    for field, value in changed.items():
        _record(survey, field, value)
    session().commit()
    notice = "replaced" if "links" in changed else "saved"
    return redirect(url_for(".page", slug=survey.slug, said=notice), 303)


@blueprint.post("/pause")
@on_survey(Role.EDITOR)
def pause(survey: Survey) -> ResponseReturnValue:
    """Take no responses for a while."""
    acceptance.pause(survey)
    record(Action.PAUSED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="paused"), 303)


@blueprint.post("/resume")
@on_survey(Role.EDITOR)
def resume(survey: Survey) -> ResponseReturnValue:
    """Take responses again."""
    acceptance.resume(survey)
    record(Action.RESUMED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="resumed"), 303)


def _is_over(survey: Survey) -> bool:
    """Whether it is closed, or its closing time has come."""
    return surveys.find_standing(survey, surveys.now()) in (surveys.Standing.CLOSED, surveys.Standing.OVER)


def _page(
    survey: Survey, fields: Mapping[str, str], error: InputError | None = None, notice: str = ""
) -> str:
    problems = () if error is None else error.problems
    following = len(strata.following_links(session(), survey))
    return render_template(
        "manage/schedule.html",
        survey=survey,
        over=_is_over(survey),
        link=link_to(survey.link),
        fields=fields,
        zones=schedule.time_zones(),
        switches=SWITCHES,
        fixed={
            name for name, switch in SWITCHES.items() if survey.versions and switch.until is Until.PUBLISHED
        },
        largest_cap=schedule.LARGEST_CAP,
        largest_minimum=LARGEST_MINIMUM,
        most_links=MOST_LINKS,
        least=survey.minimum if survey.versions else LEAST_MINIMUM,
        problems=[describe(problem) for problem in problems],
        bad={problem.field for problem in problems},
        said=notice,
        links=following,
        apart=1 + len(strata.list_leaves(strata.tree(session(), survey))) - following,
    )


def _record(survey: Survey, field: str, value: Any) -> None:
    match field, value:
        case "opens_at" | "closes_at", datetime():
            action = Action.OPENING_SET if field == "opens_at" else Action.CLOSING_SET
            record(action, survey, time=f"{value:%Y-%m-%d %H:%M}")
        case "opens_at" | "closes_at", None:
            record(Action.OPENING_REMOVED if field == "opens_at" else Action.CLOSING_REMOVED, survey)
        case "time_zone", _:
            record(Action.ZONE_SET, survey, zone=value)
        case "links", _:
            record(Action.LINKS_REPLACED, survey, count=value)
        case "cap", None:
            record(Action.CAP_REMOVED, survey)
        case "cap" | "minimum", _:
            record(Action.CAP_SET if field == "cap" else Action.MINIMUM_SET, survey, number=value)
        case name, bool() if name in SWITCHES:
            record(name_action(name, on=value), survey)
        case _:
            record(Action.BY_INVITATION if value else Action.BY_LINK, survey)
