"""What counts an archive folder: engines, which are given files and return how often each report stands in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from server.collect.batches import Margin

COUNT = "_count"
"""The column that says how many responses a row is. No question's name begins so."""


@dataclass(frozen=True)
class DataFile:
    """A Parquet file with responses that stand under one code of strata (`folder_layout`)."""

    path: Path
    stratum: str
    responses: int


@dataclass(frozen=True)
class DataSet:
    """The files of one version of a survey, which all have the same columns, and how many reports each can hold."""

    survey: str
    version: int
    columns: tuple[str, ...]
    reports: tuple[int, ...]
    files: tuple[DataFile, ...]


class TallyEngine(Protocol):
    """Counts reports, each row as often as its `COUNT` says."""

    def tally(self, data_sets: Sequence[DataSet]) -> Iterator[Mapping[str, Margin]]:
        """For each data set, in order, and each code of strata in it: how often each report stands in each column.

        The counts of the first column's reports, then those of the second, and so on. Reports that a column
        cannot hold are not counted; the caller sees by the sums that there are some.
        """
        ...
