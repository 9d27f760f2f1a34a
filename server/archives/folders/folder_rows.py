"""Responses as Parquet: a column for each byte, and how often the same row stands there."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from server.archives.folders.folder_layout import ROWS, Document
from server.archives.folders.tallying import COUNT
from server.collect.tallies import Tally

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LARGEST = 64 << 20
"""Bytes of patterns and counts in a file, before they are packed."""
_BUFFER = 1 << 20
_FILE = 0o600
_FOLDER = 0o700
WRITING_SETTINGS: dict[str, Any] = {
    "threads": "1",
    "preserve_insertion_order": "true",
    "memory_limit": "512MB",
    # Nothing is ever fetched from elsewhere.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


@dataclass(frozen=True)
class CodedTally:
    """Responses that stand under one code of strata."""

    code: str
    tally: Tally


class RowWriter:
    """Writes the rows of a survey's versions into a new folder, file by file; all of them are on the disk then.

    Attributes
    ----------
    files : list
        What the manifest says of each.
    content : list
        Of each version and code of strata the hash of its rows, however they are packed.
    """

    def __init__(self, folder: Path, database: "DuckDBPyConnection") -> None:
        self.files: list[Document] = []
        self.content: list[Document] = []
        self._folder = folder
        self._database = database

    def write(self, version: int, columns: tuple[str, ...], parts: Iterable[CodedTally]) -> None:
        """Write responses to a version, those of one code one after the other, sorted, each row once in a file."""
        for code, tallies in _by_code(parts):
            hashes = hashlib.sha256(), hashlib.sha256()
            responses = 0
            for number, tally in enumerate(_in_files(tallies), 1):
                hashes[0].update(np.ascontiguousarray(tally.patterns).tobytes())
                hashes[1].update(tally.counts.astype("<i8").tobytes())
                responses += tally.n
                self._write_file(version, code, number, columns, tally)
            written = hashlib.sha256(hashes[0].digest() + hashes[1].digest()).hexdigest()
            self.content.append(
                {"version": version, "stratum": code, "responses": responses, "sha256": written}
            )

    def _write_file(
        self, version: int, code: str, number: int, columns: tuple[str, ...], tally: Tally
    ) -> None:
        name = ROWS.format(version, code, number)
        path = self._folder / name
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(mode=_FOLDER, exist_ok=True)
        table: dict[str, object] = {
            f"c{place}": np.ascontiguousarray(column) for place, column in enumerate(tally.patterns.T)
        }
        table["n"] = tally.counts
        names = [f"c{place} AS {quote_name(column)}" for place, column in enumerate(columns)]
        self._database.register("part", table)
        self._database.execute(
            f"COPY (SELECT {', '.join(names)}, n AS {COUNT} FROM part) "  # noqa: S608
            f"TO '{escape_path(path)}' (FORMAT parquet, COMPRESSION zstd)"
        )
        self._database.unregister("part")
        path.chmod(_FILE)
        size, found = settle_file(path)
        self.files.append(
            {
                "path": name,
                "version": version,
                "stratum": code,
                "responses": tally.n,
                "rows": len(tally.counts),
                "bytes": size,
                "sha256": found,
            }
        )


def quote_name(name: str) -> str:
    """A column's name in a text of SQL."""
    return '"' + name.replace('"', '""') + '"'


def escape_path(path: Path) -> str:
    """A path between the quotes of a text of SQL."""
    return str(path).replace("'", "''")


def settle_file(path: Path) -> tuple[int, str]:
    """Have a file on the disk; its bytes, and their SHA-256."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return hash_file(path)


def hash_file(path: Path) -> tuple[int, str]:
    """How many bytes a file has, and their SHA-256."""
    found, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while part := file.read(_BUFFER):
            found.update(part)
            size += len(part)
    return size, found.hexdigest()


def _by_code(parts: Iterable[CodedTally]) -> Iterator[tuple[str, Iterator[Tally]]]:
    """Those of one code after the other, which the caller goes through before the next."""
    rest = iter(parts)
    following = next(rest, None)

    def keep_rows_of(code: str) -> Iterator[Tally]:
        nonlocal following
        while following is not None and following.code == code:
            yield following.tally
            following = next(rest, None)

    while following is not None:
        code = following.code
        yield code, keep_rows_of(code)


def _in_files(tallies: Iterator[Tally]) -> Iterator[Tally]:
    """Brought together and cut so that each fits into memory."""
    waiting: list[Tally] = []
    size = 0
    for tally in tallies:
        bytes_of_row = tally.patterns.shape[1] + tally.counts.itemsize
        most = max(_LARGEST // bytes_of_row, 1)
        cuts = [*range(0, len(tally.counts), most), len(tally.counts)]
        for start, stop in pairwise(cuts):
            part = Tally(tally.patterns[start:stop], tally.counts[start:stop])
            own = (stop - start) * bytes_of_row
            if waiting and size + own > _LARGEST:
                yield Tally.join_all(waiting)
                waiting, size = [], 0
            waiting.append(part)
            size += own
    if waiting:
        yield Tally.join_all(waiting)
