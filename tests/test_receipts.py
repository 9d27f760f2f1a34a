"""A receipt: whether a response is in, taking it back, and that nothing brings it back or tells anybody of it."""

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support import factories
from tests.support.factories import Published


def ask(client: FlaskClient, link: str, receipt: object, what: str = "receipt") -> TestResponse:
    return client.post(f"/s/{link}/{what}.json", json={"receipt": receipt})


def said(answer: TestResponse) -> tuple[int, str]:
    """Status, and what is said, or of which field."""
    document = answer.json
    assert document is not None
    return answer.status_code, document.get("status") or document["error"]["field"]


def test_a_response_is_in_until_it_is_taken_back(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    body, other = survey.response(), survey.response()
    assert said(ask(client, survey.slug, body["id"])) == (200, "absent")
    for each in (body, other):
        assert client.post(survey.url, json=each).status_code == 201
    assert said(ask(client, survey.slug, body["id"])) == (200, "stored")
    for _ in range(2):
        assert said(ask(client, survey.slug, body["id"], "withdrawal")) == (200, "absent")
    assert said(ask(client, survey.slug, body["id"])) == (200, "absent")
    assert said(ask(client, survey.slug, other["id"])) == (200, "stored")
    # What is sent once more is answered as before, and stays out.
    assert said(client.post(survey.url, json=body)) == (200, "known")
    assert said(ask(client, survey.slug, body["id"])) == (200, "absent")
    assert len(factories.stored(database_url)) == 1
    assert factories.run(database_url, "check").exit_code == 0
