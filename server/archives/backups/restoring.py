"""A backup -> a database that was empty, whole or not at all.

It is read twice: first to its end, so that nothing begins before every hash agrees; then into the database. On
PostgreSQL that is one transaction. On SQLite it is a file of another name, which gets its own at the very end, and
which the next attempt removes if this one died. Whatever was published there may release nothing before its owner has
declared what was spent since the backup was made. What lists outside the database say was taken back since is taken
back again, before anybody can see the database.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.backups.backup_loader import BackupLoader
from server.archives.backups.backup_rows import describe_columns
from server.archives.backups.containers import Contents, Taker, read_parts
from server.archives.backups.envelopes import DamagedError, Unlock, decrypt_file
from server.collect import responses
from server.collect.withdrawal_lists import Withdrawals
from server.releases.spending_marks import doubt_all
from server.store import own_tables
from server.store.engines import list_migrations, make_engine, migrate_within, open_session
from server.store.private_files import flush_folder, lock_beside, name_lock

_RESERVE = 32 * 1024 * 1024
"""Bytes that must stay free on the disk."""
_ROOM = 2.5
"""Bytes of a SQLite file, its log included, for each byte of a backup's rows: they hold bytes in base64."""
_LEFTOVERS = ("", "-wal", "-shm", "-journal", ".spent", ".spent.lock")


class RefusedTargetError(ValueError):
    """A database that a backup is not restored into; says why, in one sentence."""


def verify_backup(file: IO[bytes], unlock: Unlock) -> Contents:
    """Read a backup to its end, and hold all that it holds against its hashes.

    Raises
    ------
    DamagedError
        If it is not whole, or this does not open it.
    """
    with decrypt_file(file, unlock) as plain:
        return read_parts(plain, Taker())


def restore_backup(
    database_url: str,
    file: IO[bytes],
    unlock: Unlock,
    withdrawals: Withdrawals,
    report_progress: Callable[[int, int], object] = lambda *_: None,
) -> tuple[Contents, int]:
    """Make a database of a backup, at the newest revision; how many of these withdrawals it did not know.

    Raises
    ------
    DamagedError
        If the backup is not whole, cannot be opened, or was made by another version of Moneda that this one does not
        know.
    RefusedTargetError
        If there is something already, or no room for it.
    """
    _check_empty(database_url)
    contents = verify_backup(file, unlock)
    _check_known(contents)
    with _target(database_url, contents) as session:
        loader = BackupLoader(session, sum(contents.rows.values()), report_progress)
        with decrypt_file(file, unlock) as plain:
            again = read_parts(plain, loader)
        if again.digest != contents.digest:
            raise DamagedError("the file was changed while it was read")
        loader.finish()
        migrate_within(session.connection())
        session.flush()
        replayed = responses.replay_withdrawals(session.connection(), withdrawals)
        doubt_all(session)
    return contents, replayed


def _check_known(contents: Contents) -> None:
    if contents.revision not in list_migrations():
        raise DamagedError(
            f"it was made by a newer version of Moneda ({contents.beginning['software']}, schema "
            f"{contents.revision}); restore it with that one"
        )
    own = {kind.name: own_tables.table(kind, 0) for kind in own_tables.KINDS}
    # An older revision may have fewer tables of each survey, which its migrations make, and fewer columns, which are
    # filled with what they stand at.
    if not all(
        name in own and has_columns(own[name], columns)
        for name, columns in contents.beginning["own_columns"].items()
    ):
        raise DamagedError(
            f"its surveys have tables as {contents.beginning['software']} made them; restore it with that one, "
            "and then start this one"
        )


def has_columns(table: sa.Table, columns: list[list[str]]) -> bool:
    """Whether rows with these columns can be rows of a table."""
    older = [
        described
        for column, described in zip(table.columns, describe_columns(table), strict=True)
        if column.server_default is None or described in columns
    ]
    return older == columns


def _check_empty(database_url: str) -> None:
    url = sa.make_url(database_url)
    if url.get_backend_name() == "sqlite":
        _check_no_file(Path(str(url.database)))
        return
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            _check_no_tables(connection)
    finally:
        engine.dispose()


def _check_no_file(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        other = path.with_name(path.name + ending)
        if os.path.lexists(other):
            raise RefusedTargetError(f"DATABASE_URL must name a new file; {other} is there already")


def _check_no_tables(connection: sa.Connection) -> None:
    if tables := sa.inspect(connection).get_table_names():
        raise RefusedTargetError(
            f"DATABASE_URL must name an empty database; there are {len(tables)} tables already"
        )


@contextmanager
def _target(database_url: str, contents: Contents) -> Iterator[Session]:
    """A session on an empty schema of the backup's revision; all of it stays if the block ends, and else nothing."""
    if sa.make_url(database_url).get_backend_name() == "sqlite":
        with _new_file(Path(str(sa.make_url(database_url).database)), contents) as session:
            yield session
        return
    engine = make_engine(database_url)
    try:
        with open_session(engine, writes=True) as session:
            _check_no_tables(session.connection())
            migrate_within(session.connection(), contents.revision)
            yield session
            session.commit()
    finally:
        engine.dispose()


@contextmanager
def _new_file(path: Path, contents: Contents) -> Iterator[Session]:
    path = path.absolute()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedTargetError(f"{path.parent} cannot be made: {error.strerror}") from error
    new = path.with_name(f"{path.name}.restoring")
    with _lock_new(new):
        free, needed = shutil.disk_usage(path.parent).free, int(_ROOM * contents.size) + _RESERVE
        if free < needed:
            raise RefusedTargetError(
                f"{path.parent} must have {needed / 2**20:,.0f} MB free for the database; it has {free / 2**20:,.0f} MB"
            )
        _check_no_file(path)  # another restoration may have ended by now
        _remove(new)
        engine = make_engine(sa.URL.create("sqlite", database=str(new)).render_as_string())
        try:
            with engine.execution_options(moneda_writes=True).begin() as connection:
                migrate_within(connection, contents.revision)
            spent = path.with_name(f"{path.name}.spent")
            if spent.exists():
                shutil.copy(spent, f"{new}.spent")
            with open_session(engine, writes=True) as session:
                yield session
                session.commit()
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            engine.dispose()
            # First what lets nothing be released, and then the database; a name that is taken by now stays as it is.
            Path(f"{new}.spent").replace(spent)
            try:
                os.link(new, path)
            except OSError as error:
                raise RefusedTargetError(
                    f"DATABASE_URL must name a new file that can be made; {path} cannot: {error.strerror}"
                ) from error
            flush_folder(path.parent)
        finally:
            engine.dispose()
            _remove(new)


@contextmanager
def _lock_new(new: Path) -> Iterator[None]:
    """Keep other restorations from a file; the lock's own is gone at the end."""
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_beside(new))
        except OSError as error:
            raise RefusedTargetError(
                f"{new.parent} must be a folder that can be written to: {error.strerror}"
            ) from error
        stack.enter_context(_removing(name_lock(new)))
        yield


@contextmanager
def _removing(path: Path) -> Iterator[None]:
    """Remove a file at the end, also where that is an error."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _remove(new: Path) -> None:
    for ending in _LEFTOVERS:
        new.with_name(new.name + ending).unlink(missing_ok=True)
