"""The front, over real sockets: whole messages only, and nobody waits for those who send or read slowly."""

import json
import re
import resource
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import psutil
import pytest

from server.web.form_ends import NAME, VALUE
from server.web.front.bridge import WRITERS
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served, dump, list_responses

STALLED = 1_000
SIGN_INS = 300
SLOW_READERS = 64
LONG_HEADER = 300_000
"""Bytes; the server takes some more."""
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


@pytest.fixture(scope="module")
def site(sqlite: NewDatabase) -> Iterator[tuple[Served, Published]]:
    """One server for tests that leave nothing behind, with a published survey."""
    database_url = sqlite(True)
    with factories.serving(database_url) as served:
        yield served, factories.publish(database_url)


def connect(served: Served) -> socket.socket:
    """A connection to the server."""
    parts = urlsplit(served.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def head(path: str, kind: str, *headers: str) -> bytes:
    """A request up to its body."""
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", *headers)
    return "\r\n".join([*lines, "", ""]).encode()


def status_of(connection: socket.socket) -> int:
    """The status of the answer; 0 for none."""
    answer = b""
    try:
        while b"\r\n" not in answer:
            block = connection.recv(65536)
            if not block:
                break
            answer += block
    except ConnectionError:
        pass
    return int(answer.split()[1]) if answer else 0


def read_answer(connection: socket.socket) -> int:
    """The status of an answer, of which nothing is left unread."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def end(connection: socket.socket, way: str) -> int:
    """End a connection in the middle of a message; the status of the answer, where there can be one."""
    if way == "hangs up":
        return 0
    connection.shutdown(socket.SHUT_WR)
    return status_of(connection)


@pytest.mark.parametrize("way", ["hangs up", "says no more"])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
def test_a_response_that_is_cut_is_not_stored(
    site: tuple[Served, Published], chunked: bool, way: str
) -> None:
    """Also where what has come is a whole response by itself: its sender meant to say more."""
    served, survey = site
    for kept in (0, 1, 20, None):
        body = json.dumps(survey.response()).encode()
        sent = body[:kept]
        with closing(connect(served)) as connection:
            if chunked:
                chunk = b"%x\r\n%b\r\n" % (len(sent), sent) if sent else b""
                connection.sendall(head(survey.url, JSON, "Transfer-Encoding: chunked") + chunk)
            else:
                connection.sendall(head(survey.url, JSON, f"Content-Length: {len(body) + 1}") + sent)
            assert end(connection, way) in (0, 400)
    assert (
        factories.ask(served.url + survey.url, survey.response())[0] == 201
    )  # all before it were dealt with
    assert len(list_responses(served.database_url)) == 1
    _forget_responses(served.database_url)


def _forget_responses(database_url: str) -> None:
    with factories.writing(database_url) as session:
        session.connection().exec_driver_sql("DELETE FROM responses_1")


@pytest.mark.parametrize("way", ["hangs up", "says no more"])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
def test_a_form_that_is_cut_changes_nothing(site: tuple[Served, Published], chunked: bool, way: str) -> None:
    """Though it ends with its last field: the sign-in link would be used up by it."""
    served, _survey = site
    body = urlencode({"next": "", NAME: VALUE}).encode()
    path = urlsplit(served.sign_in_link).path
    before = dump(served.database_url)
    with closing(connect(served)) as connection:
        if chunked:
            connection.sendall(head(path, FORM, "Transfer-Encoding: chunked"))
            connection.sendall(b"%x\r\n%b\r\n" % (len(body), body))
        else:
            connection.sendall(head(path, FORM, f"Content-Length: {len(body) + 1}") + body)
        assert end(connection, way) in (0, 400)
    assert factories.ask(served.url + "/", None)[0] == 200
    assert dump(served.database_url) == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 411),
        (("Transfer-Encoding: gzip, chunked",), 411),
        (("Content-Length: 1048577",), 413),
        (("Content-Length: 999999999999",), 413),
        (("Content-Length: -1",), 400),
        (("Content-Length: 1", "Content-Length: 2"), 400),
        (("Content-Length: many",), 400),
    ],
)
def test_a_length_that_cannot_be_is_refused_before_anything_is_read(
    site: tuple[Served, Published], headers: tuple[str, ...], status: int
) -> None:
    served, _survey = site
    for path, kind in (("/manage/sign-in", FORM), ("/s/whatever/responses", JSON)):
        with closing(connect(served)) as connection:
            connection.sendall(head(path, kind, *headers))
            # What stands twice, or is no number, the server itself may refuse: then it hangs up.
            assert status_of(connection) in ({status} if status != 400 else {0, 400})


@pytest.mark.parametrize(
    ("size", "chunked"), [(2 << 20, False), (2 << 20, True), (12 << 20, False), (12 << 20, True)]
)
def test_who_sends_too_much_reads_so(site: tuple[Served, Published], size: int, chunked: bool) -> None:
    """A client that reads nothing before it has sent all: its connection is not reset, which would lose the answer."""
    served, survey = site
    for path, kind in (("/manage/import", FORM), (f"/s/{survey.slug}/responses", JSON)):
        with closing(connect(served)) as connection:
            length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
            connection.sendall(head(path, kind, length))
            piece = b"x" * 65_536
            for _ in range(size // len(piece)):
                connection.sendall(b"10000\r\n%b\r\n" % piece if chunked else piece)
            connection.sendall(b"0\r\n\r\n" if chunked else b"")
            answer = b""
            while block := connection.recv(65_536):
                answer += block
                if b"bytes" in answer:
                    break
        assert answer.startswith(b"HTTP/1.1 413 "), (path, answer[:200])
        assert b"content-security-policy" in answer
        assert b"it has more" in answer


def test_who_goes_on_sending_what_was_refused_can_read_why(site: tuple[Served, Published]) -> None:
    """The connection is not closed under them: a proxy would say 502 in place of our answer."""
    served, survey = site
    for path, kind in (("/manage/sign-in", FORM), (survey.url, JSON), (survey.url, "text/plain")):
        with closing(connect(served)) as connection:
            connection.sendall(head(path, kind, f"Content-Length: {2 << 20}") + bytes(1000))
            assert read_answer(connection) == (415 if kind == "text/plain" else 413)
            for _ in range((2 << 20) // 1024 - 1):
                connection.sendall(bytes(1024))
            connection.sendall(bytes(24) + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_answer(connection) == 200


def test_slow_senders_and_readers_keep_nobody_waiting(new_database: NewDatabase) -> None:
    """1,000 stalled responses, 300 half-sent sign-ins, stalled headers and 64 readers of a byte at a time."""
    _raise_limit_of_files()
    database_url = new_database(True)
    survey = factories.publish(database_url)
    body = json.dumps(survey.response()).encode()
    with factories.serving(database_url) as served, ExitStack() as stack:
        stalled = [stack.enter_context(closing(connect(served))) for _ in range(STALLED)]
        for connection in stalled:
            connection.sendall(head(survey.url, JSON, f"Content-Length: {len(body)}") + body[:20])
        for _ in range(SIGN_INS):
            connection = stack.enter_context(closing(connect(served)))
            connection.sendall(head("/manage/sign-in", FORM, "Content-Length: 100") + b"name=")
        for _ in range(20):
            stack.enter_context(closing(connect(served))).sendall(b"POST /s/x/responses HTTP/1.1\r\nHo")
        for _ in range(SLOW_READERS):
            reader = stack.enter_context(closing(connect(served)))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            reader.sendall(b"GET /s/%b HTTP/1.1\r\nHost: x\r\n\r\n" % survey.slug.encode())
            reader.recv(1)

        for path in ("/", f"/s/{survey.slug}", f"/s/{survey.slug}/survey.json", "/manage/sign-in"):
            assert factories.ask(served.url + path, None)[0] == 200
        assert factories.ask(served.url + survey.url, survey.response())[0] == 201

        # Each gets its verdict when its time is over.
        assert {status_of(connection) for connection in stalled} == {408}
        assert len(list_responses(database_url)) == 1

        for connection in stalled[:100]:
            _stall_again(connection, survey)
        served.process.send_signal(2)
        assert served.process.wait(60) == 0  # though a hundred are in the middle of something


def _raise_limit_of_files() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * (STALLED + SIGN_INS)
    assert hard == resource.RLIM_INFINITY or hard >= wanted, "the system allows too few open files"
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _stall_again(connection: socket.socket, survey: Published) -> None:
    with suppress(ConnectionError):  # the server may have ended this one after its refusal
        connection.sendall(head(survey.url, JSON, "Content-Length: 50") + b"{")


def test_pages_are_answered_while_the_database_is_locked(sqlite: NewDatabase) -> None:
    """Another process holds the write lock: responses and forms are sent away to come back, pages go on."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    before = list_responses(database_url)
    with (
        factories.serving(database_url) as served,
        ThreadPoolExecutor(60) as clients,
        closing(sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)) as lock,
    ):
        lock.execute("BEGIN IMMEDIATE")
        posting = [
            clients.submit(factories.ask, served.url + survey.url, survey.response()) for _ in range(40)
        ]
        signing = [clients.submit(factories.fill_in, served.sign_in_link, {}) for _ in range(12)]
        while not any(each.done() for each in posting):
            for path in ("/", f"/s/{survey.slug}", "/manage/sign-in"):
                assert factories.ask(served.url + path, None)[0] == 200
        for each in (*posting, *signing):
            status, headers, _answer = each.result()
            assert status == 503
            assert int(headers["Retry-After"]) > 0
        late, headers, _answer = factories.ask(served.url + survey.url, survey.response())
        assert (late, int(headers["Retry-After"]) > 0) == (503, True)
        lock.execute("ROLLBACK")
        assert list_responses(database_url) == before
        deadline = time.monotonic() + 60
        while factories.ask(served.url + survey.url, survey.response())[0] != 201:
            assert time.monotonic() < deadline


