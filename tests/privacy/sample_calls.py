"""Every public function of the privacy library with arguments that it can use."""

from collections.abc import Callable
from typing import Any

import numpy as np

from server.privacy import (
    accounting,
    auditing,
    consistency,
    designs,
    estimators,
    noise,
    planning,
    queries,
    selection,
)
from server.privacy.designs import coin_flip

COIN = coin_flip(0.25)
FIT = {"reports": np.repeat([0, 1, 0, 1], [70, 30, 60, 40]), "covariates": np.repeat([0.0, 1.0], 100)}
TREE, TABLE = queries.hierarchy([("a", "b"), ("a", "c")], 1.0), queries.table([["a"], ["x", "y"]], 1.0)
FITTED = queries.contingency([["x", "y"]], 1.0, margins=0.5)
L2 = {"l2_sensitivity": 1, "epsilon": 1, "delta": 1e-6}
L1 = {"sensitivity": 1, "epsilon": 1}
GRID = {**L1, "granularity": 0.25, "changed": 1}
SPARSE = {"answers": [1, 2], **L1, "monotone": True, "granularity": 1.0}
TEST = {"power": 0.8, "alpha": 0.05, "sides": 2}
AT = {"design": COIN, "confidence": 0.9}
HOW = {"confidence": 0.9, "interval": "exact"}
PARTS = {
    "counts": [[60, 40], [5, 4]],
    "designs": [COIN, coin_flip(0.4)],
    "weights": [0.5, 0.5],
    "confidence": 0.9,
}
THREES = {
    **PARTS,
    "counts": [[30, 40, 30], [4, 2, 3]],
    "designs": [designs.k_ary(3, 2.0), designs.k_ary(3, 4.0)],
}

