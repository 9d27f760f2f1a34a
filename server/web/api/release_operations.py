"""Central releases for programs: priced as often as one likes, then paid for, once."""

from decimal import Decimal
from typing import Any

from server import releases
from server.inputs import N_, refuse
from server.inputs.decimals import format_decimal, parse_decimal
from server.releases.basis import load_basis
from server.releases.plans.plan_reader import MOST_EPSILON, parse_plan, plan_json
from server.releases.pricing import cells_digest, price, require_cells
from server.reports.ledger_files import entry_json, ledger_json
from server.store.models import Role, Survey
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import researcher
from server.web.survey_records import record_release


@operation(
    "GET",
    "/surveys/<slug>/ledger",
    N_("The budget, what was spent and left, and every release"),
    Role.VIEWER,
    gives="ledger",
)
def show_ledger(survey: Survey) -> Reply:
    """With the figures that were released."""
    return Reply(ledger_json(releases.read_ledger(session(), survey), names=True))


@operation(
    "POST",
    "/surveys/<slug>/releases/price",
    N_("What a plan would cost, and how exact it would be; nothing is spent"),
    Role.EDITOR,
    takes="plan",
    gives="price",
    changes=False,
)
def price_plan(survey: Survey, body: Any) -> Reply:
    """What was released already costs nothing, unless it is wanted anew."""
    basis, plan = load_basis(session(), survey), parse_plan(body)
    found = price(basis, plan)
    items = []
    for place in range(len(plan.items)):
        known, expected = found.known.get(place), found.expected.get(place)
        items.append(
            {
                "released_in_entry": None if known is None else known.entry,
                "epsilon": None if expected is None else format_decimal(expected.epsilon),
                "delta": None if expected is None else format_decimal(expected.delta),
                "unit": None if expected is None else expected.unit,
                "error": None if expected is None else expected.error,
                "standard_error": None if expected is None else expected.standard_error,
                "margin": None if expected is None else expected.margin,
            }
        )
    return Reply(
        {
            "epsilon": format_decimal(found.epsilon),
            "delta": format_decimal(found.delta),
            "left": format_decimal(basis.ledger.left),
            "items": items,
            "paying": None if found.paying is None else plan_json(found.paying),
            "cells": None if found.paying is None else cells_digest(basis, found.paying),
        }
    )


@operation(
    "POST",
    "/surveys/<slug>/releases",
    N_("Release what was priced, for that price or less; the very plan that `price` gave under `paying`"),
    Role.EDITOR,
    takes="payment",
    gives="released",
    status=201,
    keyed=True,
)
def make_release(survey: Survey, body: Any) -> Reply:
    """Refused where it would cost more by now, or be about other strata or questions."""
    basis, plan = load_basis(session(), survey), parse_plan(body["plan"])
    require_cells(basis, plan, body["cells"])
    asked = price(basis, plan)
    for name, now, shown in (
        ("epsilon", asked.epsilon, body["epsilon"]),
        ("delta", asked.delta, body["delta"]),
    ):
        if now > parse_decimal(shown, name, Decimal(0), MOST_EPSILON):
            template = N_("must be %(low)s by now; it is %(value)s")
            raise refuse(409, name, template, low=format_decimal(now), value=shown)
    made = releases.make(session(), survey, plan, researcher(), basis)
    record_release(survey, basis.ledger, made)
    return Reply({"entries": [entry_json(each, names=True) for each in made]})
