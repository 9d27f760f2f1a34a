"""Results whose intervals are computed when they are looked at: they take longer than all else in them."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.together import Steps, compute, compute_together

Limits = TypeVar("Limits")


class _Late(Generic[Limits]):
    _name: str
    _compute: Callable[[], Steps[Limits]]

    def computing(self, compute: Callable[[], Steps[Limits]]) -> Self:
        """The same result, with what computes its limits."""
        object.__setattr__(self, "_compute", compute)
        return self

    def __getstate__(self) -> dict[str, object]:
        """What a copy in another process needs: the limits, and not what computes them."""
        computed = {**self.__dict__, self._name: getattr(self, self._name)}
        return {field: value for field, value in computed.items() if field != "_compute"}


class LateInterval(_Late[tuple[float, float]]):
    """A result with one interval."""

    _name = "interval"

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Lower and upper limit, unclipped."""
        return compute(self._compute())


class LateIntervals(_Late[NDArray[np.float64]]):
    """A result with an interval for each share."""

    _name = "intervals"

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Lower and upper limits, unclipped, shape (k, 2)."""
        return compute(self._compute())


def compute_limits(results: Iterable[LateInterval | LateIntervals]) -> None:
    """Compute the limits of many results side by side, which takes less than one after the other."""
    due = [result for result in results if result._name not in result.__dict__]
    computed = compute_together([result._compute() for result in due])
    for result, limits in zip(due, computed, strict=True):
        result.__dict__[result._name] = limits
