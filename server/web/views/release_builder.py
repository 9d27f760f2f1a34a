"""A new release: choose, see what it costs, then pay. Nothing is spent by looking."""

import json
from collections.abc import Sequence
from decimal import Decimal

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext
from werkzeug.datastructures import MultiDict

from server import releases
from server.inputs import N_, InputError, Problem, parse_json, refuse
from server.releases import Ledger, Released
from server.releases.basis import Basis, load_basis
from server.releases.plans.added_items import CHOSEN, with_added
from server.releases.plans.plan_forms import PlanForm, key_of, read_typed, typed_plan
from server.releases.plans.plan_reader import (
    MOST_EPSILON,
    PLAN_LIMIT,
    Item,
    ItemKind,
    ReleasePlan,
    format_decimal,
    parse_decimal,
    parse_plan,
    plan_json,
)
from server.releases.pricing import Price, price, renew_plan, require_cells
from server.store.models import Role, Survey
from server.study import surveys
from server.study.planning import find_planned_number
from server.web.context import attach_file, session
from server.web.download_names import name_of_survey_file
from server.web.release_page import ReleasePage, digest_of
from server.web.security import on_survey, researcher
from server.web.survey_records import record_release

blueprint = Blueprint("release_builder", __name__, url_prefix="/manage/surveys/<slug>/releases")

_USUAL = Decimal(1)
"""The loss that the form proposes, where as much is left."""


@blueprint.get("/new")
@on_survey(Role.EDITOR)
def form(survey: Survey) -> ResponseReturnValue:
    """Everything that can be released of this survey, nothing ticked."""
    basis = _read(survey)
    if basis is None:
        return _nothing_page(survey)
    proposed = min(basis.ledger.left, _USUAL)
    planned = find_planned_number(survey, surveys.draft_document(survey))
    people = "" if planned is None else str(planned)
    return _page(survey, basis, PlanForm(epsilon=format_decimal(proposed) if proposed else "", people=people))


@blueprint.post("/new")
@on_survey(Role.EDITOR, changes=False)
def quote_price(survey: Survey) -> ResponseReturnValue:
    """What the ticked things would cost, and how exact they would be."""
    basis = _read(survey)
    typed, looked = PlanForm(), None
    problems: Sequence[Problem] = ()
    status = 200
    try:
        typed = _read_upload() or read_typed(_fields())
        typed = with_added(typed, _fields())
        if not typed.items:
            raise refuse(422, "items", N_("must be one thing or more"))
        if typed.complete and basis is not None:
            looked = _quote(basis, typed)
    except InputError as error:
        problems, status = error.problems, error.status
    answer = _nothing_page(survey) if basis is None else _page(survey, basis, typed, looked, problems)
    session().rollback()  # looking changes nothing
    return answer, status


@blueprint.post("/plan.json")
@on_survey(Role.EDITOR, changes=False)
def plan_file(survey: Survey) -> ResponseReturnValue:
    """The plan that the form describes, to be used again or from the command line."""
    plan = parse_plan(read_typed(_fields()).document())
    text = json.dumps(plan_json(plan), ensure_ascii=False, indent=2) + "\n"
    response = Response(text, mimetype="application/json")
    return attach_file(response, name_of_survey_file(survey, gettext("plan of a release"), "json"))


@blueprint.post("")
@on_survey(Role.EDITOR)
def make(survey: Survey) -> ResponseReturnValue:
    """Release what was looked at, and pay for it; pressed twice, it is paid for once."""
    basis = _read(survey)
    typed = PlanForm()
    try:
        typed = read_typed(_fields())
        plan = parse_plan(parse_json(request.form.get("plan", "").encode(), PLAN_LIMIT))
        if request.form.get("looked") != digest_of(typed):
            raise refuse(409, "plan", N_("was changed after its price was shown; look at it again"))
        if "sure" not in request.form:
            raise refuse(422, "sure", N_("must be ticked"))
        basis = basis or load_basis(session(), survey)  # which says what there is not
        require_cells(basis, plan, request.form.get("cells"))
        plan = renew_plan(basis, plan, _list_seen(typed, plan))
        made = releases.make(session(), survey, plan, researcher(), basis)
    except InputError as error:
        if basis is None:
            answer = _nothing_page(survey)
        else:
            answer = _page(survey, basis, typed, _quote_if_possible(basis, typed), error.problems)
        session().rollback()
        return answer, error.status
    return _record_and_show(survey, basis.ledger, made)


