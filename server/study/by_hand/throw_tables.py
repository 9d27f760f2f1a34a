"""What each outcome of a throw has somebody record, as a table that is read without counting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.privacy.designs import Throws
from server.privacy.designs.throws import FACES

Faces = tuple[int | None, ...]
"""Of some coins: 0 is heads, 1 is tails, None is either."""


@dataclass(frozen=True)
class ThrowRow:
    """Some outcomes of a throw and what is recorded then: an answer by its place in the design, or the person's own.

    Of coins `coins` are the lines that say which; of a die or a disc `span` has the first and the last number, faces
    set side by side.
    """

    answer: int | None
    coins: tuple[Faces, ...] = ()
    span: tuple[str, str] | None = None

    def holds(self, faces: Sequence[int]) -> bool:
        """Whether an outcome, face by face as the device shows them, is one of these."""
        if self.span is not None:
            return self.span[0] <= "".join(map(str, faces)) <= self.span[1]
        return any(
            all(wanted in (None, face) for wanted, face in zip(line, faces, strict=True))
            for line in self.coins
        )


def list_rows(throws: Throws, order: Sequence[int]) -> Iterator[ThrowRow]:
    """First where the own answer is recorded, then what chance gives, the answers in this order."""
    start = 0
    counts: list[tuple[int | None, int]] = [
        (None, throws.own),
        *((place, throws.chance[place]) for place in order),
    ]
    for answer, count in counts:
        if count:
            yield _make_row(throws, answer, start, start + count)
        start += count


def _make_row(throws: Throws, answer: int | None, start: int, end: int) -> ThrowRow:
    if throws.device == "coin":
        return ThrowRow(answer, coins=tuple(_list_lines(throws.times, start, end)))
    first, last = (_write_number(throws, outcome) for outcome in (start, end - 1))
    return ThrowRow(answer, span=(first, last))


def _list_faces(throws: Throws, outcome: int) -> list[int]:
    faces = FACES[throws.device]
    return [outcome // faces ** (throws.times - 1 - place) % faces for place in range(throws.times)]


def _write_number(throws: Throws, outcome: int) -> str:
    """The faces side by side; those of a die count from 1, the fields of a disc from 0."""
    first = 1 if throws.device == "die" else 0
    return "".join(str(face + first) for face in _list_faces(throws, outcome))


def _list_lines(times: int, start: int, end: int) -> Iterator[Faces]:
    """Outcomes from `start` on and before `end` in as few lines as there are, the last coins of each free."""
    while start < end:
        free = times
        while start % 2**free or start + 2**free > end:
            free -= 1
        shown = [start >> (times - 1 - place) & 1 for place in range(times - free)]
        yield (*shown, *(None for _ in range(free)))
        start += 2**free
