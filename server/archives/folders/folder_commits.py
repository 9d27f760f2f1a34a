"""A survey's folder appears in an archive folder in one step, whoever else writes there, and whatever ends a writer."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.archives.folders.folder_layout import WRITING, ArchiveFolderError

_FOLDER = 0o700


@contextmanager
def begin_writing(archive: Path) -> Iterator[Path]:
    """A new folder in an archive folder, which nobody reads; it is gone afterwards, unless it was committed.

    What killed writers left is taken away. Locks tell it from what others are writing.
    """
    with _opening(archive):
        archive.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        whole = _lock(archive)
        try:
            _sweep(archive)
            folder = archive / f"{WRITING}{secrets.token_hex(8)}"
            folder.mkdir(mode=_FOLDER)
            own = _lock(folder)
        finally:
            os.close(whole)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(own)  # and the lock with it, also if the process dies


def commit_folder(folder: Path, target: Path) -> bool:
    """Give a whole folder its name; False where that is taken. Once this returns, it is on the disk."""
    for inner, _folders, _files in os.walk(folder):
        _settle(Path(inner))
    try:
        folder.rename(target)
    except OSError:
        if target.exists():
            return False
        raise
    _settle(target.parent)
    return True


def _sweep(archive: Path) -> None:
    for folder in archive.glob(f"{WRITING}*"):
        with suppress(OSError):  # somebody else's, or locked by who writes it
            left = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(left)


def _lock(folder: Path) -> int:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(number, fcntl.LOCK_EX)
    return number


def _settle(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _opening(archive: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArchiveFolderError(
            f"the archive must be a folder that can be written; {str(archive)!r} is not: {error.strerror}"
        ) from error
