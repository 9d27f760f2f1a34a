"""Results whose intervals are computed when they are looked at: they take longer than all else in them."""

from collections.abc import Callable
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Limits = TypeVar("Limits")


class _Late(Generic[Limits]):
    _compute: Callable[[], Limits]

    def computing(self, compute: Callable[[], Limits]) -> Self:
        """The same result, with what computes its limits."""
        object.__setattr__(self, "_compute", compute)
        return self

    def _kept(self, name: str) -> dict[str, object]:
        """What a copy in another process needs: the limits, and not what computes them."""
        computed = {**self.__dict__, name: getattr(self, name)}
        return {field: value for field, value in computed.items() if field != "_compute"}


class LateInterval(_Late[tuple[float, float]]):
    """A result with one interval."""

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Lower and upper limit, unclipped."""
        return self._compute()

    def __getstate__(self) -> dict[str, object]:
        return self._kept("interval")


class LateIntervals(_Late[NDArray[np.float64]]):
    """A result with an interval for each share."""

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Lower and upper limits, unclipped, shape (k, 2)."""
        return self._compute()

    def __getstate__(self) -> dict[str, object]:
        return self._kept("intervals")
