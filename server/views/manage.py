"""What a researcher does with surveys: list, write, preview, publish, share, close."""

import io
import json
from dataclasses import dataclass
from typing import Any

import segno
from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import surveys
from server.context import config, session, told
from server.definitions import Definition, version_of
from server.inputs import (
    DEFINITION_LIMIT,
    N_,
    InputError,
    parse_definition,
    parse_form,
    parse_json,
    refuse,
    schema_limit,
    shown,
)
from server.models import Survey
from server.privacy.designs import Design, coin_flip
from server.privacy.planning import price_of_privacy, respondents_for_margin
from server.security import researcher, signed_in

blueprint = Blueprint("manage", __name__, url_prefix="/manage")

DEFAULT_GAMMA = 0.25


@dataclass(frozen=True)
class Consequences:
    """What a setting of the slider means."""

    design: Design
    questions: int
    total: float

    @property
    def respondents(self) -> int:
        """How many give an interval of ± 5 percentage points at 95 %, whatever the share."""
        return respondents_for_margin(0.05, self.design)

    @property
    def price(self) -> float:
        """Respondents for each one that a direct question would need."""
        return price_of_privacy(self.design)


@blueprint.get("/", strict_slashes=False)
def home() -> ResponseReturnValue:
    """The short address."""
    return redirect(url_for(".surveys_page"))


@blueprint.get("/surveys")
@signed_in
def surveys_page() -> ResponseReturnValue:
    """All surveys of the researcher."""
    entries = [(survey, surveys.draft(survey)) for survey in surveys.owned(session(), researcher())]
    return render_template("manage/surveys.html", entries=entries, problems=())


@blueprint.get("/surveys/new")
@signed_in
def new() -> ResponseReturnValue:
    """An empty editor."""
    document = {
        "language": str(request.accept_languages.best_match(("en", "es")) or "en"),
        "title": "",
        "introduction": "",
        "questions": [_empty_question()],
    }
    return _editor(None, document, ())


@blueprint.post("/surveys/new")
@signed_in
def create() -> ResponseReturnValue:
    """Keep what was written as a new draft."""
    return _edited(None)


@blueprint.post("/surveys/import")
@signed_in
def import_definition() -> ResponseReturnValue:
    """A new draft from a definition file."""
    file = request.files.get("definition")
    body = file.read(DEFINITION_LIMIT + 1) if file is not None else b""
    try:
        definition = parse_definition(parse_json(body, DEFINITION_LIMIT))
    except InputError as error:
        entries = [(survey, surveys.draft(survey)) for survey in surveys.owned(session(), researcher())]
        return render_template("manage/surveys.html", entries=entries, problems=_shown(error)), error.status
    survey = surveys.create(session(), researcher(), definition)
    session().commit()
    return redirect(url_for(".overview", slug=survey.slug), 303)


@blueprint.get("/consequences")
@signed_in
def consequences() -> ResponseReturnValue:
    """What a setting of the slider means, as a piece of a page."""
    asked = request.args.get("gamma", str(DEFAULT_GAMMA))
    most = schema_limit("properties", "questions", "maxItems")
    questions = min(max(1, request.args.get("questions", type=int, default=1)), most)
    try:
        gamma = float(asked)
        design = coin_flip(gamma)
    except ValueError:
        raise refuse(
            422,
            "gamma",
            N_("must be from %(low)s to %(high)s; it is %(value)s"),
            low=0,
            high=0.5,
            value=shown(asked),
        ) from None
    return render_template(
        "manage/_consequences.html", shown=Consequences(design, questions, questions * design.epsilon)
    )


@blueprint.get("/surveys/<slug>")
@signed_in
def overview(slug: str) -> ResponseReturnValue:
    """One survey: its link and QR code, its versions, and what can be done with it."""
    survey = _own(slug)
    draft = surveys.draft(survey)
    current = survey.current
    unpublished = current is None or current.sha256 != version_of(draft.published())
    return _overview(survey, draft, unpublished, ())


@blueprint.get("/surveys/<slug>/edit")
@signed_in
def edit(slug: str) -> ResponseReturnValue:
    """The editor with the draft in it."""
    survey = _own(slug)
    return _editor(survey, surveys.draft(survey).as_json(), ())


@blueprint.post("/surveys/<slug>/edit")
@signed_in
def save(slug: str) -> ResponseReturnValue:
    """Keep what was written as the draft."""
    return _edited(_own(slug))


@blueprint.post("/surveys/<slug>/publish")
@signed_in
def publish(slug: str) -> ResponseReturnValue:
    """Freeze the draft as the next version and open the survey."""
    survey = _own(slug)
    try:
        surveys.publish(session(), survey)
    except InputError as error:
        return _overview(survey, surveys.draft(survey), True, _shown(error)), error.status
    session().commit()
    return redirect(url_for(".overview", slug=slug), 303)


