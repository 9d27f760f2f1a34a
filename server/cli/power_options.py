"""What `plan` is asked of power: groups or waves, what they are compared with, a second design, a grid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from server.cli.common import WholeNumber
from server.cli.described_question import describe_question
from server.study import planning
from server.study.definitions import Question

CURVES = ("respondents", "gamma")
_MOST_LISTED = 1000
"""Numbers of a list, as of the shares of a grid."""

_OPTIONS = (
    click.option(
        "--power",
        "wanted",
        type=float,
        help=f"Chance to show the difference, {planning.DEFAULT_POWER} without it.",
    ),
    click.option(
        "--null",
        type=float,
        help="The fixed share or mean that the true --share is compared with; beside --against, the one share that all "
        "groups have if nothing differs.",
    ),
    click.option(
        "--against",
        multiple=True,
        metavar="SHARE",
        help="The true share of a second group; given more often, of later waves, and a trend is looked for.",
    ),
    click.option(
        "--ratio",
        "ratios",
        type=WholeNumber(1, 1000),
        multiple=True,
        help="Respondents in each --against for each in the first group, 1 without it; once for all, or once for each.",
    ),
    click.option(
        "--second",
        metavar="MECHANISM:NAME=NUMBER,...",
        help="Another design for the groups of --against, such as coin_flip:gamma=0.4.",
    ),
    click.option("--low", type=float, help="The lowest number, where a mean is planned."),
    click.option("--high", type=float, help="The highest number."),
    click.option("--answer", type=WholeNumber(1, 50), help="Of an ordinal design: this level, not the mean."),
    click.option("--sides", type=WholeNumber(1, 2), default=2, show_default=True, help="Of the test."),
    click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance of a false alarm."),
    click.option(
        "--curve",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Draw a curve into this new file: SVG.",
    ),
    click.option(
        "--over",
        type=click.Choice(CURVES),
        default=CURVES[0],
        show_default=True,
        help="The curve: power over respondents, or respondents over the coin's gamma.",
    ),
    click.option(
        "--each-share",
        metavar="LIST",
        help="In place of --share, with --each-size: the power at each of these, as 0,0.1 or 0:0.15:0.0025.",
    ),
    click.option("--each-size", metavar="LIST", help="With --each-share: of each of these respondents."),
)
ASKING = (
    "wanted",
    "null",
    "against",
    "ratios",
    "second",
    "low",
    "high",
    "answer",
    "sides",
    "alpha",
    "curve",
    "over",
    "each_share",
    "each_size",
)
"""The parameters that ask for a test, or are of nothing else; none is given where there is none."""


@dataclass(frozen=True)
class PowerRequest:
    """A test as it was typed, and as it is computed."""

    question: Question
    test: planning.PowerTest
    typed: tuple[str, ...]
    null: float | None
    second: str | None
    mean: bool


def power_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a plan that shows a difference."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def list_asking(context: click.Context) -> list[str]:
    """Those of `ASKING` that were typed."""
    return [name for name in ASKING if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]


def read_request(
    question: Question, share: str | None, named: Mapping[str, Any], distinct: bool = True
) -> PowerRequest:
    """The test that the options describe; `share` is that of the first group, which must be `distinct` from others."""
    null, against, alpha = named["null"], named["against"], named["alpha"]
    if null is None and not against:
        raise click.UsageError("either --null or --against must be given")
    if share is None:
        raise click.UsageError("--share must be given with --null and --against: the true share of yes")
    values = _Values(question, named["low"], named["high"], named["answer"])
    read = [values.read("--share", share), *(values.read("--against", text) for text in against)]
    fixed = None if null is None else values.read_null(null)
    if distinct and len(set(read)) == 1 and (against or read[0] == fixed):
        other, number = ("--against", share) if against else ("--null", repr(null))
        raise click.UsageError(f"--share and {other} must be different numbers; both are {number}")
    if against and fixed is not None and values.many:
        raise click.UsageError("--null must not be given with --against under an ordinal design")
    if not 0 < alpha < 1:
        raise click.UsageError(f"--alpha must be between 0 and 1; it is {alpha!r}")
    second = None
    if named["second"] is not None:
        if not against:
            raise click.UsageError("--second must be given with --against: there is one group")
        second = planning.tested_design(_describe_second(named["second"], question))
    test = planning.PowerTest(
        tuple(read),
        fixed,
        (1, *_read_ratios(named["ratios"], len(against))),
        alpha,
        named["sides"],
        second,
        values.answer,
    )
    return PowerRequest(question, test, (share, *against), null, named["second"], values.mean)


def plan_request(request: PowerRequest, target: float | None, planned: int | None) -> planning.PowerPlan:
    """Its plan under the question's design."""
    power = planning.DEFAULT_POWER if target is None else target
    if not 0 < power < 1:
        raise click.UsageError(f"--power must be between 0 and 1; it is {power!r}")
    design, vary = planning.tested_design(request.question), planning.vary_strength(request.question)
    try:
        return planning.plan_power(request.test, design, power, planned, vary)
    except ValueError as error:  # of a second design with other answers, of waves without a trend
        raise click.UsageError(f"these options make no plan: {error}") from None


