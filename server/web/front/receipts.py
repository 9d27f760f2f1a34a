"""Whether a response is in, and taking it back, by its receipt alone.

To ask is `POST /s/<slug>/receipt.json`, to take back `POST /s/<slug>/withdrawal.json`. A receipt belongs into a body:
addresses stand in histories and logs. It has 128 random bits, so that nobody guesses one; the answer is the same for
one that never was and one that was taken back. Both count for the address that they come from, whatever they find.
"""

from dataclasses import dataclass, replace

from server.collect import responses
from server.collect.submissions import LOOK_LIMIT, parse_receipt
from server.inputs import N_, Problem
from server.store.engines import snapshot
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_looks, work_singly
from server.web.front.look_limits import LookLimit

_SAID = {True: b'{"status":"stored"}\n', False: b'{"status":"absent"}\n'}
_BUSY = N_("cannot be looked up at this moment; ask again in a while")
_OFTEN = N_("were asked about too often from this address; ask again in ten minutes")


@dataclass(frozen=True)
class _Question:
    """What is stored of a receipt, the link that it came with, and whether its response is to be taken back."""

    slug: str
    id: bytes
    takes_back: bool = False


def make_receipts(
    surroundings: Surroundings, limit: LookLimit
) -> tuple[Endpoint[_Question, bool], Endpoint[_Question, bool]]:
    """Says whether a response is stored; and the same after it was taken back. They have one queue."""
    writing = surroundings.engine.execution_options(moneda_writes=True)

    def answer_one(question: _Question) -> bool:
        if not question.takes_back:
            with snapshot(surroundings.engine) as session:
                connection = session.connection()
                return responses.is_stored(connection, question.slug, question.id, surveys.now())
        with writing.begin() as connection:
            responses.take_back(connection, question.slug, question.id, surveys.now())
        check_in_place(surroundings.engine)
        return False

    asking = Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=lambda slug, body: _Question(slug, parse_receipt(body)),
        count=count_looks(limit, "receipt", _OFTEN),
        groups=Groups(
            work_singly(answer_one, "looking for a receipt", __name__), size=16, places=1024, patience=5.0
        ),
        busy=Problem("receipt", _BUSY, {}),
        write=lambda stored: (200, _SAID[stored]),
    )
    return asking, replace(
        asking, parse=lambda slug, body: _Question(slug, parse_receipt(body), takes_back=True)
    )
