"""Passwords: what one must be, its hash (Argon2), and a check that takes as long for nobody as for somebody."""

import unicodedata
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from server.inputs import N_, refuse

SHORTEST, LONGEST = 12, 128
"""Characters, after NFKC: the same password typed on another keyboard is the same."""

# A hash takes 64 MiB and some 50 ms of two cores: at most two at once, the others wait. The front lets those who
# sign in wait in a line of their own (`server.web.front.bridge`), so that whoever floods it holds up no respondent.
_HASHING = BoundedSemaphore(2)


def check_password(text: str, login: str) -> str:
    """A password that may be chosen, as it is hashed.

    Raises
    ------
    InputError
        If it is too short, too long, or holds the login.
    """
    password = normalise_password(text)
    if len(password) < SHORTEST:
        raise _refused_length(len(password))
    if login and login in password.casefold():
        raise refuse(422, "password", N_("must not contain your sign-in name"))
    return password


def normalise_password(text: str) -> str:
    """A password as it is hashed.

    Raises
    ------
    InputError
        If it is too long, before any work is done on it.
    """
    if len(text) > 8 * LONGEST:
        raise _refused_length(len(text))
    password = unicodedata.normalize("NFKC", text)
    if len(password) > LONGEST:
        raise _refused_length(len(password))
    return password


def hash_password(password: str) -> str:
    """The hash of a checked password, with a salt of its own."""
    with _HASHING:
        return _hasher().hash(_bytes(password))


def verify(password_hash: str | None, text: str) -> tuple[bool, str | None]:
    """Whether this is the password, and a newer hash where the one that is kept is out of date.

    Without a hash the answer is no, after the same work.

    Raises
    ------
    InputError
        422 if it is too long to be one.
    """
    password = normalise_password(text)
    with _HASHING:
        return _verify_password(password_hash, _bytes(password))


def _verify_password(password_hash: str | None, password: bytes) -> tuple[bool, str | None]:
    hasher = _hasher()
    decoy = _decoy()
    try:
        hasher.verify(password_hash or decoy, password)
    except (VerificationError, InvalidHashError):
        return False, None
    if password_hash is None:
        return False, None
    return True, hasher.hash(password) if hasher.check_needs_rehash(password_hash) else None


def _refused_length(length: int) -> Exception:
    template = N_("must have %(low)d to %(high)d characters; it has %(length)d")
    return refuse(422, "password", template, low=SHORTEST, high=LONGEST, length=length)


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _decoy() -> str:
    """The hash of no password: what is worked on when nobody has the login."""
    return _hasher().hash(b"")
