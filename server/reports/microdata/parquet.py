"""The responses as Parquet."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from server.reports.csv_lines import NOT_ASKED
from server.reports.microdata.response_table import ReportResponses, StratumResponses

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GROUP = 1 << 17
"""Responses that are handed over together."""
_SETTINGS: dict[str, Any] = {
    # The same report gives the same bytes.
    "threads": "1",
    "preserve_insertion_order": "true",
    "memory_limit": "512MB",
    # Nothing is ever fetched from elsewhere.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def write_parquet(responses: ReportResponses, file: IO[bytes]) -> None:
    """The same rows and columns as the CSV; a report is null where the version does not have its column.

    `version` is a 32-bit integer, `stratum` a text, and each report an unsigned byte.
    """
    # Loading it takes a while and some memory: only who asks for Parquet pays.
    import duckdb

    names = [_quote(name) for name in responses.columns]
    columns = ["version INTEGER", *["stratum VARCHAR"] * responses.by_stratum]
    columns += [f"{name} UTINYINT" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "responses.parquet"
        with duckdb.connect(str(Path(folder) / "rows"), config=_SETTINGS) as database:
            # What is in the file is thrown away.
            database.execute("PRAGMA disable_checkpoint_on_shutdown")
            database.execute(f"CREATE TABLE responses ({', '.join(columns)})")
            waiting: list[StratumResponses] = []
            rows = 0
            for part in responses.parts():
                waiting.append(part)
                rows += len(part.cells)
                if rows >= _GROUP:
                    _insert(database, waiting, responses.by_stratum)
                    waiting, rows = [], 0
            _insert(database, waiting, responses.by_stratum)
            database.execute(f"COPY responses TO '{_escape(made)}' (FORMAT parquet, COMPRESSION zstd)")
        with made.open("rb") as written:
            shutil.copyfileobj(written, file)


def _insert(database: "DuckDBPyConnection", parts: Sequence[StratumResponses], by_stratum: bool) -> None:
    if not parts:
        return
    sizes = [len(part.cells) for part in parts]
    codes = np.concatenate([part.cells for part in parts])
    table: dict[str, object] = {
        "version": np.repeat(np.array([part.version for part in parts], "int32"), sizes)
    }
    if by_stratum:
        table["stratum"] = np.repeat(np.array([part.stratum for part in parts], object), sizes)
    for place, column in enumerate(codes.T):
        table[f"c{place}"] = np.ma.masked_array(column.astype("uint8"), mask=column == NOT_ASKED)
    database.register("part", table)
    database.execute("INSERT INTO responses SELECT * FROM part")
    database.unregister("part")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _escape(path: Path) -> str:
    return str(path).replace("'", "''")
