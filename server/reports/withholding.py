"""Small groups are withheld, and so much beside them that no difference tells what they hold.

A *leftover* is what remains of a shown group when the shown groups inside are taken off. It can be
computed by anybody; so it holds nobody, or as many as a shown group must.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ResponseGroup:
    """A group of responses in a tree of groups; its children are all of it."""

    key: object
    n: int
    children: tuple["ResponseGroup", ...] = ()


def find_withheld(root: ResponseGroup, minimum: int) -> frozenset[object]:
    """The keys of the groups inside `root` to withhold; `root` itself is shown and has `minimum` responses.

    A group without responses is not withheld: there is nobody to protect.
    """
    return frozenset(_withheld(root, minimum))


def _withheld(branch: ResponseGroup, minimum: int) -> Iterator[object]:
    hidden = [child for child in branch.children if 0 < child.n < minimum]
    shown = [child for child in branch.children if child.n >= minimum]
    if hidden and sum(child.n for child in hidden) < minimum and shown:
        smallest = min(shown, key=lambda child: child.n)
        shown.remove(smallest)
        hidden.append(smallest)
    for child in hidden:
        yield from _keys(child)
    for child in shown:
        yield from _withheld(child, minimum)


def _keys(branch: ResponseGroup) -> Iterator[object]:
    yield branch.key
    for child in branch.children:
        yield from _keys(child)


def left_out(sizes: Sequence[Sequence[int]], minimum: int) -> tuple[frozenset[int], bool]:
    """Which versions a survey's results leave out, and whether those without stratum, as too few to stand alone.

    Withholding something else beside them would withhold much for the sake of a few who tried the
    survey out. They enter nothing, so that no difference tells anything about them.

    Parameters
    ----------
    sizes : sequence of sequences of int
        Of each version its responses by stratum, those without stratum first.

    Returns
    -------
    tuple
        The places of the versions, and whether the first column is left out.
    """
    versions: frozenset[int] = frozenset()
    without = False
    while True:
        kept = {
            place: list(row[1:]) if without else list(row)
            for place, row in enumerate(sizes)
            if place not in versions
        }
        small = {place for place, row in kept.items() if 0 < sum(row) < minimum}
        own = sum(row[0] for row in kept.values())
        strata = any(sum(row[1:]) for row in sizes)
        if small:
            versions |= small
        elif strata and not without and 0 < own < minimum:
            without = True
        else:
            return versions, without
