"""A privacy budget: what was granted, what is spent, and a refusal when it is not enough."""

from dataclasses import dataclass, replace
from fractions import Fraction

from server.privacy.accounting.exact import Number, exact_loss, exact_probability


class BudgetExceeded(ValueError):  # noqa: N818 - it says what happened; callers catch it by this name
    """A spend that the budget does not cover; nothing was spent."""


@dataclass(frozen=True, init=False)
class Budget:
    """A budget of privacy loss under sequential composition, in exact arithmetic.

    A value: `spend` returns the budget that is left and changes nothing, so that a ledger
    can store the spend and its release in one transaction.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal
        Granted privacy loss, positive, in nats. A float is read as the decimal it prints:
        fifty spends of 0.02, and fifty of Fraction(1, 50), fit into 1 exactly. A share that
        is no finite decimal (a third) is best given as a Fraction.
    delta : float, Fraction or Decimal
        Granted failure probability, in [0, 1); 0 admits pure releases only.

    Attributes
    ----------
    epsilon, delta : Fraction
        As granted.
    spent, spent_delta : Fraction
        Sums of what was spent.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> budget = Budget(1)
    >>> for _ in range(50):
    ...     budget = budget.spend(0.02)
    >>> budget.remaining
    Fraction(0, 1)
    >>> budget.refuses(1e-9)
    True
    """

    epsilon: Fraction
    delta: Fraction
    spent: Fraction
    spent_delta: Fraction

    def __init__(
        self, epsilon: Number, delta: Number = 0, spent: Number = 0, spent_delta: Number = 0
    ) -> None:
        object.__setattr__(self, "epsilon", exact_loss("epsilon", epsilon, zero=False))
        object.__setattr__(self, "delta", exact_probability("delta", delta))
        object.__setattr__(self, "spent", exact_loss("spent", spent))
        object.__setattr__(self, "spent_delta", exact_probability("spent_delta", spent_delta))
        if self.spent > self.epsilon:
            raise ValueError(f"spent must be at most epsilon, {epsilon!r}; it is {spent!r}")
        if self.spent_delta > self.delta:
            raise ValueError(f"spent_delta must be at most delta, {delta!r}; it is {spent_delta!r}")

    @property
    def remaining(self) -> Fraction:
        """Privacy loss that is left, in nats, exactly."""
        return self.epsilon - self.spent

    @property
    def remaining_delta(self) -> Fraction:
        """Failure probability that is left, exactly."""
        return self.delta - self.spent_delta

    def refuses(self, epsilon: Number, delta: Number = 0) -> bool:
        """Whether a spend does not fit into what is left.

        Raises
        ------
        ValueError
            If epsilon is not positive and finite or delta is outside [0, 1).
        """
        loss = exact_loss("epsilon", epsilon, zero=False)
        return loss > self.remaining or exact_probability("delta", delta) > self.remaining_delta

    def refuse(self, epsilon: Number, delta: Number = 0) -> None:
        """Raise `BudgetExceeded` for a spend that does not fit into what is left.

        Raises
        ------
        BudgetExceeded
            A ValueError that names what is left.
        ValueError
            If an argument is out of range.
        """
        if self.refuses(epsilon, delta):
            name, value, left, granted = (
                ("epsilon", epsilon, self.remaining, self.epsilon)
                if exact_loss("epsilon", epsilon) > self.remaining
                else ("delta", delta, self.remaining_delta, self.delta)
            )
            raise BudgetExceeded(
                f"{name} must be at most {float(left):g}, which is left of {float(granted):g}; it is {value}"
            )

    def spend(self, epsilon: Number, delta: Number = 0) -> "Budget":
        """The budget after a release of this loss.

        Parameters
        ----------
        epsilon : float, Fraction or Decimal
            Positive, in nats.
        delta : float, Fraction or Decimal
            In [0, 1).

        Returns
        -------
        Budget

        Raises
        ------
        BudgetExceeded
            A ValueError: the spend does not fit into what is left.
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> Budget(1).spend(0.7).spend(0.4)
        Traceback (most recent call last):
        ...
        server.privacy.accounting.budget.BudgetExceeded: epsilon must be at most 0.3, which is left of 1; it is 0.4
        """
        self.refuse(epsilon, delta)
        return replace(
            self,
            spent=self.spent + exact_loss("epsilon", epsilon),
            spent_delta=self.spent_delta + exact_probability("delta", delta),
        )
