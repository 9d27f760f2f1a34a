"""Archive folders counted by Apache Spark, on this machine or on a cluster whose workers see the same folders.

Workers run operations of Spark's own alone: they need neither Python nor anything of ours. Several columns are counted
together, as the cells of a table of all their reports, so a row is looked at a few times instead of once a column.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from server.archives.folders.spark_sessions import SparkEngineError, open_session
from server.archives.folders.tallying import COUNT, DataSet, TallyEngine
from server.collect.batches import Margin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CELLS = 4096
_ROWS = 1 << 16
"""At most so many cells come back from one group of columns, of all strata together, unless one column has more."""
_AT_ONCE = 32
"""Groups of columns that are counted by one job."""
_STRATUM = "stratum"
_UNSEEN = re.compile("does not exist|FileNotFound|Permission denied|AccessDenied|AccessControl")
_AS_NAMED = ("__globPaths__", "false")
"""An option of Spark's own readers: a path stands for itself alone, and is no pattern."""


@dataclass(frozen=True)
class _Group:
    """Columns of a data set that are counted together: the first, how many, and which data set it is."""

    data_set: int
    first: int
    reports: tuple[int, ...]


class _SparkEngine:
    def __init__(self, session: "SparkSession", *, local: bool) -> None:
        self._session = session
        self._local = local

    def tally(self, data_sets: Sequence[DataSet]) -> Iterator[Mapping[str, Margin]]:
        found = [
            {file.stratum: np.zeros(sum(data_set.reports), np.int64) for file in data_set.files}
            for data_set in data_sets
        ]
        groups = [
            group for number, data_set in enumerate(data_sets) for group in _group_columns(number, data_set)
        ]
        for start in range(0, len(groups), _AT_ONCE):
            self._count(data_sets, groups[start : start + _AT_ONCE], found)
        yield from found

    def _count(
        self, data_sets: Sequence[DataSet], groups: Sequence[_Group], margins: Sequence[Mapping[str, Margin]]
    ) -> None:
        """Add what some groups of columns hold, in one job."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            numbers = {group.data_set for group in groups}
            frames = {number: self._read(data_sets[number]) for number in sorted(numbers)}
            parts = [
                _count_cells(data_sets[group.data_set], group, frame).select(_literal(place), "*")
                for place, group in enumerate(groups)
                for frame in frames[group.data_set]
            ]
            rows = reduce(lambda one, other: one.unionAll(other), parts).collect() if parts else []
        except (Py4JError, PySparkException) as error:
            raise _explain(error, local=self._local) from error
        for place, stratum, cell, n in rows:
            group = groups[place]
            margin = margins[group.data_set][stratum]
            start = sum(data_sets[group.data_set].reports[: group.first])
            for possible in group.reports:
                cell, report = divmod(cell, possible)
                margin[start + report] += n
                start += possible

    def _read(self, data_set: DataSet) -> list["DataFrame"]:
        """The files of a data set; those of each archive folder apart, as they stand in strata below it."""
        from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

        columns = [StructField(column, IntegerType()) for column in data_set.columns]
        schema = StructType([*columns, StructField(COUNT, LongType()), StructField(_STRATUM, StringType())])
        # Of the file system that each machine has, whatever a cluster takes paths for that say nothing.
        below: dict[Path, list[str]] = {}
        for file in data_set.files:
            below.setdefault(file.path.parent.parent, []).append(f"file:{file.path}")
        return [
            self._session.read.schema(schema)
            .option(*_AS_NAMED)
            .option("basePath", f"file:{folder}")
            .parquet(*paths)
            for folder, paths in below.items()
        ]


@contextmanager
def open_spark(master: str, patience: float = 60) -> Iterator[TallyEngine]:
    """Spark under a master: `local[N]` for N threads of this machine, or `spark://HOST:PORT` for a cluster.

    `patience`: seconds until a cluster must have answered, and given a worker.

    Raises
    ------
    SparkEngineError
        If there is no Java, no such master or no worker; later, if workers cannot read the files.
    ModuleNotFoundError
        If PySpark is not installed.
    """
    with open_session(master, patience) as session:
        yield _SparkEngine(session, local=master.startswith("local"))


def _group_columns(number: int, data_set: DataSet) -> Iterator[_Group]:
    """Columns next to each other whose reports have few combinations; none where there are no files."""
    most = min(_CELLS, _ROWS // max(1, len({file.stratum for file in data_set.files})))
    first, cells = 0, 1
    for place, possible in enumerate(data_set.reports if data_set.files else ()):
        if cells * possible > most and place > first:
            yield _Group(number, first, data_set.reports[first:place])
            first, cells = place, 1
        cells *= possible
    if data_set.files:
        yield _Group(number, first, data_set.reports[first:])


def _count_cells(data_set: DataSet, group: _Group, frame: "DataFrame") -> "DataFrame":
    """How many responses stand in each cell of each stratum; what no column can hold stands in none."""
    from pyspark.sql import functions

    cell: Any = functions.lit(0)
    inside: Any = functions.lit(True)
    weight = 1
    for place, possible in enumerate(group.reports, group.first):
        report = frame[_quote(data_set.columns[place])]
        inside = inside & (report >= 0) & (report < possible)
        cell = cell + report * weight
        weight *= possible
    counted = frame.where(inside).groupBy(_STRATUM, cell.alias("cell"))
    return counted.agg(functions.sum(COUNT).alias("n"))


def _literal(place: int) -> Any:
    from pyspark.sql import functions

    return functions.lit(place).alias("place")


def _quote(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))


def _explain(error: Exception, *, local: bool) -> SparkEngineError:
    """What went wrong while Spark counted, in one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    unseen = [line for line in lines if _UNSEEN.search(line)]
    if unseen and not local:
        return SparkEngineError(
            "every Spark worker must see the archive folder under the same path as this machine, and may read it; "
            f"one does not: {unseen[0]}"
        )
    return SparkEngineError(
        f"Spark could not count the archive folder: {lines[0] if lines else type(error).__name__}"
    )
