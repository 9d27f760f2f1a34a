"""Answers that the front gives by itself: JSON for programs, a page for people."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache

from werkzeug.wrappers import Request

from server.inputs import N_, Problem
from server.output.digits import fill_message
from server.output.languages import load_catalogue, split_reading
from server.store.failures import RETRY_AFTER, find_failure
from server.web.front.messages import Scope, Send
from server.web.front.wsgi import make_environ
from server.web.language_choice import choose_reading

BROKEN = N_("Something went wrong here. Nothing was half-done; please try again.")


def choose_status(error: Exception) -> int:
    """What is answered where this failed: 503, to come again, of a disk or a database; 500 of a mistake of ours."""
    return 500 if find_failure(error) is None else 503


RenderPage = Callable[[str, str, str, tuple[tuple[str, object], ...]], str]
"""A reading and a problem (field, template, values) to a page that says it."""


class Replies:
    """Writes answers with the headers that every answer of the site has."""

    def __init__(self, headers: Mapping[str, str], render_page: RenderPage) -> None:
        self._render_page = render_page
        self._headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()
        ]
        # Most answers are one of a few, and writing their heads takes as long as counting them.
        self._make_head = lru_cache(maxsize=100)(self._write_head)

    async def send_json(self, send: Send, status: int, body: bytes) -> None:
        """Answer with an encoded JSON document."""
        await self._send(send, status, b"application/json", body)

    async def send_word(self, send: Send, status: int, text: str) -> None:
        """Answer with a line for programs that watch."""
        await self._send(send, status, b"text/plain; charset=utf-8", f"{text}\n".encode())

    async def send_elsewhere(self, send: Send, address: bytes) -> None:
        """Lead to another address of this site, which names no host: a request may claim any."""
        headers = [*self._headers, (b"location", address), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send_problem(
        self, scope: Scope, send: Send, status: int, problem: Problem, after: int = 0
    ) -> None:
        """Answer that a request is refused, and why, in the language it asks for; and after how long to come again."""
        reading = choose_reading(Request(make_environ(scope)))
        if scope["path"].endswith(("/responses", ".json")):
            language, digits = split_reading(reading)
            template, values = fill_message(
                load_catalogue(language).gettext(problem.template), problem.values, digits
            )
            message = template % values if values else template
            document = {"error": {"field": problem.field, "message": message}}
            body = json.dumps(document, separators=(",", ":")).encode() + b"\n"
            await self._send(send, status, b"application/json", body, after)
            return
        page = self._render_page(reading, problem.field, problem.template, tuple(problem.values.items()))
        await self._send(send, status, b"text/html; charset=utf-8", page.encode())

    async def _send(self, send: Send, status: int, kind: bytes, body: bytes, after: int = 0) -> None:
        headers = self._make_head(kind, len(body), after or (RETRY_AFTER if status == 503 else 0))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _write_head(self, kind: bytes, length: int, after: int) -> list[tuple[bytes, bytes]]:
        headers = [*self._headers, (b"content-type", kind), (b"content-length", str(length).encode())]
        return [*headers, (b"retry-after", str(after).encode())] if after else headers
