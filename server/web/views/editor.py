"""The editor: every button sends the whole form, which is kept whatever it holds, and then does its work.

It needs no script. Each answer is a redirection to the page with the draft as it is now
kept, so that nothing is sent twice by loading a page again.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import InputError, number_or_text, parse_form
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import drafts, editing, question_library, surveys
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import session
from server.web.editor_page import PastedList, check_draft, read_places, render_editor
from server.web.security import on_survey, record, researcher, signed_in

blueprint = Blueprint("editor", __name__, url_prefix="/manage")

CONTROLS = {
    "action",
    "added",
    "base",
    "current",
    "division",
    "kept",
    "list",
    "selected",
    "slider",
    "together",
}
"""Fields that are no part of the document."""
_LONGEST_NUMBER = 40
"""Of what was typed for a number, as it comes back in an address."""
LIBRARY_ACTIONS = {"keep_question", "insert_question", "forget_question"}


@blueprint.get("/surveys/new")
@signed_in
def new() -> ResponseReturnValue:
    """An empty editor; nothing is kept before something is sent."""
    return render_editor(None, _empty())


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
    return _carry_out(survey, document, survey.draft_number)


@blueprint.get("/surveys/<slug>/edit")
@on_survey(Role.EDITOR)
def edit(survey: Survey) -> ResponseReturnValue:
    """The editor with the draft in it."""
    return render_editor(survey, surveys.draft_document(survey))


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
        return render_editor(survey, document, base=made_from, overtaken=True), 409
    return _carry_out(survey, document, number)


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


def _carry_out(survey: Survey, document: dict[str, Any], number: int) -> ResponseReturnValue:
    """Carry out the button on what is kept now, and show where it leads; state `number` was kept before."""
    action = request.form.get("action", "save")
    where: dict[str, Any] = {}
    if action in ("undo", "redo"):
        went = drafts.undo(session(), survey) if action == "undo" else drafts.redo(session(), survey)
        where["said"] = ("undone" if action == "undo" else "redone") if went else "nothing"
    elif action in ("read_list", "take_list"):
        pasted = _read_list(document)
        if action == "read_list" or pasted.problems:
            return _show_list(survey, document, number, pasted)
        step = editing.insert_list(document, pasted.listed)
        surveys.save_draft(session(), survey, step.document)
        where = {"at": step.at, "said": step.message}
    elif action.partition("-")[0] in LIBRARY_ACTIONS:
        where = _use_library(survey, document, action)
    else:
        typed = request.form.get("together", "")
        step = editing.carry_out_action(
            document,
            action,
            request.form.get("added", ""),
            read_places("-".join(request.form.getlist("selected"))),
            number_or_text(typed),
        )
        surveys.save_draft(session(), survey, step.document)
        where = {
            "at": step.at,
            "option": step.option,
            "said": step.message or None,
            "selected": "-".join(map(str, step.selected)) or None,
            "together": typed[:_LONGEST_NUMBER] if step.message == "strength_refused" else None,
        }
    if survey.draft_number != number:
        record(Action.DRAFT_CHANGED, survey)
    session().commit()
    if action == "save":
        if check_draft(surveys.draft_document(survey))[0] is not None:
            return redirect(url_for("manage.overview", slug=survey.slug), 303)
        where["check"] = 1
    elif "check" in request.args:
        where["check"] = 1
    return redirect(url_for(".edit", slug=survey.slug, **where), 303)


def _read_list(document: Mapping[str, Any]) -> PastedList:
    """The list that was pasted, as far as it can be read."""
    text = request.form.get("list", "")
    try:
        return PastedList(text, editing.read_list(text, editing.list_room(len(document["questions"]))))
    except InputError as error:
        return PastedList(text, problems=error.problems)


def _show_list(
    survey: Survey, document: dict[str, Any], number: int, pasted: PastedList
) -> ResponseReturnValue:
    """The page with what was read of a list, or with what is wrong in it; the list stays where it was typed."""
    if survey.draft_number != number:
        record(Action.DRAFT_CHANGED, survey)
    session().commit()
    return render_editor(survey, document, pasted=pasted), 422 if pasted.problems else 200


def _use_library(survey: Survey, document: dict[str, Any], action: str) -> dict[str, Any]:
    """Keep a question, insert one that is kept, or forget it; where this leads."""
    name, _, place = action.partition("-")
    kept = _number(request.form.get("kept", ""), 0)
    if name == "keep_question":
        at = _number(place, len(document["questions"]))
        if at >= len(document["questions"]):
            return {}
        entry = document["questions"][at]
        return {"at": at, "said": question_library.keep_question(session(), researcher(), entry)}
    if name == "forget_question":
        gone = question_library.forget_question(session(), researcher(), kept)
        return {"said": "forgotten"} if gone else {}
    found = question_library.find_question(session(), researcher(), kept)
    if found is None or not editing.list_room(len(document["questions"])):
        return {}
    step = editing.insert_entries(document, [found], "added")
    surveys.save_draft(session(), survey, step.document)
    return {"at": step.at, "said": step.message}


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else otherwise
