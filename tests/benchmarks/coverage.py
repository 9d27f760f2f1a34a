"""How often intervals for a true share cover it, by exact enumeration, as a Markdown table.

    python -m tests.benchmarks.coverage

Every count of "yes" reports that n respondents can give is weighted with its exact binomial
probability; nothing is simulated. The table of docs/privacy/intervals.md is the output of this script.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

from server.privacy.designs import Design, coin_flip
from server.privacy.estimators import estimate_shares

GAMMAS = (0.1, 0.25, 0.4)
SIZES = (10, 50, 200, 1000)
SHARES = np.linspace(0, 1, 101)
KINDS = ("wilson", "exact", "wald", "clopper-pearson")


@dataclass(frozen=True)
class Coverage:
    """Coverage at every true share, and the expected width averaged over them."""

    covered: NDArray[np.float64]
    width: float


@cache
def limits(design: Design, n: int, kind: str) -> NDArray[np.float64]:
    """Limits for the share of "yes" at every count 0, ..., n; Clopper and Pearson's from their beta quantiles."""
    if kind != "clopper-pearson":
        return np.array(
            [estimate_shares([n - yes, yes], design, interval=kind).intervals[1] for yes in range(n + 1)]
        )
    yes = np.arange(n + 1)
    low = np.where(yes == 0, 0, beta.ppf(0.025, np.maximum(yes, 1), n - yes + 1))
    high = np.where(yes == n, 1, beta.ppf(0.975, yes + 1, np.maximum(n - yes, 1)))
    yes_if_no, yes_if_yes = design.matrix[:, 1]
    return (np.stack([low, high], axis=1) - yes_if_no) / (yes_if_yes - yes_if_no)


def coverage(design: Design, n: int, kind: str, shares: NDArray[np.float64] = SHARES) -> Coverage:
    """Exact coverage of one kind of interval at these true shares."""
    reported = (1 - shares) * design.matrix[0, 1] + shares * design.matrix[1, 1]
    chances = binom.pmf(np.arange(n + 1)[:, None], n, reported)
    low, high = limits(design, n, kind).T[:, :, None]
    covers = (low <= shares) & (shares <= high)
    return Coverage((chances * covers).sum(axis=0), float((chances * (high - low)).sum(axis=0).mean()))


def table() -> Iterator[str]:
    """The Markdown table, line by line."""
    yield (
        "| gamma | n | interval | least coverage | mean coverage "
        "| least, shares 0.01 to 0.99 | mean width / Wilson's |"
    )
    yield "|---:|---:|---|---:|---:|---:|---:|"
    for gamma in GAMMAS:
        for n in SIZES:
            results = {kind: coverage(coin_flip(gamma), n, kind) for kind in KINDS}
            for kind, result in results.items():
                yield (
                    f"| {gamma} | {n} | {kind} | {result.covered.min():.4f} | {result.covered.mean():.4f} "
                    f"| {result.covered[1:-1].min():.4f} | {result.width / results['wilson'].width:.3f} |"
                )


if __name__ == "__main__":
    for line in table():
        print(line)
