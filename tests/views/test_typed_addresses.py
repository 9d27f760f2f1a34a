"""Addresses as people type and paste them lead where they were meant to, and never to another site."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from server.web.response_headers import headers
from tests.support.factories import Published


def follow(client: FlaskClient, address: str) -> tuple[int, Any]:
    """Status, and where it leads."""
    answer = client.get(address)
    if answer.status_code == 302:
        sent = {name: answer.headers[name] for name in headers(secure=False)}
        assert sent == headers(secure=False)
    return answer.status_code, answer.headers.get("Location")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/help/", "/help"),
        ("/help/guide//", "/help/guide"),
        ("/help/?lang=es&q=Ñ", "/help?lang=es&q=%C3%91"),
        ("/api/", "/api"),
        ("/teach/", "/teach"),
        ("/manage/sign-in/", "/manage/sign-in"),
    ],
)
def test_a_slash_too_many_is_left_out(client: FlaskClient, typed: str, meant: str) -> None:
    assert follow(client, typed) == (302, meant)
    assert client.get(meant).status_code == 200


@pytest.mark.parametrize(
    "typed", ["{}/", "{}.", "{}).", "{},%20", "{}”", "{}؟", "{}%E2%80%8F", "/S{2}", "{}/?lang=fr"]
)
@pytest.mark.parametrize("part", ["", "/how", "/receipt"])
def test_a_link_in_a_text_or_in_capitals_leads_to_its_survey(
    client: FlaskClient, survey: Published, typed: str, part: str
) -> None:
    """Also of a link that does not exist: nothing is looked up, and nothing told."""
    for slug in (survey.slug, "22222222bbbb"):
        link = f"/s/{slug}{part}"
        written = typed.replace("{2}", f"/{slug}{part}".upper()).replace("{}", link)
        query = "?lang=fr" if "?" in typed else ""
        assert follow(client, written) == (302, link + query)
        status = 200 if slug == survey.slug else 404
        assert client.get(link).status_code == status


def test_a_link_to_a_public_report_too(client: FlaskClient) -> None:
    assert follow(client, "/R/22222222BBBB.") == (302, "/r/22222222bbbb")


@pytest.mark.parametrize(
    "typed",
    ["/s//other.example/", "/nowhere/", "/s/", "/r/", "/client/", "/health/", "/ready/", "/api/v1/surveys/"],
)
def test_what_leads_nowhere_says_so(client: FlaskClient, typed: str) -> None:
    answer = client.get(typed)
    assert (answer.status_code, answer.headers.get("Location")) == (404, None)


def test_a_look_at_the_head_is_led_too_and_the_front_page_stays(client: FlaskClient) -> None:
    assert client.head("/help/").location == "/help"
    assert follow(client, "/") == (200, None)


def test_what_is_sent_is_not_led_elsewhere(client: FlaskClient, survey: Published) -> None:
    """It would come without what it holds, or twice."""
    assert client.post(f"{survey.url}/", json=survey.response()).status_code == 404
    assert client.post("/manage/sign-in/", data={"login": "ana"}).status_code in (404, 405)
