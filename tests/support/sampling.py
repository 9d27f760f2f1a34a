"""Of several ways of a test that are nearly the same, a run of `make test` takes one: another with another commit.

`make test-long` takes all. The draw depends on the commit and the test alone, so that a run repeated on a commit is the
same, and a red build means a change. What a run drew by stands in its first lines, and is set by `MONEDA_TEST_SEED`.
A test that is asked for by its name, with its parameters, is run whatever was drawn.
"""

import hashlib
import os
import subprocess
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from server import __version__
from tests.support.scale import scale

ROOT = Path(__file__).resolve().parents[2]
_PAGES = (
    *(
        "accounts",
        "closed_pages",
        "download_names",
        "invitations",
        "links",
        "paper_pages",
        "programs",
        "promises",
    ),
    *("publishing", "search_pages", "simulating", "teaching", "translating", "webhook_pages"),
)
_TEXTS = (
    *("abuse", "compression", "headers", "headline", "paper_form", "report_texts", "reports"),
    "study_sheets",
)
_SAID = (
    *(
        "test_analyse",
        "test_collecting",
        "test_digits",
        "test_many_strata",
        "test_markdown",
        "test_progress",
        "test_release_figures",
        "test_reports_pooled",
    ),
    *("test_sites", "test_small_sentences", "test_translations", "test_xlsform_written"),
    "views/test_release_downloads",
)
# How the names of tests begin, where others of their file ask what a database keeps.
_SOME = {
    "test_entering": ("bytes_that", "what_is_wrong"),
    "test_invitations": ("batch_that_cannot", "what_cannot_be", "code_that_is_no"),
    "test_ledger": ("a_budget_out_of_range",),
    "test_looks": ("bad_input",),
    "test_receipts": ("bad_input",),
    "test_security": ("request_of", "without_signing_in", "other_researchers_survey", "owner_reaches"),
    "test_senders": (
        "who_asks",
        "nothing_is_shown",
        "a_logo_is_drawn",
        "the_noisiest",
        "what_is_no",
        "an_archive",
    ),
    "test_ticket_sales": ("what_cannot_be",),
}
ALIKE = (
    ("tests/browser/", "language"),
    # What every coin shows, for all answers that are compared.
    ("tests/browser/", "coins"),
    *(("tests/browser/", name) for name in ("device", "look", "scheme", "size", "width")),
    ("tests/test_page_list.py", "language"),
    # A mouse and a desk, or keys alone and a phone.
    ("tests/browser/test_accounts.py", "hand"),
    ("tests/browser/test_imports.py", "first"),
    ("tests/browser/test_keeping.py", "mouse"),
    ("tests/browser/test_kinds.py", "turn"),
    ("tests/browser/test_live.py", "watcher"),
    ("tests/browser/test_releases.py", "releaser"),
    ("tests/browser/test_respondent.py", "visit"),
    ("tests/browser/test_running_links.py", "hands"),
    # SQLite or PostgreSQL, where it is about what pages, files and refusals say.
    *((f"tests/views/test_{name}.py", "new_database") for name in _PAGES),
    *((f"tests/test_{name}.py", "new_database") for name in _TEXTS),
    *((f"tests/{name}.py", "new_database") for name in _SAID),
    ("tests/test_refusals.py", "site"),
    *(
        (f"tests/{name}.py::test_{beginning}", "new_database")
        for name, beginnings in _SOME.items()
        for beginning in beginnings
    ),
)
"""Where tests stand, or how their names begin, and the parameter of which one value is drawn for each of them."""
_DRAWN = frozenset(name for _where, name in ALIKE)
Option = TypeVar("Option")


def read_seed() -> str:
    """What draws: what the environment asks for, else the commit, else (no checkout) the version."""
    return os.environ.get("MONEDA_TEST_SEED") or _read_commit()


def choose(name: str, options: Sequence[Option]) -> Option:
    """One of the options, the same for this name until the next commit."""
    digest = hashlib.sha256(f"{read_seed()} {name}".encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def mark_sampled(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of which `make test` runs one way of several, for `make test-long`."""
    for item in items:
        if _drawn_parameters(item) or "inspector" in getattr(item, "fixturenames", ()):
            item.add_marker("scaled")


def draw_ways(alike: Mapping[str, Hashable]) -> set[str]:
    """Of tests of which is said by what they are nearly the same, one of each: their names."""
    ways: dict[Hashable, list[str]] = {}
    for test, what in alike.items():
        ways.setdefault(what, []).append(test)
    return {choose(min(tests), sorted(tests)) for tests in ways.values()}


def leave_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests that were not drawn: of those that differ in a parameter of `ALIKE` alone, all but one."""
    if scale() == "long":
        return []
    alike: dict[str, Hashable] = {}
    for item in items:
        if drawn := _drawn_parameters(item):
            others = tuple((name, value) for name, value in _values(item) if name not in drawn)
            alike[item.nodeid] = (item.nodeid.partition("[")[0], others)
    kept = draw_ways(alike)
    return [item for item in items if item.nodeid in alike and item.nodeid not in kept]


def _drawn_parameters(item: pytest.Item) -> set[str]:
    names = {name for name, _value in _values(item)}
    if names.isdisjoint(_DRAWN):  # most tests: what stands below is asked of each of them, in every process
        return set()
    test = item.nodeid
    return {name for where, name in ALIKE if name in names and test.startswith(where)}


def _values(item: pytest.Item) -> Iterator[tuple[str, int]]:
    """Its parameters, and which object each is: pytest numbers all combinations of several parameters through."""
    called = getattr(item, "callspec", None)
    if called is not None:
        yield from sorted((name, id(value)) for name, value in called.params.items())


@cache
def _read_commit() -> str:
    asked = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return __version__
    return done.stdout.strip() or __version__
