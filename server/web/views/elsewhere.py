"""Data from elsewhere: a table and its study file -> the report on them. Nothing of it outlives the request."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import SEEK_END

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale
from werkzeug.datastructures import FileStorage

from server.inputs import N_, InputError, refuse, shorten_value
from server.output.documents import Document, rows
from server.output.file_names import name_file
from server.output.languages import DEFAULT_LANGUAGE
from server.reports.elsewhere import (
    STUDY_LIMIT,
    WHOLE,
    ForeignData,
    StudyFile,
    parse_study,
    read_foreign_data,
)
from server.reports.explaining import ExplainedAnswer, explain_answer, of_foreign
from server.reports.foreign_writers import FOREIGN_WRITERS, ForeignReport
from server.reports.formats import FORMATS
from server.store.engines import TakingTurns
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.web.body_limits import limit_body
from server.web.context import send_download, session
from server.web.long_work import LONGEST, limit_time, take_place
from server.web.problem_texts import describe
from server.web.security import signed_in
from server.web.work_progress import follow_work

blueprint = Blueprint("elsewhere", __name__, url_prefix="/manage")

TABLE_LIMIT = 10 << 20
"""Largest table that can be sent, in bytes."""


@blueprint.get("/elsewhere")
@signed_in
def page() -> ResponseReturnValue:
    """Choose the files."""
    return _page()


@blueprint.post("/elsewhere")
@limit_body(TABLE_LIMIT + STUDY_LIMIT + DEFINITION_LIMIT, upload=True)
@signed_in
def analyse() -> ResponseReturnValue:
    """The report on the page, or in the format whose button was pressed: each press sends the files again."""
    TakingTurns(session()).give_way()  # nothing is written, and others shall not wait for it
    chosen = request.form.get("format", "")
    try:
        if chosen and chosen not in FOREIGN_WRITERS:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = ", ".join(FOREIGN_WRITERS)
            raise refuse(422, "format", template, limit=limit, value=shorten_value(chosen))
        with take_place("data"):
            foreign_report = _read(limit_time("data"))
            if not chosen:
                return _page(document=foreign_report.draw(_language()))
            written = FOREIGN_WRITERS[chosen](foreign_report, _language())
    except InputError as error:
        return _page([describe(problem) for problem in error.problems]), error.status
    made = foreign_report.data.report
    name = name_file(made.definition.title, day=made.made_on, ending=chosen)
    return send_download(written, FORMATS[chosen].content_type, name)


def _page(problems: Sequence[tuple[str, str]] = (), document: Document | None = None) -> str:
    return render_template(
        "manage/elsewhere.html",
        problems=problems,
        document=document,
        rows=rows,
        formats=[FORMATS[ending] for ending in FOREIGN_WRITERS],
        typed={name: request.form.get(name, "") for name in ("explain", "by")},
        limits={"table": TABLE_LIMIT >> 20, "study": STUDY_LIMIT >> 20, "seconds": LONGEST},
    )


def _read(check_time: Callable[[], None]) -> ForeignReport:
    study = _read_study()
    table = _find_file("data")
    size = table.stream.seek(0, SEEK_END)
    if size > TABLE_LIMIT:
        raise refuse(413, "data", N_("must be at most %(limit)d bytes; it has more"), limit=TABLE_LIMIT)
    table.stream.seek(0)
    # Where more than shares is worked out, that takes longest, and how long nobody knows before.
    is_counted = not (request.form.get("explain") or study.sampling or study.models)

    with (
        follow_work() as report_progress,
        _name_study_file("sampling.", "models["),  # some of what it says is held against the rows
    ):

        def follow_reading(done: int) -> None:
            check_time()
            if is_counted:
                report_progress(done, size)

        data = read_foreign_data(table.stream, study, follow_reading)
    return ForeignReport(data, _explain(data, check_time))


def _read_study() -> StudyFile:
    """What the columns hold."""
    file = _find_file("study_file")
    with _name_study_file():
        return parse_study(file.read(STUDY_LIMIT + 1))


@contextmanager
def _name_study_file(*members: str) -> Iterator[None]:
    """Let a refusal of a field that begins so say that it is of the study file."""
    try:
        yield
    except InputError as error:
        problems = [
            replace(problem, field="study_file" + f".{problem.field}" * (problem.field != WHOLE))
            if problem.field.startswith(members or "")
            else problem
            for problem in error.problems
        ]
        raise InputError(error.status, problems) from None


def _find_file(name: str) -> FileStorage:
    file = request.files.get(name)
    if file is None or not file.filename:
        raise refuse(422, name, N_("is required"))
    return file


def _explain(data: ForeignData, check_time: Callable[[], None]) -> ExplainedAnswer | None:
    """What the answer goes with that the form names, if it names one."""
    answer = request.form.get("explain", "").strip()
    by = [line.strip() for line in request.form.get("by", "").splitlines() if line.strip()]
    if not answer:
        if by:
            raise refuse(422, "explain", N_("is required where something is named that it may go with"))
        return None
    return explain_answer(of_foreign(data), answer, by, check_time)


def _language() -> str:
    return str(get_locale() or DEFAULT_LANGUAGE)
