"""The responses to all versions of a report as one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from server.reports.cells import csv_text
from server.reports.report import Report
from server.reports.tables import responses_to

NOT_ASKED = 256
"""In place of a report, where the version does not have the column."""
_TEXTS = [*map(str, range(NOT_ASKED)), ""]


@dataclass(frozen=True, eq=False)
class Responses:
    """A row for each response, sorted by what it holds: the order says nothing about who came first.

    `cells` has a column for each of `columns`, the columns of any version. Strata are empty texts
    unless `by_stratum`.
    """

    by_stratum: bool
    versions: NDArray[np.int64]
    strata: Sequence[str]
    columns: tuple[str, ...]
    cells: NDArray[np.uint16]

    def csv(self) -> str:
        """As CSV; a report is empty where the version does not have its column."""
        lines = [csv_text([["version", *["stratum"] * self.by_stratum, *self.columns]])]
        # A row that begins like one before it is not written anew: a large survey has millions of cells.
        starts: dict[tuple[int, str], str] = {}
        for version, path, row in zip(self.versions.tolist(), self.strata, self.cells, strict=True):
            start = starts.get((version, path))
            if start is None:
                cells = [version, *[path] * self.by_stratum]
                start = starts[version, path] = csv_text([cells]).removesuffix("\r\n")
            lines.append(",".join([start, *map(_TEXTS.__getitem__, row.tolist())]) + "\r\n")
        return "".join(lines)


def read_responses(report: Report) -> Responses:
    """Those of a report, under the paths of strata that may be named."""
    by_stratum = bool(report.nodes) and report.pooled
    of_versions = {
        wave.number: [name for question in wave.definition.questions for name in question.columns]
        for wave in report.waves
    }
    columns = tuple(dict.fromkeys(name for names in of_versions.values() for name in names))
    versions: list[int] = []
    strata: list[str] = []
    blocks = [np.zeros((0, len(columns)), dtype=np.uint16)]
    for wave in sorted(report.waves, key=lambda wave: wave.number):
        tallies = responses_to(report, wave.number)
        if not by_stratum and tallies:  # or the order would tell them apart
            tallies = {"": reduce(add, tallies.values())}
        own = [columns.index(column) for column in of_versions[wave.number]]
        for path, tally in sorted(tallies.items()):
            reports = np.frombuffer(b"".join(tally.expanded()), dtype=np.uint8).reshape(tally.n, len(own))
            block = np.full((tally.n, len(columns)), NOT_ASKED, dtype=np.uint16)
            block[:, own] = reports
            blocks.append(block)
            versions += [wave.number] * tally.n
            strata += [path] * tally.n
    return Responses(by_stratum, np.array(versions, dtype=np.int64), strata, columns, np.concatenate(blocks))
