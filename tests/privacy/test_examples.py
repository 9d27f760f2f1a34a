"""Every example in the docstrings and in the manual runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import server.privacy
from server.config import DOCS
from server.web.handbook import read_handbook

PAGES = sorted(
    DOCS / chapter.file
    for chapter in read_handbook().chapters.values()
    if chapter.name.startswith("privacy") and chapter.language == "en"
)
"""Those in English: `test_help_chapters` says that translations have the same examples."""
WITHOUT_EXAMPLES = ("README", "open_surveys", "results")
MODULES = ["server.privacy"] + [
    module.name for module in pkgutil.walk_packages(server.privacy.__path__, "server.privacy.")
]
MODULES += ["server.inputs.decimals"]  # what else has examples
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert outcome.failed == 0


def read_page(path: Path) -> doctest.DocTest:
    """A page of the manual, to be run from a fresh start."""
    text = path.read_text("utf-8").replace("```", "\n")
    return doctest.DocTestParser().get_doctest(text, {}, path.stem, str(path), 0)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_examples_in_the_manual_run(path: Path) -> None:
    page = read_page(path)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(page)
    assert runner.summarize(verbose=False).failed == 0
    assert page.examples or path.stem in WITHOUT_EXAMPLES


def test_a_wrong_example_would_be_noticed() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(wrong, out=lambda _: None).failed == 1
