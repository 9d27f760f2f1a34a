"""Mechanisms from the literature that do not keep what they promise, and by how much, for whoever is no programmer.

Nothing is tried when a page is opened. The numbers are those of one run of `python -m server audit --json`, kept in
`published_failures.json` as they were printed: the entries that this library does not ship.
"""

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from server.inputs import N_

FILE = Path(__file__).parent / "published_failures.json"

_WORDS = {
    "geometric noise as a sign times a one-sided geometric": (
        N_("Geometric noise from a random sign and a random number"),
        N_("Zero comes with either sign, so it comes too often: the exact count shines through."),
    ),
    "uniform noise on {-2..2} for a count": (
        N_("Noise from −2 to 2, each equally likely"),
        N_(
            "Some numbers are possible with you and impossible without you. Whoever sees one of them is sure."
        ),
    ),
    "mean with the exact count": (
        N_("An average, its noise divided by the exact number of people"),
        N_(
            "With more people the noise becomes narrower. So its size tells how many there are, with you or without."
        ),
    ),
    "mean with the exact count, redrawn until inside": (
        N_("The same average, drawn again until it is a possible one"),
        N_(
            "How often it must be drawn again depends on the data, and so does how likely everything else becomes."
        ),
    ),
    "mean with the exact count, clamped (clamping-down)": (
        N_("The same average, cut off at the ends of what is possible"),
        N_("The ends no longer tell. In between, the noise still tells how many people there are."),
    ),
    "normalised mean with count noise Lap(eps/2)": (
        N_("An average from a noisy sum and a noisy count, with ε the wrong way up"),
        N_("The noise of the count is ε/2 wide where 2/ε is needed: for ε = 1 a quarter of it."),
    ),
    "simple noisy mean, one person added, values in [10, 11]": (
        N_("An average of values between 10 and 11"),
        N_(
            "The noise is enough for a person whose value changes by 1. One who is added changes the sum by 11."
        ),
    ),
    "sparse vector without noise on the answers": (
        N_("“Which counts are above a limit?”, with noise on the limit alone"),
        N_("If one count is said to be above and another is not, it is certain which of the two is larger."),
    ),
    "sparse vector with unlimited positives": (
        N_("The same with noise on each count, and no end"),
        N_("Each “above” costs privacy. This goes on for ever, with noise that is enough for few."),
    ),
    "sparse vector with noise that does not grow with c": (
        N_("The same, which ends after five that are above"),
        N_("The noise does not grow with how many may be above: it is too little for five."),
    ),
    "sparse vector publishing the value it compared": (
        N_("The same, which also gives out the number that was above"),
        N_(
            "That number has told already that the secret limit is below it. Given out, it tells more than it paid for."
        ),
    ),
}
_HITS = re.compile(r"\(([\d,]+) against ([\d,]+) of ([\d,]+)\)$")


@dataclass(frozen=True)
class FailedMechanism:
    """A mechanism that was caught.

    Attributes
    ----------
    mechanism : str
        As the audit calls it.
    title, fault : str
        What it is and why it fails, in words for translation.
    claimed, certified : float
        What it was said to lose, and what it loses at least, in nats; the latter may be infinite.
    hits : tuple of int, or None
        How often the event that shows it came with the one data and with the other, and the runs on each; None where
        the loss was computed.
    """

    mechanism: str
    title: str
    fault: str
    claimed: float
    certified: float
    hits: tuple[int, int, int] | None

    @property
    def unbounded(self) -> bool:
        """Whether no ε is enough: something can come with the one data and never with the other."""
        return math.isinf(self.certified)

    @property
    def claimed_odds(self) -> float:
        """The factor by which one person may change how likely anything is, as was said; rounded up."""
        return math.ceil(100 * math.exp(self.claimed)) / 100

    @property
    def certified_odds(self) -> float:
        """The same as it is at least, rounded down; may be infinite."""
        return round_down(math.exp(self.certified))

    @property
    def found_loss(self) -> float:
        """The ε that it loses at least, rounded down; may be infinite."""
        return round_down(self.certified)

    @property
    def times(self) -> float:
        """How many times the ε that it promised it loses at least, rounded down; may be infinite."""
        return round_down(self.certified / self.claimed)


@cache
def list_failures() -> tuple[FailedMechanism, ...]:
    """All of them, in the order of the audit."""
    return tuple(
        FailedMechanism(
            row["mechanism"],
            *_WORDS[row["mechanism"]],
            row["claimed_epsilon"],
            row["certified_epsilon"],
            _read_hits(row["event"]),
        )
        for row in json.loads(FILE.read_text("utf-8"))
    )


def round_down(value: float) -> float:
    """Three digits of a positive number, never more than it; infinity as it is."""
    if math.isinf(value):
        return value
    digits = 2 - math.floor(math.log10(value))
    return math.floor(value * 10.0**digits) / 10.0**digits


def _read_hits(event: str) -> tuple[int, int, int] | None:
    found = _HITS.search(event)
    if found is None:
        return None
    more, less, runs = (int(number.replace(",", "")) for number in found.groups())
    return more, less, runs
