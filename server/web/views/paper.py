"""A survey on paper: the form to print, and sheets that are keyed in."""

import secrets
from collections.abc import Mapping

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from server.collect.keyed_sheets import TYPED_LIMIT, parse_typed
from server.collect.paper_batches import PaperBatch, enter_batch, parse_batch_name
from server.inputs import N_, InputError, refuse, shorten_value
from server.output.languages import list_readings, split_reading
from server.people.change_log import Action
from server.store.models import Role, Stratum, Survey, SurveyVersion
from server.study import strata, surveys
from server.study.by_hand import (
    list_paper_obstacles,
    list_paper_questions,
    make_paper_form,
)
from server.study.study_sheets.senders import read_sender
from server.web.context import attach_file, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("paper", __name__, url_prefix="/manage/surveys/<slug>/paper")


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """The form of a version, the letters of its answers, and a place to key sheets in."""
    version = surveys.published_version(survey, request.args.get("version"))
    # The next batch is most often of the same stratum.
    chosen = {"stratum": request.args.get("stratum", "")}
    return _page(survey, version, chosen, notice=request.args.get("said", ""))


@blueprint.get("/form.pdf")
@on_survey(Role.EDITOR)
def form(survey: Survey) -> ResponseReturnValue:
    """The form of a version as a PDF."""
    version = surveys.published_version(survey, request.args.get("version"))
    own = surveys.definition_of(version).language
    reading = request.args.get("language") or own
    known = dict(list_readings())
    if reading not in known:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, "language", template, limit=", ".join(known), value=shorten_value(reading))
    sender = read_sender(session(), survey, split_reading(reading)[0], own)
    response = Response(make_paper_form(version, sender, reading), mimetype="application/pdf")
    return attach_file(response, name_of_survey_file(survey, gettext("form on paper"), "pdf"))


@blueprint.post("")
@on_survey(Role.EDITOR)
def enter(survey: Survey) -> ResponseReturnValue:
    """Store what was typed, all of it or none; sent again, it is stored already."""
    version = surveys.published_version(survey, request.form.get("version", ""))
    questions = list_paper_questions(version)
    try:
        batch = PaperBatch(
            parse_batch_name(request.form.get("batch", "")),
            version,
            _find_stratum(survey),
            parse_typed(request.form.get("sheets", ""), questions),
        )
        stored = enter_batch(session(), survey, batch, surveys.now())
    except InputError as error:
        session().rollback()
        return _page(survey, version, request.form, error), error.status
    if stored:
        record(Action.SHEETS_KEYED, survey, version=version.number)
    session().commit()
    notice = "stored" if stored else "known"
    stratum = request.form.get("stratum") or None
    return redirect(
        url_for(".page", slug=survey.slug, version=version.number, said=notice, stratum=stratum), 303
    )


def _page(
    survey: Survey,
    version: SurveyVersion,
    typed: Mapping[str, str],
    error: InputError | None = None,
    notice: str = "",
) -> str:
    problems = () if error is None else error.problems
    bad = {problem.field.partition("[")[0].replace("lines", "sheets") for problem in problems}
    batch = (
        "" if "batch" in bad else typed.get("batch")
    )  # with one that is taken, nothing could ever be stored
    obstacles = list_paper_obstacles(version)
    questions = () if obstacles else list_paper_questions(version)
    definition = surveys.definition_of(version)
    invited = strata.invited_links(session(), survey)
    leaves = strata.list_leaves(strata.tree(session(), survey))
    return render_template(
        "manage/paper.html",
        survey=survey,
        version=version,
        definition=definition,
        obstacles=[describe(problem) for problem in obstacles],
        questions=[(each, list(zip(each.keys, each.order, strict=True))) for each in questions],
        example="".join(each.keys[place % len(each.keys)] for place, each in enumerate(questions)),
        form_languages=[(reading, split_reading(reading)[0], name) for reading, name in list_readings()],
        standing=surveys.find_standing(survey, surveys.now()),
        own=None not in invited,
        leaves=[node for node in leaves if node.stratum.id not in invited],
        most=TYPED_LIMIT,
        batch=batch or secrets.token_hex(16),
        typed=typed,
        problems=[describe(problem) for problem in problems],
        bad=bad,
        said=notice,
    )


def _find_stratum(survey: Survey) -> Stratum | None:
    number = request.form.get("stratum", "")
    return strata.find(session(), survey, number).stratum if number else None
