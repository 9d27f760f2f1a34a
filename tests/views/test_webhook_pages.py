"""Webhooks as researchers and programs set them up, and what those who may not are told."""

import html
import json
import re
from collections.abc import Mapping

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.config import Config
from server.people import api_tokens
from server.store.models import AuditEntry, Researcher, Webhook, WebhookDelivery
from server.store.sealed_secrets import unseal
from server.web.webhooks.webhook_rows import MOST
from tests.support import factories, sample_archives
from tests.support.front_client import create_app

URL = "https://hooks.example.org:8443/told?key=of-the-receiver"


def webhooks(url: str) -> list[Webhook]:
    with factories.writing(url) as session:
        return list(session.scalars(sa.select(Webhook)))


def log(url: str) -> list[tuple[str, Mapping[str, str]]]:
    with factories.writing(url) as session:
        entries = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id))
        return [(each.action, json.loads(each.details)) for each in entries if "webhook" in each.action]


def test_the_secret_is_shown_once_and_the_address_never_again(
    signed_in: FlaskClient, database_url: str, survey: factories.Published
) -> None:
    home = f"/manage/surveys/{survey.slug}/webhooks"
    page = signed_in.get(home).text
    assert page.index("Your webhooks") < page.index("None yet.")
    assert "on port 443 or 8443." in page
    made = signed_in.post(home, data={"url": URL})
    found = re.search(r"whsec_[A-Za-z0-9+/=]{44}", html.unescape(made.text))
    assert (made.status_code, found is not None) == (200, True)
    (webhook,) = webhooks(database_url)
    assert found is not None
    assert unseal(webhook.secret_sealed, webhook.id) == found[0]
    page = signed_in.get(home).text
    assert "hooks.example.org:8443" in page
    assert "of-the-receiver" not in page
    assert "whsec_" not in page

    tried = [signed_in.post(f"{home}/trial", data={"webhook": webhook.id}).status_code for _ in range(2)]
    assert tried == [303, 409]
    assert "on its way" in signed_in.get(home).text
    assert signed_in.post(f"{home}/revoke", data={"webhook": webhook.id}).status_code == 303
    assert webhooks(database_url) == []
    host = {"host": "hooks.example.org:8443"}
    assert log(database_url) == [
        ("webhook made", host),
        ("webhook tried", host),
        ("webhook revoked", host),
    ]


def test_a_survey_has_so_many_and_no_more(
    signed_in: FlaskClient, database_url: str, survey: factories.Published
) -> None:
    home = f"/manage/surveys/{survey.slug}/webhooks"
    made = [signed_in.post(home, data={"url": URL}).status_code for _ in range(MOST + 1)]
    assert made == [200] * MOST + [409]
    assert len(webhooks(database_url)) == MOST


def test_a_webhook_is_reached_through_its_own_survey_alone(
    signed_in: FlaskClient, database_url: str, survey: factories.Published
) -> None:
    other = factories.publish(database_url).slug
    signed_in.post(f"/manage/surveys/{survey.slug}/webhooks", data={"url": URL})
    (webhook,) = webhooks(database_url)
    for page in ("trial", "revoke"):
        for number in (webhook.id, "", "0" * 32, "\x00", "x" * 5000):
            sent = signed_in.post(f"/manage/surveys/{other}/webhooks/{page}", data={"webhook": number})
            assert sent.status_code == 404
    assert [each.id for each in webhooks(database_url)] == [webhook.id]


def test_where_the_operator_allows_none_there_is_no_form_and_nothing_is_made(
    database_url: str, survey: factories.Published
) -> None:
    app = create_app(Config(database_url=database_url))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    home = f"/manage/surveys/{survey.slug}/webhooks"
    page = client.get(home).text
    assert "This server sends no webhooks" in page
    assert 'name="url"' not in page
    assert home not in client.get(f"/manage/surveys/{survey.slug}").text
    assert client.post(home, data={"url": URL}).status_code == 409
    assert webhooks(database_url) == []
    app.extensions["moneda.engine"].dispose()


def calling(app: Flask, url: str, slug: str, role: str) -> FlaskClient:
    """A program of somebody who has this role in the survey."""
    number = factories.account(url, role)
    factories.join(url, slug, number, role)
    with factories.writing(url) as session:
        researcher = session.get_one(Researcher, number)
        token = api_tokens.create_token(session, researcher, None, role, "nightly", "3")
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


def test_programs_set_them_up_in_the_same_way(
    app: Flask, database_url: str, survey: factories.Published
) -> None:
    call, viewer = (calling(app, database_url, survey.slug, role) for role in ("editor", "viewer"))
    at = f"/api/v1/surveys/{survey.slug}/webhooks"
    made = call.post(at, json={"url": URL})
    assert (made.status_code, made.json.keys()) == (201, {"id", "secret"})
    number = made.json["id"]
    (listed,) = call.get(at).json["webhooks"]
    assert (listed["id"], listed["host"], listed["messages"]) == (number, "hooks.example.org:8443", [])
    tried = call.post(f"{at}/{number}/trial")
    assert [each["state"] for each in tried.json["webhooks"][0]["messages"]] == ["waiting"]
    assert call.post(f"{at}/{number}/trial").status_code == 409

    refused = call.post(at, json={"url": "https://127.0.0.1/"})
    assert (refused.status_code, refused.json["errors"][0]["field"]) == (422, "url")
    before = factories.dump(database_url)
    answers: list[TestResponse] = [
        viewer.get(at),
        viewer.post(at, json={"url": URL}),
        viewer.post(f"{at}/{number}/trial"),
        viewer.post(f"{at}/{number}/revoke"),
    ]
    assert [each.status_code for each in answers] == [403] * 4
    assert {name: rows for name, rows in factories.dump(database_url).items() if "webhook" in name} == {
        name: rows for name, rows in before.items() if "webhook" in name
    }
    assert call.post(f"{at}/{number}/revoke").json == {"webhooks": []}
    host = "hooks.example.org:8443"
    assert log(database_url) == [
        ("webhook made", {"host": host, "program": "nightly"}),
        ("webhook tried", {"host": host, "program": "nightly"}),
        ("webhook revoked", {"host": host, "program": "nightly"}),
    ]


@pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)
def test_an_archive_holds_none(
    signed_in: FlaskClient, database_url: str, survey: factories.Published
) -> None:
    signed_in.post(f"/manage/surveys/{survey.slug}/webhooks", data={"url": URL})
    factories.close(database_url, survey.slug)
    packed = sample_archives.pack(database_url, survey.slug)
    assert b"hooks.example.org" not in packed
    with factories.writing(database_url) as session:
        assert session.scalars(sa.select(WebhookDelivery)).all() == []