VALID: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (designs.coin_flip, {"gamma": 0.25}),
    (designs.warner, {"truth": 0.7}),
    (designs.forced_response, {"truth": 0.7, "yes": 0.1}),
    (designs.unrelated_question, {"truth": 0.7, "prevalence": 0.3}),
    (designs.kuk, {"if_yes": 0.8, "if_no": 0.3}),
    (designs.crosswise, {"prevalence": 0.2}),
    (designs.split_answer, {"design": COIN}),
    (designs.k_ary, {"options": 4, "epsilon": 1.0}),
    (designs.unary, {"epsilon": 1.0, "optimised": True}),
    (designs.best_choice, {"options": 4, "epsilon": 1.0}),
    (designs.ordinal, {"options": 4, "epsilon": 1.0}),
    (designs.custom, {"matrix": [[0.7, 0.3], [0.2, 0.8]]}),
    (designs.for_epsilon, {"epsilon": 1.0}),
    (designs.weigh_between, {"design": COIN, "steps": 1, "of": 4}),
    (designs.report_between, {"design": COIN, "steps": [1, 4], "of": 4, "coins": [5, 6]}),
    (designs.gamma_of, {"epsilon": 1.0}),
    (designs.kronecker, {"a": COIN, "b": COIN}),
    (designs.plan_throws, {"design": COIN}),
    (designs.one_hot_epsilon, {"design": COIN}),
    (designs.round_up, {"epsilon": 1.0, "decimals": 4}),
    (designs.draw_coins, {"n": 3}),
    (designs.Design, {"weights": COIN.weights}),
    (COIN.posterior, {"prior": 0.1}),
    (COIN.report, {"truths": [0, 1], "coins": [5, 6]}),
    (estimators.estimate_shares, {"counts": [60, 40], "design": COIN, **HOW}),
    (estimators.estimate_joint, {"tally": [[6, 3], [3, 2]], "designs": [COIN, COIN], **HOW}),
    (estimators.estimate_mean, {"counts": [60, 40], "design": COIN, "low": 0, "high": 9, **HOW}),
    (
        estimators.estimate_answered_mean,
        {"counts": [30, 40, 30], "design": designs.k_ary(3, 2.0), "low": 0, "high": 9, **HOW},
    ),
    (estimators.estimate_pooled_shares, PARTS),
    (estimators.estimate_pooled_mean, {**PARTS, "low": 0, "high": 9}),
    (estimators.estimate_pooled_answered_mean, {**THREES, "low": 0, "high": 9}),
    (
        estimators.compare_conditional_shares,
        {
            "tallies": [[[60, 30], [30, 20]], [[5, 1], [2, 3]]],
            "designs": [[COIN, COIN], [COIN, coin_flip(0.4)]],
            "first": 1,
            "second": 1,
            "confidence": 0.95,
        },
    ),
    (
        estimators.estimate_pooled_joint,
        {
            "tallies": [[[6, 3], [3, 2]], {b"\0\1": 3}],
            "designs": [[COIN, COIN], [COIN, coin_flip(0.4)]],
            "weights": [0.5, 0.5],
            "confidence": 0.9,
            "interval": "by_size",
        },
    ),
    (
        estimators.association_of,
        {"joint": estimators.estimate_joint([[6, 3], [3, 2]], [COIN, COIN]), "first": 1, "second": 0},
    ),
    (estimators.share_coefficients, {"designs": [COIN, coin_flip(0.4)]}),
    (estimators.mean_coefficients, {"designs": [COIN], "low": 0, "high": 9}),
    (estimators.answered_mean_coefficients, {"designs": THREES["designs"], "low": 0, "high": 9}),
    (estimators.joint_coefficients, {"designs": [[COIN, COIN], [COIN, coin_flip(0.4)]]}),
    (
        estimators.released_ratio,
        {
            "cells": [60, 40],
            "numerator": [0, 1],
            "denominator": [1, 1],
            "variances": 2.0,
            "confidence": 0.9,
            "total": 101,
            "sampled": True,
            "noise": "gaussian",
            "reach": (0, 1),
        },
    ),
    (estimators.pooled_impossible_share_test, {"counts": [[80, 20], [6, 3]], "designs": [COIN, COIN]}),
    (
        estimators.pooled_control_item_test,
        {"counts": [[80, 20], [6, 3]], "designs": [COIN, COIN], "weights": [0.5, 0.5]},
    ),
    (estimators.anytime_shares, PARTS),
    (estimators.anytime_mean, {**PARTS, "low": 0, "high": 9}),
    (estimators.anytime_answered_mean, {**THREES, "low": 0, "high": 9}),
    (estimators.control_item_test, {"counts": [80, 20], "design": COIN}),
    (
        estimators.estimate_unknown_prevalence,
        {"counts": [[7, 3], [5, 4]], "truths": [0.75, 0.25], "confidence": 0.9},
    ),
    (estimators.confidence_sequence, {"yes": 4, "n": 10, **AT}),
    (estimators.impossible_share_test, {"counts": [80, 20], "design": COIN}),
    (
        estimators.cheating_test,
        {"counts": [[7, 3], [5, 4]], "designs": [coin_flip(0.1), COIN], "confidence": 0.9},
    ),
    (
        estimators.estimate_item_count,
        {"control": [5, 9, 4], "treatment": [3, 8, 6, 2], "confidence": 0.9},
    ),
    (
        estimators.estimate_double_list,
        {"first": [[5, 2], [4, 3], [1, 2]], "second": [[4, 3, 1], [3, 4, 2]], "confidence": 0.9},
    ),
    (
        estimators.estimate_item_sum,
        {"control": [10.0, 12.5, 9.0], "treatment": [14.0, 11.0], "confidence": 0.9},
    ),
    (estimators.detect_lies, {"counts": [[7, 3], [5, 4]], "truths": [0.8, 0.3], "confidence": 0.9}),
    (
        estimators.estimate_several_baselines,
        {"counts": [[7, 3], [5, 4]], "designs": [coin_flip(0.1), COIN], "confidence": 0.9},
    ),
    (
        estimators.estimate_extended_crosswise,
        {"counts": [[3, 7], [5, 4]], "prevalence": 0.2, "confidence": 0.9},
    ),
    (
        estimators.correct_inattention,
        {
            **{"counts": [[3, 7], [5, 40]], "prevalence": 0.2, "anchor_prevalence": 0.15},
            **{"anchor_share": 0.1, "confidence": 0.9},
        },
    ),
    (estimators.manipulation_bound, {"n": 1000, "forged": 10, "design": COIN}),
    (
        estimators.pooled_manipulation_bound,
        {"sizes": [90, 900], "forged": 10, "designs": [COIN, COIN], "weights": [0.9, 0.1]},
    ),
    (estimators.maximum_likelihood, {"counts": [80, 20], "design": COIN}),
    (estimators.logistic_regression, {**FIT, **AT, "weights": np.ones(200)}),
    (planning.belief_after_report, {"epsilon": 1.0, "prior": 0.1}),
    (planning.count_guesses, {"losses": [1.0, 0.5]}),
    (planning.count_spent, {"loss": 1.0}),
    (planning.list_room, {"loss": 1.0}),
    (
        planning.compare_groups,
        {
            "shares": [0.1, 0.2],
            "designs": [COIN] * 2,
            "sizes": [1, 2],
            "null": 0.1,
            "alpha": 0.05,
            "sides": 2,
        },
    ),
    (
        planning.compare_means,
        {
            **{"shares": [[0.5, 0.5]], "designs": [COIN], "sizes": [1], "null": 0.1},
            **{"alpha": 0.05, "sides": 2, "answer": 0},
        },
    ),
    (planning.most_loss, {"headline": planning.Headline.MUCH}),
    (planning.margin, {"n": 9, **AT, "share": 0.5}),
    (planning.margin_mean, {"n": 9, **AT, "low": 0, "high": 9, "shares": [0.5, 0.5]}),
    (planning.margin_shares, {"n": 9, **AT, "shares": [0.5, 0.5]}),
    (planning.margin_two_samples, {"n_a": 9, "n_b": 9, **AT, "share_a": 0.5, "share_b": 0.5}),
    (planning.power, {"n": 9, "share": 0.1, "null": 0, "design": COIN, "alpha": 0.05, "sides": 2}),
    (
        planning.power_two_samples,
        {"n_a": 9, "n_b": 9, "share_a": 0.1, "share_b": 0.2, "design": COIN, "alpha": 0.05, "sides": 2},
    ),
    (planning.price_of_privacy, {"design": COIN, "share": 0.5, "null": 0.3, **TEST}),
    (planning.price_of_privacy_mean, {"design": COIN, "shares": [0.5, 0.5]}),
    (planning.price_of_privacy_shares, {"design": COIN, "shares": [0.5, 0.5]}),
    (planning.respondents_for_margin, {"margin": 0.05, **AT, "share": 0.5}),
    (
        planning.respondents_for_margin_mean,
        {"margin": 0.5, **AT, "low": 0, "high": 9, "shares": [0.5, 0.5]},
    ),
    (planning.respondents_for_margin_shares, {"margin": 0.05, **AT, "shares": [0.5, 0.5]}),
    (
        planning.respondents_for_margin_two_samples,
        {"margin": 0.05, **AT, "share_a": 0.5, "share_b": 0.5, "ratio": 1},
    ),
    (planning.respondents_for_power, {"share": 0.1, "null": 0, "design": COIN, **TEST}),
    (
        planning.respondents_for_power_two_samples,
        {"share_a": 0.1, "share_b": 0.2, "design": COIN, **TEST, "ratio": 1},
    ),
    (planning.worst_shares, {"design": COIN}),
    (planning.worst_shares_mean, {"design": COIN}),
    (
        lambda answered: planning.margin_mean(9, designs.k_ary(3, 1.0), 0, 9, answered=answered),
        {"answered": 0.9},
    ),
    (
        lambda answered: planning.respondents_for_margin_mean(
            1, designs.k_ary(3, 1.0), 0, 9, answered=answered
        ),
        {"answered": 0.9},
    ),
    (
        lambda answered: planning.price_of_privacy_mean(designs.k_ary(3, 1.0), answered=answered),
        {"answered": 0.9},
    ),
    (lambda answered: planning.worst_shares_mean(designs.k_ary(3, 1.0), answered), {"answered": 0.9}),
    (
        noise.laplace_shared,
        {
            "values": [0.5, 2],
            "sensitivities": [1, 2],
            "epsilon": 1,
            "granularity": 0.25,
            "proportions": [1, 1],
        },
    ),
    (noise.allocate, {"epsilon": 1, "sensitivities": [1, 2], "proportions": [1, 1]}),
    (noise.gaussian, {"values": [1, 2], **L2}),
    (noise.gaussian_interval, {"noisy": [1, 2], **L2, "confidence": 0.9}),
    (noise.gaussian_pmf, {"noise": [0, 1], **L2}),
    (noise.gaussian_sigma, L2),
    (noise.gaussian_variance, L2),
    (noise.geometric, {"counts": [1, 2], **L1}),
    (noise.geometric_interval, {"noisy": [1, 2], **L1, "confidence": 0.9, "simultaneous": True}),
    (noise.geometric_mean_error, L1),
    (noise.geometric_pmf, {"noise": [0, 1], **L1}),
    (noise.geometric_variance, L1),
    (noise.laplace, {"values": [0.5, 2], **GRID}),
    (noise.laplace_interval, {"noisy": [0.5, 2], **GRID, "confidence": 0.9}),
    (noise.laplace_pmf, {"noise": [0, 1], **GRID}),
    (noise.laplace_sensitivity, {"sensitivity": 1, "granularity": 0.25, "changed": 1}),
    (noise.laplace_variance, GRID),
    (noise.largest_error, {"entries": 10, "scale": 1, "confidence": 0.9}),
    (selection.above_threshold, {**SPARSE, "threshold": 2}),
    (selection.above_threshold_error, {"answers": 9, **L1, "failure": 0.05}),
    (selection.begin_search, {"noise": selection.plan_search(2, 1.0), "sensitivity": 1}),
    (selection.plan_search, {"positives": 2, "epsilon": 1, "delta": 1e-6, "monotone": True}),
    (selection.plan_search(2, 1.0).error, {"answers": 9, "failure": 0.05, "sensitivity": 1}),
    (selection.plan_search(2, 1.0).variance, {"sensitivity": 1}),
    (selection.begin_search(selection.plan_search(2, 1.0), 1).compare, {"excess": 3}),
    (selection.best_split, {"positives": 2, "epsilon": 1, "monotone": True}),
    (selection.choose_several, {"utilities": [1, 2, 3], "chosen": 2, **L1}),
    (selection.several_error, {"options": 3, "chosen": 2, **L1, "failure": 0.05}),
    (selection.several_sensitivity, {"weights": [[1, 0], [0, 1]], "chosen": 1, "neighbours": "bounded"}),
    (selection.choose_in_gaps, {"utilities": [1, 2], "sizes": [3, 4], **L1, "monotone": False}),
    (selection.exponential_mechanism, {"utilities": [1, 2], **L1, "monotone": False}),
    (selection.noisy_maximum, {"counts": [1, 2], "epsilon": 1, "neighbours": "unbounded"}),
    (selection.rate_of, {**L1, "monotone": True}),
    (selection.selection_error, {"options": 3, **L1, "failure": 0.05, "monotone": True}),
    (selection.sparse_vector, {**SPARSE, "thresholds": 2, "positives": 1, "values_epsilon": 0}),
    (selection.estimate_utilities, {"numerators": [[1, 0], [0, 1]], "neighbours": "bounded"}),
    (
        selection.excess_weights,
        {"numerator": [0, 1], "denominator": [1, 1], "share": 0.3, "neighbours": "bounded"},
    ),
    (queries.count, {"epsilon": 1, "neighbours": "bounded", "noise": "laplace"}),
    (queries.proportion, {"epsilon": 1, "neighbours": "bounded"}),
    (queries.mean, {"low": 0, "high": 1, "epsilon": 1, "neighbours": "bounded", "delta": 1e-6}),
    (
        queries.histogram,
        {"categories": ["a", "b"], "epsilon": 1, "neighbours": "bounded", "noise": "laplace"},
    ),
    (
        queries.table,
        {"categories": [["a"], ["b", "c"]], "epsilon": 1, "neighbours": "bounded", "noise": "laplace"},
    ),
    (
        queries.contingency,
        {"categories": [["a"], ["b", "c"]], "epsilon": 1, "neighbours": "bounded", "margins": 0.5},
    ),
    (
        queries.epsilon_for_error,
        {"expected_error": lambda epsilon: 1 / epsilon, "error": 3, "low": 0.01, "high": 10},
    ),
    (
        queries.divide_by_level,
        {"levels": 3, "epsilon": 1, "neighbours": "bounded", "proportions": [1, 2], "total": 5},
    ),
    (
        queries.hierarchy,
        {"leaves": [("a", "b")], "epsilon": 1, "neighbours": "bounded", "proportions": [1, 1, 1]},
    ),
    (queries.mean(0, 1, 1.0).expected_error, {"people": 10, "mean": 0.5}),
    (queries.proportion(1.0).expected_error, {"people": 10, "share": 0.5}),
    (queries.mean(0, 1, 1.0).run, {"data": [0.5], "confidence": 0.9}),
    (queries.proportion(1.0).run, {"data": [True], "confidence": 0.9}),
    (TREE.run, {"data": [("a", "b")], "confidence": 0.9}),
    (TREE.release, {"counts": [4, 5], "confidence": 0.9}),
    (
        lambda data, confidence: TABLE.run(["a"], data, confidence=confidence),
        {"data": ["x"], "confidence": 0.9},
    ),
    (TABLE.release, {"counts": [[4, 5]], "confidence": 0.9}),
    (FITTED.release, {"counts": [4, 5], "confidence": 0.9}),
    (FITTED.fit, {"cells": [4, 5], "noisy_margins": [[3, 6]], "confidence": 0.9}),
    (TABLE.sensitivity, {"neighbours": "bounded"}),
    (consistency.consistent_hierarchy, {"noisy": [9, 6, 5], "parents": [-1, 0, 0], "variances": [1, 1, 1]}),
    (
        consistency.fit_margins,
        {"table": [[1, 1], [1, 1]], "margins": [[3, 7], [4, 6]], "tolerance": 1e-9, "rounds": 9},
    ),
    (
        consistency.rake_weights,
        {"weights": [1, 1, 1], "margins": [([0, 0, 1], [1, 1])], "tolerance": 1e-9, "rounds": 9},
    ),
    (
        consistency.least_squares_table,
        {"table": [[1, 1]], "margins": [[2], [1, 1]], "variances": [[1, 1]], "non_negative": True},
    ),
    (consistency.round_table, {"values": [[1.5, 0.5], [0.5, 1.5]], "margins": [[2, 2], [2, 2]]}),
    (consistency.round_to_integers, {"values": [10.4, 7, 3], "parents": [-1, 0, 0]}),
    (consistency.round_to_integers, {"values": [1.5, 2.5], "total": 4}),
    (accounting.Loss, {"epsilon": 1, "delta": 0.1}),
    (accounting.advanced, {"epsilon": 0.1, "k": 10, "delta_prime": 1e-6, "delta": 0}),
    (accounting.optimal, {"epsilon": 0.1, "k": 10, "delta": 1e-6}),
    (accounting.best_composition, {"epsilon": [0.1, 0.2], "k": 10, "delta": 1e-6}),
    (accounting.bounded_from_unbounded, {"loss": 0.5}),
    (accounting.sequential, {"losses": [0.1, 0.2]}),
    (accounting.parallel, {"losses": [0.1, 0.2], "neighbours": "unbounded"}),
    (accounting.probability_range, {"p": 0.5, "epsilon": 1}),
    (accounting.shuffle_amplification, {"n": 1000, "local_epsilon": 1, "delta": 1e-6}),
    (auditing.exact_loss, {"design": [3, 1], "other": [1, 3], "delta": 0}),
    (auditing.worst_output, {"first": [3, 1], "second": [1, 3]}),
    (auditing.detectable, {"runs": 100, "confidence": 0.9, "delta": 0}),
    (
        auditing.audit,
        {"mechanism": lambda data, runs: np.full(runs, data), "runs": 100, "confidence": 0.9, "delta": 0},
    ),
]
