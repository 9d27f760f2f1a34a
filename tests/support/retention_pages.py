"""Pages of a survey whose parts are deleted after so many days, before and after each of them went."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from server import archives
from server.collect import tidying
from server.store.engines import make_engine
from server.study.surveys import now
from tests.support import factories, sample_releases

if TYPE_CHECKING:
    from tests.support.every_page import Reader


def walk_retention(
    owner: "Reader", stranger: "Reader", database_url: str, document: Mapping[str, object]
) -> None:
    """What is set, refused, announced, and said of what is gone."""
    survey = factories.publish(database_url, document)
    home = f"/manage/surveys/{survey.slug}"
    factories.store(database_url, survey, [([0] * len(survey.definition["questions"]), 20)])
    owner.get(f"{home}/keeping")
    owner.post(f"{home}/retention", {"keep_rows": "0"})
    owner.post(f"{home}/retention", {"keep_rows": "9", "keep_counts": "8"})
    owner.post(f"{home}/retention", {"keep_rows": "10", "keep_counts": "20", "keep_rest": "30"})
    owner.post(f"{home}/retention", {"keep_rows": "11"})
    stranger.get(f"/s/{survey.slug}/how")
    factories.close(database_url, survey.slug)
    for days in (0, 10, 20, 30):
        factories.settle(database_url, survey.slug, closed_at=now() - timedelta(days=days))
        _delete_due(database_url)
        for page in (home, f"{home}/keeping", f"{home}/results", f"{home}/log", "/manage/surveys"):
            owner.get(page)
    owner.get(f"{home}/invitations")
    released = factories.publish(database_url, document)
    factories.store(database_url, released, [([0] * len(released.definition["questions"]), 20)])
    factories.close(database_url, released.slug)
    sample_releases.grant(database_url, released.slug)
    sample_releases.release(database_url, released.slug, {"kind": "count"}, epsilon=1)
    factories.settle(database_url, released.slug, keep_counts=1, closed_at=now() - timedelta(days=1))
    _delete_due(database_url)
    owner.get(f"/manage/surveys/{released.slug}/results")
    factories.settle(database_url, released.slug, completions=True)
    owner.get(f"/manage/surveys/{released.slug}/keeping")


def _delete_due(database_url: str) -> None:
    engine = make_engine(database_url)
    archives.delete_due(engine, now(), tidying.Patience(tidying.LONG_PATIENCE))
    engine.dispose()
