"""Ten rows and two harmless counts whose difference is one person's secret; then the same counts with noise."""

from dataclasses import dataclass

import numpy as np

from server.privacy import noise
from server.privacy.planning import count_guesses
from server.web.lessons.lesson_fields import LOSSES


@dataclass(frozen=True)
class TableRow:
    """A made-up person: name, class, and whether they have copied in an exam."""

    name: str
    group: str
    copied: bool


TABLE = (
    TableRow("Ana", "3A", False),
    TableRow("Bruno", "3A", True),
    TableRow("Carla", "3A", False),
    TableRow("David", "3A", False),
    TableRow("Elena", "3A", True),
    TableRow("Gloria", "3B", False),
    TableRow("Hugo", "3B", False),
    TableRow("Irene", "3B", True),
    TableRow("Jorge", "3B", False),
    TableRow("Lucía", "3B", True),
)
NAMES = tuple(row.name for row in TABLE)
TRIES = 5
ASKED = (1, 2, 5, 10)
"""How often the attacker asks, in the table of what that tells."""


@dataclass(frozen=True)
class Attack:
    """What somebody finds out who asks for everybody, and for everybody but one.

    Attributes
    ----------
    row : TableRow
        The one that they are after.
    everyone, others : int
        The exact counts.
    noisy : list of tuple of int
        Of each try the two counts, each with noise of its own, and their difference.
    right : list of tuple of int
        How often both counts are asked for, and of 100 guesses about the person how many can be right at most.
    """

    row: TableRow
    everyone: int
    others: int
    noisy: list[tuple[int, int, int]]
    right: list[tuple[int, int]]


def attack(name: str, loss: str) -> Attack:
    """Ask for both counts, exactly and with geometric noise; names are those of `NAMES`, losses of `LOSSES`."""
    (row,) = [row for row in TABLE if row.name == name]
    everyone = sum(each.copied for each in TABLE)
    others = everyone - row.copied
    # One person changes each count by at most 1; each has noise for that.
    drawn = noise.geometric(np.tile([everyone, others], (TRIES, 1)), 1, LOSSES[loss])
    # Only the first count holds the person, so that one alone tells of them.
    return Attack(
        row,
        everyone,
        others,
        [(first, second, first - second) for first, second in drawn.tolist()],
        [(times, count_guesses([float(LOSSES[loss])] * times).right) for times in ASKED],
    )
