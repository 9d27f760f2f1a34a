"""Statements that are compiled once, and from then on given to the driver as they are.

What SQLAlchemy does for a statement each time takes longer than a small one takes the database. Storing
a group of responses takes ten of them, and how many responses a second there can be depends on that. So the driver
is asked directly, on the connection and in the transaction that SQLAlchemy holds; errors are those of SQLAlchemy.
"""

from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

_Values = Mapping[str, Any]


class Prepared:
    """A statement of SQLAlchemy's, with named parameters.

    Values are converted by their types, as always. Rows come as the driver gives them: numbers, text and
    bytes are the same on every engine, dates and truth values are not.

    Parameters
    ----------
    statement
        Made by SQLAlchemy; an insertion fills the columns that it is given values for.
    expanding : str, optional
        A parameter whose value is a list, not an empty one. Its length is rounded up by repeating the
        last value, so that a few texts serve all lengths.
    """

    def __init__(self, statement: Any, expanding: str | None = None) -> None:
        self._statement = statement
        self._expanding = expanding
        self._texts: dict[tuple[str, int], _Text] = {}

    def fetch(self, connection: sa.Connection, values: _Values) -> list[Any]:
        """Execute it, and read all rows."""
        text, given = self._prepare(connection, values)
        cursor = _execute(connection, text.sql, text.convert(given))
        rows = text.name(cursor)
        cursor.close()
        return rows

    def run(self, connection: sa.Connection, values: _Values) -> None:
        """Execute it, where it returns no rows."""
        self.count(connection, values)

    def run_each(self, connection: sa.Connection, values: Sequence[_Values]) -> None:
        """Execute it for each of several sets of values, of one shape; it returns no rows."""
        text = self._find_text(connection.dialect, 0, values[0])
        if len(values) == 1:  # drivers take longer over a list of one
            _execute(connection, text.sql, text.convert(values[0])).close()
            return
        connection.exec_driver_sql(text.sql, [text.convert(each) for each in values])

    def count(self, connection: sa.Connection, values: _Values) -> int:
        """Execute it, where it returns no rows; how many it wrote."""
        text, given = self._prepare(connection, values)
        cursor = _execute(connection, text.sql, text.convert(given))
        number: int = cursor.rowcount
        cursor.close()
        return number

    def _prepare(self, connection: sa.Connection, values: _Values) -> "tuple[_Text, _Values]":
        length = 0
        if self._expanding is not None:
            wanted = values[self._expanding]
            length = 1 << (len(wanted) - 1).bit_length()
            values = {**values, self._expanding: wanted + wanted[-1:] * (length - len(wanted))}
        return self._find_text(connection.dialect, length, values), values

    def _find_text(self, dialect: sa.Dialect, length: int, values: _Values) -> "_Text":
        key = dialect.name, length
        if key not in self._texts:
            self._texts[key] = _Text(self._statement, dialect, values)
        return self._texts[key]


def write_script(statements: Sequence[Any]) -> str:
    """On PostgreSQL: the text of statements, with their values in it."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    written = [each.compile(dialect=dialect, compile_kwargs={"literal_binds": True}) for each in statements]
    return "; ".join(map(str, written))


def fetch_script(connection: sa.Connection, sql: str) -> list[list[Any]]:
    """On PostgreSQL: execute the statements of `write_script`, in their order, and read the rows of each.

    They go together as one message: one journey, and this thread lets go of the interpreter once. As if they went
    alone, each sees what those before it did, and what others have committed before it begins: where one waits for a
    lock, the next sees what came of that.
    """
    _begin(connection)
    driver: Any = connection.connection.driver_connection
    with raising_as_sqlalchemy(connection, sql):
        cursor = driver.execute(sql, prepare=False)
        found = [_read(cursor)]
        while cursor.nextset():
            found.append(_read(cursor))
    return found


def _read(cursor: Any) -> list[Any]:
    rows: list[Any] = cursor.fetchall() if cursor.description else []
    return rows


@contextmanager
def raising_as_sqlalchemy(connection: sa.Connection, sql: str) -> Iterator[None]:
    """Raise a driver's error as SQLAlchemy would, and let go of a connection that was cut: the next one is new.

    As with SQLAlchemy, so are those that were open beside it: what went away without a word took them along, and each
    would be found out by somebody who is sent away.
    """
    pooled, dialect = connection.connection, connection.dialect
    try:
        yield
    except dialect.loaded_dbapi.Error as error:
        cut = dialect.is_disconnect(error, pooled.dbapi_connection, None)
        if cut:
            connection.engine.pool._invalidate(pooled, error)  # which has no other name for it
            connection.invalidate(error)
        raise sa.exc.DBAPIError.instance(
            sql,
            None,
            error,
            dialect.loaded_dbapi.Error,
            hide_parameters=True,
            connection_invalidated=cut,
            dialect=dialect,
        ) from error


def _begin(connection: sa.Connection) -> None:
    """Begin a transaction where there is none, as SQLAlchemy does by itself."""
    if not connection.in_transaction():
        connection.begin()


def _execute(connection: sa.Connection, sql: str, values: Any) -> Any:
    """The driver's cursor, after a statement."""
    _begin(connection)
    with raising_as_sqlalchemy(connection, sql):
        cursor = connection.connection.cursor()
        cursor.execute(sql, values)
    return cursor


