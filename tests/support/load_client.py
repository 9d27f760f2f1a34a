"""Many respondents at once, without a browser; with little work for each, so that the server is what is busy."""

import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from time import sleep
from urllib.parse import urlsplit


def post_all(url: str, path: str, bodies: Iterable[Mapping[str, object]]) -> Iterator[int]:
    """One client: posts its bodies one after the other over one connection; yields the statuses.

    As the page does, it sends the same again where it is sent away to come back (503).
    """
    parts = urlsplit(url)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\nContent-Length: "
    )
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=120)) as connection:
        for body in bodies:
            content = json.dumps(body)
            while True:
                connection.sendall(f"{head}{len(content)}\r\n\r\n{content}".encode())
                status = _status(connection)
                if status != 503:
                    break
                sleep(0.2)
            yield status


def _status(connection: socket.socket) -> int:
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _receive_block(connection)
    top, _, body = answer.partition(b"\r\n\r\n")
    lines = top.lower().split(b"\r\n")
    (length,) = (int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
    while len(body) < length:
        body += _receive_block(connection)
    return int(top.split(b" ", 2)[1])


def _receive_block(connection: socket.socket) -> bytes:
    block = connection.recv(65536)
    assert block, "the server hung up"
    return block
