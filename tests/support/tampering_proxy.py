"""A site that stands before another and alters what it chooses: by path, and by who asks."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Asked:
    """A request: what its browser says of itself, and how often the path was asked for by it before."""

    path: str
    agent: str
    language: str
    encoding: str
    before: int


@dataclass
class Reply:
    """What goes out; `pause` seconds lie between any two of its bytes, and `cut` are left away at its end."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    pause: float = 0
    cut: int = 0

    def replace(self, old: bytes, new: bytes) -> None:
        """Alter the body, which must hold what is altered."""
        assert old in self.body, old
        self.body = self.body.replace(old, new, 1)


Tamper = Callable[[Asked, Reply], None]


@contextmanager
def tampering(site: str, tampers: Mapping[str, Tamper]) -> Iterator[str]:
    """The address of a site that answers as `site` does, but for the paths that are tampered with."""
    counts: Counter[tuple[str, str, str]] = Counter()
    lock = threading.Lock()
    host = urlsplit(site).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.site = HTTPConnection(host)  # for as long as the browser keeps its own

        def finish(self) -> None:
            self.site.close()
            super().finish()

        def do_GET(self) -> None:
            agent, language = self.headers["User-Agent"], self.headers["Accept-Language"]
            with lock:
                before = counts[self.path, agent, language]
                counts[self.path, agent, language] += 1
            tamper = tampers.get(self.path)
            named = ("User-Agent", "Accept-Language", "Accept-Encoding")
            sent = {name: self.headers[name] or "" for name in named}
            if tamper is not None:
                sent["Accept-Encoding"] = "identity"
            self.site.request("GET", self.path, headers=sent)
            answer = self.site.getresponse()
            reply = Reply(answer.status, list(answer.getheaders()), answer.read())
            if tamper is not None:
                tamper(Asked(self.path, agent, language, self.headers["Accept-Encoding"], before), reply)
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            self.send_response_only(reply.status)
            for name, value in reply.headers:
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            body = reply.body[: len(reply.body) - reply.cut]
            try:
                for piece in [body] if not reply.pause else [body[k : k + 1] for k in range(len(body))]:
                    self.wfile.write(piece)
                    self.wfile.flush()
                    time.sleep(reply.pause)
            except ConnectionError:
                pass  # who asked has seen enough
            self.close_connection = bool(reply.cut or reply.pause)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
