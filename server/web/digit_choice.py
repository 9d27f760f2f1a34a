"""In which digits a request asks to read numbers, and templates that write them so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from babel.support import NullTranslations
from flask import Flask, g, request
from flask_babel import get_locale, get_translations
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from server.output.digits import fill_message, write_digits
from server.output.formatting import bind_units
from server.output.languages import (
    DEFAULT_LANGUAGE,
    Language,
    load_catalogue,
    name_reading,
    split_reading,
)
from server.web.language_choice import choose_reading


@dataclass(frozen=True)
class DigitChoice:
    """A kind of digits that a language is written with, as its readers call it, and where the page is in it."""

    language: str
    name: str
    url: str
    chosen: bool


def find_digits() -> str:
    """The numbering system that the request asks for; nothing, where it is the first of its language."""
    if "digits" not in g:  # a page has hundreds of texts
        g.digits = split_reading(choose_reading(request))[1]
    found: str = g.digits
    return found


def write_message(message: str, /, **values: Any) -> str:
    """A text of ours outside templates, in the language and the digits that are asked for."""
    text, filled = fill_message(get_translations().ugettext(message), values, find_digits())
    return text % filled if filled else text


def list_digits(
    path: str, arguments: Mapping[str, str], offered: Mapping[str, Language]
) -> list[DigitChoice]:
    """Of each offered language that has a choice: a page in one leads to its others, a tablet keeps them all."""
    reading = choose_reading(request)
    return [
        DigitChoice(
            code,
            name,
            f"{path}?{urlencode({**arguments, 'lang': name_reading(code, system)})}",
            name_reading(code, system) == reading,
        )
        for code, language in offered.items()
        for system, name in language.digits.items()
    ]


def add_digits(app: Flask, filters: Mapping[str, Callable[..., str]]) -> None:
    """Have templates write numbers, by these filters and in texts of ours, in the digits that are asked for."""
    # In place of what Flask-Babel adds, which asks several times for the language of each of a page's many texts.
    app.jinja_env.globals.update(_=_gettext, gettext=_gettext, ngettext=_ngettext)
    app.jinja_env.filters.update(
        {name: _follow(write) for name, write in filters.items()}, digits=_follow(str)
    )


@pass_context
def _gettext(context: Context, message: str, /, **values: Any) -> str:
    return _fill(context, _find_catalogue().gettext(message), values)


@pass_context
def _ngettext(context: Context, singular: str, plural: str, number: int, /, **values: Any) -> str:
    message = _find_catalogue().ngettext(singular, plural, number)
    return _fill(context, message, {"num": number, **values})


def _find_catalogue() -> NullTranslations:
    locale = get_locale()
    return load_catalogue(locale.language if locale else DEFAULT_LANGUAGE)


def _follow(write: Callable[..., str]) -> Callable[..., str]:
    return lambda *values: write_digits(write(*values), find_digits())


def _fill(context: Context, text: str, values: dict[str, Any]) -> str:
    text = bind_units(text)
    if system := find_digits():
        text, values = fill_message(text, values, system)
    if "%" not in text:  # as most
        return Markup(text) if context.eval_ctx.autoescape else text  # noqa: S704 - a text of ours
    return (Markup(text) if context.eval_ctx.autoescape else text) % values  # noqa: S704 - a text of ours
