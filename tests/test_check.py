"""`python -m server check`: what damages an invariant is noticed; the start refuses what is quick to see."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from server import archives
from server.archives.invariants.schema_checks import SHARED_TRIGGERS
from server.store.engines import make_engine
from server.store.models import Survey
from tests.conftest import NewDatabase, drop_database
from tests.support import factories
from tests.support.interrupted_imports import bring
from tests.test_rights import brought, export, name_of, release, study

# What damages, how, and what is said of it; without what the database itself would refuse.
DAMAGES = {
    "table": ("schema", "DROP TABLE report_links", "table report_links is missing"),
    "column": ("schema", "ALTER TABLE responses_1 ADD COLUMN received_at INTEGER", "has received_at"),
    "own table": ("schema", "DROP TABLE counters_1", "table counters_1 is missing"),
    "stray table": ("schema", "CREATE TABLE cells_77 (id INTEGER)", "table cells_77 is of no survey"),
    "own trigger": ("triggers", "DROP TRIGGER responses_1_stay", "trigger responses_1_stay is missing"),
    "trigger": (
        "triggers",
        "DROP TRIGGER releases_refuse_update",
        "trigger releases_refuse_update is missing",
    ),
    "version": (
        "versions",
        "UPDATE survey_versions SET sha256 = '0' || substr(sha256, 1, 63)",
        "another one",
    ),
    "reports": (
        "versions",
        "UPDATE survey_versions SET reports = {seven}",
        "another number of reports",
    ),
    "ledger": ("ledgers", "UPDATE ledger_entries SET epsilon = '70'", "spent epsilon 70"),
    "budget": ("ledgers", "DELETE FROM privacy_budgets", "no budget"),
    "value": ("ledgers", "DELETE FROM released_values", "has no value"),
    "gap": ("ledgers", "UPDATE releases SET number = 5", "have a gap"),
    "stray row": ("references", "UPDATE drafts SET survey_id = 99", "by drafts.survey_id"),
    "stratum": ("references", "UPDATE responses_1 SET stratum_id = 5", "by responses_1.stratum_id"),
    "response": (
        "counts",
        "DELETE FROM responses_1 WHERE id = (SELECT min(id) FROM responses_1)",
        "recount",
    ),
    "batch": ("counts", "UPDATE batches_1 SET n = n + 1", "recount"),
    "margins": ("counts", "UPDATE batches_1 SET margins = {seven}", "batches have sums that are not"),
    "days": ("counts", "UPDATE batches_1 SET days = '[]'", "batches have sums that are not"),
    "index": ("schema", "DROP INDEX uq_surveys_link", "index uq_surveys_link"),
    "surveys": ("schema", "ALTER TABLE surveys RENAME TO others", "table surveys is missing"),
    "no definition": (
        "versions",
        # The SHA-256 of what then stands there.
        "UPDATE survey_versions SET published = {seven}, sha256 = "
        "'c7b99f1c681eaad2096f54c0380b8f950fa5cbe47cb3695ed590167c0dfff315'",
        "is no definition",
    ),
    "draft again": ("versions", "UPDATE surveys SET state = 'draft'", "is a draft, and was published"),
    "unpublished": ("versions", "DELETE FROM survey_versions", "was never published"),
    "unreadable": ("ledgers", "UPDATE ledger_entries SET epsilon = 'much'", "cannot be read"),
    "nobody's": ("ledgers", "DELETE FROM servers", "cannot be read"),
    "draft": ("drafts", "UPDATE drafts SET document = {seven}", "no draft that can be read"),
    "study sheet": (
        "study sheets",
        "INSERT INTO study_sheets (survey_id, number, document) VALUES (1, 1, '{\"doi\": 1}')",
        "has a study sheet that cannot be read",
    ),
    "circle": (
        "references",
        "INSERT INTO strata (id, survey_id, parent_id, position, name, slug) VALUES (7, 1, 7, 0, 'A', 'a')",
        "1 strata are below none",
    ),
}
UNUSABLE = "Error: DATABASE_URL must name a database that can be used: "


def damage(url: str, statement: str) -> None:
    """Change something behind the database's back: while no trigger and no foreign key holds."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            triggers = file.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            lifted = triggers if statement.startswith(("UPDATE", "DELETE")) else []
            for name, _ in lifted:
                file.execute(f"DROP TRIGGER {name}")
            file.execute(statement.replace("{seven}", "x'0707'"))
            for _, made in lifted:
                file.execute(made)
            file.commit()
        return
    if statement.startswith("DROP TRIGGER"):
        statement += " ON " + ("responses_1" if "responses_1" in statement else "releases")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql(statement.replace("{seven}", r"'\x0707'"))
    engine.dispose()


def find_problems(url: str, *options: str) -> tuple[int, dict[str, list[str]]]:
    """The status, and the problems of each invariant."""
    done = factories.run(url, "check", "--json", *options)
    return done.exit_code, {each["name"]: each["problems"] for each in json.loads(done.stdout)}


