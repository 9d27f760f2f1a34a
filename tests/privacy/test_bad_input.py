"""Every argument of every public function refuses what it cannot use, with a ValueError that names it."""

import inspect
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from server.privacy import designs, estimators, planning
from server.privacy.auditing import audit
from server.privacy.designs import custom, k_ary
from tests.privacy.sample_calls import COIN, VALID
from tests.privacy.test_manual import PUBLIC

THREE, SINGULAR = k_ary(3, 1.0), custom([[0.5, 0.5], [0.5, 0.5]])
DAY, RAGGED = np.datetime64("2020-01-01"), [[[1]], [[1, 2], [3]]]
NEVER = [math.nan, -math.inf, 1j, object(), {}, b"\xff", DAY, [math.nan], RAGGED]
"""Of no use as any argument."""
EXTREMES = [
    10**400,
    -(2**63),
    2**63,
    1e308,
    1e-320,
    Decimal("1e-9"),
    [1e308] * 2,
    [10**30, 1],
    [-(2**63)],
    [],
]
OPTIONAL = set(
    (
        "answer answered shares sizes weights null proportions changed variances parents total other mean "
        "neighbours"
    ).split()
)
FLAGS = {"optimised", "monotone", "simultaneous", "non_negative", "sampled"}
DESIGNS = {"design", "designs", "a", "b"}
CASES = [(call, argument) for call, arguments in VALID for argument in arguments]


def name_of(value: Any) -> str:
    return getattr(value, "__qualname__", str(value))


def call_changed(call: Callable[..., Any], changed: dict[str, Any]) -> Any:
    arguments = dict(
        next(valid for function, valid in VALID if function is call and changed.keys() <= valid.keys())
    )
    if call is audit:
        arguments |= {"input_a": 0, "input_b": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(**(arguments | changed))


@pytest.mark.parametrize(("call", "argument"), CASES, ids=name_of)
def test_what_no_argument_can_be_is_refused_by_its_name(call: Callable[..., Any], argument: str) -> None:
    call_changed(call, {})
    bad = list(NEVER)
    if argument not in OPTIONAL:
        bad.append(None)
    if argument not in FLAGS | {"categories"}:
        bad += [True, [True, None]]
    if argument in FLAGS:
        bad += [0, 1, "no"]
    if argument in DESIGNS:
        bad += [[[0.75, 0.25], [0.25, 0.75]], [COIN, None], COIN.weights]
    for value in bad:
        with pytest.raises(ValueError, match=rf"\b{argument}\b"):
            call_changed(call, {argument: value})


@pytest.mark.parametrize(("call", "argument"), CASES, ids=name_of)
def test_extremes_are_used_or_refused_and_nothing_else(call: Callable[..., Any], argument: str) -> None:
    for value in EXTREMES:
        try:
            result = call_changed(call, {argument: value})
        except ValueError as refusal:
            assert " must " in str(refusal), value  # noqa: PT017 - either is right
        else:
            assert "nan" not in repr(result), value


@pytest.mark.parametrize("design", [SINGULAR, THREE], ids=["singular", "three options"])
@pytest.mark.parametrize("call", [call for call, argument in CASES if argument == "design"], ids=name_of)
def test_designs_that_cannot_be_inverted_or_have_other_reports_are_refused(
    call: Callable[..., Any], design: designs.Design
) -> None:
    usable = {
        designs.weigh_between: [SINGULAR, THREE],
        designs.report_between: [SINGULAR, THREE],
        designs.one_hot_epsilon: [SINGULAR],
        designs.plan_throws: [SINGULAR, THREE],
        designs.split_answer: [SINGULAR, THREE],
        estimators.estimate_answered_mean: [THREE],
        estimators.manipulation_bound: [THREE],
        planning.worst_shares: [THREE],
        planning.worst_shares_mean: [THREE],
    }
    if design not in usable.get(call, []):
        with pytest.raises(ValueError, match=r"design|counts|other"):
            call_changed(call, {"design": design})


def test_no_public_function_is_left_out() -> None:
    assert {value for value in PUBLIC.values() if inspect.isfunction(value)} <= {call for call, _ in VALID}
