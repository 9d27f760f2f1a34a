"""Responses that are taken: stored once, acknowledged as often as they are sent."""

import json

import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.factories import Published, list_responses


def test_new_response_is_stored(client: FlaskClient, survey: Published, database_url: str) -> None:
    body = survey.response([1, 0])

    answer = client.post(survey.url, json=body)

    assert (answer.status_code, answer.get_json()) == (201, {"status": "stored"})
    ((row_id, _version, reports, _day, _stratum, _mode),) = list_responses(database_url)
    assert (bytes(row_id), bytes(reports)) == (factories.stored_id(body), b"\x01\x00")  # type: ignore[arg-type]


def test_same_response_again_is_acknowledged_and_stored_once(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    body = survey.response([1, 0])

    statuses = [client.post(survey.url, json=body).status_code for _ in range(4)]

    assert statuses == [201, 200, 200, 200]
    assert len(list_responses(database_url)) == 1


def test_whoever_has_a_receipt_cannot_try_out_what_was_sent_with_it(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    """Every guess, of the reports, of the group and of the version, is answered as the response itself is."""
    link = factories.plant(database_url, survey.slug, "Spain")["Spain"]
    body = survey.response([1, 0])
    assert client.post(survey.url, json=body).status_code == 201
    before = factories.dump(database_url)

    guesses = [
        {**body, "reports": reports, "version": version}
        for reports in ([0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [1])
        for version in (survey.version, "0" * 64)
    ]
    answers = [
        client.post(url, json=guess) for guess in guesses for url in (survey.url, f"/s/{link}/responses")
    ]

    told = {(answer.status_code, answer.data, tuple(answer.headers.items())) for answer in answers}
    assert [(status, said) for status, said, _headers in told] == [(200, b'{"status":"known"}\n')]
    assert factories.dump(database_url) == before


def test_same_id_in_another_survey_is_another_response(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    """A response is sent again by a link of the same survey: ids are unique there."""
    other = factories.publish(database_url)
    assert other.version == survey.version  # the same text and coins: only the link differs
    body = survey.response()
    client.post(survey.url, json=body)

    answers = [client.post(link.url, json=body).status_code for link in (other, survey, other)]

    assert answers == [201, 200, 200]
    assert len(list_responses(database_url)) == 2


def test_stale_version_is_refused_with_both_versions_named(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    newer = factories.publish(database_url, factories.definition(title="Exams, again"), survey.slug)

    answer = client.post(survey.url, json=survey.response())

    error = answer.get_json()["error"]
    assert (answer.status_code, error["field"]) == (409, "version")
    assert newer.version in error["message"]
    assert survey.version in error["message"]
    assert not list_responses(database_url)


def test_response_to_an_earlier_version_may_still_be_retried(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    body = survey.response([0, 1])
    client.post(survey.url, json=body)
    factories.publish(database_url, factories.definition(title="Exams, again"), survey.slug)

    assert client.post(survey.url, json=body).status_code == 200
    assert len(list_responses(database_url)) == 1


def test_closed_survey_takes_nothing_but_a_retry(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    body = survey.response([0, 1])
    client.post(survey.url, json=body)
    factories.close(database_url, survey.slug)

    refused = client.post(survey.url, json=survey.response())

    assert (refused.status_code, refused.get_json()["error"]["field"]) == (410, "survey")
    assert client.post(survey.url, json=body).status_code == 200
    assert len(list_responses(database_url)) == 1


def test_draft_and_unknown_link_take_nothing(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    draft = factories.draft(database_url, factories.definition())

    for slug in (draft, "nosuchsurvey", "%00", "%ff", "a" * 1000, survey.slug.upper()):
        answer = client.post(f"/s/{slug}/responses", json=survey.response())
        assert answer.status_code == 404, slug
        assert answer.get_json()["error"] == {"field": "survey", "message": "is not known; check the link"}
    assert not list_responses(database_url)


def test_body_of_exactly_16_kb_is_taken(client: FlaskClient, survey: Published, database_url: str) -> None:
    body = json.dumps(survey.response())

    fits = client.post(survey.url, data=body.ljust(16_384), content_type="application/json")
    too_long = client.post(survey.url, data=body.ljust(16_385), content_type="application/json")

    assert fits.status_code == 201
    assert too_long.status_code == 413
    assert too_long.get_json()["error"] == {
        "field": "body",
        "message": "must be at most 16384 bytes; it has more",
    }
    assert len(list_responses(database_url)) == 1


def test_hundred_questions_fit_in_a_response(client: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25] * 100))

    assert client.post(survey.url, json=survey.response([1, 0] * 50)).status_code == 201
    assert bytes(list_responses(database_url)[0][2]) == b"\x01\x00" * 50  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"]
)
def test_json_content_types_are_taken(client: FlaskClient, survey: Published, content_type: str) -> None:
    answer = client.post(survey.url, data=json.dumps(survey.response()), content_type=content_type)

    assert answer.status_code == 201


def test_refusal_is_in_the_language_asked_for(client: FlaskClient, survey: Published) -> None:
    body = survey.response(reports=[0, 2])

    english = client.post(survey.url, json=body, headers={"Accept-Language": "en"})
    spanish = client.post(survey.url, json=body, headers={"Accept-Language": "es-MX,es;q=0.9"})

    assert english.get_json()["error"]["message"] == "must be a whole number from 0 to 1; it is 2"
    assert english.status_code == spanish.status_code == 422
    assert spanish.get_json()["error"]["field"] == "reports[1]"
    assert spanish.get_json()["error"]["message"] not in ("", english.get_json()["error"]["message"])
