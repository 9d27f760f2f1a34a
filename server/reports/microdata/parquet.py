"""The responses as Parquet."""

from typing import IO

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

    def table(part: StratumResponses) -> pa.Table:
        arrays = [pa.repeat(pa.scalar(part.version, pa.int32()), len(part.cells))]
        if responses.by_stratum:
            numbers = pa.repeat(pa.scalar(0, pa.int32()), len(part.cells))
            arrays.append(pa.DictionaryArray.from_arrays(numbers, pa.array([part.stratum])))
        arrays += [pa.array(codes.astype("uint8"), mask=codes == NOT_ASKED) for codes in part.cells.T]
        return pa.table(arrays, schema=schema)

    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        waiting, rows = [], 0
        for part in responses.parts():
            waiting.append(table(part))
            rows += len(part.cells)
            if rows >= _GROUP:
                writer.write_table(pa.concat_tables(waiting).unify_dictionaries())
                waiting, rows = [], 0
        if waiting or not responses.n:
            writer.write_table(
                pa.concat_tables(waiting).unify_dictionaries() if waiting else schema.empty_table()
            )
