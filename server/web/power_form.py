"""The form of a test of shares: what its fields are called, how they are read, and what was typed."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.inputs import N_, InputError, Problem, number_or_text, parse_whole_number, shorten_value
from server.privacy.designs import coin_flip
from server.study.planning import PowerPlan, ShareTest, plan_power

POWER_FIELDS = {
    "coin": N_("Strength gamma of the coin"),
    "true_share": N_("The true share, in percent"),
    "compared": N_("Compared with"),
    "other": N_("The other share, in percent"),
    "ratio": N_("Respondents in the second group for each in the first"),
    "sides": N_("Test"),
    "alpha": N_("Chance of a false alarm, in percent"),
    "power": N_("Chance to show the difference, in percent"),
    "planned": N_("Respondents planned (in the first group, where there are two)"),
}
USUAL: Mapping[str, str] = {
    "coin": "0.25",
    "true_share": "10",
    "compared": "groups",
    "other": "20",
    "ratio": "1",
    "sides": "2",
    "alpha": "5",
    "power": "80",
    "planned": "",
}
"""What the fields hold when the page is opened."""
_NEAREST = 0.001
"""Shares that are nearer to each other than this are not planned for: no survey is large enough."""


@dataclass(frozen=True)
class PowerForm:
    """What was typed, the plan that it asks for, and what keeps it from one.

    Attributes
    ----------
    typed : mapping
        Of each field, as it was typed.
    plan : PowerPlan or None
        None where something is wrong.
    problems : tuple of Problem
        What is wrong, in the order of the fields.
    """

    typed: Mapping[str, str]
    plan: PowerPlan | None
    problems: tuple[Problem, ...]


def read_power_form(sent: Mapping[str, str]) -> PowerForm:
    """The plan that an address asks for; fields that it does not name are as usual."""
    typed = {field: sent.get(field, usual).strip() for field, usual in USUAL.items()}
    problems: list[Problem] = []

    def read(field: str, low: float, high: float) -> float:
        number = number_or_text(typed[field])
        if isinstance(number, str) or not low <= number <= high:
            template = N_("must be a number from %(low)s to %(high)s; it is %(value)s")
            values = {"low": low, "high": high, "value": shorten_value(typed[field]) or "-"}
            problems.append(Problem(field, template, values))
            return low
        return number

    def read_whole(field: str, low: int, high: int) -> int:
        try:
            return parse_whole_number(typed[field], field, low, high)
        except InputError as error:
            problems.extend(error.problems)
            return low

    gamma = read("coin", 0.01, 0.49)
    share = read("true_share", 0, 100) / 100
    if typed["compared"] not in ("groups", "fixed"):
        values = {"limit": "groups, fixed", "value": shorten_value(typed["compared"])}
        problems.append(Problem("compared", N_("must be one of %(limit)s; it is %(value)s"), values))
    groups = 1 if typed["compared"] == "fixed" else 2
    other = read("other", 0, 100) / 100
    ratio = read_whole("ratio", 1, 100) if groups == 2 else 1
    sides = read_whole("sides", 1, 2)
    alpha = read("alpha", 0.01, 50) / 100
    wanted = read("power", 1, 99.99) / 100
    planned = read_whole("planned", 1, 10_000_000) if typed["planned"] else None
    if not problems and abs(share - other) < _NEAREST:
        template = N_("must differ from the true share by %(limit)s percent points or more")
        problems.append(Problem("other", template, {"limit": 100 * _NEAREST}))
    if problems:
        return PowerForm(typed, None, tuple(problems))
    test = ShareTest(share, other, groups, ratio, alpha, sides)
    return PowerForm(typed, plan_power(test, coin_flip(gamma), wanted, planned), ())
