"""The rules for names that can be counted: files, classes and functions of the server."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.support.factories import ROOT

SERVER = ROOT / "server"
TWO_ROOMS = {"keeping.py", "schedule.py", "yes_no.py"}
"""A page and what it shows; a kind of question and its designs."""
NOT_PARTICIPLES = {"feed", "seed", "need", "speed", "bed", "advanced"}
"""The last is the name of a theorem on composition."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Every module but migrations, which stay as they were."""
    for path in sorted(SERVER.rglob("*.py")):
        if "migrations" not in path.parts:
            yield path, ast.parse(path.read_text("utf-8"))


def is_bare_participle(name: str) -> bool:
    """Whether it says that something was done, and neither what is done nor to what."""
    word = name.strip("_")
    return "_" not in word and word not in NOT_PARTICIPLES and word.endswith("ed")


def test_no_two_files_have_one_name() -> None:
    places = defaultdict(list)
    for path, _ in modules():
        if path.name != "__init__.py":
            places[path.name].append(path)
    assert {name for name, paths in places.items() if len(paths) > 1} == TWO_ROOMS


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.name)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_function_is_a_bare_participle() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in modules()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and is_bare_participle(node.name)
    }
    assert found == set()


def test_a_bare_participle_is_noticed() -> None:
    assert is_bare_participle("estimated")
    assert not is_bare_participle("list_untidied")
