"""Lists of items of different lengths, as a study file states them, and the counts that people can have of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse


def check_lengths(lengths: Sequence[int], at: str) -> None:
    """Refuse two lists of which neither has exactly one item more."""
    first, second = lengths
    if abs(first - second) != 1:
        template = N_("must be one more or one less than that of the other group, %(limit)d; it is %(value)d")
        raise refuse(422, at, template, limit=first, value=second)


def check_list_counts(
    counts: NDArray[np.int64],
    lengths: Sequence[int],
    names: Sequence[str],
    at: str,
    member: str = "items",
) -> None:
    """Refuse a group in which somebody counted more items than its list has; counts have shape (groups, counts)."""
    for number, (row, length) in enumerate(zip(counts, lengths, strict=True)):
        if row[length + 1 :].any():
            template = N_("must be at least %(limit)d: a row of %(value)s counts as many")
            most = int(np.flatnonzero(row)[-1])
            raise refuse(422, f"{at}[{number}].{member}", template, limit=most, value=names[number])
