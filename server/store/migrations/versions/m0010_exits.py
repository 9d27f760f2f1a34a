"""Exits: merged groups, identities of surveys and strata, and who may release from copies.

Revision: 0010
Follows: 0009
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("surveys", "strata"):
        op.add_column(table, sa.Column("merged", sa.Boolean(), nullable=False, server_default=sa.false()))
        op.add_column(
            table, sa.Column("identity", sa.String(32), nullable=False, server_default=sa.text("''"))
        )
        rows = sa.table(table, sa.column("id", sa.Integer), sa.column("identity", sa.String))
        for (number,) in op.get_bind().execute(sa.select(rows.c.id)).all():
            op.execute(rows.update().where(rows.c.id == number).values(identity=secrets.token_hex(16)))
    op.add_column("surveys", sa.Column("may_release", sa.String(8), nullable=False, server_default="own"))
    op.add_column(
        "surveys", sa.Column("inherited", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )
    op.add_column("surveys", sa.Column("share_epsilon", sa.String(40)))
    op.add_column("surveys", sa.Column("share_delta", sa.String(40)))
    op.create_table(
        "given_rights",
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("server", sa.String(32), nullable=False),
        sa.Column("epsilon", sa.String(40), nullable=False),
        sa.Column("delta", sa.String(40), nullable=False),
        sa.Column("made_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("token", name="pk_given_rights"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_given_rights_survey_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("kind IN ('move', 'share')", name=op.f("ck_given_rights_kind_is_known")),
    )
    op.create_index("ix_given_rights_survey_id", "given_rights", ["survey_id"])
    op.create_table(
        "taken_rights",
        sa.Column("token", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("token", name="pk_taken_rights"),
    )
    servers = op.create_table(
        "servers",
        sa.Column("id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_servers"),
    )
    op.bulk_insert(servers, [{"id": secrets.token_hex(16)}])
