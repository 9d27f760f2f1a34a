"""Where there is too little to show, a report is not written."""

from server.inputs import N_, refuse
from server.reports.report import Report


def require_shown(report: Report, number: int | None = None) -> None:
    """Refuse a report that shows nothing because too few responded; with a number, of this version alone.

    Raises
    ------
    InputError
        409.
    """
    if report.withheld or number in report.left_out:
        raise refuse(
            409,
            "survey",
            N_("has fewer than %(limit)s responses that can be shown so far"),
            limit=report.minimum,
        )
