"""Searches for programs: looked at for their price, opened once, asked one thing at a time."""

from typing import Any

from server.inputs import N_, refuse, shorten_value
from server.inputs.decimals import format_decimal
from server.people.change_log import Action
from server.releases.basis import load_basis
from server.releases.searches import (
    ask_search,
    find_search,
    list_searches,
    open_search,
    parse_terms,
    price_search,
)
from server.reports.ledger_files import search_json
from server.store.models import Role, Survey
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import record, researcher


@operation(
    "GET",
    "/surveys/<slug>/searches",
    N_("The searches of a survey, with what they were asked"),
    Role.VIEWER,
    gives="searches",
)
def show_searches(survey: Survey) -> Reply:
    """The oldest first."""
    return Reply({"searches": [search_json(each) for each in list_searches(session(), survey)]})


@operation(
    "POST",
    "/surveys/<slug>/searches/price",
    N_("What a search would cost, and how noisy it would be; nothing is spent"),
    Role.EDITOR,
    takes="search_terms",
    gives="search_price",
    changes=False,
)
def quote_search(survey: Survey, body: Any) -> Reply:
    """Whatever is asked after, it costs this."""
    basis = load_basis(session(), survey)
    found = price_search(basis, parse_terms(body))
    return Reply(
        {
            "epsilon": format_decimal(found.epsilon),
            "delta": format_decimal(found.delta),
            "noise_people": found.noise,
            "error_people": found.error,
            "left": format_decimal(basis.ledger.left),
        }
    )


@operation(
    "POST",
    "/surveys/<slug>/searches",
    N_("Open a search of a closed survey, and pay for all of it"),
    Role.EDITOR,
    takes="search_terms",
    gives="search",
    status=201,
    keyed=True,
)
def start_search(survey: Survey, body: Any) -> Reply:
    """Refused where the budget does not suffice."""
    terms = parse_terms(body)
    number = open_search(session(), survey, terms, researcher())
    record(Action.SEARCH_OPENED, survey, number=number, epsilon=format_decimal(terms.epsilon))
    return Reply(search_json(find_search(session(), survey, number)))


@operation(
    "POST",
    "/surveys/<slug>/searches/<search>/answers",
    N_("Ask a search whether an answer is above its limit; asked again, it is answered alike"),
    Role.EDITOR,
    takes="search_question",
    gives="search_answer",
)
def answer_search(survey: Survey, search: str, body: Any) -> Reply:
    """Refused once as many were above as there may be."""
    number = int(search) if search.isdecimal() and len(search) < 10 else 0
    if not number:
        raise refuse(
            404, "search", N_("is not one of this survey; it is %(value)s"), value=shorten_value(search)
        )
    before = len(find_search(session(), survey, number).entry.figures)
    above = ask_search(session(), survey, number, body["question"], body["answer"], body.get("stratum", ()))
    session().flush()
    found = find_search(session(), survey, number)
    if len(found.entry.figures) > before:
        record(Action.SEARCH_ASKED, survey, number=number, question=body["question"])
    return Reply({"above": above, "state": str(found.state), "found": found.hits})
