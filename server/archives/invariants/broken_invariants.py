"""What a look at the database found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BrokenInvariant:
    """An invariant that does not hold, by its name, and in which way."""

    name: str
    problem: str
