"""The kinds of questions there are: one module a kind, and here the one list of them.

A kind says everything in which it differs from the others: its answers, its designs, what its results
estimate, what it is called. Nothing else tests which kind a question is.
"""

from collections.abc import Mapping

from server.study.kinds.binned_number import BINNED_NUMBER
from server.study.kinds.encodings import Encoding
from server.study.kinds.kind import PREFER_NOT_TO_SAY, WHATS, Answer, Kind, ShownResult, Truth, What
from server.study.kinds.number import NUMBER
from server.study.kinds.scale import SCALE
from server.study.kinds.select_multiple import SELECT_MULTIPLE
from server.study.kinds.select_one import SELECT_ONE
from server.study.kinds.yes_no import YES_NO

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (YES_NO, SELECT_ONE, SELECT_MULTIPLE, SCALE, NUMBER, BINNED_NUMBER)
}
"""By name, in the order in which the editor offers them; a new question is of the first."""

FIRST_KIND = next(iter(KINDS))

__all__ = [
    "FIRST_KIND",
    "KINDS",
    "PREFER_NOT_TO_SAY",
    "WHATS",
    "Answer",
    "Encoding",
    "Kind",
    "ShownResult",
    "Truth",
    "What",
]
