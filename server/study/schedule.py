"""When a survey takes responses, how many, from whom, and how small a group is shown: read from a form and back.

Researchers write times as the clocks of a zone show them; the database holds them in UTC.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from server.inputs import N_, InputError, Problem, parse_whole_number, refuse, shorten_value
from server.output.formatting import local_time
from server.store.models import Survey
from server.study.smallest_group import LARGEST_MINIMUM, LEAST_MINIMUM
from server.study.switches import SWITCHES, list_on

LARGEST_CAP = 10_000_000
_VALUES = ("time_zone", "opens_at", "closes_at", "cap", "minimum", "by_invitation")
FIELDS = (*_VALUES, *SWITCHES)

_FIRST, _LAST = datetime(2000, 1, 1), datetime(2199, 12, 31)  # noqa: DTZ001 - as clocks show them
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::00)?", re.ASCII)


@dataclass(frozen=True)
class Schedule:
    """The settings of a survey, and which of its switches are on. Times are in UTC, and say nothing of it."""

    time_zone: str
    opens_at: datetime | None
    closes_at: datetime | None
    cap: int | None
    minimum: int
    by_invitation: bool
    on: frozenset[str] = frozenset()

    @property
    def settings(self) -> dict[str, Any]:
        """Each setting by the name of its column."""
        values = {name: getattr(self, name) for name in _VALUES}
        return values | {name: name in self.on for name in SWITCHES}

    def turn(self, settings: Mapping[str, bool]) -> "Schedule":
        """The same with some of the switches turned on or off."""
        return replace(self, on=frozenset(name for name in SWITCHES if settings.get(name, name in self.on)))


@cache
def time_zones() -> tuple[str, ...]:
    """The names of all zones that a place or UTC has."""
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


def schedule_of(survey: Survey) -> Schedule:
    """The settings of a survey as they are."""
    return Schedule(**{name: getattr(survey, name) for name in _VALUES}, on=list_on(survey))


def format_schedule(schedule: Schedule) -> dict[str, str]:
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
        **{name: "yes" if schedule.settings[name] else "" for name in ("by_invitation", *SWITCHES)},
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
    stated_cap = fields.get("cap", "").strip()
    cap = read(parse_whole_number, stated_cap, "cap", 1, LARGEST_CAP) if stated_cap else None
    minimum = read(parse_whole_number, fields.get("minimum", ""), "minimum", LEAST_MINIMUM, LARGEST_MINIMUM)
    if problems:
        raise InputError(422, problems)
    by_invitation, *ticks = (fields.get(field) == "yes" for field in ("by_invitation", *SWITCHES))
    on = frozenset(name for name, tick in zip(SWITCHES, ticks, strict=True) if tick)
    return Schedule(zone, opens, closes, cap, minimum, by_invitation, on)


def _impossible(field: str, text: str) -> InputError:
    template = N_("must be a day and time from 2000-01-01 to 2199-12-30, as %(example)s; it is %(value)s")
    return refuse(422, field, template, example="2026-03-01T09:00", value=shorten_value(text))


def _zone(text: str) -> str:
    if text not in time_zones():
        raise refuse(
            422,
            "time_zone",
            N_("must be a time zone of the list; it is %(value)s"),
            value=shorten_value(text),
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
