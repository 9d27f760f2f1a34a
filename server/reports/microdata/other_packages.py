"""What to pass to the packages `rr` and `RRreg` of R for each column: their matrices are ours, transposed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.reports.codebook import mechanism_of
from server.reports.csv_cells import csv_text
from server.reports.report import Report

_HEADER = "version,column,question,mechanism,report_as,rr,RRreg,RRreg_matrix".split(",")
_AS_IS, _TURNED = "as it is", "1 - report"
_LARGEST_MATRIX = 20
"""Rows of a matrix that is written out; of a larger one the codebook has the chances."""


def write_other_packages(report: Report) -> str:
    """A row for each column of each version, as CSV.

    `rr` and `RRreg` are arguments of `rrreg` and of `RRuni`, `RRlog` and the like; empty where a package
    has no such design. `report_as` says what to pass as the response.
    """
    rows: list[Sequence[object]] = [_HEADER]
    for wave in report.waves:
        for question in wave.definition.questions:
            for column, design in zip(question.columns, question.designs, strict=True):
                about = (wave.number, column, question.name, mechanism_of(question))
                rows.append((*about, *_describe_arguments(design.matrix)))
    return csv_text(rows)


def _describe_arguments(chances: NDArray[np.float64]) -> tuple[str, str, str, str]:
    """From the chances of each report (columns) for each truth (rows)."""
    many = len(chances)
    matrix = f'model = "custom", p = matrix({_list_numbers(chances.ravel())}, nrow = {many})'
    written = matrix if many <= _LARGEST_MATRIX else ""
    forced = _find_forced(chances)
    if many != 2:
        return _AS_IS, "", f'model = "FR", p = {_list_numbers(forced)}' if forced is not None else "", written
    if chances[0, 0] == chances[1, 1]:
        truth = _number(chances[1, 1])
        return _AS_IS, f'design = "mirrored", p = {truth}', f'model = "Warner", p = {truth}', written
    if forced is None:
        # A report of 1 is likelier from those who answered no: turned round, it is a forced response.
        forced = _find_forced(chances[:, ::-1])
        assert forced is not None
        return _TURNED, _force(forced), f'model = "FR", p = {_list_numbers(forced)}', ""
    return _AS_IS, _force(forced), f'model = "FR", p = {_list_numbers(forced)}', written


def _find_forced(chances: NDArray[np.float64]) -> list[float] | None:
    """How often each report is forced, where all others are the truth; None where it is not so."""
    others = [np.delete(chances[:, report], report) for report in range(len(chances))]
    forced = [float(column[0]) for column in others]
    return forced if all(np.ptp(column) == 0 for column in others) and sum(forced) < 1 else None


def _force(forced: Sequence[float]) -> str:
    no, yes = forced
    return f'design = "forced-known", p = {_number(1 - no - yes)}, p1 = {_number(yes)}, p0 = {_number(no)}'


def _list_numbers(numbers: NDArray[np.float64] | Sequence[float]) -> str:
    return f"c({', '.join(map(_number, numbers))})"


def _number(value: float) -> str:
    return repr(float(value))
