"""New surveys begin with a random revision.

SQLite gives the id of the survey that was deleted last to the next one. What a process remembers of the
former must not pass for the latter's: were both to begin with 1, they could meet.

Revision: 0008
Follows: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    name = "surveys_insert_raises_revision"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"DROP TRIGGER {name}")
        op.execute(
            f"CREATE TRIGGER {name} AFTER INSERT ON surveys BEGIN "  # noqa: S608
            "INSERT INTO revisions (survey_id, number) VALUES (NEW.id, abs(random() % 1000000000) + 1); END"
        )
        return
    op.execute(
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "  # noqa: S608
        "INSERT INTO revisions (survey_id, number) VALUES (NEW.id, floor(random() * 1000000000)::integer + 1); "
        "RETURN NULL; END $$"
    )
