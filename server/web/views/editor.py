"""The editor: every button sends the whole form, which is kept whatever it holds, and then does its work.

It needs no script. Each answer is a redirection to the page with the draft as it is now
kept, so that nothing is sent twice by loading a page again.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import InputError, Problem, number_or_text, parse_form, schema_limit
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import drafts, editing, planning, surveys
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import on_survey, record, researcher, signed_in

blueprint = Blueprint("editor", __name__, url_prefix="/manage")

CONTROLS = {"action", "added", "base", "current", "division", "slider"}
"""Fields that are no part of the document."""

_STRENGTH = re.compile(r"(questions\[\d+\]\.design|strength)\.(gamma|epsilon)")
_OPTION_NAME = re.compile(r"questions\[(\d+)\]\.options\[(\d+)\]\.name")


@blueprint.get("/surveys/new")
@signed_in
def new() -> ResponseReturnValue:
    """An empty editor; nothing is kept before something is sent."""
    return _page(None, _empty())


@blueprint.post("/surveys/new")
@limit_body(LONG_FORM)
@signed_in
def create() -> ResponseReturnValue:
    """Keep what was written as a new draft."""
    before = _empty()
    document = _read_document(before, rename=True)
    survey = surveys.create(session(), researcher(), before)
    surveys.save_draft(session(), survey, document)
    record(Action.SURVEY_CREATED, survey)
    return _done(survey, document, survey.draft_number)


@blueprint.get("/surveys/<slug>/edit")
@on_survey(Role.EDITOR)
def edit(survey: Survey) -> ResponseReturnValue:
    """The editor with the draft in it."""
    return _page(survey, surveys.draft_document(survey))


@blueprint.post("/surveys/<slug>/edit")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def save(survey: Survey) -> ResponseReturnValue:
    """Keep what was written as the draft, and do what the button says."""
    number = survey.draft_number
    mine = request.form.get("action") == "mine"
    base = _number(request.form.get("current" if mine else "base", ""), survey.draft_number)
    made_from = _number(request.form.get("base", ""), survey.draft_number)
    document: dict[str, Any] = {}
    try:
        before = surveys.draft_document(survey, made_from)
        document = _read_document(before, rename=survey.current is None)
        surveys.save_draft(session(), survey, document, base)
    except InputError as error:
        if error.status != 409:
            raise
        document = document or _read_document(surveys.draft_document(survey), rename=False)
        session().rollback()
        return _page(survey, document, base=made_from, overtaken=True), 409
    return _done(survey, document, number)


def _empty() -> dict[str, Any]:
    return editing.new_document(str(request.accept_languages.best_match(LANGUAGES) or DEFAULT_LANGUAGE))


def _read_document(before: Mapping[str, Any], *, rename: bool) -> dict[str, Any]:
    """The document that the form holds, settled."""
    form = request.form
    # A part of a form may come without a name.
    fields = [(name or "", text) for name, text in form.items(multi=True) if name not in CONTROLS]
    gamma = number_or_text(form.get("slider", ""))
    document = parse_form(fields)
    if "strength" in document:
        # The form shows what all spend by it. A budget that was typed over it takes its place.
        typed = document.get("budget") != editing.shown_budget(before)
        document.pop("strength" if typed else "budget", None)
    return editing.settle_document(
        document,
        before,
        equal=form["division"] == "equal" if "division" in form else editing.equal_division(before),
        gamma=None if isinstance(gamma, str) else gamma,
        rename=rename,
    )


def _done(survey: Survey, document: dict[str, Any], number: int) -> ResponseReturnValue:
    """Carry out the button on what is kept now, and show where it leads; state `number` was kept before."""
    action = request.form.get("action", "save")
    where: dict[str, Any] = {}
    if action in ("undo", "redo"):
        went = drafts.undo(session(), survey) if action == "undo" else drafts.redo(session(), survey)
        where["said"] = ("undone" if action == "undo" else "redone") if went else "nothing"
    else:
        step = editing.carry_out_action(document, action, request.form.get("added", ""))
        surveys.save_draft(session(), survey, step.document)
        where = {"at": step.at, "option": step.option, "said": step.said or None}
    if survey.draft_number != number:
        record(Action.DRAFT_CHANGED, survey)
    session().commit()
    if action == "save":
        if _check_document(surveys.draft_document(survey))[0] is not None:
            return redirect(url_for("manage.overview", slug=survey.slug), 303)
        where["check"] = 1
    elif "check" in request.args:
        where["check"] = 1
    return redirect(url_for(".edit", slug=survey.slug, **where), 303)


def _page(
    survey: Survey | None, document: dict[str, Any], *, base: int | None = None, overtaken: bool = False
) -> str:
    definition, problems = _check_document(document)
    spending = editing.spending(document)
    gamma = editing.find_gamma(spending.strength) if spending.equal else None
    budget = editing.shown_budget(document)
    shown_document = document if budget is None else {**document, "budget": budget}
    margin = planning.planned_margin(document) or planning.DEFAULT_MARGIN
    undo, redo = (False, False) if survey is None else drafts.count_steps(session(), survey)
    return render_template(
        "manage/editor.html",
        survey=survey,
        document=document,
        fields=editing.Fields(shown_document, _shown(problems, document), everything="check" in request.args),
        checked="check" in request.args,
        base=base or (survey.draft_number if survey is not None else 0),
        overtaken=overtaken,
        at=_read_number("at"),
        at_option=_read_number("option"),
        said=request.args.get("said", ""),
        undo=undo,
        redo=redo,
        spending=spending,
        slider=editing.place_slider(spending.strength),
        shown=None if gamma is None else planning.consequences(gamma, margin),
        promise=_promise(spending, margin),
        margin=margin,
        repeated=editing.find_repeated(document),
        alike=editing.find_alike(document),
        brackets=editing.find_brackets(document),
        make_plan=None if definition is None else partial(planning.plan, definition),
        kinds=editing.KINDS,
        cards=editing.cards(document, spending),
        scale_needs=partial(_scale_needs, margin),
        most_questions=schema_limit("properties", "questions", "maxItems"),
    )


def _promise(spending: editing.Spending, margin: float) -> planning.Promise | None:
    """What the first screen will say of the questions whose strength is known by now."""
    losses = [epsilon for epsilon in spending.entries if epsilon]
    return planning.make_promise(losses, margin) if losses else None


def _scale_needs(margin: float, card: editing.Card) -> planning.ScaleNeeds | None:
    """What both designs of a scale take; None where it has but one, or nothing to compare yet."""
    levels = len(card.entry.get("options", ()))
    if (
        not (card.traits and card.traits.design_of_use)
        or len(card.mechanisms) < 2
        or levels < 3
        or not card.epsilon
    ):
        return None
    try:
        return planning.compare_scale_designs(levels, card.epsilon, margin)
    except ValueError:  # of a strength that is still being typed; said beside it
        return None


def _check_document(document: Mapping[str, Any]) -> tuple[Definition | None, Sequence[Problem]]:
    """The definition if the draft is finished, else what is missing."""
    try:
        return parse_definition(document), ()
    except InputError as error:
        return None, error.problems


def _shown(problems: Sequence[Problem], document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Path, name and message of each problem, at the field where it is mended."""
    shown: dict[tuple[str, str, str], None] = {}
    for problem in problems:
        place = _OPTION_NAME.fullmatch(problem.field)
        if place is not None:
            option = document["questions"][int(place[1])]["options"][int(place[2])]
            if not option.get("name"):
                continue  # it is made from the text, which is missing as well
        name, message = describe(problem)
        field = problem.field
        if _STRENGTH.fullmatch(field) and editing.equal_division(document) and "budget" not in document:
            field = "budget"  # where the strength of all is mended
            name, message = describe(Problem(field, problem.template, problem.values))
        shown[field, name, message] = None
    return list(shown)


def _read_number(name: str) -> int | None:
    number = request.args.get(name, "")
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 5 else None


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else otherwise
