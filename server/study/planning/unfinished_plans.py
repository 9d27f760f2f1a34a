"""What a draft plans that may still be unfinished: as far as it says something possible."""

from collections.abc import Mapping
from typing import Any

from server.inputs.schema import is_possible
from server.store.models import Survey


def planned_respondents(document: Mapping[str, Any]) -> int | None:
    """How many respondents are planned for, if a possible number is."""
    number = _read_planned(document, "respondents")
    return None if number is None else int(number)


def find_planned_number(survey: Survey, document: Mapping[str, Any]) -> int | None:
    """How many responses are wanted: as many as the survey takes at most, or as its draft plans."""
    return planned_respondents(document) if survey.cap is None else survey.cap


def planned_margin(document: Mapping[str, Any]) -> float | None:
    """The margin that is planned for, if it is a possible one."""
    return _read_planned(document, "margin")


def _read_planned(document: Mapping[str, Any], name: str) -> float | None:
    plan = document.get("plan")
    number = plan.get(name) if isinstance(plan, dict) else None
    return number if is_possible(number, "properties", "plan", "properties", name) else None
