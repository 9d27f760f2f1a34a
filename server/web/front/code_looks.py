"""Whether a code was used, before the questions: `POST /s/<slug>/code.json`. It changes nothing.

A code belongs into a body: addresses stand in histories and logs. Whoever holds one could learn the same by
sending a response with it, so that this tells nobody anything new; but it spends nothing, and could be asked again and
again by somebody who has a list of codes. So every look counts (`server.web.front.look_limits`), whatever it finds. A
page that is refused here goes on without having looked: the response is what decides.
"""

from collections.abc import Sequence

from server.collect import responses
from server.collect.responses import CodeLookup
from server.collect.submissions import LOOK_LIMIT, parse_look
from server.inputs import N_, InputError, Problem
from server.store.engines import snapshot
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_looks, work_together
from server.web.front.look_limits import LookLimit

_UNUSED = 200, b'{"status":"unused"}\n'
_BUSY = N_("cannot be looked up at this moment; ask again in a while")
_OFTEN = N_("was asked about too often from this address; ask again in ten minutes")


def make_looks(surroundings: Surroundings, limit: LookLimit) -> Endpoint[CodeLookup, None]:
    """Says that a code was not used yet, or what a response with it would be refused with."""
    links = responses.Links(locks=False)

    def look_up(looks: Sequence[CodeLookup]) -> Sequence[InputError | None]:
        with snapshot(surroundings.engine) as session:
            return responses.look_at_codes(session.connection(), looks, surveys.now(), links)

    return Endpoint(
        surroundings,
        limit=BodyLimit(LOOK_LIMIT),
        parse=lambda slug, body: CodeLookup(slug, parse_look(body)),
        count=count_looks(limit, "invitation", _OFTEN),
        groups=Groups(
            work_together(look_up, "looking at codes", __name__), size=256, places=4096, patience=5.0
        ),
        busy=Problem("invitation", _BUSY, {}),
        write=lambda _unused: _UNUSED,
    )
