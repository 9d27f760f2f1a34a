"""What a researcher does with surveys: list, preview, publish, share, export, close."""

import json
from collections.abc import Sequence
from functools import partial

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import force_locale, gettext

from server import reports
from server.collect import acceptance, batches, responses, tidying
from server.inputs import InputError, Problem
from server.output.languages import LANGUAGES
from server.people import survey_access
from server.people.change_log import Action
from server.reports.formats import SPREADSHEET
from server.store.models import Role, State, Survey
from server.study import editing, planning, strata, surveys
from server.study.definitions import Definition, version_of
from server.study.definitions.definition_reader import parse_definition
from server.study.planning import find_planned_number
from server.study.retention import list_deletions
from server.study.smallest_group import limit_unseen
from server.study.xlsform import write_xlsform
from server.web.context import answer_names, attach_file, link_to, session
from server.web.download_names import name_of_survey_file
from server.web.editor_page import place_problems
from server.web.language_choice import choose_language
from server.web.page_parts import parts_of
from server.web.problem_texts import describe
from server.web.security import housekeeper, on_survey, record, researcher, signed_in
from server.web.sender_parts import draw_sender_of

blueprint = Blueprint("manage", __name__, url_prefix="/manage")


@blueprint.get("/", strict_slashes=False)
def home() -> ResponseReturnValue:
    """The short address."""
    return redirect(url_for(".surveys_page"))


@blueprint.get("/surveys")
@signed_in
def surveys_page() -> ResponseReturnValue:
    """All surveys of the researcher."""
    entries = []
    shared = survey_access.shared_with(session(), researcher())
    documents = surveys.draft_documents(session(), (survey for survey, _role in shared))
    for survey, role in shared:
        document = documents[survey.id]
        questions = sum(entry["kind"] not in editing.NOT_SENT for entry in document["questions"])
        entries.append((survey, role, document, questions))
    here, archived = (
        [entry for entry in entries if bool(entry[0].archived_on) is away] for away in (False, True)
    )
    published = [
        (survey, find_planned_number(survey, document)) for survey, _, document, _ in here if survey.versions
    ]
    return render_template(
        "manage/surveys.html",
        entries=here,
        archived=archived,
        collected=reports.follow_surveys(session(), published),
        draw_spark=reports.draw_spark,
        untidied=tidying.list_untidied(session()),
        remains=tidying.may_remain(session()),
        said=request.args.get("said", ""),
    )


@blueprint.get("/surveys/<slug>")
@on_survey(Role.VIEWER)
def overview(survey: Survey) -> ResponseReturnValue:
    """One survey: its link and QR code, its versions, and what can be done with it."""
    return _overview(survey, ())


@blueprint.post("/surveys/<slug>/publish")
@on_survey(Role.EDITOR)
def publish(survey: Survey) -> ResponseReturnValue:
    """Freeze the draft as the next version and open the survey; ask first if the plan cannot be kept."""
    try:
        version = surveys.publish(
            session(), survey, request.form.get("draft"), keep_brackets="keep_brackets" in request.form
        )
    except InputError as error:
        return _overview(survey, [describe(problem) for problem in error.problems]), error.status
    plan = planning.plan(surveys.draft(survey))
    if plan.shortfalls and "despite_plan" not in request.form:
        # Everything else is in order: asked last, nobody confirms what is refused afterwards.
        session().rollback()
        return render_template("manage/launch.html", survey=survey, plan=plan, form=request.form), 409
    record(Action.PUBLISHED, survey, version=version.number)
    session().commit()
    return redirect(url_for(".overview", slug=survey.slug), 303)


@blueprint.post("/surveys/<slug>/close")
@on_survey(Role.EDITOR)
def close(survey: Survey) -> ResponseReturnValue:
    """Stop taking responses."""
    if acceptance.close_survey(survey):
        record(Action.CLOSED, survey)
    session().commit()
    housekeeper().notify()
    page = "lesson_board.board" if request.form.get("back") == "board" else ".overview"
    return redirect(url_for(page, slug=survey.slug), 303)


