"""Where a survey may come from: a file, made here, elsewhere or in another program, or a template."""

from collections.abc import Sequence

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import archives
from server.inputs import N_, InputError, refuse, shorten_value
from server.output.languages import LANGUAGES, RESPONDENT_LANGUAGES
from server.people.change_log import Action
from server.releases import rights
from server.store.engines import TakingTurns
from server.store.models import Survey
from server.study import gallery, surveys
from server.study.definitions import Definition
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.study.planning import plan
from server.study.survey_files import parse_file
from server.study.xlsform import Imported
from server.web.body_limits import limit_body
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import record, researcher, signed_in
from server.web.work_progress import follow_work

blueprint = Blueprint("imports", __name__, url_prefix="/manage")

_LISTED = 500
"""Rows of the list of what was not taken; nobody reads more."""
ARCHIVE_LIMIT = 100 * 1024 * 1024
"""Largest archive that can be sent, in bytes."""


@blueprint.get("/surveys/import")
@signed_in
def page() -> ResponseReturnValue:
    """Choose a file."""
    return _file_page(())


@blueprint.post("/surveys/import")
@limit_body(ARCHIVE_LIMIT + DEFINITION_LIMIT, upload=True)
@signed_in
def import_file() -> ResponseReturnValue:
    """A new draft from a definition (JSON) or an XLSForm (.xlsx), or a whole survey from an archive (.zip)."""
    try:
        unpacked = _unpack_upload()
        if unpacked is not None:
            record(Action.SURVEY_IMPORTED, unpacked.survey)
            session().commit()
            document = surveys.draft_document(unpacked.survey)
            body = render_template("manage/import_archive.html", unpacked=unpacked, document=document)
            return body, 201
        imported = _read()
        survey = surveys.create(session(), researcher(), imported.definition)
        record(Action.SURVEY_CREATED, survey)
    except InputError as error:
        problems = [describe(problem) for problem in error.problems]
        body = _file_page(problems)
        return body, error.status
    session().commit()
    if not imported.not_taken:
        return redirect(url_for("manage.overview", slug=survey.slug), 303)
    return _result(survey, imported), 201


@blueprint.get("/gallery")
@signed_in
def templates() -> ResponseReturnValue:
    """Surveys to begin with."""
    language = _language()
    entries = [
        (template, template.definitions[language], plan(template.definitions[language]))
        for template in gallery.templates()
    ]
    return render_template("manage/gallery.html", entries=entries, form_languages=LANGUAGES)


@blueprint.post("/gallery")
@signed_in
def use_template() -> ResponseReturnValue:
    """A new draft from a template."""
    template = gallery.find(request.form.get("template", ""))
    language = request.form.get("language", "")
    if template is None or language not in template.definitions:
        asked = f"{request.form.get('template', '')} ({language})"
        raise refuse(404, "template", N_("is not known; it is %(value)s"), value=shorten_value(asked))
    survey = surveys.create(session(), researcher(), template.definitions[language])
    record(Action.SURVEY_CREATED, survey)
    session().commit()
    return redirect(url_for("editor.edit", slug=survey.slug), 303)


def _file_page(problems: Sequence[tuple[str, str]]) -> str:
    return render_template(
        "manage/import.html",
        form_languages=RESPONDENT_LANGUAGES,
        problems=problems,
        server=rights.server_name(session()),
    )


def _unpack_upload() -> archives.Unpacked | None:
    """The survey in the archive that was sent; None if something else was."""
    file = request.files.get("definition")
    if file is None:
        return None
    beginning = file.read(DEFINITION_LIMIT)
    if not archives.looks_like_archive(file.filename or "", beginning):
        file.seek(0)
        return None
    with follow_work() as report_progress:
        turns = TakingTurns(session())
        return archives.unpack(session(), researcher(), file.stream, turns, report_progress)


def _read() -> Imported:
    file = request.files.get("definition")
    name = (file.filename or "") if file is not None else ""
    body = file.read(DEFINITION_LIMIT + 1) if file is not None else b""
    return parse_file(name, body, request.form.get("language", ""), _language())


def _result(survey: Survey, imported: Imported) -> str:
    definition: Definition = imported.definition
    return render_template(
        "manage/import_result.html",
        survey=survey,
        definition=definition,
        not_taken=imported.not_taken[:_LISTED],
        more=len(imported.not_taken) - len(imported.not_taken[:_LISTED]),
    )


def _language() -> str:
    """The page's language, which a survey has too unless somebody chooses another."""
    return str(get_locale() or "en")
