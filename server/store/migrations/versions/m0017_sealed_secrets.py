"""Secrets of apps for codes under a key outside the database; surveys from a backup which left something out.

Revision: 0017
Follows: 0016
"""

import sqlalchemy as sa
from alembic import op

from server.store.sealed_secrets import seal

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("incomplete", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("researchers", sa.Column("totp_sealed", sa.Text()))
    connection = op.get_bind()
    query = "SELECT id, totp_secret FROM researchers WHERE totp_secret IS NOT NULL"
    stored = connection.execute(sa.text(query)).all()
    for number, secret in stored:
        values = {"sealed": seal(secret, number), "number": number}
        connection.execute(sa.text("UPDATE researchers SET totp_sealed = :sealed WHERE id = :number"), values)
    op.drop_column("researchers", "totp_secret")
    if stored:  # the files hold them as they were until all that surveys share is written anew
        op.execute(
            "INSERT INTO untidied (since) SELECT CURRENT_TIMESTAMP "
            "WHERE NOT EXISTS (SELECT 1 FROM untidied WHERE survey_id IS NULL AND NOT rewritten)"
        )
