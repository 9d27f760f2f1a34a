"""Estimators: from counts of noisy reports to unbiased statements about true answers.

Everything here is a function of designs and of counts; nothing looks at single
responses. Estimates are never clipped: a share below 0 or above 1 is information about
chance (or about respondents who did not follow the design) and is flagged instead.

References
----------
Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive
answer bias. *JASA* 60, 63-69.
Blair, G., Imai, K. and Zhou, Y.-Y. (2015). Design and analysis of the randomized
response technique. *JASA* 110, 1304-1319.
"""

from server.privacy.estimators.answered_means import AnsweredMeanEstimate, estimate_answered_mean
from server.privacy.estimators.anytime import anytime_answered_mean, anytime_mean, anytime_shares
from server.privacy.estimators.association import Association, Measure
from server.privacy.estimators.cheating import CheatingTest, cheating_test
from server.privacy.estimators.coefficients import (
    Coefficients,
    answered_mean_coefficients,
    joint_coefficients,
    mean_coefficients,
    share_coefficients,
)
from server.privacy.estimators.compliance import (
    ControlItemTest,
    control_item_test,
    manipulation_bound,
    pooled_manipulation_bound,
)
from server.privacy.estimators.conditional_shares import (
    ConditionalShare,
    GroupComparison,
    compare_conditional_shares,
)
from server.privacy.estimators.double_lists import DoubleListEstimate, estimate_double_list
from server.privacy.estimators.extended_crosswise import ExtendedCrosswise, estimate_extended_crosswise
from server.privacy.estimators.impossible import impossible_share_test
from server.privacy.estimators.inattention import AttentiveShare, correct_inattention
from server.privacy.estimators.item_counts import ItemCountEstimate, estimate_item_count
from server.privacy.estimators.item_sums import ItemSumEstimate, estimate_item_sum
from server.privacy.estimators.joint import JointEstimate, estimate_joint
from server.privacy.estimators.lie_detection import LieDetection, detect_lies
from server.privacy.estimators.likelihood import LikelihoodEstimate, maximum_likelihood
from server.privacy.estimators.limits import INTERVALS
from server.privacy.estimators.mean_estimates import MeanEstimate, estimate_mean
from server.privacy.estimators.noisy_ratios import ReleasedRatio, released_ratio
from server.privacy.estimators.pooled_joint import association_of, estimate_pooled_joint
from server.privacy.estimators.pooled_means import estimate_pooled_answered_mean, estimate_pooled_mean
from server.privacy.estimators.pooled_shares import PooledShares, estimate_pooled_shares
from server.privacy.estimators.pooled_tests import pooled_control_item_test, pooled_impossible_share_test
from server.privacy.estimators.prevalence import UnknownPrevalenceEstimate, estimate_unknown_prevalence
from server.privacy.estimators.regression import LikelihoodRatioTest, LogisticRegression, logistic_regression
from server.privacy.estimators.sequences import ConfidenceSequence, confidence_sequence
from server.privacy.estimators.several_baselines import SeveralBaselines, estimate_several_baselines
from server.privacy.estimators.share_estimates import ShareEstimate, estimate_shares
from server.privacy.estimators.weighted_limits import SMALL

__all__ = [
    "INTERVALS",
    "SMALL",
    "AnsweredMeanEstimate",
    "Association",
    "AttentiveShare",
    "CheatingTest",
    "Coefficients",
    "ConditionalShare",
    "ConfidenceSequence",
    "ControlItemTest",
    "DoubleListEstimate",
    "ExtendedCrosswise",
    "GroupComparison",
    "ItemCountEstimate",
    "ItemSumEstimate",
    "JointEstimate",
    "LieDetection",
    "LikelihoodEstimate",
    "LikelihoodRatioTest",
    "LogisticRegression",
    "MeanEstimate",
    "Measure",
    "PooledShares",
    "ReleasedRatio",
    "SeveralBaselines",
    "ShareEstimate",
    "UnknownPrevalenceEstimate",
    "answered_mean_coefficients",
    "anytime_answered_mean",
    "anytime_mean",
    "anytime_shares",
    "association_of",
    "cheating_test",
    "compare_conditional_shares",
    "confidence_sequence",
    "control_item_test",
    "correct_inattention",
    "detect_lies",
    "estimate_answered_mean",
    "estimate_double_list",
    "estimate_extended_crosswise",
    "estimate_item_count",
    "estimate_item_sum",
    "estimate_joint",
    "estimate_mean",
    "estimate_pooled_answered_mean",
    "estimate_pooled_joint",
    "estimate_pooled_mean",
    "estimate_pooled_shares",
    "estimate_several_baselines",
    "estimate_shares",
    "estimate_unknown_prevalence",
    "impossible_share_test",
    "joint_coefficients",
    "logistic_regression",
    "manipulation_bound",
    "maximum_likelihood",
    "mean_coefficients",
    "pooled_control_item_test",
    "pooled_impossible_share_test",
    "pooled_manipulation_bound",
    "released_ratio",
    "share_coefficients",
]
