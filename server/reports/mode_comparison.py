"""What browsers and paper found of each question, and how far that is apart: whether the way of collecting matters.

Nobody is in both, but people were not drawn for one way or the other: a difference may be one of the people. While the
survey is open intervals hold at every look; at the end there is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from server.collect.waves import Wave, same_question
from server.reports.estimate_values import QuestionReport
from server.reports.question_estimates import estimate_question
from server.reports.report import Report
from server.reports.stratum_comparison import ComparedFigure, compare_reports
from server.store.models import Mode


@dataclass(frozen=True, eq=False)
class ComparedModes:
    """A question in both ways: what browsers and paper found, and the first less the second of every figure."""

    browser: QuestionReport
    paper: QuestionReport
    figures: tuple[ComparedFigure, ...]


def compare_modes(report: Report) -> tuple[ComparedModes, ...]:
    """Every question that has responses of both ways told apart."""
    return tuple(_list_compared(report))


def _list_compared(report: Report) -> Iterator[ComparedModes]:
    if report.modes is None:
        return
    for question in report.definition.questions:
        browser, paper = (
            _estimate(question.name, report.modes.waves[mode], report.confidence)
            for mode in (Mode.BROWSER, Mode.PAPER)
        )
        if browser.n and paper.n:
            anytime = report.unseen.number > 0
            figures = compare_reports(browser, paper, report.confidence, anytime)
            yield ComparedModes(browser, paper, figures)


def _estimate(name: str, waves: tuple[Wave, ...], confidence: float) -> QuestionReport:
    return estimate_question(same_question(name, waves), range(len(waves[0].strata)), confidence)
