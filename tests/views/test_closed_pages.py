"""What a respondent meets behind a link: the survey, or why there is none to answer now."""

from datetime import datetime

import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.factories import Published

PAST, FUTURE = datetime(2001, 2, 3, 4, 5), datetime(2201, 2, 3, 4, 5)  # noqa: DTZ001 - in UTC


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ({"closes_at": PAST}, 410, "This survey is closed"),
        ({"paused": True}, 423, "This survey is paused"),
        (
            {"opens_at": FUTURE, "time_zone": "Asia/Tokyo"},
            423,
            "It is planned to open on February 3, 2201, 13:05.",
        ),
        ({"cap": 1}, 410, "As many responses as were looked for have come in."),
        ({"opens_at": PAST, "closes_at": FUTURE, "cap": 2}, 200, ""),
    ],
)
def test_page_says_why_a_survey_takes_no_responses_now(
    settings: dict[str, object],
    status: int,
    said: str,
    client: FlaskClient,
    survey: Published,
    database_url: str,
) -> None:
    leaf = factories.plant(database_url, survey.slug, "Spain")["Spain"]
    client.post(survey.url, json=survey.response())
    factories.settle(database_url, survey.slug, **settings)

    for slug in (survey.slug, leaf):
        page, definition = client.get(f"/s/{slug}"), client.get(f"/s/{slug}/survey.json")
        answer = client.post(f"/s/{slug}/responses", json=survey.response([0, 9]))

        assert (page.status_code, definition.status_code) == (status, status)
        assert said in page.text
        if status != 200:
            # What an earlier visit left is still sent, and a code fetched: so no page says that nothing was.
            assert ("o answer was sent now." in page.text, "Nothing was sent" in page.text) == (True, False)
            assert definition.get_json() == answer.get_json() or "cap" in settings
            assert definition.get_json()["error"]["field"] == "survey"


def test_link_of_a_leaf_leads_to_the_survey_and_stores_for_it(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain > Madrid\nKenya")

    # Whoever opened a link before it had parts is told that it has some.
    for path, page_status, file_status, stored_status in (
        ("Spain > Madrid", 200, 200, 201),
        ("Kenya", 200, 200, 201),
        ("Spain", 410, 410, 410),
    ):
        link = f"/s/{slugs[path]}"
        assert client.get(link).status_code == page_status
        assert client.get(f"{link}/survey.json").status_code == file_status
        assert client.post(f"{link}/responses", json=survey.response()).status_code == stored_status
    page = client.get(f"/s/{slugs['Kenya']}").text
    assert f'"/s/{slugs["Kenya"]}/responses"' in page
    assert survey.slug not in page


@pytest.mark.parametrize("tablet", [False, True])
@pytest.mark.parametrize("ended", ["closed", "over"])
def test_the_tablet_of_a_closed_survey_says_that_it_is_closed(
    tablet: bool, ended: str, client: FlaskClient, survey: Published, database_url: str
) -> None:
    """And not what could be changed. What waits on it is still sent, to learn what became of it."""
    leaf = factories.plant(database_url, survey.slug, "Spain")["Spain"]
    factories.settle(database_url, survey.slug, tablet=tablet)
    for link in (survey.slug, leaf):
        answer = client.get(f"/s/{link}/tablet")
        assert (answer.status_code, 'data-refuses="closed"' in answer.text) == (200, False)
    if ended == "closed":
        factories.close(database_url, survey.slug)
    else:
        factories.settle(database_url, survey.slug, closes_at=PAST)
    for link in (survey.slug, leaf):
        answer = client.get(f"/s/{link}/tablet")
        assert answer.status_code == 410
        assert 'data-refuses="closed"' in answer.text
        assert (
            '<p data-check="closed">This survey is closed: it takes no answers any more.</p>' in answer.text
        )
        assert f'data-responses="/s/{link}/responses"' in answer.text
        assert "data-offline" not in answer.text
