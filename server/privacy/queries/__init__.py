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

from server.privacy.queries._answer import Answer, ContingencyAnswer
from server.privacy.queries.contingency import Contingency, contingency
from server.privacy.queries.needed_losses import epsilon_for_error
from server.privacy.queries.noisy_means import Mean, mean
from server.privacy.queries.proportions import Proportion, proportion
from server.privacy.queries.tabulations import Tabulation, count, histogram, table
from server.privacy.queries.tree_counts import Hierarchy, divide_by_level, hierarchy

__all__ = [
    "Answer",
    "Contingency",
    "ContingencyAnswer",
    "Hierarchy",
    "Mean",
    "Proportion",
    "Tabulation",
    "contingency",
    "count",
    "divide_by_level",
    "epsilon_for_error",
    "hierarchy",
    "histogram",
    "mean",
    "proportion",
    "table",
]
