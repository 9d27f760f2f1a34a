"""Mechanisms from the literature that do not keep what they promise.

NOT FOR USE. Each function below is a mechanism as it was published in a tutorial, a
lecture note or a paper, together with the loss it was said to have. They are here so that
the auditor can be seen to catch them; nothing in the product imports this module, and they
draw NumPy's floating-point noise, which the product never does.

Every function runs on all `runs` at once: `mechanism(data, runs)`.

References
----------
Li, N., Lyu, M., Su, D. and Yang, W. (2016). *Differential Privacy: From Theory to
Practice*. Morgan & Claypool. (Noisy averages.)
Lyu, M., Su, D. and Li, N. (2017). Understanding the sparse vector technique for
differential privacy. *PVLDB* 10. (Sparse vector variants, its algorithms 3 to 6.)
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from server.privacy.auditing.cases import Case, exact, try_by_sampling

Values = NDArray[np.float64]
LOW, HIGH = -1.0, 1.0
"""Range of the attribute that is averaged, unless an audit says otherwise."""
_CHUNK = 200_000  # runs held in memory at once where each takes many numbers


def signed_geometric_pmf(values: NDArray[np.int64], count: int, epsilon: float) -> Values:
    """ "Geometric noise" as a random sign times a one-sided geometric: zero comes with either sign.

    Pr(0) = p and Pr(+-k) = p (1 - p)^k / 2 with p = 1 - e^-eps, where two-sided geometric
    noise has Pr(0) = p / (1 + e^-eps). The loss is eps + ln 2.
    """
    noise = np.abs(values - count)
    chance = -math.expm1(-epsilon) * np.exp(-epsilon * noise)
    return np.where(noise == 0, chance, chance / 2)


def uniform_noise_weights(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Uniform noise on {-2, ..., 2}: the largest output of one data set is impossible under the other."""
    return (np.abs(values - count) <= 2).astype(np.int64)


def mean_exact_count(data: Sequence[float], runs: int, epsilon: float = 1.0) -> Values:
    """A noisy sum divided by the exact number of people: the spread of the outputs tells that number."""
    return (sum(data) + _laplace((HIGH - LOW) / epsilon, runs)) / len(data)


def mean_redrawn(data: Sequence[float], runs: int, epsilon: float = 1.0) -> Values:
    """The same, drawn again until it falls inside [LOW, HIGH]: how often that happens depends on the data."""
    outputs = mean_exact_count(data, runs, epsilon)
    while (outside := (outputs < LOW) | (outputs > HIGH)).any():
        outputs[outside] = mean_exact_count(data, int(outside.sum()), epsilon)
    return outputs


def mean_clamped(data: Sequence[float], runs: int, epsilon: float = 1.0) -> Values:
    """The same, clamped to [LOW, HIGH] ("clamping-down"): inside, the density still scales with the count."""
    return np.clip(mean_exact_count(data, runs, epsilon), LOW, HIGH)


def normalised_mean(data: Sequence[float], runs: int, epsilon: float = 1.0) -> Values:
    """Values centred on the midpoint; noisy sum over noisy count, the midpoint where that is at most 1.

    The count's noise is Lap(eps / 2), the inverse of the scale that half of eps asks for: the
    count alone loses 2 / eps.
    """
    middle, half = (LOW + HIGH) / 2, (HIGH - LOW) / 2
    total = sum(value - middle for value in data) + _laplace(2 * half / epsilon, runs)
    count = len(data) + _laplace(epsilon / 2, runs)
    inside = np.clip(middle + total / np.where(count > 1, count, 1.0), LOW, HIGH)
    return np.where(count > 1, inside, middle)


def simple_noisy_mean(
    data: Sequence[float], runs: int, epsilon: float = 1.0, low: float = 10.0, high: float = 11.0
) -> Values:
    """Noisy sum and noisy count, from which the mean is taken; the sum's noise is Lap(2 (high - low) / eps).

    That is right for one record replaced. One person added changes the sum by up to
    max(|low|, |high|): for [10, 11] it alone loses 5.5 eps. Returns (sum, count).
    """
    total = sum(data) + _laplace(2 * (high - low) / epsilon, runs)
    return np.column_stack([total, len(data) + _laplace(2 / epsilon, runs)])


