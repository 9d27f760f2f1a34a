"""Whether a code would let somebody in, before any question is asked. Reads, and changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from server.collect import response_codes
from server.collect.responses.open_links import (
    Links,
    check_room,
    check_standing,
    count_room,
    find,
    find_link_standing,
)
from server.inputs import InputError


@dataclass(frozen=True)
class CodeLookup:
    """A code in its normal form, and the link that it came with."""

    slug: str
    code: str


def look_at_codes(
    connection: sa.Connection, looks: Sequence[CodeLookup], now: datetime, links: Links
) -> list[InputError | None]:
    """What a response with each of these codes would be refused with, for its code or its link; None if it is not.

    In the very words of that refusal, so that nothing can be told here that a response would not be told.
    `links` must lock nothing, and the connection see one moment.
    """
    found = links.look_up(connection, {look.slug for look in looks})
    at_home = [(found[look.slug].survey.id, look.code) for look in looks if look.slug in found]
    codes = response_codes.look_up(connection, at_home, locks=False)
    surveys = {link.survey.id: link.survey for link in found.values()}
    rooms = {survey_id: count_room(connection, survey) for survey_id, survey in surveys.items()}
    outcomes: list[InputError | None] = []
    for look in looks:
        try:
            link = find(found, look.slug)
            check_standing(find_link_standing(link, now))
            check_room(rooms[link.survey.id])
            known = codes.get((link.survey.id, look.code))
            response_codes.check(known, look.code, link.invited, link.stratum_id)
            outcomes.append(None)
        except InputError as error:
            outcomes.append(error)
    return outcomes
