"""What a respondent's browser loads, from memory: pages, the definition, a logo, the client's files.

They depend on the link, the language and its digits, the published version and whether it takes responses now, and on
nothing else: not on a cookie, an address or what else stands in the query. Flask makes each once; it is
compressed once, and served as long as the survey's *revision* (a number that the database raises with
every change of what a link shows) is the one that was read before it was made, and no opening or closing
time has passed. The revision is read anew for every visit, for all that wait at once.
"""

import asyncio
import logging
import re
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header
from werkzeug.wrappers import Request

from server.store.failures import describe_failure
from server.store.revisions import read_revisions
from server.study import surveys
from server.web.assets import Assets
from server.web.context import KEEPING, Keeping
from server.web.front.bridge import Bridge
from server.web.front.group_commits import Groups, OverloadedError
from server.web.front.messages import Scope, Send, index_headers
from server.web.front.wsgi import make_environ, make_get
from server.web.language_choice import LANGUAGE_COOKIE, RESPONDENTS, choose_reading
from server.web.watching.hourly_counts import QueueCounts

KEPT = 1_000
"""Most answers that are kept; the one that was asked for least recently goes first."""
LEAST = 500
"""Bytes; what is shorter gains less by compression than the header costs."""
MEMORIES = (5, 8)
"""Of zlib: with little of it, a page of two scripts comes in smaller pieces, each packed for its own letters."""

LONGEST = 1_000
"""Bytes of what a browser says of languages and compression that are looked at, and remembered."""

_PAGE = re.compile(r"/s/([^/]+)(?:/survey\.json|/screens|/how|/tablet|/logo/[0-9a-f]{64}\.png)?")
_LANGUAGE = re.compile(rb"(?:^|; ?)(%b=[^;]{0,20})(?:;|$)" % LANGUAGE_COOKIE.encode())
"""That cookie alone: nothing of the others is remembered."""

_Head = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class _Packed:
    """An answer as it goes out, plain and compressed."""

    status: int
    plain: tuple[_Head, bytes]
    gzipped: tuple[_Head, bytes]


@dataclass(frozen=True)
class _CachedAnswer:
    """An answer, the revision that was read before it was made, and until when it holds at most."""

    revision: int
    until: datetime | None
    packed: _Packed


