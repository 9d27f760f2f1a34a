"""The documents say what is there, all of it, and nothing that is not."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
import rfc8785

from server.cli import main
from server.config import from_environment
from server.definitions import version_of
from server.inputs import InputError, parse_definition

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DEFINITION = (ROOT / "docs" / "definition.md").read_text("utf-8")
DOCUMENTS = [README, *(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))]


def commands(group: click.Group, prefix: str = "") -> set[str]:
    names: set[str] = set()
    for name, command in group.commands.items():
        names |= commands(command, f"{name} ") if isinstance(command, click.Group) else {prefix + name}
    return names


def test_the_readme_names_every_command_and_no_other() -> None:
    table = README.split("| command | what it does |")[1].split("\n\n")[0]
    named = {re.sub(r" [A-Z]+$", "", name) for name in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)}
    assert named == commands(main)


def test_every_make_target_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    texts = [*DOCUMENTS, (ROOT / "CONTRIBUTING.md").read_text("utf-8")]
    named = {target for text in texts for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)}
    assert {"run", "demo", "test"} <= named <= targets


def test_ci_calls_the_readmes_test_command_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    calls = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert calls == ["make test"] or calls == ["exec make test"]


def test_every_file_the_readme_names_exists() -> None:
    linked = re.findall(r"\]\(([\w./-]+)\)", README)
    quoted = re.findall(r"`(tests/[\w./]+)`", README)
    assert linked
    assert quoted
    assert [name for name in {*linked, *quoted} if not (ROOT / name).exists()] == []


def test_every_setting_is_documented_and_every_documented_setting_is_read() -> None:
    table = README.split("## Settings")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))

    asked: set[str] = set()

    class Recorder(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return super().get(key, default)

    from_environment(Recorder())
    assert named == asked


def test_the_definition_in_the_manual_is_one() -> None:
    example, design = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", DEFINITION, re.DOTALL))
    definition = parse_definition(example)
    assert definition.as_json() == example
    published = json.loads(definition.published())
    assert published["questions"][0]["designs"] == [design]


def test_the_hash_can_be_recomputed_as_the_manual_says() -> None:
    example = json.loads(re.findall(r"```json\n(.*?)```", DEFINITION, re.DOTALL)[0])
    published = parse_definition(example).published()
    plain = json.dumps(json.loads(published), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert plain.encode() == published == rfc8785.dumps(json.loads(published))
    assert hashlib.sha256(plain.encode()).hexdigest() == version_of(published)


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        ("title", "t" * 200, "t" * 201),
        ("introduction", "i" * 4000, "i" * 4001),
        ("text", "q" * 500, "q" * 501),
        ("name", "a" * 40, "a" * 41),
        ("gamma", 0.499, 0.4991),
        ("gamma", 0.001, 0.0009),
    ],
)
def test_limits_in_the_manual_are_the_limits(field: str, inside: Any, outside: Any) -> None:
    limit = {"title": "200", "introduction": "4000", "text": "500", "name": "39"}.get(field, str(inside))
    assert limit in DEFINITION

    def with_value(value: Any) -> dict[str, Any]:
        document = json.loads(re.findall(r"```json\n(.*?)```", DEFINITION, re.DOTALL)[0])
        question = document["questions"][0]
        place = {"title": document, "introduction": document, "gamma": question["design"]}.get(
            field, question
        )
        place[field] = value
        return document

    parse_definition(with_value(inside))
    with pytest.raises(InputError):
        parse_definition(with_value(outside))
