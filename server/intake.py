"""Where responses come in: a small WSGI application in front of Flask.

It answers `POST /s/<slug>/responses` by itself, without a session, a cookie or a template, and
stores in groups: waiting for the disk takes longer than everything else, and a disk writes many
responses as quickly as one. Of the requests that wait, one becomes the writer; it takes all that
are there, in one transaction, and only once that is on the disk is any of them acknowledged. There
is no thread that would have to be started or stopped. Several processes may each do so; the database
keeps them apart.
"""

import json
import logging
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import sqlalchemy as sa
from babel.support import NullTranslations, Translations
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from server import responses, surveys
from server.failures import describe_failure
from server.inputs import N_, RESPONSE_LIMIT, InputError, Problem, parse_submission, refuse
from server.responses import Acceptance, Arrival

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

GROUP = 256
"""Most responses in a transaction."""

_PATH = re.compile(r"/s/([^/]+)/responses")
_ELSEWHERE = N_("This request came from another site and was refused.")
_UNREADABLE = N_("The request could not be understood.")
_BROKEN = N_("Something went wrong here. Nothing was half-done; please try again.")


@dataclass(frozen=True)
class Edge:
    """What holds for every request to the site.

    Attributes
    ----------
    headers : Mapping[str, str]
        Sent with every answer.
    from_elsewhere : Callable
        Whether another site's page made the request.
    language : Callable
        The language to answer in.
    translations : Path
        The folder of the catalogues.
    """

    headers: Mapping[str, str]
    from_elsewhere: Callable[[Request], bool]
    language: Callable[[Request], str]
    translations: Path


class _Waiting:
    """A response on its way to the disk. Without an outcome when it is done: it could not be stored."""

    def __init__(self, arrival: Arrival) -> None:
        self.arrival = arrival
        self.done = False
        self.outcome: Acceptance | InputError | None = None


class Intake:
    """The WSGI application: takes responses, and hands every other request on to the site."""

    def __init__(self, site: "WSGIApplication", engine: sa.Engine, edge: Edge) -> None:
        self._site = site
        self._engine = engine.execution_options(moneda_writes=True)
        self._edge = edge
        self._queue: deque[_Waiting] = deque()
        self._writing = Lock()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            request = Request(environ, populate_request=False)
            link = _PATH.fullmatch(request.path)
            if link is not None:
                return self._answer(request, link[1])(environ, start_response)
        return self._site(environ, start_response)

    def _answer(self, request: Request, slug: str) -> Response:
        try:
            if self._edge.from_elsewhere(request):
                return self._error(request, 403, Problem("request", _ELSEWHERE, {}))
            outcome = self._store(Arrival(slug, parse_submission(_body(request))))
        except HTTPException:
            return self._error(request, 400, Problem("request", _UNREADABLE, {}))
        except InputError as error:
            outcome = error
        except Exception as error:
            _log(error)
            return self._error(request, 500, Problem("server", _BROKEN, {}))
        if outcome is None:
            return self._error(request, 503, Problem("server", _BROKEN, {}))
        if isinstance(outcome, InputError):
            return self._error(request, outcome.status, outcome.problems[0])
        return self._json(outcome.value, {"status": outcome.name.lower()})

    def _store(self, arrival: Arrival) -> Acceptance | InputError | None:
        """Wait until the response is on the disk, or put it there together with all that wait."""
        waiting = _Waiting(arrival)
        self._queue.append(waiting)
        while not waiting.done:
            with self._writing:
                # Whoever wrote before may have taken this one along; only the writer takes from the queue.
                if not waiting.done:
                    self._write([self._queue.popleft() for _ in range(min(len(self._queue), GROUP))])
        return waiting.outcome

    def _write(self, group: Sequence[_Waiting]) -> None:
        try:
            with self._engine.begin() as connection:
                outcomes = responses.accept_all(
                    connection, [waiting.arrival for waiting in group], surveys.now()
                )
            for waiting, outcome in zip(group, outcomes, strict=True):
                waiting.outcome = outcome
        except Exception as error:
            _log(error)
            # One that the database cannot take must not stop the others; where the database itself
            # fails, nobody is kept waiting for more attempts.
            if len(group) > 1 and not isinstance(error, sa.exc.OperationalError):
                for waiting in group:
                    self._write([waiting])
        finally:
            for waiting in group:
                waiting.done = True

    def _error(self, request: Request, status: int, problem: Problem) -> Response:
        template = _catalogue(self._edge.translations, self._edge.language(request)).gettext(problem.template)
        message = template % problem.values if problem.values else template
        return self._json(status, {"error": {"field": problem.field, "message": message}})

    def _json(self, status: int, document: object) -> Response:
        body = json.dumps(document, separators=(",", ":")) + "\n"
        response = Response(body, status, mimetype="application/json")
        response.headers.extend(self._edge.headers)
        return response


def _body(request: Request) -> bytes:
    if request.mimetype != "application/json":
        raise refuse(
            415,
            "Content-Type",
            N_("must be application/json; it is %(value)s"),
            value=request.mimetype[:60] or "-",
        )
    # One byte more than allowed is enough to know, however long the body is; the server's own limit would not
    # name it.
    request.max_content_length = sys.maxsize
    return request.stream.read(RESPONSE_LIMIT + 1)


def _log(error: Exception) -> None:
    logging.getLogger(__name__).error("%s while storing responses", describe_failure(error))


@lru_cache
def _catalogue(folder: Path, language: str) -> NullTranslations:
    return Translations.load(folder, [language])
