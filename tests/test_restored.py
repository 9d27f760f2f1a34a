"""A database that was restored from a backup spends nothing before its owner has declared what was spent since."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.test_rights import SOMEWHERE, brought, export, name_of, release, run, run_json, study

NOTICED = "may have been restored from a backup"

Restore = Callable[[], None]


def back_up(url: str) -> Restore:
    """Keep the database, and not its mark, as it is now; what brings it back."""
    parts = sa.make_url(url)
    if parts.get_backend_name() == "sqlite":
        path = Path(str(parts.database))
        kept = path.with_name(f"{path.name}.{len(list(path.parent.iterdir()))}.backup")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", [str(kept)])

        def restore() -> None:
            for ending in ("-wal", "-shm"):
                Path(f"{path}{ending}").unlink(missing_ok=True)
            shutil.copy(kept, path)

        return restore
    kept_name = f"{parts.database}_backup"
    factories.let_go(url)  # a database that somebody is connected to is no template
    as_admin(url, f"CREATE DATABASE {kept_name} TEMPLATE {parts.database}")

    def restore_dump() -> None:
        factories.let_go(url)
        as_admin(url, f"DROP DATABASE {parts.database} WITH (FORCE)")
        as_admin(url, f"CREATE DATABASE {parts.database} TEMPLATE {kept_name}")

    return restore_dump


def as_admin(url: str, command: str) -> None:
    engine = sa.create_engine(sa.make_url(url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(command)
    engine.dispose()


def mark_of(url: str) -> Path:
    """The file beside the database."""
    parts = sa.make_url(url)
    if parts.get_backend_name() == "sqlite":
        return Path(f"{parts.database}.spent")
    (found,) = Path(os.environ["MONEDA_MARKS"]).glob(f"{parts.database}-*.spent")
    return found


def is_refused(url: str, slug: str) -> bool:
    done = release(url, slug, "0.1")
    assert done.exit_code in (0, 2), done.output
    assert (NOTICED in done.stderr) == (done.exit_code == 2), done.stderr
    return done.exit_code == 2


def declare(url: str, slug: str, epsilon: str) -> float:
    """Declare what was spent; what is left then."""
    done = run_json(url, "release", slug, "--declare", epsilon)
    assert done["entries"][-1]["what"] == {"kind": "declared"}
    return float(done["left"])


def test_what_a_backup_has_forgotten_must_be_declared(new_database: NewDatabase, tmp_path: Path) -> None:
    url = new_database(True)
    slug = study(url)
    release(url, slug, "0.3")
    restore = back_up(url)
    assert release(url, slug, "0.4").exit_code == 0
    restore()

    assert is_refused(url, slug)
    book = run_json(url, "release", slug)
    assert (book["restored"], book["left"], len(book["entries"])) == (True, 0, 1)
    for right in (("--move-to", SOMEWHERE), ("--share-to", SOMEWHERE, "--epsilon", "0.1")):
        done = export(url, slug, tmp_path / "a.zip", *right)
        assert (done.exit_code, NOTICED in done.stderr) == (2, True), done.stderr

    assert declare(url, slug, "0.4") == pytest.approx(0.3)
    assert release(url, slug, "0.31").exit_code == 2
    assert release(url, slug, "0.3").exit_code == 0
    # The same backup once more: the declaration is forgotten, too.
    restore()
    assert is_refused(url, slug)


@pytest.mark.parametrize("before", ["", "9"])
def test_a_budget_that_was_set_or_changed_since_comes_back(
    new_database: NewDatabase, tmp_path: Path, before: str
) -> None:
    """What was promised stays the limit, however much an older database allowed, or its owner sets now."""
    url = new_database(True)
    slug = study(url, before)
    restore = back_up(url)
    assert run(url, "release", slug, "--budget-epsilon", "1").exit_code == 0
    assert release(url, slug, "0.9").exit_code == 0
    restore()

    anew = run(url, "release", slug, "--budget-epsilon", "100")
    assert (anew.exit_code, NOTICED in anew.stderr) == (2, True), anew.stderr
    assert run_json(url, "release", slug)["budget"]["epsilon"] == 1
    assert "from 0 to 1; it is 1.5" in run(url, "release", slug, "--declare", "1.5").stderr
    assert declare(url, slug, "0.9") == pytest.approx(0.1)
    assert release(url, slug, "0.2").exit_code == 2


def test_nothing_is_asked_where_nothing_was_forgotten(new_database: NewDatabase) -> None:
    url = new_database(True)
    slug, other = study(url), study(url)
    assert release(url, slug, "0.3").exit_code == 0
    restore = back_up(url)
    assert release(url, other, "0.3").exit_code == 0
    restore()
    assert (is_refused(url, slug), is_refused(url, other)) == (False, True)


def test_a_right_that_was_given_since_is_not_given_again(url: str, tmp_path: Path) -> None:
    slug = study(url)
    restore = back_up(url)
    assert export(url, slug, tmp_path / "a.zip", "--move-to", SOMEWHERE).exit_code == 0
    restore()
    assert is_refused(url, slug)
    assert NOTICED in export(url, slug, tmp_path / "b.zip", "--move-to", SOMEWHERE).stderr
    assert declare(url, slug, "1") == 0


def test_a_right_that_was_taken_since_is_not_spent_again(
    url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    slug, other = study(url), new_database(True)
    export(url, slug, tmp_path / "a.zip", "--move-to", name_of(other))
    restore = back_up(other)
    assert release(other, brought(other, tmp_path / "a.zip")["survey"], "0.9").exit_code == 0
    restore()

    again = brought(other, tmp_path / "a.zip")["survey"]
    assert is_refused(other, again)
    assert declare(other, again, "0.9") == pytest.approx(0.1)


def test_without_its_mark_a_database_may_be_any(new_database: NewDatabase) -> None:
    """As after an upgrade, or on another machine: asked once for each survey that was published."""
    url = new_database(True)
    slug, draft = study(url), factories.draft(url, factories.definition())
    mark_of(url).unlink()
    assert is_refused(url, slug)
    new = study(url)
    assert not is_refused(url, new)
    assert declare(url, slug, "0") == 1
    assert not is_refused(url, slug)
    assert run_json(url, "release", draft)["restored"] is False


def test_an_operator_vouches_for_all_surveys_at_once(new_database: NewDatabase) -> None:
    """With a budget or without; but not where the file knows of more than the database."""
    url = new_database(True)
    slug, unpaid = study(url), study(url, "")
    release(url, slug, "0.3")
    mark_of(url).unlink()
    assert is_refused(url, slug)
    asked = run(url, "vouch", text="n\n")
    assert (asked.exit_code, "Is that so?" in asked.stderr) == (1, True)
    assert is_refused(url, slug)

    assert run_json(url, "vouch", "--yes") == {"vouched": [slug, unpaid], "to_declare": []}

    assert not is_refused(url, slug)
    book = run_json(url, "release", slug)
    assert (book["left"], [each["what"]["kind"] for each in book["entries"]][1]) == (0.6, "declared")
    assert run_json(url, "release", unpaid)["restored"] is False
    assert run(url, "release", unpaid, "--budget-epsilon", "1").exit_code == 0
    assert not is_refused(url, unpaid)
    restore = back_up(url)
    release(url, slug, "0.1")
    restore()
    assert run_json(url, "vouch", "--yes") == {"vouched": [], "to_declare": [slug]}
    assert slug in run(url, "vouch", "--yes").stdout
    assert is_refused(url, slug)


def test_another_database_in_its_place_is_not_taken_for_it(url: str, sqlite: NewDatabase) -> None:
    other = sqlite(True)
    name_of(other)
    slug = study(other)
    shutil.copy(str(sa.make_url(other).database), str(sa.make_url(url).database))
    assert is_refused(url, slug)
    assert not is_refused(other, slug)


def test_what_a_killed_process_had_not_marked_is_marked_before_it_is_shown(new_database: NewDatabase) -> None:
    url = new_database(True)
    slug = study(url)
    restore, mark = back_up(url), mark_of(url)
    before = mark.read_bytes()
    assert release(url, slug, "0.3").exit_code == 0
    mark.write_bytes(before)  # as if it had been killed between the two
    assert run_json(url, "release", slug)["left"] == pytest.approx(0.7)
    assert mark.read_bytes() != before
    restore()
    assert is_refused(url, slug)


def test_a_mark_that_was_restored_too_notices_nothing(url: str) -> None:
    """What the documents say that nobody can notice."""
    slug = study(url)
    restore, before = back_up(url), mark_of(url).read_bytes()
    assert release(url, slug, "1").exit_code == 0
    restore()
    mark_of(url).write_bytes(before)
    assert not is_refused(url, slug)


def test_nothing_is_spent_where_it_cannot_be_marked(url: str) -> None:
    slug = study(url)
    mark_of(url).with_name(f"{mark_of(url).name}.new").mkdir()  # where the next state is written
    done = release(url, slug, "0.5")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "mark: must be a file that can be written" in done.stderr
    mark_of(url).with_name(f"{mark_of(url).name}.new").rmdir()
    assert run_json(url, "release", slug)["left"] == 1


def test_the_mark_leads_to_no_survey(url: str) -> None:
    slug = study(url)
    release(url, slug, "0.3")
    with factories.writing(url) as session:
        names = session.execute(sa.text("SELECT identity, slug FROM surveys")).one()
    text = mark_of(url).read_text()
    assert not [name for name in names if name in text]
    assert mark_of(url).stat().st_mode & 0o777 == 0o600


def test_a_declaration_goes_along_and_stands_in_reports(
    url: str, sqlite: NewDatabase, tmp_path: Path
) -> None:
    slug, other = study(url), sqlite(True)
    declare(url, slug, "0.25")
    export(url, slug, tmp_path / "a.zip", "--move-to", name_of(other))
    there = brought(other, tmp_path / "a.zip")["survey"]
    book = run_json(other, "release", there)
    assert (book["left"], book["spent"]["epsilon"], book["restored"]) == (0.75, 0.25, False)
    for options in ((), ("--public",)):
        html = run(other, "report", there, "--format", "html", *options).stdout
        assert "Declared as spent elsewhere" in html
        assert "declared by the owner" in html
    assert ",1,1,declared,," in run(other, "report", there, "--public", "--format", "csv").stdout


BAD = {
    "more than the budget": ("1.5", "epsilon: must be from 0 to 1; it is 1.5"),
    "negative": ("-1", "epsilon: must be"),
    "words": ("all", "epsilon: must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_amount_that_cannot_have_been_spent_is_refused(name: str, url: str) -> None:
    amount, said = BAD[name]
    slug = study(url)
    before = factories.dump(url)
    done = run(url, "release", slug, f"--declare={amount}")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert factories.dump(url) == before


def test_a_declaration_needs_a_budget_and_a_published_survey(url: str) -> None:
    draft, unpaid = factories.draft(url, factories.definition()), study(url, "")
    for slug, said in ((draft, "must be published first"), (unpaid, "budget: must be set first")):
        done = run(url, "release", slug, "--declare", "0")
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_the_owner_declares_on_the_page(signed_in: FlaskClient, database_url: str) -> None:
    slug = study(database_url)
    page = f"/manage/surveys/{slug}/releases"
    mark_of(database_url).unlink()
    unknown = signed_in.get(page).text
    assert "What was spent has to be declared first" in unknown
    for promised in ("and no further", ">New release<", "Change the budget"):  # of what nobody knows by now
        assert promised not in unknown
    assert "may have been restored" in signed_in.get(f"{page}/new").text
    unsure = signed_in.post(f"{page}/declared", data={"spent": "0.5"})
    assert (unsure.status_code, "must be ticked" in unsure.text) == (422, True)
    wrong = signed_in.post(f"{page}/declared", data={"spent": "7", "sure": "yes"})
    assert (wrong.status_code, "it is 7" in wrong.text, 'value="7"' in wrong.text) == (422, True, True)
    assert signed_in.post(f"{page}/declared", data={"spent": "0,5", "sure": "yes"}).status_code == 303
    shown = signed_in.get(page).text
    assert "What was spent has to be declared first" not in shown
    assert "Declared as spent elsewhere" in shown
    assert "declared ε = 0.5 as spent elsewhere" in signed_in.get(f"/manage/surveys/{slug}/log").text
    assert "Declared as spent elsewhere" in signed_in.get(f"{page}/1").text
    assert not is_refused(database_url, slug)
    body = sample_archives.entries(sample_archives.export(signed_in, slug))["releases.json"]
    assert json.loads(body)["releases"][0]["entries"][0]["mechanism"] == "declared"


@pytest.fixture
def url(sqlite: NewDatabase) -> str:
    return sqlite(True)
