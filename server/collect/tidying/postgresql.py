"""Tidying on PostgreSQL: new files for one survey's rows, and for what all surveys share."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from server.collect import batches
from server.collect.tidying.due_marks import CHANGED, Due, is_unchanged
from server.collect.tidying.waiting import BRIEFLY, OvertakenError, Patience
from server.store import own_table_making, own_tables
from server.store.engines import snapshot

_ALONE = 0x6D6F6E02
"""Of the advisory locks, that of whoever tidies."""
_NEW = "_tidied"
_TYPES = ("int8", "int8", "int2", "int4", "text", "bytea", "bytea")
"""Of the columns of batches, as the server names them."""


@contextmanager
def tidy_alone(engine: sa.Engine, patience: Patience) -> Iterator[None]:
    """While no other process tidies."""
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        while not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_ALONE))):
            patience.pause("another process is tidying", OvertakenError)
        try:
            yield
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(_ALONE)))


def rewrite(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Have new tables take the place of a closed survey's."""
    assert work.survey_id is not None
    _copy(engine, work.survey_id, patience)

    def swap(connection: sa.Connection) -> None:
        assert work.survey_id is not None
        if not is_unchanged(connection, work):
            raise OvertakenError(CHANGED)
        connection.exec_driver_sql(f"DROP TABLE {', '.join(_names(work.survey_id, ''))}")
        for kind in own_tables.KINDS:
            old = own_tables.table(kind, work.survey_id)
            new = own_tables.table(kind, work.survey_id, _NEW)
            connection.exec_driver_sql(f"ALTER TABLE {new.name} RENAME TO {old.name}")
            for before, after in zip(_constraints(new), _constraints(old), strict=True):
                connection.exec_driver_sql(f"ALTER TABLE {old.name} RENAME CONSTRAINT {before} TO {after}")
            own_table_making.guard_tables(connection, kind, work.survey_id)

    _insist(engine, patience, swap)


def remove(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Drop the tables of a survey that is gone."""
    if work.survey_id is None:
        return
    names = ", ".join((*_names(work.survey_id, ""), *_names(work.survey_id, _NEW)))
    _insist(
        engine,
        patience,
        lambda connection: connection.exec_driver_sql(f"DROP TABLE IF EXISTS {names}"),
    )


def rewrite_shared(engine: sa.Engine, patience: Patience, names: Iterable[str]) -> None:
    """Write tables that all surveys share anew, one by one."""
    for name in names:
        while not _vacuum(engine, name, patience.longest):
            patience.pause(f"others kept using {name}, or it takes too long to write it anew")


def forget_statistics(engine: sa.Engine, patience: Patience) -> None:
    """Write the planner's statistics anew: before there were migrations against it, they held values."""
    rewrite_shared(engine, patience, ["pg_statistic"])


def forget_log(engine: sa.Engine, patience: Patience) -> None:
    """Nothing: the server recycles its log by itself."""


def _copy(engine: sa.Engine, survey_id: int, patience: Patience) -> None:
    """Fill new tables in the order of keys; nobody waits for it.

    Frozen rows are seen by transactions that began before, too: the tables never look empty to anybody.
    """
    with snapshot(engine) as session, engine.begin() as writing:
        reading = session.connection()
        writing.exec_driver_sql(f"DROP TABLE IF EXISTS {', '.join(_names(survey_id, _NEW))}")
        for kind in own_tables.KINDS:
            new = own_table_making.create_table(writing, kind, survey_id, _NEW)
            into = f"COPY {new.name} ({', '.join(new.c.keys())}) FROM STDIN (FORMAT binary, FREEZE)"
            with writing.connection.cursor().copy(into) as written:
                if kind is own_tables.BATCHES:
                    written.set_types(_TYPES)
                    names = new.c.keys()
                    for row in batches.order_batches(reading, survey_id):
                        patience.go_on()
                        written.write_row([row[name] for name in names])
                    continue
                for block in _read_in_order(reading, kind, survey_id):
                    patience.go_on()
                    written.write(block)


def _read_in_order(
    reading: sa.Connection, kind: own_tables.TableKind, survey_id: int
) -> Iterator[bytes | bytearray | memoryview]:
    table = own_tables.table(kind, survey_id)
    key, *others = table.c.keys()
    first = f"uuid_send(gen_random_uuid()) AS {key}" if kind.new_keys else key
    columns = ", ".join([first, *others])
    ordered = f"COPY (SELECT {columns} FROM {table.name} ORDER BY {key}) TO STDOUT (FORMAT binary)"  # noqa: S608
    with reading.connection.cursor().copy(ordered) as rows:
        yield from rows


def _names(survey_id: int, suffix: str) -> list[str]:
    return [own_tables.table(kind, survey_id, suffix).name for kind in own_tables.KINDS]


def _constraints(table: sa.Table) -> list[str]:
    return sorted(str(constraint.name) for constraint in table.constraints)


def _insist(engine: sa.Engine, patience: Patience, act: Callable[[sa.Connection], object]) -> None:
    """Do something for which tables must be had alone, in a short transaction, as soon as nobody uses them."""
    while True:
        try:
            with engine.begin() as connection:
                connection.execute(_timeout("lock_timeout", BRIEFLY, of_transaction=True))
                act(connection)
        except sa.exc.OperationalError as error:
            if not _is_busy(error):
                raise
            patience.pause("others kept using the survey's tables")
        else:
            return


def _vacuum(engine: sa.Engine, name: str, longest: float | None) -> bool:
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(_timeout("lock_timeout", BRIEFLY))
        connection.execute(_timeout("statement_timeout", longest or 0))
        try:
            connection.exec_driver_sql(f"VACUUM FULL {name}")
        except sa.exc.OperationalError as error:
            if not _is_busy(error):
                raise
            return False
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
            connection.exec_driver_sql("RESET statement_timeout")
    return True


def _timeout(name: str, seconds: float, *, of_transaction: bool = False) -> sa.Select[str]:
    return sa.func.set_config(name, f"{round(seconds * 1000)}", of_transaction).select()


def _is_busy(error: sa.exc.OperationalError) -> bool:
    """Whether somebody else was in the way: a lock was not to be had in time, or the work took too long."""
    return getattr(error.orig, "sqlstate", None) in ("55P03", "57014", "40P01")
