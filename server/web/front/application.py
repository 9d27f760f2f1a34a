"""The front itself: which part of it answers a request."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Mapping, MutableMapping
from functools import lru_cache, partial
from typing import Any

import sqlalchemy as sa
from flask import Flask, Request, render_template
from flask_babel import gettext

from server import people
from server.config import Config
from server.inputs import N_, Problem
from server.store.engines import SERVING, open_session
from server.store.failures import MovedError, OutdatedError, describe_failure
from server.web import response_headers, security
from server.web.app import create_app
from server.web.body_limits import FORM, match_limit
from server.web.first_results import prepare_results
from server.web.front.arrival_limits import ArrivalLimit
from server.web.front.blind_signing import make_grants, make_sales
from server.web.front.bridge import Bridge
from server.web.front.code_looks import make_looks
from server.web.front.group_commits import OverloadedError
from server.web.front.intake import make_intake
from server.web.front.json_endpoints import Endpoint, Surroundings
from server.web.front.look_limits import LookLimit
from server.web.front.messages import (
    Body,
    Incoming,
    Receive,
    RefusedError,
    Room,
    Scope,
    Send,
    Sender,
    declared_length,
    index_headers,
)
from server.web.front.receipts import make_receipts
from server.web.front.replies import BROKEN, Replies, choose_status
from server.web.front.route_patterns import RoutePatterns
from server.web.front.signs_of_life import SignsOfLife
from server.web.front.typed_addresses import find_meant
from server.web.front.visits import Visits
from server.web.front.wsgi import make_environ
from server.web.housekeeping import Housekeeper
from server.web.language_choice import RESPONDENTS, VARIES
from server.web.problem_texts import describe
from server.web.watching.database_sizes import measure_sizes
from server.web.watching.hourly_counts import HourlyCounts
from server.web.watching.metrics_port import SiteMetrics
from server.web.watching.readiness import Readiness
from server.web.webhooks.deliverer import Deliverer

_SENT = re.compile(r"/s/([^/]+)/(responses|(?:code|ticket|completion|receipt|withdrawal)\.json)")
"""What comes as JSON: a response, or what is asked of a code or a receipt."""
_BUSY = N_("cannot be answered at this moment, as too many wait; try again in a while. Nothing was changed")


class Front:
    """The ASGI application.

    Attributes
    ----------
    metrics : SiteMetrics
        What Prometheus may read of it.

    Parameters
    ----------
    processes : int
        How many of this server answer, this one included.
    """

    def __init__(self, app: Flask, processes: int = 1) -> None:
        engine = app.extensions["moneda.engine"]
        config: Config = app.extensions["moneda.config"]
        self._app = app
        self._housekeeper: Housekeeper = app.extensions["moneda.housekeeper"]
        # Unless the operator allows it, nothing is ever sent.
        self._deliverer: Deliverer | None = app.extensions["moneda.deliverer"] if config.webhooks else None
        self._engine = engine
        # What a refusal says does not depend on what was sent: there are few, and each is drawn once.
        self._replies = Replies(
            {**response_headers.headers(config.secure), "Vary": VARIES},
            lru_cache(maxsize=100)(self._render_page),
        )
        self._room = Room()
        self._bridge = Bridge(app.wsgi_app)
        shared = Surroundings(engine, config, self._replies, self._room)
        arrivals, signing, asking = (ArrivalLimit(processes) for _ in range(3))
        looks = LookLimit(processes)
        for limit in (arrivals, signing, asking, looks):
            self._housekeeper.add_chore(limit.memory.forget_old)
        receipts, withdrawals = make_receipts(shared, asking)
        self._endpoints: Mapping[str, Endpoint[Any, Any]] = {
            "responses": make_intake(shared, arrivals),
            "code.json": make_looks(shared, looks),
            "ticket.json": make_sales(shared, signing),
            "completion.json": make_grants(shared, signing),
            "receipt.json": receipts,
            "withdrawal.json": withdrawals,
        }
        self._visits = Visits(self._bridge, engine, app.extensions["moneda.assets"])
        self._readiness = Readiness(engine)
        self._signs = SignsOfLife(self._readiness, self._replies)
        self._patterns = RoutePatterns(app)
        self._counts = HourlyCounts(
            engine,
            {
                "responses": self._endpoints["responses"].groups.take_counts,
                "codes": self._endpoints["code.json"].groups.take_counts,
                "tickets": self._endpoints["ticket.json"].groups.take_counts,
                "completions": self._endpoints["completion.json"].groups.take_counts,
                "receipts": receipts.groups.take_counts,
                "visits": self._visits.take_counts,
            },
            partial(measure_sizes, engine),
        )
        self.metrics = SiteMetrics(self._counts, self._readiness, time.time())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        began, status, incoming = time.monotonic(), "none", Incoming(receive)

        def send_counted(message: MutableMapping[str, Any]) -> Awaitable[None]:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            return send(message)

        try:
            await self._answer(scope, incoming, send_counted)
        except Exception as error:
            # Whoever serves this would write all of the error into the log, with what was sent.
            logging.getLogger(__name__).error("%s while answering", describe_failure(error))
            if status == "none":
                problem = Problem("server", BROKEN, {})
                await self._replies.send_problem(scope, send_counted, choose_status(error), problem)
            incoming.give_up()  # it may be what failed
        finally:
            pattern = self._patterns.find(scope["method"], scope["path"])
            self._counts.count(pattern, status, time.monotonic() - began)
        # Who was too slow is not waited for once more.
        if scope["method"] not in security.SAFE_METHODS and status >= "400" and status != "408":
            await incoming.drain(self._room.timeouts)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = _SENT.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        if sent is not None:
            await self._endpoints[sent[2]].answer(scope, receive, send, sent[1])
            return
        try:
            if scope["method"] in security.SAFE_METHODS:
                meant = find_meant(scope, self._patterns)
                if scope["method"] == "OPTIONS":
                    await self._relay(make_environ(scope), scope, receive, send)
                elif meant is not None:
                    await self._replies.send_elsewhere(send, meant)
                elif not (await self._visits.answer(scope, send) or await self._signs.answer(scope, send)):
                    await self._relay(make_environ(scope), scope, receive, send)
                return
            request = Request(make_environ(scope))
            signed_in = await self._is_from_researcher(request)
            with Body(self._room, Sender.RESEARCHER if signed_in else Sender.STRANGER) as body:
                limit = match_limit(self._app, request)
                # A file only of somebody who is signed in, in a form that may hold one.
                if limit.upload and not (signed_in and request.mimetype == "multipart/form-data"):
                    limit = FORM
                await body.read(declared_length(index_headers(scope)), receive, limit)
                stream, length = body.stream()
                await self._relay(make_environ(scope, stream, length), scope, receive, send)
        except RefusedError as refused:
            await self._replies.send_problem(scope, send, refused.status, refused.problem)
        except OverloadedError:
            await self._replies.send_problem(scope, send, 503, Problem("server", _BUSY, {}))

    async def _relay(self, environ: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._bridge.ask(environ)
        if answer.failed:
            answer.abandon()
            await self._replies.send_problem(scope, send, answer.status, Problem("server", BROKEN, {}))
        else:
            await self._bridge.relay(answer, receive, send)

    async def _is_from_researcher(self, request: Request) -> bool:
        """Whether somebody is signed in. Only who has a cookie is looked up."""
        cookie = request.cookies.get(security.COOKIE)
        if not cookie:
            return False
        found: bool = await self._bridge.run(self._is_signed_in, cookie)
        return found

    def _is_signed_in(self, cookie: str) -> bool:
        try:
            with open_session(self._engine, writes=False) as session:
                return people.sign_in_of(session, cookie) is not None
        except (sa.exc.SQLAlchemyError, MovedError, OutdatedError):
            return False  # the page that answers finds the same, and says so

    def _render_page(
        self, reading: str, field: str, template: str, values: tuple[tuple[str, object], ...]
    ) -> str:
        with self._app.test_request_context(RESPONDENTS, query_string={"lang": reading}):
            name, message = describe(Problem(field, template, dict(values)))
            title = gettext("That cannot be done")
            return render_template("errors/error.html", title=title, message=f"{name}: {message}")

    async def _live(self, receive: Receive, send: Send) -> None:
        """Say that it is ready; end what it owns when the server stops."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._housekeeper.start()
                self._counts.start()
                if self._deliverer is not None:
                    self._deliverer.start()
            if message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self.close)
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return

    def close(self) -> None:
        """Begin nothing more, finish what is due, and let go of the database."""
        for endpoint in self._endpoints.values():
            endpoint.groups.close()
        self._visits.close()
        self._readiness.close()
        self._counts.stop()
        if self._deliverer is not None:
            self._deliverer.stop()
        self._bridge.close()
        self._housekeeper.stop()
        self._engine.dispose()


def create_front(config: Config | None = None, processes: int = 1) -> Front:
    """The site on a database that `server.store.engines.migrate` has prepared; nobody waits for a first page."""
    app = create_app(config, SERVING)
    prepare_results(app)
    return Front(app, processes)
