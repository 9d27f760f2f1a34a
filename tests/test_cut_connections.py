"""Connections that PostgreSQL ends, as with a restart: nothing acknowledged is lost, and nothing is there twice."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from server.config import Config
from server.store.engines import make_engine
from server.store.failures import RETRY_AFTER
from server.store.models import Survey
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app

CUT = "pg_terminate_backend(pid, 10000)"  # and wait until it is
ALL = sa.text(
    f"SELECT {CUT} FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"  # noqa: S608
)
WAITING = sa.text(
    f"SELECT {CUT} FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"  # noqa: S608
)


@pytest.fixture
def other(postgresql: NewDatabase) -> Iterator[sa.Engine]:
    """Somebody who may end the connections of others."""
    engine = make_engine(postgresql(True)).execution_options(isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture
def app(other: sa.Engine) -> Iterator[Flask]:
    made = create_app(Config(database_url=other.url.render_as_string(hide_password=False)))
    yield made
    made.extensions["moneda.engine"].dispose()


@pytest.fixture
def survey(other: sa.Engine) -> factories.Published:
    return factories.publish(other.url.render_as_string(hide_password=False))


def cut_all(other: sa.Engine) -> None:
    with other.connect() as connection:
        assert connection.execute(ALL).all()


def list_ids(other: sa.Engine) -> list[bytes]:
    url = other.url.render_as_string(hide_password=False)
    factories.let_go(url)  # which was cut, too
    return sorted(bytes(row[0]) for row in factories.list_responses(url))  # type: ignore[call-overload]


def test_between_two_groups_nobody_notices(app: Flask, other: sa.Engine, survey: factories.Published) -> None:
    """As where each was asked for a sign of life before it was used: it is replaced by a new one."""
    client, bodies = app.test_client(), [survey.response() for _ in range(4)]
    for body in bodies:
        assert client.get(f"/s/{survey.slug}").status_code == 200
        assert client.post(survey.url, json=body).status_code == 201
        cut_all(other)
    assert [client.post(survey.url, json=body).status_code for body in bodies] == [200] * 4
    assert list_ids(other) == sorted(map(factories.stored_id, bodies))


@pytest.mark.parametrize("moment", ["begin", "commit"])
def test_within_a_group_it_is_stored_on_a_new_one(
    app: Flask, other: sa.Engine, survey: factories.Published, moment: str
) -> None:
    client, bodies = app.test_client(), [survey.response() for _ in range(2)]
    assert client.post(survey.url, json=bodies[0]).status_code == 201
    cuts = [cut_all]

    def cut(_connection: sa.Connection) -> None:
        if cuts:
            cuts.pop()(other)

    sa.event.listen(app.extensions["moneda.engine"], moment, cut, insert=True)
    assert client.post(survey.url, json=bodies[1]).status_code == 201
    assert not cuts
    assert [client.post(survey.url, json=body).status_code for body in bodies] == [200, 200]
    assert list_ids(other) == sorted(map(factories.stored_id, bodies))


def test_twice_within_a_group_it_is_refused_and_stored_when_it_is_sent_again(
    app: Flask, other: sa.Engine, survey: factories.Published
) -> None:
    client, body = app.test_client(), survey.response()
    assert client.get(f"/s/{survey.slug}").status_code == 200
    cuts = [cut_all, cut_all]

    def cut(_connection: sa.Connection) -> None:
        if cuts:
            cuts.pop()(other)

    sa.event.listen(app.extensions["moneda.engine"], "commit", cut, insert=True)
    refused = client.post(survey.url, json=body)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, str(RETRY_AFTER))
    assert [client.post(survey.url, json=body).status_code for _ in range(2)] == [201, 200]
    assert list_ids(other) == [factories.stored_id(body)]


def test_after_the_commit_it_is_known_what_was_stored(
    app: Flask, other: sa.Engine, survey: factories.Published
) -> None:
    """The answer to a commit was lost: whether it took place, the id says."""
    client, bodies = app.test_client(), [survey.response() for _ in range(2)]
    engine = app.extensions["moneda.engine"]
    assert client.post(survey.url, json=bodies[0]).status_code == 201
    done = engine.dialect.do_commit
    lost = [True]

    def commit(connection: Any) -> None:
        done(connection)
        if lost:
            lost.pop()
            cut_all(other)
            connection.execute("SELECT 1")

    engine.dialect.do_commit = commit
    assert client.post(survey.url, json=bodies[1]).status_code == 200
    assert list_ids(other) == sorted(map(factories.stored_id, bodies))


def test_while_it_waits_for_a_lock(app: Flask, other: sa.Engine, survey: factories.Published) -> None:
    """Where several statements are on their way together, and the first has not come to an end."""
    client, body = app.test_client(), survey.response()
    assert (
        client.post(survey.url, json=survey.response()).status_code == 201
    )  # from here on the link is known
    holding = make_engine(other.url.render_as_string(hide_password=False))
    with ThreadPoolExecutor(1) as thread:
        with holding.begin() as connection:
            connection.execute(sa.select(Survey.id).with_for_update())
            answer = thread.submit(client.post, survey.url, json=body)
            wait_until(lambda: bool(ask(other, WAITING)))
        assert answer.result().status_code == 201
    holding.dispose()
    assert client.post(survey.url, json=body).status_code == 200


def test_what_went_away_without_a_word_is_noticed_once_not_for_each_connection(
    app: Flask, other: sa.Engine, survey: factories.Published
) -> None:
    """As with a machine that another takes the place of: nothing arrives, until something is sent."""
    client, engine = app.test_client(), app.extensions["moneda.engine"]
    connections = [engine.connect() for _ in range(4)]
    for connection in connections:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        os.dup2(ours.fileno(), connection.connection.driver_connection.fileno())
        ours.close()
        Thread(target=end_once_asked, args=(theirs,), daemon=True).start()
        connection.close()
    bodies = [survey.response() for _ in range(4)]
    assert [client.post(survey.url, json=body).status_code for body in bodies] == [201] * 4
    assert list_ids(other) == sorted(map(factories.stored_id, bodies))


def end_once_asked(theirs: socket.socket) -> None:
    with theirs:
        theirs.recv(1)


def ask(other: sa.Engine, query: sa.TextClause) -> list[sa.Row[tuple[object, ...]]]:
    with other.connect() as connection:
        return list(connection.execute(query))


def wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        time.sleep(0.02)
