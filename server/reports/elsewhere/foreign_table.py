"""A table from elsewhere: a CSV file and what its study file says of it -> the code of each cell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.inputs.csv_rows import (
    PART,
    ReportProgress,
    check_length,
    code_cells,
    read_rows,
    refuse_cell,
    report_no_progress,
)
from server.reports.csv_cells import neutralise_text
from server.reports.elsewhere.missing_cells import find_left_out
from server.reports.elsewhere.study_columns import (
    ABSENT,
    DateCells,
    NameCells,
    NumberCells,
    TextCells,
    mark_missing,
    number_names,
)
from server.reports.elsewhere.study_file import StudyFile
from server.reports.stratum_estimates import NO_STRATUM, WITHHELD_STRATUM
from server.study.definitions import Definition
from server.study.strata import walk

MOST_ROWS = 10_000_000
"""Rows of a table: each is a person."""
_DAYS = 7
_LARGEST_WEIGHT = 1e6
_SMALLEST_WEIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class ForeignTable:
    """The rows of a table: `version` is the number that each answers, `place` the place of its stratum.

    `reports` are by column; `covariates` by name, as numbers or as the places of texts, which are in `weeks` where they
    follow from days; `clusters` and `drawn_from`
    (strata of the sample) are numbered, the latter in the order of `names_drawn_from`. `models` are the values that
    each model reads, by role: NaN where the row is left out of it; theirs are all rows, of which `left_out` miss a cell
    of another column and are nowhere else; `whole` says which are the others.
    """

    rows: int
    left_out: int
    version: NDArray[np.int64]
    place: NDArray[np.int64]
    reports: Mapping[str, NDArray[np.uint8]]
    covariates: Mapping[str, NDArray[np.float64]]
    weeks: Mapping[str, tuple[str, ...]]
    weights: NDArray[np.float64] | None
    sampling_weights: NDArray[np.float64] | None
    replicate_weights: tuple[NDArray[np.float64], ...]
    clusters: NDArray[np.int64] | None
    drawn_from: NDArray[np.int64] | None
    names_drawn_from: tuple[str, ...]
    models: tuple[Mapping[str, NDArray[np.float64]], ...]
    whole: NDArray[np.int64]

    def patterns(self, definition: Definition, cells: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """The reports of some rows, a column for each byte of the definition."""
        names = [name for question in definition.questions for name in question.columns]
        if not names:
            return np.zeros((int(cells.sum()), 0), np.uint8)
        return np.stack([self.reports[name][cells] for name in names], axis=1)


def read_foreign_table(
    file: IO[bytes], study: StudyFile, report_progress: ReportProgress = report_no_progress
) -> ForeignTable:
    """Read a CSV file; columns that the study file does not name are passed over.

    Raises
    ------
    InputError
        Naming the row (the first one is 1), the column, what may be there, and what is.
    """
    rows, separator = read_rows(file, study.headers, None, report_progress)
    header = next(rows)
    readers = dict(_readers(study, comma=separator != ","))
    if study.sampling is not None:
        for column in (study.sampling.clusters, study.sampling.strata):
            if column is not None:
                readers.setdefault(column, NameCells())
    for cells in readers.values():
        mark_missing(cells, study.missing)
    modelled = [
        {
            role: (own.header, own.make_reader(study.missing, comma=separator != ","))
            for role, own in each.model.columns.items()
        }
        for each in study.models
    ]
    where = {name: header.index(name) for name in study.headers}
    parts: dict[str, list[NDArray[np.int32]]] = {name: [] for name in readers}
    read: list[dict[str, list[NDArray[np.int32]]]] = [{role: [] for role in own} for own in modelled]
    number = 1
    while part := list(islice(rows, PART)):
        check_length(part, number, len(header))
        for name, reader in readers.items():
            parts[name].append(code_cells(reader, [row[where[name]] for row in part], name, number))
        for own, kept in zip(modelled, read, strict=True):
            for role, (name, optional) in own.items():
                kept[role].append(code_cells(optional, [row[where[name]] for row in part], name, number))
        number += len(part)
        if number > MOST_ROWS + 1:
            raise refuse(413, "data", N_("must have at most %(limit)d rows; it has more"), limit=MOST_ROWS)
    if number == 1:
        raise refuse(422, "data", N_("must have a row for each person below the names of the columns"))
    codes = {name: np.concatenate(some) for name, some in parts.items()}
    values = tuple(
        {role: own[role][1].find_values(np.concatenate(some)) for role, some in kept.items()}
        for own, kept in zip(modelled, read, strict=True)
    )
    left = find_left_out(study, codes, number - 1)
    if left.all():
        template = N_(
            "must have a row in which nothing is missing; each has one of %(limit)s in a column that is read"
        )
        raise refuse(
            422, "data", template, limit=shorten_value(", ".join(text or '""' for text in study.missing))
        )
    whole = np.flatnonzero(~left)
    if left.any():
        codes = {name: column[whole] for name, column in codes.items()}
    return _sort_columns(study, readers, codes, whole, int(left.sum()), values)


_Cells = TextCells | NumberCells | NameCells | DateCells


def _readers(study: StudyFile, *, comma: bool) -> Iterator[tuple[str, _Cells]]:
    columns = [
        {name for one in each.questions for name in one.columns} for each in study.definitions.values()
    ]
    for name, cells in study.cells.items():
        some = not all(name in own for own in columns)
        yield cells.header, TextCells({**cells.codes, "": ABSENT} if some else cells.codes)
    if len(study.definitions) > 1:
        yield "version", TextCells({str(number): number for number in study.definitions})
    if study.nodes:
        yield "stratum", TextCells(_name_places(study))
    for covariate in study.covariates:
        if covariate.dates:
            yield covariate.name, DateCells()
        elif covariate.categories:
            yield covariate.name, TextCells({text: code for code, text in enumerate(covariate.categories)})
        else:
            yield covariate.name, NumberCells(covariate.low, covariate.high, comma=comma)
    sampling = study.sampling
    for weights in (study.weights, None if sampling is None else sampling.weights):
        if weights is not None:
            yield weights, NumberCells(_SMALLEST_WEIGHT, _LARGEST_WEIGHT, comma=comma)
    if sampling is not None and sampling.replicates is not None:
        for column in sampling.replicates.columns:
            yield column, NumberCells(0, _LARGEST_WEIGHT, comma=comma)


def _name_places(study: StudyFile) -> dict[str, int]:
    """The place of each stratum by its path, also as our exports write one that looks like a formula."""
    paths = {node.path: place for place, node in enumerate(walk(study.nodes), 1)}
    exported = {neutralise_text(path): place for path, place in paths.items()}
    return {**exported, **paths, NO_STRATUM: 0, WITHHELD_STRATUM: 0, "": 0}


def _sort_columns(
    study: StudyFile,
    readers: Mapping[str, _Cells],
    codes: Mapping[str, NDArray[np.int32]],
    whole: NDArray[np.int64],
    left_out: int,
    models: tuple[Mapping[str, NDArray[np.float64]], ...],
) -> ForeignTable:
    def values(name: str) -> NDArray[np.float64]:
        reader = readers[name]
        if isinstance(reader, NumberCells):
            return np.array(reader.numbers)[codes[name]]
        if isinstance(reader, DateCells):
            return np.array([day.toordinal() for day in reader.days], dtype=np.float64)[codes[name]]
        return codes[name].astype(np.float64)

    newest, sampling, rows = next(iter(study.definitions)), study.sampling, len(whole)
    version = codes["version"].astype(np.int64) if len(study.definitions) > 1 else np.full(rows, newest)
    place = codes["stratum"].astype(np.int64) if study.nodes else np.zeros(rows, np.int64)
    for number, definition in study.definitions.items():
        own = version == number
        had = {name: one for one in definition.questions for name in one.columns}
        for name, cells in study.cells.items():
            most = 0
            if name in had:
                design = had[name].designs[had[name].columns.index(name)]
                most = design.weights.shape[1]
            wrong = own & ((codes[cells.header] >= most) if most else (codes[cells.header] != ABSENT))
            if wrong.any():
                row = int(wrong.argmax())
                template = N_(
                    "must fit version %(limit)s, which has %(low)d reports here; its number is %(value)s"
                )
                code = int(codes[cells.header][row])
                text = '""' if code == ABSENT else str(code)
                raise refuse_cell(int(whole[row]) + 2, cells.header, template, text, limit=number, low=most)
    known = {covariate.name: values(covariate.name) for covariate in study.covariates}
    weeks = {}
    for covariate in study.covariates:
        if covariate.dates == "by_week":
            known[covariate.name] /= _DAYS
        elif covariate.dates == "weeks":
            # Day 1 was a Monday.
            found, places = np.unique((known[covariate.name] - 1) // _DAYS, return_inverse=True)
            known[covariate.name] = places.astype(np.float64)
            weeks[covariate.name] = tuple(_name_week(int(week) * _DAYS + 1) for week in found)
    drawn_from: NDArray[np.int64] | None = None
    names: tuple[str, ...] = ()
    if sampling is not None and sampling.strata is not None:
        drawn_from, names = number_names(readers[sampling.strata], codes[sampling.strata])
    replicates = () if sampling is None or sampling.replicates is None else sampling.replicates.columns
    return ForeignTable(
        rows=rows,
        left_out=left_out,
        version=version,
        place=place,
        reports={name: codes[cells.header].astype(np.uint8) for name, cells in study.cells.items()},
        covariates=known,
        weeks=weeks,
        weights=None if study.weights is None else values(study.weights),
        sampling_weights=None if sampling is None or sampling.weights is None else values(sampling.weights),
        replicate_weights=tuple(values(name) for name in replicates),
        clusters=None
        if sampling is None or sampling.clusters is None
        else np.unique(codes[sampling.clusters], return_inverse=True)[1].astype(np.int64),
        drawn_from=drawn_from,
        names_drawn_from=names,
        models=models,
        whole=whole,
    )


def _name_week(monday: int) -> str:
    """As an interval of ISO 8601; the last week that there is ends early."""
    sunday = min(monday + _DAYS - 1, date.max.toordinal())
    return "/".join(date.fromordinal(day).isoformat() for day in (monday, sunday))
