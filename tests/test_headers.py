"""Headers, cookies and caches: the same on every route, error pages included."""

import re
from http.cookies import SimpleCookie

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from server.config import Config
from tests.support import factories
from tests.support.factories import Published
from tests.support.front_client import create_app

EXACT = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "X-Robots-Tag": "noindex",
}


def addresses(app: Flask, slug: str) -> list[tuple[str, str, str]]:
    """Method, rule and address of every route there is, so that a new one is covered by itself."""
    found = []
    values = {
        "slug": slug,
        "secret": "unknown",
        "fingerprint": "0" * 16,
        "link": slug,
        "name": "style.css",
        "batch": "1",
        "number": "1",
        "webhook": "0" * 32,
        "search": "1",
        "sha256": "0" * 64,
    }
    for rule in app.url_map.iter_rules():
        path = app.url_map.bind("localhost").build(rule.endpoint, _values(rule, values))
        found += [(method, rule.rule, path) for method in sorted(rule.methods or ())]
    assert len(found) > 40
    return found


def _values(rule: Rule, values: dict[str, str]) -> dict[str, str]:
    return {name: values[name] for name in rule.arguments}


def _with_headers(answer: TestResponse, **different: str) -> bool:
    expected = {**EXACT, **{name.replace("_", "-"): value for name, value in different.items()}}
    return all(answer.headers.getlist(name) == [value] for name, value in expected.items())


def _different(rule: str) -> dict[str, str]:
    """The editor holds a frame of this site; its script, and those of three other pages, read pages that they fetch."""
    policy = EXACT["Content-Security-Policy"]
    parsing = policy.replace("trusted-types 'none'", "trusted-types fetched-page")
    if rule in ("/manage/surveys/new", "/manage/surveys/<slug>/edit"):
        return {"Content_Security_Policy": f"{parsing}; frame-src 'self'"}
    if rule in ("/manage/elsewhere", "/manage/surveys/<slug>/results", "/manage/surveys/<slug>/board"):
        return {"Content_Security_Policy": parsing}
    if rule in ("/manage/surveys/<slug>/preview", "/manage/surveys/<slug>/simulate/look"):
        framed = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
        return {"Content_Security_Policy": framed, "X_Frame_Options": "SAMEORIGIN"}
    return {}


def test_only_pages_that_may_keep_themselves_name_a_worker_and_only_for_surveys(
    app: Flask, database_url: str, survey: Published
) -> None:
    browser = app.test_client()
    factories.settle(database_url, survey.slug, offline=True)
    policy = EXACT["Content-Security-Policy"].replace("trusted-types 'none'", "trusted-types offline-worker")
    page = browser.get(f"/s/{survey.slug}")
    assert _with_headers(page, Content_Security_Policy=policy)
    assert _with_headers(browser.get(f"/s/{survey.slug}/how"))
    assert _with_headers(browser.get(f"/s/{survey.slug}/tablet"))
    factories.settle(database_url, survey.slug, tablet=True)
    assert _with_headers(browser.get(f"/s/{survey.slug}/tablet"), Content_Security_Policy=policy)
    (worker,) = re.findall('data-offline="([^"]+)"', page.text)
    assert browser.get(worker).headers["Service-Worker-Allowed"] == "/s/"
    assert "Service-Worker-Allowed" not in browser.get(worker.replace("offline_worker", "answer")).headers
    factories.settle(database_url, survey.slug, paused=True)
    assert _with_headers(browser.get(f"/s/{survey.slug}"))


