"""The study sheet of a survey for programs."""

from typing import Any

from server.inputs import N_
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import study_sheets
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import record


@operation(
    "GET",
    "/surveys/<slug>/study",
    N_("The study sheet; what is left out was not stated"),
    Role.EDITOR,
    gives="study",
)
def show_study_sheet(survey: Survey) -> Reply:
    """As its page has it, public or not."""
    return Reply(study_sheets.read_study_sheet(session(), survey).sheet.as_json())


@operation(
    "PUT",
    "/surveys/<slug>/study",
    N_("Replace the study sheet; what is left out is not stated any more"),
    Role.EDITOR,
    takes="study",
    gives="study",
)
def replace_study_sheet(survey: Survey, body: Any) -> Reply:
    """All of it, or nothing where something is wrong."""
    sheet = study_sheets.parse_study_sheet(body)
    changed = study_sheets.save_study_sheet(session(), survey, sheet)
    if changed:
        record(Action.STUDY_CHANGED, survey, fields=", ".join(changed))
    return Reply(sheet.as_json())
