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
)
"""Where tests stand, or how their names begin, and the parameter of which one value is drawn for each of them."""
DATABASES = frozenset({"sqlite", "postgresql"})
"""Of tests that run on both, one is drawn too, whatever their parameter is called, but of those below."""
ON_BOTH = (
    # What a database does when several write, or when it is locked, killed, full or gone.
    *("accept", "batches", "connections", "durability", "failures", "intake", "ledger_races", "load"),
    *("one_moment", "storage", "tidying", "visits"),
    # The statements that make and change its tables, and what starts on it.
    *("check.py::test_the_triggers", "first_start", "ledger.py", "migrations", "start", "upgrades"),
    # What its files and the order of its rows tell.
    *("deleting", "exits_in_steps", "exits_together", "hiding", "marked_values", "order", "sealed_secrets"),
)
"""How the names of files (and tests) begin that are about a database itself."""
_BOTH = tuple(f"tests/test_{name}" for name in ON_BOTH)
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
    """The tests that were not drawn: of those that differ in a parameter that is drawn alone, all but one."""
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
    given = _parameters(item)
    test = item.nodeid
    drawn = {
        name
        for name in given.keys() & _DRAWN
        if any(name == other and test.startswith(where) for where, other in ALIKE)
    }
    if not test.startswith(_BOTH):
        drawn |= {name for name, value in given.items() if isinstance(value, str) and value in DATABASES}
    return drawn


def _values(item: pytest.Item) -> Iterator[tuple[str, int]]:
    """Its parameters, and which object each is: pytest numbers all combinations of several parameters through."""
    yield from sorted((name, id(value)) for name, value in _parameters(item).items())


def _parameters(item: pytest.Item) -> Mapping[str, object]:
    called = getattr(item, "callspec", None)
    return {} if called is None else called.params


@cache
def _read_commit() -> str:
    asked = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return __version__
    return done.stdout.strip() or __version__
