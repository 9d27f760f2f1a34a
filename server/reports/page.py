"""A report as one HTML file that needs nothing else."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from babel.support import Translations
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.formatting import filters
from server.reports.forest import figures
from server.reports.report import Report

ROOT = Path(__file__).parents[2]
TRANSLATIONS = ROOT / "server" / "translations"


def to_html(report: Report, locale: str) -> str:
    """The report as one HTML file that loads nothing, in the given language."""
    template = _environment(locale).get_template("results/report.html")
    style = "".join((ROOT / "client" / name).read_text("utf-8") for name in ("style.css", "manage.css"))
    return template.render(report=report, figures=figures, style=style, locale=locale)


@cache
def _environment(locale: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ROOT / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translations = Translations.load(TRANSLATIONS, [locale])
    environment.install_gettext_translations(translations, newstyle=True)  # type: ignore[attr-defined]
    environment.filters.update(filters(_constant(locale)))
    return environment


def _constant(value: str) -> Callable[[], str]:
    return lambda: value
