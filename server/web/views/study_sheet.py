"""The study sheet of a survey: who asks, whom, how and when, for everything that reports on it."""

import hashlib
import json
from collections.abc import Mapping

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import InputError
from server.inputs.logos import PICTURE_LIMIT, draw_logo
from server.output.languages import LANGUAGES, RESPONDENT_LANGUAGES
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import study_sheets, surveys
from server.study.planning import planned_margin, planned_respondents
from server.study.study_sheets.datacite import describe_for_datacite
from server.study.study_sheets.sheet_fields import AUTHOR_PARTS, IN_LANGUAGE, SAMPLINGS, STUDY_FIELDS
from server.study.study_sheets.sheet_forms import close_gaps, count_authors, read_form, write_form
from server.study.study_sheets.sheet_values import FOR_RESPONDENTS_ALONE
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import send_download, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("study_sheet", __name__, url_prefix="/manage/surveys/<slug>/study")

_MOST_AUTHORS, _BLANK_AUTHORS = 50, 2


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """The sheet as it is."""
    stored = study_sheets.read_study_sheet(session(), survey)
    sheet = stored.sheet if stored.number else _begin_sheet(survey)
    return _page(survey, write_form(sheet), stored.number, notice=request.args.get("said", ""))


@blueprint.post("")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def save(survey: Survey) -> ResponseReturnValue:
    """Change it, all or none; a form that was made from another state than stands now is shown again."""
    typed = close_gaps(request.form.items())
    base = request.form.get("state", "")
    try:
        sheet = study_sheets.parse_study_sheet(read_form(typed.items()))
        number = int(base) if base.isascii() and base.isdigit() and len(base) < 10 else None
        uploaded = request.files.get("logo")
        logo = draw_logo(uploaded.read(PICTURE_LIMIT + 1)) if uploaded else None
        changed = study_sheets.save_study_sheet(session(), survey, sheet, number)
        if logo or "no_logo" in request.form:
            changed += study_sheets.save_logo(session(), survey, logo)
    except InputError as error:
        session().rollback()
        # Sent again it replaces what stands now: whoever does has been told.
        stands = study_sheets.read_study_sheet(session(), survey).number
        return _page(survey, typed, stands, error), error.status
    if changed:
        record(Action.STUDY_CHANGED, survey, fields=", ".join(changed))
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="saved"), 303)


@blueprint.get("/datacite.json")
@on_survey(Role.EDITOR)
def datacite_file(survey: Survey) -> ResponseReturnValue:
    """The sheet as metadata for a repository that gives a DOI."""
    sheet = study_sheets.read_study_sheet(session(), survey).sheet
    questionnaire = surveys.draft_document(survey)
    found = describe_for_datacite(
        sheet, questionnaire["title"], questionnaire["language"], surveys.today().year
    )
    text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    return send_download(text, "application/json", name_of_survey_file(survey, "DataCite", "json"))


def _begin_sheet(survey: Survey) -> study_sheets.StudySheet:
    """What the plan says already, where no sheet was saved yet; nothing of it is kept before somebody saves it."""
    document = surveys.draft_document(survey)
    return study_sheets.StudySheet(
        planned_respondents=planned_respondents(document), planned_margin=planned_margin(document)
    )


def _list_spoken(survey: Survey, fields: Mapping[str, str]) -> dict[str, str]:
    """The languages of the survey's own texts, its own first, and others in which respondents are told something."""
    document = surveys.draft_document(survey)
    codes = {document["language"], *document.get("translations", {})}
    spoken = {
        code: language.name
        for code, language in RESPONDENT_LANGUAGES.items()
        if code in codes or any(fields.get(f"{name}.{code}") for name in FOR_RESPONDENTS_ALONE)
    }
    return dict(sorted(spoken.items(), key=lambda item: item[0] != document["language"]))


def _list_written(survey: Survey, fields: Mapping[str, str]) -> dict[str, str]:
    """The languages of reports in which the survey has texts, or something is written; else all."""
    document = surveys.draft_document(survey)
    codes = {document["language"], *document.get("translations", {})} & LANGUAGES.keys() or LANGUAGES.keys()
    return {
        code: language.name
        for code, language in LANGUAGES.items()
        if code in codes or any(text and name.endswith(f".{code}") for name, text in fields.items())
    }


def _page(
    survey: Survey,
    fields: Mapping[str, str],
    number: int,
    error: InputError | None = None,
    notice: str = "",
) -> str:
    problems = () if error is None else error.problems
    logo = study_sheets.read_study_sheet(session(), survey).logo
    return render_template(
        "manage/study.html",
        survey=survey,
        fields=fields,
        number=number,
        authors=min(_MOST_AUTHORS, count_authors(fields) + _BLANK_AUTHORS),
        called=STUDY_FIELDS,
        author_parts=AUTHOR_PARTS,
        in_language=IN_LANGUAGE,
        written=_list_written(survey, fields),
        spoken=_list_spoken(survey, fields),
        samplings=SAMPLINGS,
        problems=[describe(problem) for problem in problems],
        bad={problem.field for problem in problems},
        said=notice,
        logo="" if logo is None else hashlib.sha256(logo).hexdigest(),
        picture_kilobytes=PICTURE_LIMIT // 1024,
    )
