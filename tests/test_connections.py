"""How many connections a process opens, and what happens where there is none left."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from server import people
from server.store.engines import CONNECTIONS, PATIENCE, SERVING, make_engine
from server.store.failures import RETRY_AFTER
from server.store.models import Researcher, Server
from server.store.sealed_secrets import seal
from server.web.fleet import check_settings, join_fleet
from server.web.front import bridge
from server.web.webhooks.webhook_rows import create_webhook
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases


def test_there_are_as_many_as_there_are_threads() -> None:
    """Besides those that answer: responses, codes, visits, readiness and sizes; three for tidying."""
    assert bridge.READERS + bridge.WRITERS + bridge.SIGNERS + 5 + 3 <= CONNECTIONS


def test_without_one_left_everybody_is_sent_away_to_come_back(
    app: Flask, survey: factories.Published
) -> None:
    client = app.test_client()
    held = [app.extensions["moneda.engine"].connect() for _ in range(CONNECTIONS)]
    try:
        answers = [
            client.get("/manage/surveys", headers={"Cookie": "moneda_sign_in=x"}),
            client.post(survey.url, json=survey.response()),
        ]
    finally:
        for each in held:
            each.close()
    assert [answer.status_code for answer in answers] == [503, 503]
    assert {answer.headers["Retry-After"] for answer in answers} == {str(RETRY_AFTER)}
    assert client.post(survey.url, json=survey.response()).status_code == 201


def test_who_does_not_fit_into_postgresql_is_told(postgresql: NewDatabase) -> None:
    """It takes 100, of which it keeps 3 for administrators, unless it is told otherwise."""
    database_url = postgresql(True)
    engine = make_engine(database_url)
    with engine.connect() as connection:
        most = int(connection.exec_driver_sql("SHOW max_connections").scalar_one())
    engine.dispose()
    for processes in (most // CONNECTIONS + 1, 64):
        with join_fleet(database_url, processes) as told:
            (line,) = told
            assert f"this server may need {processes * CONNECTIONS} ({CONNECTIONS} for each process)" in line
    with join_fleet(database_url, 1) as told:
        assert told == []


def test_settings_that_do_not_arrive_are_refused(postgresql: NewDatabase) -> None:
    """As through a pooler that leaves out what a connection asks for."""
    database_url = postgresql(True)
    direct, pooled = make_engine(database_url, PATIENCE, SERVING), sa.create_engine(database_url)
    with direct.connect() as connection:
        check_settings(connection)
        assert connection.exec_driver_sql("SHOW application_name").scalar_one() == "moneda serve"
    with (
        pooled.connect() as connection,
        pytest.raises(ValueError, match="DATABASE_URL must lead to PostgreSQL itself"),
    ):
        check_settings(connection)
    direct.dispose()
    pooled.dispose()


def seal_a_code(url: str) -> None:
    number = factories.account(url, "ana")
    with factories.writing(url) as session:
        session.get_one(Researcher, number).totp_sealed = seal("a secret", number)


def seal_a_webhook(url: str) -> None:
    slug = factories.publish(url).slug
    with factories.writing(url) as session:
        survey = sample_releases.find_survey(session, slug)
        create_webhook(session, survey, people.first_researcher(session), "https://hooks.example.org")


@pytest.mark.parametrize("seal_something", [seal_a_code, seal_a_webhook])
def test_a_lost_key_is_not_made_anew_by_a_start(
    postgresql: NewDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seal_something: Callable[[str], None],
) -> None:
    """The first start makes one; where it was lost, a server goes on without, and takes another that it is given."""
    database_url = postgresql(True)
    own, other = tmp_path / "own.key", tmp_path / "other.key"

    def start(key: Path) -> str | None:
        monkeypatch.setenv("MONEDA_SECRETS_KEY", str(key))
        with join_fleet(database_url, 1), factories.writing(database_url) as session:
            return session.scalar(sa.select(Server.sealed_by))

    first = start(own)
    assert first is not None
    assert start(own) == first
    seal_something(database_url)
    own.unlink()
    assert (start(own), own.exists()) == (first, False)
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(other))
    seal("a secret", 1)  # which makes one
    assert start(other) not in (None, first)
