"""Archive folders counted by DuckDB, on one machine: a stream through each column, in bounded memory."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from server.archives.folders.folder_layout import ArchiveFolderError
from server.archives.folders.folder_rows import WRITING_SETTINGS, escape_path, quote_name
from server.archives.folders.tallying import COUNT, DataFile, DataSet, TallyEngine
from server.collect.batches import Margin

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SETTINGS: dict[str, Any] = {
    **{name: value for name, value in WRITING_SETTINGS.items() if name != "threads"},
    "preserve_insertion_order": "false",
    "memory_limit": "1GB",
}
_FILES = 500
"""Counted in one query: each is open meanwhile."""
_TOGETHER = 1 << 21
"""Responses of several strata that are read once for all columns; more are read a column at a time."""


class _DuckDBEngine:
    def __init__(self, database: "DuckDBPyConnection") -> None:
        self._database = database

    def tally(self, data_sets: Sequence[DataSet]) -> Iterator[Mapping[str, Margin]]:
        for data_set in data_sets:
            found = {file.stratum: np.zeros(sum(data_set.reports), np.int64) for file in data_set.files}
            for files in _in_groups(data_set.files):
                self._count(data_set, files, found)
            yield found

    def _count(self, data_set: DataSet, files: Sequence[DataFile], margins: Mapping[str, Margin]) -> None:
        """Add what stands in some files of a data set: a group for each report of each column and file."""
        places = {str(file.path): file.stratum for file in files}
        several = len(set(places.values())) > 1
        source = "read_parquet([{}], filename = true, hive_partitioning = false)".format(
            ", ".join(f"'{_escape_pattern(file.path)}'" for file in files)
        )
        if several:
            self._database.execute(f"CREATE OR REPLACE TEMP TABLE part AS SELECT * FROM {source}")  # noqa: S608
            source = "part"
        which = "filename" if several else "''"
        queries = [
            f"SELECT {place} AS place, {which} AS file, {quote_name(column)} AS report, "  # noqa: S608
            f"sum({COUNT})::BIGINT AS n FROM {source} GROUP BY ALL"
            for place, column in enumerate(data_set.columns)
        ]
        starts = np.cumsum([0, *data_set.reports])
        only = files[0].stratum
        for place, file, report, n in self._database.execute(" UNION ALL ".join(queries)).fetchall():
            if report is not None and 0 <= report < data_set.reports[place]:
                margins[places[file] if several else only][starts[place] + report] += n


def _in_groups(files: Sequence[DataFile]) -> Iterator[list[DataFile]]:
    """Files that are counted together: of one stratum, or of several that hold few responses."""
    group: list[DataFile] = []
    for file in files:
        alike = not group or group[0].stratum == group[-1].stratum == file.stratum
        few = sum(each.responses for each in group) + file.responses <= _TOGETHER
        if group and (len(group) == _FILES or not (alike or few)):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


@contextmanager
def open_duckdb() -> Iterator[TallyEngine]:
    """DuckDB, which keeps what does not fit into a gigabyte in a folder of its own."""
    import duckdb  # a large package, which a server may do without

    with tempfile.TemporaryDirectory() as folder:
        settings = {**SETTINGS, "temp_directory": folder}
        with duckdb.connect(config=settings) as database:
            yield _DuckDBEngine(database)


def _escape_pattern(path: Path) -> str:
    """A path that stands for itself alone, where DuckDB takes patterns; one with a backslash never does."""
    if "\\" in str(path):
        raise ArchiveFolderError(
            f"DuckDB reads no folder with a backslash in its name: {path}; link to it by another"
        )
    return "".join(f"[{each}]" if each in "*?[" else each for each in escape_path(path))
