"""The responses as Parquet."""

from collections.abc import Sequence
from typing import IO

import numpy as np

from server.reports.csv_lines import NOT_ASKED
from server.reports.microdata.response_table import ReportResponses, StratumResponses

_GROUP = 1 << 15
"""Responses that are compressed together."""


def write_parquet(responses: ReportResponses, file: IO[bytes]) -> None:
    """The same rows and columns as the CSV; a report is null where the version does not have its column."""
    # Loading it takes a third of a second and some memory: only who asks for Parquet pays.
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

    fields = [("version", pa.int32())]
    if responses.by_stratum:
        fields.append(("stratum", pa.dictionary(pa.int32(), pa.string())))
    schema = pa.schema([*fields, *((name, pa.uint8()) for name in responses.columns)])

    def table(parts: Sequence[StratumResponses]) -> pa.Table:
        lengths = [len(part.cells) for part in parts]
        arrays = [pa.array(np.repeat([part.version for part in parts], lengths), type=pa.int32())]
        if responses.by_stratum:
            names = list(dict.fromkeys(part.stratum for part in parts))
            place = {name: number for number, name in enumerate(names)}
            numbers = np.repeat([place[part.stratum] for part in parts], lengths).astype(np.int32)
            arrays.append(pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(names)))
        cells = np.concatenate([part.cells for part in parts])
        arrays += [pa.array(codes.astype("uint8"), mask=codes == NOT_ASKED) for codes in cells.T]
        return pa.table(arrays, schema=schema)

    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        waiting: list[StratumResponses] = []
        rows = 0
        for part in responses.parts():
            waiting.append(part)
            rows += len(part.cells)
            if rows >= _GROUP:
                writer.write_table(table(waiting))
                waiting, rows = [], 0
        if waiting or not responses.n:
            writer.write_table(table(waiting) if waiting else schema.empty_table())