def test_every_route_sends_every_header(app: Flask, signed_in: FlaskClient, survey: Published) -> None:
    for browser in (app.test_client(), signed_in):
        for method, rule, path in addresses(app, survey.slug):
            answer = browser.open(path, method=method)

            assert answer.status_code < 500, (method, path)
            assert _with_headers(answer, **_different(rule)), (method, path)
            kept = rule == "/help" and method in ("GET", "HEAD")  # asked for again each time
            assert answer.headers["Cache-Control"] == ("no-cache" if kept else "no-store"), (method, path)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/s/unknown", 404),
        ("GET", "/s/unknown/survey.json", 404),
        ("GET", "/s/%00", 404),
        ("GET", "/s/" + "a" * 5000, 404),
        ("POST", "/", 405),
        ("DELETE", "/s/unknown/responses", 405),
        ("GET", "/manage/surveys/unknown/nowhere", 404),
        ("GET", "/client/0000000000000000/../app.py", 404),
        ("GET", "/client/0000000000000000/..%2fserver%2fapp.py", 404),
        ("GET", "/server/web/app.py", 404),
        ("GET", "/data/moneda.sqlite3", 404),
    ],
)
def test_error_page_sends_every_header(client: FlaskClient, method: str, path: str, status: int) -> None:
    answer = client.open(path, method=method)

    assert answer.status_code == status
    assert _with_headers(answer)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Traceback" not in answer.text


def test_mistake_of_ours_is_said_plainly_and_logged_without_the_request(
    app: Flask, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> str:
        raise ZeroDivisionError("secret words")

    app.add_url_rule("/broken", "broken", broken)
    app.add_url_rule("/broken.json", "broken_json", broken)

    page = client.get("/broken?answer=yes", headers={"User-Agent": "Somebodys-Phone"})
    error = client.get("/broken.json")

    assert (page.status_code, error.status_code) == (500, 500)
    assert _with_headers(page)
    assert _with_headers(error)
    assert error.get_json()["error"].keys() == {"field", "message"}
    for said in (page.text, error.text, caplog.text):
        assert not [word for word in ("secret words", "Somebodys", "Traceback") if word in said]
    assert "ZeroDivisionError" in caplog.text
    assert "answer=yes" not in caplog.text


def test_client_file_is_kept_for_good_under_its_fingerprint(client: FlaskClient) -> None:
    page = client.get("/").text
    address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]

    answer = client.get(address)

    assert answer.status_code == 200
    assert _with_headers(answer)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.mimetype == "text/css"
    assert "Set-Cookie" not in answer.headers


def test_no_respondent_route_sets_a_cookie(app: Flask, signed_in: FlaskClient, survey: Published) -> None:
    """Not even in the browser of a researcher who has chosen a language."""
    signed_in.get("/manage/surveys?lang=es")
    for browser in (app.test_client(), signed_in):
        for method, _rule, path in addresses(app, survey.slug):
            if not path.startswith("/manage"):
                for query in ("", "?lang=es"):
                    assert "Set-Cookie" not in browser.open(path + query, method=method).headers, (
                        method,
                        path,
                    )
        assert "Set-Cookie" not in browser.post(survey.url, json=survey.response()).headers


def test_researchers_cookies_are_sent_under_manage_only(client: FlaskClient, database_url: str) -> None:
    secret = factories.sign_in_secret(database_url)

    answers = [
        client.post(f"/manage/sign-in/{secret}"),
        client.get("/manage/surveys?lang=es"),
        client.post("/manage/sign-out"),
    ]

    for answer in answers:
        (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
        assert cookie["path"] == "/manage"
        if cookie.value:
            assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert client.get_cookie("moneda_sign_in", path="/manage") is None


def test_cookies_insist_on_https_where_the_site_has_it(database_url: str) -> None:
    app = create_app(Config(database_url=database_url, public_urls=("https://example.org",)))
    answer = app.test_client().post(f"/manage/sign-in/{factories.sign_in_secret(database_url)}")
    app.extensions["moneda.engine"].dispose()

    assert "Secure" in answer.headers["Set-Cookie"]
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize(
    "query",
    ["_scheme=javascript", "_external=1", "_method=PUT", "_anchor=x", "endpoint=home", "slug=x", "lang=xx"],
)
@pytest.mark.parametrize("where", ["/", "/s/unknown", "/manage/sign-in"])
def test_query_cannot_bend_the_links_of_a_page(client: FlaskClient, where: str, query: str) -> None:
    answer = client.get(f"{where}?{query}&a=%22%3E%3Cb%3E")

    assert answer.status_code in (200, 404)
    assert f'href="{where}?' in answer.text
    assert 'href="javascript' not in answer.text
    assert "<b>" not in answer.text
