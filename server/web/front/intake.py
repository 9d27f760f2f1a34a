"""Where responses come in: `POST /s/<slug>/responses`, without a session, a cookie, a template or a thread each.

Responses are stored in groups: waiting for the disk takes longer than everything else, and a disk writes
many as quickly as one. One writer takes all that wait, in one transaction, and only once that is on the
disk is any of them acknowledged. Several processes may each do so; the database keeps them apart.
"""

import logging
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from server.collect import responses
from server.collect.responses import Acceptance, Arrival
from server.collect.submissions import RESPONSE_LIMIT, parse_submission
from server.config import Config
from server.inputs import N_, InputError, Problem, refuse
from server.store.failures import MovedError, OutdatedError, describe_failure
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups, OverloadedError
from server.web.front.look_limits import find_sender
from server.web.front.messages import (
    Body,
    Receive,
    RefusedError,
    Room,
    Scope,
    Send,
    Sender,
    declared_length,
    index_headers,
)
from server.web.front.replies import BROKEN, Replies
from server.web.security import is_from_elsewhere
from server.web.watching.hourly_counts import QueueCounts

GROUP = 256
"""Most responses in a transaction."""
PLACES = 4096
"""Most responses that wait for it."""
PATIENCE = 2.0
"""Seconds that a transaction may take before newcomers are sent away at once, to come back later."""

_LIMIT = BodyLimit(RESPONSE_LIMIT)
_ELSEWHERE = N_("This request came from another site and was refused.")
_OFTEN = N_("came too often from this address; send the same again after %(limit)d s")
_BUSY = N_("cannot store responses at this moment; send the same again in a while")

_ACKNOWLEDGED = {each: b'{"status":"%b"}\n' % each.name.lower().encode() for each in Acceptance}

_Outcome = Acceptance | InputError | None


class Intake:
    """Takes responses."""

    def __init__(
        self, engine: sa.Engine, config: Config, replies: Replies, room: Room, limit: ArrivalLimit
    ) -> None:
        self._engine = engine.execution_options(moneda_writes=True)
        self._config = config
        self._replies = replies
        self._room = room
        self._limit = limit
        self._links = responses.Links(config.proof_of_work)
        self._groups: Groups[Arrival, _Outcome] = Groups(
            self._store, size=GROUP, places=PLACES, patience=PATIENCE
        )

    async def answer(self, scope: Scope, receive: Receive, send: Send, slug: str) -> None:
        """Take a response, or say why not."""
        try:
            outcome = await self._take(scope, index_headers(scope), receive, slug)
        except RefusedError as refused:
            await self._replies.send_problem(scope, send, refused.status, refused.problem, refused.after)
        except InputError as error:
            await self._replies.send_problem(scope, send, error.status, error.problems[0])
        except OverloadedError:
            await self._replies.send_problem(scope, send, 503, Problem("server", _BUSY, {}))
        else:
            await self._replies.send_json(send, outcome.value, _ACKNOWLEDGED[outcome])

    async def _take(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, slug: str
    ) -> Acceptance:
        check_source(self._config, headers)
        with Body(self._room, Sender.RESPONDENT) as body:
            await body.read(declared_length(headers), receive, _LIMIT)
            submission = parse_submission(body.bytes())
        # What is no response counts for no address.
        delay = self._limit.find_delay(find_sender(scope, headers, self._config.proxies))
        if delay:
            raise RefusedError(429, Problem("responses", _OFTEN, {"limit": delay}), delay)
        outcome = await self._groups.submit(Arrival(slug, submission))
        if outcome is None:
            raise refuse(503, "server", BROKEN)
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _store(self, arrivals: Sequence[Arrival], *, again: bool = False) -> Sequence[_Outcome]:
        """In the writer's thread; without an outcome: it could not be stored."""
        try:
            with self._engine.begin() as connection:
                outcomes = responses.accept_all(connection, arrivals, surveys.now(), self._links)
            check_in_place(self._engine)
        except Exception as error:
            if isinstance(error, sa.exc.IntegrityError) and not again:
                # Another process was quicker with the same ticket: now it is seen as spent.
                return self._store(arrivals, again=True)
            logging.getLogger(__name__).error("%s while storing responses", describe_failure(error))
            # One that the database cannot take must not stop the others; where the database itself
            # fails, nobody is kept waiting for more attempts.
            if len(arrivals) > 1 and not isinstance(
                error, sa.exc.OperationalError | MovedError | OutdatedError
            ):
                return [self._store([arrival])[0] for arrival in arrivals]
            return [None] * len(arrivals)
        return outcomes

    def take_counts(self) -> QueueCounts:
        """What its queue has done (`Groups.take_counts`)."""
        return self._groups.take_counts()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._groups.close()


def check_source(config: Config, headers: Mapping[bytes, bytes]) -> None:
    """Refuse JSON that another site's page sent, and what does not say that it is JSON.

    Raises
    ------
    InputError
        403 or 415.
    """
    site, origin, host = [_text(headers, name) for name in (b"sec-fetch-site", b"origin", b"host")]
    if is_from_elsewhere(config, site, origin, host):
        raise refuse(403, "request", _ELSEWHERE)
    kind = (_text(headers, b"content-type") or "").partition(";")[0].strip()
    if kind.lower() != "application/json":
        raise refuse(
            415,
            "Content-Type",
            N_("must be application/json; it is %(value)s"),
            value=kind[:60] or "-",
        )


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")
