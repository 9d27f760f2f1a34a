"""Central queries: what a public report may ask of the exact data, and at what price.

Each function here makes a frozen value that declares everything *before* any data is
seen: categories or bounds, privacy loss, and what counts as neighbours ("unbounded": one
person added or removed; "bounded": one person's record replaced). It then answers

- `.sensitivity(neighbours)`: the most that one person changes what is perturbed (L1);
- `.expected_error(...)`: the root mean squared error that its noise will cause;
- `.run(data, confidence=0.95)`: an `Answer` with a noisy value and an interval.

Those that count also have `.tally(data)`, exact counts that must not be published, and
`.release(counts, confidence=0.95)`, which is `run` for data already tallied. Data outside
the declared categories or bounds is refused, never dropped or added: a category seen only
in the data would give away who is in it.
"""

from server.privacy.queries._answer import Answer
from server.privacy.queries.ratios import Mean, Proportion, mean, proportion
from server.privacy.queries.tabulations import Tabulation, count, histogram, table
from server.privacy.queries.trees import Hierarchy, hierarchy

__all__ = [
    "Answer",
    "Hierarchy",
    "Mean",
    "Proportion",
    "Tabulation",
    "count",
    "hierarchy",
    "histogram",
    "mean",
    "proportion",
    "table",
]
