"""Large answers, over real sockets: one that breaks off is seen to, and one that nobody reads takes up no memory."""

import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead

import psutil
import pytest

from tests.support.large_answers import BROKEN, SIZE, serving_large_answers


@pytest.fixture(scope="module")
def answering_server() -> Iterator[tuple[int, psutil.Process]]:
    """The port, and the process that answers."""
    with serving_large_answers() as (port, pid):
        (worker,) = psutil.Process(pid).children()
        yield port, worker


def download(port: int, path: str) -> int:
    """How many bytes an answer has."""
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return sum(len(piece) for piece in iter(lambda: answer.read(1 << 20), b""))


def test_an_answer_that_breaks_off_does_not_look_whole(answering_server: tuple[int, psutil.Process]) -> None:
    port, _worker = answering_server
    with pytest.raises(IncompleteRead):
        download(port, BROKEN)
    assert download(port, "/whole") == SIZE


def test_what_a_reader_has_not_taken_waits_on_the_disk(answering_server: tuple[int, psutil.Process]) -> None:
    """While one reads nothing, another one is sent all of the same."""
    port, worker = answering_server
    before = worker.memory_info().rss
    with closing(socket.create_connection(("127.0.0.1", port))) as reader:
        reader.sendall(b"GET /whole HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reader.recv(1)
        assert download(port, "/whole") == SIZE
        assert worker.memory_info().rss - before < SIZE / 4
