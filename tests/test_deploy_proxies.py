"""The examples for nginx and Caddy, in front of a real server: what they let through, and what they keep of it."""

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from server.collect.submissions import RESPONSE_LIMIT
from server.web.front import messages
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served
from tests.support.proxies import PROXIES, Proxy, run_nginx
from tests.support.proxy_programs import PROGRAMS, find_program

JSON = {"Content-Type": "application/json"}
LOOKS = 100
"""Looks at codes that one address has in 10 minutes."""


@dataclass(frozen=True)
class Site:
    """A server with a survey, and a proxy before it."""

    proxy: Proxy
    served: Served
    survey: Published


@pytest.fixture(params=PROXIES)
def site(request: pytest.FixtureRequest, sqlite: NewDatabase, tmp_path: Path) -> Iterator[Site]:
    database_url = sqlite(True)
    secure, upstream = factories.free_port(), factories.free_port()
    settings = {
        "MONEDA_PUBLIC_URL": f"https://localhost:{secure}",
        "MONEDA_TRUSTED_PROXIES": "127.0.0.1",
    }
    with (
        factories.serving(database_url, port=upstream, **settings) as served,
        PROXIES[request.param](tmp_path, secure, upstream) as proxy,
    ):
        yield Site(proxy, served, factories.publish(database_url))


def test_a_respondent_answers_through_it(site: Site) -> None:
    proxy, survey = site.proxy, site.survey
    status, headers, page = proxy.ask("GET", f"/s/{survey.slug}")
    direct = factories.ask(f"{site.served.url}/s/{survey.slug}")
    assert (status, page) == (200, direct[2])
    ours = {
        name.lower(): value for name, value in direct[1].items() if name.lower() not in ("date", "server")
    }
    assert {name: headers[name] for name in ours} == ours
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert "set-cookie" not in headers
    assert not any(digit in headers.get("server", "") for digit in "0123456789")

    body = json.dumps(survey.response()).encode()
    origin = {"Origin": f"https://localhost:{proxy.secure}"}
    assert [proxy.ask("POST", survey.url, body, **JSON, **origin)[0] for _ in range(2)] == [201, 200]
    assert proxy.ask("POST", survey.url, body, **JSON, Origin="https://example.net")[0] == 403
    assert proxy.ask("GET", "/ready")[2] == b"ready\n"


def test_what_is_too_long_is_refused(site: Site) -> None:
    proxy, survey = site.proxy, site.survey
    longest = json.dumps({"id": "x" * (RESPONSE_LIMIT - 100)}).encode()
    assert proxy.ask("POST", survey.url, longest, **JSON)[0] == 422
    assert proxy.ask("POST", survey.url, b"x" * (RESPONSE_LIMIT + 5_000), **JSON)[0] == 413
    # Longer bodies are let through to where a survey is imported: it is Moneda that refuses, as nobody is signed in.
    status, headers, _ = proxy.ask("POST", "/manage/import", b"x" * (2 << 20))
    assert (status, "default-src" in headers["content-security-policy"]) == (413, True)


def send_in_parts(site: Site, length: str, parts: Sequence[bytes], pause: float) -> bytes:
    """The status line of the answer to a response that comes in parts; nothing, if its sender goes away at once."""
    head = (
        f"POST {site.survey.url} HTTP/1.1",
        f"Host: localhost:{site.proxy.secure}",
        *[f"{k}: {v}" for k, v in JSON.items()],
        length,
    )
    with closing(site.proxy.connect()) as connection:
        connection.sendall("\r\n".join((*head, "", "")).encode() + parts[0])
        for part in parts[1:]:
            time.sleep(pause)
            with suppress(OSError):  # who was refused already may find the connection closed
                connection.sendall(part)
        return connection.recv(100).split(b"\r\n")[0] if pause else b""


def test_a_response_that_comes_slowly_is_whole_or_refused(site: Site) -> None:
    def make() -> tuple[bytes, int]:
        body = json.dumps(site.survey.response()).encode()
        return body, len(body)

    body, length = make()
    by_length = send_in_parts(site, f"Content-Length: {length}", [body[:20], body[20:]], 0.5)
    body, length = make()
    chunks = [b"%x\r\n%b\r\n" % (length, body), b"0\r\n\r\n"]
    by_chunks = send_in_parts(site, "Transfer-Encoding: chunked", chunks, 0.5)
    assert [by_length, by_chunks] == [b"HTTP/1.1 201 Created"] * 2
    assert len(factories.list_responses(site.served.database_url)) == 2

    body, length = make()
    send_in_parts(site, f"Content-Length: {length + 1}", [body], 0)
    body, length = make()
    send_in_parts(site, "Transfer-Encoding: chunked", [b"%x\r\n%b\r\n" % (length, body)], 0)
    body, length = make()
    late = messages.DEADLINE + 1
    refused = send_in_parts(site, f"Content-Length: {length}", [body[:-1], body[-1:]], late)
    assert refused.split()[1] == b"408"
    assert len(factories.list_responses(site.served.database_url)) == 2


