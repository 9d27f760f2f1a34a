"""Whether a code was used, before the questions: `POST /s/<slug>/code.json`. It changes nothing.

A code belongs into a body: addresses stand in histories and logs. Whoever holds one could learn the same by
sending a response with it, so that this tells nobody anything new; but it spends nothing, and could be asked again and
again by somebody who has a list of codes. So every look counts for the address that it comes from, whatever it
finds. A page that is refused here goes on without having looked: the response is what decides.
"""

import logging
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from server.collect import responses
from server.collect.responses import Look
from server.collect.submissions import LOOK_LIMIT, parse_look
from server.config import Config
from server.inputs import N_, InputError, Problem, refuse
from server.store.engines import snapshot
from server.store.failures import describe_failure
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.group_commits import Groups, OverloadedError
from server.web.front.intake import check_source
from server.web.front.look_limits import LookLimit, find_sender
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
from server.web.watching.hourly_counts import QueueCounts

_LIMIT = BodyLimit(LOOK_LIMIT)
_UNUSED = b'{"status":"unused"}\n'
_BUSY = N_("cannot be looked up at this moment; ask again in a while")
_OFTEN = N_("was asked about too often from this address; ask again in ten minutes")


class Looks:
    """Answers whether codes were used."""

    def __init__(
        self, engine: sa.Engine, config: Config, replies: Replies, room: Room, limit: LookLimit
    ) -> None:
        self._engine = engine
        self._config = config
        self._replies = replies
        self._room = room
        self._limit = limit
        self._links = responses.Links(locks=False)
        self._groups: Groups[Look, InputError | None] = Groups(
            self._look_up, size=256, places=4096, patience=5.0
        )

    async def answer(self, scope: Scope, receive: Receive, send: Send, slug: str) -> None:
        """Say that a code was not used yet, or what a response with it would be refused with."""
        try:
            await self._take(scope, index_headers(scope), receive, slug)
        except RefusedError as refused:
            await self._replies.send_problem(scope, send, refused.status, refused.problem)
        except InputError as error:
            await self._replies.send_problem(scope, send, error.status, error.problems[0])
        except OverloadedError:
            await self._replies.send_problem(scope, send, 503, Problem("invitation", _BUSY, {}))
        else:
            await self._replies.send_json(send, 200, _UNUSED)

    async def _take(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, slug: str) -> None:
        check_source(self._config, headers)
        with Body(self._room, Sender.RESPONDENT) as body:
            await body.read(declared_length(headers), receive, _LIMIT)
            code = parse_look(body.bytes())
        if not self._limit.take(find_sender(scope, headers, self._config.proxies)):
            raise refuse(429, "invitation", _OFTEN)
        outcome = await self._groups.submit(Look(slug, code))
        if outcome is not None:
            raise outcome

    def _look_up(self, looks: Sequence[Look]) -> Sequence[InputError | None]:
        """In a thread."""
        try:
            with snapshot(self._engine) as session:
                return responses.look_at_codes(session.connection(), looks, surveys.now(), self._links)
        except Exception as error:
            logging.getLogger(__name__).error("%s while looking at codes", describe_failure(error))
            return [refuse(503, "server", BROKEN)] * len(looks)

    def take_counts(self) -> QueueCounts:
        """What its queue has done (`Groups.take_counts`)."""
        return self._groups.take_counts()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._groups.close()
