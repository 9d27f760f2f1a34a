"""In which digits a request asks to read numbers, and templates that write them so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from flask import Flask, g, request
from flask_babel import get_translations
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from server.output.digits import fill_message, write_digits
from server.output.languages import Language, name_reading, split_reading
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


def list_digits(path: str, asked: Mapping[str, str], offered: Mapping[str, Language]) -> list[DigitChoice]:
    """Of each offered language that has a choice: a page in one leads to its others, a tablet keeps them all."""
    reading = choose_reading(request)
    return [
        DigitChoice(
            code,
            name,
            f"{path}?{urlencode({**asked, 'lang': name_reading(code, system)})}",
            name_reading(code, system) == reading,
        )
        for code, language in offered.items()
        for system, name in language.digits.items()
    ]


def add_digits(app: Flask, filters: Mapping[str, Callable[..., str]]) -> None:
    """Have templates write numbers, by these filters and in texts of ours, in the digits that are asked for."""
    known = app.jinja_env.globals
    plain, plain_plural = (cast(Callable[..., str], known[name]) for name in ("gettext", "ngettext"))

    @pass_context
    def gettext(context: Context, message: str, /, **values: Any) -> str:
        system = find_digits()
        if not system:
            return plain(context, message, **values)
        return _fill(context, get_translations().ugettext(message), values, system)

    @pass_context
    def ngettext(context: Context, singular: str, plural: str, number: int, /, **values: Any) -> str:
        system = find_digits()
        if not system:
            return plain_plural(context, singular, plural, number, **values)
        message = get_translations().ungettext(singular, plural, number)
        return _fill(context, message, {"num": number, **values}, system)

    known.update(gettext=gettext, ngettext=ngettext)
    app.jinja_env.filters.update(
        {name: _follow(write) for name, write in filters.items()}, digits=_follow(str)
    )


def _follow(write: Callable[..., str]) -> Callable[..., str]:
    return lambda *values: write_digits(write(*values), find_digits())


def _fill(context: Context, message: str, values: dict[str, Any], system: str) -> str:
    text, filled = fill_message(message, values, system)
    return (Markup(text) if context.eval_ctx.autoescape else text) % filled  # noqa: S704 - a text of ours
