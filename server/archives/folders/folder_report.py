"""A survey in an archive folder, and what an engine counted of it -> its report, by the code of every other one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from server.archives.folders.folder_layout import (
    MANIFEST,
    ArchiveFolderError,
    Document,
    place_codes,
    read_hidden,
)
from server.archives.folders.folder_reader import ArchivedSurvey, read_archives
from server.archives.folders.folder_sums import spread_sums
from server.archives.folders.tallying import DataSet, TallyEngine
from server.collect.batches import Margin
from server.collect.waves import Wave, places_of, same_question
from server.reports import Report
from server.reports.question_estimates import estimate_question
from server.study import surveys
from server.study.smallest_group import Unseen
from server.study.strata import Node
from server.study.strata.stated_tree import build_tree

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class ArchivedReport:
    """The report on a survey in an archive folder."""

    identity: str
    report: Report


def report_archived(
    archives: Sequence[Path], engine: TallyEngine
) -> tuple[Iterator[ArchivedReport], list[str]]:
    """A report on each survey of archive folders, and the folders that are left out: they hold one once more.

    Raises
    ------
    ArchiveFolderError
        If they cannot be read, or what is in them is not what it says.
    """
    found, again = read_archives(archives)
    data_sets = [survey.data_sets() for survey in found]
    tallies = engine.tally([each for own in data_sets for each in own])

    def read_reports() -> Iterator[ArchivedReport]:
        for survey, own in zip(found, data_sets, strict=True):
            counted = {}
            for data_set in own:
                counted[data_set.version] = next(tallies)
                _check(survey, data_set, counted[data_set.version])
            yield ArchivedReport(survey.identity, _report(survey, counted))

    return read_reports(), again


def _check(survey: ArchivedSurvey, data_set: DataSet, tally: Mapping[str, Margin]) -> None:
    """Refuse columns that hold other numbers of reports than there are responses, as of reports nobody can send."""
    sizes = _sizes(data_set)
    starts = np.cumsum([0, *data_set.reports[:-1]])
    for code, n in sizes.items():
        found = np.add.reduceat(tally[code], starts)
        for column, number in zip(data_set.columns, found.tolist(), strict=True):
            if number != n:
                raise ArchiveFolderError(
                    f"{survey.folder}: version {data_set.version}, stratum {code}: {column} must hold {n} reports "
                    f"from 0 to {data_set.reports[data_set.columns.index(column)] - 1}; it holds {number}"
                )


def _sizes(data_set: DataSet) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for file in data_set.files:
        sizes[file.stratum] = sizes.get(file.stratum, 0) + file.responses
    return sizes


def _report(survey: ArchivedSurvey, counted: Mapping[int, Mapping[str, Margin]]) -> Report:
    manifest = survey.manifest
    nodes = _tree(survey)
    strata = places_of(nodes)
    hidden = read_hidden(manifest["hidden"])
    sizes = {data_set.version: _sizes(data_set) for data_set in survey.data_sets()}
    placed = _place(survey, nodes, hidden, counted, sizes)
    newest, *older = sorted(manifest["versions"], key=lambda version: -int(version["number"]))
    waves = tuple(
        Wave(
            version["number"],
            survey.definitions[version["number"]],
            strata,
            *placed.get(
                version["number"],
                (np.zeros((len(strata), sum(version["reports"])), np.int64), np.zeros(len(strata), np.int64)),
            ),
            lambda: iter(()),  # what is shown of a report needs no single response
        )
        for version in (newest, *older)
    )
    questions = [same_question(question.name, waves) for question in waves[0].definition.questions]
    since = manifest["populations_since"]
    return Report(
        definition=waves[0].definition,
        slug=manifest["slug"],
        version_number=newest["number"],
        version=newest["sha256"],
        published_on=date.fromisoformat(newest["published_on"]),
        made_on=surveys.today(),
        simulated=manifest["simulated"],
        confidence=_CONFIDENCE,
        minimum=manifest["minimum"],
        withheld=False,
        unseen=Unseen(0, 0, 0),
        pooled=True,
        waves=waves,
        unweighted=tuple(estimate_question(each, range(len(strata)), _CONFIDENCE) for each in questions),
        nodes=nodes,
        days=(),
        left_out=tuple(manifest["left_out"]["versions"]),
        without_left_out=manifest["left_out"]["without_stratum"],
        merged=manifest["merged"],
        incomplete=manifest["incomplete"],
        populations_since=None if since is None else date.fromisoformat(since),
        admissions=(),
        software=manifest["software"],
        stated_hidden=hidden,
    )


def _place(
    survey: ArchivedSurvey,
    nodes: tuple[Node, ...],
    hidden: frozenset[object],
    counted: Mapping[int, Mapping[str, Margin]],
    sizes: Mapping[int, Mapping[str, int]],
) -> dict[int, tuple[Margin, Margin]]:
    """Margins and sizes by place of each version that has responses."""
    manifest, number = survey.manifest, len(places_of(nodes))
    spread: dict[int, tuple[Margin, Margin]] = {}
    for sums in manifest["sums"]:
        places = place_codes(nodes, hidden, without=sums["versions"][0] in manifest["without_in"])
        totals = {version: _total(tally, sizes[version]) for version, tally in counted.items()}
        spread |= _spread(survey, sums, totals, places, number)
    for version, tally in counted.items():
        if version in spread:
            continue
        places = place_codes(nodes, hidden, without=version in manifest["without_in"])
        margins = np.zeros((number, len(next(iter(tally.values())))), np.int64)
        own = np.zeros(number, np.int64)
        for code, margin in tally.items():
            margins[places[code]] += margin
            own[places[code]] += sizes[version][code]
        spread[version] = margins, own
    return spread


def _spread(
    survey: ArchivedSurvey,
    sums: Document,
    totals: Mapping[int, tuple[Margin, int]],
    places: Mapping[str, int],
    number: int,
) -> dict[int, tuple[Margin, Margin]]:
    try:
        found = spread_sums(sums, totals, places, number)
    except (KeyError, ValueError, IndexError) as error:
        raise ArchiveFolderError(f"{survey.folder / MANIFEST}: sums are not those of its versions") from error
    first = sums["versions"][0]
    if int(found[first][1].sum()) != totals[first][1]:
        raise ArchiveFolderError(f"{survey.folder / MANIFEST}: sums are not those of its rows")
    return found


def _total(tally: Mapping[str, Margin], sizes: Mapping[str, int]) -> tuple[Margin, int]:
    return np.sum(list(tally.values()), axis=0), sum(sizes.values())


def _tree(survey: ArchivedSurvey) -> tuple[Node, ...]:
    """The strata as every report has them; their ids are their numbers."""
    try:
        return build_tree([(tuple(one["names"]), one["population"]) for one in survey.manifest["strata"]])
    except ValueError as error:
        raise ArchiveFolderError(f"{survey.folder / MANIFEST}: {error}") from error