class _Text:
    """What an engine's driver is given: a text, and the order and form of the values."""

    def __init__(self, statement: Any, dialect: sa.Dialect, values: _Values) -> None:
        keys = list(values) if isinstance(statement, sa.Insert) and statement.select is None else None
        compiled = statement.compile(dialect=dialect, column_keys=keys)
        if compiled.prefetch:  # what SQLAlchemy would fill in for each row
            names = ", ".join(column.name for column in compiled.prefetch)
            raise TypeError(f"has to be given, or have a default in the database: {names}")
        state = compiled.construct_expanded_state(values)
        self.sql = state.statement
        self._row: Any = None
        self._lists = {name: tuple(parts) for name, parts in state.parameter_expansion.items()}
        expanded = {part for parts in self._lists.values() for part in parts}
        # Values that the statement itself brings.
        self._own = {
            name: value
            for name, value in state.parameters.items()
            if name not in values and name not in expanded
        }
        converters = {
            bind.key: bind.type.dialect_impl(dialect).bind_processor(dialect)
            for bind in compiled.binds.values()
        }
        self._converters = {name: found for name, found in converters.items() if found and name in values}
        self._order = state.positiontup
        self._plain = (
            [(name, self._converters.get(name)) for name in self._order]
            if self._order is not None and not self._lists and not self._own
            else None
        )

    def name(self, cursor: Any) -> list[Any]:
        """The rows of a cursor, with the names of their columns."""
        rows = cursor.fetchall()
        if self._row is None and rows:
            self._row = namedtuple("_Row", [column[0] for column in cursor.description], rename=True)  # type: ignore[misc]
        return [self._row._make(row) for row in rows] if self._row else rows

    def convert(self, values: _Values) -> dict[str, Any] | tuple[Any, ...]:
        if self._plain is not None:  # as most often
            return tuple(
                [values[name] if convert is None else convert(values[name]) for name, convert in self._plain]
            )
        given = {**self._own, **values}
        for name, convert in self._converters.items():
            value = given[name]
            given[name] = [convert(each) for each in value] if name in self._lists else convert(value)
        for name, parts in self._lists.items():
            given.update(zip(parts, given.pop(name), strict=True))
        return given if self._order is None else tuple([given[name] for name in self._order])


def pick_piece(
    name: str, length: int | sa.BindParameter[int], place: sa.ColumnElement[int]
) -> sa.Function[bytes]:
    """The string at a place, from 0, of several of one length that are given as one.

    Drivers take longer over a list of strings than the database over storing them.
    """
    whole = sa.bindparam(name, type_=sa.LargeBinary)
    return sa.func.substr(whole, sa.cast(place, sa.Integer) * length + 1, length, type_=sa.LargeBinary)


def is_one_of(
    dialect: str, column: sa.ColumnElement[bytes], name: str, length: int
) -> sa.ColumnElement[bool]:
    """Whether a column's string is one of several of this length, which `give_several` gives."""
    if dialect == "sqlite":
        return column.in_(sa.bindparam(name, expanding=True))
    return column == sa.func.any(sa.func.array(list_several(name, length).scalar_subquery()))


def list_several(name: str, length: int) -> sa.Select[tuple[bytes]]:
    """On PostgreSQL: the strings of one length that `give_several` gives, a row for each, in their order."""
    number = sa.func.octet_length(sa.bindparam(name, type_=sa.LargeBinary)) / length
    place = sa.func.generate_series(0, sa.cast(number, sa.Integer) - 1).column_valued("place")
    return sa.select(pick_piece(name, length, place))


def prepare_several(dialect: str, statement: Any, name: str) -> Prepared:
    """A statement that asks `is_one_of`."""
    return Prepared(statement, expanding=name if dialect == "sqlite" else None)


def give_several(dialect: str, strings: list[bytes]) -> list[bytes] | bytes:
    """Strings of one length as a statement that asks `is_one_of` takes them."""
    return strings if dialect == "sqlite" else b"".join(strings)
