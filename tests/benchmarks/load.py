"""Load from a process of its own: connections that are kept, each sending one request after the other."""

import asyncio
import itertools
import json
import multiprocessing
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Load:
    """What a load was answered.

    Attributes
    ----------
    rate : float
        Answers a second.
    median, p99 : float
        Milliseconds from the first byte sent to the last received.
    statuses : dict
        How many answers of each status.
    seconds : float
        How long it took.
    processor : float
        Seconds of processor time that sending took.
    """

    rate: float
    median: float
    p99: float
    statuses: dict[int, int]
    seconds: float
    processor: float


def post(path: str, body: dict[str, object]) -> bytes:
    """A request that posts a JSON document."""
    content = json.dumps(body)
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n{content}"
    ).encode()


def get(path: str) -> bytes:
    """A request for a page or a file, as a browser asks for it."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode()


def measure(url: str, shares: Sequence[Sequence[bytes]], *, pooled: bool = False) -> Load:
    """Send each share over a connection of its own, all at once, from a process that does nothing else.

    Where they are `pooled`, whichever connection is answered sends the next of all: none has to wait for another
    that came to a slower, or busier, server.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (url, shares, pooled))


def _measure(url: str, shares: Sequence[Sequence[bytes]], pooled: bool) -> Load:
    return asyncio.run(_send_all(url, shares, pooled))


async def _send_all(url: str, shares: Sequence[Sequence[bytes]], pooled: bool) -> Load:
    parts = urlsplit(url)
    clients = []
    pool = itertools.chain.from_iterable(shares)
    for share in shares:
        requests = pool if pooled else iter(share)
        _transport, client = await asyncio.get_running_loop().create_connection(
            lambda requests=requests: _Client(requests),  # type: ignore[misc]
            parts.hostname,
            parts.port,
        )
        clients.append(client)
    begin, spent = perf_counter(), process_time()
    for client in clients:
        client.start()
    await asyncio.gather(*(client.done for client in clients))
    seconds, spent = perf_counter() - begin, process_time() - spent
    times = sorted(taken for client in clients for taken in client.times)
    statuses: dict[int, int] = {}
    for client in clients:
        for status in client.statuses:
            statuses[status] = statuses.get(status, 0) + 1
    return Load(
        len(times) / seconds,
        1000 * statistics.median(times),
        1000 * times[int(0.99 * len(times))],
        statuses,
        seconds,
        spent,
    )


class _Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self.times: list[float] = []
        self.statuses: list[int] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def start(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            self.done.set_result(None)
            return
        self._received = b""
        self._since = perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) >= int(length or 0):
            self.times.append(perf_counter() - self._since)
            self.statuses.append(int(head[9:12]))
            self.start()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server hung up"))


def processor_seconds(pid: int) -> float:
    """Seconds of processor time of a process and those it started, ended ones included, as Linux counts them."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100 + sum(processor_seconds(int(child)) for child in children)
