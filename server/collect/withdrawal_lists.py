"""A list outside the database of what was taken back, so that an older backup does not bring it back.

It holds what the tables of withdrawals hold of surveys that are open: hashes of receipts, sorted, under a hash of the
survey's name. Each is on the disk before the transaction that deletes the response is committed, and so before anybody
is told of it; it may also hold one whose transaction failed, which somebody wanted all the same. What a database knows
and its list lacks, as after an upgrade or a restoration, is added when the database is opened to be served. A survey's
part goes when the survey is tidied after closing, and before it is deleted; that of a survey which the database does
not know stays, as a backup may know it.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from server.inputs import N_, refuse
from server.store.engines import open_session
from server.store.models import Server, State, Survey
from server.store.outside_files import find_outside_file, hash_name
from server.store.own_tables import withdrawals_of
from server.store.private_files import flush_folder, lock_beside, replace_file

Withdrawals = Mapping[str, frozenset[bytes]]
"""Of surveys, by the hashes of their names, the hashes of the receipts of what was taken back."""

_ENDING = ".withdrawn"
_FORMAT = 1
_TOGETHER = 100
"""Surveys whose tables one statement reads."""


class DamagedListError(ValueError):
    """A file that is no list of withdrawals, or not all of one; says so in one sentence."""


def keep_withdrawals(connection: sa.Connection, survey_id: int) -> None:
    """Have in the list what was taken back of a survey, before the caller, who holds the survey, commits it.

    Raises
    ------
    OSError
        If the file cannot be written: then nothing may be committed.
    """
    slug = connection.scalars(sa.select(Survey.slug).where(Survey.id == survey_id)).one()
    here = {hash_name(slug): _read_tables(connection, [survey_id])[survey_id]}
    _change(_find_list(connection), lambda: connection, lambda _, known: _unite(known, here))


def forget_withdrawals(connection: sa.Connection, slug: str) -> None:
    """Take a survey out of the list, before the caller, who has deleted it, commits that.

    Raises
    ------
    InputError
        503 if the file cannot be written.
    """
    path, name = _find_list(connection), hash_name(slug)
    if not path.exists():
        return
    try:
        _change(path, lambda: connection, lambda _, known: {k: v for k, v in known.items() if k != name})
    except OSError as error:
        template = N_("must be a file that can be written; %(value)s is not: %(reason)s")
        raise refuse(503, "withdrawals", template, value=str(path), reason=error.strerror or "") from error


def bring_up_to_date(engine: sa.Engine) -> Withdrawals:
    """Add to the list what the database knows of open surveys, and take out those that it knows to be closed.

    What it names of others, and the database does not know, as one that was put in its place from a copy: of whoever
    is taking something back at this moment, too.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with open_session(engine, writes=False) as session:
        path = _find_list(session.connection())
        if not path.exists() and not _read_open(session.connection()):
            return {}
    with open_session(engine, writes=False) as fresh:
        after = _change(path, fresh.connection, _reconcile)
        here = _read_open(fresh.connection())
    missing = {name: ids - here.get(name, frozenset()) for name, ids in after.items()}
    return {name: ids for name, ids in missing.items() if ids}


def read_lists(places: Iterable[Path]) -> Withdrawals:
    """What files say together; of a folder, all lists in it.

    Raises
    ------
    DamagedListError
        If one of them is not whole.
    OSError
        If one cannot be read.
    """
    together: Withdrawals = {}
    for place in places:
        for path in sorted(place.glob(f"*{_ENDING}")) if place.is_dir() else [place]:
            together = _unite(together, _read_list(path))
    return together


def _reconcile(connection: sa.Connection, known: Withdrawals) -> Withdrawals:
    states = connection.execute(sa.select(Survey.slug, Survey.state)).all()
    closed = {hash_name(slug) for slug, state in states if state == State.CLOSED}
    there = _unite(known, _read_open(connection))
    return {name: ids for name, ids in there.items() if name not in closed}


def _read_open(connection: sa.Connection) -> Withdrawals:
    query = sa.select(Survey.id, Survey.slug).where(Survey.state == State.OPEN)
    names = {number: hash_name(slug) for number, slug in connection.execute(query)}
    found = _read_tables(connection, list(names))
    return {names[number]: ids for number, ids in found.items() if ids}


def _read_tables(connection: sa.Connection, survey_ids: list[int]) -> dict[int, frozenset[bytes]]:
    found: dict[int, set[bytes]] = {survey_id: set() for survey_id in survey_ids}
    for start in range(0, len(survey_ids), _TOGETHER):
        parts = [
            sa.select(sa.literal(survey_id), withdrawals_of(survey_id).c.id)
            for survey_id in survey_ids[start : start + _TOGETHER]
        ]
        for survey_id, response_id in connection.execute(sa.union_all(*parts)):
            found[survey_id].add(bytes(response_id))
    return {survey_id: frozenset(ids) for survey_id, ids in found.items()}


def _unite(some: Withdrawals, others: Withdrawals) -> Withdrawals:
    names = some.keys() | others.keys()
    return {name: some.get(name, frozenset()) | others.get(name, frozenset()) for name in names}


def _change(
    path: Path,
    connect: Callable[[], sa.Connection],
    change: Callable[[sa.Connection, Withdrawals], Withdrawals],
) -> Withdrawals:
    """Let nobody else write meanwhile; once this returns, what was changed, and is returned, is on the disk.

    The database is looked at under the lock, so that a survey which is closed by then does not come back.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_beside(path):
        connection = connect()
        try:
            before = _read_list(path) if path.exists() else {}
            damaged = False
        except DamagedListError as error:
            # The tables hold all that this database was told.
            logging.getLogger(__name__).warning("%s; it is made anew from the database", error)
            before, damaged = _read_open(connection), True
        after = {name: ids for name, ids in change(connection, before).items() if ids}
        if after:
            if damaged or after != before:
                _write_list(path, after)
        elif path.exists():
            path.unlink()
            flush_folder(path.parent)
        return after


def _write_list(path: Path, withdrawals: Withdrawals) -> None:
    surveys = {name: [each.hex() for each in sorted(ids)] for name, ids in sorted(withdrawals.items())}
    document = {"format": _FORMAT, "surveys": surveys, "sha256": _digest(surveys)}
    replace_file(path, json.dumps(document, indent=0).encode())
    # Copies of files keep this time: it says the day, as rows of responses do, and not the moment.
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    os.utime(path, (day, day))


def _read_list(path: Path) -> Withdrawals:
    try:
        document = json.loads(path.read_bytes())
        surveys = document["surveys"]
        if document["format"] == _FORMAT and document["sha256"] == _digest(surveys):
            return {name: frozenset(map(bytes.fromhex, ids)) for name, ids in surveys.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise DamagedListError(
        f"{path} must be a whole list of withdrawals; it is cut, changed or something else"
    )


def _digest(surveys: Mapping[str, list[str]]) -> str:
    return hashlib.sha256(json.dumps(surveys, sort_keys=True).encode()).hexdigest()


def _find_list(connection: sa.Connection) -> Path:
    server = connection.scalars(sa.select(Server.id)).one()
    return find_outside_file(connection.engine.url, server, _ENDING)
