"""Designs: what a respondent's browser draws from and what the estimator inverts.

A *design* is a matrix of integers whose rows sum to 2**32. Row x, column y, divided by
2**32, is the exact probability that a person whose truth is x sends the report y. The
browser compares one 32-bit coin with these integers, so there is no rounding between
what is promised, what is drawn and what is estimated.

Probabilities become integers in one of two ways, and each function says which:

- a design asked for by its privacy loss (`for_epsilon`, `k_ary`, `unary`, `ordinal`,
  `best_choice`) and `coin_flip` are rounded towards privacy: the exact loss of the integers
  never exceeds what was asked for;
- a design asked for by the probabilities of a physical device (`forced_response`,
  `unrelated_question`, `kuk`, `custom`) is rounded to the nearest integers, and its loss is
  what these integers lose. `warner` and `crosswise` stay symmetric, and so round towards 1/2.

Floats are taken at their exact binary value; a `Fraction` may be given in their place.

References
----------
Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive
answer bias. *JASA* 60, 63-69.
Dwork, C. and Roth, A. (2014). *The Algorithmic Foundations of Differential Privacy*.
Blair, G., Imai, K. and Zhou, Y.-Y. (2015). Design and analysis of the randomized
response technique. *JASA* 110, 1304-1319.
Wang, T., Blocki, J., Li, N. and Jha, S. (2017). Locally differentially private protocols
for frequency estimation. *USENIX Security*, 729-745.
"""

from server.privacy.designs.coin_flips import coin_flip, for_epsilon, gamma_of
from server.privacy.designs.coins import TOTAL, draw_coins
from server.privacy.designs.design import Design, Odds
from server.privacy.designs.matrices import custom, kronecker
from server.privacy.designs.named_designs import crosswise, forced_response, kuk, unrelated_question, warner
from server.privacy.designs.numbers import report_between, weigh_between
from server.privacy.designs.options import (
    BestChoice,
    best_choice,
    k_ary,
    one_hot_epsilon,
    split_answer,
    unary,
)
from server.privacy.designs.rounding import round_up
from server.privacy.designs.scales import ordinal
from server.privacy.designs.throws import Throws, plan_throws

__all__ = [
    "TOTAL",
    "BestChoice",
    "Design",
    "Odds",
    "Throws",
    "best_choice",
    "coin_flip",
    "crosswise",
    "custom",
    "draw_coins",
    "for_epsilon",
    "forced_response",
    "gamma_of",
    "k_ary",
    "kronecker",
    "kuk",
    "one_hot_epsilon",
    "ordinal",
    "plan_throws",
    "report_between",
    "round_up",
    "split_answer",
    "unary",
    "unrelated_question",
    "warner",
    "weigh_between",
]
