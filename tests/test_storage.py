"""What a stored response is: the row, the table, the file, and that nothing else changes."""

import secrets
import sqlite3
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.store.engines import make_engine
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, dump, list_responses


def _file(database_url: str) -> sqlite3.Connection:
    return sqlite3.connect(database_url.removeprefix("sqlite:///"))


def test_row_holds_id_version_reports_day_and_stratum_only(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    engine = make_engine(database_url)
    columns = {column["name"]: column["type"] for column in sa.inspect(engine).get_columns("responses_1")}
    engine.dispose()
    body = survey.response([0, 1])
    first_day = datetime.now(UTC).date()

    client.post(survey.url, json=body, headers={"User-Agent": "Somebodys-Phone", "Cookie": "a=b"})

    assert list(columns) == ["id", "version_id", "reports", "day", "stratum_id", "mode"]
    assert isinstance(columns["day"], sa.Date)
    assert not isinstance(columns["day"], sa.DateTime)
    ((row_id, version_id, reports, day, stratum_id, mode),) = list_responses(database_url)
    ((number, *_rest),) = dump(database_url)["survey_versions"]
    assert (row_id, version_id, bytes(reports)) == (factories.stored_id(body), number, b"\x00\x01")  # type: ignore[call-overload]
    assert type(day) is date
    assert (stratum_id, mode) == (None, 0)
    assert first_day <= day <= first_day + timedelta(days=1)


def test_storing_changes_the_books_and_no_other_table(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.sign_in(client, factories.sign_in_secret(database_url))
    before = dump(database_url)

    assert client.post(survey.url, json=survey.response()).status_code == 201

    after = dump(database_url)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {
        "responses",
        "cells",
        "batches",
        "counters",
    }


def test_rows_come_out_in_the_order_of_their_random_ids(
    sqlite: NewDatabase,
) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    with factories.serving(database_url) as served:
        sent = [survey.response() for _ in range(50)]
        for body in sent:
            factories.ask(served.url + survey.url, body)

    connection = _file(database_url)
    rows = [row[0].hex() for row in connection.execute("SELECT id FROM responses_1")]
    connection.close()
    ids = [factories.stored_id(body).hex() for body in sent]
    assert rows == sorted(ids)
    assert rows != ids  # 50 random ids arrive sorted with probability 1/50!


def test_sqlite_keeps_no_row_number(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    factories.publish(database_url)
    connection = _file(database_url)
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'responses_1'").fetchone()

    assert sql.rstrip().endswith("WITHOUT ROWID")
    with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
        connection.execute("SELECT rowid FROM responses_1")
    connection.close()


def test_what_is_acknowledged_is_on_the_disk(sqlite: NewDatabase) -> None:
    engine = make_engine(sqlite(True))
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
        }
    engine.dispose()

    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 30_000,
        "secure_delete": 1,
    }


def test_every_connection_of_the_application_is_durable(app: Flask, database_url: str) -> None:
    engine: sa.Engine = app.extensions["moneda.engine"]
    setting = "PRAGMA synchronous" if database_url.startswith("sqlite") else "SHOW synchronous_commit"
    connections = [engine.connect() for _ in range(5)]

    assert {str(each.exec_driver_sql(setting).scalar()) for each in connections} <= {"2", "on"}
    for connection in connections:
        connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE responses_1 SET reports = reports",
        "UPDATE responses_1 SET day = '2020-01-01'",
        "UPDATE survey_versions SET published = published",
        "UPDATE survey_versions SET number = number + 1",
    ],
)
def test_database_refuses_to_change_what_is_final(
    change: str, client: FlaskClient, survey: Published, database_url: str
) -> None:
    client.post(survey.url, json=survey.response([1, 1]))
    before = dump(database_url)
    engine = make_engine(database_url)

    with pytest.raises(sa.exc.DBAPIError, match="are immutable"), engine.begin() as connection:
        connection.exec_driver_sql(change)

    engine.dispose()
    assert dump(database_url) == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE surveys SET draft_number = 0",
        "UPDATE drafts SET number = 0",
        "UPDATE drafts SET survey_id = 12345",
        "UPDATE drafts SET document = NULL",
        "INSERT INTO drafts (survey_id, number, document) SELECT survey_id, number, document FROM drafts",
    ],
)
def test_database_refuses_a_draft_that_cannot_be(change: str, survey: Published, database_url: str) -> None:
    before = dump(database_url)
    engine = make_engine(database_url)

    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.exec_driver_sql(change)

    engine.dispose()
    assert dump(database_url) == before


@pytest.mark.parametrize(
    "row",
    [
        {"id": secrets.token_bytes(15), "reports": b"\x00"},
        {"id": secrets.token_bytes(17), "reports": b"\x00"},
        {"id": secrets.token_bytes(16), "reports": b""},
        {"id": secrets.token_bytes(16), "reports": b"\x00", "version_id": 12345},
        {"id": secrets.token_bytes(16), "reports": b"\x00", "stratum_id": 12345},
        {"id": secrets.token_bytes(16), "reports": None},
        {"id": secrets.token_bytes(16), "reports": b"\x00", "day": None},
    ],
    ids=["short id", "long id", "empty", "unknown version", "unknown stratum", "no reports", "no day"],
)
def test_database_refuses_a_row_that_cannot_be(
    row: dict[str, Any], survey: Published, database_url: str
) -> None:
    version_id = dump(database_url)["survey_versions"][0][0]
    row = {"version_id": version_id, "day": date(2024, 1, 1), **row}
    engine = make_engine(database_url)
    table = sa.Table("responses_1", sa.MetaData(), autoload_with=engine)

    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.execute(table.insert().values(row))

    engine.dispose()
    assert not list_responses(database_url)
