"""A rehearsal: made-up people answer the draft, and the report that would come out is shown."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from server import reports, simulation
from server.inputs import N_, InputError, Problem, shorten_value
from server.simulation import Assumptions, Rehearsal, assumption_names
from server.store.models import Role, Survey
from server.study import strata, surveys
from server.study.answer_texts import answer_text
from server.study.definitions import Definition
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import on_survey
from server.web.work_progress import follow_work

blueprint = Blueprint("simulate", __name__, url_prefix="/manage/surveys/<slug>/simulate")

DEFAULT_RESPONDENTS = 500
LOOKED_AT = 1000
"""People beside the editor, where none are planned."""
_NUMBER = N_("must be a number; it is %(value)s")


@dataclass(frozen=True)
class _Form:
    """What was typed, as it was typed, and what it says."""

    values: Mapping[str, str]
    respondents: int
    assumptions: Assumptions
    problems: tuple[Problem, ...]


@blueprint.get("")
@on_survey(Role.EDITOR)
def form(survey: Survey) -> ResponseReturnValue:
    """What to assume of the people."""
    try:
        definition = surveys.draft(survey)
    except InputError as error:
        return _page(survey, problems=[describe(problem) for problem in error.problems])
    return _page(survey, definition, _usual(definition))


@blueprint.post("")
@on_survey(Role.EDITOR, changes=False)
def run(survey: Survey) -> ResponseReturnValue:
    """The report that such people would give."""
    try:
        definition = surveys.draft(survey)
    except InputError as error:
        return _page(survey, problems=[describe(problem) for problem in error.problems]), 422
    setting = simulation.setting_of(session(), survey)
    # Made-up people go nowhere near the database: nobody must wait for its lock meanwhile.
    session().rollback()
    asked = _read_form(definition, request.form)
    problems, rehearsal = asked.problems, None
    if not problems:
        try:
            with follow_work() as report_progress:
                rehearsal = simulation.rehearse(
                    *(definition, asked.respondents, asked.assumptions, setting, asked.values["stratum"]),
                    report_progress,
                )
        except InputError as error:
            problems = error.problems
    if problems:
        named = [_name_problem(definition, problem) for problem in problems]
        bad = {problem.field for problem in problems}
        return _page(survey, definition, asked.values, named, bad=bad), 422
    return _page(survey, definition, asked.values, rehearsal=rehearsal)


@blueprint.get("/look")
@on_survey(Role.EDITOR)
def preview(survey: Survey) -> ResponseReturnValue:
    """What results will look like with the planned people and the usual assumptions, beside the editor."""
    try:
        definition = surveys.draft(survey)
        setting = simulation.setting_of(session(), survey)
        planned = definition.plan.respondents if definition.plan else LOOKED_AT
        rehearsal = simulation.rehearse(
            definition, min(planned, simulation.REHEARSAL_LIMIT), Assumptions(), setting, ""
        )
    except InputError as error:
        missing = [(problem.field, *describe(problem)) for problem in error.problems]
        return render_template("manage/unfinished.html", survey=survey, missing=missing)
    return render_template(
        "manage/rehearsed.html",
        survey=survey,
        rehearsal=rehearsal,
        forests=_forests(rehearsal),
        interpret_question=reports.interpret_question,
    )


def _page(
    survey: Survey,
    definition: Definition | None = None,
    values: Mapping[str, str] | None = None,
    problems: Sequence[tuple[str, str]] = (),
    rehearsal: Rehearsal | None = None,
    bad: set[str] | None = None,
) -> str:
    return render_template(
        "manage/simulate.html",
        survey=survey,
        definition=definition,
        values=values or {},
        problems=problems,
        rehearsal=rehearsal,
        bad=bad or set(),
        assumed=simulation.own_answers,
        forests=_forests(rehearsal),
        interpret_question=reports.interpret_question,
        nodes=list(strata.walk(strata.tree(session(), survey))),
        limit=simulation.REHEARSAL_LIMIT,
    )


def _forests(rehearsal: Rehearsal | None) -> list[reports.Forest]:
    """The first estimate of each question by stratum, where there are not too many of these for a page."""
    report = None if rehearsal is None else rehearsal.report
    if report is None:
        return []
    made = [reports.forest(report, entry, reports.figures(entry)[0][0]) for entry in report.questions]
    return [forest for forest in made if forest is not None and not forest.cut]


def _usual(definition: Definition) -> dict[str, str]:
    """What the form holds at first: the usual shares in percent, the middle of each range; options share evenly."""
    planned = definition.plan.respondents if definition.plan else DEFAULT_RESPONDENTS
    values = {"respondents": str(min(planned, simulation.REHEARSAL_LIMIT)), "stratum": ""}
    for question in definition.questions:
        for answer in simulation.own_answers(question):
            share = simulation.usual_share(question, answer)
            if share is not None:
                values[f"share {question.name}.{answer}"] = f"{100 * share:g}"
        if question.grid is not None:
            values[f"mean {question.name}"] = f"{(question.grid.low + question.grid.high) / 2:g}"
    return values


def _read_form(definition: Definition, form: Mapping[str, str]) -> _Form:
    """The form's numbers; a field that is empty assumes nothing."""
    shares, means = assumption_names(definition)
    fields = ("respondents", *(f"share {name}" for name in shares), *(f"mean {name}" for name in means))
    values = {field: form.get(field, "").strip() for field in fields}
    numbers: dict[str, float] = {}
    problems = []
    for field, text in values.items():
        try:
            number = float(text or "nan")
            if text and not math.isfinite(number):
                raise ValueError(text)
        except ValueError:
            problems.append(Problem(field, _NUMBER, {"value": shorten_value(text)}))
        else:
            if text:
                numbers[field] = number
    respondents = numbers.get("respondents", DEFAULT_RESPONDENTS)
    if respondents != int(respondents):
        problems.append(
            Problem("respondents", N_("must be a whole number; it is %(value)s"), {"value": respondents})
        )
    assumptions = Assumptions(
        {name: numbers[f"share {name}"] / 100 for name in shares if f"share {name}" in numbers},
        {name: numbers[f"mean {name}"] for name in means if f"mean {name}" in numbers},
    )
    values["stratum"] = form.get("stratum", "")
    return _Form(values, int(respondents), assumptions, tuple(problems))


def _name_problem(definition: Definition, problem: Problem) -> tuple[str, str]:
    """A problem by the question and answer that the form shows; shares in percent, as they were typed."""
    what, _, name = problem.field.partition(" ")
    values = dict(problem.values)
    if what == "respondents":
        return gettext("Made-up respondents"), gettext(problem.template, **values)
    if what == "stratum":
        return gettext("Who answers"), gettext(problem.template, **values)
    if what == "share":
        percent = {
            key: round(100 * value, 7) for key, value in values.items() if isinstance(value, int | float)
        }
        values |= {key: f"{value:g} %" for key, value in percent.items()}
    question = next(entry for entry in definition.questions if entry.name == name.partition(".")[0])
    answer = name.partition(".")[2]
    if answer:
        answer = answer_text(question, question.answers.index(answer), definition.language)
    field = f"{question.text} – {answer}" if answer else question.text
    return field, gettext(problem.template, **values)
