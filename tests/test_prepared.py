"""Statements that are compiled once give what SQLAlchemy gives each time."""

from collections.abc import Iterator
from datetime import date

import pytest
import sqlalchemy as sa

from server.store.engines import make_engine
from server.store.prepared_statements import Prepared

TABLE = sa.Table(
    "things",
    sa.MetaData(),
    sa.Column("id", sa.LargeBinary(4), primary_key=True),
    sa.Column("day", sa.Date),
    sa.Column("n", sa.Integer, nullable=False),
)
ROWS = [
    {"id": bytes([0, k, 0, 255]), "day": date(2026, 1, 1 + k) if k % 3 else None, "n": k} for k in range(9)
]


@pytest.fixture
def connection(empty_database_url: str) -> Iterator[sa.Connection]:
    engine = make_engine(empty_database_url)
    with engine.connect() as made:
        TABLE.create(made)
        Prepared(sa.insert(TABLE)).run_each(made, ROWS)
        yield made
    engine.dispose()


def test_rows_arrive_as_they_were_given(connection: sa.Connection) -> None:
    found = connection.execute(sa.select(TABLE).order_by(TABLE.c.id))
    assert [dict(row._mapping) for row in found] == ROWS


def test_a_list_of_any_length_finds_what_it_names_and_nothing_else(connection: sa.Connection) -> None:
    statement = Prepared(
        sa.select(TABLE.c.id, TABLE.c.n)
        .where(TABLE.c.id.in_(sa.bindparam("ids", expanding=True)), TABLE.c.n >= 1)
        .order_by(TABLE.c.n),
        expanding="ids",
    )
    for length in (*range(1, 10), 3):
        ids = [row["id"] for row in ROWS[:length]]
        assert [row.n for row in statement.fetch(connection, {"ids": ids})] == [*range(1, length)]


def test_values_of_several_kinds_in_one_change(connection: sa.Connection) -> None:
    statement = Prepared(
        sa.update(TABLE)
        .where(TABLE.c.day.in_(sa.bindparam("days", expanding=True)))
        .values(n=sa.bindparam("number"), day=sa.bindparam("new_day")),
        expanding="days",
    )
    days = [ROWS[1]["day"], ROWS[2]["day"], ROWS[4]["day"]]
    statement.run(connection, {"days": days, "number": 77, "new_day": date(2030, 1, 1)})
    found = connection.execute(sa.select(TABLE.c.id).where(TABLE.c.n == 77, TABLE.c.day == date(2030, 1, 1)))
    assert sorted(found.scalars()) == [ROWS[1]["id"], ROWS[2]["id"], ROWS[4]["id"]]


def test_it_says_how_many_rows_it_wrote(connection: sa.Connection) -> None:
    lifting = Prepared(sa.update(TABLE).where(TABLE.c.n >= sa.bindparam("least")).values(n=99))
    assert lifting.count(connection, {"least": 7}) == 2
    assert lifting.count(connection, {"least": 100}) == 0
    assert connection.scalar(sa.select(sa.func.count()).where(TABLE.c.n == 99)) == 2


def test_an_error_of_one_row_is_that_of_the_database_and_tells_no_value(connection: sa.Connection) -> None:
    with pytest.raises(sa.exc.IntegrityError) as raised:
        Prepared(sa.insert(TABLE)).count(connection, {"id": b"secret", "day": None, "n": None})
    assert "secret" not in str(raised.value)


def test_a_default_that_only_sqlalchemy_knows_is_refused_instead_of_left_out(
    connection: sa.Connection,
) -> None:
    table = sa.Table(
        "others", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("n", sa.Integer, default=3)
    )
    with pytest.raises(TypeError, match="in the database: n"):
        Prepared(sa.insert(table)).run_each(connection, [{"id": 1}])
