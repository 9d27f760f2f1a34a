"""Every example in the docstrings and in the manual runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import server.privacy

MANUAL = Path(__file__).parents[2] / "docs" / "privacy.md"
MODULES = ["server.privacy"] + [
    module.name for module in pkgutil.walk_packages(server.privacy.__path__, "server.privacy.")
]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert outcome.failed == 0


def sections() -> list[doctest.DocTest]:
    """The manual's sections, each to be run from a fresh start."""
    parser = doctest.DocTestParser()
    parts = MANUAL.read_text("utf-8").split("\n## ")[1:]
    return [
        parser.get_doctest(part.replace("```", "\n"), {}, part.splitlines()[0], str(MANUAL), 0)
        for part in parts
    ]


def test_examples_in_the_manual_run() -> None:
    found = sections()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for section in found:
        runner.run(section)
    assert runner.summarize(verbose=False).failed == 0
    assert sum(len(section.examples) for section in found) >= 20


def test_a_wrong_example_would_be_noticed() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(wrong, out=lambda _: None).failed == 1
