"""What the server deletes of a closed survey by itself, and when: days from closing on, as respondents read them.

Whoever answers is told these days. So once a survey is published they can be set for the first time, or made fewer,
and never more. `server.archives.due_deletions` deletes.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from enum import IntEnum

from server.inputs import N_, InputError, Problem, parse_whole_number, refuse
from server.store.models import Survey

KEPT_FIELDS = ("keep_rows", "keep_counts", "keep_rest")
LONGEST = 36_500
"""Days: a hundred years."""
PART_NAMES = (
    N_("each response as a row of its own"),
    N_("the counts: how often each combination of answers arrived, after chance"),
    N_("everything else but what was released and what it takes to read it"),
)
"""What goes, in the order in which it does."""


class Deleted(IntEnum):
    """How far deleting is; each holds those before."""

    NOTHING = 0
    ROWS = 1
    COUNTS = 2
    REST = 3


@dataclass(frozen=True)
class Retention:
    """For how many days after closing each part is kept; None where nothing is deleted because time has passed."""

    keep_rows: int | None = None
    keep_counts: int | None = None
    keep_rest: int | None = None

    @property
    def days(self) -> tuple[int, ...]:
        """After how many days each part goes, in order: with one, those before it go at the latest."""
        stated = astuple(self)
        later = (next((day for day in stated[place:] if day is not None), None) for place in range(3))
        return tuple(day for day in later if day is not None)

    def find_due(self, closed_at: datetime, now: datetime) -> Deleted:
        """What must be gone by now."""
        return Deleted(sum(closed_at + timedelta(days=day) <= now for day in self.days))


UNLIMITED = Retention()
"""Nothing is deleted because time has passed."""


def retention_of(survey: Survey) -> Retention:
    """The settings of a survey as they are."""
    return Retention(survey.keep_rows, survey.keep_counts, survey.keep_rest)


def write_days(retention: Retention) -> dict[str, str]:
    """The fields of a form that shows them."""
    days = zip(KEPT_FIELDS, astuple(retention), strict=True)
    return {field: "" if day is None else str(day) for field, day in days}


def describe_days(retention: Retention) -> dict[str, str]:
    """What the log says of them."""
    days = zip(("rows", "counts", "rest"), astuple(retention), strict=True)
    return {part: "–" if day is None else str(day) for part, day in days}


def list_deletions(survey: Survey) -> list[tuple[str, datetime]]:
    """What of a closed survey is still to be deleted, by its name, and from when on."""
    if survey.closed_at is None:
        return []
    planned = zip(PART_NAMES, retention_of(survey).days, strict=False)
    return [(name, survey.closed_at + timedelta(days=day)) for name, day in planned][survey.deleted :]


def parse_retention(fields: Mapping[str, str]) -> Retention:
    """Read the fields of a form; each may be empty.

    Raises
    ------
    InputError
        Naming every field that is wrong.
    """
    problems: list[Problem] = []
    days: list[int | None] = []
    for field in KEPT_FIELDS:
        text = fields.get(field, "").strip()
        try:
            days.append(parse_whole_number(text, field, 1, LONGEST) if text else None)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(422, problems)
    return check_order(Retention(*days))


def check_order(retention: Retention) -> Retention:
    """Refuse a part that is kept for less long than one before it.

    Raises
    ------
    InputError
        Naming the field.
    """
    least = 1
    for field, day in zip(KEPT_FIELDS, astuple(retention), strict=True):
        if day is not None and day < least:
            template = N_("must be at least %(limit)s, the days of what goes before it; it is %(value)s")
            raise refuse(422, field, template, limit=least, value=day)
        least = max(least, day or 0)
    return retention


def set_retention(survey: Survey, retention: Retention) -> bool:
    """Change what is deleted when; whether anything changed.

    Raises
    ------
    InputError
        Naming each setting that respondents were promised less of.
    """
    before = retention_of(survey)
    problems = [
        Problem(
            field,
            N_("can only become less once a survey is published: at most %(limit)s; it is %(value)s"),
            {"limit": old, "value": "–" if new is None else new},
        )
        for field, old, new in zip(KEPT_FIELDS, astuple(before), astuple(retention), strict=True)
        if survey.versions and old is not None and (new is None or new > old)
    ]
    if problems:
        raise InputError(422, problems)
    for field in KEPT_FIELDS:
        setattr(survey, field, getattr(retention, field))
    return retention != before


class DeletedResponsesError(InputError):
    """Something is read from responses of a survey whose time is over."""

    def __init__(self, survey: Survey) -> None:
        self.slug = survey.slug
        template = N_(
            "has no responses any more: the server deleted them, as it was set under “Keep or delete”; what was "
            "released stays"
        )
        super().__init__(410, [Problem("survey", template, {})])


def has_counts(survey: Survey) -> bool:
    """Whether results can still be computed: the counts of its responses were not deleted."""
    return survey.deleted < Deleted.COUNTS


def require_counts(survey: Survey) -> None:
    """Refuse what is read from responses where they were deleted.

    Raises
    ------
    DeletedResponsesError
        410, which says why.
    """
    if not has_counts(survey):
        raise DeletedResponsesError(survey)
