"""Where something is signed blindly: what is sent says nothing of what it is for, and the answer nothing of who asked.

`POST /s/<slug>/ticket.json`, before the questions or long before: codes buy tickets. Answered like a response: one that
is signed is on the disk as bought before anybody is told. `POST /s/<slug>/completion.json`, once the response is
stored: who finishes gets a code of their own. That changes nothing. Both count together for the address that they come
from, beside responses and as many. What is sent and what is answered have one length each, whatever the code; only a
refusal has another.
"""

import base64
from collections.abc import Callable

from server.collect import responses
from server.collect.responses import CodeClaim, Purchase, Sale
from server.collect.submissions import LOOK_LIMIT
from server.inputs import N_, Problem
from server.store.engines import snapshot
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Item, Outcome, Surroundings, count_arrivals, work_singly

_DIGITS = 7
"""Room for how many have bought: more than a survey has codes."""
_BUSY = N_("cannot be signed at this moment; leave the page open, and send the same again in a while")
_OFTEN = N_(
    "were asked for too often from this address; leave the page open, and send the same again after %(limit)d s"
)


def make_sales(surroundings: Surroundings, limit: ArrivalLimit) -> Endpoint[Purchase, Sale]:
    """Signs blinded messages for codes."""
    engine = surroundings.engine.execution_options(moneda_writes=True)
    links = responses.Links()

    def sell(purchase: Purchase) -> Sale:
        with engine.begin() as connection:
            sale = responses.sell(connection, purchase, surveys.now(), links)
        check_in_place(engine)
        return sale

    def write(sale: Sale) -> bytes:
        among = f"{sale.among:{_DIGITS}d}".encode()
        return b'{"signature":"%b","among":%b}\n' % (_encode(sale.signature), among)

    parse = responses.parse_purchase
    return _make_signer(surroundings, limit, "ticket", parse, sell, "selling a ticket", write)


def make_grants(surroundings: Surroundings, limit: ArrivalLimit) -> Endpoint[CodeClaim, bytes]:
    """Signs blinded messages for responses."""

    def grant(claim: CodeClaim) -> bytes:
        with snapshot(surroundings.engine) as session:
            return responses.grant(session.connection(), claim, surveys.now())

    def write(signature: bytes) -> bytes:
        return b'{"signature":"%b"}\n' % _encode(signature)

    parse = responses.parse_claim
    return _make_signer(surroundings, limit, "completions", parse, grant, "granting a code", write)


def _make_signer(
    surroundings: Surroundings,
    limit: ArrivalLimit,
    field: str,
    parse: Callable[[str, bytes], Item],
    sign: Callable[[Item], Outcome],
    doing: str,
    write: Callable[[Outcome], bytes],
) -> Endpoint[Item, Outcome]:
    return Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=parse,
        count=count_arrivals(limit, field, _OFTEN),
        groups=Groups(work_singly(sign, doing, __name__), size=32, places=1024, patience=5.0),
        busy=Problem(field, _BUSY, {}),
        write=lambda outcome: (200, write(outcome)),
    )


def _encode(signature: bytes) -> bytes:
    return base64.urlsafe_b64encode(signature).rstrip(b"=")
