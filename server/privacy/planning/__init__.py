"""Planning: how many respondents a question needs, and what its privacy costs.

Every share is the *true* share; the design turns it into the share of "yes" reports. Sizes
are exact integers without an upper limit: the smallest n that reaches what is asked for,
found by evaluating n and n - 1. The margins and powers themselves are normal
approximations, as everywhere in sample-size planning: with fewer than some tens of expected
"yes" and "no" reports, check them against `estimators`.

Functions named after yes/no questions take a `share`, and are exact. Those for several shares and for
means take any design and all its true `shares`; without them they plan for the worst true shares, at which the
interval is widest.

References
----------
Fleiss, J. L., Levin, B. and Paik, M. C. (2003). *Statistical Methods for Rates and
Proportions*, 3rd edition, chapter 4. Wiley.
Ulrich, R., Schröter, H., Striegel, H. and Simon, P. (2012). Asking sensitive questions: a
statistical power analysis of randomized response models. *Psychological Methods* 17, 623-641.
"""

from server.privacy.planning.belief import belief_after_report
from server.privacy.planning.comparison import Comparison
from server.privacy.planning.contrasts import compare_groups, compare_means
from server.privacy.planning.guesses import (
    Guesses,
    Headline,
    count_guesses,
    count_spent,
    list_room,
    most_loss,
)
from server.privacy.planning.mean_margins import margin_mean, respondents_for_margin_mean, worst_shares_mean
from server.privacy.planning.one_sample import margin, power, respondents_for_margin, respondents_for_power
from server.privacy.planning.price import price_of_privacy, price_of_privacy_mean, price_of_privacy_shares
from server.privacy.planning.several_shares import margin_shares, respondents_for_margin_shares, worst_shares
from server.privacy.planning.two_samples import (
    margin_two_samples,
    power_two_samples,
    respondents_for_margin_two_samples,
    respondents_for_power_two_samples,
)

__all__ = [
    "Comparison",
    "Guesses",
    "Headline",
    "belief_after_report",
    "compare_groups",
    "compare_means",
    "count_guesses",
    "count_spent",
    "list_room",
    "margin",
    "margin_mean",
    "margin_shares",
    "margin_two_samples",
    "most_loss",
    "power",
    "power_two_samples",
    "price_of_privacy",
    "price_of_privacy_mean",
    "price_of_privacy_shares",
    "respondents_for_margin",
    "respondents_for_margin_mean",
    "respondents_for_margin_shares",
    "respondents_for_margin_two_samples",
    "respondents_for_power",
    "respondents_for_power_two_samples",
    "worst_shares",
    "worst_shares_mean",
]
