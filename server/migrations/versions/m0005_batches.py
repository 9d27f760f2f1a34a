"""Batches: what is shown of a survey, counted in steps; what is stored, counted as it comes.

Revision: 0005
Follows: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
