"""What a search keeps secret between two questions: its threshold's noise, sealed under a key that is elsewhere."""

import json
from fractions import Fraction

from server.inputs import N_, refuse
from server.privacy.selection import OngoingSearch, SearchNoise
from server.releases.searches.search_terms import CHANGE
from server.store.models import Search
from server.store.sealed_secrets import LostKeyError, seal, unseal


def seal_search(entry_id: int, search: OngoingSearch) -> str:
    """All that a search needs to go on, whatever the library does by then; how many are left its answers say."""
    noise = search.noise
    kept = {
        "offset": search.offset,
        "epsilon": noise.epsilon,
        "delta": noise.delta,
        "redrawn": noise.redrawn,
        "threshold_loss": noise.threshold_loss,
        "answers_loss": str(noise.answers_loss),
        "factor": noise.factor,
    }
    return seal(json.dumps(kept), name_owner(entry_id))


def unseal_search(kept: Search, positives: int, left: int) -> OngoingSearch:
    """The search that `left` answers may still be above in.

    Raises
    ------
    InputError
        409 on `search` if the key is not here.
    """
    try:
        stated = json.loads(unseal(kept.sealed, name_owner(kept.entry_id)))
    except LostKeyError:
        template = N_("cannot go on: this server does not have the key under which its noise was sealed")
        raise refuse(409, "search", template) from None
    offset = stated.pop("offset")
    noise = SearchNoise(positives, **{**stated, "answers_loss": Fraction(stated["answers_loss"])})
    return OngoingSearch(noise, CHANGE, offset, left)


def name_owner(entry_id: int) -> str:
    """Whose secret it is: that of one entry of a ledger."""
    return f"search-{entry_id}"
