"""What a process remembers of addresses for a short while: nothing of it is stored, and nothing leads back to them.

An address is kept as a hash under a salt of the memory's own. Salt and all that was kept under it are forgotten
together, after so many seconds: by whoever is counted next, or, where nobody comes, by the job of the process
(`server.web.housekeeping`).
"""

import hashlib
import ipaddress
import secrets
from time import monotonic
from typing import Final, Generic, TypeVar

MOST: Final = 100_000
"""Addresses of which something is remembered."""

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """What is known under one salt, `until` a moment of the process's clock."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.values: dict[bytes, Value] = {}
        self._salt = secrets.token_bytes(16)

    def hash(self, *words: str) -> bytes:
        """The name under which something is known."""
        named = "\n".join(words).encode("utf-8", "replace")
        return hashlib.sha256(self._salt + named).digest()


class AddressMemory(Generic[Value]):
    """What is remembered for `kept` seconds at most.

    Whoever counts holds on to one `Remembered`: what is forgotten meanwhile, by another thread, is gone with it.
    """

    def __init__(self, kept: float) -> None:
        self._kept = kept
        self._current = self.begin()

    def begin(self) -> Remembered[Value]:
        """Forget everything."""
        self._current = Remembered(monotonic() + self._kept)
        return self._current

    def recall(self) -> Remembered[Value]:
        """What is known now."""
        current = self._current
        return self.begin() if monotonic() >= current.until else current

    def forget_old(self) -> None:
        """Let go of what was kept for long enough, also where nobody comes any more."""
        self.recall()


def is_public(who: str) -> bool:
    """Whether an address is one of the public internet: not of this machine, a network of its own, or none at all."""
    try:
        return ipaddress.ip_network(who).is_global
    except ValueError:
        return False
