"""How many responses one address may send, in memory alone: those beyond it are asked to come a little later.

Classes and lecture halls have one address, so the number is large, and whoever is beyond it loses nothing: the page
of a respondent keeps its response and sends it by itself, and no connection is held meanwhile. Nobody is counted by
an address that is not of the public internet: behind an onion service, or a proxy that no setting names,
everybody has the same.

An address is kept as a hash, under a salt that is drawn anew every hour, with one time: when its responses would all
have come, had they come evenly; one that nobody is counted by, as a hash alone. Both are forgotten with the salt.
Processes do not count together: each lets its part through.
"""

import hashlib
import ipaddress
import math
import secrets
from time import monotonic
from typing import Final

AT_ONCE: Final = 600
"""Responses that an address may send at once: fifteen classes of 40."""
A_SECOND: Final = 1.0
"""Responses after these: as many again within ten minutes."""
KEPT: Final = 3600.0
"""Seconds at most that a salt is used, and what is counted under it."""
MOST: Final = 100_000
"""Addresses that are counted; with one more, counting begins anew."""


class ArrivalLimit:
    """What one process has counted.

    Parameters
    ----------
    processes : int
        How many of this server share the limit.
    """

    def __init__(self, processes: int) -> None:
        self._gap = processes / A_SECOND
        self._ahead = max(1, AT_ONCE // processes) * self._gap
        self._begin(monotonic())

    def _begin(self, now: float) -> None:
        self._salt, self._until = secrets.token_bytes(16), now + KEPT
        self._times: dict[bytes, float] = {}
        self._uncounted: set[bytes] = set()

    def find_delay(self, who: str) -> int:
        """Count one more response; or after how many whole seconds it may come, where that is not now."""
        now = monotonic()
        if now >= self._until or len(self._times) >= MOST:
            self._begin(now)
        hashed = hashlib.sha256(self._salt + who.encode()).digest()
        if hashed in self._uncounted:
            return 0
        if hashed not in self._times and not _is_public(who):
            self._remember_uncounted(hashed)
            return 0
        due = max(self._times.get(hashed, now), now) + self._gap
        early = due - self._ahead - now
        if early > 0:
            return math.ceil(early)
        self._times[hashed] = due
        return 0

    def _remember_uncounted(self, hashed: bytes) -> None:
        """Of an address that nobody is counted by: to look at it takes longer than to store its response."""
        if len(self._uncounted) < MOST:
            self._uncounted.add(hashed)


def _is_public(who: str) -> bool:
    try:
        return ipaddress.ip_network(who).is_global
    except ValueError:
        return False
