"""Completion codes for programs."""

from typing import Any

from server.collect.checked_codes import CodeVerdict, check_number, note_codes, open_checker
from server.inputs import N_
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import record


def find_genuine(survey: Survey, body: Any) -> set[str]:
    """Which codes were made with the survey's key: it takes seconds, in which others write."""
    check_number(body["codes"])
    find = open_checker(session(), survey)
    session().rollback()
    return find(body["codes"])


@operation(
    "POST",
    "/surveys/<slug>/completions",
    N_("Check completion codes that a panel hands in; each is good once"),
    Role.EDITOR,
    takes="completions",
    gives="checked_completions",
    keyed=True,
    beforehand=find_genuine,
)
def check_completions(survey: Survey, body: Any, known: set[str]) -> Reply:
    """As the page does; asked again with the same key, it is answered alike."""
    checked = note_codes(session(), survey, body["codes"], known)
    good = sum(each.verdict == CodeVerdict.GOOD for each in checked)
    if good:
        record(Action.COMPLETIONS_CHECKED, survey, count=good)
    return Reply({"codes": [{"code": each.code, "verdict": str(each.verdict)} for each in checked]})
