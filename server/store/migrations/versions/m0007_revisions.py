"""Revisions: a number for each survey, raised with every change of what its links show.

Revision: 0007
Follows: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# What a page of respondents shows stands in these tables; the column names the survey.
SOURCES = {"surveys": "id", "survey_versions": "survey_id", "strata": "survey_id"}


def upgrade() -> None:
    op.create_table(
        "revisions",
        sa.Column("survey_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", name="pk_revisions"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_revisions_survey_id", ondelete="CASCADE"
        ),
    )
    op.execute("INSERT INTO revisions (survey_id, number) SELECT id, 1 FROM surveys")
    for table, column in SOURCES.items():
        for operation in ("INSERT", "UPDATE", "DELETE"):
            row = "OLD" if operation == "DELETE" else "NEW"
            if (table, operation) == ("surveys", "DELETE"):
                continue  # the number goes with it
            if (table, operation) == ("surveys", "INSERT"):
                change = "INSERT INTO revisions (survey_id, number) VALUES (NEW.id, 1);"
            else:
                change = f"UPDATE revisions SET number = number + 1 WHERE survey_id = {row}.{column};"  # noqa: S608
            _create_trigger(f"{table}_{operation.lower()}_raises_revision", operation, table, change)


def _create_trigger(name: str, operation: str, table: str, change: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"CREATE TRIGGER {name} AFTER {operation} ON {table} BEGIN {change} END")
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {change} RETURN NULL; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} AFTER {operation} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")