def read_list(option: str, text: str) -> list[float]:
    """Numbers with commas between them, or FROM:TO:STEP."""
    try:
        if ":" in text:
            first, last, step = map(Decimal, text.split(":"))
            count = int((last - first) / step) + 1 if step > 0 else 0
            numbers = [float(first + place * step) for place in range(min(count, _MOST_LISTED + 1))]
        else:
            numbers = [float(Decimal(part)) for part in text.split(",")]
    except (ValueError, InvalidOperation):
        numbers = []
    if not 1 <= len(numbers) <= _MOST_LISTED:
        raise click.UsageError(
            f"{option} must be 1 to {_MOST_LISTED} numbers with commas between them, or FROM:TO:STEP; it is {text!r}"
        )
    return numbers


class _Values:
    """How true values are read: shares of an answer, means of a number, or the shares of all levels."""

    def __init__(self, question: Question, low: float | None, high: float | None, answer: int | None) -> None:
        self.truths = len(planning.tested_design(question).weights)
        self.many = self.truths > 2
        if answer is not None and (not self.many or answer > self.truths):
            limit = f"from 1 to {self.truths}" if self.many else "left out but with an ordinal design"
            raise click.UsageError(f"--answer must be {limit}; it is {answer}")
        self.answer = None if answer is None else answer - 1
        self.mean = question.encoding.between_ends or (self.many and answer is None)
        if not self.mean and (low is not None or high is not None):
            raise click.UsageError("--low and --high must be given for a mean alone")
        ends = question.ends or (0, 1)
        self.low, self.high = ends[0] if low is None else low, ends[1] if high is None else high
        if not self.mean:
            self.low, self.high = 0, 1
        if not self.low < self.high:
            raise click.UsageError(f"--low must be below --high; they are {self.low:g} and {self.high:g}")

    def read(self, option: str, text: str) -> planning.Value:
        """A true share or mean; under an ordinal design the shares of all levels."""
        try:
            numbers = tuple(float(part) for part in text.split(","))
        except ValueError:
            numbers = ()
        if not self.many:
            if len(numbers) != 1:
                raise click.UsageError(
                    f"{option} must be one number from {self.low:g} to {self.high:g}; it is {text!r}"
                )
            return self._scale(option, numbers[0])
        if len(numbers) != self.truths or not all(0 <= number <= 1 for number in numbers):
            raise click.UsageError(
                f"{option} must be {self.truths} numbers from 0 to 1, one for each answer; it is {text!r}"
            )
        if abs(sum(numbers) - 1) > 1e-9:
            raise click.UsageError(f"{option} must have the sum 1; it is {sum(numbers):g}")
        return numbers

    def read_null(self, null: float) -> float:
        """The fixed value."""
        return self._scale("--null", null)

    def _scale(self, option: str, number: float) -> float:
        if not self.low <= number <= self.high:
            raise click.UsageError(f"{option} must be from {self.low:g} to {self.high:g}; it is {number!r}")
        return (number - self.low) / (self.high - self.low)


def _describe_second(text: str, question: Question) -> Question:
    mechanism, _, chances = text.partition(":")
    named = {}
    for part in filter(None, chances.split(",")):
        name, _, number = part.partition("=")
        try:
            named[name.replace("-", "_")] = float(number)
        except ValueError:
            raise click.UsageError(
                f"--second must name numbers, as in coin_flip:gamma=0.4; it is {text!r}"
            ) from None
    return describe_question(mechanism, named, len(question.options) or None, "--second")


def _read_ratios(ratios: Sequence[int], others: int) -> tuple[int, ...]:
    if ratios and not others:
        raise click.UsageError("--ratio must not be given with --null: there is one group")
    if len(ratios) not in (0, 1, others):
        raise click.UsageError(
            f"--ratio must be given once, or once for each --against; it is given {len(ratios)} times"
        )
    return tuple(ratios) if len(ratios) == others else (*ratios, 1)[:1] * others
