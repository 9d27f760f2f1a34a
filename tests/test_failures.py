"""What the log and the page say where a disk, a lock or a connection fails: real databases that really fail."""

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.config import Config
from server.store.engines import make_engine
from server.store.failures import RETRY_AFTER, Failure, describe_failure, find_failure
from server.web.front.bridge import WHOLE
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import dump
from tests.support.front_client import create_app

SECRET = "a word of the request"


def catch_failure(engine: sa.Engine, *statements: str) -> Exception:
    """What some statements raise, or the connection that they need."""
    with pytest.raises(sa.exc.SQLAlchemyError) as caught:
        _run(engine, statements)
    return caught.value


def _run(engine: sa.Engine, statements: Sequence[str]) -> None:
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def says(error: Exception, failure: Failure, name: str) -> None:
    """The log line is the failure, the database's name for it, the type and the place in our own code."""
    assert find_failure(error) is failure
    line = describe_failure(error)
    assert line.startswith(f"{failure.value} ({name}): {type(error).__name__} at ")
    assert SECRET not in line


@pytest.fixture
def engine(sqlite: NewDatabase) -> Iterator[sa.Engine]:
    """An engine on a SQLite database that nobody else uses, and that waits for no lock."""
    made = make_engine(sqlite(True))
    sa.event.listen(made, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout = 0"))
    yield made
    made.dispose()


WRITE = f"INSERT INTO researchers (name, administrator) VALUES ('{SECRET}', 0)"  # noqa: S608 - ours
GROW = f"CREATE TABLE grown AS SELECT zeroblob(1000000) AS '{SECRET}'"


def test_sqlite_names_what_failed(engine: sa.Engine, tmp_path: Path) -> None:
    says(catch_failure(engine, "PRAGMA max_page_count = 1", GROW), Failure.FULL, "SQLITE_FULL")
    engine.dispose()
    says(catch_failure(engine, "PRAGMA query_only = 1", WRITE), Failure.READ_ONLY, "SQLITE_READONLY")
    engine.dispose()
    with closing(sqlite3.connect(str(engine.url.database))) as other:
        other.execute("BEGIN IMMEDIATE")
        says(catch_failure(engine, WRITE), Failure.LOCKED, "SQLITE_BUSY")
    with engine.begin() as stale:
        stale.exec_driver_sql("SELECT * FROM researchers").all()
        with engine.begin() as other_one:
            other_one.exec_driver_sql(WRITE)
        with pytest.raises(sa.exc.OperationalError) as caught:
            stale.exec_driver_sql(WRITE)
    says(caught.value, Failure.LOCKED, "SQLITE_BUSY_SNAPSHOT")
    says(
        catch_failure(sa.create_engine(f"sqlite:///{tmp_path}"), "SELECT 1"),
        Failure.UNREACHABLE,
        "SQLITE_CANTOPEN",
    )
    noise = tmp_path / "noise"
    noise.write_bytes(b"no database at all, " * 1000)
    says(
        catch_failure(sa.create_engine(f"sqlite:///{noise}"), "SELECT * FROM x"),
        Failure.DAMAGED,
        "SQLITE_NOTADB",
    )


def test_a_damaged_page_is_named(engine: sa.Engine) -> None:
    path = Path(str(engine.url.database))
    with engine.begin() as connection:
        connection.exec_driver_sql(GROW)
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        root = connection.exec_driver_sql(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'grown'"
        ).scalar_one()
    engine.dispose()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)

    says(catch_failure(engine, "SELECT * FROM grown"), Failure.DAMAGED, "SQLITE_CORRUPT")


def test_a_failing_disk_is_named(engine: sa.Engine) -> None:
    """A process that may write no more gets a failed write from the system, as from a dying disk."""
    written = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(engine.url)], capture_output=True, text=True, cwd=factories.ROOT
    )
    assert written.stdout.startswith("the disk failed (SQLITE_IOERR_WRITE): OperationalError at ")


_LIMITED = """
import resource, sys
import sqlalchemy as sa
from server.store.engines import make_engine
from server.store.failures import describe_failure
with make_engine(sys.argv[1]).connect() as connection:
    connection.exec_driver_sql("SELECT 1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        connection.exec_driver_sql("CREATE TABLE grown AS SELECT zeroblob(1000000)")
        connection.commit()
    except sa.exc.SQLAlchemyError as error:
        print(describe_failure(error))
"""


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        ("53100", Failure.FULL),
        ("58030", Failure.DISK),
        ("55P03", Failure.LOCKED),
        ("25006", Failure.READ_ONLY),
        ("42501", Failure.READ_ONLY),
        ("53300", Failure.CROWDED),
        ("40001", Failure.CONFLICT),
        ("40P01", Failure.CONFLICT),
        ("57P03", Failure.UNREACHABLE),
        ("08006", Failure.UNREACHABLE),
        ("XX001", Failure.DAMAGED),
        ("53200", Failure.MEMORY),
    ],
)
def test_postgresql_names_what_failed(postgresql: NewDatabase, state: str, failure: Failure) -> None:
    engine = sa.create_engine(postgresql(False))
    block = f"DO $$ BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '{state}'; END $$"
    says(catch_failure(engine, block), failure, state)
    engine.dispose()


def test_a_lost_connection_is_named(postgresql: NewDatabase) -> None:
    engine, other = (sa.create_engine(postgresql(False)) for _ in range(2))
    with engine.connect() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        with other.connect() as ending:
            ending.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(sa.exc.OperationalError) as caught:
            connection.exec_driver_sql("SELECT 1")
    says(caught.value, Failure.UNREACHABLE, "57P01")
    nowhere = sa.create_engine(engine.url.set(database="nowhere"))
    says(catch_failure(nowhere, "SELECT 1"), Failure.UNREACHABLE, "OperationalError")
    for made in (engine, other, nowhere):
        made.dispose()


