"""`python -m server survey duplicate|archive|unarchive|delete|export --zip|import`."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from server.cli import main
from server.store.models import Survey
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.factories import dump


@pytest.fixture
def url(sqlite: NewDatabase) -> str:
    return sqlite(True)


def run(url: str, *arguments: str, text: str | bytes = "") -> Result:
    """Run in this process, which is quicker than one for each command."""
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, ["survey", *arguments], input=text)


def run_json(url: str, *arguments: str, text: str | bytes = "") -> Any:
    result = run(url, *arguments, "--json", text=text)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def collect_survey(url: str) -> str:
    """A closed survey with simulated responses; its slug."""
    slug = factories.publish(url, minimum=3).slug
    simulated = ["simulate", slug, "--respondents", "50"]
    assert CliRunner(env={"DATABASE_URL": url}).invoke(main, simulated).exit_code == 0
    factories.close(url, slug)
    return slug


def test_settings_are_changed_as_on_the_pages_or_refused_whole(url: str) -> None:
    slug = factories.publish(url).slug
    untouched = {
        "survey": slug,
        "offline": False,
        "forgets": False,
        "completions": False,
        "tablet": False,
        "works": False,
        "tickets": False,
    }
    assert run_json(url, "settings", slug) == untouched | dict.fromkeys(
        ("keep_rows", "keep_counts", "keep_rest")
    )
    done = run_json(
        url, "settings", slug, "--offline", "--forgets", "--works", "--keep-rows", "30", "--keep-rest", "90"
    )
    changed = {
        "survey": slug,
        "offline": True,
        "forgets": True,
        "completions": False,
        "tablet": False,
        "works": True,
        "tickets": False,
    }
    assert done == changed | {"keep_rows": 30, "keep_counts": None, "keep_rest": 90}
    assert run_json(url, "settings", slug, "--no-offline")["forgets"] is True
    assert run_json(url, "settings", slug, "--tablet")["tablet"] is True
    actions = [row for row in dump(url)["audit_entries"] if slug_is_settled(row)]
    assert len(actions) == 6
    before = dump(url)
    for options, said in (
        (
            ("--keep-rows", "31"),
            "keep_rows: can only become less once a survey is published: at most 30; it is 31",
        ),
        (("--keep-rest", "never", "--no-offline"), "keep_rest: can only become less"),
        (("--no-forgets",), "forgets: must stay on once a survey is published"),
        (("--keep-counts", "20"), "keep_counts: must be at least 30"),
        (("--keep-rows", "1e9"), "keep_rows: must be a whole number from 1 to 36500; it is 1e9"),
    ):
        refused = run(url, "settings", slug, *options)
        assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr
    assert dump(url) == before
    factories.close(url, slug)
    refused = run(url, "settings", slug, "--offline")
    assert (refused.exit_code, "a closed survey stays closed" in refused.stderr) == (2, True)
    assert run_json(url, "settings", slug, "--keep-rows", "29")["keep_rows"] == 29


def slug_is_settled(row: tuple[Any, ...]) -> bool:
    """Whether an entry of the log is about these settings."""
    said = {"offline allowed", "offline forbidden", "notes left out", "tablet allowed", "retention set"}
    said.add("work asked for")
    return not said.isdisjoint(map(str, row))


def test_a_survey_goes_from_one_installation_to_another(
    url: str, sqlite: NewDatabase, tmp_path: Path
) -> None:
    slug, other, file = collect_survey(url), sqlite(False), tmp_path / "survey.zip"

    done = run(url, "export", slug, "--zip", str(file), "--language", "es")
    assert (done.exit_code, done.stdout) == (0, "")
    made = run_json(other, "import", str(file))

    assert made["survey"] == slug
    assert (made["state"], made["version"], made["responses"], made["new_links"]) == ("closed", 1, 50, 0)
    reports = [
        CliRunner(env={"DATABASE_URL": each}).invoke(main, ["report", slug, "--json"])
        for each in (url, other)
    ]
    (one, known), (two, known_of_copy) = (sample_archives.without_admission(each.stdout) for each in reports)
    assert one == two
    assert (known, known_of_copy, one["simulated"]) == ({True}, {False}, True)
    again = run_json(other, "import", "-", text=file.read_bytes())
    assert (again["new_links"], again["survey"] != slug) == (1, True)


def test_no_file_is_written_over_or_left_half_written(url: str, tmp_path: Path) -> None:
    slug, file = collect_survey(url), tmp_path / "survey.zip"
    file.write_bytes(b"mine")
    refused = run(url, "export", slug, "--zip", str(file))
    assert (refused.exit_code, file.read_bytes()) == (2, b"mine")
    assert "must be a new file" in refused.stderr
    opened = factories.publish(url, minimum=10).slug
    refused = run(url, "export", opened, "--zip", str(tmp_path / "two.zip"))
    assert (refused.exit_code, "must be closed first" in refused.stderr) == (2, True)
    assert not (tmp_path / "two.zip").exists()


def test_a_file_that_is_no_archive_is_refused(url: str, tmp_path: Path) -> None:
    file = tmp_path / "survey.zip"
    run(url, "export", collect_survey(url), "--zip", str(file))
    before = dump(url)
    bodies = [
        file.read_bytes()[:-100],
        sample_archives.with_entry("../x", b"")(file.read_bytes()),
        b"PK\x03\x04",
    ]
    for body in bodies:
        file.write_bytes(body)
        refused = run(url, "import", str(file))
        assert (refused.exit_code, "Traceback" in refused.stderr) == (2, False)
    assert dump(url) == before


def test_a_survey_is_copied_put_away_and_deleted(url: str) -> None:
    slug = collect_survey(url)
    factories.plant(url, slug, "A\nB")
    copy = run_json(url, "duplicate", slug, "--title", "Two", "--strata")
    assert (copy["title"], copy["state"]) == ("Two", "draft")
    assert len(dump(url)["strata"]) == 4

    assert run(url, "archive", slug).exit_code == 0
    with factories.writing(url) as session:
        put_away = {each.slug: each.archived_on is not None for each in session.scalars(sa.select(Survey))}
    assert put_away == {slug: True, copy["survey"]: False}
    assert run(url, "unarchive", slug).exit_code == 0
    opened = factories.publish(url, minimum=3).slug
    assert run(url, "archive", opened).exit_code == 2

    refused = run(url, "delete", slug, "--confirm", "Two")
    assert (refused.exit_code, "must be exactly" in refused.stderr) == (2, True)
    assert run(url, "delete", slug, text="Exams\n").exit_code == 0
    assert run_json(url, "delete", copy["survey"], "--confirm", copy["survey"])["deleted"] is True
    after = dump(url)
    assert (after["responses"], after["strata"], len(after["surveys"])) == ([], [], 1)
    assert run(url, "delete", slug, "--confirm", slug).exit_code == 2
