"""The manual names what the library has: every result with all that it holds, and functions as they are called."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import server.privacy

FOLDER = Path(__file__).parents[2] / "docs" / "privacy"
PAGES = sorted(FOLDER.glob("*.md"))
NOT_OURS = ("Fraction", "mechanism")
"""Called in the text, and no function of the library: one of Python, and one that readers bring along."""


def public() -> dict[str, Any]:
    """What the library's packages say they offer."""
    packages = pkgutil.walk_packages(server.privacy.__path__, "server.privacy.")
    modules = [importlib.import_module(package.name) for package in packages]
    return {name: getattr(module, name) for module in modules for name in getattr(module, "__all__", ())}


PUBLIC = public()
RESULTS = {name: found for name, found in PUBLIC.items() if dataclasses.is_dataclass(found)}


def read(page: str) -> str:
    return (FOLDER / page).read_text("utf-8")


def named_attributes() -> dict[str, set[str]]:
    """Of each result, the attributes in its row; those of the regression stand on its own page."""
    rows = re.findall(r"^\| `(\w+)` \| .+? \| (.+?) \|$", read("results.md"), re.MULTILINE)
    named = {name: set(re.findall(r"`(\w+)", attributes)) for name, attributes in rows}
    table = read("regression.md").split("| attribute | meaning |")[1].split("\n\n")[0]
    for line in table.splitlines():
        named["LogisticRegression"] |= set(re.findall(r"`(\w+)`", line.split(" | ")[0]))
    return named


def test_every_result_is_in_the_table_and_no_other() -> None:
    assert named_attributes().keys() == RESULTS.keys()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_holds_what_the_table_says_and_no_field_is_left_out(name: str) -> None:
    fields = {field.name for field in dataclasses.fields(RESULTS[name])}
    named = named_attributes()[name]
    assert fields <= named
    assert named <= fields | set(dir(RESULTS[name]))


def test_the_manual_names_everything_that_the_library_offers() -> None:
    text = "\n".join(read(page.name) for page in PAGES)
    assert [name for name in PUBLIC if not re.search(rf"\b{name}\b", text)] == []


def takes(function: Any, arguments: list[str]) -> bool:
    """Whether the function has these parameters, in this order."""
    has = iter(inspect.signature(function).parameters)
    return all(argument in has for argument in arguments)


def calls(page: Path) -> list[tuple[str, list[str]]]:
    """Functions as the text calls them: each with the names of its arguments."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    found = []
    for name, inside in re.findall(r"`\.?(\w+)\(([^`]*)\)`", text):
        given = [re.split(r"[=:]", part)[0].strip() for part in re.split(r",\s*(?![^\[]*\])", inside)]
        found.append((name, [argument for argument in given if re.fullmatch(r"[a-z_]\w*", argument)]))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_are_called_as_they_are_made(page: Path) -> None:
    for name, arguments in calls(page):
        if name in NOT_OURS:
            continue
        known = (
            [PUBLIC[name]]
            if name in PUBLIC
            else [getattr(result, name) for result in RESULTS.values() if hasattr(result, name)]
        )
        assert any(takes(function, arguments) for function in known), f"{name}({', '.join(arguments)})"


def test_a_function_that_is_called_otherwise_is_noticed() -> None:
    assert takes(PUBLIC["coin_flip"], ["gamma"])
    assert not takes(PUBLIC["coin_flip"], ["epsilon"])
    assert not takes(PUBLIC["power"], ["share", "n"])
