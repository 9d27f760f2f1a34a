"""Where the site is: what a request claims about it, and about where it comes from, counts for nothing."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from flask import Flask

from server.config import Config, from_environment
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served
from tests.support.front_client import create_app
from tests.support.sign_in_form import PASSWORD

WEB, ONION = "https://example.org", "http://moneda7abcdefghij.onion"


@pytest.fixture
def public(database_url: str) -> Iterator[Flask]:
    """A site that is reached on the web and over Tor."""
    made = create_app(Config(database_url=database_url, public_urls=(WEB, ONION)))
    yield made
    made.extensions["moneda.engine"].dispose()


def guess(served: Served, password: str, forwarded: str) -> int:
    form = {"login": "ana", "password": password}
    status, _headers, _body = factories.fill_in(
        f"{served.url}/manage/sign-in", form, **{"X-Forwarded-For": forwarded}
    )
    return status


def test_a_new_address_in_each_try_is_no_way_around_the_limit(installation: Served) -> None:
    """Over the real front, from the machine itself, as a proxy there would."""
    factories.account(installation.database_url, "ana", PASSWORD)
    statuses = [guess(installation, "not the password", f"203.0.113.{number}") for number in range(102)]

    assert statuses == [403] * 100 + [429] * 2
    assert guess(installation, PASSWORD, "198.51.100.1") == 429


@pytest.mark.parametrize("command", ["serve", "demo"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104 - it is refused
def test_others_reach_it_by_a_stated_address_or_not_at_all(
    command: str, host: str, sqlite: NewDatabase
) -> None:
    done = factories.run(sqlite(True), command, "--host", host)

    (line,) = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert line.startswith("Error: MONEDA_PUBLIC_URL must name the address that people use")
    assert line.endswith(f"--host is {host}")


def sign_in(app: Flask, database_url: str, host: str) -> str:
    """Use a sign-in link; the cookie that comes back, with its attributes."""
    path = f"/manage/sign-in/{factories.sign_in_secret(database_url)}"
    answer = app.test_client(use_cookies=False).post(path, headers={"Host": host})
    assert answer.status_code == 303
    return answer.headers["Set-Cookie"]


def links(app: Flask, cookie: str, slug: str, host: str) -> set[str]:
    """Where the links of a survey and of invitations lead, for whoever names this host."""
    browser, here = app.test_client(use_cookies=False), {"Host": host, "Cookie": cookie.partition(";")[0]}
    pages = [
        browser.get(f"/manage/surveys/{slug}/links", headers=here),
        browser.post(
            f"/manage/surveys/{slug}/people/invite", data={"name": "Zoe", "role": "viewer"}, headers=here
        ),
        browser.post("/manage/colleagues/invite", data={"name": "Zoe"}, headers=here),
    ]
    assert [page.status_code for page in pages] == [200, 201, 201]
    found = [re.findall(r"https?://[^\s\"<]+/(?:s|manage/invitation)/", page.text) for page in pages]
    assert all(found)
    return {"{0.scheme}://{0.netloc}".format(urlsplit(link)) for each in found for link in each}


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("evil.example", "http://127.0.0.1:80"),
        ("localhost.evil.example", "http://127.0.0.1:80"),
        ("localhost:8001", "http://localhost:8001"),
        ("[::1]:8001", "http://[::1]:8001"),
    ],
)
def test_no_link_names_a_host_that_is_made_up(
    host: str, shown: str, app: Flask, survey: Published, database_url: str
) -> None:
    assert links(app, sign_in(app, database_url, host), survey.slug, host) == {shown}


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("example.org", WEB),
        ("EXAMPLE.org:443", WEB),
        (ONION.partition("//")[2], ONION),
        ("example.org:444", WEB),
        ("evil.example", WEB),
        ("127.0.0.1:8000", WEB),
    ],
)
def test_links_are_those_of_the_site_that_one_came_to(
    host: str, shown: str, public: Flask, survey: Published, database_url: str
) -> None:
    cookie = sign_in(public, database_url, host)

    assert links(public, cookie, survey.slug, host) == {shown}
    assert ("Secure" in cookie) == (shown == WEB)  # a browser need not send it back where there is no https


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (WEB, 201),
        (f"{WEB}:443", 201),
        (ONION, 201),
        ("http://example.org", 403),
        ("https://example.org:80", 403),
        ("https://moneda7abcdefghij.onion", 403),
        ("http://localhost", 403),
    ],
)
def test_origin_is_compared_with_its_scheme(
    origin: str, status: int, public: Flask, survey: Published
) -> None:
    """Where a proxy names another host to the server, too."""
    for host in ("example.org", "localhost"):
        answer = public.test_client().post(
            survey.url, json=survey.response(), headers={"Origin": origin, "Host": host}
        )
        assert answer.status_code == status
        form = {"login": "ana", "password": "x"}
        sent = public.test_client().post(
            "/manage/sign-out", data=form, headers={"Origin": origin, "Host": host}
        )
        assert sent.status_code == {201: 303, 403: 403}[status]


@pytest.mark.parametrize(
    "url", ["example.org", "https://", "https://a b.org, ftp://b.org", "https://x:99999"]
)
def test_public_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="MONEDA_PUBLIC_URL must start with http:// or https:// and a host"):
        from_environment({"MONEDA_PUBLIC_URL": url})


def test_several_public_addresses() -> None:
    assert from_environment({"MONEDA_PUBLIC_URL": f"{WEB}/ {ONION}"}).public_urls == (WEB, ONION)


@pytest.mark.parametrize("text", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "*"])
def test_proxy_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"MONEDA_TRUSTED_PROXIES must be addresses or networks"):
        from_environment({"MONEDA_TRUSTED_PROXIES": f"127.0.0.1 {text}"})
