"""Numbers as people read them, in their language; shared by pages and reports."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from functools import lru_cache
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_time, get_datetime_format
from babel.lists import format_list
from babel.numbers import NumberPattern, format_decimal, parse_pattern

from server.output.languages import RESPONDENT_LANGUAGES

_HUNDREDTH, _FOURTH = Decimal("0.01"), Decimal("0.0001")
_NEAR = 1e-8
"""Shares that are nearer to each other are the same: computing them is not more exact, nor are chances, in 2**-32."""
_LONGEST_RATIO = 1e9
_SOUNDS_I = re.compile("[ií]|h[ií](?![aeáé])", re.IGNORECASE)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNBROKEN = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
"""As wide as a plus, and no line ends behind it. Files for programs, which could not read it, keep the hyphen."""
_FIELD = r"%\(\w+\)[sd]"
"""A number that is put into a message."""
_SOME = re.compile("[1-9]")
_BEFORE_PERCENT = re.compile(" (?=%%)")
_AFTER_SIGN = re.compile(rf"± ({_FIELD}|\d+) (?=\w)|± (?={_FIELD}|\w)")
_OF_HUNDRED = re.compile(rf"(?:%\(low\)s \w{{1,3}} )?{_FIELD} (?:\w{{1,4}} ){{1,2}}100\b")
_GUESS = re.compile(r": %\(guess\)s")
_OF_ZONE = re.compile(rf"(?:{_FIELD}|\d) \(?UTC\b")
_EQUALS = re.compile(rf"\b\w [=≤] (?={_FIELD}|\d)")
# Parsed once: a page of results shows a thousand numbers.
_ROOMY = Context(prec=400)
"""Digits for any float and its decimals: usually there are 28, and what has more cannot be rounded at all."""
_TENTHS, _WHOLE, _UNGROUPED = (parse_pattern(pattern) for pattern in ("#,##0.0", "#,##0", "0"))


def finite(value: float | None) -> float | None:
    """A number that CSV, JSON and a spreadsheet can hold, or none."""
    return value if value is not None and math.isfinite(value) else None


def percent(share: float, locale: str) -> str:
    """0.3251 -> "32.5": a share in percent with one decimal, without the sign.

    What is not all never reads as 100, nor what is not nothing as 0: 0.9999 -> "99.99", 0.0004 -> "0.04".
    """
    if not math.isfinite(share):
        return "–"
    decimals = count_decimals(share, 1, 100)
    # Adding zero turns a rounded "-0.0" into "0.0".
    rounded = round(share * 100, decimals) + 0.0
    return tenths(rounded, locale) if decimals == 1 else _write(rounded, "0.0#####", locale)


def chance(value: float, locale: str) -> str:
    """0.975 -> "97.5": a chance in percent that a finite loss keeps from being none or certain, however near it is."""
    if value < _NEAR:
        return f"< {_write(100 * _NEAR, '0.0#####', locale)}"
    if value > 1 - _NEAR:
        return f"> {_write(100 - 100 * _NEAR, '0.0#####', locale)}"
    return percent(value, locale)


def level(confidence: float, locale: str) -> str:
    """0.95 -> "95", 0.9995 -> "99.95": a confidence in percent, as it was chosen."""
    return number(round(100 * confidence, 8), locale)


def fraction(share: float) -> str:
    """0.3251 -> "0.3251", 0.99998 -> "0.99998": a share as commands print it, by the rule of `percent`."""
    return f"{share:z.{count_decimals(share, 4, 1)}f}"


def count_decimals(share: float, fewest: int, scale: int) -> int:
    """With how many decimals a share is shown, of `scale`: as few as these, unless it would seem none or all."""
    exact = share * scale
    if not any(abs(share - end) >= _NEAR and round(exact, fewest) == end * scale for end in (0, 1)):
        return fewest
    most = 8 if scale == 1 else 6
    return next((more for more in range(fewest, most) if round(exact, more) not in (0, scale)), most)


@lru_cache(maxsize=4096)  # there are a thousand and one from 0.0 to 100.0, and a large report holds thousands
def tenths(number: float, locale: str) -> str:
    """0.26 -> "0.3", -2.0 -> "−2.0": with one decimal."""
    return _write(number, _TENTHS, locale)


def _write(value: float | Decimal, pattern: str | NumberPattern, locale: str) -> str:
    """Whatever people read is written here: Babel writes a hyphen before what is below zero."""
    with localcontext(_ROOMY):
        written = format_decimal(value, pattern, locale)
    if "-" not in written:
        return written
    return written.replace("-", MINUS if _SOME.search(written) else "")  # nothing is not below nothing


def integer(number: int, locale: str) -> str:
    """1537 -> "1,537"; in Spanish "1537", but "15.370"."""
    language = RESPONDENT_LANGUAGES.get(locale.partition("_")[0])
    ungrouped = language is not None and abs(number) < language.grouped_from
    return _write(number, _UNGROUPED if ungrouped else _WHOLE, locale)


def decimal(number: float, locale: str) -> str:
    """0.25 -> "0.25": a setting as it was chosen, with up to three decimals."""
    return _write(number, "0.0##", locale)


def number(value: float, locale: str) -> str:
    """0.125 -> "0.125", 1990 -> "1990": a number of a question's grid, with its own decimals."""
    return _write(value, f"{_whole_part(value)}.##########", locale)


