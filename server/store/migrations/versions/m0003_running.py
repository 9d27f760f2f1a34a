"""What running a study needs: roles, accounts, a log of changes, strata, invitations, times and limits.

Revision: 0003
Follows: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _accounts()
    _surveys()
    _people()
    _strata()
    _invitations()


def _accounts() -> None:
    op.add_column("researchers", sa.Column("login", sa.String(200)))
    op.add_column("researchers", sa.Column("password_hash", sa.String(200)))
    op.add_column("researchers", sa.Column("totp_secret", sa.String(64)))
    op.add_column("researchers", sa.Column("totp_step", sa.Integer()))
    op.add_column(
        "researchers", sa.Column("administrator", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("researchers", sa.Column("disabled_on", sa.Date()))
    # The first researcher installed Moneda.
    op.execute("UPDATE researchers SET administrator = true WHERE id = (SELECT min(id) FROM researchers)")
    op.create_index("uq_researchers_login", "researchers", ["login"], unique=True)
    op.add_column("sign_ins", sa.Column("started_on", sa.Date()))
    op.add_column("sign_ins", sa.Column("seen_on", sa.Date()))
    op.add_column("sign_ins", sa.Column("device", sa.String(100)))
    op.create_table(
        "recovery_codes",
        sa.Column("secret_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_recovery_codes"),
        sa.ForeignKeyConstraint(
            ["researcher_id"], ["researchers.id"], name="fk_recovery_codes_researcher_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("length(secret_hash) = 32", name=op.f("ck_recovery_codes_secret_hash_is_sha256")),
    )
    op.create_index("ix_recovery_codes_researcher_id", "recovery_codes", ["researcher_id"])


def _surveys() -> None:
    for name in ("paused", "by_invitation"):
        op.add_column("surveys", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
    for name in ("opens_at", "closes_at"):
        op.add_column("surveys", sa.Column(name, sa.DateTime()))
    op.add_column("surveys", sa.Column("time_zone", sa.String(64), nullable=False, server_default="UTC"))
    # Written out: for SQLite, Alembic would copy the whole table to add a constraint.
    op.execute(
        "ALTER TABLE surveys ADD COLUMN cap INTEGER CONSTRAINT ck_surveys_cap_is_positive CHECK (cap >= 1)"
    )
    op.execute(
        "ALTER TABLE surveys ADD COLUMN minimum INTEGER DEFAULT 10 NOT NULL "
        "CONSTRAINT ck_surveys_minimum_is_positive CHECK (minimum >= 1)"
    )
    op.add_column("surveys", sa.Column("archived_on", sa.Date()))


def _people() -> None:
    op.create_table(
        "members",
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", "researcher_id", name="pk_members"),
        _foreign("members", "survey_id", "surveys", "CASCADE"),
        _foreign("members", "researcher_id", "researchers", "CASCADE"),
        sa.CheckConstraint("role IN ('viewer', 'editor')", name=op.f("ck_members_role_is_known")),
    )
    op.create_index("ix_members_researcher_id", "members", ["researcher_id"])
    table = "colleague_invitations"
    op.create_table(
        table,
        sa.Column("secret_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("inviter_id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer()),
        sa.Column("role", sa.String(8)),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("secret_hash", name=f"pk_{table}"),
        _foreign(table, "inviter_id", "researchers", "CASCADE"),
        _foreign(table, "survey_id", "surveys", "CASCADE"),
        sa.CheckConstraint("length(secret_hash) = 32", name=op.f(f"ck_{table}_secret_hash_is_sha256")),
        sa.CheckConstraint("role IN ('viewer', 'editor')", name=op.f(f"ck_{table}_role_is_known")),
    )
    op.create_index(f"ix_{table}_inviter_id", table, ["inviter_id"])
    op.create_index(f"ix_{table}_survey_id", table, ["survey_id"])
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("researcher_id", sa.Integer()),
        sa.Column("survey_id", sa.Integer()),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
        _foreign("audit_entries", "researcher_id", "researchers", "SET NULL"),
        _foreign("audit_entries", "survey_id", "surveys", "CASCADE"),
    )
    op.create_index("ix_audit_entries_survey_id", "audit_entries", ["survey_id"])


def _strata() -> None:
    op.create_table(
        "strata",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.Integer()),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("population", sa.BigInteger()),
        sa.Column("slug", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_strata"),
        _foreign("strata", "survey_id", "surveys", "CASCADE"),
        _foreign("strata", "parent_id", "strata", "CASCADE"),
        sa.UniqueConstraint("slug", name="uq_strata_slug"),
        sa.CheckConstraint("population >= 1", name=op.f("ck_strata_population_is_positive")),
    )
    op.create_index("ix_strata_survey_id", "strata", ["survey_id"])
    op.create_index("ix_strata_parent_id", "strata", ["parent_id"])
    op.drop_index("ix_responses_version_id_reports", "responses")
    if op.get_bind().dialect.name == "sqlite":
        _responses_on_sqlite()
    else:
        op.add_column("responses", sa.Column("stratum_id", sa.Integer()))
        op.create_foreign_key("fk_responses_stratum_id", "responses", "strata", ["stratum_id"], ["id"])
    op.create_index(
        "ix_responses_version_id_stratum_id_reports", "responses", ["version_id", "stratum_id", "reports"]
    )
    op.execute("CREATE INDEX ix_responses_stratum_id ON responses (stratum_id) WHERE stratum_id IS NOT NULL")


def _responses_on_sqlite() -> None:
    """The table made anew: SQLite adds no named constraint to one that is there."""
    op.execute("DROP TRIGGER responses_are_immutable")
    op.rename_table("responses", "responses_before")
    op.create_table(
        "responses",
        sa.Column("id", sa.LargeBinary(16), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("reports", sa.LargeBinary(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("stratum_id", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_responses"),
        sa.ForeignKeyConstraint(["version_id"], ["survey_versions.id"], name="fk_responses_version_id"),
        sa.ForeignKeyConstraint(["stratum_id"], ["strata.id"], name="fk_responses_stratum_id"),
        sa.CheckConstraint("length(id) = 16", name=op.f("ck_responses_id_is_128_bits")),
        sa.CheckConstraint("length(reports) >= 1", name=op.f("ck_responses_reports_are_present")),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO responses (id, version_id, reports, day) "
        "SELECT id, version_id, reports, day FROM responses_before ORDER BY id"
    )
    op.drop_table("responses_before")
    op.execute(
        "CREATE TRIGGER responses_are_immutable BEFORE UPDATE ON responses "
        "BEGIN SELECT RAISE(ABORT, 'responses are immutable'); END"
    )


def _invitations() -> None:
    table = "invitation_batches"
    op.create_table(
        table,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer()),
        sa.Column("label", sa.String(200), nullable=False),
        sa.Column("issued_on", sa.Date(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("withdrawn_on", sa.Date()),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        _foreign(table, "survey_id", "surveys", "CASCADE"),
        _foreign(table, "stratum_id", "strata", "CASCADE"),
        sa.CheckConstraint("size >= 1", name=op.f(f"ck_{table}_size_is_positive")),
    )
    op.create_index(f"ix_{table}_survey_id", table, ["survey_id"])
    op.create_index(f"ix_{table}_stratum_id", table, ["stratum_id"])
    op.create_table(
        "invitations",
        sa.Column("code_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("spent", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("code_hash", name="pk_invitations"),
        _foreign("invitations", "batch_id", "invitation_batches", "CASCADE"),
        sa.CheckConstraint("length(code_hash) = 32", name=op.f("ck_invitations_code_hash_is_sha256")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_invitations_batch_id", "invitations", ["batch_id"])
    op.create_table(
        "untidied",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_untidied"),
    )


def _foreign(table: str, column: str, target: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete=ondelete)
