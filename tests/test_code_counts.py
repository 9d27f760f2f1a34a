"""How many codes of a closed survey were used is told only where nobody few follows from it."""

import pytest
from flask.testing import FlaskClient

from server import reports
from server.collect import response_codes
from server.people import survey_access
from server.study import surveys
from tests.support import factories
from tests.support.factories import Published, writing

SETTINGS = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}


def _link(database_url: str, slug: str) -> str:
    """The survey's own link, which is another one after each switch."""
    with writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        return str(found.link)


def _answer(client: FlaskClient, database_url: str, slug: str, title: str, people: int, coded: int) -> None:
    """Publish a version that so many answer, so many of them with a code while it was by invitation."""
    home = f"/manage/surveys/{slug}"
    factories.save(database_url, slug, factories.definition(title=title))
    assert client.post(f"{home}/publish").status_code == 303
    with writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        assert found.current is not None
        survey = Published(slug, found.current.sha256, surveys.definition_of(found.current).as_json())
    if coded:
        client.post(f"{home}/schedule", data={**SETTINGS, "by_invitation": "yes"})
        codes = factories.invite(database_url, slug, 100, _link(database_url, slug))
        with writing(database_url) as session:
            response_codes.spend(session.connection(), [(1, code.replace("-", "")) for code in codes[:coded]])
        client.post(f"{home}/schedule", data=SETTINGS)
    factories.store(database_url, survey, [([1, 0], people)], _link(database_url, slug))


@pytest.mark.parametrize(
    ("people", "coded", "told"), [(44, 40, {}), (54, 40, {None: 40}), (40, 40, {None: 40})]
)
def test_codes_do_not_tell_how_few_came_without_one_to_a_version_in_which_both_could(
    signed_in: FlaskClient, database_url: str, people: int, coded: int, told: dict[int | None, int]
) -> None:
    """To version 1 nobody had a code, so that all who had one answered version 2: with 4 others, 14 or none."""
    slug = factories.draft(database_url, factories.definition())
    _answer(signed_in, database_url, slug, "One", 50, 0)
    _answer(signed_in, database_url, slug, "Two", people, coded)
    signed_in.post(f"/manage/surveys/{slug}/close")

    with writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        report = reports.read(session, survey)
        assert report.n == 50 + people
        assert dict(reports.used_codes(session, survey, report)) == told
