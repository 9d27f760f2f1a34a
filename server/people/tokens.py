"""Secrets that are given out once, their hashes, and the clock that ends them."""

import hashlib
import secrets
from datetime import UTC, datetime


def new_secret() -> str:
    """256 random bits, for an address or a cookie."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> bytes:
    """What the database keeps instead of a secret; secrets are random, so it needs no salt and no time."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def now() -> datetime:
    """Now in UTC, naive: SQLite keeps no time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
