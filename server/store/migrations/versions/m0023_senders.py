"""Logos of those who ask; what respondents' pages show of a study sheet raises their survey's revision.

Revision: 0023
Follows: 0022
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("study_sheets", sa.Column("logo", sa.LargeBinary(), nullable=True))
    change = "UPDATE revisions SET number = number + 1 WHERE survey_id = NEW.survey_id;"
    for operation in ("INSERT", "UPDATE"):  # a sheet is deleted with its survey alone
        name = f"study_sheets_{operation.lower()}_raises_revision"
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"CREATE TRIGGER {name} AFTER {operation} ON study_sheets BEGIN {change} END")
            continue
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {change} RETURN NULL; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {name} AFTER {operation} ON study_sheets FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
