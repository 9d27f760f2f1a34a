"""Who may do what: other sites, people who have not signed in, other researchers, links that sign in."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.people import survey_access
from server.releases.searches import open_search, parse_terms
from server.store.models import SignIn, SignInLink
from tests.support import factories, sample_releases
from tests.support.factories import Published, dump
from tests.test_headers import addresses

ELSEWHERE = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    {"Sec-Fetch-Site": "nonsense"},
    {"Origin": "http://example.org"},
    {"Origin": "http://localhost.example.org"},
    {"Origin": "http://localhost:8001"},
    {"Origin": "https://localhost"},
    {"Origin": "ftp://localhost"},
    {"Origin": "null"},
    {"Origin": "localhost"},
    {"Origin": "http://[::1"},
]
OPEN = {
    "/manage/sign-in",
    "/manage/sign-in/<secret>",
    "/manage/sign-out",
    "/manage/invitation/<secret>",
    "/manage/",
}
"""What a researcher needs in order to sign in or to make an account; the last only leads to the guarded pages."""
HERE = [
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://other.example.org"},
    {"Origin": "http://localhost"},
    {"Origin": "http://localhost:80"},
    {},
]


def test_request_of_another_site_is_refused_on_every_route_that_changes_something(
    app: Flask, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    before = dump(database_url)
    posts = [(method, path) for method, _rule, path in addresses(app, survey.slug) if method == "POST"]
    assert len(posts) >= 7

    for method, path in posts:
        for headers in ELSEWHERE:
            answer = signed_in.open(path, method=method, headers=headers, json=survey.response())
            assert answer.status_code == 403, (path, headers)
    assert dump(database_url) == before


@pytest.mark.parametrize("headers", HERE)
def test_request_of_this_site_is_let_through(
    headers: dict[str, str], client: FlaskClient, survey: Published
) -> None:
    assert client.post(survey.url, json=survey.response(), headers=headers).status_code == 201


def test_without_signing_in_every_page_of_researchers_leads_to_signing_in(
    app: Flask, client: FlaskClient, survey: Published, database_url: str
) -> None:
    before = dump(database_url)
    for cookie in ("", "guessed", "\udcff" * 10, "a" * 3000):
        if cookie:
            client.set_cookie("moneda_sign_in", cookie.encode("utf-8", "replace").decode(), path="/manage")
        for method, rule, path in addresses(app, survey.slug):
            if method == "OPTIONS" or not rule.startswith("/manage") or rule in OPEN:
                continue
            answer = client.open(path, method=method)
            assert (answer.status_code, answer.location) == (302, "/manage/sign-in"), (method, path)
    assert dump(database_url) == before


def test_other_researchers_survey_does_not_exist(app: Flask, survey: Published, database_url: str) -> None:
    stranger = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url, owner="Other"))
    unknown = "nosuchsurvey"
    before = dump(database_url)
    visited = 0

    for method, rule, path in addresses(app, survey.slug):
        if "/manage/" in rule and "<slug>" in rule and method != "OPTIONS":
            theirs = stranger.open(path, method=method)
            nobodys = stranger.open(path.replace(survey.slug, unknown), method=method)
            assert (theirs.status_code, nobodys.status_code) == (404, 404), (method, path)
            assert theirs.text.replace(survey.slug, unknown) == nobodys.text, (method, path)
            visited += 1

    assert visited >= 20
    assert survey.slug not in stranger.get("/manage/surveys").text
    assert dump(database_url) == before


def test_owner_reaches_what_the_stranger_does_not(
    app: Flask, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    """The other side of the test above: the same pages exist for the owner."""
    links = factories.plant(database_url, survey.slug, "North\nSouth").values()
    later = {**survey.definition, "title": "Another version"}
    for version in (survey, factories.publish(database_url, later, survey.slug)):
        for link in links:
            factories.store(database_url, version, [([0, 1], 60)], link)  # a figure is of something
    asked = {"first_stratum": "North", "second_stratum": "South", "row": "q1", "column": "q2"}
    asked |= {"question": "q1", "explain": "q1", "by": "stratum"}
    sample_releases.grant(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        terms = parse_terms({"share": "0.2", "positives": 1, "epsilon": "0.1"})
        assert open_search(session, found, terms, None) == 1  # the number in every address
    (released,) = sample_releases.release(database_url, survey.slug, {"kind": "count"}, epsilon="1")
    asked |= {"entry": str(released.entry), "figure": "1"}
    for method, rule, path in addresses(app, survey.slug):
        if method == "GET" and "/manage/" in rule and "<slug>" in rule:
            status = signed_in.get(path, query_string=asked).status_code
            # Of a single day, or without a plan, there is nothing to draw: which it says.
            assert status == 200 or (status == 409 and path.endswith((".svg", ".png", ".csv"))), path


def test_sign_in_link_is_not_used_up_by_looking_at_it(client: FlaskClient, database_url: str) -> None:
    path = f"/manage/sign-in/{factories.sign_in_secret(database_url)}"

    for method in ("GET", "HEAD", "OPTIONS", "GET"):
        answer = client.open(path, method=method)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (200, False)

    assert client.post(path).status_code == 303
    assert client.get("/manage/surveys").status_code == 200


def test_sign_in_link_works_once(app: Flask, database_url: str) -> None:
    path = f"/manage/sign-in/{factories.sign_in_secret(database_url)}"
    app.test_client().post(path)
    second = app.test_client()

    assert second.post(path).status_code == 403
    assert second.get("/manage/surveys").status_code == 302


def test_sign_in_link_works_once_for_many_at_the_same_moment(app: Flask, database_url: str) -> None:
    path = f"/manage/sign-in/{factories.sign_in_secret(database_url)}"
    together = Barrier(8)

    def press(_number: int) -> int:
        together.wait()
        return app.test_client().post(path).status_code

    with ThreadPoolExecutor(8) as people:
        statuses = sorted(people.map(press, range(8)))

    assert statuses == [303] + [403] * 7
    assert len(dump(database_url)["sign_ins"]) == 1


def test_new_sign_in_link_replaces_the_one_before(client: FlaskClient, database_url: str) -> None:
    old, new = factories.sign_in_secret(database_url), factories.sign_in_secret(database_url)

    assert client.post(f"/manage/sign-in/{old}").status_code == 403
    assert client.post(f"/manage/sign-in/{new}").status_code == 303


def test_sign_in_link_and_sign_in_expire(app: Flask, database_url: str) -> None:
    def age(table: type[SignInLink] | type[SignIn], by: timedelta) -> None:
        with factories.writing(database_url) as session:
            for row in session.scalars(sa.select(table)):
                row.expires_at -= by

    late, early, browser = app.test_client(), app.test_client(), app.test_client()
    secret = factories.sign_in_secret(database_url)
    age(SignInLink, timedelta(hours=24))
    assert late.post(f"/manage/sign-in/{secret}").status_code == 403

    secret = factories.sign_in_secret(database_url)
    age(SignInLink, timedelta(hours=23, minutes=59))
    assert early.post(f"/manage/sign-in/{secret}").status_code == 303

    factories.sign_in(browser, factories.sign_in_secret(database_url))
    age(SignIn, timedelta(days=13, hours=23))
    assert browser.get("/manage/surveys").status_code == 200
    age(SignIn, timedelta(hours=1))
    assert browser.get("/manage/surveys").status_code == 302


def test_signing_out_ends_the_sign_in_on_the_server(app: Flask, signed_in: FlaskClient) -> None:
    cookie = signed_in.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None
    signed_in.post("/manage/sign-out")
    thief = app.test_client()
    thief.set_cookie("moneda_sign_in", cookie.value, path="/manage")

    assert thief.get("/manage/surveys").status_code == 302


def test_database_holds_no_secret_that_signs_in(app: Flask, database_url: str) -> None:
    unused = factories.sign_in_secret(database_url, owner="Other")
    used = factories.sign_in_secret(database_url)
    browser = factories.sign_in(app.test_client(), used)
    cookie = browser.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None

    held = repr(dump(database_url))
    assert not [secret for secret in (unused, used, cookie.value) if secret in held]
