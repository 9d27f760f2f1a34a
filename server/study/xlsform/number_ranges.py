"""Numbers of a form -> a bounded grid, or why there is none."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from server.inputs.problems import N_
from server.privacy.designs.numbers import STEPS_LIMIT
from server.study.xlsform.expressions import Bound, bounds, number, parameters

_LARGEST = 10**9
_MOST_PLACES = 6

_UNBOUNDED = N_(
    "a lowest and a highest number are needed: write a constraint such as . >= 0 and . <= 100, or use range"
)
_COMPLEX = N_("only a constraint such as . >= 0 and . <= 100 is taken")
_EMPTY = N_("the lowest number must be below the highest")
_TOO_FINE = N_("a number may have at most %(limit)d steps, and be at most %(largest)d")
_UNEVEN = N_("start, end and step must be numbers, and steps must lead from start to end")


@dataclass(frozen=True)
class Range:
    """`low`, `high` and `step`, or the problem and the column that it is in."""

    grid: dict[str, Any]
    problem: str = ""
    column: str = ""

    @property
    def values(self) -> dict[str, object]:
        """What the problem's message names."""
        return {"limit": STEPS_LIMIT, "largest": _LARGEST} if self.problem == _TOO_FINE else {}


def of_constraint(constraint: str, *, whole: bool) -> Range:
    """The range that a constraint allows."""
    if not constraint:
        return Range({}, _UNBOUNDED, "type")
    found = bounds(constraint)
    if found is None:
        return Range({}, _COMPLEX, "constraint")
    lows = [bound for bound in found if bound.sign in (">", ">=", "=")]
    highs = [bound for bound in found if bound.sign in ("<", "<=", "=")]
    if not lows or not highs:
        return Range({}, _UNBOUNDED, "constraint")
    places = 0 if whole else max(2, *(_places(bound.value) for bound in found))
    step = Decimal(1).scaleb(-places)
    low = max(_inside(bound, step) for bound in lows)
    high = min(_inside(bound, step) for bound in highs)
    while places > 0 and (high - low) / step > STEPS_LIMIT and low % (step * 10) == high % (step * 10) == 0:
        places, step = places - 1, step * 10
    return _range(low, high, step, "constraint")


def of_parameters(text: str) -> Range:
    """The range that `start=0 end=10 step=1` names; what is left out is as XLSForm has it: 1, 10, 1."""
    given = parameters(text)
    low, high, step = (
        number(given.get(name, default)) for name, default in (("start", "1"), ("end", "10"), ("step", "1"))
    )
    if low is None or high is None or step is None or step <= 0 or (high - low) % step:
        return Range({}, _UNEVEN, "parameters")
    return _range(low, high, step, "parameters")


def _range(low: Decimal, high: Decimal, step: Decimal, column: str) -> Range:
    if low >= high:
        return Range({}, _EMPTY, column)
    too_fine = (high - low) / step > STEPS_LIMIT or step < Decimal(1).scaleb(-_MOST_PLACES)
    if too_fine or max(abs(low), abs(high)) > _LARGEST:
        return Range({}, _TOO_FINE, column)
    return Range({"low": _plain(low), "high": _plain(high), "step": _plain(step)})


def _inside(bound: Bound, step: Decimal) -> Decimal:
    """The outermost number on the grid that keeps to a bound."""
    steps = bound.value / step
    if bound.sign in (">", ">="):
        nearest = steps.to_integral_value(ROUND_CEILING)
        return (nearest + 1 if bound.sign == ">" and nearest == steps else nearest) * step
    nearest = steps.to_integral_value(ROUND_FLOOR)
    return (nearest - 1 if bound.sign == "<" and nearest == steps else nearest) * step


def _places(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
