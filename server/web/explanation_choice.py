"""What an address asks to explain of a survey: worked out among few at once, and for so long at most."""

from flask import request

from server.inputs import N_, refuse
from server.reports.explaining import ExplainedAnswer, explain_answer, of_report
from server.reports.report import Report
from server.web.long_work import limit_time, take_place


def read_explanation(report: Report) -> ExplainedAnswer | None:
    """What the address names goes with; None where it names nothing.

    Raises
    ------
    InputError
        As `explain_answer`, and where too much is being worked out, or for too long.
    """
    answer, by = request.args.get("explain", ""), request.args.getlist("by")
    if not answer:
        if by:
            raise refuse(422, "explain", N_("is required where something is named that it may go with"))
        return None
    if not report.pooled:
        raise refuse(422, "explain", N_("is of all versions together; the address names one of them"))
    with take_place("explain"):
        return explain_answer(of_report(report), answer, by, limit_time("explain"))