def sparse_vector_publishing_values(
    answers: Sequence[float], runs: int, epsilon: float = 2.0, threshold: float = 1.0
) -> Values:
    """Sparse vector that gives out the very noisy answer it compared (algorithm 3, for c = 1).

    Such a value says that the noisy threshold is below it. The noise on the answers has the
    factor 2c here, which algorithm 3 leaves out, so that the value alone is at fault. Returns
    the value of the last answer where it is the only one above, no number otherwise.
    """
    values = []
    for size in [_CHUNK] * (runs // _CHUNK) + [runs % _CHUNK]:
        offset = threshold + _laplace(2 / epsilon, size)
        noisy = np.asarray(answers) + _laplace(4 / epsilon, (size, len(answers)))
        above = noisy >= offset[:, None]
        only_last = above[:, -1] & ~above[:, :-1].any(axis=1)
        values.append(np.where(only_last, noisy[:, -1], np.nan))
    return np.concatenate(values)


def sparse_vector_small_noise(
    answers: Sequence[float], runs: int, epsilon: float = 1.0, positives: int = 5, threshold: float = 0.0
) -> NDArray[np.int64]:
    """Sparse vector whose noise does not grow with c (algorithm 4): said to be eps, is (1 + 6c) / 4 eps.

    A quarter of eps for the threshold; noise d / eps2 on each answer, without the factor
    2c; stops after c positives. Returns 1 and 0 for above and below, -1 after the stop.
    """
    offset = threshold + _laplace(4 / epsilon, runs)
    noisy = np.asarray(answers) + _laplace(4 / (3 * epsilon), (runs, len(answers)))
    above = (noisy >= offset[:, None]).astype(np.int64)
    stopped = np.cumsum(above, axis=1) - above >= positives
    return np.where(stopped, -1, above)


def sparse_vector_bare_answers(
    answers: Sequence[float], runs: int, epsilon: float = 1.0, threshold: float = 0.0
) -> NDArray[np.int64]:
    """Sparse vector with a noisy threshold and no noise on the answers (algorithm 5)."""
    offset = threshold + _laplace(2 / epsilon, runs)
    return (np.asarray(answers)[None, :] >= offset[:, None]).astype(np.int64)


def sparse_vector_unlimited(
    answers: Sequence[float], runs: int, epsilon: float = 1.0, threshold: float = 0.0
) -> NDArray[np.int64]:
    """Sparse vector that never stops, with noise that knows of no c (algorithm 6)."""
    offset = threshold + _laplace(2 / epsilon, runs)
    noisy = np.asarray(answers) + _laplace(2 / epsilon, (runs, len(answers)))
    return (noisy >= offset[:, None]).astype(np.int64)


def cases() -> list[Case]:
    """Every wrong mechanism with its claim and the neighbouring inputs that show it.

    Runs are chosen so that the certified bound is, on average, 8 of its standard deviations
    or more above the claim.
    """
    line = np.arange(-40, 42)
    few = np.arange(-3, 5)

    wrong = [
        (
            "geometric noise as a sign times a one-sided geometric",
            1.0,
            exact(signed_geometric_pmf(line, 0, 1.0), signed_geometric_pmf(line, 1, 1.0), _output(line)),
        ),
        (
            "uniform noise on {-2..2} for a count",
            1.0,
            exact(uniform_noise_weights(few, 0), uniform_noise_weights(few, 1), _output(few)),
        ),
        ("mean with the exact count", 1.0, try_by_sampling(mean_exact_count, [-1.0], [-1.0, 1.0], 200_000)),
        (
            "mean with the exact count, redrawn until inside",
            1.0,
            try_by_sampling(mean_redrawn, [-1.0] * 20, [-1.0] * 20 + [1.0], 1_000_000),
        ),
        (
            "mean with the exact count, clamped (clamping-down)",
            1.0,
            try_by_sampling(mean_clamped, [-1.0], [-1.0, 1.0], 2_000_000),
        ),
        (
            "normalised mean with count noise Lap(eps/2)",
            1.0,
            try_by_sampling(normalised_mean, [], [0.0], 400_000),
        ),
        (
            "simple noisy mean, one person added, values in [10, 11]",
            1.0,
            try_by_sampling(simple_noisy_mean, [], [11.0], 200_000),
        ),
        (
            "sparse vector without noise on the answers",
            1.0,
            try_by_sampling(sparse_vector_bare_answers, [0.0, 1.0], [1.0, 0.0], 100_000),
        ),
        (
            "sparse vector with unlimited positives",
            1.0,
            try_by_sampling(sparse_vector_unlimited, [0.0] * 4 + [1.0] * 4, [1.0] * 4 + [0.0] * 4, 400_000),
        ),
        (
            "sparse vector with noise that does not grow with c",
            1.0,
            try_by_sampling(sparse_vector_small_noise, [0.0] * 5 + [1.0] * 5, [1.0] * 5 + [0.0] * 5, 400_000),
        ),
        (
            "sparse vector publishing the value it compared",
            2.0,
            try_by_sampling(
                sparse_vector_publishing_values, [0.0] * 10 + [1.0], [1.0] * 10 + [0.0], 2_500_000
            ),
        ),
    ]
    return [Case(name, claim, trial) for name, claim, trial in wrong]


def _output(values: NDArray[np.int64]) -> Callable[[int], str]:
    return lambda index: f"output = {int(values[index])}"


def _laplace(scale: float, size: int | tuple[int, ...]) -> Values:
    return np.random.default_rng().laplace(0.0, scale, size)
