"""Which two strata an address asks to compare in a report."""

from flask import request

from server.inputs import N_, refuse
from server.reports import Compared, Report
from server.reports.chosen_strata import FIELDS, compare_chosen
from server.web.result_choices import choose_anytime


def read_comparison(report: Report) -> tuple[Compared, ...]:
    """The two strata that the address names, compared by the question that it names; nothing where it names none.

    Raises
    ------
    InputError
        As `compare_chosen`, and where it names one of them alone.
    """
    asked = {name: request.args.get(name, "") for name in FIELDS}
    if not (asked[FIELDS[1]] or asked[FIELDS[2]]):
        return ()
    for name, value in asked.items():
        if not value:
            raise refuse(422, name, N_("is required where two strata are compared"))
    return (compare_chosen(report, *asked.values(), anytime=choose_anytime()),)
