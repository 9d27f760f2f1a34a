"""The budget of a table that is not a survey: kept in a file, checked and written before a number is printed."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.releases.table_ledgers import TableLedger, read_ledger, write_ledger
from tests.support.forked_servers import ForkedServer

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"
DATA = "sex,town\nfemale,Alba\nmale,Bruma\nmale,Alba\n"
COLUMNS = {
    "sex": {"categories": ["female", "male"]},
    "home": {"path": ["town"], "leaves": [["Alba"], ["Bruma"]]},
}
ONCE = "Nothing adds up the runs"


def plan(*items: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    return {"format": 1, "columns": COLUMNS, "items": list(items), "division": "given", **rest}


def count(epsilon: str, *town: str) -> dict[str, Any]:
    return {"kind": "count", "epsilon": epsilon, "stratum": list(town)}


def words(folder: Path, document: object, *arguments: str, ledger: str = "ledger.json") -> list[str]:
    """The words of a command that releases."""
    (folder / "data.csv").write_text(DATA)
    (folder / "plan.json").write_text(json.dumps(document))
    files = ["--data", str(folder / "data.csv"), "--plan", str(folder / "plan.json")]
    return ["release", *files, *(["--ledger", str(folder / ledger)] if ledger else []), *arguments]


def run(folder: Path, document: object, *arguments: str, ledger: str = "ledger.json") -> Result:
    command = words(folder, document, *arguments, ledger=ledger)
    return CliRunner(env={"DATABASE_URL": NOWHERE}).invoke(main, command)


def spent(folder: Path) -> list[str]:
    return [each["epsilon"] for each in json.loads((folder / "ledger.json").read_text())["runs"]]


def test_runs_are_added_up_and_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    budget = ("--budget-epsilon", "0.3")
    looked = run(tmp_path, plan(count("0.1")), *budget)
    assert "Left of the budget: epsilon 0.3." in looked.stdout
    assert not (tmp_path / "ledger.json").exists()

    first = run(tmp_path, plan(count("0.1")), *budget, "--yes")
    assert (first.exit_code, "Left of the budget: epsilon 0.2." in first.stdout) == (0, True)
    assert ONCE not in first.output
    second = run(tmp_path, plan(count("0.2")), "--yes", "--json")
    assert json.loads(second.stdout)["left"] == 0
    before = (tmp_path / "ledger.json").read_bytes()
    third = run(tmp_path, plan(count("0.001")), "--yes", "--json")

    assert (third.exit_code, third.stdout) == (2, "")
    assert "0 is left, and this needs 0.001" in third.stderr
    assert (tmp_path / "ledger.json").read_bytes() == before
    assert spent(tmp_path) == ["0.1", "0.2"]


def test_without_a_ledger_the_first_line_says_that_nobody_adds_up(tmp_path: Path) -> None:
    done = run(tmp_path, plan(count("1")), "--yes", ledger="")
    assert done.stdout.startswith(ONCE)
    quiet = run(tmp_path, plan(count("1")), "--yes", "--json", ledger="")
    assert json.loads(quiet.stdout)["warning"].startswith(ONCE)
    assert next(iter(json.loads(quiet.stdout))) == "warning"
    assert not list(tmp_path.glob("*ledger*"))


def test_places_apart_cost_once_in_one_run_and_twice_in_two(tmp_path: Path) -> None:
    """In another state of the table a person may stand in another place."""
    together = plan(count("0.5", "Alba"), count("0.5", "Bruma"))
    assert run(tmp_path, together, "--budget-epsilon", "1.4", "--yes").exit_code == 0
    assert run(tmp_path, plan(count("0.5", "Alba")), "--yes").exit_code == 0
    assert run(tmp_path, plan(count("0.5", "Bruma")), "--yes").exit_code == 2
    assert spent(tmp_path) == ["0.5", "0.5"]


@pytest.mark.parametrize("broken", ["folder", "new"])
def test_nothing_is_printed_that_could_not_be_written(tmp_path: Path, broken: str) -> None:
    ledger = "nowhere/ledger.json" if broken == "folder" else "ledger.json"
    if broken == "new":
        (tmp_path / "ledger.json.new").mkdir()  # where the next state is written
    done = run(tmp_path, plan(count("1")), "--budget-epsilon", "1", "--yes", "--json", ledger=ledger)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--ledger must be a file that can be written" in done.stderr


def test_processes_at_once_spend_no_more_than_there_is(tmp_path: Path) -> None:
    """Six that want a third each: three get it."""
    assert run(tmp_path, plan(count("0.1")), "--budget-epsilon", "1", "--yes").exit_code == 0
    command = words(tmp_path, plan(count("0.3")), "--yes", "--json")
    racing = [ForkedServer(command, dict(os.environ)) for _ in range(6)]
    ended = [(process.communicate(300), process.returncode) for process in racing]

    assert sorted(status for _, status in ended) == [0, 0, 0, 2, 2, 2]
    assert all(bool(out) == (status == 0) for out, status in ended)
    assert spent(tmp_path) == ["0.1", "0.3", "0.3", "0.3"]


def test_without_a_lock_two_would_spend_the_same(tmp_path: Path) -> None:
    """The twin: two that read before either has written."""
    path = tmp_path / "ledger.json"
    assert run(tmp_path, plan(count("0.1")), "--budget-epsilon", "0.5", "--yes").exit_code == 0
    one, two = (read_ledger(path, "unbounded", None, None) for _ in range(2))
    paid = {"epsilon": "0.4", "delta": "0"}
    for ledger in (one, two):
        write_ledger(path, TableLedger(ledger.budget, (*ledger.runs, {**ledger.runs[0], **paid})))
    assert spent(tmp_path) == ["0.1", "0.4"]  # 0.8 were drawn, and half of it is forgotten


def test_links_to_a_ledger_are_that_ledger(tmp_path: Path) -> None:
    assert run(tmp_path, plan(count("0.1")), "--budget-epsilon", "0.5", "--yes").exit_code == 0
    for name, status in (("one", 0), ("other", 2)):
        (tmp_path / f"{name}.json").symlink_to(tmp_path / "ledger.json")
        assert run(tmp_path, plan(count("0.3")), "--yes", ledger=f"{name}.json").exit_code == status
    assert spent(tmp_path) == ["0.1", "0.3"]


BAD = {
    "no budget": (None, (), "ledger: must be there, or a budget be given with it: --budget-epsilon"),
    "another budget": ("", ("--budget-epsilon", "5"), "must stay as the ledger says, epsilon 1 and delta 0"),
    "no JSON": ("{", (), "must be JSON"),
    "no ledger": ("[]", (), "ledger: must be a ledger as it was written here"),
    "more than the budget": ('"epsilon": "0.1"|"epsilon": "1.1"', (), "and add up"),
    "negative": ('"epsilon": "0.1"|"epsilon": "-0.1"', (), "and add up"),
    "a number": ('"epsilon": "0.1"|"epsilon": 0.1', (), "and add up"),
    "other format": ('"format": 1|"format": 2', (), "as it was written here"),
    "neighbours": ('"unbounded"|"bounded"', (), "neighbours: must be bounded, as the ledger says"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_ledger_that_cannot_be_relied_on_is_refused(name: str, tmp_path: Path) -> None:
    change, options, said = BAD[name]
    path = tmp_path / "ledger.json"
    if change is not None:
        assert run(tmp_path, plan(count("0.1")), "--budget-epsilon", "1", "--yes").exit_code == 0
        old, _, new = change.partition("|")
        if new:
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
        elif old:
            path.write_text(old)
    before = path.read_bytes() if path.exists() else None

    done = run(tmp_path, plan(count("0.1")), *options, "--yes", "--json")

    assert (done.exit_code, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split()), done.stderr
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_ledger_belongs_to_a_table(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["release", "abc", "--ledger", str(tmp_path / "x")])
    assert (done.exit_code, "--ledger needs --data" in done.stderr) == (2, True)
