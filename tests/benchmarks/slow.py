"""How long others wait beside connections that stall: `make bench-slow`.

1,000 responses and 300 sign-ins that stop in their middle, 100 requests whose headers do, and 64 readers that take
a byte a second of a file of responses. Beside them, on SQLite and PostgreSQL, eight connections ask for pages and
send responses; before them, the same alone, in turns. Nothing here passes or fails: the ratio of the medians is
printed beside what is asked.
"""

import argparse
import json
import resource
import socket
import statistics
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from threading import Event, Thread
from urllib.parse import urlsplit

from tests.benchmarks.intake import new_databases
from tests.benchmarks.live import cookie_of
from tests.benchmarks.load import Load, get, measure, post
from tests.support import factories

RESPONSES, SIGN_INS, HEADERS, READERS = 1_000, 300, 100, 64
CONNECTIONS, ASKED = 8, 60
"""Of those who wait, and requests of each in a round: all of them within the time after which a stalled one ends."""
MOST = 2.0
"""Times as long as alone that others may wait."""
ROWS = 20_000
"""Responses in the file that is read slowly."""


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), action="append")
    asked = parser.parse_args()
    _raise_limit_of_files()
    with new_databases() as databases:
        for engine in asked.engine or databases:
            alone, beside = _measure_engine(databases[engine](), asked.rounds)
            ratio = statistics.median(
                one.median / other.median for one, other in zip(beside, alone, strict=True)
            )
            print(f"{engine}: medians of {asked.rounds}, {CONNECTIONS} connections")
            for name, loads in (("alone", alone), ("beside them", beside)):
                median, p99 = (
                    statistics.median(values)
                    for values in zip(*((load.median, load.p99) for load in loads), strict=True)
                )
                print(f"  {name:<14} p50 {median:7.1f} ms   p99 {p99:7.1f} ms")
            print(f"  {ratio:.2f} times as long, asked at most {MOST}")


def _measure_engine(database_url: str, rounds: int) -> tuple[list[Load], list[Load]]:
    """What others were answered alone, and beside those who stall."""
    survey = factories.publish(database_url, factories.definition([0.25] * 10), minimum=1)
    large = factories.publish(database_url, factories.definition([0.25] * 10), minimum=1)
    factories.store(database_url, large, [([0] * 10, ROWS)])
    alone, beside = [], []
    with factories.serving(database_url) as served:
        cookie = cookie_of(served)
        for _ in range(rounds):
            alone.append(_others(served, survey))
            with _slow_ones(served, survey, f"/manage/surveys/{large.slug}/responses.csv", cookie):
                beside.append(_others(served, survey))
    return alone, beside


def _others(served: factories.Served, survey: factories.Published) -> Load:
    pages = [get("/"), get(f"/s/{survey.slug}"), get(f"/s/{survey.slug}/survey.json"), get("/manage/sign-in")]
    shares = [
        [
            pages[place % 5] if place % 5 < len(pages) else post(survey.url, survey.response())
            for place in range(ASKED)
        ]
        for _ in range(CONNECTIONS)
    ]
    load = measure(served.url, shares)
    assert set(load.statuses) <= {200, 201}, load.statuses
    return load


@contextmanager
def _slow_ones(
    served: factories.Served, survey: factories.Published, large: str, cookie: str
) -> Iterator[None]:
    """While so many connections stall."""
    body = json.dumps(survey.response())
    half = (
        (RESPONSES, _head(survey.url, "application/json", len(body)) + body[:20]),
        (SIGN_INS, _head("/manage/sign-in", "application/x-www-form-urlencoded", 100) + "name="),
        (HEADERS, f"POST {survey.url} HTTP/1.1\r\nHo"),
    )
    stopped = Event()
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(_connect(served, 1024))) for _ in range(READERS)]
        for reader in readers:
            reader.sendall(f"GET {large} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n".encode())
        for reader in readers:
            assert reader.recv(1)
        thread = Thread(target=_read, args=(readers, stopped))
        thread.start()
        stack.callback(thread.join)
        stack.callback(stopped.set)
        for number, text in half:
            for _ in range(number):
                stack.enter_context(closing(_connect(served))).sendall(text.encode())
        yield


def _read(readers: list[socket.socket], stopped: Event) -> None:
    """A byte a second from each."""
    while not stopped.wait(1):
        for reader in readers:
            reader.recv(1)


def _connect(served: factories.Served, buffer: int = 0) -> socket.socket:
    parts = urlsplit(served.url)
    connection = socket.socket()
    if buffer:  # before it is connected: the other side learns how little fits
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(60)
    connection.connect((parts.hostname, parts.port))
    return connection


def _head(path: str, kind: str, length: int) -> str:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"


def _raise_limit_of_files() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))


if __name__ == "__main__":
    main()
