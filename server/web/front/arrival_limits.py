"""How many responses one address may send, in memory alone: those beyond it are asked to come a little later.

Classes and lecture halls have one address, so the number is large, and whoever is beyond it loses nothing: the page
of a respondent keeps its response and sends it by itself, and no connection is held meanwhile. Nobody is counted by
an address that is not of the public internet: behind an onion service, or a proxy that no setting names,
everybody has the same.

An address is kept as a hash (`server.web.front.address_memory`), with one time: when its responses would all have
come, had they come evenly; one that nobody is counted by, as a hash alone. Processes do not count together: each lets
its part through.
"""

import math
from time import monotonic
from typing import Final

from server.web.front import address_memory
from server.web.front.address_memory import AddressMemory, Remembered, is_public

AT_ONCE: Final = 600
"""Responses that an address may send at once: fifteen classes of 40."""
A_SECOND: Final = 1.0
"""Responses after these: as many again within ten minutes."""
KEPT: Final = 2700.0
"""Seconds after which everything is forgotten: within the hour, also where the job that does it is late."""
_NEW: Final = -math.inf
"""Of an address of which nothing is remembered."""


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
        self.memory: AddressMemory[float | None] = AddressMemory(KEPT)

    def find_delay(self, who: str) -> int:
        """Count one more response; or after how many whole seconds it may come, where that is not now."""
        known = self.memory.recall()
        hashed = known.hash(who)
        before = known.values.get(hashed, _NEW)
        if before is None:
            return 0
        if before == _NEW and not is_public(who):
            _remember_uncounted(known, hashed)
            return 0
        if before == _NEW and len(known.values) >= address_memory.MOST:
            known = self.memory.begin()  # nobody may be kept out by many others
            hashed = known.hash(who)
        now = monotonic()
        due = max(before, now) + self._gap
        early = due - self._ahead - now
        if early > 0:
            return math.ceil(early)
        known.values[hashed] = due
        return 0


def _remember_uncounted(known: Remembered[float | None], hashed: bytes) -> None:
    """Of an address that nobody is counted by: to look at it takes longer than to store its response."""
    if len(known.values) < address_memory.MOST:
        known.values[hashed] = None
