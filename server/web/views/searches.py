"""Searches of a survey: looked at for their price, opened, asked one thing at a time."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import releases
from server.inputs import N_, InputError, Problem, number_or_text, parse_json, refuse
from server.people.change_log import Action
from server.releases.basis import Basis, load_basis
from server.releases.offers import questions_of
from server.releases.plans.plan_reader import format_decimal
from server.releases.searches import (
    SearchPrice,
    SearchState,
    answers_of,
    ask_search,
    find_search,
    list_searches,
    list_strata,
    open_search,
    parse_terms,
    price_search,
)
from server.store.models import Role, State, Survey
from server.study import surveys
from server.web.context import session
from server.web.problem_texts import describe, state_in_percent
from server.web.security import on_survey, record, researcher

blueprint = Blueprint("searches", __name__, url_prefix="/manage/surveys/<slug>/releases/searches")

_FIELDS = ("share", "limit", "positives", "most", "epsilon", "delta")
_LONGEST = 2000
_ASKED = "asked"
"""The field of a page that has question and answer."""
"""Bytes of a choice that a page wrote as JSON."""


@blueprint.get("")
@on_survey(Role.VIEWER)
def page(survey: Survey) -> ResponseReturnValue:
    """Those there are, and the form for another."""
    return _list_page(survey, {})


@blueprint.post("/price")
@on_survey(Role.EDITOR, changes=False)
def quote(survey: Survey) -> ResponseReturnValue:
    """What a search would cost; nothing is spent."""
    typed = _read_typed()
    try:
        basis = load_basis(session(), survey)
        answer: str = _list_page(survey, typed, basis, price_search(basis, parse_terms(_read_terms(typed))))
    except InputError as error:
        session().rollback()
        return _list_page(survey, typed, error=error), error.status
    session().rollback()
    return answer


@blueprint.post("")
@on_survey(Role.EDITOR)
def create(survey: Survey) -> ResponseReturnValue:
    """Open the search whose price was shown; pressed twice, it is paid for once."""
    typed = _read_typed()
    try:
        basis = load_basis(session(), survey)
        terms = parse_terms(_read_terms(typed))
        if "sure" not in request.form:
            raise refuse(422, "sure", N_("must be ticked"))
        if request.form.get("entries") != str(len(basis.asked)):
            raise refuse(
                409, "search", N_("was opened meanwhile, or something else released; look at the price again")
            )
        number = open_search(session(), survey, terms, researcher(), basis)
    except InputError as error:
        session().rollback()
        return _list_page(survey, typed, error=error), error.status
    record(Action.SEARCH_OPENED, survey, number=number, epsilon=format_decimal(terms.epsilon))
    session().commit()
    return redirect(url_for(".one", slug=survey.slug, search=number, said="opened"), 303)


@blueprint.get("/<int:search>")
@on_survey(Role.VIEWER)
def one(survey: Survey, search: int) -> ResponseReturnValue:
    """What a search was asked, and the form for the next question."""
    return _page(survey, search)


@blueprint.post("/<int:search>")
@on_survey(Role.EDITOR)
def ask(survey: Survey, search: int) -> ResponseReturnValue:
    """Ask the next question."""
    typed = {name: request.form.get(name, "") for name in (_ASKED, "stratum")}
    before = len(find_search(session(), survey, search).entry.figures)
    try:
        question, option = _read_pair(typed[_ASKED])
        ask_search(session(), survey, search, question, option, _read_names(typed["stratum"]))
    except InputError as error:
        session().rollback()
        return _page(survey, search, typed, error), error.status
    session().flush()
    new = len(find_search(session(), survey, search).entry.figures) > before
    if new:
        record(Action.SEARCH_ASKED, survey, number=search, question=question)
    session().commit()
    return redirect(
        url_for(".one", slug=survey.slug, search=search, said="answered" if new else "known"), 303
    )


def _list_page(
    survey: Survey,
    typed: Mapping[str, str],
    basis: Basis | None = None,
    price: SearchPrice | None = None,
    error: InputError | None = None,
) -> str:
    problems = () if error is None else error.problems
    ledger = releases.read_ledger(session(), survey)
    return render_template(
        "releases/searches.html",
        survey=survey,
        ledger=ledger,
        searches=list_searches(session(), survey)[::-1],
        typed={"share": "10", "positives": "1", "epsilon": _usual(ledger.left), "delta": "0", **typed},
        price=price,
        entries=0 if basis is None else len(basis.asked),
        closed=survey.state == State.CLOSED,
        **_describe_problems(problems),
    )


def _page(
    survey: Survey, number: int, typed: Mapping[str, str] | None = None, error: InputError | None = None
) -> str:
    problems = () if error is None else error.problems
    record = find_search(session(), survey, number)
    goes_on = record.state == SearchState.GOES_ON and survey.archived_on is None
    basis = load_basis(session(), survey) if goes_on else None
    return render_template(
        "releases/search.html",
        survey=survey,
        found=record,
        ledger=releases.read_ledger(session(), survey),
        goes_on=goes_on,
        choices=() if basis is None else [(each, answers_of(each)) for each in basis.shape.variables],
        strata=() if basis is None else list_strata(basis.shape),
        asked=questions_of(survey),
        language=surveys.draft_document(survey)["language"],
        typed=typed or {},
        said=request.args.get("said", ""),
        **_describe_problems(problems),
    )


def _describe_problems(problems: tuple[Problem, ...]) -> dict[str, Any]:
    problems = tuple(
        replace(problem, field=_ASKED) if problem.field in ("question", "answer") else problem
        for problem in problems
    )
    return {
        "problems": [describe(state_in_percent(problem)) for problem in problems],
        "bad": {problem.field for problem in problems},
    }


def _read_typed() -> dict[str, str]:
    return {name: request.form.get(name, "").strip() for name in _FIELDS}


def _read_terms(typed: Mapping[str, str]) -> dict[str, object]:
    """What was typed, as terms say it: shares not in percent, and nothing for what was left empty."""
    found: dict[str, object] = {name: number_or_text(text) for name, text in typed.items() if text}
    share = found.get("share")
    if isinstance(share, int | float):
        found["share"] = format_decimal(Decimal(str(share)) / 100)
    return found


def _usual(left: Decimal) -> str:
    return format_decimal(min(left, Decimal(1)))


def _read_pair(text: str) -> tuple[str, str]:
    """A question and an answer, which a page wrote as JSON."""
    found = parse_json(text.encode("utf-8", "replace"), _LONGEST) if text else None
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(each, str) for each in found):
        raise refuse(422, _ASKED, N_("is required"))
    return found[0], found[1]


def _read_names(text: str) -> tuple[str, ...]:
    """The names of a stratum; none for all responses."""
    found = parse_json(text.encode("utf-8", "replace"), _LONGEST) if text else []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise refuse(422, "stratum", N_("is required"))
    return tuple(found)
