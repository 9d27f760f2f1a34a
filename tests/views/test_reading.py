"""Whoever only looks changes nothing: not a row, on no page, also where something is due."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from tests.support import factories
from tests.support.full_installation import OWNER, Scene, routes

YESTERDAY = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1)


def test_no_page_changes_anything_for_being_looked_at(scene: Scene) -> None:
    """A sign-in was last used yesterday, a survey's time is over, another one is still to be tidied."""
    url = scene.database_url
    closed = factories.publish(url)
    factories.close(url, closed.slug)
    factories.settle(url, scene.slug, closes_at=YESTERDAY, by_invitation=True)
    with factories.writing(url) as session:
        session.execute(sa.text("UPDATE sign_ins SET seen_on = :day"), {"day": YESTERDAY.date().isoformat()})
    before = factories.dump(url)
    statuses = {}

    for method, rule in routes(scene.app):
        if method == "GET":
            answer = scene.people[OWNER].get(scene.path(rule))
            statuses[rule.endpoint] = answer.status_code
            assert factories.dump(url) == before, rule.endpoint

    assert {status for status in statuses.values() if status >= 500} == set()
    assert sum(status == 200 for status in statuses.values()) > 30
    assert before["untidied"]

    assert (
        scene.people[OWNER].post(f"/manage/surveys/{scene.slug}/pause").status_code < 500
    )  # the broken twin
    assert factories.dump(url) != before
