"""Responses and invitations of each survey in tables of its own; what is to be tidied, survey by survey.

Revision: 0006
Follows: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_VERSION = "SELECT 1 FROM survey_versions v WHERE v.id = {row}.version_id AND v.survey_id = {survey}"
_STRATUM = "SELECT 1 FROM strata s WHERE s.id = {row}.stratum_id AND s.survey_id = {survey}"
_BATCH = "SELECT 1 FROM invitation_batches b WHERE b.id = {row}.batch_id AND b.survey_id = {survey}"
_STRANGERS = {
    "responses": f"NOT EXISTS ({_VERSION}) OR {{row}}.stratum_id IS NOT NULL AND NOT EXISTS ({_STRATUM})",
    "invitations": f"NOT EXISTS ({_BATCH})",
}
_KEYS = {"responses": "id", "invitations": "code_hash"}
_STAY = {"responses": "UPDATE", "invitations": "UPDATE OF batch_id"}
_ROWS = {
    "responses": "SELECT r.* FROM responses r JOIN survey_versions v ON v.id = r.version_id WHERE v.survey_id = ",
    "invitations": "SELECT r.* FROM invitations r JOIN invitation_batches b ON b.id = r.batch_id WHERE b.survey_id = ",
}


def upgrade() -> None:
    connection = op.get_bind()
    postgresql = connection.dialect.name == "postgresql"
    if postgresql:
        _functions()
    op.add_column("surveys", sa.Column("tidied_on", sa.Date()))
    surveys = connection.execute(sa.text("SELECT id FROM surveys ORDER BY id")).scalars().all()
    for survey in surveys:
        for kind in ("responses", "invitations"):
            _create(kind, survey)
            # In the order of the keys, which lie so in the file.
            op.execute(f"INSERT INTO {kind}_{survey} {_ROWS[kind]} {survey} ORDER BY r.{_KEYS[kind]}")
            _guard(kind, survey, postgresql)
    op.drop_table("responses")
    op.drop_table("invitations")
    op.drop_table("untidied")
    op.create_table(
        "untidied",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer()),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.Column("rewritten", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_untidied"),
    )
    # What was stored before is in the files still: of closed surveys, and in what all of them shared.
    op.execute(
        "INSERT INTO untidied (survey_id, since) SELECT id, CURRENT_TIMESTAMP FROM surveys WHERE state = 'closed'"
    )
    if surveys:
        op.execute("INSERT INTO untidied (since) VALUES (CURRENT_TIMESTAMP)")
    if postgresql:
        _keep_no_values(connection)


def _create(kind: str, survey: int) -> None:
    name = f"{kind}_{survey}"
    if kind == "responses":
        op.create_table(
            name,
            sa.Column("id", sa.LargeBinary(16), nullable=False),
            sa.Column("version_id", sa.Integer(), nullable=False),
            sa.Column("reports", sa.LargeBinary(), nullable=False),
            sa.Column("day", sa.Date(), nullable=False),
            sa.Column("stratum_id", sa.Integer()),
            sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
            sa.CheckConstraint("length(id) = 16", name=op.f(f"ck_{name}_id_is_128_bits")),
            sa.CheckConstraint("length(reports) >= 1", name=op.f(f"ck_{name}_reports_are_present")),
            sqlite_with_rowid=False,
        )
        return
    op.create_table(
        name,
        sa.Column("code_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("spent", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("code_hash", name=f"pk_{name}"),
        sa.CheckConstraint("length(code_hash) = 32", name=op.f(f"ck_{name}_code_hash_is_sha256")),
        sqlite_with_rowid=False,
    )


def _functions() -> None:
    for kind, strangers in _STRANGERS.items():
        wrong = strangers.format(row="written", survey="TG_ARGV[0]::integer")
        wrong = f"EXISTS (SELECT 1 FROM written WHERE {wrong})"  # noqa: S608
        op.execute(
            f"CREATE FUNCTION {kind}_belong() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {wrong} THEN "
            f"RAISE foreign_key_violation USING MESSAGE = '{kind} belong to their survey'; END IF; "
            f"RETURN NULL; END $$"
        )
        op.execute(
            f"CREATE OR REPLACE FUNCTION {kind}_are_immutable() RETURNS trigger LANGUAGE plpgsql "
            f"AS $$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = '{kind} are immutable'; END $$"
        )


def _guard(kind: str, survey: int, postgresql: bool) -> None:
    name = f"{kind}_{survey}"
    if postgresql:
        op.execute(
            f"CREATE TRIGGER {name}_belong AFTER INSERT ON {name} REFERENCING NEW TABLE AS written "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {kind}_belong({survey})"
        )
        op.execute(
            f"CREATE TRIGGER {name}_stay BEFORE {_STAY[kind]} ON {name} "
            f"FOR EACH ROW EXECUTE FUNCTION {kind}_are_immutable()"
        )
        return
    op.execute(
        f"CREATE TRIGGER {name}_belong BEFORE INSERT ON {name} "
        f"WHEN {_STRANGERS[kind].format(row='NEW', survey=survey)} "
        f"BEGIN SELECT RAISE(ABORT, '{kind} belong to their survey'); END"
    )
    op.execute(
        f"CREATE TRIGGER {name}_stay BEFORE {_STAY[kind]} ON {name} "
        f"BEGIN SELECT RAISE(ABORT, '{kind} are immutable'); END"
    )


def _keep_no_values(connection: sa.Connection) -> None:
    """Have the planner's statistics hold no text and no bytes: they would outlive the rows that hold them."""
    inspector = sa.inspect(connection)
    for table in inspector.get_table_names():
        for column in inspector.get_columns(table):
            if isinstance(column["type"], sa.String | sa.LargeBinary):
                op.execute(f'ALTER TABLE "{table}" ALTER "{column["name"]}" SET STATISTICS 0')
