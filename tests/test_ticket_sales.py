"""Tickets over HTTP: one length whatever is asked, one of two racing clients, and what becomes of keys."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.config import Config
from server.web.front.arrival_limits import AT_ONCE
from tests.conftest import NewDatabase
from tests.support import factories, ticket_buyers
from tests.support.backups import back_up, restore
from tests.support.factories import Published, dump
from tests.support.front_client import create_app
from tests.support.ticket_buyers import Blinded, draw, find_key, read_text, write_text


@pytest.fixture
def survey(database_url: str) -> Published:
    return ticket_buyers.publish(database_url)[0]


def ask(client: FlaskClient, slug: str, code: object, blinded: Blinded, **more: Any) -> TestResponse:
    body = {"invitation": code, "blinded": write_text(blinded.sent)}
    return client.post(f"/s/{slug}/ticket.json", json=body, **more)


def test_every_ticket_is_answered_in_one_length(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    codes = factories.invite(database_url, survey.slug, 9)
    key = find_key(database_url, survey.slug)
    answers = [ask(client, survey.slug, code, draw(key)) for code in codes]
    assert {answer.status_code for answer in answers} == {200}
    assert len({len(answer.data) for answer in answers}) == 1
    documents = [answer.json for answer in answers]
    assert [sorted(document or {}) for document in documents] == [["among", "signature"]] * 9
    # A minimum of 1 is told in steps of 1, and never that all have bought.
    assert [document and document["among"] for document in documents] == [1, 2, 3, 4, 5, 6, 7, 8, 8]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"invitation": "0123-4567-89AB-CDEF"}, "body"),
        ({"invitation": "0123-4567-89AB-CDEF", "blinded": "A" * 342, "more": 1}, "body"),
        ({"invitation": "0123", "blinded": "A" * 342}, "invitation"),
        ({"invitation": "0123-4567-89AB-CDEF", "blinded": "A" * 341}, "blinded"),
        ({"invitation": "0123-4567-89AB-CDEF", "blinded": "A" * 341 + "B"}, "blinded"),
        ({"invitation": "0123-4567-89AB-CDEF", "blinded": "+" * 342}, "blinded"),
        ({"invitation": "0123-4567-89AB-CDEF", "blinded": 7}, "blinded"),
    ],
)
def test_what_cannot_be_a_purchase_is_refused(
    client: FlaskClient, survey: Published, body: dict[str, object], field: str
) -> None:
    answer = client.post(f"/s/{survey.slug}/ticket.json", json=body)
    assert (answer.status_code, answer.json and answer.json["error"]["field"]) == (422, field)


def test_a_refused_purchase_spends_nothing(client: FlaskClient, survey: Published, database_url: str) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    key = find_key(database_url, survey.slug)
    large = Blinded(key, b"", b"\xff" * 256, 1)
    before = dump(database_url)
    assert ask(client, survey.slug, code, large).status_code == 422
    for method in ("get", "head", "put", "delete"):
        assert getattr(client, method)(f"/s/{survey.slug}/ticket.json").status_code in (403, 405)
    factories.settle(database_url, survey.slug, paused=True)
    assert ask(client, survey.slug, code, draw(key)).status_code == 423
    factories.settle(database_url, survey.slug, paused=False)
    assert dump(database_url)["invitations"] == before["invitations"]
    plain = factories.publish(database_url)
    (other,) = factories.invite(database_url, plain.slug, 1)
    answer = ask(client, plain.slug, other, draw(key))
    assert (answer.status_code, answer.json and answer.json["error"]["field"]) == (410, "blinded")
    assert client.post(plain.url, json=plain.response(ticket="A" * 384, invitation=other)).status_code == 410


def test_a_full_survey_sells_no_ticket_and_answers_what_was_bought_alike(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    """To a page that was opened before it was full: the code would be used for nothing."""
    codes = factories.invite(database_url, survey.slug, 3)
    first, lost, late = (draw(find_key(database_url, survey.slug)) for _ in codes)
    sold = ask(client, survey.slug, codes[0], first).json
    assert sold is not None
    bought = ask(client, survey.slug, codes[1], lost).json
    assert bought is not None
    ticket = first.finish(read_text(sold["signature"]))
    factories.settle(database_url, survey.slug, cap=1)
    assert client.post(survey.url, json=survey.response(ticket=ticket)).status_code == 201
    before = dump(database_url)["invitations"]
    answer = ask(client, survey.slug, codes[2], late)
    assert (answer.status_code, answer.json and answer.json["error"]["field"]) == (410, "survey")
    assert dump(database_url)["invitations"] == before
    again = ask(client, survey.slug, codes[1], lost).json
    assert again is not None
    assert again["signature"] == bought["signature"]
    factories.settle(database_url, survey.slug, cap=2)
    assert ask(client, survey.slug, codes[2], late).status_code == 200


def test_who_asks_too_often_is_asked_to_wait(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url, proxies=(ip_network("127.0.0.1"),)))
    survey, _ = ticket_buyers.publish(database_url)
    blinded = draw(find_key(database_url, survey.slug))
    client = app.test_client()

    def send(address: str) -> TestResponse:
        headers = {"X-Forwarded-For": address}
        return ask(client, survey.slug, "0123-4567-89AB-CDEF", blinded, headers=headers)

    statuses = [send("9.9.9.9").status_code for _ in range(AT_ONCE + 200)]
    assert set(statuses[:AT_ONCE]) == {422}
    assert 429 in statuses
    assert send("8.8.8.8").status_code == 422
    app.extensions["moneda.engine"].dispose()


def race(served: factories.Served, url: str, bodies: list[dict[str, object]]) -> list[int]:
    start = Barrier(len(bodies))

    def send(body: dict[str, object]) -> int:
        start.wait(60)
        return factories.ask(f"{served.url}{url}", body)[0]

    with ThreadPoolExecutor(len(bodies)) as clients:
        return list(clients.map(send, bodies))


def test_a_code_that_several_race_for_buys_one_ticket_and_a_ticket_lets_one_in(
    new_database: NewDatabase,
) -> None:
    database_url = new_database(True)
    survey, _ = ticket_buyers.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 5)
    key = find_key(database_url, survey.slug)
    with factories.serving(database_url) as served:
        for code in codes:
            asked = [{"invitation": code, "blinded": write_text(draw(key).sent)} for _ in range(8)]
            assert Counter(race(served, f"/s/{survey.slug}/ticket.json", list(asked))) == {200: 1, 409: 7}
        for ticket in ticket_buyers.make_tickets(database_url, survey.slug, 5):
            statuses = race(served, survey.url, [survey.response(ticket=ticket) for _ in range(8)])
            assert Counter(statuses) == {201: 1, 409: 7}
    assert len(dump(database_url)["purchases"]) == len(dump(database_url)["tickets"]) == 5


def test_two_processes_that_are_sent_one_ticket_at_once_let_one_in_and_say_why(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    """Neither sees what the other has not written yet: no failure, and no reason to send again."""
    database_url = new_database(True)
    survey, _ = ticket_buyers.publish(database_url)
    complaints = tmp_path / "complaints"
    with (
        complaints.open("w") as log,
        factories.serving(database_url, log=log) as one,
        factories.serving(database_url, log=log) as other,
    ):
        for ticket in ticket_buyers.make_tickets(database_url, survey.slug, 15):
            start = Barrier(2)

            def send(served: factories.Served, start: Barrier = start, ticket: str = ticket) -> int:
                body = survey.response(ticket=ticket)
                start.wait(60)
                return factories.ask(f"{served.url}{survey.url}", body)[0]

            with ThreadPoolExecutor(2) as clients:
                assert sorted(clients.map(send, (one, other))) == [201, 409]
    assert len(dump(database_url)["tickets"]) == len(dump(database_url)["responses"]) == 15
    assert "IntegrityError" not in complaints.read_text()


def test_a_key_that_is_lost_sells_nothing_and_what_was_bought_is_taken(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(tmp_path / "secrets.key"))
    survey, _ = ticket_buyers.publish(database_url)
    code, other = factories.invite(database_url, survey.slug, 2)
    blinded = draw(find_key(database_url, survey.slug))
    done = factories.run(database_url, "rotate-key", "--json")
    assert done.exit_code == 0, done.output
    app = create_app(Config(database_url=database_url))
    client = app.test_client()
    sold = ask(client, survey.slug, code, blinded)
    assert sold.status_code == 200
    (tmp_path / "secrets.key").unlink()
    refused = ask(client, survey.slug, other, draw(blinded.modulus))
    assert (refused.status_code, refused.json and refused.json["error"]["field"]) == (410, "key")
    assert "Retry-After" not in refused.headers  # asking again does not help
    assert sold.json is not None
    ticket = blinded.finish(read_text(sold.json["signature"]))
    assert client.post(survey.url, json=survey.response(ticket=ticket)).status_code == 201
    assert sorted(row[2] for row in dump(database_url)["invitations"]) == [False, True]
    app.extensions["moneda.engine"].dispose()


def test_a_backup_takes_tickets_along_sealed_or_leaves_them_out(
    database_url: str, tmp_path: Path, new_database: NewDatabase
) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 3)
    app = create_app(Config(database_url=database_url))
    client = app.test_client()
    blinded = draw(find_key(database_url, survey.slug))
    sold = ask(client, survey.slug, codes[0], blinded).json
    assert sold is not None
    (spent,) = ticket_buyers.make_tickets(database_url, survey.slug, 1)
    assert client.post(survey.url, json=survey.response(ticket=spent)).status_code == 201
    app.extensions["moneda.engine"].dispose()
    back_up(database_url, tmp_path / "all")
    back_up(database_url, tmp_path / "less", "--without-running")
    whole, less = new_database(False), new_database(False)
    restore(whole, tmp_path / "all")
    restore(less, tmp_path / "less")
    before, after, left = (dump(url) for url in (database_url, whole, less))
    assert {name: after[name] for name in ("purchases", "tickets", "ticket_keys")} == {
        name: before[name] for name in ("purchases", "tickets", "ticket_keys")
    }
    assert (left["purchases"], left["tickets"], [row[3] for row in left["ticket_keys"]]) == ([], [], [None])
    there = create_app(Config(database_url=whole))
    again = ask(there.test_client(), survey.slug, codes[0], blinded)
    assert again.json == sold
    ticket = blinded.finish(read_text(sold["signature"]))
    assert there.test_client().post(survey.url, json=survey.response(ticket=spent)).status_code == 409
    assert there.test_client().post(survey.url, json=survey.response(ticket=ticket)).status_code == 201
    there.extensions["moneda.engine"].dispose()
