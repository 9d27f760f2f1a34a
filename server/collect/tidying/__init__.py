"""After a study, nothing that is stored tells in which order responses came, or which code let one in.

No row does; who holds the files can look below the rows. What there is to see while a study runs, and
what `tidy` does about it, survey by survey, while all others go on. All that respondents leave behind, and
what counts it (`collect.batches`), is in tables that a survey has of its own (`store.own_tables`), so that
neither the size of other surveys nor who answers or reads them is in the way:

*SQLite* keeps a survey's rows in the order of random keys, without row numbers. Where a row lies within
its page depends on when it came, and the write-ahead log repeats which pages were written together:
those of a response and of the invitation that it used. A closed survey's tables of few rows are emptied and filled
in the order of their keys, all in one turn. Larger ones are filled anew in that order, piece by piece, and then take
the place of the old ones, one by one (small ones are copied there, as renaming takes longer the more surveys there
are). The old pages are overwritten with zeros;
then the log is written back and cut to nothing. The log is the one thing that all surveys share: it can be cut
as soon as whoever reads has done so for less than `HELD_UP`.

*PostgreSQL* appends rows as they come (`ctid`), and each keeps the number of its transaction (`xmin`),
which a response has in common with the invitation that it used. A closed survey's tables are copied
in the order of their keys into new files, all rows with one number, and take the place of the old
ones, whose files are removed.

*The books* show, as they were while a survey was open, which responses waited or were sealed together. The
new tables of a closed survey hold the same counts in one order (`batches.order_batches`).

*The list* of what was taken back, outside the database (`collect.withdrawal_lists`), loses a closed survey's part
before that.

*A deleted survey's* own tables are dropped, and what all surveys share, which holds nothing of respondents, is
written anew, table by table, without what was deleted. PostgreSQL's statistics, which hold the commonest values of a
column, are kept of no text and no bytes.

Nobody else waits for more than a piece, or for `BRIEFLY`: whatever needs a table for itself asks for so
long, lets others go first, and asks again. Out of reach are backups and copies made before,
PostgreSQL's write-ahead log until the server recycles it, and what a disk keeps of files that are gone.
"""

import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from server.collect.tidying import postgresql, sqlite
from server.collect.tidying.due_marks import (
    Due,
    TidyState,
    close_over,
    finish,
    is_due,
    list_due,
    list_untidied,
    may_remain,
    note_reason,
    note_rewritten,
    state_of,
)
from server.collect.tidying.waiting import (
    BRIEFLY,
    LONG_PATIENCE,
    OvertakenError,
    Patience,
    UnfinishedError,
    leave_turn,
)
from server.collect.withdrawal_lists import bring_up_to_date
from server.store.engines import open_session
from server.store.failures import describe_failure
from server.store.models import Base

_OF_PEOPLE = {"researchers", "recovery_codes", "sign_in_links", "sign_ins", "failed_attempts"}
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
    "leave_turn",
    "list_untidied",
    "may_remain",
    "state_of",
    "tidy",
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
        with tool.tidy_alone(engine, patience):
            with open_session(engine, writes=False) as session:
                works = list_due(session)
            # Where nobody is in the way first; of the others each has its turn to be waited for.
            held_up = [work for work in works if not _attempt(engine, work, patience.at_once(), None)]
            _forget_log(engine, [work for work in works if work not in held_up], patience, unfinished)
            secrets.SystemRandom().shuffle(held_up)
            late = [work for work in held_up if _attempt(engine, work, patience, unfinished)]
            _forget_log(engine, late, patience, unfinished)
    except (sqlite3.Error, sa.exc.DBAPIError) as error:
        raise UnfinishedError(describe_failure(error)) from error
    if unfinished:
        raise unfinished[0]


def _attempt(
    engine: sa.Engine, work: Due, patience: Patience, unfinished: list[UnfinishedError] | None
) -> bool:
    """Whether the rows of a survey are as they are to be; if not, notes why."""
    try:
        _rewrite(engine, work, patience)
    except UnfinishedError as error:
        if unfinished is not None:
            unfinished.append(error)
        note_reason(engine, work, str(error))
        return False
    return True


def _rewrite(engine: sa.Engine, work: Due, patience: Patience) -> None:
    tool = sqlite if engine.dialect.name == "sqlite" else postgresql
    if work.rewritten:
        return
    try:
        bring_up_to_date(engine)
    except OSError as error:
        raise UnfinishedError(describe_failure(error)) from error
    with _describe_errors():
        if work.kept:
            tool.rewrite(engine, work, patience)
        else:
            tool.remove(engine, work, patience)
            tool.rewrite_shared(engine, patience, SHARED)
        if work.survey_id is None:
            tool.forget_statistics(engine, patience)
        note_rewritten(engine, work)


def _forget_log(
    engine: sa.Engine, works: Sequence[Due], patience: Patience, unfinished: list[UnfinishedError]
) -> None:
    """Once for all whose rows are done: the log is the whole database's."""
    if not works:
        return
    tool = sqlite if engine.dialect.name == "sqlite" else postgresql
    try:
        with _describe_errors():
            tool.forget_log(engine, patience)
            for work in works:
                finish(engine, work)
    except UnfinishedError as error:
        unfinished.append(error)
        for work in works:
            note_reason(engine, work, str(error))


@contextmanager
def _describe_errors() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sa.exc.DBAPIError) as error:
        raise UnfinishedError(describe_failure(error)) from error
