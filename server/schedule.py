"""When a survey takes responses, how many, from whom, and how small a group is shown.

Researchers write times as the clocks of a zone show them; the database holds them in UTC. Functions
take a Session and never commit.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy.orm import Session

from server import collected, strata
from server.formatting import local_time
from server.inputs import N_, InputError, Problem, refuse, shown
from server.models import State, Survey

LARGEST_CAP = 10_000_000
LEAST_MINIMUM, LARGEST_MINIMUM = 3, 1_000
FIELDS = ("time_zone", "opens_at", "closes_at", "cap", "minimum", "by_invitation")

_FIRST, _LAST = datetime(2000, 1, 1), datetime(2199, 12, 31)  # noqa: DTZ001 - as clocks show them
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::00)?", re.ASCII)


@dataclass(frozen=True)
class Schedule:
    """The settings of a survey. Times are in UTC, and say nothing of it, as in the database."""

    time_zone: str
    opens_at: datetime | None
    closes_at: datetime | None
    cap: int | None
    minimum: int
    by_invitation: bool


@cache
def time_zones() -> tuple[str, ...]:
    """The names of all zones that a place or UTC has."""
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


def schedule_of(survey: Survey) -> Schedule:
    """The settings of a survey as they are."""
    return Schedule(*(getattr(survey, field) for field in FIELDS))


def written(schedule: Schedule) -> dict[str, str]:
    """The settings as the fields of a form hold them."""

    def local(moment: datetime | None) -> str:
        if moment is None:
            return ""
        return local_time(moment, schedule.time_zone).strftime("%Y-%m-%dT%H:%M")

    return {
        "time_zone": schedule.time_zone,
        "opens_at": local(schedule.opens_at),
        "closes_at": local(schedule.closes_at),
        "cap": "" if schedule.cap is None else str(schedule.cap),
        "minimum": str(schedule.minimum),
        "by_invitation": "yes" if schedule.by_invitation else "",
    }


def check_moment(moment: datetime, zone: str, field: str) -> None:
    """Refuse a time in UTC that the form for it would not take.

    Raises
    ------
    InputError
        Naming the range, as the clocks of the zone show it.
    """
    if not _FIRST <= local_time(moment, zone).replace(tzinfo=None) < _LAST:
        raise _impossible(field, moment.isoformat())


def parse_schedule(fields: Mapping[str, str]) -> Schedule:
    """Read the fields of a form; one for a time or for the cap may be empty.

    Raises
    ------
    InputError
        Naming every field that is wrong.
    """
    problems: list[Problem] = []

    def read(parse: Callable[..., Any], *arguments: object) -> Any:
        try:
            return parse(*arguments)
        except InputError as error:
            problems.extend(error.problems)

    zone = read(_zone, fields.get("time_zone", ""))
    opens, closes = (
        read(_moment, field, fields.get(field, "").strip(), zone) for field in ("opens_at", "closes_at")
    )
    cap = read(_number, "cap", fields.get("cap", "").strip() or None, 1, LARGEST_CAP)
    minimum = read(_number, "minimum", fields.get("minimum", "").strip(), LEAST_MINIMUM, LARGEST_MINIMUM)
    if problems:
        raise InputError(422, problems)
    return Schedule(zone, opens, closes, cap, minimum, fields.get("by_invitation") == "yes")


def set_schedule(session: Session, survey: Survey, schedule: Schedule, now: datetime) -> Mapping[str, Any]:
    """Change a survey's settings; those that changed, as they are now.

    Of a closed survey only the minimum can be changed: it stays closed. Once a survey was published, switching
    invitations on gives it and its strata new links and closes those before; `links` says how many.

    Raises
    ------
    InputError
        Naming every setting that cannot be so.
    """
    before = schedule_of(survey)
    changed = {
        field: getattr(schedule, field)
        for field in FIELDS
        if getattr(schedule, field) != getattr(before, field)
    }
    if survey.state == State.CLOSED and changed.keys() - {"minimum"}:
        raise refuse(409, "state", N_("must not be closed; a closed survey stays closed"))
    problems = list(_problems(session, survey, schedule, changed, now))
    if problems:
        raise InputError(422, problems)

    def write() -> None:
        for field, value in changed.items():
            setattr(survey, field, value)

    if "by_invitation" in changed:
        switched = strata.switch(session, survey, write)
        if switched.on and survey.versions:
            changed["links"] = len(switched.on)
    else:
        write()
        session.flush()
    return changed


def pause(survey: Survey) -> None:
    """Take no responses for a while.

    Raises
    ------
    InputError
        If the survey is not open.
    """
    _check_open(survey)
    survey.paused = True


def resume(survey: Survey) -> None:
    """Take responses again.

    Raises
    ------
    InputError
        If the survey is not open.
    """
    _check_open(survey)
    survey.paused = False


def _check_open(survey: Survey) -> None:
    if survey.state != State.OPEN:
        raise refuse(409, "state", N_("must be open to be paused or resumed"))


def _problems(
    session: Session, survey: Survey, schedule: Schedule, changed: Mapping[str, Any], now: datetime
) -> list[Problem]:
    problems = []
    fields = written(schedule)
    if schedule.closes_at is not None and {"closes_at", "opens_at"} & changed.keys():
        if schedule.closes_at <= now:
            template = N_("must be later than now; it is %(value)s")
            problems.append(Problem("closes_at", template, {"value": fields["closes_at"]}))
        elif schedule.opens_at is not None and schedule.closes_at <= schedule.opens_at:
            template = N_("must be later than the opening time, %(limit)s; it is %(value)s")
            values = {"limit": fields["opens_at"], "value": fields["closes_at"]}
            problems.append(Problem("closes_at", template, values))
    if survey.versions and schedule.minimum < survey.minimum:
        template = N_("can only be raised once a survey is published: at least %(limit)s; it is %(value)s")
        problems.append(Problem("minimum", template, {"limit": survey.minimum, "value": schedule.minimum}))
    if "minimum" in changed and survey.state != State.CLOSED:
        problems += _above_populations(session, survey, schedule.minimum)
    if schedule.cap is not None and {"cap", "minimum"} & changed.keys():
        # Fewer than the minimum would never be shown; and a smaller number could be used to count what is stored:
        # whether a survey is full must not tell more than what is shown.
        least = max(schedule.minimum, _most_stored(session, survey) if "cap" in changed else 0)
        if schedule.cap < least:
            template = N_(
                "must be at least %(limit)s, the smallest group shown and all that may be stored by now; "
                "it is %(value)s"
            )
            problems.append(Problem("cap", template, {"limit": least, "value": schedule.cap}))
    return problems


def _above_populations(session: Session, survey: Survey, minimum: int) -> list[Problem]:
    """A stratum with fewer people than the smallest group shown could not be published with."""
    nodes = strata.walk(strata.tree(session, survey))
    stated = [(node.stratum.population, node.path) for node in nodes if node.stratum.population is not None]
    least, path = min(stated, default=(minimum, ""))
    if least >= minimum:
        return []
    template = N_(
        "must be at most %(limit)s, the population of the stratum “%(stratum)s”; it is %(value)s. Take that "
        "stratum together with another one first"
    )
    return [Problem("minimum", template, {"limit": least, "stratum": path, "value": minimum})]


def _most_stored(session: Session, survey: Survey) -> int:
    """How many responses there may be at most, as far as what is shown of the survey tells."""
    links = 1 + len(strata.leaves(strata.tree(session, survey)))
    waiting = len(survey.versions) * links * max(collected.waiting_limit(survey) - 1, 0)
    return sum(collected.sizes(session, survey).values()) + waiting


def _impossible(field: str, text: str) -> InputError:
    template = N_("must be a day and time from 2000-01-01 to 2199-12-30, as %(example)s; it is %(value)s")
    return refuse(422, field, template, example="2026-03-01T09:00", value=shown(text))


def _zone(text: str) -> str:
    if text not in time_zones():
        raise refuse(
            422, "time_zone", N_("must be a time zone of the list; it is %(value)s"), value=shown(text)
        )
    return text


def _moment(field: str, text: str, zone: str | None) -> datetime | None:
    """A time of a zone's clocks -> UTC, where the clocks show it once and only once."""
    if not text:
        return None
    found = _TIME.fullmatch(text)
    try:
        clock = datetime.strptime(f"{found[1]} {found[2]}", "%Y-%m-%d %H:%M") if found else None  # noqa: DTZ007
    except ValueError:
        clock = None
    if clock is None or not _FIRST <= clock < _LAST:
        raise _impossible(field, text)
    if zone is None:
        return None  # which is told of already
    first, second = (clock.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
    offsets = first.utcoffset(), second.utcoffset()
    if offsets[0] == offsets[1]:
        return first.astimezone(UTC).replace(tzinfo=None)
    assert offsets[0] is not None
    assert offsets[1] is not None
    if offsets[0] < offsets[1]:
        template = N_("must be another time: clocks in %(zone)s are put forward then and skip %(value)s")
    else:
        template = N_("must be another time: clocks in %(zone)s are put back then and show %(value)s twice")
    raise refuse(422, field, template, zone=zone, value=clock.strftime("%Y-%m-%d %H:%M"))


def _number(field: str, text: str | None, low: int, high: int) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or not low <= int(text) <= high:
        template = N_("must be a whole number from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, field, template, low=low, high=high, value=shown(text))
    return int(text)
