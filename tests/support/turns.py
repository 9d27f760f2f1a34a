"""What a whole run of `make test` takes in turn: a sixth with each commit, while `make test-long` takes all.

These tests are slow, and look once more, from further away or in yet another way, at what quicker tests look at too,
which every run takes. They are sorted, and of six that stand beside each other one is drawn as in `sampling.py`: each
file has its share, and each test its turn. Whoever asks for a file, a folder or a test gets all that is in it.
"""

import re
from collections.abc import Iterable

import pytest

from tests.support.sampling import choose
from tests.support.scale import scale

OF = 6
"""Of so many tests that stand beside each other, one is taken."""
IN_TURN = (
    # What is clicked, typed and seen in a real browser, beside the one study that is walked from end to end, the tasks
    # of a newcomer, a whole visit, and all that looks for a truth in what a browser sends and keeps.
    *(f"browser/test_{name}" for name in ("accessibility", "accounts", "appearance", "changed_meanwhile")),
    *(f"browser/test_{name}" for name in ("completions", "editor", "imports", "invitations", "keeping")),
    *(f"browser/test_{name}" for name in ("kinds", "live", "long_words", "releases", "report_pages")),
    *(f"browser/test_{name}" for name in ("resending", "routing", "running_links", "tablet", "taking_part")),
    *(f"browser/test_{name}" for name in ("throws", "tickets", "translators", "work")),
    *(f"browser/test_{name}" for name in ("elsewhere", "how", "languages", "paper", "public_frames")),
    *(f"browser/test_{name}" for name in ("receipts", "researcher", "result_figures")),
    # Many processes at once, killed, stopped and cut: each such end is tried on its own as well.
    *(
        f"test_{name}"
        for name in ("arriving", "backups", "batches", "connections", "cut_pages", "deploy_proxies")
    ),
    *(f"test_{name}" for name in ("fleet", "ledger_races", "metrics", "ordering", "retention_pieces")),
    *(f"test_{name}" for name in ("spending", "tidying", "withdrawal_lists")),
    # Everything against everything: many states, damages, formats and made-up requests.
    *(
        f"test_{name}"
        for name in ("archive_folders_refused", "explain_weeks", "formats_agree", "odd_surveys")
    ),
    *(f"test_{name}" for name in ("optional_packages", "own_answers", "page_manifest", "programs_fuzzed")),
    *(f"test_{name}" for name in ("searches", "verify", "webhooks")),
    *(f"views/test_{name}" for name in ("bad_input", "explanations", "log", "named_fields", "reading")),
    *(f"test_xlsform_{name}" for name in ("files.py::test_whatever_", "written.py::test_any_")),
    *(
        "test_findings_made_up",
        "test_visits.py::test_no_page_is_older",
        "test_xlsform_written.py::test_whatever_",
    ),
    "views/test_help.py::test_nothing_in_a_query_",
    "views/test_editor.py::test_kind_is_changed_",
    # Other programs that compute the same again, and what a page of the guide shows step by step.
    *(
        f"test_microdata.py::test_{name}_"
        for name in ("base_r", "python_with_numpy_alone", "scripts_compare")
    ),
    "test_docs_examples.py::test_the_backup_",
    # The broken twins of the audit.
    "test_claims_mutations",
    # Studies that are made up by the hundred, beside exact computations of the same.
    *(
        f"privacy/test_estimators_{name}"
        for name in ("anytime_studies", "conditional", "coverage", "differences")
    ),
    *(f"privacy/test_{name}" for name in ("auditing_cases", "contingency", "explaining_outcomes", "few_")),
    *(f"privacy/test_{name}" for name in ("open_profiles", "sample_designs")),
    "privacy/test_estimators_weighted_limits.py::test_every_kind_of_few_",
)
"""How what is taken in turn begins, below `tests`."""
_BEGINNINGS = tuple(f"tests/{beginning}" for beginning in IN_TURN)
CATCHES = re.compile(r"_caught(_|$)")
"""Tests by what they say of themselves: that another test, or an audit, would find what is broken."""
PROMISES = re.compile(
    r"yes_and_no|same_bytes|depends?_on_(an|no)_answer|whatever_(is|was)_answered|reads_nothing_of_it"
    r"|_the_order_|test_order_|whoever_looks|leaves_no_trace|rows_alone"
    r"|nobody_but_who_asks|without_a_trace_|sends_and_stores_nothing"
)
"""That nothing observable depends on an answer, nor tells who gave it: looked at in every run, wherever it stands."""


def mark_turns(items: Iterable[pytest.Item]) -> None:
    """Mark the tests that are taken in turn, for `make test-long`."""
    for item in items:
        if is_in_turn(item.nodeid):
            item.add_marker("scaled")


def takes_turns(config: pytest.Config) -> bool:
    """Whether tests are taken in turn: in `make test`, where nothing is asked for by its name."""
    asked = [config.invocation_params.dir / argument for argument in config.args]
    return scale() == "short" and asked == [config.rootpath / folder for folder in config.getini("testpaths")]


def is_in_turn(test: str) -> bool:
    """Whether a whole run takes it with one commit of six."""
    name = test.partition("::")[2].partition("[")[0]
    if CATCHES.search(name):
        return True
    return test.startswith(_BEGINNINGS) and not PROMISES.search(name)


def skip_others(tests: Iterable[str]) -> set[str]:
    """Of those that are taken in turn, the ones that this commit leaves to others."""
    waiting = sorted(filter(is_in_turn, tests))
    left = set(waiting)
    for first in range(0, len(waiting), OF):
        left.discard(choose(waiting[first], waiting[first : first + OF]))
    return left
