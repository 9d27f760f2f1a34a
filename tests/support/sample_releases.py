"""Central releases in a few words: budgets, plans as documents, and what they gave."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from server import releases
from server.people import survey_access
from server.releases import Figure, Ledger, Released
from server.releases.plans.plan_reader import parse_plan
from server.store.models import Survey
from server.study import strata
from server.study.strata import Node
from tests.support import factories

ALL = 100
"""The largest loss of an item: so much that nearly nothing is added."""


def find_survey(session: Session, slug: str) -> Survey:
    """The survey."""
    survey = survey_access.find(session, slug)
    assert survey is not None
    return survey


def grant(
    database_url: str, slug: str, epsilon: str = "100", delta: str = "0", neighbours: str = "unbounded"
) -> None:
    """Set a survey's budget."""
    with factories.writing(database_url) as session:
        releases.set_budget(session, find_survey(session, slug), epsilon, delta, neighbours, None)


def release(
    database_url: str, slug: str, *items: Mapping[str, Any], epsilon: float | str = ALL, **plan: Any
) -> tuple[Released, ...]:
    """Release items, each at this loss unless the plan divides another way."""
    document: dict[str, Any] = {"format": 1, "items": [dict(item) for item in items], **plan}
    if "division" in plan:
        document["epsilon"] = epsilon
    else:
        document["division"] = "given"
        for item in document["items"]:
            if item["kind"] != "shuffled":
                item.setdefault("epsilon", epsilon)
    with factories.writing(database_url) as session:
        return releases.make(session, find_survey(session, slug), parse_plan(document), None)


def ledger(database_url: str, slug: str) -> Ledger:
    """The survey's ledger."""
    with factories.writing(database_url) as session:
        return releases.read_ledger(session, find_survey(session, slug))


def leaves(session: Session, survey: Survey) -> tuple[Node, ...]:
    """The smallest strata."""
    return strata.list_leaves(strata.tree(session, survey))


def figures(released: Released, statistic: str) -> dict[tuple[str, ...], Figure]:
    """The figures of a statistic, by the names of the answers or strata where they are."""
    return {
        tuple(answer for _, answer in figure.place): figure
        for figure in released.figures
        if figure.statistic == statistic
    }


def values(released: Released, statistic: str) -> dict[tuple[str, ...], Any]:
    """Their values."""
    return {place: figure.value for place, figure in figures(released, statistic).items()}


def problem(error: Any) -> tuple[int, str, str]:
    """Status, field and message of a refusal with one problem."""
    (only,) = error.value.problems
    return error.value.status, only.field, only.message
