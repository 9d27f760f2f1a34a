"""The first schema: researchers, surveys, immutable versions, responses.

Revision: 0001
Follows: nothing
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "researchers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_researchers"),
    )
    for table in ("sign_in_links", "sign_ins"):
        op.create_table(
            table,
            sa.Column("secret_hash", sa.LargeBinary(32), nullable=False),
            sa.Column("researcher_id", sa.Integer(), nullable=False),
            sa.Column("expires_at", sa.DateTime(), nullable=False),
            sa.PrimaryKeyConstraint("secret_hash", name=f"pk_{table}"),
            sa.ForeignKeyConstraint(
                ["researcher_id"], ["researchers.id"], name=f"fk_{table}_researcher_id", ondelete="CASCADE"
            ),
            sa.CheckConstraint("length(secret_hash) = 32", name=op.f(f"ck_{table}_secret_hash_is_sha256")),
        )
    op.create_table(
        "surveys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(32), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("draft", sa.LargeBinary(), nullable=False),
        sa.Column("created_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_surveys"),
        sa.UniqueConstraint("slug", name="uq_surveys_slug"),
        sa.ForeignKeyConstraint(["owner_id"], ["researchers.id"], name="fk_surveys_owner_id"),
        sa.CheckConstraint("state IN ('draft', 'open', 'closed')", name=op.f("ck_surveys_state_is_known")),
    )
    op.create_index("ix_surveys_owner_id", "surveys", ["owner_id"])
    op.create_table(
        "survey_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("published", sa.LargeBinary(), nullable=False),
        sa.Column("reports", sa.LargeBinary(), nullable=False),
        sa.Column("published_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_survey_versions"),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name="fk_survey_versions_survey_id"),
        sa.UniqueConstraint("survey_id", "number", name="uq_survey_versions_survey_id_number"),
        sa.UniqueConstraint("survey_id", "sha256", name="uq_survey_versions_survey_id_sha256"),
        sa.CheckConstraint("number >= 1", name=op.f("ck_survey_versions_number_is_positive")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_survey_versions_sha256_is_hexadecimal")),
    )
    op.create_table(
        "responses",
        sa.Column("id", sa.LargeBinary(16), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("reports", sa.LargeBinary(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_responses"),
        sa.ForeignKeyConstraint(["version_id"], ["survey_versions.id"], name="fk_responses_version_id"),
        sa.CheckConstraint("length(id) = 16", name=op.f("ck_responses_id_is_128_bits")),
        sa.CheckConstraint("length(reports) >= 1", name=op.f("ck_responses_reports_are_present")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_responses_version_id_reports", "responses", ["version_id", "reports"])
    _freeze("survey_versions")
    _freeze("responses")


def _freeze(table: str) -> None:
    """Refuse UPDATE in the database itself: published versions and stored reports never change."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {table}_are_immutable BEFORE UPDATE ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} are immutable'); END"
        )
        return
    op.execute(
        f"CREATE FUNCTION {table}_are_immutable() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '{table} are immutable'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_are_immutable BEFORE UPDATE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {table}_are_immutable()"
    )