def _whole_part(value: float) -> str:
    """In groups from 10,000 on, as a smaller number may be a year."""
    return "#,##0" if abs(value) >= 10_000 else "0"


def measure(value: float | None, locale: str, width: float) -> str:
    """An estimated number, with as many decimals as a percentage where its range is `width` wide.

    In groups of digits as `number` is: a sentence and a table beside it write the same mean alike.
    """
    if value is None or not math.isfinite(value):
        return "–"
    decimals = count_measured(width)
    rounded = round(value, decimals) + 0.0
    return _write(rounded, _whole_part(rounded) + "." * bool(decimals) + "0" * decimals, locale)


def count_measured(width: float) -> int:
    """How many decimals an estimated number has whose range is `width` wide."""
    return min(max(3 - math.floor(math.log10(width)), 0), 10)


def margin(value: float, locale: str) -> str:
    """7.706 -> "7.8", 0.0512 -> "0.052", 1234 -> "1240": of any half width of an interval, and of any size of noise.

    One decimal, as percentages have; below 1 two digits, from 100 three. Rounded up, so that none looks narrower, and
    of two, a wider one never reads as the narrower.
    """
    exact = Decimal(f"{value:.9g}")  # 100 times 0.07 is 7, and not a little more
    size = exact.adjusted()
    rounded = (
        exact.quantize(Decimal(1).scaleb(max(size - 2, min(size, 0) - 1)), ROUND_CEILING) if exact else exact
    )
    return number(float(rounded), locale)


def ratio(value: float, locale: str, digits: int = 3) -> str:
    """6.0342 -> "6.03", 0.04 -> "0.04", 1e18 -> "1 × 10¹⁸": so many digits at most, of a ratio that may have no end."""
    if not math.isfinite(value):
        return "∞"
    rounded = float(f"{value:.{digits}g}")
    return number(rounded, locale) if rounded < _LONGEST_RATIO else _in_powers_of_ten(rounded, locale)


def count_digits(values: Iterable[float]) -> int:
    """How many digits tell numbers apart where they differ, as an estimate from the ends of its interval: 3 to 9."""
    different = {float(f"{value:.9g}") for value in values if math.isfinite(value)}
    enough = (
        digits
        for digits in range(3, 9)
        if len({f"{each:.{digits}g}" for each in different}) == len(different)
    )
    return next(enough, 9)


def scientific(value: float | Decimal, locale: str) -> str:
    """0.0000015 -> "1.5 × 10⁻⁶": a chance that may be tiny; one from 0.0001 as it is."""
    if not value or value >= Decimal("0.0001"):
        return number(float(value), locale)
    return _in_powers_of_ten(value, locale)


def _in_powers_of_ten(value: float | Decimal, locale: str) -> str:
    digits, _, power = f"{value:.3e}".partition("e")
    shown = f"{number(float(digits), locale)} × {power_of_ten(int(power))}"
    return shown.replace(" ", _UNBROKEN)


