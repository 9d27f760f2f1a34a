"""What becomes of a survey: a copy, a file that holds everything, a place in the archive, or nothing at all."""

from flask import Blueprint, current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale, gettext

from server import archives
from server.inputs import N_, InputError, Problem, refuse, schema_limit, shorten_value
from server.people import survey_access
from server.people.change_log import Action
from server.releases import read_ledger, rights
from server.store.engines import snapshot
from server.store.models import GivenRight, Role, Survey
from server.study import retention, strata, surveys
from server.web.context import send_written, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import housekeeper, on_survey, record, researcher
from server.web.work_progress import follow_work

blueprint = Blueprint("keeping", __name__, url_prefix="/manage/surveys/<slug>")

_LONGEST_TITLE = schema_limit("properties", "title", "maxLength")


@blueprint.get("/keeping")
@on_survey(Role.VIEWER, archived=True)
def page(survey: Survey) -> ResponseReturnValue:
    """Everything that can be done with the survey as a whole."""
    return _page(survey)


@blueprint.post("/duplicate")
@on_survey(Role.VIEWER, archived=True)
def duplicate(survey: Survey) -> ResponseReturnValue:
    """A new draft of the reader's own with the same questions."""
    copy = archives.duplicate(
        session(),
        survey,
        researcher(),
        request.form.get("title", ""),
        with_strata="strata" in request.form,
    )
    record(Action.SURVEY_COPIED, copy)
    session().commit()
    return redirect(url_for("manage.overview", slug=copy.slug), 303)


@blueprint.post("/archive")
@on_survey(Role.OWNER, archived=True)
def archive(survey: Survey) -> ResponseReturnValue:
    """Put it into the archive, or take it out again."""
    if "out" in request.form:
        archives.take_out(survey)
        record(Action.TAKEN_OUT, survey)
    else:
        archives.put_away(survey)
        record(Action.ARCHIVED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug), 303)


@blueprint.post("/export.zip")
@on_survey(Role.OWNER, archived=True)
def export(survey: Survey) -> ResponseReturnValue:
    """Everything of it as one file; a right to release that goes along is debited before it can be downloaded."""
    archives.check_packable(session(), survey)
    try:
        right = _right(survey)
    except InputError as error:
        return _page(
            survey, problems=[_describe_problem(problem) for problem in error.problems]
        ), error.status
    token = None if right is None else right.token
    name = name_of_survey_file(survey, gettext("archive"), "zip")
    record(Action.EXPORTED, survey)
    session().commit()
    # Not in the request's own transaction: that one would keep respondents waiting.
    with snapshot(current_app.extensions["moneda.engine"]) as reading, follow_work() as report_progress:
        found = survey_access.find(reading, survey.slug)
        assert found is not None  # it was there a moment ago; else a mistake is better than half a file
        language = str(get_locale())
        return send_written(
            lambda file: archives.pack(
                reading,
                found,
                file,
                language,
                report_progress,
                reading.get(GivenRight, token) if token else None,
            ),
            "application/zip",
            name,
        )


@blueprint.post("/retention")
@on_survey(Role.OWNER)
def retain(survey: Survey) -> ResponseReturnValue:
    """Say for how long what is kept after closing; what is over by then, the server deletes before long."""
    try:
        asked = retention.parse_retention(request.form)
        changed = retention.set_retention(survey, asked)
    except InputError as error:
        return _page(survey, problems=[describe(problem) for problem in error.problems]), error.status
    if changed:
        record(Action.RETENTION_SET, survey, **retention.describe_days(asked))
    session().commit()
    housekeeper().notify()
    return redirect(url_for(".page", slug=survey.slug, said="retained"), 303)


@blueprint.post("/delete")
@on_survey(Role.OWNER, archived=True)
def delete(survey: Survey) -> ResponseReturnValue:
    """Delete it for good, if the owner types what it is called."""
    typed = request.form.get("confirmation", "")
    try:
        archives.check_confirmed(survey, typed)
    except InputError as error:
        problems = [describe(problem) for problem in error.problems]
        return _page(survey, typed, problems), error.status
    record(Action.DELETED, None, slug=survey.slug)
    archives.delete(session(), survey)
    session().commit()
    housekeeper().notify()
    return redirect(url_for("manage.surveys_page", said="deleted"), 303)


def _describe_problem(problem: Problem) -> tuple[str, str]:
    """As everywhere, but for the names of the page's own fields: elsewhere ε is what one release may lose."""
    name, message = describe(problem)
    own = {"epsilon": gettext("The part, ε"), "delta": gettext("Its δ")}
    return own.get(problem.field, name), message


def _right(survey: Survey) -> GivenRight | None:
    """What goes along: nothing, a right that was given before, or a new one."""
    form = request.form
    kind = form.get("right", str(rights.RightKind.NONE))
    if kind not in {*rights.RightKind} and kind not in {
        each.token for each in rights.list_given_rights(session(), survey)
    }:
        raise refuse(422, "right", N_("must be one of the list; it is %(value)s"), value=shorten_value(kind))
    if kind == rights.RightKind.NONE:
        return None
    if kind not in {*rights.RightKind}:
        return session().get_one(GivenRight, kind)
    book = read_ledger(session(), survey)
    left = None if book.budget is None else (book.left, book.left_delta)
    right = rights.give_right(
        *(session(), survey, kind, form.get("server", "")),
        left,
        form.get("epsilon", ""),
        form.get("delta", ""),
    )
    record(Action.RIGHT_GIVEN, survey, kind=kind, epsilon=right.epsilon, server=right.server)
    return right


def _kept_days(survey: Survey) -> dict[str, str]:
    """The days that the fields show: as they were typed, if they were refused."""
    if request.endpoint == "keeping.retain":
        return {field: request.form.get(field, "") for field in retention.KEPT_FIELDS}
    return retention.write_days(retention.retention_of(survey))


def _page(survey: Survey, typed: str = "", problems: list[tuple[str, str]] | None = None) -> str:
    try:
        archives.check_packable(session(), survey)
        unpackable = None
    except InputError as error:
        (unpackable,) = [describe(problem)[1] for problem in error.problems]
    document = surveys.draft_document(survey)
    title = document["title"].strip() or gettext("Untitled survey")
    return render_template(
        "manage/keeping.html",
        survey=survey,
        document=document,
        copied_title=gettext("%(title)s (copy)", title=title)[:_LONGEST_TITLE],
        strata=len(strata.list_leaves(strata.tree(session(), survey))),
        unpackable=unpackable,
        rights=rights.list_given_rights(session(), survey),
        book=read_ledger(session(), survey),
        form=request.form,
        typed=typed,
        kept=_kept_days(survey),
        deletions=retention.list_deletions(survey),
        longest=retention.LONGEST,
        said=request.args.get("said", ""),
        problems=problems or (),
    )
