"""Which of many answers exceed a threshold: the sparse vector technique.

The variant is the one that Lyu, Su and Li (2017) prove (their algorithm 7): the threshold
is perturbed once, every answer gets fresh noise that grows with the number of positives
allowed, nothing more is answered after the last of them, and a value, if one is wanted,
gets noise of its own and never shows the noise that was compared. Most other published
variants are not private.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import finite, flag, positive, probability, real_numbers, whole_number
from server.privacy.noise import geometric, geometric_variance
from server.privacy.noise.laplace import on_grid


@dataclass(frozen=True)
class SparseAnswers:
    """What the sparse vector technique gives out.

    Attributes
    ----------
    above : ndarray of bool, shape (answered,)
        Whether each answer is above its threshold, up to the last that was given.
    positives : ndarray of int64, shape (found,)
        Indices of those above.
    values : ndarray of float64, shape (found,), or None
        Noisy answers to those above, if they were paid for.
    epsilon : float
        Privacy loss of all of it, in nats.
    """

    above: NDArray[np.bool_]
    positives: NDArray[np.int64]
    values: NDArray[np.float64] | None
    epsilon: float


def sparse_vector(
    answers: ArrayLike,
    thresholds: ArrayLike,
    sensitivity: float,
    positives: int,
    epsilon: float,
    monotone: bool = False,
    values_epsilon: float = 0.0,
    granularity: float = 1.0,
) -> SparseAnswers:
    """Say which answers exceed their thresholds, until `positives` of them have.

    Parameters
    ----------
    answers : array_like of float, shape (m,)
        True answers, in the order in which they are asked.
    thresholds : float or array_like of float, shape (m,)
        One for all, or one each; public.
    sensitivity : float
        The most by which one person changes any one answer.
    positives : int
        c, the number of answers above after which nothing more is said; at least 1.
    epsilon : float
        Privacy loss of the comparisons, in nats; split by `best_split`.
    monotone : bool
        Whether one person moves all answers the same way (counts, unbounded neighbours).
    values_epsilon : float
        Privacy loss, on top, of noisy values for the answers above; 0 for none.
    granularity : float
        The step of the grid on which answers are compared. 1 suits counts; answers are
        rounded to it and the sensitivity is rounded up to a whole number of steps.

    Returns
    -------
    SparseAnswers

    Raises
    ------
    ValueError
        If an argument is out of its range or the lengths differ.

    Notes
    -----
    Discrete Laplace noise of scale d / e1 on the threshold and 2 c d / e2 on each answer
    (c d / e2 when monotone); "above" means not below. Values get scale c d / values_epsilon.

    References
    ----------
    Lyu, Su and Li (2017), algorithm 7 and theorems 4 and 5.

    Examples
    --------
    >>> found = sparse_vector([0, 5000, 3, 9000, 9000], 1000, 1, positives=2, epsilon=1.0)
    >>> found.above.tolist(), found.positives.tolist()
    ([False, True, False, True], [1, 3])
    """
    first, second = best_split(positives, epsilon, monotone)
    whole = Fraction(float(epsilon))
    values_loss = finite("values_epsilon", values_epsilon)
    if values_loss < 0:
        raise ValueError(f"values_epsilon must be 0 or positive, and finite; it is {values_epsilon!r}")
    exact, limits, steps = _round_answers(answers, thresholds, sensitivity, granularity)
    if values_loss:
        geometric_variance(steps * positives, values_loss)  # too small a loss is refused whatever is found
    factor = positives if flag("monotone", monotone) else 2 * positives
    above = _compare(exact, limits, Fraction(steps), Fraction(first), factor, Fraction(second))
    found = np.flatnonzero(above)[:positives]
    answered = int(found[-1]) + 1 if found.size == positives else above.size
    values: NDArray[np.float64] | None = None
    if values_loss:
        values = np.zeros(0)
        if found.size:
            # Each value could be changed by d: c of them share the loss, whether or not c were found.
            noisy = geometric(exact[found], steps * positives, values_loss)
            values = np.asarray(noisy * float(granularity))
    total = float(whole + Fraction(values_loss))
    return SparseAnswers(above[:answered], found.astype(np.int64), values, total)


def above_threshold(
    answers: ArrayLike,
    threshold: float,
    sensitivity: float,
    epsilon: float,
    monotone: bool = False,
    granularity: float = 1.0,
) -> int | None:
    """The first answer above a threshold, or None.

    The textbook AboveThreshold: half of epsilon for the threshold (noise of scale
    2 d / epsilon), half for the answers (4 d / epsilon, 2 d / epsilon when monotone).
    `sparse_vector` with one positive splits better.

    Parameters
    ----------
    answers, sensitivity, epsilon, monotone, granularity
        As in `sparse_vector`.
    threshold : float
        Public.

    Returns
    -------
    int or None
        The index of the answer, of those before it nothing but that they were below.

    Raises
    ------
    ValueError
        As `sparse_vector`.

    References
    ----------
    Dwork and Roth (2014), algorithm 1.

    Examples
    --------
    >>> above_threshold([3, 10, 5000, 2], 1000, 1, epsilon=1.0)
    2
    """
    half = Fraction(positive("epsilon", epsilon)) / 2
    exact, limits, steps = _round_answers(answers, threshold, sensitivity, granularity, "threshold")
    above = _compare(exact, limits, Fraction(steps), half, 1 if flag("monotone", monotone) else 2, half)
    found = np.flatnonzero(above)
    return int(found[0]) if found.size else None


def above_threshold_error(answers: int, epsilon: float, failure: float, sensitivity: float = 1.0) -> float:
    """alpha = 8 (ln k + ln(2 / failure)) sensitivity / epsilon.

    Except with chance `failure`, `above_threshold` reports nothing below threshold - alpha
    and passes over nothing above threshold + alpha, provided that all k answers before
    the one reported are below threshold - alpha. For discrete noise add two steps.

    Raises
    ------
    ValueError
        If answers is below 1, failure is outside (0, 1), or another argument is not
        positive and finite.

    References
    ----------
    Dwork and Roth (2014), theorem 3.24.

    Examples
    --------
    >>> round(above_threshold_error(100, 1.0, failure=0.05), 2)
    66.35
    """
    whole_number("answers", answers, 1)
    probability("failure", failure, open_interval=True)
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return 8 * (math.log(answers) + math.log(2 / failure)) * scale


def best_split(positives: int, epsilon: float, monotone: bool = False) -> tuple[float, Fraction]:
    """Losses of the threshold and of the answers, 1 : (2c)**(2/3), or 1 : c**(2/3) when monotone.

    They minimise the variance of the comparison and sum to epsilon exactly, for which the
    second is a fraction.

    Raises
    ------
    ValueError
        If positives is not a whole number of at least 1, or epsilon is not positive.

    Examples
    --------
    >>> [round(float(part), 4) for part in best_split(4, 1.0)]
    [0.2, 0.8]
    """
    whole_number("positives", positives, 1, 1 << 32)
    whole = positive("epsilon", epsilon)
    first = whole / (1 + (positives if flag("monotone", monotone) else 2 * positives) ** (2 / 3))
    return first, Fraction(whole) - Fraction(first)


def _round_answers(
    answers: ArrayLike,
    thresholds: ArrayLike,
    sensitivity: float,
    granularity: float,
    name: str = "thresholds",
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Answers and thresholds in whole steps, and the sensitivity of one rounded answer."""
    true = real_numbers("answers", answers)
    limits = real_numbers(name, thresholds)
    if true.ndim != 1:
        raise ValueError(f"answers must be one vector; their shape is {true.shape}")
    if limits.shape not in ((), true.shape):
        raise ValueError(f"{name} must be one number or {true.size}; their shape is {limits.shape}")
    step = Fraction(positive("granularity", granularity))
    steps = math.ceil(Fraction(positive("sensitivity", sensitivity)) / step)
    both = [on_grid("answers", true, step), on_grid(name, limits, step)]
    for called, array in zip(("answers", name), both, strict=True):
        if np.abs(array).max() > 1 << 60:
            far = int(array.flat[np.abs(array).argmax()])
            raise ValueError(f"{called} must be within 2**60 steps of the grid; one is {far} steps")
    return both[0], np.broadcast_to(both[1], true.shape), steps


def _compare(
    answers: NDArray[np.int64],
    thresholds: NDArray[np.int64],
    steps: Fraction,
    threshold_loss: Fraction,
    factor: int,
    answers_loss: Fraction,
) -> NDArray[np.bool_]:
    """Noisy answer - threshold against one noise for all thresholds.

    All comparisons are made; those after the last positive are thrown away unseen.
    """
    offset = geometric(0, steps, threshold_loss)
    return np.asarray(geometric(answers - thresholds, steps * factor, answers_loss) >= offset)
