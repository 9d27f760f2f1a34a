"""A closed survey -> its folder in an archive folder."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from server import reports
from server.archives.folders.folder_commits import begin_writing, commit_folder
from server.archives.folders.folder_layout import (
    MANIFEST,
    PUBLISHED,
    SURVEY,
    ArchiveFolderError,
    Document,
    code_strata,
)
from server.archives.folders.folder_manifest import describe_report, describe_version, finish_manifest
from server.archives.folders.folder_rows import WRITING_SETTINGS, CodedTally, RowWriter, settle_file
from server.collect.waves import groups_of
from server.output.progress import ProgressReporter, report_no_progress
from server.reports import Report
from server.reports.csv_report import responses_to
from server.reports.stratum_estimates import hidden_in
from server.store.models import State, Survey
from server.store.private_files import open_private


class ArchiveOutcome(StrEnum):
    """What became of a survey that was to be archived."""

    WRITTEN = "written"
    PRESENT = "already there"


class SurveyFolder:
    """The folder of a survey while it is written: rows first, what says what they are last."""

    def __init__(self, folder: Path, target: Path, rows: RowWriter) -> None:
        self.rows = rows
        self._folder = folder
        self._target = target
        self._versions: list[Document] = []

    def add_version(self, described: Document, published: bytes) -> None:
        """Keep a version's published bytes, and what the manifest says of it."""
        self._put(PUBLISHED.format(described["number"]), published)
        self._versions.append(described)

    def finish(self, survey: Document) -> ArchiveOutcome:
        """Give the folder its name, with the manifest in it.

        Raises
        ------
        ArchiveFolderError
            If there is one already, and it holds something else.
        """
        manifest = finish_manifest(survey, self._versions, self.rows.content, self.rows.files)
        self._put(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n")
        if commit_folder(self._folder, self._target):
            return ArchiveOutcome.WRITTEN
        if _read_content(self._target) == manifest["content"]:
            return ArchiveOutcome.PRESENT
        raise ArchiveFolderError(
            f"survey {survey['slug']!r} is in the archive already, with other responses or settings: its folder "
            f"{self._target.name} holds another copy of it, whose respondents may be the same people. An archive is "
            "added to and never rewritten; write this copy to another one"
        )

    def _put(self, name: str, content: bytes) -> None:
        path = self._folder / name
        with open(path, "xb", opener=open_private) as file:
            file.write(content)
        settle_file(path)


@contextmanager
def write_survey(archive: Path, identity: str) -> Iterator[SurveyFolder]:
    """The new folder of a survey with this identity; nothing is left of it unless it was finished."""
    import duckdb  # a large package, which a server may do without

    target = archive / f"survey={identity}"
    if not SURVEY.fullmatch(target.name):
        raise ArchiveFolderError(f"a survey's identity must be 32 hexadecimal digits; it is {identity!r}")
    with begin_writing(archive) as folder, duckdb.connect(config=WRITING_SETTINGS) as database:
        yield SurveyFolder(folder, target, RowWriter(folder, database))


def archive_survey(
    session: Session, survey: Survey, archive: Path, report_progress: ProgressReporter = report_no_progress
) -> ArchiveOutcome:
    """Write what may be told of a closed survey's responses into an archive folder.

    `report_progress` learns how many of them are written.

    Raises
    ------
    ArchiveFolderError
        If it is not closed, if another copy of it is there already, or the folder cannot be written.
    InputError
        If it was never published, or too few responded.
    """
    check_closed(survey)
    report = reports.read(session, survey)
    reports.require_shown(report)
    codes = code_rows(report)
    published = {version.number: version for version in survey.versions}
    done = 0

    def follow(parts: Iterator[CodedTally]) -> Iterator[CodedTally]:
        nonlocal done
        for part in parts:
            yield part
            done += part.tally.n
            report_progress(done, report.n)

    with write_survey(archive, survey.identity) as folder:
        for wave in sorted(report.waves, key=lambda one: one.number):
            version = published[wave.number]
            described = describe_version(
                wave.number, version.sha256, version.published_on.isoformat(), wave.definition, wave.n
            )
            folder.add_version(described, version.published)
            if wave.n:
                columns = tuple(described["columns"])
                folder.rows.write(wave.number, columns, follow(_code_rows_of(report, wave.number, codes)))
        return folder.finish(describe_report(report, survey.identity, dict(codes)))


def check_closed(survey: Survey) -> None:
    """Refuse to archive what may still change.

    Raises
    ------
    ArchiveFolderError
        If a survey is not closed.
    """
    if survey.state != State.CLOSED:
        raise ArchiveFolderError(
            f"survey {survey.slug!r} must be closed before it is archived; it is {survey.state}"
        )


def code_rows(report: Report) -> Mapping[int | None, str]:
    """What stands for each stratum beside rows, by the rule of all files with single responses (`name_strata`)."""
    sizes = [wave.sizes.tolist() for wave in report.waves]
    totals = [sum(each) for each in zip(*sizes, strict=True)]
    hidden = hidden_in([*sizes, totals], report.nodes, report.minimum)
    return code_strata(report.nodes, hidden if report.shows(None) else hidden | {None})


def _code_rows_of(report: Report, number: int, codes: Mapping[int | None, str]) -> Iterator[CodedTally]:
    names, parts = responses_to(report, number, codes)
    for part in parts:
        groups, tally = groups_of(part)
        cuts = [0, *(np.flatnonzero(groups[1:] != groups[:-1]) + 1).tolist(), len(groups)]
        for start, stop in pairwise(cuts):
            rows = type(tally)(tally.patterns[start:stop], tally.counts[start:stop])
            yield CodedTally(names[int(groups[start])], rows)


def _read_content(target: Path) -> object:
    """What the manifest says of a folder's content; None where there is no such thing."""
    try:
        return json.loads((target / MANIFEST).read_bytes())["content"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
