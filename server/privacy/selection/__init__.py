"""Selection: which option is best, which questions exceed a threshold.

Every chance is drawn exactly: whole-number arithmetic on the operating system's
cryptographic source, or integer noise from `server.privacy.noise`. No float noise.

References
----------
McSherry, F. and Talwar, K. (2007). Mechanism design via differential privacy. *FOCS*.
McKenna, R. and Sheldon, D. (2020). Permute-and-flip: a new mechanism for differentially
private selection. *NeurIPS*.
Lyu, M., Su, D. and Li, N. (2017). Understanding the sparse vector technique for
differential privacy. *PVLDB* 10.
Dwork, C. and Roth, A. (2014). *The Algorithmic Foundations of Differential Privacy*.
"""

from server.privacy.selection.choice import exponential_mechanism, noisy_maximum, rate_of, selection_error
from server.privacy.selection.gaps import choose_in_gaps
from server.privacy.selection.online import OngoingSearch, SearchNoise, begin_search, plan_search
from server.privacy.selection.several import choose_several, several_error, several_sensitivity
from server.privacy.selection.threshold import (
    SparseAnswers,
    above_threshold,
    above_threshold_error,
    best_split,
    sparse_vector,
)
from server.privacy.selection.weights import WholeWeights, estimate_utilities, excess_weights

__all__ = [
    "OngoingSearch",
    "SearchNoise",
    "SparseAnswers",
    "WholeWeights",
    "above_threshold",
    "above_threshold_error",
    "begin_search",
    "best_split",
    "choose_in_gaps",
    "choose_several",
    "estimate_utilities",
    "excess_weights",
    "exponential_mechanism",
    "noisy_maximum",
    "plan_search",
    "rate_of",
    "selection_error",
    "several_error",
    "several_sensitivity",
    "sparse_vector",
]
