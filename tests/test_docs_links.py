"""Whatever a document names is there: pages, anchors, files, modules, and a test for each promise."""

import importlib
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from urllib.parse import unquote

import pytest

from tests.support.factories import ROOT

BEGINNINGS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*BEGINNINGS, *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
LONGEST_README = 5_200
"""Bytes. What is longer is a manual, and belongs to the pages behind it."""


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def drop_code(text: str) -> str:
    """The text without its blocks of code, whose brackets lead nowhere."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def list_anchors(text: str) -> set[str]:
    """What can follow a `#`, as GitHub makes it from headings: the second of a name ends in `-1`."""
    anchors: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", drop_code(text), re.MULTILINE):
        name = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        same = sum(re.fullmatch(rf"{re.escape(name)}(-\d+)?", anchor) is not None for anchor in anchors)
        anchors.add(f"{name}-{same}" if same else name)
    return anchors


def list_links(text: str) -> list[str]:
    return re.findall(r"\]\(<?([^)\s>]+)>?\)", re.sub(r"`[^`\n]*`", "", drop_code(text)))


def find_broken(page: str, text: str) -> Iterator[str]:
    """Links of a page that lead to no file of the repository, or to no heading of it."""
    for link in list_links(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        there = target.resolve().is_relative_to(ROOT) and target.exists()
        if not there or (anchor and anchor not in list_anchors(target.read_text("utf-8") if name else text)):
            yield link


def find_misplaced(text: str) -> list[str]:
    """Links that say "further down" or "above", and lead to another page, where nobody looks for it."""
    words = "below|above|further down|further up|más abajo|más arriba|abajo|arriba"
    return re.findall(rf"\[(?:{words})\]\([^)#][^)]*\)", drop_code(text))


@pytest.mark.parametrize("page", PAGES)
def test_what_is_said_to_stand_further_down_is_on_the_page(page: str) -> None:
    assert find_misplaced(read(page)) == []


def test_a_place_on_another_page_that_is_called_further_down_is_found() -> None:
    text = "[further down](frequent.md#x), [below](#there), [más abajo](../otro.md)"
    assert find_misplaced(text) == ["[further down](frequent.md#x)", "[más abajo](../otro.md)"]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    assert list(find_broken(page, read(page))) == []


@pytest.mark.parametrize(
    "link",
    [
        "definitions.md",
        "definition.md#nowhere",
        "#nowhere",
        "../README.md#what-is-stored",
        "../../README.md",
        "privacy/designs.md#designs-1",
        "images/guide.png",
    ],
)
def test_a_link_that_leads_nowhere_is_noticed(link: str) -> None:
    assert list(find_broken("docs/checklist.md", f"# Checklist\n\nSee [there]({link}).")) == [link]


def test_a_link_that_leads_somewhere_is_no_mistake() -> None:
    text = "# Two\n\n## Two\n\n[a](#two-1), [b](definition.md#designs), ![c](images/guide-plan.png)\n"
    assert len(list_links(text)) == 3
    assert list(find_broken("docs/checklist.md", text)) == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in list_links(read(page)):
            target = ((ROOT / page).parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                waiting.append(str(target.relative_to(ROOT)))
    assert reached == set(PAGES)


def test_the_readme_is_no_manual() -> None:
    assert len(read("README.md").encode()) < LONGEST_README


# --- Files and modules -------------------------------------------------------------

NAMED = re.compile(r"`((?:server|client|templates|tests|docs)/[\w./*-]*)(?::[^`]*)?`")
MODULE = re.compile(r"`(server(?:\.\w+)+)")


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_folder_that_a_page_names_exists(page: str) -> None:
    named = set(NAMED.findall(read(page)))
    assert [name for name in named if not any(ROOT.glob(name.rstrip("/")))] == []


def is_there(name: str) -> bool:
    """Whether this is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_every_module_that_a_page_names_can_be_imported() -> None:
    named = {name for page in PAGES for name in MODULE.findall(read(page))}
    assert len(named) >= 5
    assert [name for name in named if not is_there(name)] == []
    assert not is_there("server.privacy.designs.nothing")
    assert not is_there("server.nothing")


# --- Promises ----------------------------------------------------------------------


def list_promises(text: str) -> list[tuple[str, list[str]]]:
    """Each row of the table of promises, with what it names."""
    _, below = re.split(r"^\| prom\w+ \| \w+ \|\n\|---\|---\|\n", text, flags=re.MULTILINE)
    lines = below.split("\n\n")[0].splitlines()
    cells = [line.strip("|").split("|") for line in lines]
    assert all(len(row) == 2 for row in cells)
    return [(promise.strip(), re.findall(r"`([^`]+)`", tests)) for promise, tests in cells]


def holds_tests(name: str) -> bool:
    """Whether `make test` runs this: a file of pytest or of Node, or a folder of them."""
    path = ROOT / name
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return any(
        mark in file.read_text("utf-8")
        for ending, mark in (("test_*.py", "def test_"), ("*.test.js", "test("))
        for file in files
        if fnmatch(file.name, ending) and file.is_relative_to(ROOT / "tests")
    )


def find_unkept(text: str) -> list[str]:
    """Promises that name no test, or name something that is not there."""
    return [
        promise
        for promise, named in list_promises(text)
        if not any(map(holds_tests, named)) or not all((ROOT / name).exists() for name in named)
    ]


def test_every_promise_has_a_test() -> None:
    promises = read("docs/promises.md")
    assert len(list_promises(promises)) > 40
    assert find_unkept(promises) == []


def test_the_same_tests_hold_the_promises_in_both_languages() -> None:
    english, spanish = (list_promises(read(f"docs/{page}.md")) for page in ("promises", "promesas"))
    assert [named for _promise, named in english] == [named for _promise, named in spanish]


@pytest.mark.parametrize(
    "tests",
    [
        "",
        "none yet",
        "`tests/test_nothing.py`",
        "`tests/vectors/`",
        "`tests/support/factories.py`",
        "`server/study/smallest_group.py`",
        "`tests/test_docs.py`, `tests/test_nothing.py`",
    ],
)
def test_a_promise_without_a_test_is_noticed(tests: str) -> None:
    text = f"| promise | test |\n|---|---|\n| Kept | `tests/test_docs.py` |\n| It is so | {tests} |\n\n"
    assert find_unkept(text) == ["It is so"]
