"""Rows of the database as lines of JSON, whatever database they come from or go to: a list of values for each.

Bytes are in base64, days and times as in ISO 8601. Rows stand in the order of their keys, which for what respondents
leave behind are random.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from server.archives.backups.containers import TablePart
from server.archives.backups.envelopes import DamagedError
from server.store import own_tables
from server.store.models import (
    ApiToken,
    Base,
    ColleagueInvitation,
    FailedAttempt,
    KeptReply,
    Revision,
    Search,
    SignIn,
    SignInLink,
)

LEFT_OUT = {
    model.__tablename__
    for model in (
        SignIn,
        SignInLink,
        ColleagueInvitation,
        ApiToken,
        KeptReply,
        FailedAttempt,
        Search,
        Revision,
    )
}
"""Tables that no backup has: what was ended or used up since must not open anything again, and no search goes on twice;
the last fills itself."""
_ROWS = 2000
_BYTES = 1 << 20
"""After either a part ends."""
_LARGE_ROWS = 8
"""Of batches, which may have 4 MB each, so many are read at once."""

Row = Sequence[Any]


def shared_tables() -> list[sa.Table]:
    """Those that all surveys share and a backup has, each after what it refers to."""
    return [table for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT]


def tables_of(survey_id: int) -> list[sa.Table]:
    """A survey's own, each after what it refers to."""
    return [own_tables.table(kind, survey_id) for kind in own_tables.KINDS]


def describe_columns(table: sa.Table) -> list[list[str]]:
    """Name and kind of value of each column."""
    return [[column.name, _kind(column.type)] for column in table.columns]


def read_rows(connection: sa.Connection, table: sa.Table) -> Iterator[Row]:
    """All rows of a table in the order of its key, a few in memory at a time."""
    query = sa.select(table).order_by(*table.primary_key.columns)
    at_once = _LARGE_ROWS if table.name.startswith(f"{own_tables.BATCHES.name}_") else _ROWS
    yield from connection.execute(query, execution_options={"yield_per": at_once})


def pack_rows(table: sa.Table, rows: Iterable[Row]) -> Iterator[TablePart]:
    """Rows of a table in parts of about a megabyte."""
    encoders = [_ENCODERS[_kind(column.type)] for column in table.columns]
    lines: list[bytes] = []
    size = 0
    for row in rows:
        values = [
            None if value is None else encode(value) for encode, value in zip(encoders, row, strict=True)
        ]
        lines.append(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        size += len(lines[-1])
        if len(lines) == _ROWS or size >= _BYTES:
            yield TablePart(table.name, len(lines), b"".join(lines))
            lines, size = [], 0
    if lines:
        yield TablePart(table.name, len(lines), b"".join(lines))


def unpack_rows(part: TablePart, columns: Sequence[Sequence[str]]) -> list[list[Any]]:
    """The rows of a part, whose columns `describe_columns` described.

    Raises
    ------
    DamagedError
        If they are none.
    """
    decoders = [_DECODERS[kind] for _, kind in columns]
    try:
        return [
            [
                None if value is None else decode(value)
                for decode, value in zip(decoders, json.loads(line), strict=True)
            ]
            for line in part.lines.splitlines()
        ]
    except (ValueError, TypeError) as error:
        raise DamagedError(f"the file holds rows of {part.table} that are none") from error


def _kind(column_type: sa.types.TypeEngine[Any]) -> str:
    return next(name for name, types in _KINDS.items() if isinstance(column_type, types))


_KINDS: dict[str, type[sa.types.TypeEngine[Any]]] = {
    "truth": sa.Boolean,
    "number": sa.Integer,
    "moment": sa.DateTime,
    "day": sa.Date,
    "bytes": sa.LargeBinary,
    "text": sa.String,
}
TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "truth": sa.Boolean(),
    "number": sa.BigInteger(),
    "moment": sa.DateTime(),
    "day": sa.Date(),
    "bytes": sa.LargeBinary(),
    "text": sa.Text(),
}
"""What each kind of value is in any table."""


def _same(value: Any) -> Any:
    return value


def _in_base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


_ENCODERS: dict[str, Callable[[Any], Any]] = {
    "truth": bool,
    "number": int,
    "moment": datetime.isoformat,
    "day": date.isoformat,
    "bytes": _in_base64,
    "text": _same,
}
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "truth": bool,
    "number": int,
    "moment": datetime.fromisoformat,
    "day": date.fromisoformat,
    "bytes": base64.b64decode,
    "text": str,
}