def power_of_ten(power: int) -> str:
    """-6 -> "10⁻⁶"."""
    return f"10{str(power).translate(_RAISED)}"


def loss(value: Decimal, locale: str) -> str:
    """0.166666666 -> "0.1667": a loss of the ledger, rounded up; further digits matter in sums only."""
    return number(float(value.quantize(_FOURTH, ROUND_CEILING)), locale)


def remainder(value: Decimal, locale: str) -> str:
    """0.166666666 -> "0.1666": what is left of a budget, rounded down."""
    return number(float(value.quantize(_FOURTH, ROUND_FLOOR)), locale)


def epsilon(value: float, locale: str) -> str:
    """A privacy loss with two decimals, rounded up: of the shortest decimal that its float stands for.

    2.2 is 2.2, as files say it, although the float is a little more.
    """
    if math.isinf(value):  # of a design that excludes an answer
        return "∞"
    shown = Decimal(repr(float(value))).quantize(_HUNDREDTH, rounding=ROUND_CEILING)
    return _write(shown, "0.00", locale)


def p_value(value: float, locale: str) -> str:
    """A p value with its letter, unbroken: "p = 0.231", or "p < 0.001"."""
    sign = "<" if value < 0.001 else "="
    return f"p {sign} {_write(max(value, 0.001), '0.000', locale)}".replace(" ", _UNBROKEN)


@lru_cache(maxsize=1 << 14)  # more than the catalogues have
def bind_units(message: str) -> str:
    """A message without a line's end between a number and its sign, its unit, its name or the hundred that it is of.

    "%(share)s %%", "± %(points)s points", "%(low)s to %(high)s of 100", "Best guess: %(guess)s", "γ = %(gamma)s".
    Whatever pages and documents say goes through here, where it is translated, before it is filled in. A word such as
    "e-mail" may still end a line within: a hyphen that never does is one that search and screen readers do not know.
    """
    for together in (_BEFORE_PERCENT, _AFTER_SIGN, _OF_HUNDRED, _GUESS, _EQUALS, _OF_ZONE):
        message = together.sub(lambda found: found[0].replace(" ", _UNBROKEN), message)
    return message


def day(value: date, locale: str) -> str:
    """A date in words."""
    return format_date(value, "long", locale)


def local_time(value: datetime, zone: str) -> datetime:
    """A naive time in UTC by the clocks of a time zone; at the ends of the calendar, where they show none, by UTC."""
    universal = value.replace(tzinfo=UTC)
    try:
        return universal.astimezone(ZoneInfo(zone))
    except OverflowError:
        return universal


def moment(value: datetime, locale: str, zone: str = "UTC") -> str:
    """A naive time in UTC as the clocks of a time zone show it, with its date."""
    there = local_time(value, zone)
    shown = str(get_datetime_format("medium", locale=locale))
    time = format_time(there, "HH:mm", locale=locale)
    return shown.replace("{1}", format_date(there, "long", locale)).replace("{0}", time)


def join_list(items: Sequence[str], locale: str) -> str:
    """["a", "b", "c"] -> "a, b, and c": things of a sentence, with the commas and the word of a language."""
    joined = format_list(items, "standard", locale)
    if (
        locale.startswith("es") and len(items) > 1 and _SOUNDS_I.match(items[-1])
    ):  # browsers know, Babel does not
        return f"{joined.removesuffix(f' y {items[-1]}')} e {items[-1]}"
    return joined


def filters(locale: Callable[[], str]) -> dict[str, Callable[..., str]]:
    """The functions above as template filters for the language that `locale` names."""
    functions: tuple[Callable[..., str], ...] = (
        percent,
        chance,
        level,
        integer,
        decimal,
        number,
        measure,
        margin,
        ratio,
        loss,
        remainder,
        scientific,
        epsilon,
        p_value,
        day,
        moment,
    )
    return {
        function.__name__: lambda value, *more, function=function: function(value, locale(), *more)
        for function in functions
    }