@blueprint.post("/surveys/<slug>/close")
@signed_in
def close(slug: str) -> ResponseReturnValue:
    """Stop taking responses."""
    survey = _own(slug)
    surveys.close(survey)
    session().commit()
    return redirect(url_for(".overview", slug=slug), 303)


@blueprint.get("/surveys/<slug>/preview")
@signed_in
def preview(slug: str) -> ResponseReturnValue:
    """The respondent's page on the draft; it sends nothing."""
    survey = _own(slug)
    return render_template(
        "respond/survey.html",
        slug=slug,
        version=version_of(surveys.draft(survey).published()),
        definition_url=url_for(".preview_definition", slug=slug),
        responses_url="",
        preview=True,
        simulated=survey.simulated,
    )


@blueprint.get("/surveys/<slug>/preview/survey.json")
@signed_in
def preview_definition(slug: str) -> ResponseReturnValue:
    """The draft as it would be published."""
    published = surveys.draft(_own(slug)).published()
    body = b'{"definition":%b,"version":"%b"}' % (published, version_of(published).encode())
    return Response(body, mimetype="application/json")


@blueprint.get("/surveys/<slug>/definition.json")
@signed_in
def export(slug: str) -> ResponseReturnValue:
    """The draft as a definition file, for another installation or the command line."""
    document = surveys.draft(_own(slug)).as_json()
    response = Response(
        json.dumps(document, ensure_ascii=False, indent=2) + "\n", mimetype="application/json"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}.json"'
    return response


@blueprint.get("/surveys/<slug>/qr.svg")
@signed_in
def qr_code(slug: str) -> ResponseReturnValue:
    """The survey's link as a QR code."""
    image = io.BytesIO()
    segno.make(_link(_own(slug)), error="m").save(image, kind="svg", scale=8, border=4, light="white")
    return Response(image.getvalue(), mimetype="image/svg+xml")


def _own(slug: str) -> Survey:
    return surveys.find_own(session(), researcher(), slug)


def _link(survey: Survey) -> str:
    path = url_for("respond.page", slug=survey.slug)
    return (config().public_url or request.host_url.rstrip("/")) + path


def _overview(survey: Survey, draft: Definition, unpublished: bool, problems: Any) -> str:
    return render_template(
        "manage/overview.html",
        survey=survey,
        draft=draft,
        unpublished=unpublished,
        link=_link(survey),
        problems=problems,
    )


def _edited(survey: Survey | None) -> ResponseReturnValue:
    """Carry out a button of the editor: save the draft, or add or remove a question first."""
    form = request.form
    document = parse_form(form, form.getlist("name"), form.getlist("text"), form.getlist("question_gamma"))
    document["questions"] = document["questions"] or [_empty_question()]
    action, _, index = form.get("action", "save").partition("-")
    if action == "add":
        added = _empty_question(document["questions"][-1]["design"]["gamma"])
        return _editor(survey, {**document, "questions": [*document["questions"], added]}, ())
    if action == "remove":
        kept = [entry for place, entry in enumerate(document["questions"]) if str(place) != index]
        return _editor(survey, {**document, "questions": kept or [_empty_question()]}, ())
    try:
        definition = parse_definition(document)
    except InputError as error:
        return _editor(survey, document, _shown(error)), error.status
    if survey is None:
        survey = surveys.create(session(), researcher(), definition)
    else:
        surveys.save_draft(survey, definition)
    session().commit()
    return redirect(url_for(".overview", slug=survey.slug), 303)


def _editor(survey: Survey | None, document: dict[str, Any], problems: Any) -> str:
    gammas = [question["design"]["gamma"] for question in document["questions"]]
    try:
        designs = [coin_flip(gamma) for gamma in gammas]
        consequences = Consequences(designs[0], len(designs), sum(design.epsilon for design in designs))
    except (ValueError, TypeError):
        consequences = None
    return render_template(
        "manage/editor.html",
        survey=survey,
        document=document,
        gamma=gammas[0],
        mixed=len(set(gammas)) > 1,
        shown=consequences,
        problems=problems,
        limits={
            "title": schema_limit("properties", "title", "maxLength"),
            "introduction": schema_limit("properties", "introduction", "maxLength"),
            "text": schema_limit("properties", "questions", "items", "properties", "text", "maxLength"),
        },
    )


def _empty_question(gamma: object = DEFAULT_GAMMA) -> dict[str, Any]:
    return {"name": "", "text": "", "design": {"mechanism": "coin_flip", "gamma": gamma}}


def _shown(error: InputError) -> list[tuple[str, str]]:
    return [told(problem) for problem in error.problems]
