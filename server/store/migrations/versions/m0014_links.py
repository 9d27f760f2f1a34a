"""Links that are replaced: the one of a survey beside its name, and those that lead to it no more.

Revision: 0014
Follows: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("link", sa.String(32), nullable=False, server_default=sa.text("''")))
    op.execute("UPDATE surveys SET link = slug")
    op.create_index("uq_surveys_link", "surveys", ["link"], unique=True)
    op.create_table(
        "closed_links",
        sa.Column("slug", sa.String(32), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("slug", name="pk_closed_links"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_closed_links_survey_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["stratum_id"], ["strata.id"], name="fk_closed_links_stratum_id", ondelete="CASCADE"
        ),
    )
    for column in ("survey_id", "stratum_id"):
        op.create_index(f"ix_closed_links_{column}", "closed_links", [column])
