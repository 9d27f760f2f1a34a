"""How often codes of invitations are looked at, in memory alone: nothing of a respondent is stored for it.

**Why there is a limit.** Not for guessing: a code has 80 random bits, so that whoever tries ten thousand a second for
a whole year, in a survey with 100,000 codes, finds one with a chance of 3 in 100 million; a response with a made-up
code, which no such limit stops, would find out as much. But a look spends nothing, so that whoever has a long list of
codes could watch when each of them is used. That is what is counted, whatever a look finds.

**Whom it keeps out: nobody.** A page that is refused goes on to the questions without having looked, and the response
decides (`client/invitation.js`). So whoever uses up the looks of an address that others share takes one thing from
them: to be told before the questions, and not after them, that a code was used already.

An address that is not of the public internet belongs to everybody who comes by an onion service, or by a proxy that
no setting names. There looks are counted for each link, so that nobody's watching of one survey takes the looks of
another.

What is counted is kept as hashes (`server.web.front.address_memory`) until the ten minutes are over. When there is
room for no more of them, nobody new may look until then: to begin anew, as for responses, would let whoever has many
addresses look again and again. Processes do not count together: each lets its part of the looks through.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from server.people.throttling import Network, find_client
from server.web.front import address_memory
from server.web.front.address_memory import AddressMemory, is_public
from server.web.front.messages import Scope

MOST_LOOKS: Final = 100
"""Within `MINUTES`. Classes behind one address begin together; whoever is refused goes on without having looked."""
MINUTES: Final = 10


def find_sender(scope: Scope, headers: Mapping[bytes, bytes], proxies: Sequence[Network]) -> str:
    """The address that a request comes from, by the word of proxies that are trusted."""
    named = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",") if proxies else ()
    return find_client((scope.get("client") or ("",))[0], named, proxies)


class LookLimit:
    """What one process has counted.

    Parameters
    ----------
    processes : int
        How many of this server share the limit.
    """

    def __init__(self, processes: int) -> None:
        self._most = max(1, MOST_LOOKS // processes)
        self.memory: AddressMemory[int] = AddressMemory(60 * MINUTES)

    def take(self, who: str, slug: str) -> bool:
        """Count one more look of an address, by a link; whether there was one left."""
        known = self.memory.recall()
        hashed = known.hash(who) if is_public(who) else known.hash("", slug)
        looks = known.values.get(hashed, 0)
        if looks >= self._most or (not looks and len(known.values) >= address_memory.MOST):
            return False
        known.values[hashed] = looks + 1
        return True
