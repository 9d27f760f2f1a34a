"""Batches: what is shown of a survey, counted in steps; what is stored, counted as it comes.

Revision: 0005
Follows: 0004
"""

import json
from collections.abc import Iterator
from itertools import islice
from secrets import SystemRandom
from typing import Any

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


# As the package that keeps the books had them at this revision.
PIECE = 4 << 20
LEVELS = (PIECE >> 10, PIECE >> 6, PIECE >> 2)

responses = sa.table("responses", *map(sa.column, ("version_id", "stratum_id", "reports", "day")))
versions = sa.table("survey_versions", *map(sa.column, ("id", "survey_id", "reports")))
surveys = sa.table("surveys", *map(sa.column, ("id", "state", "minimum")))
cells = sa.table("cells", *map(sa.column, ("id", "version_id", "stratum_id", "mode", "waiting_n", "waiting")))
batches = sa.table("batches", *map(sa.column, ("cell_id", "level", "n", "days", "margins", "content")))


def upgrade() -> None:
    _tables()
    _fill()


def _fill() -> None:
    """Enter what is stored into the books.

    All that closed surveys have is shown. Of open ones as much waits from now on as if all had come at once.
    """
    connection = op.get_bind()
    place = responses.c.version_id, responses.c.stratum_id
    query = (
        sa.select(*place, surveys.c.state, surveys.c.minimum, versions.c.reports, sa.func.count().label("n"))
        .join_from(responses, versions, versions.c.id == responses.c.version_id)
        .join(surveys, surveys.c.id == versions.c.survey_id)
        .group_by(*place, surveys.c.state, surveys.c.minimum, versions.c.reports)
    )
    for cell in connection.execute(query).all():
        _enter(connection, cell)
    op.execute(
        "INSERT INTO response_counters (survey_id, writer, n) "
        "SELECT survey_versions.survey_id, 0, count(*) FROM responses "
        "JOIN survey_versions ON survey_versions.id = responses.version_id GROUP BY survey_versions.survey_id"
    )


def _enter(connection: sa.Connection, cell: Any) -> None:
    random = SystemRandom()
    kept = 0
    if cell.state == "open" and cell.minimum > 1:
        kept = cell.n if cell.n < 2 * cell.minimum else cell.minimum
    number = cell.version_id * 4294967296 + (cell.stratum_id or 0) * 4
    of_cell = sa.and_(
        responses.c.version_id == cell.version_id,
        responses.c.stratum_id.is_(None)
        if cell.stratum_id is None
        else responses.c.stratum_id == cell.stratum_id,
    )
    connection.execute(
        cells.insert().values(
            id=number,
            version_id=cell.version_id,
            stratum_id=cell.stratum_id,
            mode=0,
            waiting_n=0,
            waiting=b"",
        )
    )
    days = sa.select(responses.c.day, sa.func.count()).where(of_cell).group_by(responses.c.day)
    counted = {str(day): n for day, n in connection.execute(days.order_by(responses.c.day))}
    for day in random.sample(list(counted), kept, counts=list(counted.values())):
        counted[day] -= 1
    strings = (sa.select(responses.c.reports).where(of_cell).order_by(responses.c.reports)).execution_options(
        yield_per=10_000
    )
    waits = set(random.sample(range(cell.n), kept))
    waiting: list[bytes] = []

    def shown() -> Iterator[bytes]:
        for place, (reports,) in enumerate(connection.execute(strings)):
            if place in waits:
                waiting.append(bytes(reports))
            else:
                yield bytes(reports)

    rows = shown()
    while piece := list(islice(rows, PIECE // len(cell.reports))):
        content = b"\0" + b"".join(piece)
        level = sum(len(content) >= least for least in LEVELS)
        connection.execute(
            batches.insert().values(
                cell_id=number,
                level=level,
                n=len(piece),
                days=json.dumps({day: n for day, n in counted.items() if n}),
                margins=_margins(piece) if level else b"",
                content=content,
            )
        )
        counted = {}
    connection.execute(
        cells.update().where(cells.c.id == number).values(waiting_n=len(waiting), waiting=b"".join(waiting))
    )


def _margins(strings: list[bytes]) -> bytes:
    """How often each report arrived in each byte: a row for each, all as wide as the largest report needs."""
    columns = np.frombuffer(b"".join(strings), dtype=np.uint8).reshape(len(strings), -1).T
    rows = [np.bincount(column, minlength=int(columns.max()) + 1) for column in columns]
    return np.stack(rows).astype("<u4").tobytes()


def _tables() -> None:
    op.create_table(
        "cells",
        sa.Column("id", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer()),
        sa.Column("mode", sa.SmallInteger(), nullable=False),
        sa.Column("waiting_n", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cells"),
        _foreign("cells", "version_id", "survey_versions", "CASCADE"),
        _foreign("cells", "stratum_id", "strata", None),
        sa.CheckConstraint(
            "id = version_id * 4294967296 + coalesce(stratum_id, 0) * 4 + mode",
            name=op.f("ck_cells_id_is_packed"),
        ),
        sa.CheckConstraint("mode BETWEEN 0 AND 3", name=op.f("ck_cells_mode_has_two_bits")),
        sa.CheckConstraint("waiting_n >= 0", name=op.f("ck_cells_waiting_n_is_not_negative")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_cells_version_id", "cells", ["version_id"])
    op.create_index("ix_cells_stratum_id", "cells", ["stratum_id"])
    op.create_table(
        "batches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("days", sa.Text(), nullable=False),
        sa.Column("margins", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
        _foreign("batches", "cell_id", "cells", "CASCADE"),
        sa.CheckConstraint("n >= 1", name=op.f("ck_batches_n_is_positive")),
        sa.CheckConstraint("level >= 0", name=op.f("ck_batches_level_is_not_negative")),
    )
    op.create_index("ix_batches_cell_id_level", "batches", ["cell_id", "level"])
    op.create_table(
        "response_counters",
        sa.Column("survey_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("writer", sa.SmallInteger(), nullable=False, autoincrement=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", "writer", name="pk_response_counters"),
        _foreign("response_counters", "survey_id", "surveys", "CASCADE"),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Report strings look like noise: trying to compress them is work for nothing.
        op.execute("ALTER TABLE batches ALTER content SET STORAGE EXTERNAL")


def _foreign(table: str, column: str, target: str, ondelete: str | None) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete=ondelete)
