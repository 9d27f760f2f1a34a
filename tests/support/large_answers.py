"""Large answers through the bridge, under the server that Moneda runs on: `python -m tests.support.large_answers PORT`.

`/broken` fails after half of it.
"""

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from server.web.front.bridge import Bridge
from server.web.front.wsgi import make_environ
from tests.support import factories

SIZE = 96 * 1024 * 1024
BROKEN = "/broken"
_PIECE = bytes(1024 * 1024)


def _site(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    path = environ["PATH_INFO"]
    for number in range(0 if path == "/" else SIZE // len(_PIECE)):
        if path == BROKEN and 2 * number * len(_PIECE) >= SIZE:
            raise ValueError("half of it")
        yield _PIECE


def make_application() -> Callable[..., Awaitable[None]]:
    """The bridge as an application by itself."""
    bridge = Bridge(_site)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await bridge.relay(await bridge.ask(make_environ(scope)), receive, send)

    return answer


@contextmanager
def serving_large_answers() -> Iterator[tuple[int, int]]:
    """Serve them in a process of its own, with one below it; its port and its number."""
    port = factories.free_port()
    command = [sys.executable, "-m", "tests.support.large_answers", str(port)]
    with subprocess.Popen(command, cwd=factories.ROOT) as process:
        try:
            while not _answers(port):
                time.sleep(0.05)
            yield port, process.pid
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    Granian(
        "tests.support.large_answers:make_application",
        factory=True,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        port=int(sys.argv[1]),
        websockets=False,
        log_level=LogLevels.critical,
    ).serve()