class Visits:
    """Answers what it knows."""

    def __init__(self, bridge: Bridge, engine: sa.Engine, files: Assets) -> None:
        self._bridge = bridge
        self._engine = engine
        # A link leads to the same survey for good: links of deleted surveys are never given out again.
        self._surveys: OrderedDict[str, int] = OrderedDict()
        self._kept: OrderedDict[tuple[str, str], _CachedAnswer] = OrderedDict()
        self._making: dict[tuple[str, str, int], asyncio.Future[_CachedAnswer]] = {}
        self._revisions: Groups[int, int | None] = Groups(
            self._read_revisions, size=4096, places=4096, patience=5.0
        )
        self._addresses = {f"/client/{files.fingerprint}/{name}" for name in files.contents}
        self._files: dict[str, _Packed] = {}

    async def answer(self, scope: Scope, send: Send) -> bool:
        """Answer a GET or HEAD, if this is something to keep; whether it was."""
        path: str = scope["path"]
        headers = index_headers(scope)
        link = _PAGE.fullmatch(path)
        if link is not None:
            packed = await self._find_page(path, link[1], _choose_reading(scope["query_string"], headers))
        elif path in self._addresses:
            packed = await self._find_file(path)
        else:
            return False
        accepted = headers.get(b"accept-encoding", b"")[:LONGEST]
        head, body = packed.gzipped if _takes_gzip(accepted) else packed.plain
        await send({"type": "http.response.start", "status": packed.status, "headers": head})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
        return True

    async def _find_file(self, path: str) -> _Packed:
        if path not in self._files:
            made = await self._bridge.ask(make_get(path, {}))
            assert made.body is not None
            self._files[path] = _pack(made.status, made.headers, made.body)
        return self._files[path]

    async def _find_page(self, path: str, slug: str, language: str) -> _Packed:
        """The page or definition as it is now."""
        survey_id = self._surveys.get(slug)
        revision = None if survey_id is None else await self._revisions.submit(survey_id)
        if revision is None:
            return (await self._make(path, slug, language, None)).packed
        kept = self._kept.get((path, language))
        if kept is None or kept.revision != revision or _is_over(kept):
            # Who asks while it is made takes the same, if the revision was this one when they asked.
            key = (path, language, revision)
            making = self._making.get(key)
            if making is None:
                making = asyncio.ensure_future(self._make(path, slug, language, revision))
                self._making[key] = making
                making.add_done_callback(lambda _made: self._making.pop(key))
            kept = await asyncio.shield(making)
        return kept.packed

    async def _make(self, path: str, slug: str, language: str, revision: int | None) -> _CachedAnswer:
        """Have Flask make it, and keep it where its survey and its revision are known."""
        keeping = Keeping()
        environ = make_get(path, {"Accept-Language": language})
        environ[KEEPING] = keeping
        made = await self._bridge.ask(environ)
        if made.body is None:
            raise OverloadedError
        made_now = _CachedAnswer(revision or 0, keeping.until, _pack(made.status, made.headers, made.body))
        if keeping.survey_id is not None and made.status < 500:
            _put(self._surveys, slug, keeping.survey_id)
            if revision is not None:
                _put(self._kept, (path, language), made_now)
        return made_now

    def _read_revisions(self, survey_ids: Sequence[int]) -> Sequence[int | None]:
        """In a thread; None: unknown, so that Flask is asked, which can say what is wrong."""
        try:
            with self._engine.connect() as connection:
                found = read_revisions(connection, set(survey_ids))
        except Exception as error:
            logging.getLogger(__name__).error("%s while reading revisions", describe_failure(error))
            return [None] * len(survey_ids)
        return [found.get(survey_id) for survey_id in survey_ids]

    def take_counts(self) -> QueueCounts:
        """What its queue has done (`Groups.take_counts`)."""
        return self._revisions.take_counts()

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._revisions.close()


def _put(cache: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    cache[key] = value
    cache.move_to_end(key)
    if len(cache) > KEPT:
        cache.popitem(last=False)


def _is_over(kept: _CachedAnswer) -> bool:
    return kept.until is not None and kept.until <= surveys.now()


def _pack(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> _Packed:
    """With both lengths; compressed without a time in its header: the same bytes for the same page."""
    head = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in headers
        if name.lower() not in ("content-length", "vary")
    ]
    varies = ", ".join([*(value for name, value in headers if name.lower() == "vary"), "Accept-Encoding"])
    head.append((b"vary", varies.encode()))
    plain = [*head, (b"content-length", str(len(body)).encode())], body
    if status != 200 or len(body) < LEAST:
        return _Packed(status, plain, plain)
    small = min((_compress(body, memory) for memory in MEMORIES), key=len)
    length = (b"content-length", str(len(small)).encode())
    return _Packed(status, plain, ([*head, (b"content-encoding", b"gzip"), length], small))


def _compress(body: bytes, memory: int) -> bytes:
    """As gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31, memory)
    return packer.compress(body) + packer.flush()


def _choose_reading(query: bytes, headers: Mapping[bytes, bytes]) -> str:
    cookie = _LANGUAGE.search(headers.get(b"cookie", b""))
    return _match_languages(
        query[:LONGEST],
        headers.get(b"accept-language", b"")[:LONGEST],
        b"" if cookie is None else cookie[1],
    )


@lru_cache(maxsize=1_000)
def _match_languages(query: bytes, accepted: bytes, cookie: bytes) -> str:
    headers = [(b"accept-language", accepted), (b"cookie", cookie)]
    scope = {
        "method": "GET",
        "path": RESPONDENTS,
        "query_string": query,
        "http_version": "1.1",
        "headers": headers,
    }
    return choose_reading(Request(make_environ(scope)))


@lru_cache(maxsize=1_000)
def _takes_gzip(accepted: bytes) -> bool:
    """Whether a browser says so; a quality of 0 is a no."""
    return parse_accept_header(accepted.decode("latin-1"), Accept).quality("gzip") > 0
