"""Where responses come in: `POST /s/<slug>/responses`, without a session, a cookie, a template or a thread each.

Responses are stored in groups: waiting for the disk takes longer than everything else, and a disk writes
many as quickly as one. One writer takes all that wait, in one transaction, and only once that is on the
disk is any of them acknowledged. Several processes may each do so; the database keeps them apart.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from server.collect import responses
from server.collect.responses import Acceptance, Arrival
from server.collect.submissions import RESPONSE_LIMIT, parse_submission
from server.inputs import N_, InputError, Problem, refuse
from server.store.failures import Failure, MovedError, OutdatedError, find_failure
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups
from server.web.front.json_endpoints import Endpoint, Surroundings, count_arrivals, log_failure
from server.web.front.replies import BROKEN

GROUP = 256
"""Most responses in a transaction."""
PLACES = 4096
"""Most responses that wait for it."""
PATIENCE = 2.0
"""Seconds that a transaction may take before newcomers are sent away at once, to come back later."""

_OFTEN = N_("came too often from this address; send the same again after %(limit)d s")
_BUSY = N_("cannot store responses at this moment; send the same again in a while")

_ACKNOWLEDGED = {each: (each.value, b'{"status":"%b"}\n' % each.name.lower().encode()) for each in Acceptance}

_Outcome = Acceptance | InputError


def make_intake(surroundings: Surroundings, limit: ArrivalLimit) -> Endpoint[Arrival, Acceptance]:
    """Takes responses."""
    return Endpoint(
        surroundings,
        limit=BodyLimit(RESPONSE_LIMIT),
        parse=lambda slug, body: Arrival(slug, parse_submission(body)),
        count=count_arrivals(limit, "responses", _OFTEN),
        groups=Groups(_ResponseWriter(surroundings).store, size=GROUP, places=PLACES, patience=PATIENCE),
        busy=Problem("server", _BUSY, {}),
        write=_ACKNOWLEDGED.__getitem__,
    )


class _ResponseWriter:
    """Stores responses, in a thread of its own."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._engine = surroundings.engine.execution_options(moneda_writes=True)
        self._links = responses.Links(surroundings.config.proof_of_work)

    def store(self, arrivals: Sequence[Arrival], *, again: bool = False) -> Sequence[_Outcome]:
        """What became of each."""
        try:
            with self._engine.begin() as connection:
                outcomes = responses.accept_all(connection, arrivals, surveys.now(), self._links)
            check_in_place(self._engine)
        except Exception as error:
            cut = isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
            beside = isinstance(error, sa.exc.IntegrityError) or find_failure(error) is Failure.CONFLICT
            if not again and (cut or beside):
                # Once more, on a new connection: what of it was stored, if anything, is known by its id. Or another
                # process was quicker with the same ticket, which is seen as spent now, or waited for the same codes.
                return self.store(arrivals, again=True)
            log_failure(error, "storing responses", __name__)
            # One that the database cannot take must not stop the others; where the database itself
            # fails, nobody is kept waiting for more attempts.
            if len(arrivals) > 1 and not isinstance(
                error, sa.exc.OperationalError | MovedError | OutdatedError
            ):
                return [self.store([arrival])[0] for arrival in arrivals]
            return [refuse(503, "server", BROKEN) for _ in arrivals]
        return outcomes
