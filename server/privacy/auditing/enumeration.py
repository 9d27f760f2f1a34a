"""The exact privacy loss of what has finitely many outputs, or a formula for each of them."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from server.privacy._checks import list_entries, to_float
from server.privacy.accounting.exact_numbers import Number, exact_probability
from server.privacy.designs import Design
from server.privacy.designs.rounding import log_from_above


def exact_loss(design: Design | ArrayLike, other: ArrayLike | None = None, *, delta: Number = 0) -> float:
    """The privacy loss of a design, or of the output distributions on neighbouring inputs.

    Parameters
    ----------
    design : Design or array_like, shape (k, m) or (m,)
        A design, or one row per input: the probabilities of the same m outputs. Whole
        numbers are weights (each row is divided by its sum); `fractions.Fraction` and
        floats are probabilities. A row may sum to less than 1 where outputs are left out,
        as those beyond some number must be for noise without limit.
    other : array_like, shape (m,), optional
        The second row, where the first argument is one.
    delta : float, Fraction or Decimal
        In [0, 1): the smallest epsilon is sought for which (epsilon, delta) holds. A float is
        read as the decimal it prints.

    Returns
    -------
    float
        In nats, computed in exact arithmetic from the numbers given and rounded up to a
        float. For delta 0 it is the worst ratio over outputs and pairs of rows; infinite where
        an output is possible for one row only. 0/0 counts as 1.

    Raises
    ------
    ValueError
        If there are fewer than two rows, they differ in length, an entry is negative or
        not finite, a row is all zero or sums to more than 1, or delta is out of range.

    Examples
    --------
    >>> exact_loss([3, 1], [1, 3]) == math.log(3)
    True
    >>> exact_loss([1, 1, 1, 1, 1, 0], [0, 1, 1, 1, 1, 1])  # uniform noise on {-2..2}: 0 against 1
    inf
    """
    failure = exact_probability("delta", delta)
    rows = _rows(design, other)
    if failure > 0:
        return max(_approximate(first, second, failure) for first, second in permutations(rows, 2))
    worst = Fraction(1)
    for column in zip(*rows, strict=True):
        most, least = max(column), min(column)
        if most > 0 and least == 0:
            return math.inf
        if most > 0:
            worst = max(worst, most / least)
    return log_from_above(worst)


def worst_output(first: ArrayLike, second: ArrayLike) -> int:
    """The output whose two probabilities differ most; the first of equals.

    Raises
    ------
    ValueError
        As `exact_loss`.

    Examples
    --------
    >>> worst_output([2, 1, 1], [1, 1, 2])
    0
    """
    rows = [_probabilities("first", first), _probabilities("second", second)]
    if len(rows[0]) != len(rows[1]):
        raise ValueError(f"second must be as long as first, {len(rows[0])}; its length is {len(rows[1])}")
    pairs = zip(*rows, strict=True)
    return int(np.argmax([abs(_ln(a) - _ln(b)) if a or b else 0.0 for a, b in pairs]))


def _rows(design: Design | ArrayLike, other: ArrayLike | None) -> list[list[Fraction]]:
    if isinstance(design, Design):
        if other is not None:
            raise ValueError("other must be left out where a design is given")
        given = list(design.weights)
    elif other is None:
        given = list_entries("design", design)
    else:
        given = [design, other]
    if len(given) < 2:
        raise ValueError(f"design must have at least 2 rows, or another be given; it has {len(given)}")
    names = ("design", "other") if other is not None else ("design",) * len(given)
    rows = [_probabilities(name, row) for name, row in zip(names, given, strict=True)]
    if len({len(row) for row in rows}) != 1:
        raise ValueError(
            f"the rows of {' and '.join(dict.fromkeys(names))} must have one length; "
            f"theirs are {[len(row) for row in rows]}"
        )
    return rows


def _probabilities(name: str, row: object) -> list[Fraction]:
    array = (
        np.asarray(row, dtype=object) if isinstance(row, list | tuple | np.ndarray) else np.array(row, object)
    )
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"a row of {name} must be a vector of probabilities or weights; it is {row!r}")
    values = array.tolist()
    weights = all(isinstance(value, (int, np.integer)) for value in values)
    try:
        if any(isinstance(value, bool | str) for value in values):
            raise TypeError
        numbers = [Fraction(int(value) if isinstance(value, np.integer) else value) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"a row of {name} must hold finite numbers; it is {values!r}") from None
    total = sum(numbers, Fraction(0))
    if min(numbers) < 0 or total == 0:
        raise ValueError(f"a row of {name} must hold numbers of at least 0, not all 0; it is {values!r}")
    if weights:
        return [number / total for number in numbers]
    if total > 1 + Fraction(1, 10**9):
        raise ValueError(
            f"a row of {name} that holds probabilities must sum to at most 1; it sums to {to_float(total)}"
        )
    return numbers


def _approximate(first: list[Fraction], second: list[Fraction], delta: Fraction) -> float:
    """Outputs are taken in by falling ratio until all that is above e^eps is more than delta."""
    above = [
        (value / other if other else None, value, other)
        for value, other in zip(first, second, strict=True)
        if value > 0
    ]
    above.sort(key=lambda output: (output[0] is not None, -(output[0] or 0)))
    mass, other_mass = Fraction(0), Fraction(0)
    for index, (_, value, other) in enumerate(above):
        mass, other_mass = mass + value, other_mass + other
        following = above[index + 1][0] if index + 1 < len(above) else Fraction(0)
        # Up to the next ratio, delta(eps) is mass - e^eps other_mass.
        if mass > delta and (following is None or mass - following * other_mass >= delta):
            return log_from_above(max((mass - delta) / other_mass, Fraction(1))) if other_mass else math.inf
    return 0.0


def _ln(value: Fraction) -> float:
    if value == 0:
        return -math.inf
    return math.log(value.numerator) - math.log(value.denominator)
