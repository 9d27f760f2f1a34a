"""What a report discloses beside its estimates, as programs read it: flow, item missingness, precision, references."""

from collections.abc import Iterator
from typing import Any

from server.reports.achieved_precision import AchievedPrecision, list_precision
from server.reports.estimate_values import ShareRow
from server.reports.forged_moves import list_move_texts
from server.reports.mode_comparison import ComparedModes, compare_modes
from server.reports.public_source import NOTHING
from server.reports.references import list_report_references
from server.reports.report import Report
from server.reports.response_rates import name_rate
from server.reports.stratum_comparison import ComparedFigure

ITEM_MISSING = 0
"""Responses that lack a report of some question: every response reports all, and what does not is refused."""


def disclosures_json(report: Report) -> dict[str, Any]:
    """The flow from invitations to responses, what is missing, and how precise results are."""
    return {
        "invited": _invited_json(report),
        "item_missing": ITEM_MISSING,
        "precision": [_precision_json(one) for one in list_precision(report)],
        "modes": _modes_json(report),
    }


def list_disclosures(report: Report) -> Iterator[tuple[str, str, str]]:
    """The same as texts: what it is of, its kind and what it says; with the works that the estimates come from.

    The flow is there once it is told whole.
    """
    if report.invited is not None and report.invited.rate is not None:
        for name, value in (_invited_json(report) or {}).items():
            yield "", f"invited.{name}", str(value)
    yield "", "item_missing", str(ITEM_MISSING)
    for entry in report.questions:
        if entry.design_effect is not None:
            yield entry.question.name, "design_effect", repr(entry.design_effect)
    for achieved in list_precision(report):
        values = _precision_json(achieved)
        question, what = values.pop("question"), values.pop("what")
        for name, value in values.items():
            if value is not None:
                yield question, f"precision.{what}.{name}", repr(value)
    yield from _list_mode_texts(report)
    yield from list_move_texts(report.answered, report.admissions)
    for reference in list_report_references(report, NOTHING):
        yield "", "reference", reference.cite()


def _modes_json(report: Report) -> dict[str, Any] | None:
    """How many came in each way, and how far browsers and paper are apart; null where nothing came from paper."""
    modes = report.modes
    if modes is None:
        return None
    return {
        "n": {mode.name.lower(): n for mode, n in modes.sizes.items()},
        "left_out": modes.left_out,
        "differences": [_difference_json(*one) for one in _list_differences(report)],
    }


def _list_differences(report: Report) -> Iterator[tuple[ComparedModes, ComparedFigure]]:
    return ((compared, figure) for compared in compare_modes(report) for figure in compared.figures)


def _difference_json(compared: ComparedModes, figure: ComparedFigure) -> dict[str, Any]:
    first, second = figure.first, figure.second
    return {
        "question": compared.browser.question.name,
        "answer": first.answer if isinstance(first, ShareRow) else None,
        "browser": first.value,
        "paper": second.value,
        "difference": figure.value,
        "interval": list(figure.interval),
    }


def _list_mode_texts(report: Report) -> Iterator[tuple[str, str, str]]:
    found = _modes_json(report)
    if found is None:
        return
    for mode, n in found["n"].items():
        yield "", f"modes.{mode}.n", str(n)
    for difference in found["differences"]:
        answer = difference["answer"]
        what = "mean" if answer is None else f"share.{answer}"
        low, high = difference["interval"]
        values = {name: difference[name] for name in ("browser", "paper", "difference")}
        for name, value in {**values, "low": low, "high": high}.items():
            if value is not None:
                yield difference["question"], f"modes.{what}.{name}", repr(value)


def _invited_json(report: Report) -> dict[str, Any] | None:
    """The codes, and the rate with what it is called, as far as they are told."""
    invited = report.invited
    if invited is None:
        return None
    return {
        "issued": invited.issued,
        "withdrawn": invited.withdrawn,
        "used": invited.used,
        "rate": invited.rate,
        "rate_name": name_rate(report.study),
    }


def _precision_json(achieved: AchievedPrecision) -> dict[str, Any]:
    """A margin beside the planned one."""
    margin = achieved.margin
    return {
        "question": margin.entry.question.name,
        "what": margin.what,
        "n": margin.entry.n,
        "effective": achieved.effective,
        "reached": margin.reached,
        "planned": margin.planned,
        "power": achieved.power,
    }
