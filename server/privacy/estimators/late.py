"""Results whose intervals are computed when they are looked at: they take longer than all else in them."""

from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.together import Steps, compute, compute_together

Limits = TypeVar("Limits")


class _Late(Generic[Limits]):
    _name: ClassVar[str]
    _start: Callable[[], Steps[Limits]]

    def __post_init__(self, start: Callable[[], Steps[Limits]]) -> None:
        self.__dict__["_start"] = start  # kept as the limits are: what computes them is no part of the value

    def __getstate__(self) -> dict[str, object]:
        """What a copy in another process needs: the limits, and not what computes them."""
        computed = {**self.__dict__, self._name: getattr(self, self._name)}
        return {name: value for name, value in computed.items() if name != "_start"}


@dataclass(frozen=True, kw_only=True)
class LateInterval(_Late[tuple[float, float]]):
    """A result with one interval; `start` begins to compute it."""

    start: InitVar[Callable[[], Steps[tuple[float, float]]]]
    _name = "interval"

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Lower and upper limit, unclipped."""
        return compute(self._start())


@dataclass(frozen=True, kw_only=True)
class LateIntervals(_Late[NDArray[np.float64]]):
    """A result with an interval for each share; `start` begins to compute them."""

    start: InitVar[Callable[[], Steps[NDArray[np.float64]]]]
    _name = "intervals"

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Lower and upper limits, unclipped, shape (k, 2)."""
        return compute(self._start())


def compute_limits(results: Iterable[LateInterval | LateIntervals]) -> None:
    """Compute the limits of many results side by side, which takes less than one after the other."""
    due = [result for result in results if result._name not in result.__dict__]
    computed = compute_together([result._start() for result in due])
    for result, limits in zip(due, computed, strict=True):
        result.__dict__[result._name] = limits
