"""Files that hold what respondents sent: nobody else on this machine reads them, whatever its usual mode for files."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

MODE = 0o600
UNFINISHED = ".unfinished"


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """An `opener` of `open`: a file that is made gets the mode of one for its owner alone."""
    return os.open(path, flags, MODE)


def keep_private(path: Path, *, make: bool) -> None:
    """Take from others what they may do with a file, which is made if it is not there and this is wished.

    One that belongs to somebody else stays as it is, as does a file system that cannot be written to.
    """
    # What cannot be made or changed is refused by whoever opens it, in words of its own.
    with suppress(OSError):
        if make and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
        elif path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(MODE)


@contextmanager
def lock_beside(path: Path) -> Iterator[None]:
    """Keep every other process and thread that asks for it from a file; one that comes meanwhile waits.

    Only who holds the lock may remove the file that it is made of, `name_lock`.

    Raises
    ------
    OSError
        If no file can be made beside it.
    """
    lock = name_lock(path)
    while True:
        beside = os.open(lock, os.O_RDWR | os.O_CREAT, MODE)
        try:
            fcntl.flock(beside, fcntl.LOCK_EX)
            if _is_at(lock, beside):  # or whoever had it has removed it
                yield
                return
        finally:
            os.close(beside)  # and the lock with it, also if the process dies


def name_lock(path: Path) -> Path:
    """The file beside another one that whoever has the lock of that one holds."""
    return path.with_name(f"{path.name}.lock")


def _is_at(path: Path, opened: int) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that gets its name once it is whole and on the disk; until then, its name ends in `UNFINISHED`.

    What one that was killed has left is written over.

    Raises
    ------
    OSError
        If there is such a file, somebody else writes it, or it cannot be written; then it is not there.
    """
    new = path.with_name(f"{path.name}{UNFINISHED}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    with os.fdopen(os.open(new, flags, MODE), "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(file.fileno()), new.stat()):  # it has got its name meanwhile
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        try:
            file.truncate(0)
            yield file
            file.flush()
            os.fsync(file.fileno())
            _name(new, path)
        finally:
            new.unlink(missing_ok=True)
    flush_folder(path.parent)


def _name(new: Path, path: Path) -> None:
    """Give a file another name, which it does not take from one that has it."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        new.rename(path)


def flush_folder(folder: Path) -> None:
    """Have on the disk which files a folder has."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in the place of the one before; once this returns, it is on the disk.

    Raises
    ------
    OSError
        If it cannot be written; then the one before is still there.
    """
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    flush_folder(path.parent)
