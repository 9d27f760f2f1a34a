"""A report as one HTML file that needs nothing else."""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from babel.support import Translations
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.formatting import filters
from server.reports.report import Report

ROOT = Path(__file__).parents[2]
TRANSLATIONS = ROOT / "server" / "translations"


def to_html(report: Report, locale: str) -> str:
    """The report as one HTML file that loads nothing, in the given language."""
    template = _environment(locale).get_template("results/report.html")
    style = "".join((ROOT / "client" / name).read_text("utf-8") for name in ("style.css", "manage.css"))
    return template.render(report=report, style=style, locale=locale)


def axis(report: Report) -> tuple[float, float]:
    """The range of the charts in percent: 0 to 100 and, in steps of 10, whatever intervals reach beyond, dots whole."""
    limits = [entry.estimate.intervals[1] * 100 for entry in report.questions if entry.estimate is not None]
    low = min((float(interval[0]) for interval in limits), default=0.0)
    high = max((float(interval[1]) for interval in limits), default=100.0)
    return min(math.floor(low / 10 - 0.3) * 10.0, -10.0), max(math.ceil(high / 10 + 0.3) * 10.0, 110.0)


def hatches(low: float, high: float) -> list[float]:
    """Where the hatching of the impossible regions starts, every 4 hundredths of the chart's width."""
    zero, whole = (100 * (share - low) / (high - low) for share in (0, 100))
    below = np.arange(0, zero - 4 + 1e-9, 4).tolist()
    above = np.arange(whole, 96 + 1e-9, 4).round(2).tolist()
    return [*below, *above]


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
    environment.globals.update(axis=axis, hatches=hatches)
    return environment


def _constant(value: str) -> Callable[[], str]:
    return lambda: value
