"""Tables of few rows on SQLite: filled anew where they are, without another one."""

import secrets

import sqlalchemy as sa

from server.collect.batches import order_batches
from server.collect.tidying.pieces import FIRST, SMALL
from server.store import own_table_making, own_tables

IN_PLACE = FIRST
"""Rows up to which a table is filled where it is while others wait, as its first piece would be."""


def fill_in_place(connection: sa.Connection, kind: own_tables.TableKind, survey_id: int) -> bool:
    """Empty a table of few rows and fill it in the order of its keys, each row after the last; False of a larger one.

    No table is made for that: beside many surveys, whatever changes the schema takes long.
    """
    table = own_tables.table(kind, survey_id)
    if not has_at_most(connection, table, kind.large, IN_PLACE, SMALL):
        return False
    if kind is own_tables.BATCHES:
        rows = list(order_batches(connection, survey_id))
    else:
        key = next(iter(table.c))
        rows = [dict(row) for row in connection.execute(sa.select(table).order_by(key)).mappings()]
    if kind.new_keys:
        # Under random ids, which are in no order that the old ones had.
        new_ids = sorted(secrets.token_bytes(len(row["id"])) for row in rows)
        secrets.SystemRandom().shuffle(rows)
        rows = [row | {"id": new_id} for new_id, row in zip(new_ids, rows, strict=True)]
    connection.exec_driver_sql(f"DELETE FROM {table.name}")  # noqa: S608
    if rows:
        guarded = bool(kind.strangers)  # a cell without responses may be of a link that is gone
        if guarded:
            own_table_making.take_guards_off(connection, kind, survey_id)
        connection.execute(sa.insert(table), rows)
        if guarded:
            own_table_making.guard_tables(connection, kind, survey_id)
    return True


def has_at_most(connection: sa.Connection, table: sa.Table, large: str, most: int, most_bytes: int) -> bool:
    """Whether a table has so many rows, and so many bytes of what is counted, or fewer."""
    size = sa.func.length(table.c[large]) if large else sa.literal(0)
    some = sa.select(size.label("size")).select_from(table).limit(most + 1).subquery()
    rows, length = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(some.c.size)).select_from(some)
    ).one()
    return rows <= most and (length or 0) <= most_bytes