def test_forms_that_wait_in_line_behind_a_lock_are_sent_away_too(sqlite: NewDatabase, tmp_path: Path) -> None:
    """Not one round of threads after the other: who is still in line when the first give up has waited long enough."""
    database_url = sqlite(True)
    forms = 5 * WRITERS
    with (tmp_path / "log").open("w+") as log:
        with (
            factories.serving(database_url, log) as served,
            ThreadPoolExecutor(forms) as clients,
            closing(sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)) as lock,
        ):
            lock.execute("BEGIN IMMEDIATE")
            signing = [clients.submit(factories.fill_in, served.sign_in_link, {}) for _ in range(forms)]
            for each in signing:
                status, headers, _answer = each.result()
                assert (status, int(headers["Retry-After"]) > 0) == (503, True)
            lock.execute("ROLLBACK")
        log.seek(0)
        # Those that had a thread at once, and those that were given one just before their time was over.
        assert WRITERS <= log.read().count("account.redeem") <= 2 * WRITERS


def test_nothing_is_acknowledged_into_a_file_that_was_removed(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    with (tmp_path / "log").open("w+") as log:
        with factories.serving(database_url, log) as served:
            assert factories.ask(served.url + survey.url, survey.response())[0] == 201
            path = Path(database_url.removeprefix("sqlite:///"))
            path.rename(path.with_suffix(".elsewhere"))
            statuses = {factories.ask(served.url + survey.url, survey.response())[0] for _ in range(3)}
            path.with_suffix(".elsewhere").rename(path)
        log.seek(0)
        said = log.read()
    assert statuses == {503}
    assert "no longer" in said
    assert survey.slug not in said


def test_a_server_ends_with_the_process_that_started_it(sqlite: NewDatabase) -> None:
    with factories.serving(sqlite(True)) as served:
        workers = psutil.Process(served.process.pid).children()
        assert workers
        served.process.kill()
        served.process.wait(30)
        _gone, alive = psutil.wait_procs(workers, timeout=60)
        assert alive == []


def test_a_large_answer_holds_no_thread_while_it_is_read_slowly(
    signed_in_site: tuple[Served, str, str],
) -> None:
    """More readers of a download than there are threads, none of whom reads on."""
    served, cookie, path = signed_in_site
    with ExitStack() as stack:
        readers = []
        for _ in range(40):
            reader = stack.enter_context(closing(connect(served)))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
            readers.append(reader)
        for reader in readers:
            assert status_of(reader) == 200
        assert factories.ask(served.url + path, None, Cookie=cookie)[0] == 200


def test_long_headers_are_not_remembered(site: tuple[Served, Published]) -> None:
    """What a browser says of languages and compression is looked up in memory, and there only its beginning."""
    served, survey = site
    (worker,) = psutil.Process(served.process.pid).children()
    headers = {
        "Accept-Encoding": "gzip, {}",
        "Cookie": "moneda_language={}",
        "Accept-Language": "es, {}",
    }
    factories.ask(f"{served.url}/s/{survey.slug}")
    before = worker.memory_info().rss
    for number in range(200):
        for name, text in headers.items():
            said = text.format(f"{number}".rjust(LONG_HEADER, "x"))
            assert factories.ask(f"{served.url}/s/{survey.slug}", **{name: said})[0] == 200
    assert worker.memory_info().rss - before < 100 * LONG_HEADER


@pytest.fixture
def signed_in_site(sqlite: NewDatabase) -> Iterator[tuple[Served, str, str]]:
    """A server, the cookie of a researcher, and the address of a download of some megabytes."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25] * 20))
    bits = np.random.default_rng(11).integers(0, 2, (50_000, 20)).tolist()
    factories.store(database_url, survey, [(reports, 1) for reports in bits])
    factories.close(database_url, survey.slug)
    with factories.serving(database_url) as served:
        _status, headers, _body = factories.fill_in(served.sign_in_link, {})
        cookie = re.match("[^;]+", headers["Set-Cookie"])
        assert cookie is not None
        yield served, cookie[0], f"/manage/surveys/{survey.slug}/responses.csv"


def test_a_worker_that_was_killed_is_replaced(sqlite: NewDatabase, tmp_path: Path) -> None:
    """What it had acknowledged is there, and the log says what happened; one that keeps ending ends the server."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    log = tmp_path / "log"
    with log.open("w") as written, factories.serving(database_url, written) as served:
        body = survey.response([0, 1])
        assert factories.ask(served.url + survey.url, body)[0] == 201
        (worker,) = psutil.Process(served.process.pid).children()
        worker.kill()
        worker.wait(30)
        # The same once more is a repetition: the one in its place knows what was stored.
        assert ask_until_answered(served.url + survey.url, body) == 200
        while served.process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(served.process.pid).children():
                    child.kill()
            time.sleep(0.2)
        assert served.process.wait() == 1
    assert log.read_text().count("Unexpected exit from worker-1") >= 2
    assert "Worker crash loop detected, exiting" in log.read_text()


def ask_until_answered(url: str, body: dict[str, object]) -> int:
    """The status, once somebody listens again."""
    for _ in range(240):
        try:
            return factories.ask(url, body)[0]
        except (OSError, HTTPException):
            time.sleep(0.5)
    raise AssertionError("nobody answers")


def test_two_workers_need_postgresql(sqlite: NewDatabase) -> None:
    result = factories.run(sqlite(True), "serve", "--workers", "2")
    assert result.exit_code == 2
    assert "--workers must be 1 with SQLite" in result.output
