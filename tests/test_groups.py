"""The intake stores in groups: what arrives together is written together, and fails alone."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from threading import Thread
from time import sleep

import pytest
from flask import Flask

from server.config import Config
from server.store.engines import make_engine
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, list_responses
from tests.support.front_client import create_app
from tests.support.load_client import post_all
from tests.support.order_traces import postgresql_rows

CROWD = 20


@contextmanager
def _standing_in_the_way(database_url: str) -> Iterator[None]:
    """Somebody who holds what the writer needs: the file on SQLite, the survey on PostgreSQL."""
    engine = make_engine(database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        connection.exec_driver_sql("UPDATE surveys SET minimum = minimum")
        yield
    engine.dispose()


def _post_together(app: Flask, survey: Published, bodies: list[dict[str, object]]) -> list[tuple[int, str]]:
    """Post by as many clients, all of which wait for the same writer: status and field at fault of each."""

    def post(body: dict[str, object]) -> tuple[int, str]:
        answer = app.test_client().post(survey.url, json=body)
        return answer.status_code, answer.get_json().get("error", {}).get("field", "")

    with ThreadPoolExecutor(len(bodies)) as clients:
        with _standing_in_the_way(app.extensions["moneda.config"].database_url):
            posting = [clients.submit(post, body) for body in bodies]
            sleep(0.5)  # until all of them wait
            assert not any(each.done() for each in posting)
        return [each.result() for each in posting]


def test_what_arrives_together_is_written_by_one_transaction(postgresql: NewDatabase) -> None:
    database_url = postgresql(True)
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, CROWD)
    app = create_app(Config(database_url=database_url))

    outcomes = _post_together(app, survey, [survey.response(invitation=code) for code in codes])
    app.extensions["moneda.engine"].dispose()

    assert outcomes == [(201, "")] * CROWD
    # One came first and waited alone; all others waited for it. Nothing in a row tells one of them from another.
    for table, key in (("responses_1", "id"), ("invitations_1", "code_hash")):
        assert len({row[2:4] for row in postgresql_rows(database_url, table, key)}) <= 3


def test_group_mends_none_and_spoils_none(app: Flask, survey: Published, database_url: str) -> None:
    """Good ones, retries, a second one with the same id, bad ones and a full survey, all at once."""
    factories.settle(database_url, survey.slug, cap=CROWD)
    good = [survey.response([k % 2, 0]) for k in range(CROWD - 3)]
    bad: list[dict[str, object]] = [survey.response([9, 0]), survey.response(version="0" * 64)]

    outcomes = _post_together(app, survey, [*good, good[0], {**good[1], "reports": [1, 1]}, *bad])

    # Which of two with one id comes first is open.
    assert sorted(outcomes) == sorted(
        [(201, "")] * len(good) + [(200, "")] * 2 + [(422, "reports[0]"), (409, "version")]
    )
    more = _post_together(app, survey, [survey.response() for _ in range(10)])
    assert sorted(more) == [(201, "")] * 3 + [(410, "survey")] * 7
    assert len(list_responses(database_url)) == CROWD


def _run(database_url: str, *statements: str) -> None:
    engine = make_engine(database_url)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def _poison_id(database_url: str, key: str) -> None:
    """Make the database refuse one id, as it would refuse what we did not think of."""
    if database_url.startswith("sqlite"):
        _run(
            database_url,
            f"CREATE TRIGGER poison BEFORE INSERT ON responses_1 WHEN hex(NEW.id) = upper('{key}') "
            "BEGIN SELECT RAISE(ABORT, 'poison'); END",
        )
        return
    _run(
        database_url,
        "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF encode(NEW.id, 'hex') = '{key}' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER poison BEFORE INSERT ON responses_1 FOR EACH ROW EXECUTE FUNCTION poison()",
    )


def test_one_that_the_database_cannot_take_fails_alone(
    app: Flask, survey: Published, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    bodies = [survey.response() for _ in range(CROWD)]
    _poison_id(database_url, factories.stored_id(bodies[7]).hex())

    outcomes = _post_together(app, survey, bodies)

    assert outcomes == [(201, "")] * 7 + [(503, "server")] + [(201, "")] * (CROWD - 8)
    assert len(list_responses(database_url)) == CROWD - 1
    assert "while storing responses" in caplog.text
    assert not [word for word in ("poison", str(bodies[7]["id"])) if word in caplog.text]


def _fail_at_commit(database_url: str) -> None:
    """Everything is fine until the very end."""
    if database_url.startswith("sqlite"):
        _run(
            database_url,
            "CREATE TABLE missing (id INTEGER PRIMARY KEY)",
            "CREATE TABLE late (id INTEGER REFERENCES missing (id) DEFERRABLE INITIALLY DEFERRED)",
            "CREATE TRIGGER late AFTER INSERT ON responses_1 BEGIN INSERT INTO late VALUES (1); END",
        )
        return
    _run(
        database_url,
        "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'late'; END $$",
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON responses_1 DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION late()",
    )


def _lose_the_table(database_url: str) -> None:
    _run(database_url, "ALTER TABLE survey_versions RENAME TO elsewhere")


@pytest.mark.parametrize("break_it", [_fail_at_commit, _lose_the_table])
def test_where_storing_fails_nobody_is_told_otherwise(
    break_it: Callable[[str], None], app: Flask, survey: Published, database_url: str
) -> None:
    bodies = [survey.response() for _ in range(CROWD)]
    break_it(database_url)

    assert _post_together(app, survey, bodies) == [(503, "server")] * CROWD

    if break_it is _fail_at_commit:
        on = "" if database_url.startswith("sqlite") else " ON responses_1"
        _run(database_url, f"DROP TRIGGER late{on}")
    else:
        _run(database_url, "ALTER TABLE elsewhere RENAME TO survey_versions")
    assert not list_responses(database_url)
    assert _post_together(app, survey, bodies) == [(201, "")] * CROWD


def test_two_processes_store_each_response_once(new_database: NewDatabase) -> None:
    database_url = new_database(True)
    survey = factories.publish(database_url)
    bodies = [survey.response([k % 2, 0]) for k in range(400)]
    with (
        factories.serving(database_url) as one,
        factories.serving(database_url) as two,
        ThreadPoolExecutor(8) as clients,
    ):
        posting = [
            clients.submit(lambda served, share: list(post_all(served.url, survey.url, share)), served, share)
            for start in range(4)
            for served, share in ((one, bodies[start::4]), (two, bodies[start::4]))
        ]
        statuses = list(chain.from_iterable(each.result() for each in posting))

    assert len(statuses) == 2 * len(bodies)
    assert set(statuses) <= {200, 201}
    assert statuses.count(201) <= len(bodies)
    assert len(list_responses(database_url)) == len(bodies)


def test_server_that_is_stopped_acknowledges_nothing_that_is_not_stored(sqlite: NewDatabase) -> None:
    """Ctrl-C while responses wait for the disk."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    bodies = [survey.response() for _ in range(8)]
    statuses: dict[str, int] = {}

    def post(body: dict[str, object]) -> None:
        try:
            statuses[factories.stored_id(body).hex()] = next(post_all(served.url, survey.url, [body]))
        except (OSError, AssertionError):
            return  # the server hung up: nothing was promised

    with factories.serving(database_url) as served:
        with _standing_in_the_way(database_url):
            posting = [Thread(target=post, args=[body]) for body in bodies]
            for each in posting:
                each.start()
            sleep(0.5)
            served.process.send_signal(2)
            sleep(0.5)
        for each in posting:
            each.join()
        assert served.process.wait(30) == 0

    assert set(statuses.values()) <= {201}
    assert statuses.keys() <= {bytes(row[0]).hex() for row in list_responses(database_url)}  # type: ignore[call-overload]
