"""`python -m server`: what each command does, in a process of its own."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from tests import factories
from tests.conftest import NewDatabase
from tests.factories import dump, moneda

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"
"""A database that cannot be made: what works here touches none."""


def _run(database_url: str, *arguments: str, text: str = "") -> Result:
    """Run in this process, which is quicker than one for each command."""
    result = CliRunner(env={"DATABASE_URL": database_url}).invoke(main, arguments, input=text)
    assert result.exit_code == 0, result.output
    return result


def _json(database_url: str, *arguments: str, text: str = "") -> Any:
    return json.loads(_run(database_url, *arguments, "--json", text=text).stdout)


@pytest.fixture
def url(sqlite: NewDatabase) -> str:
    """A SQLite database that is not there yet: every command migrates first."""
    return sqlite(False)


def test_survey_goes_from_definition_to_closed(new_database: NewDatabase, tmp_path: Path) -> None:
    url = new_database(False)
    document = factories.definition(
        [0.25, 0.1, 0.4], title="¿Exámenes? – 1 €", introduction="Línea 1\nLínea 2"
    )
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(document), "utf-8")

    imported = _json(url, "survey", "import", str(file))
    slug = imported["survey"]
    assert (imported["state"], imported["version"], imported["sha256"]) == ("draft", None, None)
    assert imported["path"] == f"/s/{slug}"
    assert imported["title"] == document["title"]
    assert json.loads(_run(url, "survey", "export", slug).stdout) == document

    published = _json(url, "survey", "publish", slug)
    assert (published["state"], published["version"], len(published["sha256"])) == ("open", 1, 64)
    assert _json(url, "survey", "publish", slug) == published  # again, unchanged: the same version

    assert _json(url, "survey", "close", slug)["state"] == "closed"
    refused = CliRunner(env={"DATABASE_URL": url}).invoke(main, ["survey", "publish", slug])
    assert (refused.exit_code, "state" in refused.stderr) == (2, True)


def test_command_runs_in_a_process_of_its_own(url: str) -> None:
    done = moneda(url, "survey", "import", "-", "--json", text=json.dumps(factories.definition()))

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["survey"] == dump(url)["surveys"][0][1]
    refused = moneda(NOWHERE, "survey", "export", "any")
    assert (refused.returncode, refused.stdout, "Traceback" in refused.stderr) == (2, "", False)


def test_export_is_imported_as_the_same_survey(url: str) -> None:
    document = factories.definition([0.3], title="=1+1", language="es")
    first = _json(url, "survey", "import", "-", text=json.dumps(document))["survey"]
    exported = _run(url, "survey", "export", first).stdout
    second = _json(url, "survey", "import", "-", text=exported)["survey"]

    assert second != first
    assert _run(url, "survey", "export", second).stdout == exported
    versions = {_json(url, "survey", "publish", slug)["sha256"] for slug in (first, second)}
    assert len(versions) == 1


def test_simulated_respondents_mark_the_survey(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)

    done = _json(url, "simulate", slug, "--respondents", "400", "--share", "q1=1", "--share", "q2=0")

    assert done == {"survey": slug, "simulated_respondents": 400}
    rows = dump(url)["responses"]
    assert len(rows) == 400
    report = _json(url, "report", slug)
    assert (report["n"], report["simulated"]) == (400, True)
    # Reported "yes" with probability 3/4 and 2/5; six standard deviations: a false alarm in 10^9 each.
    (first, second) = (question["counts"][1] for question in report["questions"])
    assert abs(first - 300) < 52
    assert abs(second - 160) < 59


def test_simulation_never_mixes_with_responses_of_people(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    survey = factories.publish(url, factories.definition(title="Again"), slug)
    with factories.serving(url) as served:
        assert factories.ask(served.url + survey.url, survey.response())[0] == 201
    before = dump(url)

    refused = moneda(url, "simulate", slug, "--respondents", "3")

    assert refused.returncode == 2
    assert "real people" in refused.stderr
    assert dump(url) == before


@pytest.mark.parametrize(
    ("counts", "share", "error", "impossible"),
    [("600,400", 0.3, 0.030999, False), ("700,300", 0.1, 0.028997, False), ("800,200", -0.1, None, True)],
)
def test_estimate_needs_no_database(counts: str, share: float, error: float | None, impossible: bool) -> None:
    """Values of the first issue: (yes/n - 1/4) / (1/2), and sqrt(q (1 - q) / (n - 1)) / (1/2)."""
    result = _json(NOWHERE, "estimate", "--gamma", "0.25", "--counts", counts)

    assert result["n"] == 1000
    assert result["shares"] == pytest.approx([1 - share, share], abs=1e-12)
    if error is not None:
        assert result["standard_errors"] == pytest.approx([error, error], abs=5e-7)
    assert result["impossible"] is impossible
    assert result["intervals"][1][0] < share < result["intervals"][1][1]
    table = _run(NOWHERE, "estimate", "--gamma", "0.25", "--counts", counts)
    assert f"{share:.4f}" in table.stdout
    assert ("Impossible share" in table.stdout) is impossible


def test_estimate_from_one_report_has_no_standard_error() -> None:
    result = _json(NOWHERE, "estimate", "--gamma", "0.25", "--counts", "0,1")

    assert (result["n"], result["standard_errors"]) == (1, [None, None])


@pytest.mark.parametrize("kind", ["html", "csv", "json", "responses", "codebook"])
def test_report_is_the_same_in_a_file_and_on_standard_output(kind: str, url: str, tmp_path: Path) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    _json(url, "simulate", slug, "--respondents", "20")
    file = tmp_path / "report"

    printed = _run(url, "report", slug, "--format", kind)
    written = _run(url, "report", slug, "--format", kind, "--output", str(file))

    assert written.stdout == ""
    assert file.read_bytes() == printed.stdout_bytes
    if kind in ("csv", "responses", "codebook"):
        assert (
            len(list(csv.reader(io.StringIO(printed.stdout))))
            == {"csv": 5, "responses": 21, "codebook": 5}[kind]
        )


def test_report_table_and_languages(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    empty = _run(url, "report", slug)
    assert empty.stdout.count("\n") == 3
    _json(url, "simulate", slug, "--respondents", "5")

    table = _run(url, "report", slug).stdout
    assert table.splitlines()[1].split()[:2] == ["q1", "5"]
    assert "simulated" in table
    pages = [
        _run(url, "report", slug, "--format", "html", "--language", each).stdout for each in ("en", "es")
    ]
    assert [f'<html lang="{each}">' in page for each, page in zip(("en", "es"), pages, strict=True)] == [
        True,
        True,
    ]


def test_commands_explain_themselves() -> None:
    for command in (
        [],
        ["serve"],
        ["demo"],
        ["survey"],
        ["survey", "import"],
        ["simulate"],
        ["estimate"],
        ["report"],
    ):
        done = _run(NOWHERE, *command, "--help")
        assert (done.stderr, "Usage: " in done.stdout) == ("", True), command
    assert _run(NOWHERE, "--version").stdout.startswith("Moneda, version ")
