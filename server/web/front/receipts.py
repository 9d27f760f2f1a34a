"""Whether a response is in, and taking it back, by its receipt alone.

To ask is `POST /s/<slug>/receipt.json`, to take back `POST /s/<slug>/withdrawal.json`. A receipt belongs into a body:
addresses stand in histories and logs. The answer is the same for one that never was and one that was taken back.

**Nobody may keep somebody else from taking an answer back**: it can be done only while the survey is open, and only
thus. A receipt has 128 random bits, so that nothing has to be done against guessing; what is left to guard is the work.
So what does not concern a stored response is a reading alone, cheaper than a page, which anybody may ask for; and an
address that asks more often than responses may come from it (`ArrivalLimit`) is refused only while half of the queue
is full, to come again after a second. That one address of the internet can fill no more than this half leaves the other
one to all others; those who share it, as behind a school's router, are answered beside the flood. Nobody is counted by
an address that is not of the public internet, as that of an onion service, which everybody has.

A response that has not arrived yet cannot be taken back: nothing is noted of a receipt that leads to none, and what
comes later is stored. Such notes would be for anybody to make, and whoever filled the room for them would keep out
those of others. Pages say so.
"""

from dataclasses import dataclass, replace

from server.collect import responses
from server.collect.submissions import LOOK_LIMIT, parse_receipt
from server.inputs import N_, InputError, Problem
from server.store.engines import snapshot
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_arrivals, work_singly

PLACES = 2048
"""Most that wait: half of them is more than one address may send at once (`AT_ONCE`)."""

_SAID = {True: b'{"status":"stored"}\n', False: b'{"status":"absent"}\n'}
_BUSY = N_("cannot be looked up at this moment; ask again in a while")
_OFTEN = N_("were asked about too often from this address, while many wait; ask again after %(limit)d s")


@dataclass(frozen=True)
class _Question:
    """What is stored of a receipt, the link that it came with, and whether its response is to be taken back."""

    slug: str
    id: bytes
    takes_back: bool = False


def make_receipts(
    surroundings: Surroundings, limit: ArrivalLimit
) -> tuple[Endpoint[_Question, bool], Endpoint[_Question, bool]]:
    """Says whether a response is stored; and the same after it was taken back. They have one queue."""
    writing = surroundings.engine.execution_options(moneda_writes=True)

    def answer_one(question: _Question) -> bool:
        with snapshot(surroundings.engine) as session:
            connection = session.connection()
            stored = responses.is_stored(connection, question.slug, question.id, surveys.now())
        if not (stored and question.takes_back):
            return stored
        with writing.begin() as connection:
            responses.take_back(connection, question.slug, question.id, surveys.now())
        check_in_place(surroundings.engine)
        return False

    groups: Groups[_Question, bool | InputError] = Groups(
        work_singly(answer_one, "looking for a receipt", __name__), size=16, places=PLACES, patience=5.0
    )
    asking = Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=lambda slug, body: _Question(slug, parse_receipt(body)),
        count=count_arrivals(limit, "receipt", _OFTEN, groups),
        groups=groups,
        busy=Problem("receipt", _BUSY, {}),
        write=lambda stored: (200, _SAID[stored]),
    )
    return asking, replace(
        asking, parse=lambda slug, body: _Question(slug, parse_receipt(body), takes_back=True)
    )
