"""Files that hold what respondents sent: nobody else on this machine reads them, whatever its usual mode for files."""

import os
from contextlib import suppress
from pathlib import Path

MODE = 0o600


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
