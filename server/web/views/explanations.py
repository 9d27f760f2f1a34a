"""What an answer of a survey goes with: chosen in the address, of the responses that its results show."""

from collections.abc import Iterable
from itertools import groupby

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server.inputs import InputError
from server.output.documents import rows
from server.reports.contents.explanation_section import ExplainedNames, describe_explanation
from server.reports.explaining import (
    OfferedColumn,
    list_outcomes,
    list_predictors,
    list_weekly,
    of_report,
)
from server.reports.formats import FORMATS
from server.reports.report_words import ReportWords
from server.store.models import Role, Survey
from server.study.definitions import Question
from server.web.explanation_choice import read_explanation
from server.web.problem_texts import describe
from server.web.report_opening import open_report
from server.web.security import on_survey

blueprint = Blueprint("explanations", __name__, url_prefix="/manage/surveys/<slug>/explain")


@blueprint.get("")
@on_survey(Role.VIEWER)
def page(survey: Survey) -> ResponseReturnValue:
    """Choose an answer and what it may go with; and what was found, where they are chosen."""
    words = ReportWords(str(get_locale()))
    with open_report(survey) as (report, _session):
        explainable = of_report(report)
        explained, refusal = None, None
        if report.n:
            try:
                explained = read_explanation(report)
            except InputError as error:
                refusal = error
        plain = None if explained is None else explained.unweighted
        return render_template(
            "results/explain.html",
            survey=survey,
            report=report,
            outcomes=_group(list_outcomes(explainable)),
            predictors=_group(list_predictors(explainable)),
            weekly=list_weekly(explainable),
            answer=request.args.get("explain", ""),
            chosen=request.args.getlist("by"),
            problems=[describe(problem) for problem in refusal.problems] if refusal else [],
            explained=explained,
            named=ExplainedNames(words, report.definition),
            blocks=[] if explained is None else describe_explanation(words, report, explained),
            plain_blocks=[] if plain is None else describe_explanation(words, report, plain),
            rows=rows,
            formats=FORMATS.values(),
        ), refusal.status if refusal else 200


def _group(columns: Iterable[OfferedColumn]) -> list[tuple[Question | None, list[OfferedColumn]]]:
    """Those of one question together."""
    return [(question, list(own)) for question, own in groupby(columns, key=lambda column: column.question)]