def look(proxy: Proxy, survey: Published, code: str, source: str, number: int) -> int:
    body = json.dumps({"invitation": code}).encode()
    made_up = {"X-Forwarded-For": f"9.9.9.{number}, 127.0.0.1"}
    return proxy.ask("POST", f"/s/{survey.slug}/code.json", body, source, **JSON, **made_up)[0]


def test_a_made_up_address_counts_for_nothing(site: Site) -> None:
    """Each try names another one of the internet; all of them count as what the proxy saw, which is none of it."""
    (code,) = factories.invite(site.served.database_url, site.survey.slug, 1)
    statuses = [look(site.proxy, site.survey, code, "127.0.0.2", number) for number in range(LOOKS + 2)]
    assert statuses == [200] * LOOKS + [429] * 2


def find_traces(site: Site) -> list[str]:
    """What the proxy keeps of somebody who came, and came again when Moneda was gone."""
    proxy, survey = site.proxy, site.survey
    response = survey.response()
    body = json.dumps(response).encode()
    asked = [("GET", f"/s/{survey.slug}", b""), ("POST", survey.url, body)]
    assert [proxy.ask(*each, **JSON)[0] for each in asked] == [200, 201]
    os.killpg(site.served.process.pid, signal.SIGKILL)
    site.served.process.wait(30)
    assert [proxy.ask(*each, **JSON)[0] for each in asked] == [502, 502]
    text = proxy.read_files()
    return [each for each in ("127.0.0.2", survey.slug, str(response["id"])) if each in text]


def test_it_keeps_nothing_of_who_came(site: Site) -> None:
    assert find_traces(site) == []


CARELESS = {
    "nginx": {"emerg": "error"},
    "caddy": {"exclude http.log.error http.handlers.reverse_proxy": "level ERROR"},
}


@pytest.mark.parametrize("name", PROXIES)
def test_a_log_of_errors_would_be_noticed(name: str, sqlite: NewDatabase, tmp_path: Path) -> None:
    """The broken twin: as these proxies log unless they are told not to."""
    database_url = sqlite(True)
    secure, upstream = factories.free_port(), factories.free_port()
    with (
        factories.serving(database_url, port=upstream) as served,
        PROXIES[name](tmp_path, secure, upstream, CARELESS[name]) as proxy,
    ):
        found = find_traces(Site(proxy, served, factories.publish(database_url)))
    assert {"127.0.0.2"} < set(found)


def test_without_tls_it_leads_to_the_address_with(site: Site) -> None:
    status, where = site.proxy.ask_plainly("/s/x")
    assert status == 308
    assert where.startswith("https://")


def test_who_comes_through_tor_cannot_name_an_address(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    secure, upstream = factories.free_port(), factories.free_port()
    settings = {
        "MONEDA_PUBLIC_URL": f"https://localhost:{secure} http://abc.onion",
        "MONEDA_TRUSTED_PROXIES": "127.0.0.1",
    }
    survey = factories.publish(database_url)
    (code,) = factories.invite(database_url, survey.slug, 1)
    body = json.dumps({"invitation": code})
    with (
        factories.serving(database_url, port=upstream, **settings),
        run_nginx(tmp_path, secure, upstream) as proxy,
    ):
        statuses = []
        for number in range(LOOKS + 1):
            connection = HTTPConnection("127.0.0.1", proxy.onion, timeout=30)
            headers = {**JSON, "Host": "abc.onion", "X-Forwarded-For": f"203.0.113.{number}"}
            connection.request("POST", f"/s/{survey.slug}/code.json", body, headers)
            statuses.append(connection.getresponse().status)
            connection.close()
    assert statuses == [200] * LOOKS + [429]


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.proxy_programs._ON_PATH", "")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="need squid, and found none"):
        find_program("squid")
    assert set(PROGRAMS) == {*PROXIES, "tor"}
