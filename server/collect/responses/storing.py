"""Responses that are taken become rows; with them their tickets are spent, and they are entered into the books."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from server.collect import batches, tickets
from server.collect.batches import CellKey, Group
from server.collect.responses.open_links import ResponseLink
from server.collect.submissions import ID_LENGTH, Submission
from server.store.models import Mode
from server.store.own_tables import group_by_survey, responses_of, withdrawals_of
from server.store.prepared_statements import Prepared, give_several, is_one_of, pick_piece, prepare_several

StoredKey = tuple[int, bytes]
"""The survey's id and the response's: ids are unique within a survey."""

_Taken = tuple[ResponseLink, Submission]


class _Writing(NamedTuple):
    """What all that is written together has in common: the moment, and how it was collected."""

    now: datetime
    mode: Mode


class _StoredRows(NamedTuple):
    """What was written of responses to a survey; where they became a batch at once, how many small ones there were."""

    taken: Sequence[_Taken]
    small: int | None = None


_InsertT = TypeVar("_InsertT", bound=sa.Insert)


def store(
    connection: sa.Connection,
    taken: Iterable[tuple[StoredKey, ResponseLink, Submission]],
    now: datetime,
    mode: Mode = Mode.BROWSER,
) -> set[StoredKey]:
    """Write responses in the order of their ids, survey by survey, and the books; the keys of those that were written.

    The others were there already, or were taken back. Their tickets stay as they are.
    """
    store_survey = _store_on_sqlite if connection.dialect.name == "sqlite" else _store_on_postgresql
    arrived = [(key[0], (link, submission)) for key, link, submission in sorted(taken, key=_key)]
    writing = _Writing(now, mode)
    written = {
        survey_id: store_survey(connection, survey_id, together, writing)
        for survey_id, together in group_by_survey(arrived)
    }
    for survey_id, of_survey in written.items():
        groups = _group_by_cell(of_survey.taken, writing)
        if of_survey.small is None:
            batches.add(connection, survey_id, groups)
        else:
            ((key, group),) = groups.items()
            batches.merge_small(connection, survey_id, key, group, of_survey.small)
    return {(survey_id, each[1].id) for survey_id, of_survey in written.items() for each in of_survey.taken}


def _group_by_cell(taken: Sequence[_Taken], writing: _Writing) -> dict[CellKey, Group]:
    """Responses to a survey as the books count them."""
    links: dict[int | None, tuple[ResponseLink, list[bytes]]] = {}
    for link, submission in taken:  # those of one survey, and to its one version
        links.setdefault(link.stratum_id, (link, []))[1].append(submission.reports)
    return {
        CellKey(link.version.id, link.stratum_id, writing.mode): Group(
            link.survey.minimum, strings, {writing.now.date(): len(strings)}
        )
        for link, strings in links.values()
    }


def _key(taken: tuple[StoredKey, ResponseLink, Submission]) -> StoredKey:
    return taken[0]


def find_stored(connection: sa.Connection, keys: Iterable[StoredKey]) -> dict[StoredKey, bool]:
    """Those of these keys that have arrived: whether they are stored, and were not taken back."""
    found: dict[StoredKey, bool] = {}
    dialect = connection.dialect.name
    for survey, ids in group_by_survey(keys):
        values = {"ids": give_several(dialect, ids)}
        for response_id, stored in _finding(survey, dialect).fetch(connection, values):
            found[survey, bytes(response_id)] = bool(stored)
    return found


@lru_cache(maxsize=1024)
def _finding(survey_id: int, dialect: str) -> Prepared:
    row, withdrawn = responses_of(survey_id).c.id, withdrawals_of(survey_id).c.id
    stored = sa.select(row, sa.true()).where(is_one_of(dialect, row, "ids", ID_LENGTH))
    gone = sa.select(withdrawn, sa.false()).where(is_one_of(dialect, withdrawn, "ids", ID_LENGTH))
    return prepare_several(dialect, stored.union_all(gone), "ids")


def _store_on_sqlite(
    connection: sa.Connection, survey_id: int, taken: Sequence[_Taken], writing: _Writing
) -> _StoredRows:
    """On SQLite, in one statement where all are new, as most often.

    With each statement this thread lets go of the interpreter, and waits until the one that reads requests does.
    """
    number = _insert_new(connection, survey_id, taken, writing)
    if number != len(taken):
        there = find_stored(connection, [(survey_id, submission.id) for _link, submission in taken])
        if number is None:
            taken = [each for each in taken if (survey_id, each[1].id) not in there]
            if taken:
                _insert_on_sqlite(connection, survey_id, taken, writing)
        else:  # of the others there is only that they were taken back
            taken = [each for each in taken if there.get((survey_id, each[1].id))]
    stored = [submission for _link, submission in taken]
    if stored:
        tickets.spend(connection, survey_id, [submission.ticket for submission in stored])
        batches.count(connection, {survey_id: len(stored)})
    return _StoredRows(taken)


def _insert_new(
    connection: sa.Connection, survey_id: int, taken: Sequence[_Taken], writing: _Writing
) -> int | None:
    """Write all but those that were taken back; how many that were. None, and nothing is written, if one is there."""
    try:
        return _insert_on_sqlite(connection, survey_id, taken, writing)
    except sa.exc.IntegrityError:
        return None


def _insert_on_sqlite(
    connection: sa.Connection, survey_id: int, taken: Sequence[_Taken], writing: _Writing
) -> int:
    strata = json.dumps([link.stratum_id for link, _submission in taken])
    return _inserting(survey_id).count(connection, {**_give_rows(taken, writing), "strata": strata})


def _give_rows(taken: Sequence[_Taken], writing: _Writing) -> dict[str, Any]:
    """Responses to one survey, which takes those to one version at a time: a value for each column but `strata`."""
    return {
        "ids": b"".join([submission.id for _link, submission in taken]),
        "version": taken[0][0].version.id,
        "reports": b"".join([submission.reports for _link, submission in taken]),
        "length": len(taken[0][1].reports),
        "day": writing.now.date(),
        "mode": writing.mode,
    }


def _store_on_postgresql(
    connection: sa.Connection, survey_id: int, taken: Sequence[_Taken], writing: _Writing
) -> _StoredRows:
    strata = [link.stratum_id for link, _submission in taken]
    values = {
        **_give_rows(taken, writing),
        "strata": f"{{{','.join('NULL' if stratum is None else str(stratum) for stratum in strata)}}}",
        "writer": batches.find_writer("postgresql"),
    }
    groups = _group_by_cell(taken, writing)
    ((key, group), *others) = groups.items()
    sealing = not others and batches.is_batch(group)
    if sealing:
        values |= {**batches.give_sealing(key, group), "number": len(taken)}
    ((together, small),) = _storing(survey_id, sealing).fetch(connection, values)
    ids = bytes(together or b"")
    there = {ids[start : start + ID_LENGTH] for start in range(0, len(ids), ID_LENGTH)}
    written = [each for each in taken if each[1].id in there]
    tickets.spend(connection, survey_id, [submission.ticket for _link, submission in written])
    return _StoredRows(written, small)


@lru_cache(maxsize=1024)
def _inserting(survey_id: int) -> Prepared:
    places = sa.column("key", sa.Integer), sa.column("value", sa.Integer)
    given = sa.func.json_each(sa.bindparam("strata", type_=sa.Text)).table_valued(*places, name="given")
    return Prepared(_insert_rows(sa.insert(responses_of(survey_id)), survey_id, given.c.key, given.c.value))


def _insert_rows(
    insert: _InsertT, survey_id: int, place: sa.ColumnElement[int], stratum: sa.ColumnElement[int]
) -> _InsertT:
    """Insert what `_give_rows` and `strata` give, but for what was taken back; `place` counts from 0."""
    rows = responses_of(survey_id).c
    response_id, withdrawn = pick_piece("ids", ID_LENGTH, place), withdrawals_of(survey_id).c
    values = sa.select(
        response_id,
        sa.bindparam("version", type_=sa.Integer),
        pick_piece("reports", sa.bindparam("length", type_=sa.Integer), place),
        sa.bindparam("day", type_=sa.Date),
        stratum,
        sa.bindparam("mode", type_=sa.SmallInteger),
    ).where(~sa.exists().where(withdrawn.id == response_id))
    columns = [rows.id, rows.version_id, rows.reports, rows.day, rows.stratum_id, rows.mode]
    return insert.from_select(columns, values)


@lru_cache(maxsize=4096)
def _storing(survey_id: int, sealing: bool) -> Prepared:
    # In one statement: the rows of several would say by its number in which order they were written. A batch is made
    # in it only where all responses were written.
    rows = responses_of(survey_id)
    strata = sa.cast(sa.bindparam("strata", type_=sa.Text), postgresql.ARRAY(sa.Integer))
    given = sa.func.unnest(strata).table_valued("stratum_id", with_ordinality="number", name="given")
    given = given.render_derived()
    insert = _insert_rows(postgresql.insert(rows), survey_id, given.c.number - 1, given.c.stratum_id)
    written = (
        insert.on_conflict_do_nothing(index_elements=[rows.c.id]).returning(rows.c.id).cte("written_rows")
    )
    parts = [batches.write_counting(survey_id, written).cte("counted")]
    small: sa.ColumnElement[Any] = sa.null()
    if sealing:
        number = sa.select(sa.func.count()).select_from(written).scalar_subquery()
        all_written = number == sa.bindparam("number", type_=sa.Integer)
        sealed, small = batches.write_sealing(survey_id, all_written)
        parts.append(sealed)
    none = sa.literal_column("''::bytea", sa.LargeBinary)
    together = sa.func.string_agg(written.c.id, none, type_=sa.LargeBinary)
    return Prepared(sa.select(together, small).add_cte(*parts))
