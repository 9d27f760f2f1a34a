"""How often codes and receipts are looked at, in memory alone: nothing of a respondent is stored for it.

Looks are counted for the address that they come from, whatever they find: nobody is to watch a long list of codes.
Addresses are kept as a hash, under a salt that ends with the process; nothing is written anywhere. So processes cannot
count together: each lets its part of them through.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from server.people.throttling import Network, find_client
from server.web.front.messages import Scope

MOST_LOOKS: Final = 100
"""Within `MINUTES`. Classes behind one address begin together; whoever is refused goes on without having looked."""
MINUTES: Final = 10


def find_sender(scope: Scope, headers: Mapping[bytes, bytes], proxies: Sequence[Network]) -> str:
    """The address that a request comes from, by the word of proxies that are trusted."""
    named = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
    return find_client((scope.get("client") or ("",))[0], named, proxies)


class LookLimit:
    """What one process has counted.

    Parameters
    ----------
    processes : int
        How many of this server share the limit.
    """

    def __init__(self, processes: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._item = RateLimitItemPerMinute(max(1, MOST_LOOKS // processes), MINUTES)
        self._salt = secrets.token_bytes(16)

    def take(self, who: str) -> bool:
        """Count one more, if there is one left."""
        hashed = hashlib.sha256(self._salt + who.encode("utf-8", "replace")).hexdigest()
        return self._limiter.hit(self._item, hashed)
