"""Looking at a code before the questions: told what a response would be told, rate-limited, and nothing changes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.config import Config
from server.web.front import address_memory
from server.web.front.look_limits import MINUTES, MOST_LOOKS, LookLimit
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, dump
from tests.support.form_client import Browser
from tests.support.front_client import create_app

LIMIT = MOST_LOOKS


def look(client: FlaskClient, link: str, code: object, **more: Any) -> TestResponse:
    return client.post(f"/s/{link}/code.json", json={"invitation": code}, **more)


def read_answer(answer: TestResponse) -> tuple[int, Mapping[str, str]]:
    """Status, and what is said of the field."""
    document = answer.json
    assert document is not None
    return answer.status_code, document.get("error", document)


def test_a_code_is_looked_at_before_and_after_it_was_used(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    used, other = factories.invite(database_url, survey.slug, 2)
    assert read_answer(look(client, survey.slug, used)) == (200, {"status": "unused"})
    assert client.post(survey.url, json=survey.response(invitation=used)).status_code == 201
    status, said = read_answer(look(client, survey.slug, used))
    assert (status, said["field"]) == (409, "invitation")
    assert said["message"] == "must be new; this one was used already"
    # As it was typed, as for a response.
    assert look(client, survey.slug, f" {other.lower()}.").status_code == 200
    assert look(client, survey.slug, f"https://example.org/s/{survey.slug}#{other}").status_code == 200


def test_looking_changes_nothing_and_spends_nothing(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    before = dump(database_url)
    for sent in (code, "0000-0000-0000-0000", "no code"):
        look(client, survey.slug, sent)
    for method in ("get", "head", "put", "delete"):
        answer = getattr(client, method)(f"/s/{survey.slug}/code.json", json={"invitation": code})
        assert answer.status_code in (403, 405)
    assert dump(database_url) == before
    assert client.post(survey.url, json=survey.response(invitation=code)).status_code == 201


def test_nothing_is_told_that_a_response_would_not_be_told(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    """In the same words: for codes of other links and surveys, for none at all, and where no response is missing."""
    links = factories.plant(database_url, survey.slug, "North\nSouth")
    other = factories.publish(database_url)
    (here,) = factories.invite(database_url, survey.slug, 1, links["North"])
    (beside,) = factories.invite(database_url, survey.slug, 1, links["South"])
    (foreign,) = factories.invite(database_url, other.slug, 1)
    url = f"/s/{links['North']}/responses"
    assert client.post(url, json=survey.response(invitation=here)).status_code == 201
    for cap in (1, None):
        factories.settle(database_url, survey.slug, cap=cap)
        for code in (here, beside, foreign, "0000-0000-0000-0000", "none", 7, None):
            answer = client.post(url, json=survey.response(invitation=code))
            assert read_answer(look(client, links["North"], code)) == read_answer(answer), code
    assert read_answer(look(client, links["South"], here)) == read_answer(
        look(client, links["South"], foreign)
    )


def test_where_no_code_is_asked_for_or_nothing_is_taken_it_says_so(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)

    def status() -> tuple[int, str]:
        answer, said = read_answer(look(client, survey.slug, code))
        return answer, said.get("field", "")

    assert read_answer(look(client, "bcdf23ghjk45", code))[0] == 404
    factories.settle(database_url, survey.slug, paused=True)
    assert status() == (423, "survey")
    factories.settle(database_url, survey.slug, paused=False, by_invitation=False)
    assert status() == (410, "invitation")
    factories.settle(database_url, survey.slug, by_invitation=True)
    assert status() == (200, "")
    factories.close(database_url, survey.slug)
    assert status() == (410, "survey")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"[]", "application/json", 422),
        (b"{}", "application/json", 422),
        (b'{"invitation": "0000-0000-0000-0000", "more": 1}', "application/json", 422),
        (b'{"invitation": "0000-0000-0000-0000"}', "text/plain", 415),
        (b'{"invitation": "' + b"0" * 5000 + b'"}', "application/json", 413),
    ],
)
def test_bad_input_is_refused(
    body: bytes, kind: str, status: int, client: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.settle(database_url, survey.slug, by_invitation=True)
    answer = client.post(f"/s/{survey.slug}/code.json", data=body, content_type=kind)
    assert answer.status_code == status
    assert answer.headers["Cache-Control"] == "no-store"


def test_another_site_cannot_look(client: FlaskClient, survey: Published, database_url: str) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    answer = look(client, survey.slug, code, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


@pytest.fixture
def from_sqlite(sqlite: NewDatabase) -> tuple[Flask, str]:
    """The site on SQLite: what is counted does not depend on the database."""
    database_url = sqlite(True)
    return create_app(Config(database_url=database_url)), database_url


def test_a_list_of_codes_cannot_be_watched(from_sqlite: tuple[Flask, str]) -> None:
    """Every look counts, whatever it finds; a header of one's own is no other address; responses still go in."""
    app, database_url = from_sqlite
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, LIMIT)
    client = app.test_client()
    for place, code in enumerate(codes):
        answer = look(client, survey.slug, code, headers={"X-Forwarded-For": f"203.0.113.{place % 250}"})
        assert answer.status_code == 200
    status, said = read_answer(
        look(client, survey.slug, codes[0], headers={"X-Forwarded-For": "198.51.100.9"})
    )
    assert (status, said["field"]) == (429, "invitation")
    assert client.post(survey.url, json=survey.response(invitation=codes[0])).status_code == 201
    assert look(client, survey.slug, codes[0]).status_code == 429
    # They are not taken for wrong passwords, which are counted too.
    wrong = {"login": "nobody", "password": "not a password of anybody"}
    assert client.post("/manage/sign-in", data=wrong).status_code == 403
    # Somebody else's looks are counted apart, and at an address that many have, those by another link.
    elsewhere = Browser(app, response_wrapper=app.response_class)
    answer = look(elsewhere, survey.slug, codes[0], environ_base={"REMOTE_ADDR": "9.9.9.9"})
    assert answer.status_code == 409
    answer = look(elsewhere, survey.slug, codes[1], environ_base={"REMOTE_ADDR": "10.0.0.7"})
    assert answer.status_code == 429
    other = factories.publish(database_url)
    (code,) = factories.invite(database_url, other.slug, 1)
    assert look(client, other.slug, code).status_code == 200
    # Whoever cannot look answers all the same.
    assert client.post(survey.url, json=survey.response(invitation=codes[1])).status_code == 201
    app.extensions["moneda.engine"].dispose()


