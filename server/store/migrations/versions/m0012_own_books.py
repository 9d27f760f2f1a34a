"""What counts the responses of each survey in tables of its own, as these are.

Revision: 0012
Follows: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_VERSION = "SELECT 1 FROM survey_versions v WHERE v.id = {row}.version_id AND v.survey_id = {survey}"
_STRATUM = "SELECT 1 FROM strata s WHERE s.id = {row}.stratum_id AND s.survey_id = {survey}"
_STRANGERS = f"NOT EXISTS ({_VERSION}) OR {{row}}.stratum_id IS NOT NULL AND NOT EXISTS ({_STRATUM})"
_CELLS = "cells c JOIN survey_versions v ON v.id = c.version_id WHERE v.survey_id ="
_SHOWN = "batches b JOIN cells c ON c.id = b.cell_id AND c.series = b.series"
_RANDOM = {
    "sqlite": "random() & 4611686018427387903",
    "postgresql": "floor(random() * 4611686018427387904)::bigint",
}


def upgrade() -> None:
    connection = op.get_bind()
    dialect = connection.dialect.name
    if dialect == "postgresql":
        wrong = _STRANGERS.format(row="written", survey="TG_ARGV[0]::integer")
        wrong = f"EXISTS (SELECT 1 FROM written WHERE {wrong})"  # noqa: S608
        op.execute(
            "CREATE FUNCTION cells_belong() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {wrong} THEN "
            "RAISE foreign_key_violation USING MESSAGE = 'cells belong to their survey'; END IF; "
            "RETURN NULL; END $$"
        )
    surveys = connection.execute(sa.text("SELECT id, state FROM surveys ORDER BY id")).all()
    for survey, state in surveys:
        _create(survey)
        op.execute(
            f"INSERT INTO counters_{survey} (writer, n) SELECT 0, sum(n) FROM response_counters "  # noqa: S608
            f"WHERE survey_id = {survey} HAVING count(*) > 0"
        )
        op.execute(
            f"INSERT INTO cells_{survey} SELECT c.id, c.version_id, c.stratum_id, c.mode, c.waiting_n, c.waiting "  # noqa: S608
            f"FROM {_CELLS} {survey} ORDER BY c.id"
        )
        # What is tidied stays in its order; what comes after others gets a number that does not say so.
        number = "row_number() OVER (ORDER BY b.cell_id, b.id)" if state == "closed" else _RANDOM[dialect]
        op.execute(
            f"INSERT INTO batches_{survey} (id, cell_id, level, n, days, margins, content) "  # noqa: S608
            f"SELECT {number}, b.cell_id, b.level, b.n, b.days, b.margins, b.content FROM {_SHOWN} "
            f"JOIN survey_versions v ON v.id = c.version_id WHERE v.survey_id = {survey} ORDER BY 1"
        )
        _guard(survey, dialect)
    for table in ("batches", "cells", "response_counters"):
        op.drop_table(table)
    if surveys:  # what all of them shared is in the files still
        op.execute(
            "INSERT INTO untidied (since) SELECT CURRENT_TIMESTAMP "
            "WHERE NOT EXISTS (SELECT 1 FROM untidied WHERE survey_id IS NULL AND NOT rewritten)"
        )


def _create(survey: int) -> None:
    op.create_table(
        f"counters_{survey}",
        sa.Column("writer", sa.SmallInteger(), nullable=False, autoincrement=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("writer", name=f"pk_counters_{survey}"),
        sqlite_with_rowid=False,
    )
    cells = f"cells_{survey}"
    packed = "id = version_id * 4294967296 + coalesce(stratum_id, 0) * 4 + mode"
    op.create_table(
        cells,
        sa.Column("id", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer()),
        sa.Column("mode", sa.SmallInteger(), nullable=False),
        sa.Column("waiting_n", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{cells}"),
        sa.CheckConstraint(packed, name=op.f(f"ck_{cells}_id_is_packed")),
        sa.CheckConstraint("mode BETWEEN 0 AND 3", name=op.f(f"ck_{cells}_mode_has_two_bits")),
        sa.CheckConstraint("waiting_n >= 0", name=op.f(f"ck_{cells}_waiting_n_is_not_negative")),
        sqlite_with_rowid=False,
    )
    batches = f"batches_{survey}"
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        batches,
        sa.Column("id", number, nullable=False, autoincrement=False),
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("days", sa.Text(), nullable=False),
        sa.Column("margins", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{batches}"),
        sa.ForeignKeyConstraint(
            ["cell_id"], [f"{cells}.id"], name=f"fk_{batches}_cell_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("n >= 1", name=op.f(f"ck_{batches}_n_is_positive")),
        sa.CheckConstraint("level >= 0", name=op.f(f"ck_{batches}_level_is_not_negative")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE {cells} ALTER waiting SET STATISTICS 0")
        for column in ("days", "margins", "content"):
            op.execute(f"ALTER TABLE {batches} ALTER {column} SET STATISTICS 0")
        op.execute(f"ALTER TABLE {batches} ALTER content SET STORAGE EXTERNAL")


def _guard(survey: int, dialect: str) -> None:
    name = f"cells_{survey}"
    op.create_index(f"ix_batches_{survey}_cell_id_level", f"batches_{survey}", ["cell_id", "level"])
    if dialect == "postgresql":
        op.execute(
            f"CREATE TRIGGER {name}_belong AFTER INSERT ON {name} REFERENCING NEW TABLE AS written "
            f"FOR EACH STATEMENT EXECUTE FUNCTION cells_belong({survey})"
        )
        return
    op.execute(
        f"CREATE TRIGGER {name}_belong BEFORE INSERT ON {name} "
        f"WHEN {_STRANGERS.format(row='NEW', survey=survey)} "
        f"BEGIN SELECT RAISE(ABORT, 'cells belong to their survey'); END"
    )
