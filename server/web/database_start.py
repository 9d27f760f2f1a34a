"""A database as it is found at the start: migrated and fit for use, or refused in one sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from server import archives
from server.collect import responses, tidying
from server.collect.withdrawal_lists import bring_up_to_date
from server.inputs import InputError
from server.releases.spending_marks import open_marks
from server.store.engines import has_known_schema, has_newest_schema, make_engine, migrate, read_migrations
from server.store.failures import MovedError, OutdatedError, find_failure
from server.store.sealed_secrets import LostKeyError
from server.study import surveys

_HEADER = 100
"""Bytes with which a SQLite file begins."""
LARGE = 64 * 1024 * 1024
"""Bytes of a SQLite file that take a moment to check."""

_NEWER = "it was made by a newer version of Moneda; use that one, or another database"


class UnusableError(Exception):
    """A database that cannot be used; says why, in one line."""


def open_database(
    database_url: str, *, check: bool = False, tell: Callable[[str], object] = lambda _line: None
) -> sa.Engine:
    """An engine on a migrated database.

    Parameters
    ----------
    database_url : str
        As `Config.database_url`.
    check : bool
        Look at every page of a SQLite file first.
    tell : callable
        Is given a line before what takes a moment.

    Raises
    ------
    UnusableError
        If there is no such database, it cannot be written to, is damaged, or was made by a newer Moneda.
    """
    engine = _make_engine(database_url)
    with _refusing(engine):
        if check and engine.dialect.name == "sqlite":
            _check_pages(engine, tell)
        with engine.execution_options(moneda_writes=False).connect() as connection:
            if sa.inspect(connection).has_table("alembic_version"):
                _check_revision(connection)
        if engine.dialect.name == "sqlite":
            _check_writing(engine)
        migrate(engine)
        open_marks(engine)
        _take_back_again(engine)
        _delete_due(engine)
    return engine


def _take_back_again(engine: sa.Engine) -> None:
    """Nor is anybody answered from what was taken back, and is in a copy that was put in the database's place."""
    if missing := bring_up_to_date(engine):
        with engine.execution_options(moneda_writes=True).begin() as connection:
            responses.replay_withdrawals(connection, missing)


def _delete_due(engine: sa.Engine) -> None:
    """Nobody is answered from what had to be deleted while no server ran, or is in a backup that was restored."""
    archives.delete_due(engine, surveys.now(), tidying.Patience(tidying.LONG_PATIENCE))


def open_existing(database_url: str) -> sa.Engine:
    """An engine on a database that is there and fits this version: nothing is made, upgraded or marked.

    Raises
    ------
    UnusableError
        As `open_database`, and where there is none, or one that an older Moneda made.
    """
    path = Path(str(sa.make_url(database_url).database))
    if database_url.startswith("sqlite") and not path.exists():
        raise _unusable(f"there is no file {path}")
    engine = _make_engine(database_url)
    with _refusing(engine), engine.execution_options(moneda_writes=False).connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            raise _unusable("nothing in it was made by Moneda")
        _check_revision(connection)
        if not has_newest_schema(connection):
            if not has_known_schema(connection):
                raise _unusable(_NEWER)
            raise _unusable(
                "it was made by an older version of Moneda, and only starting this one upgrades it; use that one"
            )
    return engine


def _check_revision(connection: sa.Connection) -> None:
    heads = read_migrations(connection)
    if len(heads) != 1:
        raise _unusable(
            f"its table alembic_version has {len(heads)} rows in place of one; put a backup in its place"
        )


def check_address(database_url: str) -> None:
    """Refuse an address that can be none of a database.

    Raises
    ------
    UnusableError
        If it cannot be read, or leads into memory, to a folder or to a file that is too short.
    """
    try:
        url = sa.make_url(database_url)
        if url.get_backend_name() == "sqlite":
            _check_path(url)
    except OSError as error:
        raise _unusable(f"{error.filename}: {error.strerror}") from error
    except (ValueError, sa.exc.ArgumentError) as error:
        raise _unusable(str(error)) from error


def _make_engine(database_url: str) -> sa.Engine:
    check_address(database_url)
    try:
        return make_engine(database_url)
    except OSError as error:
        raise _unusable(f"{error.filename}: {error.strerror}") from error
    except (ValueError, sa.exc.ArgumentError) as error:
        raise _unusable(str(error)) from error


@contextmanager
def _refusing(engine: sa.Engine) -> Iterator[None]:
    """Turn what fails into a sentence; the engine is then closed."""
    try:
        yield
    except BaseException as error:
        engine.dispose()
        if isinstance(error, OutdatedError):
            raise _unusable(_NEWER) from None
        if isinstance(error, InputError | LostKeyError):
            raise _unusable(str(error)) from error
        if isinstance(error, sa.exc.DBAPIError | MovedError):
            raise _unusable(_reason(error)) from error
        if isinstance(error, sa.exc.NoResultFound):
            raise _unusable("a row that it must have is missing; put a backup in its place") from error
        if isinstance(error, OSError):  # of the key under which an upgrade seals secrets
            raise _unusable(f"{error.filename}: {error.strerror}") from error
        raise


def _check_path(url: sa.URL) -> None:
    path = url.database or ":memory:"
    if ":memory:" in path or "mode" in url.query or "uri" in url.query:
        raise ValueError("it must be a file; what is held in memory is gone with each connection")
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder, not a file")
    # SQLite takes a file that is shorter than its own header for an empty database, and writes over it.
    if Path(path).is_file() and 0 < Path(path).stat().st_size < _HEADER:
        raise ValueError(f"{path}: file is not a database")


def _check_pages(engine: sa.Engine, tell: Callable[[str], object]) -> None:
    path = Path(str(engine.url.database))
    size = path.stat().st_size if path.exists() else 0
    if size >= LARGE:
        tell(f"Checking the database file ({size / 2**30:.1f} GB) ...")
    with engine.connect() as connection:
        (first,) = connection.exec_driver_sql("PRAGMA quick_check(1)").all()
    if first[0] != "ok":
        raise _unusable("its file is damaged; put a backup in its place")


def _check_writing(engine: sa.Engine) -> None:
    """Try to write, and leave all as it was.

    On a file that may only be read SQLite begins a transaction that writes, and refuses the first change only.
    """
    with engine.execution_options(moneda_writes=True).connect() as connection:
        number = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA user_version = {number}")


def _reason(error: Exception) -> str:
    """What the database says, on one line; what is wrong with a file is named as the log names it."""
    failure = find_failure(error)
    sentence = " ".join(str(getattr(error, "orig", None) or error).split())
    return f"{failure.value}: {sentence}" if failure is not None else sentence


def _unusable(reason: str) -> UnusableError:
    return UnusableError(f"DATABASE_URL must name a database that can be used: {reason}")
