"""After a study, nothing that is stored tells in which order responses came, or which code let one in.

No row does; who holds the files can look below the rows. What there is to see while a study runs, and
what `tidy` does about it, survey by survey, while all others go on:

*SQLite* keeps a survey's rows in the order of random keys, without row numbers. Where a row lies within
its page depends on when it came, and the write-ahead log repeats which pages were written together:
those of a response and of the invitation that it used. A closed survey's tables are filled anew in
the order of their keys, piece by piece, and take the place of the old ones, whose pages are
overwritten with zeros; then the log is written back and cut to nothing.

*PostgreSQL* appends rows as they come (`ctid`), and each keeps the number of its transaction (`xmin`),
which a response has in common with the invitation that it used. A closed survey's tables are copied
in the order of their keys into new files, all rows with one number, and take the place of the old
ones, whose files are removed.

*The books* (`server.batches`) are shared by all surveys. What they were while a survey was open shows
which responses waited or were sealed together: those of a closed survey are brought into one order, piece
by piece, and their tables are written anew, one by one.

*A deleted survey's* own tables are dropped, and everything that all surveys share is written anew in the
same way, without what was deleted. PostgreSQL's statistics, which hold the commonest values of a
column, are kept of no text and no bytes.

Nobody else waits for more than a piece, or for `BRIEFLY`: whatever needs a table for itself asks for so
long, lets others go first, and asks again. Out of reach are backups and copies made before,
PostgreSQL's write-ahead log until the server recycles it, and what a disk keeps of files that are gone.
"""

import sqlite3
from functools import partial

import sqlalchemy as sa

from server import batches
from server.db import open_session, snapshot
from server.models import Base
from server.tidying import postgresql, sqlite
from server.tidying.marks import (
    Due,
    TidyState,
    close_over,
    due,
    finish,
    is_due,
    note_reason,
    note_rewritten,
    remains,
    state_of,
    untidied,
)
from server.tidying.waiting import BRIEFLY, LONG_PATIENCE, OvertakenError, Patience, UnfinishedError

BOOKS = ("cells", "batches", "response_counters")
"""Tables of the books, which tell more of a survey than they hold in the end."""

_OF_PEOPLE = {"researchers", "recovery_codes", "sign_in_links", "sign_ins"}
SHARED = tuple(name for name in Base.metadata.tables if name not in _OF_PEOPLE)
"""Tables that hold something of surveys, of all of them together."""

__all__ = [
    "BRIEFLY",
    "LONG_PATIENCE",
    "OvertakenError",
    "Patience",
    "TidyState",
    "UnfinishedError",
    "close_over",
    "is_due",
    "remains",
    "state_of",
    "tidy",
    "untidied",
]


def tidy(engine: sa.Engine, patience: Patience) -> None:
    """Tidy every survey that was closed or deleted since the last time.

    Parameters
    ----------
    engine : Engine
        Of the database; the caller holds no transaction on it.
    patience : Patience
        How long to try, and whether others may be held up meanwhile.

    Raises
    ------
    UnfinishedError
        If somebody was in the way all the time, another process is at it, or the database failed. What is
        finished stays so; the rest is as it was and stays due.
    """
    tool = sqlite if engine.dialect.name == "sqlite" else postgresql
    unfinished: list[UnfinishedError] = []
    try:
        with tool.alone(engine, patience):
            with open_session(engine, writes=False) as session:
                works = due(session)
            for work in works:
                try:
                    _tidy_one(engine, work, patience)
                except UnfinishedError as error:
                    unfinished.append(error)
                    note_reason(engine, work, str(error))
    except sqlite3.Error as error:
        raise UnfinishedError(str(error)) from error
    except sa.exc.DBAPIError as error:
        raise UnfinishedError(str(error.orig)) from error
    if unfinished:
        raise unfinished[0]


def _tidy_one(engine: sa.Engine, work: Due, patience: Patience) -> None:
    tool = sqlite if engine.dialect.name == "sqlite" else postgresql
    try:
        if not work.rewritten:
            if work.kept:
                _order_books(engine, work, patience)
                tool.rewrite(engine, work, patience)
                tool.rewrite_shared(engine, patience, BOOKS)
            else:
                tool.remove(engine, work, patience)
                tool.rewrite_shared(engine, patience, SHARED)
            if work.survey_id is None:
                tool.forget_statistics(engine, patience)
            note_rewritten(engine, work)
        tool.forget_log(engine, patience)
        finish(engine, work)
    except sqlite3.Error as error:
        raise UnfinishedError(str(error)) from error
    except batches.ChangedError as error:
        raise OvertakenError("what is counted of the survey was made anew meanwhile") from error
    except sa.exc.DBAPIError as error:
        raise UnfinishedError(str(error.orig)) from error


def _order_books(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Bring what is counted of a closed survey into one order, piece by piece."""
    assert work.survey_id is not None
    tool = sqlite if engine.dialect.name == "sqlite" else postgresql
    with snapshot(engine) as reading:
        turn = partial(tool.turn, engine, patience)
        batches.put_in_order(reading.connection(), turn, work.survey_id)
