"""Small groups are withheld, and so much beside them that no difference tells what they hold.

A *leftover* is what remains of a shown group when the shown groups inside are taken off. It can be
computed by anybody; so it holds nobody, or as many as a shown group must.
"""

from collections.abc import Iterator
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
