"""The table of the audit is complete, by what is registered."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from types import CodeType

import pytest

from server.inputs.schema import schema
from server.privacy import designs, noise, queries
from server.privacy.auditing.cases import Case
from server.privacy.designs import Design
from server.releases import dividing, kinds
from server.releases.claims import question_cases, registered_functions, whole_audit
from server.releases.claims.registered_functions import codes_entered, find_lacking, find_missing
from server.releases.plans.plan_reader import ItemKind


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return whole_audit.list_shipped_cases()


@pytest.fixture(scope="module")
def entered_code(cases: list[Case]) -> set[CodeType]:
    return set().union(*map(codes_entered, cases))


@pytest.fixture(scope="module")
def covered_names(cases: list[Case]) -> set[str]:
    return {case.covers for case in cases}


def test_everything_that_can_be_run_is_in_the_table(cases: list[Case]) -> None:
    assert find_missing(cases) == []
    assert len({case.mechanism for case in cases}) == len(cases)


def leaky(counts: list[int]) -> list[int]:
    """A mechanism that nobody put on trial."""
    return [count + secrets.randbelow(3) for count in counts]


def certain(epsilon: float) -> Design:
    """A design that nobody put on trial."""
    return designs.coin_flip(0.25)


def noisier(count: int) -> object:
    """A page's own way to perturb."""
    return queries.count(1.0).run([1] * count)


@pytest.mark.parametrize(("package", "added"), [(noise, leaky), (queries, leaky), (designs, certain)])
def test_an_importable_mechanism_without_a_row_is_missed(
    package: object,
    added: Callable[..., object],
    entered_code: set[CodeType],
    covered_names: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [*package.__all__, added.__name__]  # type: ignore[attr-defined]
    monkeypatch.setattr(package, "__all__", names)
    monkeypatch.setattr(package, added.__name__, added, raising=False)
    assert find_lacking(entered_code, covered_names) == [f"{package.__name__}.{added.__name__}"]  # type: ignore[attr-defined]


def test_a_page_that_perturbs_by_itself_is_missed(
    entered_code: set[CodeType], covered_names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = type(noisier)(noisier.__code__, {"queries": queries, "__name__": dividing.__name__}, "noisier")
    monkeypatch.setattr(dividing, "noisier", made, raising=False)
    assert find_lacking(entered_code, covered_names) == [f"{dividing.__name__}.noisier"]


def test_a_kind_of_release_without_a_row_is_missed(
    entered_code: set[CodeType], covered_names: set[str]
) -> None:
    without = {name for name in covered_names if not name.startswith(f"{ItemKind.MEAN} with gaussian")}
    assert find_lacking(entered_code, without) == [
        "mean with gaussian noise, bounded",
        "mean with gaussian noise, unbounded",
    ]


def test_a_registered_noise_is_asked_for(
    entered_code: set[CodeType], covered_names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    share = kinds.KINDS[ItemKind.SHARE]
    more = replace(share, noises=(*share.noises, "uniform"))
    monkeypatch.setattr(registered_functions, "KINDS", {**kinds.KINDS, ItemKind.SHARE: more})
    assert find_lacking(entered_code, covered_names) == [
        "share with uniform noise, bounded",
        "share with uniform noise, unbounded",
    ]


def test_a_plan_may_ask_for_every_kind_that_is_registered_and_for_no_other() -> None:
    item = schema("release")["properties"]["items"]["items"]["properties"]
    assert set(item["kind"]["enum"]) == set(kinds.list_kinds())
    assert {noise for kind in kinds.list_kinds() for noise in kinds.KINDS[kind].noises} == set(
        item["noise"]["enum"]
    )


def test_a_mechanism_that_the_schema_allows_is_put_on_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = schema("survey")["$defs"]["scale"]["properties"]["design"]["properties"]["mechanism"]
    assert ("scale", "ordinal") in question_cases.list_mechanisms()
    monkeypatch.setitem(allowed, "enum", [*allowed["enum"], "wishful"])
    assert ("scale", "wishful") in question_cases.list_mechanisms()
