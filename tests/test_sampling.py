"""What `make test` draws is the same on a commit, differs between commits, and leaves nothing out in the long run."""

import os
from collections import Counter
from functools import cache

import pytest

from tests.support import turns
from tests.support.forked_servers import ForkedServer
from tests.support.sampling import ALIKE, ON_BOTH, ROOT, choose, draw_ways, read_seed

FILE = "tests/browser/test_kind_selector.py"
ROWS = "tests/test_headers.py::test_error_page_sends_every_header"
NARROW = "tests/browser/test_editor_list.py"
SEEDS = 400
UNLIKELY = 140
"""Of 400 fair draws of one of two, so few or fewer of either have a chance below 2e-9 (the binomial distribution)."""


def collect(asked: str, *arguments: str) -> set[str]:
    """The tests of the three files that a run of `make test`, or of `make test-long`, would run."""
    return list_tests(asked, FILE, ROWS, NARROW, *arguments)


@cache
def list_tests(asked: str, *arguments: str) -> set[str]:
    """The tests that pytest would run, looking so far."""
    # It begins with what servers import, of which a little would want other assertions; none is run.
    unasked = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    command = ["--collect-only", "-q", "-p", "no:cacheprovider", *unasked, *arguments]
    run = ForkedServer(command, {**os.environ, "MONEDA_TEST_SCALE": asked}, module="pytest")
    written = run.communicate()
    assert run.returncode == 0, written
    return {line for line in written.splitlines() if line.startswith("tests/")}


def test_one_way_is_collected_and_every_way_where_all_are_asked_for() -> None:
    both, drawn = (
        {name for name in found if not name.startswith(NARROW)}
        for found in (collect("long", "-m", "scaled"), collect("short"))
    )
    languages = {name.rpartition("[")[2] for name in both if name.startswith(FILE)}
    assert languages == {"en]", "es]"}
    assert drawn < both
    assert {name.partition("[")[0] for name in drawn} == {name.partition("[")[0] for name in both}
    # Of each row of a test that has rows and a database, one.
    every, one = (
        sorted(name.partition("[")[2].partition("-")[2] for name in names if name.startswith(ROWS))
        for names in (both, drawn)
    )
    assert len(set(one)) > 1
    assert every == sorted(one * 2)


def test_of_several_parameters_those_that_are_alike_are_drawn() -> None:
    kept = [
        name.rpartition("[")[2]
        for name in collect("short")
        if name.startswith(NARROW) and "_where_it_is_narrow[" in name
    ]
    assert sorted(way.rpartition("-")[0] for way in kept) == ["no script", "script"]


def test_a_way_that_is_asked_for_alone_is_run() -> None:
    for asked in ("test_a[en]", "test_a[es]"):
        assert draw_ways({asked: "a"}) == {asked}


def test_another_commit_draws_another_way_and_the_same_commit_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = {f"test_{place}[{way}]": place for place in range(20) for way in ("en", "es")}
    drawn = []
    for number in range(SEEDS):
        monkeypatch.setenv("MONEDA_TEST_SEED", str(number))
        drawn.append(draw_ways(tests))
        assert draw_ways(dict(reversed(tests.items()))) == drawn[-1]
        assert sorted(tests[name] for name in drawn[-1]) == list(range(20))
    counted = Counter(name for names in drawn for name in names)
    assert counted.keys() == tests.keys()
    assert min(counted.values()) > UNLIKELY


def test_where_nobody_sets_a_seed_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MONEDA_TEST_SEED", raising=False)
    assert read_seed()
    first = [choose(str(place), "ab") for place in range(40)]
    monkeypatch.setenv("MONEDA_TEST_SEED", read_seed())
    assert [choose(str(place), "ab") for place in range(40)] == first


def test_what_is_said_to_be_alike_is_there() -> None:
    for where, name in ALIKE:
        files = [ROOT / where] if where.endswith(".py") else (ROOT / where).glob("test_*.py")
        assert any(f"{name}:" in path.read_text("utf-8") for path in files), (where, name)


def test_what_runs_on_both_databases_is_there() -> None:
    for beginning in ON_BOTH:
        file, _, test = beginning.partition("::")
        texts = [path.read_text("utf-8") for path in (ROOT / "tests").glob(f"test_{file}*")]
        assert any(f"def {test}" in text and ("postgresql" in text or "_url" in text) for text in texts), (
            beginning
        )


def test_of_those_in_turn_a_whole_run_takes_one_and_whoever_asks_for_a_file_gets_it() -> None:
    file = "tests/test_withdrawal_lists.py"
    every = list_tests("short", file, "-m", "scaled")
    taken = list_tests("short", "-o", f"testpaths={file}")
    assert taken < every
    assert len(taken) == -(-len(every) // turns.OF)


def test_each_test_has_its_turn_and_no_other_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"tests/test_fleet.py::test_{number:02}" for number in range(20)]
    others = [
        "tests/test_flee.py::test_a",
        "tests/test_a.py::test_caughts",
        "tests/a/test_fleet.py::test_a",
    ]
    taken: Counter[str] = Counter()
    for number in range(SEEDS):
        monkeypatch.setenv("MONEDA_TEST_SEED", str(number))
        left = turns.skip_others([*others, *tests])
        assert turns.skip_others([*reversed(tests), *others]) == left
        assert not left & set(others)
        assert len(left) == 16
        taken.update(set(tests) - left)
    assert taken.keys() == set(tests)
    assert min(taken.values()) > SEEDS // (turns.OF + 2)


def test_what_is_taken_in_turn_is_there() -> None:
    for beginning in turns.IN_TURN:
        file, _, test = beginning.partition("::")
        texts = [path.read_text("utf-8") for path in (ROOT / "tests").glob(f"{file}{'' if test else '*.py'}")]
        assert any(f"def {test}" in text for text in texts), beginning
    assert turns.is_in_turn("tests/test_ledger.py::test_a_leak_is_caught[sqlite]")
    assert turns.is_in_turn("tests/test_ledger.py::test_a_leak_is_caught_wherever_it_is")
    assert not turns.is_in_turn("tests/browser/test_work.py::test_nothing_of_the_work_depends_on_an_answer")
