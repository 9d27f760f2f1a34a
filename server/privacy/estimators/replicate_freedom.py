"""How far the variance between fits to replicate weights can be trusted, where a coefficient hangs on a few units.

Under weights of a replicate a linear fit moves by a sum over rows that is known beforehand: by what the fit is to them
and to all together. So what the squares of these moves add up to on average, and by how much it varies, follows as in
`few_units`, as if rows varied as their model says and one by one. No clusters need be known for it: rows whose weights
change alike in every replicate are taken together.

References
----------
Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
samples. *Survey Methodology* 28, 169-181.
Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. *Biometrics Bulletin* 2,
110-114.
"""

from collections.abc import Callable

import numpy as np

from server.privacy.estimators.sample_designs import Floats, Replicates

_MOST_WORK = 1e10
"""Products of numbers for a coefficient; where it would take more, degrees of freedom are those of the replicates."""
_LEAST = 1e-6
_MOST_LOST = 0.01
"""Part of the replicates that may leave nobody who tells the coefficient; of more nothing is known."""
_DIGITS = 9


def judge_replicates(
    table: Floats, weights: Floats, replicates: Replicates, weigh: Callable[[int], Floats]
) -> tuple[Floats, Floats]:
    """Of each coefficient how many times as large as the variance between fits the true one is; degrees of freedom.

    Parameters
    ----------
    table : ndarray of float, shape (n, p)
        What each person counts in the equations of the fit: their products, weighted and added up, are its information.
    weights : ndarray of float, shape (n,)
        Of each.
    replicates : Replicates
    weigh : callable
        The number of a replicate -> the weights of each in it.
    """
    count, width = replicates.count, table.shape[1]
    marks = np.cos(np.arange(1.0, count + 1))  # numbers of which no sum is another
    keys = np.zeros(len(weights))
    for number in range(count):
        keys += marks[number] * weigh(number) / weights
    _, first, unit = np.unique(keys.round(_DIGITS), return_index=True, return_inverse=True)
    size = len(first) * width
    if float(count) * size * min(count, size) > _MOST_WORK:
        return np.ones(width), np.full(width, np.inf)
    ratios = np.stack([(weigh(number) / weights)[first] for number in range(count)])
    once, twice = (_add_products(table, unit, len(first), mass) for mass in (weights, weights**2))
    bread = np.linalg.pinv(once.sum(axis=0), hermitian=True)
    own = np.einsum("ru,upq->rpq", ratios, once)
    own_bread = np.linalg.pinv(own, hermitian=True)
    lengths, vectors = np.linalg.eigh(twice)
    roots = vectors * np.sqrt(np.maximum(lengths, 0))[:, None]
    factors, freedoms = np.full(width, 1 / _LEAST), np.full(width, _LEAST)
    for place in range(width):
        directions = own_bread[:, place]
        reached = np.einsum("rpq,rq->rp", own, directions)
        lost = np.abs(reached - np.eye(width)[place]).max(axis=1) > _LEAST
        if replicates.factors[lost].sum() > _MOST_LOST * replicates.factors.sum():
            continue
        moved = ratios.T[:, :, None] * directions - reached @ bread
        moves = np.einsum("urp,upq->ruq", moved, roots).reshape(count, size)
        if replicates.centred:
            moves -= moves.mean(axis=0)
        moves *= np.sqrt(replicates.factors)[:, None]
        seen = float((moves**2).sum())
        true = float(np.einsum("p,upq,q->", bread[place], twice, bread[place]))
        if seen > _LEAST * true:
            products = moves @ moves.T if count < size else moves.T @ moves
            factors[place] = max(true / seen, 1.0)
            freedoms[place] = seen**2 / float((products**2).sum())
    return factors, freedoms


def _add_products(
    table: Floats, unit: np.ndarray[tuple[int], np.dtype[np.intp]], units: int, mass: Floats
) -> Floats:
    """Of each unit the weighted sum of the products of its rows, shape (units, p, p)."""
    width = table.shape[1]
    sums = [
        np.bincount(unit, mass * table[:, one] * table[:, other], units)
        for one in range(width)
        for other in range(width)
    ]
    return np.stack(sums, axis=1).reshape(units, width, width).astype(np.float64)
