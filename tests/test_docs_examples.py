"""The examples of the pages on commands, releases and operating run, and do what is said of them."""

import json
import re
import shlex
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from server.cli import main
from server.releases.plans.plan_reader import parse_plan
from tests.support.factories import ROOT

COMMAND = re.compile(r"(?:\.venv/bin/)?python -m server (.+)")


def read(page: str) -> str:
    return (ROOT / "docs" / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", read(page), re.DOTALL)]


def arguments(block: str) -> list[str]:
    found = COMMAND.fullmatch(block)
    assert found, block
    return shlex.split(found[1])


def test_the_estimate_on_the_page_of_commands_is_what_is_printed() -> None:
    (block,) = blocks("commands.md", "sh")
    done = CliRunner().invoke(main, arguments(block))
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    said = re.search(r"share of Yes of ([\d.]+) with a standard error of ([\d.]+)\.\n", read("commands.md"))
    assert said
    assert [round(printed["shares"][1], 4), round(printed["standard_errors"][1], 3)] == [
        float(number) for number in said.groups()
    ]


def test_the_plans_on_the_page_of_releases_are_plans_and_the_table_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_a_survey, of_a_table = blocks("releases.md", "json")
    parse_plan(json.loads(of_a_survey))
    (table,) = blocks("releases.md", "csv")
    (block,) = blocks("releases.md", "sh")
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(of_a_table, "utf-8")
    Path("people.csv").write_text(table + "\n", "utf-8")
    done = CliRunner().invoke(main, arguments(block))
    assert done.exit_code == 0, done.output
    assert Path("people.ledger.json").exists()

    again = CliRunner().invoke(main, arguments(block))
    third = CliRunner().invoke(main, arguments(block))
    assert (again.exit_code, third.exit_code) == (0, 2), "a budget of 2 pays for two runs of 1"


def test_the_copy_on_the_page_of_operating_is_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [block for block in blocks("operating.md", "sh") if block.startswith("sqlite3 ")]
    (_, name, statement), *_ = map(shlex.split, found)
    assert name == "data/moneda.sqlite3"
    monkeypatch.chdir(tmp_path)
    original = sqlite3.connect("original.sqlite3")
    original.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (7);")
    original.execute(statement)
    original.close()
    copy = sqlite3.connect("backup.sqlite3")
    assert copy.execute("SELECT x FROM t").fetchall() == [(7,)]
    copy.close()


def test_there_is_no_example_that_no_test_runs() -> None:
    """Those of the privacy library are run by its own tests; the hash of the manual is computed by `test_docs`."""
    folder = ROOT / "docs"
    pages = [str(path.relative_to(folder)) for path in folder.rglob("*.md")]
    shown = {page: blocks(page, "sh") for page in pages if blocks(page, "sh")}
    assert {page: len(found) for page, found in shown.items()} == {
        **{"commands.md": 1, "releases.md": 1, "operating.md": 1, "definition.md": 1}
    }
    readme = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert [block.strip() for block in readme] == ["make run", "make demo", "make test"]
