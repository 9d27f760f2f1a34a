"""Accounting: what several releases cost together, and what shuffling saves.

All privacy losses are in nats. A loss that is a float is read as the decimal it prints, so
that 0.1 means one tenth; a `fractions.Fraction` or `decimal.Decimal` is taken as it is.

| function | question |
|---|---|
| `sequential`, `parallel`, `bounded_from_unbounded` | what do these losses come to? |
| `advanced`, `optimal`, `best_composition` | and if a small failure probability is granted? |
| `shuffle_amplification` | what does a tally of local reports cost, its senders unknown? |
| `probability_range` | what can a loss do to one person's chances? |
"""

from server.privacy.accounting.composition import bounded_from_unbounded, parallel, sequential
from server.privacy.accounting.exact_numbers import Loss
from server.privacy.accounting.ranges import probability_range
from server.privacy.accounting.repetition import Composition, advanced, best_composition, optimal
from server.privacy.accounting.shuffling import Amplification, shuffle_amplification

__all__ = [
    "Amplification",
    "Composition",
    "Loss",
    "advanced",
    "best_composition",
    "bounded_from_unbounded",
    "optimal",
    "parallel",
    "probability_range",
    "sequential",
    "shuffle_amplification",
]
