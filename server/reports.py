"""What a survey found: one `Report` value, and its writers.

A report is a function of a published version and the pattern tally; no writer computes
anything. The HTML report is one file that needs nothing else; numbers in CSV and JSON are
full precision, and texts in CSV cannot start a spreadsheet formula.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from babel.support import Translations
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server import __version__, responses, surveys
from server.definitions import Definition, Question
from server.formatting import filters
from server.models import Survey, SurveyVersion
from server.privacy.designs import Design
from server.privacy.estimators import ShareEstimate, estimate_shares, impossible_share_test
from server.responses import Tally

ROOT = Path(__file__).parent.parent
TRANSLATIONS = ROOT / "server" / "translations"

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True)
class QuestionReport:
    """One question: its design, the reports counted after the coins, the estimate (None before any)."""

    question: Question
    design: Design
    counts: tuple[int, ...]
    estimate: ShareEstimate | None
    impossible_p_value: float | None


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, in whatever format."""

    definition: Definition
    slug: str
    version_number: int
    version: str
    published_on: date
    made_on: date
    simulated: bool
    n: int
    confidence: float
    questions: tuple[QuestionReport, ...]
    software: str = f"Moneda {__version__}"

    @property
    def widest(self) -> float:
        """Width of the widest interval, as a share; 0 before the first response."""
        intervals = [entry.estimate.intervals[1] for entry in self.questions if entry.estimate is not None]
        return max((float(high - low) for low, high in intervals), default=0.0)


def build(survey: Survey, version: SurveyVersion, tally: Tally, confidence: float = 0.95) -> Report:
    """Estimate every question of a version from its tally."""
    definition = surveys.definition_of(version)
    questions = []
    byte = 0
    for question in definition.questions:
        for design in question.designs:
            counts = responses.counts(tally, byte, design.weights.shape[1])
            some = bool(counts.sum())
            questions.append(
                QuestionReport(
                    question=question,
                    design=design,
                    counts=tuple(counts.tolist()),
                    estimate=estimate_shares(counts, design, confidence) if some else None,
                    impossible_p_value=impossible_share_test(counts, design) if some else None,
                )
            )
            byte += 1
    return Report(
        definition=definition,
        slug=survey.slug,
        version_number=version.number,
        version=version.sha256,
        published_on=version.published_on,
        made_on=surveys.today(),
        simulated=survey.simulated,
        n=sum(tally.values()),
        confidence=confidence,
        questions=tuple(questions),
    )


def to_json(report: Report) -> str:
    """The report as JSON; what cannot be estimated is null."""
    document = {
        "title": report.definition.title,
        "survey": report.slug,
        "version": {
            "number": report.version_number,
            "sha256": report.version,
            "published_on": report.published_on.isoformat(),
        },
        "made_on": report.made_on.isoformat(),
        "software": report.software,
        "simulated": report.simulated,
        "n": report.n,
        "epsilon": report.definition.epsilon,
        "questions": [_question_json(entry) for entry in report.questions],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def estimate_json(estimate: ShareEstimate) -> dict[str, Any]:
    """An estimate as JSON, ordered (no, yes); infinite standard errors are null."""
    return {
        "n": estimate.n,
        "observed": estimate.observed.tolist(),
        "shares": estimate.shares.tolist(),
        "standard_errors": [_finite(value) for value in estimate.standard_errors.tolist()],
        "intervals": estimate.intervals.tolist(),
        "covariance": [[_finite(value) for value in row] for row in estimate.covariance.tolist()],
        "confidence": estimate.confidence,
        "interval": estimate.interval,
        "impossible": estimate.impossible,
    }


def to_csv(report: Report) -> str:
    """The report as CSV, long format: one row for each question and answer."""
    header = (
        "survey,version,version_sha256,simulated,question,text,answer,n,count_reported,share_reported,"
        "share_estimated,standard_error,interval_low,interval_high,confidence,interval,impossible,"
        "impossible_p_value,epsilon"
    ).split(",")
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        for index, answer in enumerate(("no", "yes")):
            fixed = (
                report.slug,
                report.version_number,
                report.version,
                report.simulated,
                entry.question.name,
                entry.question.text,
                answer,
                report.n,
                entry.counts[index],
            )
            rows.append((*fixed, *_estimate_cells(entry, index), entry.design.epsilon))
    return _csv([header, *rows])


def responses_csv(report: Report, tally: Tally) -> str:
    """The noisy responses, one row each, without ids or days and in an order that says nothing.

    Reports are codes; `codebook_csv` says what they mean. A report of 1 is not an
    admission: it is what the coin let through.
    """
    header = [entry.question.name for entry in report.questions]
    return _csv([header, *(list(pattern) for pattern in responses.expanded(tally))])


def codebook_csv(report: Report) -> str:
    """What the columns of `responses_csv` hold: one row for each column and code, with the design."""
    header = "column,text,kind,code,report,pr_if_no,pr_if_yes,weight_if_no,weight_if_yes,epsilon".split(",")
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        for code, name in enumerate(("no", "yes")):
            rows.append(
                (
                    entry.question.name,
                    entry.question.text,
                    entry.question.kind,
                    code,
                    name,
                    *entry.design.matrix[:, code].tolist(),
                    *entry.design.weights[:, code].tolist(),
                    entry.design.epsilon,
                )
            )
    return _csv([header, *rows])


def to_html(report: Report, locale: str) -> str:
    """The report as one HTML file that loads nothing, in the given language."""
    template = _environment(locale).get_template("results/report.html")
    style = "".join((ROOT / "client" / name).read_text("utf-8") for name in ("style.css", "manage.css"))
    return template.render(report=report, style=style, locale=locale)


def axis(report: Report) -> tuple[float, float]:
    """The range of the charts in percent: 0 to 100 and, in steps of 10, whatever intervals reach beyond."""
    limits = [entry.estimate.intervals[1] * 100 for entry in report.questions if entry.estimate is not None]
    low = min((float(interval[0]) for interval in limits), default=0.0)
    high = max((float(interval[1]) for interval in limits), default=100.0)
    return min(math.floor(low / 10) * 10.0, -10.0), max(math.ceil(high / 10) * 10.0, 110.0)


def hatches(low: float, high: float) -> list[float]:
    """Where the hatching of the impossible regions starts, every 4 percentage points."""
    below = np.arange(low, -4 + 1e-9, 4).tolist()
    above = np.arange(100, high - 4 + 1e-9, 4).tolist()
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


def _question_json(entry: QuestionReport) -> dict[str, Any]:
    return {
        "name": entry.question.name,
        "kind": entry.question.kind,
        "text": entry.question.text,
        "answers": ["no", "yes"],
        "weights": entry.design.weights.tolist(),
        "epsilon": entry.design.epsilon,
        "counts": list(entry.counts),
        "estimate": None if entry.estimate is None else estimate_json(entry.estimate),
        "impossible_p_value": entry.impossible_p_value,
    }


def _estimate_cells(entry: QuestionReport, index: int) -> tuple[object, ...]:
    estimate = entry.estimate
    if estimate is None:
        return ("",) * 9
    return (
        float(estimate.observed[index]),
        float(estimate.shares[index]),
        _finite(float(estimate.standard_errors[index])),
        *estimate.intervals[index].tolist(),
        estimate.confidence,
        estimate.interval,
        estimate.impossible,
        entry.impossible_p_value,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """Neutralise a text that a spreadsheet would run; numbers stay numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value
