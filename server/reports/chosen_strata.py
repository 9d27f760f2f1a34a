"""Which two strata a reader of a report asks to compare, and of which question."""

from server.inputs import N_, refuse, shorten_value
from server.reports.report import Report
from server.reports.stratum_comparison import Compared, Obstacle, compare_strata
from server.reports.stratum_estimates import NO_STRATUM
from server.study.strata import walk

FIELDS = ("question", "first_stratum", "second_stratum")
"""What an address names them by."""
_OBSTACLES = {
    Obstacle.SAME: N_("must be another stratum than the first; it is %(value)s"),
    Obstacle.INSIDE: N_("must have nobody in common with the first; it is %(value)s"),
    Obstacle.WITHHELD: N_("cannot be compared: one of the two is withheld"),
    Obstacle.NOBODY: N_("cannot be compared: nobody’s answers are shown of one of the two yet"),
}
_MOST_NAMES = 20
"""Of strata, where another one must be named."""


def compare_chosen(report: Report, question: str, first: str, second: str, *, anytime: bool) -> Compared:
    """A question in two strata, by its name and their paths.

    Raises
    ------
    InputError
        422 where one of them is not known, or the report is of one version alone; 409 where they cannot be compared.
    """
    if not report.pooled:
        raise refuse(422, FIELDS[1], N_("is of all versions together; the report is of one of them"))
    names = [entry.question.name for entry in report.questions]
    known = [node.path for node in walk(report.nodes)]
    allowed = ((names, question), (known, first), (known, second))
    for field, (offered, asked) in zip(FIELDS, allowed, strict=True):
        if asked not in offered and (field == FIELDS[0] or asked != NO_STRATUM):
            listed = [*offered[:_MOST_NAMES], *(["…"] if len(offered) > _MOST_NAMES else [])]
            template = N_("must be one of %(limit)s; it is %(value)s")
            raise refuse(422, field, template, limit=", ".join(listed), value=shorten_value(asked) or "-")
    compared = compare_strata(report, report.question(question), (first, second), anytime)
    if compared.obstacle is not None:
        raise refuse(409, FIELDS[2], _OBSTACLES[compared.obstacle], value=shorten_value(second))
    return compared
