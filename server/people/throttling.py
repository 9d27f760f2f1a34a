"""Wrong sign-ins are counted, in memory and for minutes, so that nobody tries passwords by the thousand.

They are counted for the address that they come from. For an account only wrong codes are,
and only after the right password: who does not know that can lock nobody out. Looks at invitations are counted
too, whatever they find: nobody is to watch a long list of codes; respondents do without. Addresses are
kept as a hash, under a salt that ends with the process; nothing is written anywhere.
"""

import hashlib
import ipaddress
import secrets
from collections.abc import Sequence
from enum import Enum

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class AttemptKind(Enum):
    """What is counted."""

    # Their names, not their limits: members of an Enum that have equal values are one and the same.
    ADDRESS = "address"
    ACCOUNT = "account"
    INVITATION = "invitation"


LIMITS: dict[AttemptKind, tuple[RateLimitItem, ...]] = {
    # Generous: behind a proxy that does not say whom it asks for, everybody has one address.
    AttemptKind.ADDRESS: (RateLimitItemPerMinute(100, 10),),
    # A code is one of a million, three are right at a time: 50 tries a day find one in eighteen years.
    AttemptKind.ACCOUNT: (RateLimitItemPerMinute(10, 15), RateLimitItemPerDay(50)),
    # Classes behind one address that begin together. Whoever is refused goes on without having looked.
    AttemptKind.INVITATION: (RateLimitItemPerMinute(100, 10),),
}
"""How many are let through."""


class Throttle:
    """What one process has counted."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._salt = secrets.token_bytes(16)

    def refuses(self, kind: AttemptKind, who: str) -> bool:
        """Whether there were too many."""
        return not all(self._limiter.test(item, *self._key(kind, who)) for item in LIMITS[kind])

    def count(self, kind: AttemptKind, who: str) -> None:
        """Count one more."""
        for item in LIMITS[kind]:
            self._limiter.hit(item, *self._key(kind, who))

    def _key(self, kind: AttemptKind, who: str) -> tuple[str, str]:
        return kind.name, hashlib.sha256(self._salt + who.encode("utf-8", "replace")).hexdigest()


def find_client(peer: str, named: Sequence[str], proxies: Sequence[Network]) -> str:
    """Whom failures are counted for; the many addresses of one IPv6 network are one.

    Parameters
    ----------
    peer : str
        The address that the connection comes from.
    named : sequence of str
        Whom the request says that it comes from (`X-Forwarded-For`): each proxy adds at the end.
    proxies : sequence of networks
        Whose word counts: read from its end, the first address that is none of theirs.
    """
    left, direct = list(named), _address(peer)
    while left and direct is not None and any(direct in proxy for proxy in proxies):
        behind = _address(left.pop().strip())
        if behind is None:
            break
        direct = behind
    if isinstance(direct, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((direct, 64), strict=False))
    return str(direct)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    # A socket for both protocols names those of the older one in the newer's way.
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found
