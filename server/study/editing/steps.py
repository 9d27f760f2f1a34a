"""What a button of the editor leads to."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """A draft after a button, where to go on (an entry, an option of it), and what is said about it.

    `selected` are the entries that stay selected, by their places after the step.
    """

    document: dict[str, Any]
    at: int | None = None
    option: int | None = None
    message: str = ""
    selected: tuple[int, ...] = ()
