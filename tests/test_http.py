"""The served process: what the test client cannot show, over real sockets."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served, list_responses


@pytest.fixture(scope="module")
def site(sqlite: NewDatabase) -> Iterator[tuple[Served, Published]]:
    """One server for all tests of this file, with a published survey."""
    database_url = sqlite(True)
    with factories.serving(database_url) as served:
        yield served, factories.publish(database_url)


def _send(served: Served, raw: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; status and body of the answer."""
    parts = urlsplit(served.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        connection.sendall(raw)
        answer = b""
        while block := connection.recv(65536):
            answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def _request(survey: Published, body: bytes, *headers: str) -> bytes:
    lines = (
        f"POST {survey.url} HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        "Content-Type: application/json",
        *headers,
    )
    return "\r\n".join([*lines, "", ""]).encode() + body


def _chunks(body: bytes, size: int) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_body_in_chunks_without_its_length_is_taken(site: tuple[Served, Published], size: int) -> None:
    served, survey = site
    body = json.dumps(survey.response()).encode()

    status, _answer = _send(served, _request(survey, _chunks(body, size), "Transfer-Encoding: chunked"))

    assert status == 201


@pytest.mark.parametrize("length", [16_385, 2_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_body_over_16_kb_is_refused_and_not_stored(
    site: tuple[Served, Published], length: int, chunked: bool
) -> None:
    served, survey = site
    before = list_responses(served.database_url)
    body = json.dumps(survey.response()).encode().ljust(length)
    sent = _chunks(body, 4096) if chunked else body
    header = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {length}"

    status, answer = _send(served, _request(survey, sent, header))

    assert status == 413
    assert json.loads(answer)["error"] == {
        "field": "body",
        "message": "must be at most 16384 bytes; it has more",
    }
    assert list_responses(served.database_url) == before


def test_body_without_any_length_is_refused(site: tuple[Served, Published]) -> None:
    served, survey = site

    status, answer = _send(served, _request(survey, b""))

    assert (status, json.loads(answer)["error"]["field"]) == (411, "Content-Length")


def test_connection_lost_in_the_middle_of_a_body_stores_nothing(site: tuple[Served, Published]) -> None:
    served, survey = site
    before = list_responses(served.database_url)
    body = json.dumps(survey.response()).encode()
    parts = urlsplit(served.url)

    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        connection.sendall(_request(survey, body[:-20], f"Content-Length: {len(body)}"))

    assert factories.ask(served.url + survey.url, survey.response())[0] == 201
    assert len(list_responses(served.database_url)) == len(before) + 1


@pytest.mark.parametrize(
    "path", ["//other.example/", "//other.example/help/", "/s//other.example/", "//help/"]
)
def test_no_address_leads_to_another_site(site: tuple[Served, Published], path: str) -> None:
    """A slash too many is left out behind an address, and never leaves the name of another site before it."""
    served, _survey = site
    status, headers, _page = factories.ask(served.url + path)
    assert (status, headers["Location"]) == (404, None)


def test_sign_in_link_that_is_printed_works_once(site: tuple[Served, Published]) -> None:
    served, _survey = site

    first, again = (factories.fill_in(served.sign_in_link, {}) for _ in range(2))

    assert first[0] == 303
    assert "Path=/manage" in first[1]["Set-Cookie"]
    assert again[0] == 403


def test_nothing_about_requests_is_logged(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    with (tmp_path / "log").open("w+") as log:
        with factories.serving(database_url, log) as served:
            person = {"User-Agent": "Somebodys-Phone", "X-Forwarded-For": "203.0.113.7"}
            for path in (
                f"/s/{survey.slug}",
                f"/s/{survey.slug}/survey.json",
                "/s/unknown",
                "/",
                "/manage/surveys",
            ):
                assert factories.ask(served.url + path, None, **person)[0] < 500
            for body in (survey.response(), survey.response([1, 5]), {"id": 1}):
                assert factories.ask(served.url + survey.url, body, **person)[0] < 500
            served.process.send_signal(2)
            assert served.process.stdout is not None
            printed = served.process.stdout.read()
            assert served.process.wait(30) == 0
        log.seek(0)
        printed += log.read()

    assert printed == ""


def test_server_that_is_stopped_and_started_keeps_its_data(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    body = survey.response()
    with factories.serving(database_url) as served:
        assert factories.ask(served.url + survey.url, body)[0] == 201
    with factories.serving(database_url) as served:
        assert factories.ask(served.url + survey.url, body)[0] == 200
    assert len(list_responses(database_url)) == 1


@pytest.mark.parametrize("host", [b"", b"a b", b"x" * 64, b".a", b"a..b", b"\xff", b"\xc3\xa9"], ids=repr)
def test_pages_are_answered_whatever_host_a_request_names(
    site: tuple[Served, Published], host: bytes
) -> None:
    served, survey = site
    for path, expected in (("/teach", 200), (f"/s/{survey.slug}/how", 200), ("/nothing", 404)):
        head = b"GET %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % (path.encode(), host)
        assert _send(served, head)[0] == expected
    sent = (
        b"POST /manage/sign-in HTTP/1.1\r\nHost: %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" % host
    )
    assert _send(served, sent)[0] == 400


@pytest.mark.parametrize(
    ("request_lines", "status"),
    [
        (b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: a\r\n" % k for k in range(300)) + b"\r\n", 431),
    ],
    ids=["version", "two lengths", "address", "headers"],
)
def test_what_cannot_be_read_as_a_request_is_answered_without_a_body_and_says_so_in_the_docs(
    site: tuple[Served, Published], request_lines: bytes, status: int
) -> None:
    """By the program that listens, whose answers have no headers of ours: so there must be nothing to protect."""
    served, _survey = site
    parts = urlsplit(served.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        connection.sendall(request_lines)
        answer = b""
        while block := connection.recv(65536):
            answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert (int(first.split()[1]), body) == (status, b"")
    assert {line.partition(":")[0].lower() for line in lines} == {"connection", "content-length", "date"}
    (row,) = (
        line
        for line in (factories.ROOT / "docs" / "operating.md").read_text("utf-8").splitlines()
        if line.startswith("| where a request cannot be read |")
    )
    assert str(status) in row