def test_an_exhausted_pool_is_named(engine: sa.Engine) -> None:
    small = sa.create_engine(engine.url, pool_size=1, max_overflow=0, pool_timeout=0)
    with small.connect(), pytest.raises(sa.exc.TimeoutError) as caught:
        small.connect()
    small.dispose()
    says(caught.value, Failure.CROWDED, "TimeoutError")


def test_a_mistake_of_ours_is_no_failure_of_the_database(engine: sa.Engine) -> None:
    for error in (
        catch_failure(engine, "SELECT * FROM nothing"),
        catch_failure(engine, WRITE.replace("0)", "NULL)")),
    ):
        assert find_failure(error) is None
        assert describe_failure(error).startswith(f"{type(error).__name__} at ")
    assert find_failure(ValueError(SECRET)) is None


UNDONE = b"Nothing was changed"
LOOK = b"Look whether it was done"


def test_a_lock_is_no_mistake_of_ours(
    app: Flask, signed_in: FlaskClient, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    slug = factories.draft(database_url, factories.definition())
    engine: sa.Engine = app.extensions["moneda.engine"]
    engine.dispose()
    impatient = {"sqlite": "PRAGMA busy_timeout = 0", "postgresql": "SET lock_timeout = 1"}[
        engine.dialect.name
    ]

    def hurry(connection: Any, _record: object) -> None:
        connection.cursor().execute(impatient)
        connection.commit()

    sa.event.listen(engine, "connect", hurry)
    before = dump(database_url)

    other = make_engine(database_url)
    with other.execution_options(moneda_writes=True).begin() as holding:
        if other.dialect.name == "postgresql":
            holding.exec_driver_sql("LOCK TABLE surveys IN ACCESS EXCLUSIVE MODE")
        refused = signed_in.post(f"/manage/surveys/{slug}/publish", data={"draft": SECRET})
    other.dispose()

    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == str(RETRY_AFTER)
    assert UNDONE in refused.data
    assert dump(database_url) == before
    (record,) = caplog.records
    assert record.message.startswith(Failure.LOCKED.value)
    assert record.message.endswith("while serving manage.publish")
    assert SECRET not in record.message
    assert signed_in.post(f"/manage/surveys/{slug}/publish").status_code == 303


def test_a_lost_database_is_no_mistake_of_ours(
    app: Flask, signed_in: FlaskClient, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    slug = factories.draft(database_url, factories.definition())
    _destroy(app)

    for method, path, words in (
        ("GET", "/manage/surveys", UNDONE),
        ("POST", f"/manage/surveys/{slug}/publish", LOOK),
        ("GET", f"/s/{slug}", UNDONE),
    ):
        answer = signed_in.open(path, method=method)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(RETRY_AFTER))
        assert words in answer.data
    assert signed_in.get(f"/s/{slug}/survey.json").get_json()["error"]["field"] == "server"
    assert len(caplog.records) == 4
    assert not [record for record in caplog.records if record.exc_info or slug in record.message]
    assert signed_in.get("/").status_code == 200


def test_a_full_folder_of_temporary_files_is_no_mistake_of_ours(
    sqlite: NewDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """What is uploaded, and a large answer, go there: whoever asked may come again."""
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url))
    app.add_url_rule("/large", view_func=lambda: (bytes(WHOLE) for _ in range(2)))
    researcher = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    upload = {"archive": (BytesIO(bytes(WHOLE)), SECRET)}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (WHOLE // 2, before[1]))
    try:
        answers = [researcher.get("/large"), researcher.post("/manage/surveys/import", data=upload)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    for answer in answers:
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, str(RETRY_AFTER))
    assert {record.message.partition(":")[0] for record in caplog.records} == {"the disk failed (OSError)"}
    assert not [record for record in caplog.records if record.exc_info or SECRET in record.message]
    app.extensions["moneda.engine"].dispose()


def _destroy(app: Flask) -> None:
    """Overwrite a SQLite file; drop a database of PostgreSQL."""
    engine: sa.Engine = app.extensions["moneda.engine"]
    if engine.dialect.name == "sqlite":
        engine.dispose()
        path = Path(str(engine.url.database))
        path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 100_000)
        return
    admin = sa.create_engine(engine.url.set(database="postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {engine.url.database} WITH (FORCE)")
    admin.dispose()


def test_the_job_that_keeps_house_names_what_failed(
    sqlite: NewDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk while it tidies, and a lock while it closes what is over, are different lines."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 2_000)])
    factories.close(database_url, survey.slug)
    app = create_app(Config(database_url=database_url))
    engine = app.extensions["moneda.engine"]
    engine.dispose()
    sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 1"))
    factories.keep_house(app)
    assert "the disk is full (SQLITE_FULL): OperationalError at " in caplog.text

    caplog.clear()
    engine.dispose()
    sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout = 0"))
    factories.settle(database_url, factories.publish(database_url).slug, closes_at=datetime(2026, 1, 1))  # noqa: DTZ001
    with closing(sqlite3.connect(str(engine.url.database))) as other:
        other.execute("BEGIN IMMEDIATE")
        factories.keep_house(app)
    assert "the database was locked for too long (SQLITE_BUSY): OperationalError at " in caplog.text
    assert survey.slug not in caplog.text
    engine.dispose()
