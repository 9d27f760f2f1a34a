"""The tables that each survey has of its own: what respondents leave behind, and the books that count it.

Whoever writes anew, empties or deletes one survey's rows holds up no other survey, and what is left of them in files
is nobody else's page. `responses_17`, `invitations_17`, `cells_17`, `batches_17`, `counters_17`, `withdrawals_17`,
`removals_17`, `purchases_17` and `tickets_17` belong to the survey with the id 17; they are made together with it.

A response is a hash of its receipt (a random number once the survey is closed), the version it answers, the link's
stratum, a byte for each report, the day, and whether it was keyed in from paper. Nothing else may ever be added that
could join it to a person. Of an invitation only the hash of its code is kept, and whether it was used: not when, nor
for what. Keys are random and SQLite has no rowid here, so that rows lie in the order of random numbers and no query
tells in which order they arrived. While a study runs, who holds the files still finds traces of it;
`server.collect.tidying` says which, and takes them away once it is closed.

Ids and hashes are unique within a survey: a response is sent again by a link of the same survey.

The books are kept by `server.collect.batches`. A *cell* holds the responses that are counted together: those to a
version, by the link of one stratum, collected in one way. Its id packs the three into one number; `waiting`
holds the sorted report strings of the `waiting_n` responses that are in no batch yet. A *batch* holds
responses of one cell that are shown together: `content` has what estimates need
(`server.collect.batches.encoding` says how), `days` how many were shown from which day on and in which week, as JSON
(`server.collect.batches.weeks`), and `margins` how often each report arrived in each byte
(`server.collect.batches.margins`), empty where the level is 0. It
names no row of the responses, and no row names a batch; while responses come its id is random. A *counter* says
how many responses one writer has stored; their sum is all of them. There are several, so that processes
on PostgreSQL need not wait for each other.

A *withdrawal* is the hash of the receipt of a response that was taken back, until the survey is closed: it is not
stored again. A *removal* holds, for a cell, the sorted report strings of `n` responses that were taken back and are
still in its batches (`server.collect.batches.removing`). Neither names the other.

Where a code buys a ticket, a *purchase* holds the hash of the code and of the blinded message that was signed for it,
and a row of `tickets` the hash of one that a response has spent. Nothing leads from one to the other: any ticket could
have come of any blinded message. Both are kept until the survey is closed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import sqlalchemy as sa

T = TypeVar("T")

_Part = sa.Column[Any] | sa.CheckConstraint


@dataclass(frozen=True)
class TableKind:
    """One of the tables that each survey has.

    Attributes
    ----------
    name : str
        Of the tables, before the survey's number.
    columns : Callable
        Makes its columns, the key first, and its constraints; is given the survey's id and a suffix.
    strangers : str
        Which rows the database refuses, as they belong to something of another survey.
    changes : str
        Which changes of a row it refuses.
    index : tuple of str
        Columns that rows are looked for by, besides the key.
    large : str
        The column whose values may be so long that a row is a piece by itself.
    by_number : bool
        Whether SQLite keeps rows by the number that is their key, which suits long ones.
    new_keys : bool
        Whether a closed survey's rows get keys that are drawn anew.
    """

    name: str
    columns: Callable[[int, str], Iterator[_Part]]
    strangers: str = ""
    changes: str = ""
    index: tuple[str, ...] = ()
    large: str = ""
    by_number: bool = False
    new_keys: bool = False


_VERSION = "SELECT 1 FROM survey_versions v WHERE v.id = NEW.version_id AND v.survey_id = {0}"
_STRATUM = "SELECT 1 FROM strata s WHERE s.id = NEW.stratum_id AND s.survey_id = {0}"
_BATCH = "SELECT 1 FROM invitation_batches b WHERE b.id = NEW.batch_id AND b.survey_id = {0}"
# On PostgreSQL, functions of the migrations say the same.
_NOT_ITS_OWN = f"NOT EXISTS ({_VERSION}) OR NEW.stratum_id IS NOT NULL AND NOT EXISTS ({_STRATUM})"


def _responses(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("id", sa.LargeBinary(16), nullable=False)
    yield sa.Column("version_id", sa.Integer, nullable=False)
    yield sa.Column("reports", sa.LargeBinary, nullable=False)
    yield sa.Column("day", sa.Date, nullable=False)
    yield sa.Column("stratum_id", sa.Integer)
    yield sa.Column("mode", sa.SmallInteger, nullable=False, server_default=sa.text("0"))
    yield sa.CheckConstraint("length(id) = 16", name="id_is_128_bits")
    yield sa.CheckConstraint("length(reports) >= 1", name="reports_are_present")


def _invitations(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("code_hash", sa.LargeBinary(32), nullable=False)
    yield sa.Column("batch_id", sa.Integer, nullable=False)
    yield sa.Column("spent", sa.Boolean, nullable=False)
    yield sa.CheckConstraint("length(code_hash) = 32", name="code_hash_is_sha256")


def _cells(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False)
    yield sa.Column("version_id", sa.Integer, nullable=False)
    yield sa.Column("stratum_id", sa.Integer)
    yield sa.Column("mode", sa.SmallInteger, nullable=False)
    yield sa.Column("waiting_n", sa.Integer, nullable=False)
    yield sa.Column("waiting", sa.LargeBinary, nullable=False)
    packed = "id = version_id * 4294967296 + coalesce(stratum_id, 0) * 4 + mode"
    yield sa.CheckConstraint(packed, name="id_is_packed")
    yield sa.CheckConstraint("mode BETWEEN 0 AND 3", name="mode_has_two_bits")
    yield sa.CheckConstraint("waiting_n >= 0", name="waiting_n_is_not_negative")


def _batches(survey_id: int, suffix: str) -> Iterator[_Part]:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    cell = table(CELLS, survey_id, suffix).c.id
    yield sa.Column("id", number, nullable=False, autoincrement=False)
    yield sa.Column("cell_id", sa.BigInteger, sa.ForeignKey(cell, ondelete="CASCADE"), nullable=False)
    yield sa.Column("level", sa.SmallInteger, nullable=False)
    yield sa.Column("n", sa.Integer, nullable=False)
    yield sa.Column("days", sa.Text, nullable=False)
    yield sa.Column("margins", sa.LargeBinary, nullable=False)
    yield sa.Column("content", sa.LargeBinary, nullable=False)
    yield sa.CheckConstraint("n >= 1", name="n_is_positive")
    yield sa.CheckConstraint("level >= 0", name="level_is_not_negative")


def _counters(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("writer", sa.SmallInteger, nullable=False, autoincrement=False)
    yield sa.Column("n", sa.Integer, nullable=False)


def _withdrawals(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("id", sa.LargeBinary(16), nullable=False)
    yield sa.CheckConstraint("length(id) = 16", name="id_is_128_bits")


def _removals(survey_id: int, suffix: str) -> Iterator[_Part]:
    cell = table(CELLS, survey_id, suffix).c.id
    yield sa.Column(
        "cell_id",
        sa.BigInteger,
        sa.ForeignKey(cell, ondelete="CASCADE"),
        nullable=False,
        autoincrement=False,
    )
    yield sa.Column("n", sa.Integer, nullable=False)
    yield sa.Column("strings", sa.LargeBinary, nullable=False)
    yield sa.CheckConstraint("n >= 1", name="n_is_positive")


def _purchases(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("code_hash", sa.LargeBinary(32), nullable=False)
    yield sa.Column("blinded_hash", sa.LargeBinary(32), nullable=False)
    yield sa.CheckConstraint("length(code_hash) = 32", name="code_hash_is_sha256")
    yield sa.CheckConstraint("length(blinded_hash) = 32", name="blinded_hash_is_sha256")


def _tickets(_survey_id: int, _suffix: str) -> Iterator[_Part]:
    yield sa.Column("id", sa.LargeBinary(32), nullable=False)
    yield sa.CheckConstraint("length(id) = 32", name="id_is_sha256")


RESPONSES = TableKind("responses", _responses, _NOT_ITS_OWN, "UPDATE", new_keys=True)
INVITATIONS = TableKind("invitations", _invitations, f"NOT EXISTS ({_BATCH})", "UPDATE OF batch_id")
CELLS = TableKind("cells", _cells, _NOT_ITS_OWN, large="waiting")
BATCHES = TableKind("batches", _batches, index=("cell_id", "level"), large="content", by_number=True)
COUNTERS = TableKind("counters", _counters)
WITHDRAWALS = TableKind("withdrawals", _withdrawals)
REMOVALS = TableKind("removals", _removals)
PURCHASES = TableKind("purchases", _purchases)
TICKETS = TableKind("tickets", _tickets)
KINDS = (RESPONSES, INVITATIONS, COUNTERS, CELLS, BATCHES, WITHDRAWALS, REMOVALS, PURCHASES, TICKETS)
"""In the order in which they are made: each after what it refers to."""


def responses_of(survey_id: int) -> sa.Table:
    """Where the responses to a survey are: `id`, `version_id`, `reports`, `day`, `stratum_id`, `mode`."""
    return table(RESPONSES, survey_id)


def invitations_of(survey_id: int) -> sa.Table:
    """Where the invitations to a survey are: `code_hash`, `batch_id`, `spent`."""
    return table(INVITATIONS, survey_id)


def cells_of(survey_id: int) -> sa.Table:
    """Where a survey's cells are: `id`, `version_id`, `stratum_id`, `mode`, `waiting_n`, `waiting`."""
    return table(CELLS, survey_id)


