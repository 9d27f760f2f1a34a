"""What is signed blindly, for a code or for a response.

Where codes buy tickets: `POST /s/<slug>/ticket.json`, before the questions or long before. A purchase is answered like
a response: one that is signed is on the disk as bought before anybody is told. Where who finishes gets a code:
`POST /s/<slug>/completion.json`, once the response is stored; it changes nothing. Both count for the address that they
come from, beside responses and as many. What is sent and what is answered have one length each, whatever the code; only
a refusal has another.
"""

import base64
import logging
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from server.collect import responses
from server.collect.responses import CodeClaim, Purchase, Sale
from server.collect.submissions import LOOK_LIMIT
from server.config import Config
from server.inputs import N_, InputError, Problem, refuse
from server.store.engines import snapshot
from server.store.failures import describe_failure
from server.store.in_place import check_in_place
from server.study import surveys
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups, OverloadedError
from server.web.front.intake import check_source
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
from server.web.watching.hourly_counts import QueueCounts

_LIMIT = BodyLimit(LOOK_LIMIT)
_DIGITS = 7
"""Room for how many have bought: more than a survey has codes."""
_BUSY = N_("cannot be signed at this moment; send the same again in a while")
_OFTEN = N_("were asked for too often from this address; send the same again after %(limit)d s")


class TicketSales:
    """Signs blinded messages for codes, and for responses."""

    def __init__(
        self, engine: sa.Engine, config: Config, replies: Replies, room: Room, limit: ArrivalLimit
    ) -> None:
        self._engine = engine.execution_options(moneda_writes=True)
        self._config = config
        self._replies = replies
        self._room = room
        self._limit = limit
        self._links = responses.Links()
        self._groups: Groups[Purchase | CodeClaim, Sale | bytes | InputError] = Groups(
            self._sell_all, size=32, places=1024, patience=5.0
        )

    async def answer(
        self, scope: Scope, receive: Receive, send: Send, slug: str, *, completes: bool = False
    ) -> None:
        """Answer with a blind signature, or say why not."""
        try:
            sale = await self._take(scope, index_headers(scope), receive, slug, completes=completes)
        except RefusedError as refused:
            await self._replies.send_problem(scope, send, refused.status, refused.problem, refused.after)
        except InputError as error:
            await self._replies.send_problem(scope, send, error.status, error.problems[0])
        except OverloadedError:
            field = "completions" if completes else "ticket"
            await self._replies.send_problem(scope, send, 503, Problem(field, _BUSY, {}))
        else:
            await self._replies.send_json(send, 200, _write(sale))

    async def _take(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, slug: str, *, completes: bool
    ) -> Sale | bytes:
        check_source(self._config, headers)
        with Body(self._room, Sender.RESPONDENT) as body:
            await body.read(declared_length(headers), receive, _LIMIT)
            parse = responses.parse_claim if completes else responses.parse_purchase
            asked = parse(slug, body.bytes())
        delay = self._limit.find_delay(find_sender(scope, headers, self._config.proxies))
        if delay:
            raise RefusedError(
                429, Problem("completions" if completes else "tickets", _OFTEN, {"limit": delay}), delay
            )
        outcome = await self._groups.submit(asked)
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _sell_all(self, asked: Sequence[Purchase | CodeClaim]) -> Sequence[Sale | bytes | InputError]:
        """In a thread, each by itself: nobody waits for what another one's needs."""
        return [self._sign(each) for each in asked]

    def _sign(self, asked: Purchase | CodeClaim) -> Sale | bytes | InputError:
        try:
            if isinstance(asked, CodeClaim):
                with snapshot(self._engine) as session:
                    return responses.grant(session.connection(), asked, surveys.now())
            with self._engine.begin() as connection:
                sale = responses.sell(connection, asked, surveys.now(), self._links)
            check_in_place(self._engine)
        except InputError as error:
            return error
        except Exception as error:
            logging.getLogger(__name__).error("%s while signing blindly", describe_failure(error))
            return refuse(503, "server", BROKEN)
        return sale

    def take_counts(self) -> QueueCounts:
        """What its queue has done (`Groups.take_counts`)."""
        return self._groups.take_counts()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._groups.close()


def _write(sale: Sale | bytes) -> bytes:
    if isinstance(sale, bytes):
        return b'{"signature":"%b"}\n' % base64.urlsafe_b64encode(sale).rstrip(b"=")
    signature = base64.urlsafe_b64encode(sale.signature).rstrip(b"=")
    return b'{"signature":"%b","among":%b}\n' % (signature, f"{sale.among:{_DIGITS}d}".encode())
