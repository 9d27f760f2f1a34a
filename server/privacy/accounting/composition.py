"""Composition: what several releases about the same people cost together."""

import math
from collections.abc import Iterable
from fractions import Fraction

from server.privacy._checks import list_entries, option, to_float
from server.privacy.accounting.exact_numbers import Loss, Number, exact_loss, exact_probability

NEIGHBOURS = ("unbounded", "bounded")
"""One person added or removed; one person's record replaced."""

Losses = Iterable[Number | Loss]


def sequential(losses: Losses) -> Loss:
    """The cost of several releases about the same people: sums of epsilon and of delta.

    Parameters
    ----------
    losses : sequence of float, Fraction, Decimal or Loss
        One per release; a number is an epsilon with delta 0. Not empty.

    Returns
    -------
    Loss
        Summed exactly and rounded once; delta is at most 1.

    Raises
    ------
    ValueError
        If there are no losses, or one is negative or not finite.

    References
    ----------
    Dwork and Roth (2014), theorem 3.16.

    Examples
    --------
    >>> sequential([0.1, 0.2])
    Loss(epsilon=0.3, delta=0.0)
    """
    pairs = _pairs(losses)
    epsilon, delta = (sum(column, Fraction(0)) for column in zip(*pairs, strict=True))
    return Loss(to_float(epsilon), float(min(delta, Fraction(1))))


def parallel(losses: Losses, neighbours: str) -> Loss:
    """The cost of several releases about disjoint parts of the people: the maximum.

    It holds for one person added or removed, who is in one part. Replacing a record can move
    a person from one part to another and so changes two of them: for bounded neighbours
    apply `bounded_from_unbounded` to the result for unbounded ones.

    Parameters
    ----------
    losses : sequence of float, Fraction, Decimal or Loss
        One per part, under unbounded neighbours. Not empty.
    neighbours : {"unbounded"}
        "bounded" is refused.

    Returns
    -------
    Loss
        The largest epsilon and the largest delta.

    Raises
    ------
    ValueError
        If there are no losses, one is negative or not finite, or the neighbours are
        not "unbounded".

    References
    ----------
    McSherry (2009), Privacy integrated queries, theorem 4; Kifer and Machanavajjhala (2011).

    Examples
    --------
    >>> parallel([0.1, 0.2], "unbounded")
    Loss(epsilon=0.2, delta=0.0)
    """
    pairs = _pairs(losses)
    if option("neighbours", neighbours, NEIGHBOURS) != "unbounded":
        raise ValueError(
            "neighbours must be 'unbounded' for parallel composition; under 'bounded' ones a replaced "
            "record changes two parts: use bounded_from_unbounded(parallel(losses, 'unbounded'))"
        )
    epsilon, delta = (max(column) for column in zip(*pairs, strict=True))
    return Loss(to_float(epsilon), float(delta))


def bounded_from_unbounded(loss: Number | Loss) -> Loss:
    """What a guarantee for one person added or removed says about one record replaced.

    A replacement is a removal and an addition: 2 epsilon, and (1 + e^epsilon) delta. There
    is no way back: publishing the number of people exactly costs nothing under bounded
    neighbours and everything under unbounded ones.

    Parameters
    ----------
    loss : float, Fraction, Decimal or Loss
        Under unbounded neighbours.

    Returns
    -------
    Loss
        Under bounded neighbours; delta is at most 1.

    Raises
    ------
    ValueError
        If the loss is negative or not finite.

    References
    ----------
    Dwork and Roth (2014), theorem 2.2 (groups).

    Examples
    --------
    >>> bounded_from_unbounded(0.5)
    Loss(epsilon=1.0, delta=0.0)
    """
    [(epsilon, delta)] = _pairs([loss], "loss")
    failure = float(delta) * (1 + math.exp(min(to_float(epsilon), 700.0)))
    return Loss(to_float(2 * epsilon), min(1.0, failure))


def _pairs(losses: Losses, name: str = "losses") -> list[tuple[Fraction, Fraction]]:
    pairs = [
        (exact_loss(name, loss.epsilon), exact_probability(name, loss.delta))
        if isinstance(loss, Loss)
        else (exact_loss(name, loss), Fraction(0))
        for loss in list_entries(name, losses)
    ]
    if not pairs:
        raise ValueError("losses must hold at least one loss; they are empty")
    return pairs
