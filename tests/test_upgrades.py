"""Upgrades: every migration by itself, a server that a newer version overtook, and one version number everywhere."""

import re
import shutil
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from server import __version__
from server.store.engines import list_migrations, make_engine, migrate, migrate_within
from server.store.failures import Failure
from server.study.definitions import version_of
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import back_up, key_of, restore, rows_of, run_with

MIGRATIONS = factories.ROOT / "server" / "store" / "migrations"
LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "NEWEST", None, None

def upgrade():
    op.add_column("surveys", sa.Column("extra", sa.Integer()))
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a made-up version that comes after this one."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    (folder / "versions" / "m9999_later.py").write_text(LATER.replace("NEWEST", str(newest)))
    return folder


def upgrade(url: str, folder: Path) -> None:
    """What a process of the made-up version does when it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.store.engines._MIGRATIONS", folder)
        engine = make_engine(url)
        migrate(engine)
        engine.dispose()


def test_migrations_are_known_by_the_names_of_their_files() -> None:
    revisions = ScriptDirectory(str(MIGRATIONS)).walk_revisions()

    assert list_migrations() == [each.revision for each in reversed(list(revisions))]


def test_data_goes_through_each_migration_by_itself(empty_database_url: str) -> None:
    """From a survey of the fourth revision on, as the tests of single migrations store it, to a whole database."""
    engine = make_engine(empty_database_url)
    scripts = ScriptDirectory(str(MIGRATIONS))
    revisions = [each.revision for each in reversed(list(scripts.walk_revisions()))]
    published = parse_definition(factories.definition()).to_canonical()
    for revision in revisions:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            migrate_within(connection, revision)
            if revision == "0004":
                _store(connection, published)
    engine.dispose()

    checked = factories.run(empty_database_url, "check")
    assert checked.exit_code == 0, checked.stdout
    assert len(factories.list_responses(empty_database_url)) == 40
    assert revisions[0] == "0001"
    assert len(revisions) >= 16


def _store(connection: sa.Connection, published: bytes) -> None:
    metadata = sa.MetaData()
    metadata.reflect(connection)
    day = date(2025, 1, 1)
    rows: dict[str, list[dict[str, Any]]] = {
        "researchers": [{"id": 1, "name": "R", "administrator": True}],
        "surveys": [
            {
                **{"id": 1, "slug": "s", "owner_id": 1, "state": "open", "created_on": day},
                **{"simulated": False, "paused": False, "by_invitation": False, "minimum": 5},
            }
        ],
        "survey_versions": [
            {
                **{"id": 1, "survey_id": 1, "number": 1, "published": published, "reports": b"\2\2"},
                **{"sha256": version_of(published), "published_on": day},
            }
        ],
        "drafts": [{"survey_id": 1, "number": 1, "document": published}],
        "responses": [
            {"id": bytes([k] * 16), "version_id": 1, "reports": bytes([k % 2, 0]), "day": day}
            for k in range(40)
        ],
    }
    for table, some in rows.items():
        connection.execute(metadata.tables[table].insert(), some)


def test_a_server_that_a_newer_version_overtook_answers_503_and_stores_nothing(
    new_database: NewDatabase, later: Path, tmp_path: Path
) -> None:
    """It says so once, whatever else is asked of it."""
    url = new_database(True)
    survey = factories.publish(url)
    with (tmp_path / "log").open("w") as log, factories.serving(url, log) as served:
        assert factories.ask(served.url + survey.url, survey.response())[0] == 201
        assert factories.ask(f"{served.url}/s/{survey.slug}")[0] == 200
        upgrade(url, later)
        before = factories.list_responses(url)
        for path in (f"/s/{survey.slug}", f"/s/{survey.slug}/survey.json", "/manage/surveys"):
            assert factories.ask(served.url + path)[0] == 503, path
        status, headers, _ = factories.ask(served.url + survey.url, survey.response())
        assert (status, int(headers["Retry-After"]) > 0) == (503, True)
    assert factories.list_responses(url) == before
    assert (tmp_path / "log").read_text().count(Failure.OUTDATED.value) == 1
    refused = factories.run(url, "serve", "--port", str(factories.free_port()))
    assert (refused.exit_code, "newer version of Moneda" in refused.stderr) == (2, True)


def test_a_backup_of_an_older_schema_is_restored_and_one_of_a_newer_is_refused(
    new_database: NewDatabase, later: Path, tmp_path: Path
) -> None:
    url, new, other = new_database(True), new_database(False), new_database(False)
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 1], 9)])
    back_up(url, tmp_path / "old")
    expected = rows_of(url)["responses"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.store.engines._MIGRATIONS", later)
        restore(new, tmp_path / "old")
        assert rows_of(new)["responses"] == expected
        assert rows_of(new)["alembic_version"] == [("9999",)]
        back_up(new, tmp_path / "new")
    refused = run_with(other, "restore", str(tmp_path / "new"), *key_of(tmp_path / "new"))
    assert (refused.exit_code, "made by a newer version of Moneda" in refused.stderr) == (2, True)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((factories.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    newest = re.search(r"^## (\S+)", (factories.ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert project == __version__
    assert newest[1] == ("Unreleased" if ".dev" in __version__ else __version__)
