"""A real receiver of webhooks on loopback, with a certificate for the name that webhooks are sent to."""

import atexit
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import sqlalchemy as sa

from server.config import Config
from server.people import survey_access
from server.store.engines import make_engine
from server.store.models import Researcher, Webhook
from server.web.webhooks import webhook_rows
from server.web.webhooks.deliverer import Deliverer
from server.web.webhooks.posting import Poster, SocketAddress
from tests.support import factories

NAME = "hooks.example.org"
URL = f"https://{NAME}/told?key=1"

Answer = Callable[[ssl.SSLSocket], None]


@dataclass(frozen=True)
class Arrived:
    """A request as it came."""

    line: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Receiver:
    """What arrived at a port, and how it answers."""

    port: int
    answer: Answer
    arrived: list[Arrived] = field(default_factory=list)
    connections: int = 0

    def resolve(self, _name: str, _port: int) -> list[SocketAddress]:
        """As a name server that says it is here."""
        return [(socket.AF_INET, ("127.0.0.1", self.port))]


def reply(status: int = 204, headers: str = "") -> Answer:
    """Answers at once."""

    def answer(connection: ssl.SSLSocket) -> None:
        connection.sendall(f"HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\n\r\n".encode())

    return answer


@contextmanager
def receiving(answer: Answer | None = None, name: str = NAME) -> Iterator[Receiver]:
    """A receiver that listens."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = make_certificate(name)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        receiver = Receiver(listening.getsockname()[1], answer or reply())
        ending = threading.Event()

        def serve() -> None:
            while not ending.is_set():
                with suppress(OSError):
                    plain, _ = listening.accept()
                    threading.Thread(target=_take, args=(receiver, context, plain), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            ending.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _take(receiver: Receiver, context: ssl.SSLContext, plain: socket.socket) -> None:
    receiver.connections += 1
    with suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
        file = connection.makefile("rb")
        line = file.readline().decode().strip()
        headers = {}
        while header := file.readline().decode().strip():
            key, _, value = header.partition(":")
            headers[key.lower()] = value.strip()
        body = file.read(int(headers.get("content-length", "0")))
        receiver.arrived.append(Arrived(line, headers, body))
        receiver.answer(connection)


@cache
def make_certificate(name: str) -> tuple[Path, Path]:
    """A certificate for a name that it vouches for itself, and its key."""
    openssl = shutil.which("openssl")
    assert openssl, "the tests of webhooks need openssl: apt-get install openssl"
    folder = Path(mkdtemp(prefix="moneda-certificate-"))
    atexit.register(shutil.rmtree, folder)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, "req", "-x509", *kind, *names, *files], check=True, capture_output=True)
    return certificate, key


def make_poster(receiver: Receiver, timeout: float = 10.0) -> Poster:
    """What sends in production, told where the name leads, that it may go there, and whose certificate counts."""
    certificate, _ = make_certificate(NAME)
    trusted = ssl.create_default_context(cafile=str(certificate))
    return Poster(trusted, receiver.resolve, lambda address: address == "127.0.0.1", timeout)


@contextmanager
def delivering(database_url: str, poster: Poster, **settings: object) -> Iterator[Deliverer]:
    """The job of a process, which the test does step by step."""
    engine = make_engine(database_url)
    config = Config(database_url=database_url, webhooks=True, **settings)  # type: ignore[arg-type]
    try:
        yield Deliverer(engine, config, poster)
    finally:
        engine.dispose()


def set_up(database_url: str, slug: str, *, days_ago: int = 1) -> tuple[str, str]:
    """A webhook of a survey's owner, that was looked for so many days ago: its id, and its secret."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        owner = session.get_one(Researcher, survey.owner_id)
        webhook, secret = webhook_rows.create_webhook(session, survey, owner, URL)
        session.execute(sa.update(Webhook).values(looked_on=webhook.looked_on - timedelta(days=days_ago)))
        return webhook.id, secret
