"""The responses to all versions of a report as one table, a part after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.reports.csv_cells import csv_text
from server.reports.csv_lines import csv_lines, rows_of
from server.reports.csv_report import responses_to, stated_strata
from server.reports.report import Report


@dataclass(frozen=True, eq=False)
class StratumResponses:
    """Responses to one version from one stratum (`strata.stated`): codes, or `lines.NOT_ASKED`, a row for each."""

    version: int
    stratum: str
    cells: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class ReportResponses:
    """The responses of a report, under the paths of strata that may be named.

    Sorted by what they hold: the order says nothing about who came first. Reports have a column for
    each of `columns`, the columns of any version.
    """

    report: Report

    @property
    def by_stratum(self) -> bool:
        """Whether strata are named: of one version alone they are not."""
        return bool(self.report.nodes) and self.report.pooled

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of reports."""
        return tuple(dict.fromkeys(name for names in self._of_versions.values() for name in names))

    @property
    def n(self) -> int:
        """How many there are."""
        return self.report.n

    def parts(self) -> Iterator[StratumResponses]:
        """All responses in their order, anew each time."""
        permitted = stated_strata(self.report)
        if not self.by_stratum:  # they are sorted together, or the order would tell them apart
            permitted = dict.fromkeys(permitted, "")
        for number in sorted(self._of_versions):
            paths, tallies = responses_to(self.report, number, permitted)
            own = [self.columns.index(column) for column in self._of_versions[number]]
            for rows in rows_of(tallies, own, len(self.columns)):
                yield StratumResponses(number, paths[rows.group], rows.cells)

    def write_csv(self, file: IO[bytes]) -> None:
        """As CSV; a report is empty where the version does not have its column."""
        file.write(csv_text([["version", *["stratum"] * self.by_stratum, *self.columns]]).encode())
        for part in self.parts():
            start = csv_text([[part.version, *[part.stratum] * self.by_stratum]]).removesuffix("\r\n")
            file.write(csv_lines(start, part.cells))

    @cached_property
    def _of_versions(self) -> dict[int, list[str]]:
        return {
            wave.number: [name for question in wave.definition.questions for name in question.columns]
            for wave in self.report.waves
        }