@blueprint.post("/exact")
@on_survey(Role.EDITOR)
def exact(survey: Survey) -> ResponseReturnValue:
    """Release the tallies exactly as they arrived, for the price that was shown or less."""
    basis = load_basis(session(), survey)
    price = releases.shuffling_of(basis.shape)
    if isinstance(price, Problem):
        raise InputError(409, [price])
    if "sure" not in request.form:
        raise refuse(422, "sure", N_("must be ticked"))
    shown = parse_decimal(request.form.get("epsilon"), "epsilon", Decimal(0), MOST_EPSILON)
    if price.epsilon > shown:
        template = N_("must be %(low)s by now; it is %(value)s")
        raise refuse(409, "epsilon", template, low=format_decimal(price.epsilon), value=format_decimal(shown))
    made = releases.make(session(), survey, ReleasePlan((Item(ItemKind.SHUFFLED),)), researcher(), basis)
    return _record_and_show(survey, basis.ledger, made)


def _record_and_show(survey: Survey, before: Ledger, made: Sequence[Released]) -> ResponseReturnValue:
    """Log what is new, keep it, and show it."""
    new = record_release(survey, before, made)
    session().commit()
    number = max(entry.release for entry in made)
    notice = "released" if new else "known"
    return redirect(url_for("releases.one", slug=survey.slug, number=number, said=notice), 303)


def _read(survey: Survey) -> Basis | None:
    """What a release starts from; None while there is nothing to release, or no budget."""
    if survey.current is None or releases.budget_of(session(), survey) is None:
        return None
    return load_basis(session(), survey)


def _fields() -> list[tuple[str, str]]:
    # A part of a form may come without a name.
    return [(name or "", text) for name, text in request.form.items(multi=True)]


def _read_upload() -> PlanForm | None:
    """The plan of a file, if one was sent."""
    file = request.files.get("plan")
    if file is None or not file.filename:
        return None
    return typed_plan(parse_plan(parse_json(file.read(PLAN_LIMIT + 1), PLAN_LIMIT)))


def _list_seen(typed: PlanForm, plan: ReleasePlan) -> list[int | None]:
    """For each item, the entry of the ledger that it shall be newer than."""
    numbers = [typed.anew(key_of(item)) for item in plan.items]
    return [int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None for text in numbers]


def _quote(basis: Basis, typed: PlanForm) -> Price:
    """What is typed costs this much."""
    plan = parse_plan(typed.document())
    return price(basis, renew_plan(basis, plan, _list_seen(typed, plan)))


def _quote_if_possible(basis: Basis, typed: PlanForm) -> Price | None:
    """The same; None where it cannot be said."""
    try:
        return _quote(basis, typed)
    except InputError:
        return None


def _nothing_page(survey: Survey) -> str:
    """The page where nothing can be released yet."""
    ledger = releases.read_ledger(session(), survey)
    return render_template("releases/new.html", survey=survey, ledger=ledger, page=None, problems=())


def _page(
    survey: Survey,
    basis: Basis,
    typed: PlanForm,
    looked: Price | None = None,
    problems: Sequence[Problem] = (),
) -> str:
    sent = MultiDict(request.form)
    if not problems:
        for name in CHOSEN.get(sent.get("action", ""), ()):
            sent.poplist(name)
    page = ReleasePage(survey, basis, typed, looked, problems, sent)
    return render_template(
        "releases/new.html", survey=survey, ledger=basis.ledger, page=page, problems=page.problem_texts
    )
