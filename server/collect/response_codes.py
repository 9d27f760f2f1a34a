"""Codes of invitations, which let one response in each: looked up, checked and marked as used. Functions never commit.

Only the hash of a code is kept, and whether it was used. A code has 80 random bits, so that its hash
cannot be turned back by trying.
"""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from server.inputs import CODE_LENGTH, N_, refuse
from server.inputs import normalise_code as normalise_code
from server.store.models import InvitationBatch
from server.store.own_tables import group_by_survey, invitations_of
from server.store.prepared import Prepared, give_several, is_one_of, prepare_several

HASH_LENGTH = hashlib.sha256().digest_size


class Code(NamedTuple):
    """What is known of a code of a survey: the link it was issued for, and whether it was used."""

    stratum_id: int | None
    spent: bool


def group_letters(code: str) -> str:
    """A code in its normal form as it is shown and printed: in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def code_hash(code: str) -> bytes:
    """What is kept of a code in its normal form."""
    return hashlib.sha256(code.encode("ascii")).digest()


def look_up(
    connection: sa.Connection, codes: Iterable[tuple[int, str | None]], *, locks: bool = True
) -> dict[tuple[int, str | None], Code]:
    """What is known of codes in their normal form, each with the id of the survey that it was sent to.

    Nothing of those that were never issued for that survey, or withdrawn. On PostgreSQL, locks them
    until the transaction ends; one that only reads may not.
    """
    found: dict[tuple[int, str | None], Code] = {}
    dialect = connection.dialect.name
    for survey_id, sent in group_by_survey((survey, code) for survey, code in codes if code is not None):
        asked = {code_hash(code): code for code in sent}
        values = {"hashes": give_several(dialect, list(asked))}
        for together, spent, stratum in _codes(survey_id, dialect, locks).fetch(connection, values):
            hashes = bytes.fromhex(together) if dialect == "sqlite" else together
            code = Code(stratum, bool(spent))
            for start in range(0, len(hashes), HASH_LENGTH):
                found[survey_id, asked[hashes[start : start + HASH_LENGTH]]] = code
    return found


def check(found: Code | None, code: str | None, invited: bool, stratum_id: int | None) -> None:
    """Hold the code of a response, and what is known of it, against the link it came by.

    Raises
    ------
    InputError
        If the link asks for a code (`invited`) and there is none, or one of no use; if it does not, and there is one.
    """
    if not invited:
        if code is not None:
            raise refuse(410, "invitation", N_("must be left out; this link takes no codes"))
        return
    if code is None:
        raise refuse(422, "invitation", N_("is required"))
    # The same words for every other link: whoever holds a code learns nothing about where it belongs.
    if found is None or found.stratum_id != stratum_id:
        raise refuse(422, "invitation", N_("must be one that was issued for this link; it is not"))
    if found.spent:
        raise refuse(409, "invitation", N_("must be new; this one was used already"))


def spend(connection: sa.Connection, codes: Iterable[tuple[int, str]]) -> None:
    """Mark codes as used, each with the id of its survey."""
    for survey_id, sent in group_by_survey(codes):
        hashes = give_several(connection.dialect.name, sorted(map(code_hash, sent)))
        _spending(survey_id, connection.dialect.name).run(connection, {"hashes": hashes})


def write_spending(survey_id: int, dialect: str) -> sa.Update:
    """A statement, or a part of one, that marks those codes as used whose `hashes` it is given."""
    codes = invitations_of(survey_id)
    wanted = is_one_of(dialect, codes.c.code_hash, "hashes", HASH_LENGTH)
    return sa.update(codes).where(wanted).values(spent=True)


@lru_cache(maxsize=1024)
def _codes(survey_id: int, dialect: str, locks: bool) -> Prepared:
    codes = invitations_of(survey_id)
    query = (
        sa.select(codes.c.code_hash, codes.c.spent, InvitationBatch.stratum_id)
        .join(InvitationBatch, codes.c.batch_id == InvitationBatch.id)
        .where(is_one_of(dialect, codes.c.code_hash, "hashes", HASH_LENGTH))
    )
    if locks and dialect == "postgresql":
        # Of two responses with one code the second waits until it is known what became of the first.
        query = query.order_by(codes.c.code_hash).with_for_update(of=codes, key_share=True)
    # A row for all that are alike: drivers take longer over many rows than over long ones, and for each of them that of
    # SQLite lets go of the interpreter, and waits until the thread that reads requests does.
    rows = query.cte("found").c
    none: sa.ColumnElement[Any] = sa.literal_column("''" if dialect == "sqlite" else "''::bytea")
    together: sa.ColumnElement[Any] = (
        sa.func.group_concat(sa.func.hex(rows.code_hash), none)
        if dialect == "sqlite"
        else sa.func.string_agg(rows.code_hash, none, type_=sa.LargeBinary)
    )
    alike = sa.select(together, rows.spent, rows.stratum_id).group_by(rows.spent, rows.stratum_id)
    return prepare_several(dialect, alike, "hashes")


@lru_cache(maxsize=1024)
def _spending(survey_id: int, dialect: str) -> Prepared:
    return prepare_several(dialect, write_spending(survey_id, dialect), "hashes")
