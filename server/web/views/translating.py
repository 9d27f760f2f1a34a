"""A survey's own texts side by side with their translations; what has none is read as it is."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import N_, InputError, refuse, schema_limit, shorten_value
from server.inputs.decoding import check_text
from server.output.languages import RESPONDENT_LANGUAGES
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import surveys
from server.study.definitions.own_texts import find_untranslated, list_texts
from server.study.study_sheets import find_unwritten, read_study_sheet
from server.study.study_sheets.sheet_fields import STUDY_FIELDS
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("translating", __name__, url_prefix="/manage/surveys/<slug>/translations")

_LONGEST = schema_limit("$defs", "translation", "additionalProperties", "maxLength")


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """The texts of the draft, and what is known of them in one other language."""
    document = surveys.draft_document(survey)
    language = request.args.get("to", "")
    if language not in _list_others(document):
        language = next(iter(document.get("translations", {})), "")
    return _show_page(survey, document, language)


@blueprint.post("")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def save(survey: Survey) -> ResponseReturnValue:
    """Keep all translations of a language, or none; a form that was made from another draft is shown again."""
    base, language = request.form.get("base", ""), request.form.get("to", "")
    number = int(base) if base.isascii() and base.isdigit() and len(base) < 10 else 0
    typed: dict[str, str] = {}
    try:
        document = surveys.draft_document(survey, number)
        if language not in _list_others(document):
            template, offered = (
                N_("must be one of %(limit)s; it is %(value)s"),
                ", ".join(_list_others(document)),
            )
            raise refuse(422, "language", template, limit=offered, value=shorten_value(language))
        typed = _read_typed(list_texts(document))
        _check_lengths(typed)
        # What was translated before, and of a text that is not there now, is kept: it may come back.
        known = {**document.get("translations", {}).get(language, {}), **typed}
        translations = {
            **document.get("translations", {}),
            language: {text: said for text, said in known.items() if said},
        }
        kept = {code: texts for code, texts in translations.items() if texts}
        document = {name: value for name, value in document.items() if name != "translations"}
        surveys.save_draft(
            session(), survey, {**document, "translations": kept} if kept else document, number
        )
    except InputError as error:
        session().rollback()
        document = surveys.draft_document(survey)
        if language not in _list_others(document):
            raise
        return _show_page(survey, document, language, typed, error), error.status
    if survey.draft_number != number:
        record(Action.DRAFT_CHANGED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, to=language, said="saved"), 303)


def _list_others(document: Mapping[str, Any]) -> list[str]:
    return [code for code in RESPONDENT_LANGUAGES if code != document["language"]]


def _number_texts(document: Mapping[str, Any]) -> dict[str, int]:
    """The first question, counted from 1, that has each text; 0 for what stands before them all."""
    numbers = dict.fromkeys(list_texts({**document, "questions": ()}), 0)
    for number, entry in enumerate(document.get("questions", ()), start=1):
        for text in list_texts({"questions": [entry]}):
            numbers.setdefault(text, number)
    return numbers


def _read_typed(texts: tuple[str, ...]) -> dict[str, str]:
    """By the text that each translates: fields have the numbers of texts of the draft that the form was made from."""
    fields = ((text, request.form.get(f"text-{place}")) for place, text in enumerate(texts))
    return {text: said.replace("\r\n", "\n").strip() for text, said in fields if said is not None}


def _check_lengths(typed: Mapping[str, str]) -> None:
    """A refusal names the text that is translated, as the label of its field does."""
    for text, translation in typed.items():
        check_text(translation, shorten_value(text))
        if len(translation) > _LONGEST:
            template = N_("must have at most %(limit)s characters; it has %(length)d")
            raise refuse(422, shorten_value(text), template, limit=_LONGEST, length=len(translation))


def _show_page(
    survey: Survey,
    document: dict[str, Any],
    language: str,
    typed: Mapping[str, str] | None = None,
    error: InputError | None = None,
) -> str:
    known = {**document.get("translations", {}).get(language, {}), **(typed or {})}
    missing = {code: len(texts) for code, texts in find_untranslated(document).items()}
    unwritten = find_unwritten(read_study_sheet(session(), survey).sheet, {*missing, language} - {""})
    return render_template(
        "manage/translations.html",
        survey=survey,
        document=document,
        others=[
            (
                code,
                RESPONDENT_LANGUAGES[code].name,
                missing[code] + len(unwritten[code]) if code in missing else None,
            )
            for code in _list_others(document)
        ],
        to=language,
        spoken=RESPONDENT_LANGUAGES[language].name if language else "",
        toward=RESPONDENT_LANGUAGES[language].direction if language else "",
        numbers=_number_texts(document),
        texts=[(place, text, known.get(text, "")) for place, text in enumerate(list_texts(document))],
        unwritten=[STUDY_FIELDS[name] for name in unwritten.get(language, ())],
        left=sum(not known.get(text) for text in list_texts(document)),
        base=survey.draft_number,
        most=_LONGEST,
        problems=[] if error is None else [describe(problem) for problem in error.problems],
        said=request.args.get("said", ""),
    )
