"""A budget: exact arithmetic, refusals that spend nothing."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.privacy.accounting import Budget, BudgetExceeded


@pytest.mark.parametrize("share", [Fraction(1, 50), 0.02, Decimal("0.02")])
def test_fifty_spends_of_a_fiftieth_fit_and_the_next_is_refused(share: Any) -> None:
    budget = Budget(1)
    for _ in range(50):
        assert not budget.refuses(share)
        budget = budget.spend(share)
    assert budget.remaining == 0
    assert budget.refuses(share)
    assert budget.refuses(1e-300)
    # The broken twin: fifty binary floats are a little more than one.
    assert sum(Fraction(0.02) for _ in range(50)) > 1


def test_a_refusal_says_what_is_left_and_spends_nothing() -> None:
    budget = Budget(1, delta=1e-6).spend(0.7, 5e-7)
    with pytest.raises(BudgetExceeded, match=r"epsilon must be at most 0\.3, which is left of 1; it is 0\.4"):
        budget.spend(0.4)
    with pytest.raises(
        BudgetExceeded, match="delta must be at most 5e-07, which is left of 1e-06; it is 6e-07"
    ):
        budget.spend(0.1, 6e-7)
    assert (budget.remaining, budget.remaining_delta) == (Fraction(3, 10), Fraction(1, 2_000_000))


def test_refusing_raises_where_spending_would_and_spends_nothing_where_not() -> None:
    budget = Budget(1)
    budget.refuse(1)
    assert budget.remaining == 1
    with pytest.raises(BudgetExceeded, match=r"epsilon must be at most 1, which is left of 1; it is 1\.5"):
        budget.refuse(1.5)
    with pytest.raises(ValueError, match="epsilon must be positive and finite; it is -1"):
        budget.refuse(-1)


def test_a_pure_budget_refuses_any_failure_probability() -> None:
    assert Budget(1).refuses(0.1, 1e-12)
    assert not Budget(1, delta=1e-12).refuses(0.1, 1e-12)


def test_a_budget_is_a_value() -> None:
    budget = Budget(2)
    assert budget.spend(1) == Budget(2, spent=1)
    assert budget == Budget(2.0)
    assert hash(budget) == hash(Budget(Fraction(2)))
    with pytest.raises(AttributeError):
        budget.spent = Fraction(0)  # type: ignore[misc]


@given(st.lists(st.decimals("0.0001", "5", places=4), min_size=1, max_size=40))
def test_what_is_spent_never_exceeds_what_was_granted(spends: list[Decimal]) -> None:
    budget, accepted = Budget(3), Fraction(0)
    for spend in spends:
        if budget.refuses(spend):
            assert accepted + Fraction(spend) > 3
        else:
            budget, accepted = budget.spend(spend), accepted + Fraction(spend)
    assert budget.spent == accepted <= 3
    assert budget.remaining == 3 - accepted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon must be positive and finite; it is 0"),
        ({"epsilon": -1}, "epsilon must be positive and finite; it is -1"),
        ({"epsilon": math.nan}, "epsilon must be positive and finite; it is nan"),
        ({"epsilon": math.inf}, "epsilon must be positive and finite; it is inf"),
        ({"epsilon": 1, "delta": 1}, r"delta must be in \[0, 1\); it is 1"),
        ({"epsilon": 1, "spent": 1.5}, r"spent must be at most epsilon, 1; it is 1\.5"),
        ({"epsilon": 1, "spent_delta": 0.5}, r"spent_delta must be at most delta, 0; it is 0\.5"),
    ],
)
def test_what_is_no_budget_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Budget(**arguments)


@pytest.mark.parametrize("epsilon", [0, -0.1, math.nan, math.inf, None])
def test_what_is_no_loss_cannot_be_spent(epsilon: Any) -> None:
    with pytest.raises(ValueError, match="epsilon must be positive and finite; it is"):
        Budget(1).spend(epsilon)
