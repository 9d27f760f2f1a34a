"""Who changed what, and when."""

from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from server import people
from server.inputs import N_
from server.people import change_log
from server.store.models import AuditEntry, Role, Survey
from server.web.context import session
from server.web.problem_texts import FIELDS
from server.web.security import administrators_only, on_survey

blueprint = Blueprint("log", __name__, url_prefix="/manage")

ROLES = {"viewer": N_("viewer"), "editor": N_("editor"), "owner": N_("owner")}
_SHOWN = 100


@blueprint.get("/surveys/<slug>/log")
@on_survey(Role.EDITOR)
def of_survey(survey: Survey) -> ResponseReturnValue:
    """What was changed in a survey."""
    return _page(survey)


@blueprint.get("/log")
@administrators_only
def of_installation() -> ResponseReturnValue:
    """What was changed in accounts and the installation; administrators see no survey's log but their own."""
    return _page(None)


def _page(survey: Survey | None) -> str:
    # One more than is shown tells whether there are older ones.
    found = change_log.list_entries(session(), survey, _SHOWN + 1, request.args.get("before", type=_number))
    return render_template(
        "manage/log.html",
        survey=survey,
        entries=[
            (entry, _name_author(entry), _describe_change(entry), _program(entry)) for entry in found[:_SHOWN]
        ],
        older=found[_SHOWN - 1].id if len(found) > _SHOWN else None,
        by_server=change_log.BY_SERVER,
        zone="UTC" if survey is None else survey.time_zone,
    )


def _name_author(entry: AuditEntry) -> str:
    """Name or login; empty for the first researcher before they chose any, the command line and the server."""
    return "" if entry.researcher is None else people.get_name(entry.researcher)


def _program(entry: AuditEntry) -> str:
    """The program that did it with a token; empty for what was done on the pages."""
    return str(change_log.details_of(entry).get("program", ""))


def _describe_change(entry: AuditEntry) -> str:
    details = {name: _say(name, value) for name, value in change_log.details_of(entry).items()}
    return gettext(change_log.SENTENCES[change_log.Action(entry.action)], **details)


def _say(name: str, value: Any) -> Any:
    """A role, or the names of fields, as pages call them."""
    if name == "role" and value in ROLES:
        return gettext(ROLES[value])
    if name == "fields":
        return ", ".join(gettext(FIELDS.get(field, field)) for field in value.split(", "))
    return value


def _number(text: str) -> int:
    """The number of an entry; no larger than the column holds."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(text)
    return int(text)