def batches_of(survey_id: int) -> sa.Table:
    """Where a survey's batches are: `id`, `cell_id`, `level`, `n`, `days`, `margins`, `content`."""
    return table(BATCHES, survey_id)


def counters_of(survey_id: int) -> sa.Table:
    """Where it is counted how many responses a survey has: `writer`, `n`."""
    return table(COUNTERS, survey_id)


def withdrawals_of(survey_id: int) -> sa.Table:
    """Which responses to a survey were taken back: `id`."""
    return table(WITHDRAWALS, survey_id)


def removals_of(survey_id: int) -> sa.Table:
    """What is to be taken out of a survey's batches: `cell_id`, `n`, `strings`."""
    return table(REMOVALS, survey_id)


def purchases_of(survey_id: int) -> sa.Table:
    """Which codes of a survey have bought a ticket: `code_hash`, `blinded_hash`."""
    return table(PURCHASES, survey_id)


def tickets_of(survey_id: int) -> sa.Table:
    """Which tickets of a survey were spent: `id`."""
    return table(TICKETS, survey_id)


def group_by_survey(pairs: Iterable[tuple[int, T]]) -> list[tuple[int, list[T]]]:
    """What belongs to each survey, by its id, in the order of ids: always the same, so that none waits for ever."""
    found: dict[int, list[T]] = {}
    for survey_id, value in pairs:
        found.setdefault(survey_id, []).append(value)
    return sorted(found.items(), key=lambda pair: pair[0])


@lru_cache(maxsize=4096)
def table(kind: TableKind, survey_id: int, suffix: str = "") -> sa.Table:
    """One of a survey's tables, or what is made to take its place."""
    name = f"{kind.name}_{int(survey_id)}{suffix}"
    convention = {
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
    columns = list(kind.columns(survey_id, suffix))
    return sa.Table(
        name,
        sa.MetaData(naming_convention=convention),
        *columns,
        sa.PrimaryKeyConstraint(next(column for column in columns if isinstance(column, sa.Column))),
        sqlite_with_rowid=kind.by_number,
    )
