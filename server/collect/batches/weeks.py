"""In which week the responses of a batch were first shown, as far as that may be told.

A batch has a week where all of it was sealed in that week. A response that was taken back leaves its batch when others
are sealed in its place: as one of that week, where there is one that reports the same, so that of the week a few more
come and one goes at once. Else those others are of another week, and of the earlier one a single response would be
missing. So neither the batches of its cell and of the week that it leaves, all of them, have a week from then on, nor
have those others: what is known of them is their sum, as before. So of two looks at a week and cell the second has
whole batches more, or nothing. Responses that came in an archive never had a week: which of them was shown when is not
known.

A week is that of ISO 8601, from Monday on, in UTC. It stands beside the days, under a name that is no day.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import date

_WEEK = "week"


def name_week(day: date) -> str:
    """The week that a day is in, by its Monday: sorted, such names are in order."""
    year, week, _ = day.isocalendar()
    return date.fromisocalendar(year, week, 1).isoformat()


def find_week(days: Iterable[date]) -> str | None:
    """The week that all of some days are in."""
    names = {name_week(day) for day in days}
    return names.pop() if len(names) == 1 else None


def encode_days(days: Mapping[date, int], week: str | None) -> str:
    """How many responses of a batch are shown from which day on, and the week that it has, if it has one."""
    written: dict[str, int | str] = {
        day.isoformat(): number for day, number in sorted(days.items()) if number
    }
    return json.dumps(written if week is None else {**written, _WEEK: week})


def decode_days(text: str) -> dict[date, int]:
    """How many responses of a batch are shown from which day on."""
    return {date.fromisoformat(day): number for day, number in json.loads(text).items() if day != _WEEK}


def read_week(text: str) -> str | None:
    """The week that a batch has."""
    week: str | None = json.loads(text).get(_WEEK)
    return week


def drop_week(text: str) -> str:
    """The same without a week."""
    return encode_days(decode_days(text), None)
