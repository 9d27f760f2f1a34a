"""The responses that an archive holds: as every file with single responses has them.

What every file keeps to: versions, and responses without stratum, that are too few to stand alone stay
behind; a stratum that is too small, with enough beside it, travels as the one around it; no row has a day.
Days go beside them, as reports show them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlalchemy.orm import Session

from server import reports
from server.archives.layout import response_header
from server.reports import Report
from server.reports.csv_cells import csv_text
from server.reports.csv_lines import csv_lines, rows_of
from server.reports.csv_report import permitted_strata, responses_to
from server.reports.day_counts import Period
from server.store.models import Survey
from server.study import strata


@dataclass(frozen=True, eq=False)
class PackedResponses:
    """What is packed of a survey's responses; `report` is that of all versions, None of a draft."""

    report: Report | None
    days: Mapping[int, Sequence[Period]]
    merged_before: bool

    @cached_property
    def sizes(self) -> Mapping[int, int]:
        """How many there are, by the number of the version."""
        return {} if self.report is None else {wave.number: wave.n for wave in self.report.waves}

    @property
    def n(self) -> int:
        """How many there are."""
        return sum(self.sizes.values())

    @cached_property
    def paths(self) -> Mapping[int | None, str]:
        """The path under which the responses of each stratum travel."""
        return {} if self.report is None else permitted_strata(self.report)

    @property
    def modes(self) -> bool:
        """Whether they say how they were collected: some came from paper."""
        return self.report is not None and self.report.modes is not None

    @property
    def merged(self) -> bool:
        """Whether responses of strata travel as responses without stratum."""
        if self.report is None or self.merged_before:
            return self.merged_before
        wide = {number for number, path in self.paths.items() if number is not None and not path}
        return any(
            size and stratum in wide
            for wave in self.report.waves
            for stratum, size in zip(wave.strata, wave.sizes.tolist(), strict=True)
        )

    def merges(self, node: strata.Node) -> bool:
        """Whether the responses of a stratum travel as those of the one around it."""
        return node.stratum.merged or self.paths.get(node.stratum.id, node.path) != node.path

    def lines(
        self, number: int, columns: Sequence[str], numbers: Mapping[str, int]
    ) -> Iterator[tuple[bytes, int]]:
        """The responses to a version as lines of CSV, in parts, each with its number of responses.

        Sorted by what they hold, so that their order says nothing of who came first.

        Parameters
        ----------
        numbers : mapping
            Of strata in the archive, by their paths.
        """
        assert self.report is not None
        modes = self.report.modes
        yield csv_text([response_header(columns, modes is not None)]).encode(), 0
        named = (("", self.report.waves),) if modes is None else modes.named
        for mode, waves in named:
            paths, parts = responses_to(replace(self.report, waves=waves), number, self.paths)
            for rows in rows_of(parts, range(len(columns)), len(columns)):
                path = paths[rows.group]
                cells = (numbers[path] if path else None, path, *([mode] if mode else []))
                yield csv_lines(csv_text([cells]).removesuffix("\r\n"), rows.cells), len(rows.cells)


def read_responses(session: Session, survey: Survey) -> PackedResponses:
    """What is packed of a survey's responses. The session stays open for as long as they are read."""
    if not survey.versions:
        return PackedResponses(None, {}, survey.merged)
    days = {version.number: reports.read(session, survey, version.number).days for version in survey.versions}
    return PackedResponses(reports.read(session, survey), days, survey.merged)
