"""One rule for every command that writes files: what is there stays, and it is said before anything is asked."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from server.cli import main
from tests.conftest import NewDatabase
from tests.support import factories

READ = {
    ("analyse", "file"),
    ("analyse", "study"),
    ("backup", "identity"),
    ("estimate", "folders"),
    ("manifest", "sign"),
    ("release", "data"),
    ("release", "plan"),
    ("restore", "file"),
    ("restore", "identity"),
    ("restore", "places"),
    ("survey completions", "file"),
    ("survey enter", "file"),
    ("survey import", "file"),
    ("survey study", "file"),
    ("verify", "manifest_file"),
    ("verify", "public_key"),
}
GROWS = {("archive", "folder"), ("simulate", "folder"), ("release", "ledger")}
"""Each says so: folders that take in another survey, and the budget of a table, which what is spent is added to."""
WRITE = {
    ("analyse", "output"): "analyse {other} --study {other} --output {file}",
    ("backup", "file"): "backup {file}",
    ("manifest", "output"): "manifest --sign {other} --output {file}",
    ("plan", "curve"): "plan --mechanism coin_flip --gamma 0.25 --share 0.5 --null 0.3 --curve {file}",
    ("release", "outputs"): "release --data {table} --plan {plan} --yes --output {file}",
    ("report", "outputs"): "report {survey} --output {file}",
    ("signing-key", "file"): "signing-key {file}",
    ("survey export", "path"): "survey export {survey} --zip {file}",
    ("survey form", "path"): "survey form {survey} {file}",
    ("survey paper", "path"): "survey paper {survey} --to {file}",
    ("verify", "webcat"): "verify http://127.0.0.1:9 --language en --webcat {file}",
}
PLAN = {
    "format": 1,
    "columns": {"sex": {"categories": ["a", "b"]}},
    "epsilon": 1,
    "items": [{"kind": "count"}],
}
CASES = [
    *((command, "") for command in WRITE.values()),
    (WRITE["manifest", "output"], ".minisig"),
    (WRITE["signing-key", "file"], ".pub"),
]
"""And the ending of another file that would be written beside it."""


def list_paths(group: click.Group, before: str = "") -> Iterator[tuple[str, str]]:
    """Every command and what it calls a file or folder that it is given."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from list_paths(command, f"{before}{name} ")
        for parameter in command.params:
            if isinstance(parameter.type, click.Path | click.File):
                assert parameter.name is not None
                yield before + name, parameter.name


def test_every_file_of_a_command_is_read_or_new_or_said_to_grow() -> None:
    assert sorted(list_paths(main)) == sorted([*READ, *GROWS, *WRITE])


@pytest.mark.parametrize(("command", "beside"), CASES)
def test_what_is_there_stays_and_nothing_is_asked(
    sqlite: NewDatabase, tmp_path: Path, command: str, beside: str
) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    (tmp_path / "other").write_text("{}")
    (tmp_path / "table").write_text("sex\na\n")
    (tmp_path / "plan").write_text(json.dumps(PLAN))
    there = tmp_path / f"mine.html{beside}"
    there.write_text("mine")
    words = command.format(
        survey=survey.slug,
        file=tmp_path / "mine.html",
        **{name: tmp_path / name for name in ("other", "table", "plan")},
    )
    done = factories.run(database_url, *words.split())
    assert done.exit_code == 2
    assert "must be a new file" in done.stderr
    assert f"{str(there)!r} is" in done.stderr
    assert "there already" in done.stderr or "File exists" in done.stderr
    assert "Passphrase" not in done.output
    assert done.stdout == ""
    assert there.read_text() == "mine"
