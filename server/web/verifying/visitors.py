"""Fetches what a site serves as a phone, a desk computer and Tor Browser would, in every language that the pages have.

Nothing is kept between two requests, no redirect is followed, and nothing is read for ever: a request has a deadline
and a greatest size, for what arrives and for what it unpacks to.
"""

import asyncio
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from server.web.language_choice import choose_language

LONGEST = 20.0
"""Seconds for a request, from the connection to its last byte."""
LARGEST = 4 << 20
"""Bytes of an answer, compressed or not."""

_AGENTS = {
    "phone": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile "
    "Safari/537.36",
    "desk": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Tor Browser": "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0",
}
_LANGUAGES = {
    "English": "en-US,en;q=0.5",
    "Spanish": "es-ES,es;q=0.8,en;q=0.3",
    "French": "fr-FR,fr;q=0.8",
    "Portuguese": "pt-BR,pt;q=0.8,en;q=0.3",
    "Arabic": "ar-EG,ar;q=0.8",
    "Japanese": "ja-JP,ja;q=0.8",
}
"""All that the pages have, and last one that none has."""
_SPOKEN = {
    "phone": ("English", "Spanish", "French"),
    "desk": ("English", "Portuguese", "Arabic"),
    "Tor Browser": ("English", "Spanish", "Japanese"),
}
ENCODINGS = ("gzip, deflate", "identity")
"""What is accepted at the first visit, and at the second."""


@dataclass(frozen=True)
class Visitor:
    """A browser in a language."""

    agent: str
    language: str

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.agent}, {self.language}"

    @property
    def accepted(self) -> str:
        """The languages that it asks for."""
        return _LANGUAGES[self.language]

    def choose_language(self, path: str) -> str:
        """The language in which the release answers it."""
        return choose_language(
            Request(EnvironBuilder(path, headers=[("Accept-Language", self.accepted)]).get_environ())
        )

    def headers(self, encoding: str) -> dict[str, str]:
        """What it sends of itself."""
        return {
            "User-Agent": _AGENTS[self.agent],
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Language": self.accepted,
            "Accept-Encoding": encoding,
        }


VISITORS = tuple(Visitor(agent, language) for agent, spoken in _SPOKEN.items() for language in spoken)


@dataclass(frozen=True)
class SiteAnswer:
    """What came back; the body is unpacked, and header names are in small letters."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """All values of a header, as a browser joins them; "" where there is none."""
        return ", ".join(value for found, value in self.headers if found == name)


class FetchError(Exception):
    """No whole answer; `reached` where there was a server, which answered badly."""

    def __init__(self, problem: str, *, reached: bool) -> None:
        super().__init__(problem)
        self.reached = reached


class Fetcher:
    """Sends requests to one site, over kept connections, each without anything that an earlier answer set."""

    def __init__(self, site: str, longest: float = LONGEST) -> None:
        self._site = site
        self._longest = longest
        # No proxy and no password of the environment: what is compared is what this machine reaches.
        self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=longest)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def fetch(self, path: str, visitor: Visitor, encoding: str) -> SiteAnswer:
        """What a visitor gets.

        Raises
        ------
        FetchError
            Where no whole answer came in time.
        """
        reached = False
        try:
            # Not httpx's own limits, which hold for each piece: a server that drips would never reach them.
            async with asyncio.timeout(self._longest):
                self._client.cookies.clear()
                headers = visitor.headers(encoding)
                async with self._client.stream("GET", self._site + path, headers=headers) as response:
                    reached = True
                    return await _read(response)
        except (TimeoutError, httpx.TimeoutException):
            raise FetchError(f"no whole answer within {self._longest:g} seconds", reached=reached) from None
        except (httpx.HTTPError, httpx.InvalidURL, zlib.error) as error:
            answered = reached or isinstance(error, httpx.RemoteProtocolError)
            raise FetchError(
                f"no whole answer: {str(error) or type(error).__name__}", reached=answered
            ) from None


async def _read(response: httpx.Response) -> SiteAnswer:
    packed = bytearray()
    async for piece in response.aiter_raw():
        packed += piece
        if len(packed) > LARGEST:
            raise FetchError(f"more than {LARGEST} bytes", reached=True)
    raw = response.headers.raw
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw)
    return SiteAnswer(response.status_code, headers, _unpack(bytes(packed), response))


def _unpack(packed: bytes, response: httpx.Response) -> bytes:
    encoding = response.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return packed
    if encoding not in ("gzip", "deflate"):
        raise FetchError(f"compressed as {encoding!r}, which was not asked for", reached=True)
    unpacking = zlib.decompressobj(47)  # gzip or zlib, by its header
    body = unpacking.decompress(packed, LARGEST + 1)
    if len(body) > LARGEST:
        raise FetchError(f"more than {LARGEST} bytes", reached=True)
    if not unpacking.eof or unpacking.unused_data:
        raise FetchError("its compression does not end where the answer ends", reached=True)
    return body
