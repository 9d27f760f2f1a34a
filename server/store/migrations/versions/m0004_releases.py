"""Central releases: budgets, releases, their ledger, what was released, links to public reports.

Revision: 0004
Follows: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NEIGHBOURS = "neighbours IN ('bounded', 'unbounded')"


def upgrade() -> None:
    op.create_table(
        "privacy_budgets",
        sa.Column("survey_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("epsilon", sa.String(40), nullable=False),
        sa.Column("delta", sa.String(40), nullable=False),
        sa.Column("neighbours", sa.String(10), nullable=False),
        sa.Column("set_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", name="pk_privacy_budgets"),
        _foreign("privacy_budgets", "survey_id", "surveys", "CASCADE"),
        sa.CheckConstraint(NEIGHBOURS, name=op.f("ck_privacy_budgets_neighbours_are_known")),
    )
    op.create_table(
        "releases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(), nullable=False),
        sa.Column("researcher_id", sa.Integer()),
        sa.Column("made_by", sa.String(200), nullable=False),
        sa.Column("software", sa.String(40), nullable=False),
        sa.Column("covers", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_releases"),
        _foreign("releases", "survey_id", "surveys", "CASCADE"),
        _foreign("releases", "researcher_id", "researchers", None),
        sa.UniqueConstraint("survey_id", "number", name="uq_releases_survey_id_number"),
        sa.CheckConstraint("number >= 1", name=op.f("ck_releases_number_is_positive")),
    )
    op.create_index("ix_releases_researcher_id", "releases", ["researcher_id"])
    op.create_table(
        "ledger_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("asked", sa.LargeBinary(32), nullable=False),
        sa.Column("mechanism", sa.String(40), nullable=False),
        sa.Column("epsilon", sa.String(40), nullable=False),
        sa.Column("delta", sa.String(40), nullable=False),
        sa.Column("neighbours", sa.String(10), nullable=False),
        sa.Column("strata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ledger_entries"),
        _foreign("ledger_entries", "release_id", "releases", "CASCADE"),
        sa.UniqueConstraint("release_id", "position", name="uq_ledger_entries_release_id_position"),
        sa.CheckConstraint("position >= 1", name=op.f("ck_ledger_entries_position_is_positive")),
        sa.CheckConstraint("length(asked) = 32", name=op.f("ck_ledger_entries_asked_is_sha256")),
        sa.CheckConstraint(NEIGHBOURS, name=op.f("ck_ledger_entries_neighbours_are_known")),
    )
    op.create_table(
        "released_values",
        sa.Column("entry_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name="pk_released_values"),
        _foreign("released_values", "entry_id", "ledger_entries", "CASCADE"),
    )
    op.create_table(
        "report_links",
        sa.Column("slug", sa.String(32), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("made_on", sa.Date(), nullable=False),
        sa.Column("revoked_on", sa.Date()),
        sa.PrimaryKeyConstraint("slug", name="pk_report_links"),
        _foreign("report_links", "survey_id", "surveys", "CASCADE"),
    )
    op.create_index("ix_report_links_survey_id", "report_links", ["survey_id"])
    released = "EXISTS (SELECT 1 FROM releases WHERE releases.survey_id = OLD.survey_id)"
    survey = "EXISTS (SELECT 1 FROM surveys WHERE surveys.id = OLD.survey_id)"
    release = "EXISTS (SELECT 1 FROM releases WHERE releases.id = OLD.release_id)"
    entry = "EXISTS (SELECT 1 FROM ledger_entries WHERE ledger_entries.id = OLD.entry_id)"
    _refuse("privacy_budgets", "UPDATE", released, "a budget stays as it was before the first release")
    # What has been published stays booked for as long as the survey is there. Rows go with it: then the
    # row that each belongs to is gone first.
    _refuse("privacy_budgets", "DELETE", f"{released} AND {survey}", "a budget stays as long as its survey")
    for table, owner in (("releases", survey), ("ledger_entries", release), ("released_values", entry)):
        _refuse(table, "UPDATE", "1 = 1", f"{table} are immutable")
        _refuse(table, "DELETE", owner, f"{table} stay as long as their survey")


def _refuse(table: str, operation: str, condition: str, message: str) -> None:
    """Refuse an operation in the database itself."""
    name = f"{table}_refuse_{operation.lower()}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {operation} ON {table} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN IF {condition} THEN RAISE EXCEPTION '{message}'; END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE {operation} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def _foreign(table: str, column: str, target: str, ondelete: str | None) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete=ondelete)