@contextmanager
def observed_statements() -> Iterator[list[str]]:
    """What any database is asked meanwhile."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def whole(request: pytest.FixtureRequest) -> tuple[NewDatabase, str]:
    """A database with a survey that has everything, a release among it, and no problem; with what copies it."""
    new_database: NewDatabase = request.getfixturevalue(request.param)
    url = new_database(True)
    slug = study(url)
    assert release(url, slug, "0.3").exit_code == 0
    status, problems = find_problems(url)
    assert (status, {name for name, named in problems.items() if named}) == (0, set())
    factories.let_go(url)
    return new_database, url


@pytest.fixture
def filled_database(whole: tuple[NewDatabase, str]) -> Iterator[str]:
    """A copy of it."""
    new_database, url = whole
    copy = new_database(True, url)
    yield copy
    drop_database(copy)


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_damaged_is_named(filled_database: str, name: str) -> None:
    invariant, statement, sentence = DAMAGES[name]
    damage(filled_database, statement)

    status, problems = find_problems(filled_database)
    assert status == 1
    assert any(sentence in each for each in problems[invariant]), problems
    quick = find_problems(filled_database, "--quick")
    assert quick[0] == int(invariant in quick[1])
    served = (
        factories.run(filled_database, "serve", "--port", str(factories.free_port())) if quick[0] else None
    )
    if served:
        assert served.exit_code == 2
        assert served.stderr.startswith(("Error: the database is not as it must be: ", UNUSABLE)), (
            served.stderr
        )
        assert len(served.stderr.splitlines()) == 1


def test_a_page_of_the_file_that_is_none_is_named(sqlite: NewDatabase) -> None:
    """An index without the rows of its table, which the start's look at pages passes by."""
    url = sqlite(True)
    study(url)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
        file.execute("PRAGMA writable_schema = ON")
        (sql,) = file.execute("SELECT sql FROM sqlite_schema WHERE name = 'uq_surveys_link'").fetchone()
        file.execute(
            "UPDATE sqlite_schema SET sql = ? WHERE name = 'uq_surveys_link'", [f"{sql} WHERE id > 7"]
        )
        file.commit()
    status, problems = find_problems(url)
    assert (status, len(problems["file"])) == (1, 1), problems


@pytest.mark.parametrize(("enabled", "status"), [("ALWAYS", 0), ("REPLICA", 1)])
def test_a_trigger_that_never_fires_is_missing(postgresql: NewDatabase, enabled: str, status: int) -> None:
    url = postgresql(True)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"ALTER TABLE releases ENABLE {enabled} TRIGGER releases_refuse_update")
    engine.dispose()
    assert find_problems(url)[0] == status


@pytest.mark.parametrize("option", ["none", "--move-to", "--share-to"])
def test_copies_and_what_gave_them_are_whole(new_database: NewDatabase, tmp_path: Path, option: str) -> None:
    """With releases from before and after, on either side."""
    url, other = new_database(True), new_database(True)
    there = name_of(other)
    name_of(url)
    slug = study(url)
    assert release(url, slug, "0.3").exit_code == 0
    shared = ["--epsilon", "0.5"] if option == "--share-to" else []
    given = [] if option == "none" else [option, there, *shared]
    assert export(url, slug, tmp_path / "a.zip", *given).exit_code == 0
    copy = brought(other, tmp_path / "a.zip")["survey"]
    assert release(url, slug, "0.2").exit_code == (2 if option == "--move-to" else 0)
    assert release(other, copy, "0.4").exit_code == (2 if option == "none" else 0)
    assert find_problems(url)[0] == 0, find_problems(url)
    assert find_problems(other)[0] == 0, find_problems(other)


def test_a_survey_on_its_way_in_is_no_damage(new_database: NewDatabase, tmp_path: Path) -> None:
    url, other = new_database(True), new_database(True)
    name_of(other)
    slug = study(url)
    assert release(url, slug, "0.3").exit_code == 0
    assert export(url, slug, tmp_path / "a.zip").exit_code == 0
    seen = []
    with (tmp_path / "a.zip").open("rb") as file:
        bring(other, file, lambda _told: seen.append(find_problems(other)))
    assert len(seen) > 1
    assert {status for status, _ in seen} == {0}, seen


def test_what_a_deleted_survey_left_to_be_tidied_is_no_damage(filled_database: str) -> None:
    with factories.writing(filled_database) as session:
        (survey,) = session.scalars(sa.select(Survey))
        archives.delete(session, survey)
    assert find_problems(filled_database)[0] == 0
    assert factories.run(filled_database, "tidy").exit_code == 0
    assert find_problems(filled_database)[0] == 0


def test_the_triggers_are_those_that_migrations_make(database_url: str) -> None:
    engine = make_engine(database_url)
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            query = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        else:
            query = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        assert set(connection.exec_driver_sql(query).scalars()) == SHARED_TRIGGERS
    engine.dispose()


def test_the_quick_form_reads_no_row_of_respondents(filled_database: str) -> None:
    """However many there are: it goes on where their tables cannot be read, which the whole form cannot."""
    with observed_statements() as quick:
        assert find_problems(filled_database, "--quick")[0] == 0
    with observed_statements() as seen:
        assert find_problems(filled_database)[0] == 0
    own = ("responses_1", "invitations_1", "cells_1", "batches_1", "counters_1")
    assert not [each for each in quick if any(f"FROM {name}" in each for name in own)]
    assert [each for each in seen if "FROM responses_1" in each]


def test_of_each_survey_its_own_versions_are_looked_at(new_database: NewDatabase) -> None:
    """And no other's: with hundreds of surveys the whole form would take hours."""
    url = new_database(True)
    asked = []
    for _ in range(3):
        factories.publish(url)
        with observed_statements() as seen:
            assert find_problems(url)[0] == 0
        asked.append(len(seen))
    assert asked[2] - asked[1] == asked[1] - asked[0]
