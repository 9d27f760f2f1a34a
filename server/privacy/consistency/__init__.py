"""Consistency: noisy numbers made to add up.

Everything here works on numbers that have already been released. It is post-processing:
it costs no privacy, whatever is done and however often.

References
----------
Deming, W. E. and Stephan, F. F. (1940). On a least squares adjustment of a sampled
frequency table when the expected marginal totals are known. *Ann. Math. Stat.* 11.
Hay, M., Rastogi, V., Miklau, G. and Suciu, D. (2010). Boosting the accuracy of
differentially private histograms through consistency. *PVLDB* 3.
"""

from server.privacy.consistency.hierarchies import ConsistentHierarchy, consistent_hierarchy
from server.privacy.consistency.raking import FittedTable, RakedWeights, fit_margins, rake_weights
from server.privacy.consistency.squares import least_squares_table
from server.privacy.consistency.whole_numbers import round_table, round_to_integers

__all__ = [
    "ConsistentHierarchy",
    "FittedTable",
    "RakedWeights",
    "consistent_hierarchy",
    "fit_margins",
    "least_squares_table",
    "rake_weights",
    "round_table",
    "round_to_integers",
]
