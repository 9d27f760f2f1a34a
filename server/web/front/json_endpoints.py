"""What all addresses that take JSON of respondents have in common, from the first byte to the answer.

What is sent is read whole, understood, counted for the address that it comes from, and handed to a queue; what became
of it there is answered, or why it is refused.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from server.config import Config
from server.inputs import N_, InputError, Problem, refuse
from server.store.failures import describe_failure
from server.web.body_limits import BodyLimit
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.group_commits import Groups, OverloadedError
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
from server.web.security import is_from_elsewhere

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
Count = Callable[[str, str], object]
"""Of an address, and the slug of a link."""

_JSON = b"application/json"
_ELSEWHERE = N_("This request came from another site and was refused.")


@dataclass(frozen=True)
class Surroundings:
    """What all endpoints of a process share; `engine` may write only where it is told so."""

    engine: sa.Engine
    config: Config
    replies: Replies
    room: Room


@dataclass(frozen=True)
class Endpoint(Generic[Item, Outcome]):
    """One address.

    Attributes
    ----------
    parse : Callable
        From the slug of a link and a body to an item, or an `InputError`. What is none counts for no address.
    count : Callable
        Counts one more for the address that it came from, by the slug, or raises that it has sent too many.
    groups : Groups
        Works on items; several endpoints may have the same.
    busy : Problem
        What is said where its queue is full.
    write : Callable
        From an outcome to the status and the body of the answer.
    """

    surroundings: Surroundings
    limit: BodyLimit
    parse: Callable[[str, bytes], Item]
    count: Count
    groups: Groups[Item, Outcome | InputError]
    busy: Problem
    write: Callable[[Outcome], tuple[int, bytes]]

    async def answer(self, scope: Scope, receive: Receive, send: Send, slug: str) -> None:
        """Answer one request, which came by this link."""
        replies, config, headers = self.surroundings.replies, self.surroundings.config, index_headers(scope)
        try:
            check_source(config, headers)
            with Body(self.surroundings.room, Sender.RESPONDENT) as body:
                await body.read(declared_length(headers), receive, self.limit)
                item = self.parse(slug, body.bytes())
            self.count(find_sender(scope, headers, config.proxies), slug)
            outcome = await self.groups.submit(item)
            if isinstance(outcome, InputError):
                raise outcome
        except RefusedError as refused:
            await replies.send_problem(scope, send, refused.status, refused.problem, refused.after)
        except InputError as error:
            await replies.send_problem(scope, send, error.status, error.problems[0])
        except OverloadedError:
            await replies.send_problem(scope, send, 503, self.busy)
        else:
            await replies.send_json(send, *self.write(outcome))


def count_arrivals(
    limit: ArrivalLimit, field: str, often: str, crowd: Groups[Any, Any] | None = None
) -> Count:
    """Count what comes, and say of what came too often after how long it may come again: of a queue, if it is full."""

    def count(who: str, _slug: str) -> None:
        delay = limit.find_delay(who)
        if delay and (crowd is None or crowd.is_crowded()):
            raise RefusedError(429, Problem(field, often, {"limit": delay}), delay)

    return count


def count_looks(limit: LookLimit, field: str, often: str) -> Count:
    """Count what is only looked at."""

    def count(who: str, slug: str) -> None:
        if not limit.take(who, slug):
            raise refuse(429, field, often)

    return count


def work_together(
    act: Callable[[Sequence[Item]], Sequence[Outcome | InputError]], doing: str, module: str
) -> Callable[[Sequence[Item]], Sequence[Outcome | InputError]]:
    """Work on items in one; where that fails, which the log says of this module, all of them are answered so."""

    def work(items: Sequence[Item]) -> Sequence[Outcome | InputError]:
        try:
            return act(items)
        except Exception as error:
            log_failure(error, doing, module)
            return [refuse(503, "server", BROKEN) for _ in items]

    return work


def work_singly(
    act: Callable[[Item], Outcome], doing: str, module: str
) -> Callable[[Sequence[Item]], Sequence[Outcome | InputError]]:
    """Work on each item by itself: nobody waits for what another one's needs."""

    def act_on_one(items: Sequence[Item]) -> Sequence[Outcome | InputError]:
        try:
            return [act(items[0])]
        except InputError as error:
            return [error]

    work = work_together(act_on_one, doing, module)
    return lambda items: [work([item])[0] for item in items]


def log_failure(error: Exception, doing: str, module: str) -> None:
    """Say in the log what failed, and nothing of what was sent."""
    logging.getLogger(module).error("%s while %s", describe_failure(error), doing)


def check_source(config: Config, headers: Mapping[bytes, bytes]) -> None:
    """Refuse JSON that another site's page sent, and what does not say that it is JSON.

    Raises
    ------
    InputError
        403 or 415.
    """
    if headers.get(b"sec-fetch-site") != b"same-origin":  # as browsers say it of our pages
        site, origin, host = [_text(headers, name) for name in (b"sec-fetch-site", b"origin", b"host")]
        if is_from_elsewhere(config, site, origin, host):
            raise refuse(403, "request", _ELSEWHERE)
    if headers.get(b"content-type") == _JSON:  # as pages send it
        return
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
