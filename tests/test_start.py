"""A database that cannot be used: one line on standard error, exit status 2, no traceback, and nothing written."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.store.engines import make_engine, migrate_within
from server.store.failures import Failure, find_failure
from server.web.database_start import LARGE, UnusableError, open_database
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import PASSPHRASE, is_untouched

COMMANDS = [("serve",), ("demo",), ("user", "list"), ("survey", "close", "x"), ("tidy",)]
SAYS = "DATABASE_URL must name a database that can be used: "


def expect_refusal(database_url: str, command: tuple[str, ...], *words: str) -> None:
    """Run a command in this process; a process of its own is below."""
    done = factories.run(database_url, *command)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {SAYS}")
    assert all(word in line for word in words), line


def test_a_process_ends_with_one_line() -> None:
    done = factories.moneda("sqlite:///:memory:", "serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"Error: {SAYS}it must be a file; what is held in memory is gone with each connection\n"
    )


@pytest.fixture
def path(sqlite: NewDatabase) -> Path:
    """A migrated SQLite database."""
    return Path(sqlite(True).removeprefix("sqlite:///"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_newer_schema(database_url: str, command: tuple[str, ...]) -> None:
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'm9999'")
    engine.dispose()
    expect_refusal(database_url, command, "newer version of Moneda")


@pytest.mark.parametrize("url", ["sqlite:///:memory:", "sqlite:///", "sqlite:///file:x?mode=memory&uri=true"])
def test_a_database_in_memory(url: str) -> None:
    expect_refusal(url, ("serve",), "it must be a file")


def test_paths_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no database " * 100)
    for wrong, said in (
        (str(tmp_path), "is a folder"),
        (f"{tmp_path}/file/moneda.sqlite3", "File exists"),
        ("/proc/nowhere/moneda.sqlite3", "No such file"),
        ("/proc/moneda.sqlite3", "unable to open"),
        (f"{tmp_path}/{'x' * 300}", "too long"),
        (f"{tmp_path}/file", "file is not a database"),
    ):
        expect_refusal(f"sqlite:///{wrong}", ("user", "list"), said)
    assert (tmp_path / "file").read_text() == "no database " * 100


@pytest.mark.parametrize(
    "change", ["DELETE FROM alembic_version", "INSERT INTO alembic_version VALUES ('1')"]
)
def test_a_schema_that_does_not_say_which(database_url: str, change: str) -> None:
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(change)
    engine.dispose()
    for command in (("serve",), ("check",)):
        expect_refusal(database_url, command, "alembic_version has", "in place of one")


LOOKING = [("backup", "file"), ("check",), ("rotate-key",)]


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_what_only_looks_makes_no_database_and_upgrades_none(
    new_database: NewDatabase,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backup of a new, empty database, where DATABASE_URL is wrong, is found out when the right one is lost."""
    monkeypatch.setenv("MONEDA_BACKUP_PASSPHRASE", PASSPHRASE)
    monkeypatch.chdir(tmp_path)
    url = new_database(False)
    expect_refusal(url, command)
    assert is_untouched(url)

    engine = make_engine(url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        migrate_within(connection, "0015")
    before = sa.inspect(engine).get_table_names()
    expect_refusal(url, command, "older version of Moneda")
    assert sa.inspect(engine).get_table_names() == before
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'm9999'")
    expect_refusal(url, command, "newer version of Moneda")
    engine.dispose()
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("size", [1, 16, 99])
def test_a_file_that_is_too_short_for_a_database(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"SQLite format 3\0".ljust(99, b"x")[:size])
    for command in (("serve",), ("user", "list")):
        expect_refusal(f"sqlite:///{path}", command, "file is not a database")
    assert path.stat().st_size == size


def test_a_file_without_a_byte_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("empty", "absent"):
        done = factories.run(f"sqlite:///{tmp_path / name}", "user", "list")
        assert done.exit_code == 0, done.output


def test_a_file_that_may_not_be_written_to(path: Path) -> None:
    """Root writes to any file; nobody writes to one that is mounted so, or marked so in its header."""
    with path.open("r+b") as file:
        file.seek(18)
        file.write(b"\x03\x03")  # "written by a newer SQLite: read only" (its file format, 1.3.3)
    expect_refusal(f"sqlite:///{path}", ("serve",))


@contextmanager
def of_somebody_else(path: Path) -> Iterator[Path]:
    """A copy in another folder, which this process may only read."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are for one user
        os.chmod(folder, 0o777)  # noqa: S103 - nothing else is in it
        there = shutil.copy(path, Path(folder) / "database")
        there.chmod(0o444)
        before = os.geteuid()
        try:
            if before == 0:  # who may write to any file
                os.seteuid(65_534)
            yield there
        finally:
            os.seteuid(before)


def test_a_file_of_somebody_else(path: Path) -> None:
    """Its folder may be written to, and nothing is due: SQLite by itself complains of the first change only."""
    before = path.read_bytes()
    with of_somebody_else(path) as there:
        with pytest.raises(UnusableError, match="the database may not be written to"):
            open_database(f"sqlite:///{there}")
        assert there.read_bytes() == before


def test_a_file_that_may_be_written_to_again(path: Path) -> None:
    """What was opened meanwhile is not used on."""
    with of_somebody_else(path) as there:
        engine = make_engine(f"sqlite:///{there}")
        with pytest.raises(sa.exc.OperationalError) as caught, engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE a (b)")
        assert find_failure(caught.value) is Failure.READ_ONLY
        somebody = os.geteuid()
        os.seteuid(os.getuid())
        for each in there.parent.iterdir():  # SQLite gives its log and index the mode of the file
            each.chmod(0o666)
        os.seteuid(somebody)
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE a (b)")
        engine.dispose()


@pytest.mark.parametrize("command", [("serve",), ("demo",)], ids=" ".join)
def test_a_third_of_the_pages_damaged(path: Path, command: tuple[str, ...]) -> None:
    with sqlite3.connect(path) as filling:
        filling.execute(
            "CREATE TABLE filling AS WITH RECURSIVE n(x) AS "
            "(SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000) SELECT x, hex(randomblob(200)) AS y FROM n"
        )
    filling.close()
    whole = bytearray(path.read_bytes())
    pages = len(whole) // 4096
    for page in range(pages - pages // 3, pages):
        whole[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(whole)

    expect_refusal(f"sqlite:///{path}", command, "damaged", "backup")


def test_looking_at_a_large_file_is_announced(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(LARGE)
        file.seek(28)  # where the number of pages stands: those that are new belong to no table
        file.write((LARGE // 4096).to_bytes(4))
    said: list[str] = []
    with pytest.raises(UnusableError, match="damaged"):
        open_database(f"sqlite:///{path}", check=True, tell=said.append)
    assert said == ["Checking the database file (0.1 GB) ..."]
    small: list[str] = []
    with pytest.raises(UnusableError, match="is a folder"):
        open_database(f"sqlite:///{path.parent}", check=True, tell=small.append)
    assert small == []


def test_postgresql_that_is_not_there(postgresql: NewDatabase) -> None:
    url = sa.make_url(postgresql(False))
    for wrong in (
        url.set(query={"host": "/nowhere"}),
        url.set(host="127.0.0.1", port=factories.free_port(), query={}),
        url.set(database="nowhere"),
        url.set(username="nobody"),
    ):
        text = wrong.render_as_string(hide_password=False)
        expect_refusal(text, ("serve",), "could not be reached")


def test_a_role_without_rights(postgresql: NewDatabase) -> None:
    url = sa.make_url(postgresql(True))
    admin = sa.create_engine(url)
    with admin.begin() as connection:
        connection.exec_driver_sql("DROP ROLE IF EXISTS weak")
        connection.exec_driver_sql("CREATE ROLE weak LOGIN")
    admin.dispose()
    expect_refusal(url.set(username="weak").render_as_string(), ("serve",), "permission denied")


def test_a_command_names_what_failed_on_its_way(path: Path) -> None:
    """The table is damaged where only the command looks."""
    engine = make_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        root = connection.exec_driver_sql(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'researchers'"
        ).scalar_one()
    engine.dispose()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)

    done = factories.run(f"sqlite:///{path}", "user", "list")

    assert done.exit_code == 2
    assert done.stderr == "Error: the database is damaged; look what was done before you run this again\n"
