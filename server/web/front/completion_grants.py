"""Where who finishes gets a code of their own: `POST /s/<slug>/completion.json`, once the response is stored.

It is signed blindly and changes nothing. It counts for the address that it comes from, together with purchases of
tickets. What is sent and what is answered have one length each; only a refusal has another.
"""

import base64

from server.collect import responses
from server.collect.responses import CodeClaim
from server.collect.submissions import LOOK_LIMIT
from server.inputs import Problem
from server.store.engines import snapshot
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_arrivals, work_singly
from server.web.front.ticket_sales import BUSY, OFTEN


def make_grants(surroundings: Surroundings, limit: ArrivalLimit) -> Endpoint[CodeClaim, bytes]:
    """Signs blinded messages for responses."""

    def grant(claim: CodeClaim) -> bytes:
        with snapshot(surroundings.engine) as session:
            return responses.grant(session.connection(), claim, surveys.now())

    return Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=responses.parse_claim,
        count=count_arrivals(limit, "completions", OFTEN),
        groups=Groups(work_singly(grant, "granting a code", __name__), size=32, places=1024, patience=5.0),
        busy=Problem("completions", BUSY, {}),
        write=lambda signature: (200, _write(signature)),
    )


def _write(signature: bytes) -> bytes:
    return b'{"signature":"%b"}\n' % base64.urlsafe_b64encode(signature).rstrip(b"=")
