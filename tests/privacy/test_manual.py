"""The manual of the privacy library names everything that is public, and nothing else as if it were."""

import dataclasses
import importlib
import re
from typing import Any

import pytest

from tests.privacy.test_examples import MANUAL

TEXT = MANUAL.read_text("utf-8")
MODULES = {
    name: importlib.import_module(f"server.privacy.{name}")
    for name in (
        "designs",
        "planning",
        "estimators",
        "noise",
        "selection",
        "queries",
        "consistency",
        "accounting",
        "auditing",
    )
}
PUBLIC = {
    f"{module}.{name}": getattr(MODULES[module], name)
    for module in MODULES
    for name in MODULES[module].__all__
}
RESULTS = {name: value for name, value in PUBLIC.items() if dataclasses.is_dataclass(value)}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_in_the_manual(name: str) -> None:
    assert re.search(rf"\b{name.split('.')[1]}\b", TEXT), name


@pytest.mark.parametrize("name", RESULTS)
def test_every_attribute_of_a_result_is_in_the_manual(name: str) -> None:
    rows = TEXT.split("\n## Results\n")[1]
    (row,) = re.findall(rf"^\| `{name.split('.')[1]}` \|.*$", rows, re.MULTILINE)
    place = TEXT.split("\n## Regression\n")[1].split("\n## ")[0] + row if "as listed under" in row else row
    fields = [field.name for field in dataclasses.fields(RESULTS[name])]
    assert [field for field in fields if f"`{field}`" not in place] == []


@pytest.mark.parametrize("module", MODULES)
def test_what_the_manual_imports_is_public(module: str) -> None:
    imported = re.findall(rf"^>>> from server\.privacy\.{module} import (.+)$", TEXT, re.MULTILINE)
    assert imported
    names: set[Any] = {name.strip() for line in imported for name in line.split(",")}
    assert names <= set(MODULES[module].__all__)
