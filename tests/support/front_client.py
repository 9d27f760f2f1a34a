"""The site as it is served, for clients in this process: Flask's test client, through the front and back."""

import asyncio
import io
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flask import Flask

from server.config import Config
from server.web.app import create_app as create_wsgi_app
from server.web.front import Front

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


def create_app(config: Config | None = None) -> Flask:
    """The application; whatever its test client asks goes the way of a request to the server."""
    app = create_wsgi_app(config)
    front = app.extensions["moneda.front"] = Front(app)

    def ask(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        asked = asyncio.run_coroutine_threadsafe(_ask(front, environ), _event_loop())
        status, headers, body = asked.result()
        start_response(f"{status} -", headers)
        return [body]

    app.wsgi_app = ask  # type: ignore[method-assign]
    return app


@lru_cache(maxsize=1)
def _event_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


async def _ask(front: Front, environ: "WSGIEnvironment") -> tuple[int, list[tuple[str, str]], bytes]:
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    arriving = [{"type": "http.request", "body": body, "more_body": False}]
    answered: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not arriving:
            await asyncio.Event().wait()  # nobody goes away
        return arriving.pop()

    async def send(message: Any) -> None:
        answered.append(message)

    await front(_make_scope(environ, len(body)), receive, send)
    start, *pieces = answered
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    whole = io.BytesIO()
    for piece in pieces:
        whole.write(piece["body"])
    return start["status"], headers, whole.getvalue()


def _make_scope(environ: "WSGIEnvironment", length: int) -> dict[str, Any]:
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    headers["content-length"] = str(length)
    return {
        "type": "http",
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": environ["wsgi.url_scheme"],
        "path": environ["PATH_INFO"].encode("latin-1").decode("utf-8", "surrogateescape"),
        "query_string": environ.get("QUERY_STRING", "").encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "client": (environ.get("REMOTE_ADDR", ""), 0),
        "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
    }
