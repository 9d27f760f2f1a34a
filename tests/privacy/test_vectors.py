"""The vectors that `node --test` reads too: one design, one meaning, in both languages."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from server.privacy.designs import Design, coin_flip, report_between, round_up, weigh_between
from server.privacy.estimators import estimate_shares
from server.privacy.planning import count_guesses


def read(name: str) -> dict[str, Any]:
    path = Path(__file__).parents[1] / "vectors" / f"{name}.json"
    vectors: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return vectors


VECTORS, NUMBERS = read("designs"), read("numbers")
DESIGNS = {entry["name"]: entry for entry in VECTORS["designs"]}
REFUSED_FOR_ROWS = [entry for entry in VECTORS["designs"] if entry["refused_for"] == "rows"]
SOUND = [entry for entry in VECTORS["designs"] if entry["refused_for"] is None]


def name_of(entry: dict[str, Any]) -> str:
    return str(entry.get("name") or f"{entry['design']} {entry.get('counts', '')}")


@pytest.mark.parametrize("entry", SOUND, ids=name_of)
def test_epsilon_is_shown_rounded_up(entry: dict[str, Any]) -> None:
    assert round_up(Design(entry["weights"]).epsilon) == entry["epsilon_shown"]


@pytest.mark.parametrize("entry", REFUSED_FOR_ROWS, ids=name_of)
def test_rows_that_do_not_sum_to_two_to_the_32_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Design(entry["weights"])


def test_an_epsilon_that_the_weights_do_not_give_differs_from_ours() -> None:
    for entry in VECTORS["designs"]:
        if entry["refused_for"] == "epsilon":
            try:
                epsilon = round_up(Design(entry["weights"]).epsilon)
            except ValueError:  # an infinite loss has no epsilon at all
                continue
            assert epsilon != entry["epsilon_shown"]


def test_truth_and_coin_give_the_same_report_as_in_the_browser() -> None:
    reports = [
        int(Design(DESIGNS[entry["design"]]["weights"]).report([entry["truth"]], [entry["coin"]])[0])
        for entry in VECTORS["reports"]
    ]
    assert reports == [entry["report"] for entry in VECTORS["reports"]]
    assert len(reports) >= 100


def test_a_number_has_the_row_and_the_report_that_it_has_in_the_browser() -> None:
    designs = {name: Design(weights) for name, weights in NUMBERS["designs"].items()}
    for entry in NUMBERS["rows"]:
        row = weigh_between(designs[entry["design"]], entry["steps"], entry["of"])
        assert row.tolist() == entry["row"], entry
    for entry in NUMBERS["reports"]:
        design, steps, of = designs[entry["design"]], entry["steps"], entry["of"]
        assert report_between(design, [steps], of, [entry["coin"]]).tolist() == [entry["report"]], entry


@pytest.mark.parametrize("entry", VECTORS["estimates"], ids=name_of)
def test_counts_give_the_estimate(entry: dict[str, Any]) -> None:
    estimate = estimate_shares(entry["counts"], Design(DESIGNS[entry["design"]]["weights"]))
    assert estimate.shares[1] == pytest.approx(entry["share"], abs=1e-12)
    # Reports that are all alike say nothing of how far they are off.
    error = math.inf if entry["standard_error"] is None else entry["standard_error"]
    assert estimate.standard_errors[1] == pytest.approx(error, rel=1e-12)
    assert estimate.intervals[1] == pytest.approx(entry["wilson"], abs=1e-12)
    assert estimate.impossible is entry["impossible"]


def test_named_designs_have_the_weights_of_the_vectors() -> None:
    assert coin_flip(0.25).weights.tolist() == DESIGNS["two fair coins, gamma 1/4"]["weights"]
    # Elsewhere the vectors round to the nearest and `coin_flip` toward privacy: one unit at most.
    for name, gamma in (
        ("gamma 1/100", 0.01),
        ("gamma 1/10", 0.1),
        ("gamma 2/5", 0.4),
        ("gamma 49/100", 0.49),
    ):
        assert abs(coin_flip(gamma).weights - DESIGNS[name]["weights"]).max() <= 1


GUESSES = [
    (math.log(3), 75),
    (math.log(4), 80),
    (math.log(9), 90),
    (math.log(19), 95),
    (2.95, 96),
    (0.01, 51),
    (30, 100),
    (700, 100),
]


@pytest.mark.parametrize(("loss", "right"), GUESSES)
def test_guesses_are_those_of_bayes_rule(loss: float, right: int) -> None:
    """1 / (1 + e**-loss), by hand for ln 3, ln 4, ln 9 and ln 19."""
    assert count_guesses([loss]).right == right
