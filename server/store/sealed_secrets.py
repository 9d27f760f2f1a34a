"""Secrets that the server must know itself, encrypted in the database under a key that is not in it.

The key is a file of age identities, a line each: the first seals, all open. Whoever has the database alone, or a
backup of it, learns no secret. What is sealed names whose it is, so that it cannot be moved to another row.
"""

import base64
import errno
import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import pyrage
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.config import secrets_key
from server.store.private_files import lock_beside, replace_file

Owner = int | str
"""Whose a secret is: the number of a researcher, or the id of a webhook."""
Reseal = Callable[[str, Owner], str]
"""Seals anew what was sealed for somebody."""
_PASSING = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EAGAIN, errno.EINTR, errno.ESTALE}
"""What keeps a file that is there from being read for a while."""


class LostKeyError(Exception):
    """The key that opens a secret is not in the file."""


def seal(secret: str, owner: Owner) -> str:
    """A secret of a researcher or a webhook, encrypted; the key is made when there is none.

    Raises
    ------
    OSError
        If the file cannot be read or made.
    """
    return _seal(_read_keys(make=True)[0], secret, owner)


def keep_key(session: Session) -> None:
    """Have the key stay what it is until the transaction ends: what it seals is not stored before.

    What changes the key takes this table first. SQLite has one writer.
    """
    if session.connection().dialect.name == "postgresql":
        session.execute(sa.text("LOCK TABLE researchers IN ROW SHARE MODE"))


def unseal(sealed: str, owner: Owner) -> str:
    """What was sealed for a researcher or a webhook.

    Raises
    ------
    LostKeyError
        If the file of the key is not there, or has another, or this was sealed for somebody else.
    OSError
        If it cannot be read just now.
    """
    try:
        keys = _read_keys(make=False)
        number, _, secret = pyrage.decrypt(base64.b64decode(sealed), keys).decode().partition(" ")
    except (OSError, ValueError, pyrage.DecryptError) as error:  # or it was damaged
        if isinstance(error, OSError) and error.errno in _PASSING:
            raise
        raise LostKeyError(
            f"{secrets_key()} does not hold the key of what the database has sealed"
        ) from error
    if number != str(owner):
        raise LostKeyError("what is sealed is somebody else's")
    return str(secret)


def derive_key(purpose: str) -> bytes:
    """A key for something else that is to be outside the database, too.

    Raises
    ------
    OSError
        If the file cannot be read; `FileNotFoundError` where there is none.
    LostKeyError
        If it is no file of keys.
    """
    return hmac.digest(str(_read_keys(make=False)[0]).encode(), purpose.encode(), hashlib.sha256)


def find_public_key(*, make: bool) -> str:
    """The public half of the key that seals, which names it; made when there is none, if this is wished.

    Raises
    ------
    OSError
        If the file cannot be read, or made.
    LostKeyError
        If it is no file of keys.
    """
    return str(_read_keys(make=make)[0].to_public())


def rotate_key(change: Callable[[Reseal, str], None]) -> None:
    """Seal everything under a new key, and forget the old one.

    `change` is given what seals anew, and the new key's public half; it returns once all of it is committed. Until
    then the file has both keys, so that whatever dies on the way leaves what can be opened.

    Raises
    ------
    OSError
        If the file cannot be read or written.
    LostKeyError
        If something is sealed under a key that is not there; then nothing is changed.
    """
    path = secrets_key()
    _read_keys(make=True)
    new = pyrage.x25519.Identity.generate()
    with lock_beside(path):
        old = _read_keys(make=False)
        _write_keys(path, [new, *old])
        try:
            change(lambda sealed, owner: _seal(new, unseal(sealed, owner), owner), str(new.to_public()))
        except LostKeyError:  # before anything was committed
            _write_keys(path, old)
            raise
        _write_keys(path, [new])


def _seal(key: pyrage.x25519.Identity, secret: str, owner: Owner) -> str:
    return base64.b64encode(pyrage.encrypt(f"{owner} {secret}".encode(), [key.to_public()])).decode()


def _read_keys(*, make: bool) -> list[pyrage.x25519.Identity]:
    path = secrets_key()
    if make and not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock_beside(path):
            if not path.exists():
                _write_keys(path, [pyrage.x25519.Identity.generate()])
    lines = path.read_text("ascii", "replace").split()
    try:
        found = [pyrage.x25519.Identity.from_str(line) for line in lines]
    except pyrage.IdentityError:
        found = []
    if not found:
        raise LostKeyError(f"{path} is no file of keys")
    return found


def _write_keys(path: Path, keys: list[pyrage.x25519.Identity]) -> None:
    replace_file(path, "".join(f"{key}\n" for key in keys).encode())
