"""Stands between the browser and the server, and keeps every byte that the browser sends."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit


class Recorder:
    """What was sent on each connection so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._streams: list[bytearray] = []

    def connection(self) -> bytearray:
        """The stream of a new connection."""
        self._streams.append(bytearray())
        return self._streams[-1]

    def forget(self) -> None:
        """Begin anew; connections that are still open belong to the past."""
        self._streams = []

    def requests(self) -> list[bytes]:
        """Every request, byte for byte: sorted, as connections run side by side."""
        return sorted(request for stream in self._streams for request in _split(bytes(stream)))


@contextmanager
def recording(url: str) -> Iterator[Recorder]:
    """A recorder in front of the server at `url`."""
    address = (urlsplit(url).hostname, urlsplit(url).port)

    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            stream = recorder.connection()
            with socket.create_connection(address) as upstream:
                answers = threading.Thread(target=_copy, args=(upstream, self.request, bytearray()))
                answers.start()
                _copy(self.request, upstream, stream)
                answers.join()

    # A test that fails leaves its pages open, and their connections: whoever ends this must not wait for them.
    class Listener(ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Listener(("127.0.0.1", 0), Connection) as listening:
        recorder = Recorder(f"http://127.0.0.1:{listening.server_address[1]}")
        serving = threading.Thread(target=listening.serve_forever, args=(0.05,))
        serving.start()
        yield recorder
        listening.shutdown()
        serving.join()


def _copy(source: Any, target: Any, kept: bytearray) -> None:
    """Pass bytes on until the source ends; then the target has heard everything, too."""
    with suppress(ConnectionError):
        while data := source.recv(65536):
            kept += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _split(stream: bytes) -> Iterator[bytes]:
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        size = len(head) + 4 + (int(length[1]) if length else 0)
        assert rest or len(stream) == size, "a request ends early"
        yield stream[:size]
        stream = stream[size:]
