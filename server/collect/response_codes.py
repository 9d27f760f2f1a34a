"""Codes of invitations, which let one response in each: looked up, checked and marked as used. Functions never commit.

Only the hash of a code is kept, and whether it was used. A code has 80 random bits, so that its hash
cannot be turned back by trying.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Set
from functools import lru_cache, partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from server.inputs import CODE_LENGTH, N_, refuse
from server.inputs import normalise_code as normalise_code
from server.store.models import InvitationBatch
from server.store.own_tables import group_by_survey, invitations_of
from server.store.prepared_statements import Prepared, give_several, is_one_of, prepare_several

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
    return _find(connection, codes, partial(_looking, locks=locks))


def claim(
    connection: sa.Connection, codes: Iterable[tuple[int, str | None]]
) -> dict[tuple[int, str | None], Code]:
    """As `look_up`, of codes that come with responses; `give_back_unused` has to follow, in the same transaction.

    Those that are good are marked as used at once, and once more where their response is not stored, which is seldom:
    to look first and to mark later is more work for either database.
    """
    sent = set(codes)
    claimed = _find(connection, sent, _claiming)
    others = look_up(connection, sent - claimed.keys(), locks=False)
    # One that was issued in between is good, and not claimed: it is not known yet.
    claimed.update((each, code) for each, code in others.items() if code.spent)
    return claimed


def give_back_unused(
    connection: sa.Connection,
    claimed: Mapping[tuple[int, str | None], Code],
    used: Set[tuple[int, str | None]],
) -> None:
    """Leave of all codes that `claim` found those alone marked as used that came with a response that was stored."""
    _mark(connection, (sent for sent in claimed.keys() - used if not claimed[sent].spent), spent=False)


def _find(
    connection: sa.Connection,
    codes: Iterable[tuple[int, str | None]],
    prepare: Callable[[int, str], Prepared],
) -> dict[tuple[int, str | None], Code]:
    """What a statement says of codes."""
    found: dict[tuple[int, str | None], Code] = {}
    dialect = connection.dialect.name
    for survey_id, sent in group_by_survey((survey, code) for survey, code in codes if code is not None):
        asked = {code_hash(code): code for code in sent}
        # In an order of their own, which tells nothing of whose they are.
        values = {"hashes": give_several(dialect, sorted(asked))}
        for together, spent, stratum in prepare(survey_id, dialect).fetch(connection, values):
            hashes = bytes.fromhex(together) if isinstance(together, str) else together
            code = Code(stratum, bool(spent))
            for start in range(0, len(hashes), HASH_LENGTH):
                found[survey_id, asked[hashes[start : start + HASH_LENGTH]]] = code
    return found


def check(known_code: Code | None, code: str | None, invited: bool, stratum_id: int | None) -> None:
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
    if known_code is None or known_code.stratum_id != stratum_id:
        raise refuse(422, "invitation", N_("must be one that was issued for this link; it is not"))
    if known_code.spent:
        raise refuse(409, "invitation", N_("must be new; this one was used already"))


def spend(connection: sa.Connection, codes: Iterable[tuple[int, str | None]]) -> None:
    """Mark codes as used, each with the id of its survey."""
    _mark(connection, codes, spent=True)


def _mark(connection: sa.Connection, codes: Iterable[tuple[int, str | None]], *, spent: bool) -> None:
    dialect = connection.dialect.name
    for survey_id, sent in group_by_survey((survey, code) for survey, code in codes if code is not None):
        hashes = give_several(dialect, sorted(map(code_hash, sent)))
        _marking(survey_id, dialect, spent).run(connection, {"hashes": hashes})


@lru_cache(maxsize=1024)
def _looking(survey_id: int, dialect: str, locks: bool) -> Prepared:
    codes = invitations_of(survey_id)
    query = (
        sa.select(codes.c.code_hash, codes.c.spent, InvitationBatch.stratum_id)
        .join(InvitationBatch, codes.c.batch_id == InvitationBatch.id)
        .where(_is_sent(codes, dialect))
    )
    if locks and dialect == "postgresql":
        # Of two purchases with one code the second waits until it is known what became of the first.
        query = query.order_by(codes.c.code_hash).with_for_update(of=codes, key_share=True)
    return _prepare_together(dialect, query.cte("found"))


@lru_cache(maxsize=1024)
def _claiming(survey_id: int, dialect: str) -> Prepared:
    codes = invitations_of(survey_id)
    # Of two responses with one code the second waits until it is known what became of the first.
    marking = _write_marking(survey_id, dialect, spent=True).where(~codes.c.spent)
    stratum = sa.select(InvitationBatch.stratum_id).where(InvitationBatch.id == codes.c.batch_id)
    good = codes.c.code_hash, sa.false().label("spent"), stratum.scalar_subquery().label("stratum_id")
    claiming = marking.returning(*good)
    if dialect == "sqlite":  # which gives a row of each, and nothing that is made of all
        return prepare_several(dialect, claiming, "hashes")
    return _prepare_together(dialect, claiming.cte("found"))


def _prepare_together(dialect: str, matches: sa.CTE) -> Prepared:
    """A row for all that are alike.

    Drivers take longer over many rows than over long ones, and for each of them that of SQLite lets go of the
    interpreter, and waits until the thread that reads requests does.
    """
    none: sa.ColumnElement[Any] = sa.literal_column("''" if dialect == "sqlite" else "''::bytea")
    together: sa.ColumnElement[Any] = (
        sa.func.group_concat(sa.func.hex(matches.c.code_hash), none)
        if dialect == "sqlite"
        else sa.func.string_agg(matches.c.code_hash, none, type_=sa.LargeBinary)
    )
    alike = sa.select(together, matches.c.spent, matches.c.stratum_id).group_by(
        matches.c.spent, matches.c.stratum_id
    )
    return prepare_several(dialect, alike, "hashes")


@lru_cache(maxsize=1024)
def _marking(survey_id: int, dialect: str, spent: bool) -> Prepared:
    return prepare_several(dialect, _write_marking(survey_id, dialect, spent), "hashes")


def _write_marking(survey_id: int, dialect: str, spent: bool) -> sa.Update:
    codes = invitations_of(survey_id)
    return sa.update(codes).where(_is_sent(codes, dialect)).values(spent=spent)


def _is_sent(codes: sa.Table, dialect: str) -> sa.ColumnElement[bool]:
    return is_one_of(dialect, codes.c.code_hash, "hashes", HASH_LENGTH)
