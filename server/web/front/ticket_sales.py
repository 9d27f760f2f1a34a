"""Where codes buy tickets: `POST /s/<slug>/ticket.json`, before the questions or long before.

Answered like a response: one that is signed is on the disk as bought before anybody is told. Purchases count for the
address that they come from, beside responses and as many. What is sent and what is answered have one length each,
whatever the code; only a refusal has another.
"""

import base64

from server.collect import responses
from server.collect.responses import Purchase, Sale
from server.collect.submissions import LOOK_LIMIT
from server.inputs import N_, Problem
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_arrivals, work_singly

_DIGITS = 7
"""Room for how many have bought: more than a survey has codes."""
BUSY = N_("cannot be signed at this moment; leave the page open, and send the same again in a while")
OFTEN = N_(
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

    return Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=responses.parse_purchase,
        count=count_arrivals(limit, "tickets", OFTEN),
        groups=Groups(work_singly(sell, "selling a ticket", __name__), size=32, places=1024, patience=5.0),
        busy=Problem("ticket", BUSY, {}),
        write=lambda sale: (200, _write(sale)),
    )


def _write(sale: Sale) -> bytes:
    signature = base64.urlsafe_b64encode(sale.signature).rstrip(b"=")
    return b'{"signature":"%b","among":%b}\n' % (signature, f"{sale.among:{_DIGITS}d}".encode())
