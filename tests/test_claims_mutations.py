"""Mechanisms with half of their noise, twice their rate or without a clamp: the audit refutes every one of them."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from server.privacy.auditing.cases import Case, judge
from server.releases.claims import registered_functions, whole_audit
from tests.support.scale import choose_size
from tests.support.weakened_mechanisms import Mutant, apply_mutant, forget, mutants, own_cases

DOCS = Path(__file__).parents[1] / "docs" / "privacy"
PACKAGES = (
    "server.privacy.noise",
    "server.privacy.selection",
    "server.privacy.queries",
    "server.privacy.designs",
    "server.releases.kinds",
)
_RATES = ("rate_of(1/2 sensitivity)", "rate_of(2 epsilon)")
HARMLESS = {
    "server.privacy.queries.contingency.Contingency._tabulation: table(2 epsilon)": "it only counts",
    "server.privacy.queries.tree_counts.Hierarchy.sensitivity: returns half": "it only says what was done",
    "server.privacy.queries.tree_counts.hierarchy: Hierarchy(2 epsilon)": "the levels' losses are what is drawn by",
    "server.releases.kinds.fitting.fit_tables: contingency(2 epsilon)": "it fits numbers that are noisy already",
    "server.releases.kinds.exact_means.ExactMean._noise: Noise(1/2 changes), no noise": "nothing is added there",
    "server.releases.kinds.exact_means.ExactMean._noise: Noise(2 epsilon), no noise": "nothing is added there",
    "server.releases.kinds.spreads.SpreadItem._noises: Noise(1/2 changes), no noise": "nothing is added there",
    "server.releases.kinds.spreads.SpreadItem._noises: Noise(2 epsilon), no noise": "nothing is added there",
    **{
        f"server.releases.kinds.{function}: {change}": "it only says how much rarer an option is chosen"
        for function, changes in (
            ("quantiles.Quantiles._log_odds", ("twice the rate", *_RATES)),
            ("selections.MostCommon.log_odds", _RATES),
            ("selections.TopAnswers.log_odds", _RATES),
        )
        for change in changes
    },
}
"""Changes of a loss or a sensitivity by which nothing is drawn."""
SHOWN = {
    "server.releases.kinds.counts.TreeCounts.noise: takes twice the loss",
    "server.releases.kinds.counts.noise_of_levels: Noise(1/2 changes)",
    "server.releases.kinds.counts.noise_of_levels: Noise(2 epsilon)",
}
"""Of what is only shown of a tree, which draws by itself: `tests/test_noise_drawings.py` has what it must be."""


def modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for each in pkgutil.iter_modules(package.__path__, f"{name}."):
            yield importlib.import_module(each.name)
    for name in ("noisy_cells", "searches.search_questions", "searches.search_terms"):
        yield importlib.import_module(f"server.releases.{name}")


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return whole_audit.list_shipped_cases()


@pytest.fixture(scope="module")
def entered_code(cases: list[Case]) -> dict[str, set[CodeType]]:
    found = {}
    for case in cases:
        forget()  # what is remembered is not called
        found[case.mechanism] = registered_functions.codes_entered(case)
    return found


@pytest.fixture(scope="module")
def places(cases: list[Case], entered_code: dict[str, set[CodeType]]) -> list[tuple[Mutant, list[Case]]]:
    """Every change, with the cases that run it."""
    found = [
        (mutant, own_cases(mutant, cases, entered_code)) for module in modules() for mutant in mutants(module)
    ]
    return [(mutant, own) for mutant, own in found if own]


def is_refuted(mutant: Mutant, own: list[Case]) -> bool:
    with apply_mutant(mutant):
        return any(judge(case).verdict == "certified above" for case in own)


def test_what_no_case_runs_draws_nothing(cases: list[Case], entered_code: dict[str, set[CodeType]]) -> None:
    idle = [
        mutant.name
        for module in modules()
        for mutant in mutants(module)
        if not own_cases(mutant, cases, entered_code)
        and registered_functions.reaches_randomness(mutant.function)
    ]
    assert set(idle) == SHOWN


def test_the_score_in_the_docs_is_that_of_the_changes(places: list[tuple[Mutant, list[Case]]]) -> None:
    names = {mutant.name for mutant, _ in places}
    assert HARMLESS.keys() <= names
    stated = re.search(
        r"(\d+) of (\d+) such changes are refuted",
        " ".join(word for page in DOCS.glob("*.md") for word in page.read_text("utf-8").split()),
    )
    assert stated is not None
    counted = sum(mutant.name not in HARMLESS for mutant, _ in places)
    assert (int(stated[1]), int(stated[2])) == (counted, counted)


@pytest.mark.scaled
def test_every_change_is_refuted_by_its_own_case(places: list[tuple[Mutant, list[Case]]]) -> None:
    tried = [(mutant, own) for mutant, own in places if mutant.name not in HARMLESS]
    missed = [mutant.name for mutant, own in tried[:: choose_size(12, 1)] if not is_refuted(mutant, own)]
    assert missed == []


def test_every_design_is_refuted_by_its_own_case(places: list[tuple[Mutant, list[Case]]]) -> None:
    ((mutant, own),) = [
        (mutant, own) for mutant, own in places if mutant.function.__qualname__ == "Design.report"
    ]
    named = [case for case in own if case.mechanism.startswith("design ")]
    assert len(named) >= 14
    with apply_mutant(mutant):
        assert [case.mechanism for case in named if judge(case).verdict != "certified above"] == []


def test_what_is_left_as_it_was_is_not_refuted(places: list[tuple[Mutant, list[Case]]]) -> None:
    """The broken twin of these tests: changes by which nothing is drawn."""
    harmless = [(mutant, own[:3]) for mutant, own in places if mutant.name in HARMLESS]
    assert [mutant.name for mutant, own in harmless if is_refuted(mutant, own)] == []
