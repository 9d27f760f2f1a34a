"""The rules for names that can be counted: files, classes and functions of the server and of tests."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.factories import ROOT

SERVER = ROOT / "server"
Modules = Callable[[], tuple[tuple[Path, ast.Module], ...]]
IRREGULAR = set(
    "begun chosen done drawn found given gone held kept known left lost made met paid said seen sent shown"
    " taken told unseen written".split()
)
NOT_PARTICIPLES = {"feed", "seed", "need", "speed", "bed", "advanced"}
"""The last is the name of a theorem on composition."""


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    """Every module but migrations, which stay as they were."""
    return tuple(
        (path, ast.parse(path.read_text("utf-8")))
        for path in sorted(SERVER.rglob("*.py"))
        if "migrations" not in path.parts
    )


@cache
def modules_of_tests() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple(
        (path, ast.parse(path.read_text("utf-8")))
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "node_modules" not in path.parts
    )


def shared_modules() -> tuple[tuple[Path, ast.Module], ...]:
    """What tests import of each other: every module of theirs but the tests themselves."""
    return tuple(
        (path, tree)
        for path, tree in modules_of_tests()
        if not path.name.startswith(("test_", "conftest", "__init__"))
    )


def is_bare_participle(name: str) -> bool:
    """Whether it says that something was done, and neither what is done nor to what."""
    word = name.strip("_")
    return "_" not in word and word not in NOT_PARTICIPLES and (word in IRREGULAR or word.endswith("ed"))


@pytest.mark.parametrize("read", [modules, shared_modules])
def test_no_two_files_have_one_name(read: Modules) -> None:
    places = defaultdict(list)
    for path, _ in read():
        if path.name != "__init__.py":
            places[path.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_file_is_called_by_a_bare_participle() -> None:
    assert [path.name for path, _ in modules() if is_bare_participle(path.stem)] == []


@pytest.mark.parametrize("read", [modules, shared_modules])
def test_no_two_classes_have_one_name(read: Modules) -> None:
    places = defaultdict(list)
    for path, tree in read():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.name)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("read", [modules, modules_of_tests])
def test_no_function_is_a_bare_participle(read: Modules) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in read()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_bare_participle(node.name)
        and not is_property(node)
    }
    assert found == set()


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is read as a value, as a field is."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_a_bare_participle_is_noticed() -> None:
    assert is_bare_participle("estimated")
    assert is_bare_participle("_told")
    assert not is_bare_participle("list_untidied")


DIALECT = set("told said found own asked look saw doors charges stated wanted gave".split())
"""Words that the names of fields, properties and arguments once had in place of what they are."""
STORED = {
    "PricedItem.asked",
    "Basis.asked",
    "SearchQuestion.asked",
    "LedgerEntry.asked",
    "SearchAnswer.asked",
}
"""The hash of what an entry of the ledger asked has the name of its column."""
PUBLISHED = {"Throws.own", "GroupComparison.gave", "SampledPair.gave", "CrossedFinding.gave"}
"""What callers of the privacy library read, and what is made of it."""


def find_dialect(tree: ast.AST) -> Iterator[str]:
    """Fields, properties and arguments that say what was done to something, and not what it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    name = line.target.id
                elif isinstance(line, ast.FunctionDef) and is_property(line):
                    name = line.name
                else:
                    continue
                if name in DIALECT:
                    yield f"{node.name}.{name}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            yield from (f"{node.name}({argument.arg})" for argument in arguments if argument.arg in DIALECT)


def test_fields_and_arguments_are_called_by_what_they_are() -> None:
    found = {f"{path.name}: {name}" for path, tree in modules() for name in find_dialect(tree)}
    assert {name for name in found if name.rpartition(": ")[2] not in STORED | PUBLISHED} == set()


def test_dialect_is_noticed() -> None:
    source = "class A:\n    said: str\n    @property\n    def told(self): ...\n    def tell(self, asked): ..."
    assert sorted(find_dialect(ast.parse(source))) == ["A.said", "A.told", "tell(asked)"]


JS_FUNCTION = re.compile(r"function\*? (\w+)\(|(?:const|let) (\w+) = (?:async )?(?:\([^()]*\)|\w+) =>")


def list_functions(source: str) -> list[str]:
    """The names of functions of a module of the browser."""
    return [declared or assigned for declared, assigned in JS_FUNCTION.findall(source)]


def test_no_function_of_the_browser_is_a_bare_participle() -> None:
    found = {
        f"{path.name}: {name}"
        for path in sorted((ROOT / "client").glob("*.js"))
        for name in list_functions(path.read_text("utf-8"))
        if name.islower() and is_bare_participle(name)
    }
    assert found == set()


def test_functions_of_the_browser_are_read() -> None:
    source = "export async function told(text) {}\nconst sent = (page) => 1;\nconst made = async page => 2;"
    assert list_functions(source) == ["told", "sent", "made"]


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def find_pronouns(tree: ast.AST) -> Iterator[str]:
    """Where `one` and `each` stand for something outside a comprehension, far from what they stand for."""
    near = {
        id(node) for whole in ast.walk(tree) if isinstance(whole, COMPREHENSIONS) for node in ast.walk(whole)
    }
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
        # A field of a dataclass is read with its class beside it.
        if name in {"one", "each"} and id(node) not in near and not is_field(tree, node):
            yield f"{name} in line {node.lineno}"


def is_field(tree: ast.AST, name: ast.AST) -> bool:
    """Whether a name is that of a class's field."""
    return any(
        isinstance(node, ast.ClassDef)
        and any(isinstance(line, ast.AnnAssign) and line.target is name for line in node.body)
        for node in ast.walk(tree)
    )


def test_pronouns_stay_in_comprehensions() -> None:
    found = {str(path.relative_to(ROOT)): list(find_pronouns(tree)) for path, tree in modules()}
    assert {path: places for path, places in found.items() if places} == {}


def test_a_pronoun_is_noticed() -> None:
    source = "def f(each):\n    for one in each:\n        yield [one for one in ()]"
    assert sorted(find_pronouns(ast.parse(source))) == ["each in line 1", "each in line 2", "one in line 2"]


LONGER = {"models.py": "every table", "estimate.py": "one script that goes with the data"}


def test_modules_are_short() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path, _ in modules()}
    assert {name: length for name, length in lengths.items() if length >= 300}.keys() == LONGER.keys()
