"""Completion codes that a panel hands in: which are good, each once."""

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from server.collect import checked_codes
from server.collect.checked_codes import CheckedCode, CodeVerdict
from server.inputs import InputError
from server.people.change_log import Action
from server.reports.csv_cells import csv_text
from server.store.models import Role, Survey
from server.study.completion_codes import group_code, split_codes
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import attach_file, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("completions", __name__, url_prefix="/manage/surveys/<slug>/completions")


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """The form for codes, and how many were good so far."""
    return _page(survey)


@blueprint.post("")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def check(survey: Survey) -> ResponseReturnValue:
    """Say which codes are good, and note these."""
    pasted = request.form.get("codes", "")
    codes, slug = split_codes(pasted), survey.slug
    try:
        checked_codes.check_number(codes)
        find_genuine = checked_codes.open_checker(session(), survey)
    except InputError as error:
        session().rollback()
        return _page(survey, pasted=pasted, error=error), error.status
    session().rollback()  # this takes seconds, in which others write
    genuine = find_genuine(codes)
    return _note(slug=slug, codes=codes, genuine=genuine)


@on_survey(Role.EDITOR)
def _note(survey: Survey, codes: list[str], genuine: set[str]) -> ResponseReturnValue:
    """Whoever asks is looked at again: role and state of the survey may have changed meanwhile."""
    checked = checked_codes.note_codes(session(), survey, codes, genuine)
    good = sum(each.verdict == CodeVerdict.GOOD for each in checked)
    if good:
        record(Action.COMPLETIONS_CHECKED, survey, count=good)
    session().commit()
    return _page(survey, checked)


@blueprint.get("/accepted.csv")
@on_survey(Role.EDITOR)
def table(survey: Survey) -> ResponseReturnValue:
    """The codes that were found good, in their own order, as CSV."""
    text = csv_text(
        [("code",), *((group_code(code),) for code in checked_codes.list_accepted(session(), survey))]
    )
    name = name_of_survey_file(survey, gettext("completion codes"), "csv")
    return attach_file(Response(text, mimetype="text/csv"), name)


def _page(
    survey: Survey,
    checked: list[CheckedCode] | None = None,
    pasted: str = "",
    error: InputError | None = None,
) -> str:
    problems = () if error is None else error.problems
    return render_template(
        "manage/completions.html",
        survey=survey,
        checked=checked or [],
        counts=[(verdict, sum(each.verdict == verdict for each in checked or [])) for verdict in CodeVerdict],
        group=_group,
        checkable=checked_codes.can_check(session(), survey),
        accepted=len(checked_codes.list_accepted(session(), survey)),
        most=checked_codes.MOST_AT_ONCE,
        pasted=pasted,
        problems=[describe(problem) for problem in problems],
    )


def _group(checked: CheckedCode) -> str:
    return checked.code if checked.verdict == CodeVerdict.FALSE else group_code(checked.code)