def test_a_switch_is_seen_by_the_next_look(client: FlaskClient, survey: Published, database_url: str) -> None:
    """What is remembered of a link is never older than its last change."""
    (code,) = factories.invite(database_url, survey.slug, 1)
    for invited in (True, False, True):
        factories.settle(database_url, survey.slug, by_invitation=invited)
        for _ in range(2):
            assert look(client, survey.slug, code).status_code == (200 if invited else 410)
    assert json.loads(look(client, survey.slug, code).data) == {"status": "unused"}


def test_processes_of_a_server_share_the_looks() -> None:
    """They count in memory, each its part: together no more than one process lets through."""
    for processes in (1, 4, 64):
        limits = [LookLimit(processes) for _ in range(processes)]
        for who in ("9.9.9.9", "127.0.0.1"):
            looks = [limit.take(who, "a") for limit in limits for _ in range(2 * LIMIT)]
            assert 0 < sum(looks) <= LIMIT


def test_ten_minutes_later_everybody_may_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public address is counted for all links together; one of many people, of whatever name, for each link."""
    now = 0.0
    monkeypatch.setattr(address_memory, "monotonic", lambda: now)
    limit = LookLimit(1)
    for _round in range(2):
        assert [limit.take("9.9.9.9", f"{place}") for place in range(LIMIT + 1)] == [True] * LIMIT + [False]
        for link in ("a", "b"):
            looks = [
                limit.take(("127.0.0.1", "fd00::/64", "")[place % 3], link) for place in range(LIMIT + 1)
            ]
            assert looks == [True] * LIMIT + [False]
        now += 60 * MINUTES


def test_however_many_look_no_more_are_kept_and_nobody_looks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_memory, "MOST", 20)
    limit = LookLimit(1)
    assert all(limit.take("9.9.9.9", "a") for _ in range(LIMIT))
    looks = [limit.take(f"2a00:{place:x}::/64", "a") for place in range(200)]
    assert looks == [True] * 19 + [False] * 181
    assert len(limit.memory.recall().values) == 20
    assert not limit.take("9.9.9.9", "a")
