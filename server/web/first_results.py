"""What the first page of results after a start would wait for: done before a process takes requests."""

from babel import Locale
from flask import Flask

from server.output.languages import LANGUAGES
from server.web.handbook import read_handbook

BESIDE = ("base.html", "_macros.html", "manage/layout.html", "manage/_plan_words.html")
"""What the templates of `results/` name, beside those of `words/`."""


def prepare_results(app: Flask) -> None:
    """Compile the templates of results; read the chapters that *Help* leads to, and how numbers are written."""
    for name in (*BESIDE, *app.jinja_env.list_templates(filter_func=_is_of_results)):
        app.jinja_env.get_template(name)
    read_handbook()
    for code in LANGUAGES:
        Locale.parse(code).number_symbols  # noqa: B018 - read from a file at the first use, and kept


def _is_of_results(name: str) -> bool:
    return name.startswith(("results/", "words/"))
