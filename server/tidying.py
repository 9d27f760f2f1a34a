"""After a study, nothing that is stored tells in which order responses came, or which code let one in.

No row does; who holds the files can look below the rows. What there is to see while a study runs, and
what `tidy` does about it:

*SQLite* keeps both tables in the order of random keys, without row numbers. Where a row lies within
its page depends on when it came, and the write-ahead log repeats which pages were written together:
those of a response and of the invitation that it used. `VACUUM` builds the file anew, in the order of
the keys, so that it depends on the content alone; the log is then written back and cut to nothing.
What is deleted is overwritten (`secure_delete`, in `server.db`).

*PostgreSQL* appends rows as they come (`ctid`), and each keeps the number of its transaction (`xmin`),
which a response has in common with the invitation that it used. Both tables are emptied and filled
again in the order of their keys, which puts them into new files, all rows with one number. What was
deleted from the other tables stays in their pages until these are written anew, and in the planner's
statistics, which hold the commonest values: both are.

Out of reach are backups and copies made before, PostgreSQL's write-ahead log until the server
recycles it, and what a disk keeps of files that are gone.
"""

import logging
import sqlite3
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import surveys
from server.db import PATIENCE as LOCK_PATIENCE
from server.db import open_session
from server.models import Base, Invitation, Response, State, Survey, Untidied

PATIENCE = 2.0
"""Seconds that a page waits for others who read or write, before it leaves the tidying to the next one."""

LONG_PATIENCE = 30.0
"""Seconds that a command waits."""


class UnfinishedError(RuntimeError):
    """The files could not be tidied; says why. Nothing is lost, and the next attempt starts again."""


def tidy(engine: sa.Engine, patience: float = LONG_PATIENCE) -> None:
    """Rewrite responses and invitations so that their files depend on their content alone.

    Parameters
    ----------
    engine : Engine
        Of the database; the caller holds no transaction on it.
    patience : float
        Seconds to wait, at each step, for others who read or write.

    Raises
    ------
    UnfinishedError
        If somebody kept reading or writing for longer, or the database failed.
    """
    try:
        with open_session(engine, writes=False) as session:
            marks = session.scalars(sa.select(Untidied.id)).all()
        if engine.dialect.name == "sqlite":
            _tidy_sqlite(engine, patience)
        else:
            _tidy_postgresql(engine, patience)
            _forget_postgresql(engine, patience)
        with open_session(engine, writes=True) as session, session.begin():
            # Not those that were set meanwhile.
            session.execute(sa.delete(Untidied).where(Untidied.id.in_(marks)))
    except sqlite3.Error as error:
        raise UnfinishedError(str(error)) from error
    except sa.exc.DBAPIError as error:
        raise UnfinishedError(str(error.orig)) from error


def attempt(engine: sa.Engine) -> bool:
    """Tidy for a page that somebody waits for; whether it was finished. If not, it stays due."""
    try:
        tidy(engine, PATIENCE)
    except UnfinishedError as error:
        logging.getLogger(__name__).warning("tidying was not finished and stays due: %s", error)
        return False
    return True


def is_due(session: Session, now: datetime) -> bool:
    """Whether something was closed or deleted since the last tidying, or the time of an open survey is over."""
    query = sa.select(sa.exists().where(Untidied.id.is_not(None)) | sa.exists().where(_over(now)))
    return bool(session.scalar(query))


def close_over(session: Session, now: datetime) -> None:
    """Close the surveys whose time is over; tidying is due once this is committed."""
    for survey in session.scalars(sa.select(Survey).where(_over(now)).with_for_update()):
        surveys.close(survey)


def look(engine: sa.Engine, session: Session) -> None:
    """What is due at a look by somebody: close what is over, and tidy.

    `session` is that of the look, which changes nothing. It reads again afterwards: an open
    reading transaction would itself be in the way.
    """
    if is_due(session, surveys.now()):
        session.rollback()
        with open_session(engine, writes=True) as own, own.begin():
            close_over(own, surveys.now())
        attempt(engine)


def _over(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(Survey.state == State.OPEN, Survey.closes_at <= now)


def _tidy_sqlite(engine: sa.Engine, patience: float) -> None:
    # Below SQLAlchemy: VACUUM refuses to run in a transaction.
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
        try:
            # The log first, so that a reader who stays is found before all the work is done.
            for step in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                cursor.execute(step)
                (busy, *_pages) = cursor.fetchone() or (0,)
                if busy:
                    raise UnfinishedError("somebody kept reading or writing")
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {round(1000 * LOCK_PATIENCE)}")
            cursor.close()
    finally:
        connection.close()


def _tidy_postgresql(engine: sa.Engine, patience: float) -> None:
    for name in (Response.__tablename__, Invitation.__tablename__):
        table = Base.metadata.tables[name]
        kept = sa.table("kept", *(sa.column(column.name, column.type) for column in table.c))
        key = kept.c[next(iter(table.primary_key)).name]
        with engine.begin() as connection:
            connection.execute(sa.func.set_config("lock_timeout", f"{round(patience * 1000)}", True).select())
            connection.execute(sa.text(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE"))
            connection.execute(
                sa.text(f"CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM {name}")  # noqa: S608
            )
            connection.execute(sa.text(f"TRUNCATE {name}"))
            ordered = sa.select(*kept.c).order_by(key)
            connection.execute(sa.insert(table).from_select([*kept.c.keys()], ordered))


def _forget_postgresql(engine: sa.Engine, patience: float) -> None:
    """Write all other tables anew without what was deleted, and the statistics, where values stay on."""
    rewritten = {Response.__tablename__, Invitation.__tablename__}
    others = ", ".join(name for name in Base.metadata.tables if name not in rewritten)
    with engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(sa.func.set_config("lock_timeout", f"{round(patience * 1000)}", False).select())
        try:
            connection.execute(sa.text(f"VACUUM (FULL, ANALYZE) {others}"))
            connection.execute(sa.text(f"ANALYZE {', '.join(rewritten)}"))
            for table in Base.metadata.tables.values():
                if not connection.scalar(sa.select(sa.exists().select_from(table))):
                    _drop_statistics(connection, table)
            connection.execute(sa.text("VACUUM FULL pg_statistic"))
        finally:
            connection.execute(sa.text("RESET lock_timeout"))


def _drop_statistics(connection: sa.Connection, table: sa.Table) -> None:
    """ANALYZE leaves those of an empty table as they were; a column that is given a type, even its own, has none."""
    for column in table.c:
        if isinstance(column.type, sa.String | sa.LargeBinary):
            kind = column.type.compile(connection.dialect)
            connection.execute(sa.text(f"ALTER TABLE {table.name} ALTER {column.name} TYPE {kind}"))