@blueprint.get("/surveys/<slug>/preview")
@on_survey(Role.VIEWER)
def preview(survey: Survey) -> ResponseReturnValue:
    """The respondent's page on the draft; it sends nothing. Of an unfinished draft, what is missing."""
    draft, problems = _check_draft(survey)
    if draft is None:
        with force_locale(choose_language(request, LANGUAGES)):  # this one is for researchers
            missing = place_problems(problems, surveys.draft_document(survey))
            return render_template("manage/unfinished.html", survey=survey, missing=missing)
    published = draft.to_canonical()
    parts = parts_of(published, preview=True, forgets=survey.forgets)
    return render_template(
        "respond/survey.html",
        slug=survey.slug,
        version=version_of(published),
        definition_url=url_for(".preview_definition", slug=survey.slug, draft=survey.draft_number),
        responses_url="",
        parts=parts,
        names=answer_names(parts),
        guesses=draft.guesses,
        group=None,
        sender=draw_sender_of(survey, survey.link),
        preview=True,
        simulated=survey.simulated,
    )


@blueprint.get("/surveys/<slug>/preview/survey.json")
@on_survey(Role.VIEWER)
def preview_definition(survey: Survey) -> ResponseReturnValue:
    """The draft as it would be published; that of the page, also if the editor has saved another one since."""
    number = request.args.get("draft", type=int)
    published = parse_definition(surveys.draft_document(survey, number)).to_canonical()
    body = b'{"definition":%b,"version":"%b"}' % (published, version_of(published).encode())
    return Response(body, mimetype="application/json")


@blueprint.get("/surveys/<slug>/definition.json")
@on_survey(Role.VIEWER)
def export(survey: Survey) -> ResponseReturnValue:
    """The draft as a definition file, for another installation or the command line; as it is, if unfinished."""
    draft, _problems = _check_draft(survey)
    document = surveys.draft_document(survey) if draft is None else draft.as_json()
    response = Response(
        json.dumps(document, ensure_ascii=False, indent=2) + "\n", mimetype="application/json"
    )
    return attach_file(response, name_of_survey_file(survey, gettext("definition"), "json"))


@blueprint.get("/surveys/<slug>/form.xlsx")
@on_survey(Role.VIEWER)
def export_form(survey: Survey) -> ResponseReturnValue:
    """What the draft asks, for other programs; refused while it is unfinished, with what is missing."""
    form = write_xlsform(surveys.draft(survey), choose_language(request, LANGUAGES))
    return attach_file(
        Response(form.body, mimetype=SPREADSHEET), name_of_survey_file(survey, "XLSForm", "xlsx")
    )


def _overview(survey: Survey, refused: Sequence[tuple[str, str]]) -> str:
    draft, problems = _check_draft(survey)
    leaves = len(strata.list_leaves(strata.tree(session(), survey)))
    versions, ways = max(len(survey.versions), 1), batches.count_ways(session(), survey)
    unseen = limit_unseen(survey.minimum, leaves, versions, ways)
    sha256 = None if draft is None else version_of(draft.to_canonical())
    document = surveys.draft_document(survey)
    return render_template(
        "manage/overview.html",
        survey=survey,
        document=document,
        draft=draft,
        make_plan=None if draft is None else partial(planning.plan, draft),
        planned=None if draft is None or draft.plan is None else draft.plan.respondents,
        unseen=unseen if leaves and survey.state != State.CLOSED else None,
        sha256=sha256,
        missing=place_problems(problems, document),
        promise=None if draft is None else _promise(draft),
        margin=_margin(draft),
        repeated=editing.find_repeated(document),
        alike=editing.find_alike(document),
        brackets=editing.find_brackets(document),
        unpublished=not surveys.is_published(survey, draft),
        link=link_to(survey.link),
        standing=responses.find_standing(session(), survey, surveys.now()),
        tidied=tidying.state_of(session(), survey),
        deletions=list_deletions(survey),
        strata=leaves,
        invited=strata.invited_links(session(), survey),
        problems=refused,
    )


def _promise(draft: Definition) -> planning.Promise:
    """What the first screen will say of the draft."""
    return planning.make_promise([question.epsilon for question in draft.questions], _margin(draft))


def _margin(draft: Definition | None) -> float:
    return planning.DEFAULT_MARGIN if draft is None or draft.plan is None else draft.plan.margin


def _check_draft(survey: Survey) -> tuple[Definition | None, Sequence[Problem]]:
    """The draft if it is finished, else what is missing."""
    try:
        return surveys.draft(survey), ()
    except InputError as error:
        return None, error.problems
