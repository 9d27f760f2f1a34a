"""The form of a test of shares or means: what its fields are called, how they are read, and what was typed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from server.inputs import N_, InputError, Problem, number_or_text, parse_whole_number, shorten_value
from server.privacy.designs import Design, coin_flip, k_ary, ordinal, split_answer
from server.study.planning import PowerPlan, PowerTest, Value, plan_power

POWER_FIELDS = {
    "measured": N_("What is asked"),
    "answers": N_("Answers to choose from"),
    "low": N_("Lowest number"),
    "high": N_("Highest number"),
    "coin": N_("Strength gamma of the coin"),
    "second_coin": N_("Strength gamma of the other groups’ coin, if another"),
    "true_share": N_("The true share, in percent, or the true mean"),
    "compared": N_("Compared with"),
    "other": N_("The other share, in percent, or the other mean"),
    "ratio": N_("Respondents in each other group for each in the first"),
    "sides": N_("Test"),
    "alpha": N_("Chance of a false alarm, in percent"),
    "power": N_("Chance to show the difference, in percent"),
    "planned": N_("Respondents planned (in the first group, where there are more)"),
}
USUAL: Mapping[str, str] = {
    "measured": "share",
    "answers": "4",
    "low": "0",
    "high": "10",
    "coin": "0.25",
    "second_coin": "",
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
MEASURED = ("share", "answer", "number", "scale")
COMPARED = ("groups", "fixed", "waves")
_NEAREST = 0.001
"""Shares that are nearer to each other than this are not planned for: no survey is large enough."""
_MOST_LEVELS, _MOST_WAVES = 20, 50


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
    reader = _PowerReader(typed)
    asked = reader.read_plan()
    return PowerForm(typed, None if asked is None else asked(), tuple(reader.problems))


class _PowerReader:
    """Reads one field after the other, and keeps what is wrong with each."""

    def __init__(self, typed: Mapping[str, str]) -> None:
        self.typed = typed
        self.problems: list[Problem] = []

    def read_plan(self) -> Callable[[], PowerPlan] | None:
        """What computes the plan; None where something is wrong."""
        measured = self.choose("measured", MEASURED)
        answers = self.whole("answers", 2, 50) if measured == "answer" else 2
        low, high = (
            (self.number(end, -(10**9), 10**9) for end in ("low", "high"))
            if measured == "number"
            else (0, 100)
        )
        if not self.problems and low >= high:
            self.refuse("high", N_("must be above the lowest number, %(limit)s"), limit=low)
        gamma = self.number("coin", 0.01, 0.49)
        second = self.number("second_coin", 0.01, 0.49) if self.typed["second_coin"] else None
        levels = len(self.typed["true_share"].split(";")) if measured == "scale" else 0
        if measured == "scale" and not 3 <= levels <= _MOST_LEVELS:
            self.refuse(
                "true_share",
                N_("must be the shares of 3 to %(limit)s levels, with ; between them"),
                limit=_MOST_LEVELS,
            )
        compared = self.choose("compared", COMPARED)
        if self.problems:
            return None
        values = [self.value("true_share", self.typed["true_share"], low, high, levels)]
        others = self.typed["other"].split("/") if compared == "waves" else [self.typed["other"]]
        if compared == "waves" and not 2 <= len(others) <= _MOST_WAVES:
            self.refuse(
                "other",
                N_("must be the values of 2 to %(limit)s later waves, with / between them"),
                limit=_MOST_WAVES,
            )
        null = None
        if compared == "fixed":
            ends = (1, levels) if levels else (low, high)
            null = (self.number("other", *ends) - ends[0]) / (ends[1] - ends[0])
        else:
            values += [self.value("other", text, low, high, levels) for text in others]
        ratio = self.whole("ratio", 1, 100) if null is None else 1
        sides = self.whole("sides", 1, 2)
        alpha = self.number("alpha", 0.01, 50) / 100
        wanted = self.number("power", 1, 99.99) / 100
        planned = self.whole("planned", 1, 10_000_000) if self.typed["planned"] else None
        if self.problems:
            return None

        def make(strength: float) -> Design:
            return _make_design(measured, strength, levels or answers)

        sizes = (1, *[ratio] * (len(values) - 1))
        test = PowerTest(tuple(values), null, sizes, alpha, sides, None if second is None else make(second))
        if _find_distance(test) < _NEAREST:
            if measured == "share" and compared != "waves":
                template = N_("must differ from the true share by %(limit)s percent points or more")
                self.refuse("other", template, limit=100 * _NEAREST)
            else:
                self.refuse("other", N_("must differ more from the first; no survey is large enough"))
            return None
        return lambda: plan_power(test, make(gamma), wanted, planned, make)

    def refuse(self, field: str, template: str, **values: object) -> None:
        """Keep a problem."""
        self.problems.append(Problem(field, template, values))

    def choose(self, field: str, names: Sequence[str]) -> str:
        """One of some names."""
        if self.typed[field] not in names:
            limit, value = ", ".join(names), shorten_value(self.typed[field])
            self.refuse(field, N_("must be one of %(limit)s; it is %(value)s"), limit=limit, value=value)
        return self.typed[field]

    def number(self, field: str, low: float, high: float, text: str | None = None) -> float:
        """A number in a range; its lower end where it is none."""
        typed = (self.typed[field] if text is None else text).strip()
        number = number_or_text(typed)
        if isinstance(number, str) or not low <= number <= high:
            template = N_("must be a number from %(low)s to %(high)s; it is %(value)s")
            self.refuse(field, template, low=low, high=high, value=shorten_value(typed) or "-")
            return low
        return number

    def whole(self, field: str, low: int, high: int) -> int:
        """A whole number in a range; its lower end where it is none."""
        try:
            return parse_whole_number(self.typed[field], field, low, high)
        except InputError as error:
            self.problems.extend(error.problems)
            return low

    def value(self, field: str, text: str, low: float, high: float, levels: int) -> Value:
        """A share or a mean, in parts of its range; of a scale the shares of all its levels."""
        if not levels:
            return (self.number(field, low, high, text) - low) / (high - low)
        parts = text.split(";")
        shares = tuple(self.number(field, 0, 100, part) / 100 for part in parts)
        if len(parts) != levels or abs(sum(shares) - 1) > 1e-9:
            template = N_("must be the shares of %(levels)s levels, 100 together, with ; between them")
            self.refuse(field, template, levels=levels)
        return shares


def _make_design(measured: str, gamma: float, answers: int) -> Design:
    """With the privacy loss of a coin of that strength."""
    coin = coin_flip(gamma)
    if measured == "answer":
        return split_answer(k_ary(answers, coin.epsilon)) if answers > 2 else coin
    return ordinal(answers, coin.epsilon) if measured == "scale" else coin


def _find_distance(test: PowerTest) -> float:
    """Between the two that are compared, in parts of their range; of waves, how far the last or the first stand out."""
    means = [
        value
        if isinstance(value, float)
        else sum(k * share for k, share in enumerate(value)) / (len(value) - 1)
        for value in test.values
    ]
    if test.null is not None:
        return abs(means[0] - test.null)
    sizes = test.sizes
    middle = sum(k * size for k, size in enumerate(sizes)) / sum(sizes)
    trend = sum(size * (k - middle) * mean for k, (size, mean) in enumerate(zip(sizes, means, strict=True)))
    reach = sum(size * abs(k - middle) for k, size in enumerate(sizes)) / 2
    return abs(trend) / reach
