"""Texts and numbers in one language, wherever there is no page that is being asked for."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.config import ROOT
from server.output import formatting
from server.output.digits import fill_message, write_digits
from server.output.formatting import bind_units
from server.output.languages import load_catalogue


class Words:
    """What a document's own texts are written with: gettext, numbers and templates of one language.

    As in templates, a percent sign of a message is written twice; it stays on the line of its number. `digits` is a
    numbering system of the language that is not its first: texts and whole numbers follow it.
    """

    def __init__(self, locale: str, digits: str = "") -> None:
        self.locale = locale
        self.digits = digits
        self._translations = load_catalogue(locale)

    def gettext(self, message: str, /, **values: object) -> str:
        """The message in this language, filled in."""
        return self._fill(self._translations.gettext(message), values)

    def ngettext(self, singular: str, plural: str, number: int, /, **values: object) -> str:
        """The message for so many in this language, filled in."""
        return self._fill(self._translations.ngettext(singular, plural, number), values)

    def percent(self, share: float | None) -> str:
        """0.3251 -> "32.5 %", unbroken."""
        shown = "–" if share is None else formatting.percent(share, self.locale)
        return shown if shown == "–" else f"{shown}\N{NO-BREAK SPACE}%"

    def level(self, confidence: float) -> str:
        """0.95 -> "95"."""
        return formatting.level(confidence, self.locale)

    def integer(self, number: int) -> str:
        """1537 -> "1,537"."""
        return self.write_digits(formatting.integer(number, self.locale))

    def write_digits(self, number: str) -> str:
        """A number, or a text of ours that has some, in the digits of this language."""
        return write_digits(number, self.digits)

    def join_list(self, items: Sequence[str]) -> str:
        """["a", "b", "c"] -> "a, b, and c"."""
        return formatting.join_list(items, self.locale)

    def measure(self, value: float | None, width: float) -> str:
        """A number whose range is `width` wide."""
        return formatting.measure(value, self.locale, width)

    def number(self, value: float) -> str:
        """A number as it was chosen, with its own decimals."""
        return formatting.number(value, self.locale)

    def epsilon(self, value: float) -> str:
        """A privacy loss with two decimals, rounded up."""
        return formatting.epsilon(value, self.locale)

    def p_value(self, value: float) -> str:
        """ "p = 0.231"."""
        return formatting.p_value(value, self.locale)

    def day(self, value: date) -> str:
        """A date in words."""
        return formatting.day(value, self.locale)

    def moment(self, value: datetime) -> str:
        """A naive time in UTC, in words."""
        return formatting.moment(value, self.locale)

    def _fill(self, message: str, values: dict[str, object]) -> str:
        message = bind_units(message)
        if self.digits:
            message, values = fill_message(message, values, self.digits)
        return _unbroken(message % values)

    @property
    def environment(self) -> Environment:
        """Templates in this language."""
        return environment_of(self.locale)


def _unbroken(text: str) -> str:
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


@cache
def environment_of(locale: str) -> Environment:
    """Templates, the texts of which are in a language."""
    environment = Environment(
        loader=FileSystemLoader(ROOT / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translations = load_catalogue(locale)
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        lambda message: bind_units(translations.gettext(message)),
        lambda *message: bind_units(translations.ngettext(*message)),
        newstyle=True,
    )
    environment.filters.update(formatting.filters(_constant(locale)))
    return environment


def _constant(value: str) -> Callable[[], str]:
    return lambda: value
