"""Whether a response is in, and taking it back, by its receipt alone.

To ask is `POST /s/<slug>/receipt.json`, to take back `POST /s/<slug>/withdrawal.json`. A receipt belongs into a body:
addresses stand in histories and logs. It has 128 random bits, so that nobody guesses one; the answer is the same for
one that never was and one that was taken back. Both count for the address that they come from, whatever they find.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from server.collect import responses
from server.collect.submissions import LOOK_LIMIT, parse_receipt
from server.config import Config
from server.inputs import N_, InputError, Problem, refuse
from server.store.engines import snapshot
from server.store.failures import describe_failure
from server.store.in_place import check_in_place
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
_SAID = {True: b'{"status":"stored"}\n', False: b'{"status":"absent"}\n'}
_BUSY = N_("cannot be looked up at this moment; ask again in a while")
_OFTEN = N_("were asked about too often from this address; ask again in ten minutes")


@dataclass(frozen=True)
class _Question:
    """What is stored of a receipt, the link that it came with, and whether its response is to be taken back."""

    slug: str
    id: bytes
    takes_back: bool


class Receipts:
    """Answers whether responses are stored, and takes them back."""

    def __init__(
        self, engine: sa.Engine, config: Config, replies: Replies, room: Room, limit: LookLimit
    ) -> None:
        self._engine = engine
        self._writing = engine.execution_options(moneda_writes=True)
        self._config = config
        self._replies = replies
        self._room = room
        self._limit = limit
        self._groups: Groups[_Question, bool | InputError] = Groups(
            self._answer_all, size=16, places=1024, patience=5.0
        )

    async def answer(
        self, scope: Scope, receive: Receive, send: Send, slug: str, *, takes_back: bool
    ) -> None:
        """Say whether a response is stored, after it was taken back if that is what was asked for."""
        try:
            stored = await self._take(scope, index_headers(scope), receive, slug, takes_back=takes_back)
        except RefusedError as refused:
            await self._replies.send_problem(scope, send, refused.status, refused.problem)
        except InputError as error:
            await self._replies.send_problem(scope, send, error.status, error.problems[0])
        except OverloadedError:
            await self._replies.send_problem(scope, send, 503, Problem("receipt", _BUSY, {}))
        else:
            await self._replies.send_json(send, 200, _SAID[stored])

    async def _take(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, slug: str, *, takes_back: bool
    ) -> bool:
        check_source(self._config, headers)
        with Body(self._room, Sender.RESPONDENT) as body:
            await body.read(declared_length(headers), receive, _LIMIT)
            response_id = parse_receipt(body.bytes())
        if not self._limit.take(find_sender(scope, headers, self._config.proxies)):
            raise refuse(429, "receipt", _OFTEN)
        outcome = await self._groups.submit(_Question(slug, response_id, takes_back))
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _answer_all(self, questions: Sequence[_Question]) -> Sequence[bool | InputError]:
        """In a thread, each by itself: nobody waits for what another one's needs."""
        return [self._answer_one(question) for question in questions]

    def _answer_one(self, question: _Question) -> bool | InputError:
        try:
            if not question.takes_back:
                with snapshot(self._engine) as session:
                    connection = session.connection()
                    return responses.is_stored(connection, question.slug, question.id, surveys.now())
            with self._writing.begin() as connection:
                responses.take_back(connection, question.slug, question.id, surveys.now())
            check_in_place(self._engine)
        except InputError as error:
            return error
        except Exception as error:
            logging.getLogger(__name__).error("%s while looking for a receipt", describe_failure(error))
            return refuse(503, "server", BROKEN)
        return False

    def take_counts(self) -> QueueCounts:
        """What its queue has done (`Groups.take_counts`)."""
        return self._groups.take_counts()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._groups.close()
