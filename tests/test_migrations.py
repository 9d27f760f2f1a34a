"""The schema that migrations make is the schema that the models describe."""

import hashlib
import re
import shutil
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config as AlembicConfig
from alembic.migration import MigrationContext

from server.archives.backups.backup_rows import describe_columns
from server.archives.backups.restoring import has_columns
from server.collect import batches
from server.store import own_tables
from server.store.engines import make_engine, migrate, migrate_within, open_session
from server.store.models import Base, Survey
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, dump

_OWN = re.compile(
    r"(responses|invitations|cells|batches|counters|withdrawals|removals|purchases|tickets)_\d+"
)
"""The tables that each survey has of its own."""

FAILS = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "NEWEST", None, None

def upgrade():
    op.add_column("surveys", sa.Column("extra", sa.Integer()))
    op.execute("DELETE FROM survey_versions")
    raise ArithmeticError
"""


def _differences(engine: sa.Engine, metadata: sa.MetaData) -> list[Any]:
    """What Alembic would change to make the database equal to the models."""

    def is_shared(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or not _OWN.fullmatch(str(name))

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"compare_type": True, "compare_server_default": True, "include_name": is_shared},
        )
        return list(compare_metadata(context, metadata))


def _describe_tables(engine: sa.Engine) -> dict[str, Any]:
    """Everything that the database itself says about its tables, names of constraints included."""
    inspector = sa.inspect(engine)
    tables = sorted(set(inspector.get_table_names()) - {"alembic_version"})

    def plain(found: list[Any]) -> list[str]:
        return sorted(
            repr(sorted((key, describe_value(value)) for key, value in entry.items())) for entry in found
        )

    def describe_value(value: Any) -> str:
        # A condition is an object of its own, which tells its place in memory from within a dictionary.
        return str({key: str(part) for key, part in value.items()}) if isinstance(value, dict) else str(value)

    return {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table)
            ],
            "primary key": plain([inspector.get_pk_constraint(table)]),
            "foreign keys": plain(inspector.get_foreign_keys(table)),
            "unique": plain(inspector.get_unique_constraints(table)),
            "checks": plain(inspector.get_check_constraints(table)),
            "indexes": plain(inspector.get_indexes(table)),
            "options": str(inspector.get_table_options(table)),
        }
        for table in tables
    }


def _describe_models(engine: sa.Engine) -> dict[str, Any]:
    Base.metadata.create_all(engine)
    return _describe_tables(engine)


def test_schema_after_migrations_equals_the_models(new_database: NewDatabase) -> None:
    migrated, modelled = (make_engine(new_database(False)) for _ in range(2))
    migrate(migrated)

    assert _differences(migrated, Base.metadata) == []
    described = _describe_tables(migrated)
    assert described == _describe_models(modelled)
    assert any(table["checks"] for table in described.values())
    migrated.dispose()
    modelled.dispose()


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE surveys ADD COLUMN received_at TIMESTAMP",
        "DROP INDEX ix_surveys_owner_id",
        "CREATE TABLE visits (address VARCHAR(40))",
    ],
)
def test_schema_that_differs_is_noticed(database_url: str, change: str) -> None:
    """The broken twin: one column, index or table too many or too few."""
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(change)

    assert _differences(engine, Base.metadata) != []
    engine.dispose()


def test_constraint_that_differs_is_noticed(new_database: NewDatabase) -> None:
    """The broken twin of what Alembic does not compare: a CHECK constraint under another name."""
    migrated, other = (make_engine(new_database(False)) for _ in range(2))
    migrate(migrated)
    metadata = sa.MetaData()
    for table in Base.metadata.sorted_tables:
        table.to_metadata(metadata)
    check = next(c for c in metadata.tables["surveys"].constraints if isinstance(c, sa.CheckConstraint))
    check.name = "ck_surveys_other"
    metadata.create_all(other)

    assert _differences(other, Base.metadata) == []
    assert _describe_tables(other) != _describe_tables(migrated)
    migrated.dispose()
    other.dispose()


def test_migrating_again_changes_nothing(survey: Published, database_url: str) -> None:
    before = dump(database_url)
    engine = make_engine(database_url)

    migrate(engine)

    assert _differences(engine, Base.metadata) == []
    engine.dispose()
    assert dump(database_url) == before
    assert [row[2] for row in before["surveys"]], "there was something to keep"


def test_drafts_are_kept_by_the_migration_that_moves_them(empty_database_url: str) -> None:
    """Surveys of the first release, each with its one draft: the same words afterwards, as state 1."""
    engine = make_engine(empty_database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        _upgrade(connection, "0001")
        connection.exec_driver_sql("INSERT INTO researchers (id, name) VALUES (1, 'R')")
        old = sa.Table("surveys", sa.MetaData(), autoload_with=connection)
        fixed = {"owner_id": 1, "state": "draft", "simulated": False, "created_on": date(2025, 1, 1)}
        drafts = [b'{"title": "\xc3\xa1"}', b'{"title": "b"}']
        for number, document in enumerate(drafts, start=1):
            connection.execute(old.insert().values(id=number, slug=f"s{number}", draft=document, **fixed))

    migrate(engine)

    engine.dispose()
    after = dump(empty_database_url)
    assert after["drafts"] == [(1, 1, drafts[0]), (2, 1, drafts[1])]
    assert [row[1] for row in after["surveys"]] == ["s1", "s2"]
    assert _column(empty_database_url, "draft_number") == [1, 1]


def test_responses_and_the_first_researcher_are_kept_by_the_migration_of_running(
    empty_database_url: str,
) -> None:
    """Responses of the second release: the same afterwards, without a stratum, and still never changed."""
    engine = make_engine(empty_database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        _upgrade(connection, "0002")
        metadata = sa.MetaData()
        metadata.reflect(connection)
        day, hashed = date(2025, 1, 1), "0" * 64
        rows: dict[str, dict[str, Any]] = {
            "researchers": {"id": 1, "name": "R"},
            "surveys": {
                "id": 1,
                "slug": "s",
                "owner_id": 1,
                "state": "open",
                "created_on": day,
                "simulated": False,
            },
            "survey_versions": {"id": 1, "survey_id": 1, "number": 1, "sha256": hashed, "published_on": day},
            "responses": {"id": b"0123456789abcdef", "version_id": 1, "reports": b"\x01", "day": day},
        }
        rows["survey_versions"] |= {"published": b"{}", "reports": b"\x02"}
        for table, row in rows.items():
            connection.execute(metadata.tables[table].insert().values(**row))

    migrate(engine)

    stored = (hashed_id(b"0123456789abcdef"), 1, b"\x01", day, None, 0)
    assert dump(empty_database_url)["responses"] == [stored]
    assert _column(empty_database_url, "administrator", "researchers") == [True]
    with pytest.raises(sa.exc.DatabaseError, match="immutable"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE responses_1 SET version_id = 1")
    engine.dispose()


@pytest.mark.parametrize("closed", [True, False])
def test_stored_responses_are_entered_into_the_books(empty_database_url: str, closed: bool) -> None:
    """Responses of the fourth release: closed, all are shown; open, so many of each cell wait as if they came now."""
    engine = make_engine(empty_database_url)
    days = [date(2025, 1, 1 + k % 3) for k in range(57)]
    with engine.execution_options(moneda_writes=True).begin() as connection:
        _upgrade(connection, "0004")
        metadata = sa.MetaData()
        metadata.reflect(connection)
        fixed = {"survey_id": 1, "published": b"{}", "reports": b"\2\2", "published_on": days[0]}
        state = {"state": "closed" if closed else "open", "minimum": 5, "created_on": days[0]}
        answered = [
            {
                "id": bytes([k] * 16),
                "version_id": 1 + k // 40,
                "stratum_id": (None, 7)[k < 8],
                "reports": bytes([k % 2, k // 2 % 2]),
                "day": day,
            }
            for k, day in enumerate(days)
        ]
        rows: dict[str, list[dict[str, Any]]] = {
            "researchers": [{"id": 1, "name": "R"}],
            "surveys": [{"id": 1, "slug": "s", "owner_id": 1, "simulated": False, **state}],
            "survey_versions": [{"id": k, "number": k, "sha256": f"{k:064}", **fixed} for k in (1, 2)],
            "strata": [{"id": 7, "survey_id": 1, "position": 0, "name": "S", "slug": "t"}],
            "responses": answered,
        }
        for table, some in rows.items():
            connection.execute(metadata.tables[table].insert(), some)

    migrate(engine)

    with open_session(engine, writes=False) as session:
        survey = session.get_one(Survey, 1)
        shown = batches.count_sealed(session, survey)
        by_day = batches.count_sealed_by_day(session, survey)
        recounted = batches.recount(session.connection(), 1)
    engine.dispose()
    assert (recounted.agrees, recounted.rows) == (True, 57)
    assert shown == ({(1, 7): 8, (1, None): 32, (2, None): 17} if closed else {(1, None): 27, (2, None): 12})
    assert {key: sum(counts.values()) for key, counts in by_day.items()} == shown
    if closed:
        keys = [(row["version_id"], row["stratum_id"], row["day"]) for row in answered]
        assert {(*key, day): n for key, days in by_day.items() for day, n in days.items()} == Counter(keys)


def test_rows_of_surveys_move_into_tables_of_their_own(empty_database_url: str) -> None:
    """Two surveys and their codes: the same rows afterwards, in tables that are made as those of a new survey."""
    engine = make_engine(empty_database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        _upgrade(connection, "0004")
        metadata = sa.MetaData()
        metadata.reflect(connection)
        day = date(2025, 1, 1)
        rows: list[tuple[str, dict[str, Any]]] = [
            ("researchers", {"id": 1, "name": "R", "administrator": True})
        ]
        for k in (21, 22):
            state = "closed" if k == 22 else "open"
            fixed = {"owner_id": 1, "state": state, "created_on": day, "simulated": False}
            version = {"sha256": f"{k}" * 32, "published": b"{}", "reports": b"\2", "published_on": day}
            batch = {"label": "b", "issued_on": day, "size": 9}
            rows += [
                ("surveys", {"id": k, "slug": f"s{k}", **fixed, "paused": False, "by_invitation": False}),
                ("survey_versions", {"id": 7 * k, "survey_id": k, "number": 1, **version}),
                ("invitation_batches", {"id": 9 * k, "survey_id": k, **batch}),
            ]
            for n in range(5):
                key = bytes([n, k]) * 8
                rows.append(("responses", {"id": key, "version_id": 7 * k, "reports": b"\1", "day": day}))
                rows.append(("invitations", {"code_hash": 2 * key, "batch_id": 9 * k, "spent": n < 2}))
        for table, row in rows:
            connection.execute(metadata.tables[table].insert().values(**row))

    migrate(engine)

    for k in (21, 22):
        keys = [bytes([n, k]) * 8 for n in range(5)]
        stored = sorted(hashed_id(key) for key in keys)
        assert _rows(engine, f"responses_{k}") == [(key, 7 * k, b"\1", day, None, 0) for key in stored]
        assert _rows(engine, f"invitations_{k}") == [(2 * key, 9 * k, n < 2) for n, key in enumerate(keys)]
    # What was stored before is to be tidied: the closed survey, and what all of them shared.
    assert [row[1] for row in dump(empty_database_url)["untidied"]] == [22, None]
    new = factories.draft(empty_database_url, factories.definition())
    ((number,),) = _select_rows(engine, f"SELECT id FROM surveys WHERE slug = '{new}'")  # noqa: S608
    assert _own(engine, number) == _own(engine, 21)
    with engine.begin() as connection:  # the broken twin
        connection.exec_driver_sql("ALTER TABLE responses_21 ADD COLUMN received_at TIMESTAMP")
    assert _own(engine, number) != _own(engine, 21)
    engine.dispose()


def test_tables_that_have_modes_already_are_left_as_they_are(survey: Published, database_url: str) -> None:
    """As a backup from before is restored: into tables as they are now, at the revision that it was made at."""
    factories.store(database_url, survey, [((0, 1), 3)])
    before = dump(database_url)["responses"]
    engine = make_engine(database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0026'")
        migrate_within(connection, "0027")

    engine.dispose()
    assert dump(database_url)["responses"] == before
    table = own_tables.table(own_tables.RESPONSES, 0)
    columns = describe_columns(table)
    assert has_columns(table, columns[:-1])
    assert not has_columns(table, columns[1:])
    assert not has_columns(table, [*columns, ["received_at", "moment"]])


def hashed_id(receipt: bytes) -> bytes:
    """What is stored of a receipt since the migration of receipts: half of its SHA-256."""
    return hashlib.sha256(receipt).digest()[:16]


def _select_rows(engine: sa.Engine, query: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def _rows(engine: sa.Engine, table: str) -> list[tuple[Any, ...]]:
    """As they lie in the file."""
    with engine.connect() as connection:
        found = connection.execute(sa.select(sa.Table(table, sa.MetaData(), autoload_with=connection)))
        return [tuple(bytes(cell) if isinstance(cell, memoryview) else cell for cell in row) for row in found]


def _own(engine: sa.Engine, number: int) -> str:
    """A survey's own tables and what guards them, without its number."""
    names = tuple(kind.name + f"_{number}" for kind in own_tables.KINDS)
    described = {name: table for name, table in _describe_tables(engine).items() if name in names}
    if engine.dialect.name == "sqlite":
        guards = f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN {names} ORDER BY name"  # noqa: S608
    else:
        guards = (
            "SELECT tgname, pg_get_triggerdef(t.oid), attname, attstattarget, attstorage FROM pg_attribute "  # noqa: S608
            "LEFT JOIN pg_trigger t ON attrelid = tgrelid AND NOT tgisinternal "
            f"WHERE attrelid::regclass::text IN {names} "
            "ORDER BY tgname, attname, attstattarget, attstorage"
        )
    told = f"{described} {_select_rows(engine, guards)}"
    return re.sub(rf"_{number}(?=\D)|\({number}\)|'{number}'|(?<!>)= {number}\b", "_N", told)


def _column(database_url: str, name: str, table: str = "surveys") -> list[Any]:
    engine = make_engine(database_url)
    with engine.connect() as connection:
        found = list(connection.exec_driver_sql(f"SELECT {name} FROM {table}").scalars())  # noqa: S608
    engine.dispose()
    return found


def _upgrade(connection: sa.Connection, revision: str) -> None:
    config = AlembicConfig()
    config.set_main_option("script_location", str(factories.ROOT / "server" / "store" / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def test_failed_migration_leaves_the_database_as_it_was(
    database_url: str, survey: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second migration that fails half-way: its first half is undone with it."""
    before = dump(database_url)
    ((newest,),) = before["alembic_version"]
    folder = tmp_path / "migrations"
    shutil.copytree(factories.ROOT / "server" / "store" / "migrations", folder)
    (folder / "versions" / "m9999_fails.py").write_text(FAILS.replace("NEWEST", str(newest)))
    monkeypatch.setattr("server.store.engines._MIGRATIONS", folder)
    engine = make_engine(database_url)

    with pytest.raises(ArithmeticError):
        migrate(engine)

    assert _differences(engine, Base.metadata) == []
    engine.dispose()
    assert dump(database_url) == before
