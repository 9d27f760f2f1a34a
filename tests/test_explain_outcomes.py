"""Explain a scale, options and a number, and rows that were drawn by schools, on the command line and in reports."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import every_kind
from tests.support.factories import question
from tests.test_analyse import analyse_study, read_analysis

_rng = np.random.default_rng(8)
ROWS = 3000
schools = _rng.integers(0, 30, ROWS)
sexes = _rng.integers(0, 2, ROWS)
sides = _rng.random(30) < 0.5
stole = _rng.random(ROWS) < 0.3 + 0.4 * sexes
moods = np.clip(np.round(2 + 1.2 * sexes - 1.0 * stole + _rng.normal(0, 1, ROWS)), 0, 4).astype(int)
parties = np.where(_rng.random(ROWS) < 0.25 + 0.35 * sexes, 1, _rng.integers(0, 4, ROWS))
cups = np.clip(2 + 3 * sexes + 2 * stole + _rng.uniform(-1, 1, ROWS), 0, 9)
cheated = _rng.random(ROWS) < (np.where(sides, 0.65, 0.35) + _rng.uniform(-0.3, 0.3, 30))[schools]


def keep(truths: np.ndarray[Any, Any], count: int, chance: float) -> np.ndarray[Any, Any]:
    """The truth with so high a chance, else any of the others."""
    others = (truths + _rng.integers(1, count, ROWS)) % count
    return np.where(_rng.random(ROWS) < chance, truths, others)


STUDY: dict[str, Any] = {
    "format": 1,
    "survey": {
        "questions": [
            question("cheated"),
            question("stole"),
            {
                "name": "mood",
                "kind": "scale",
                "text": "Mood?",
                "options": every_kind.options(every_kind.LEVELS),
            }
            | {"design": {"mechanism": "k_ary", "epsilon": 2}},
            {
                "name": "party",
                "kind": "select_one",
                "text": "Party?",
                "options": every_kind.options(every_kind.PARTIES),
            }
            | {"design": {"mechanism": "k_ary", "epsilon": 2}},
            {"name": "cups", "kind": "number", "text": "Cups?", "low": 0, "high": 9, "step": 1}
            | {"design": {"mechanism": "stochastic_rounding", "epsilon": 2}},
        ]
    },
    "covariates": [
        {"name": "sex", "categories": ["f", "m"]},
        {"name": "side", "categories": ["east", "west"]},
    ],
}


def write_table() -> str:
    e2 = float(np.exp(2))
    columns = [
        keep(cheated.astype(int), 2, 0.75),
        keep(stole.astype(int), 2, 0.75),
        keep(moods, 5, e2 / (e2 + 4)),
        keep(parties, 4, e2 / (e2 + 3)),
        keep((_rng.random(ROWS) < cups / 9).astype(int), 2, e2 / (1 + e2)),
    ]
    lines = ["cheated,stole,mood,party,cups,sex,side,w,school"]
    for k in range(ROWS):
        known = "fm"[sexes[k]], ("east", "west")[int(sides[schools[k]])], str(1 + k % 3), f"s{schools[k]}"
        lines.append(",".join([*(str(int(column[k])) for column in columns), *known]))
    return "\n".join(lines) + "\n"


DATA = write_table()


def explain_answer(folder: Path, answer: str, *by: str, **sampling: Any) -> dict[str, Any]:
    stated = {**STUDY, "sampling": sampling} if sampling else STUDY
    words = [word for name in by for word in ("--by", name)]
    return read_explanation(folder, stated, DATA, "--explain", answer, *words)


def read_explanation(folder: Path, stated: dict[str, Any], data: str, *words: str) -> dict[str, Any]:
    done = analyse_study(folder, stated, data, *words, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)["explanation"]
    return document


def test_a_scale_is_explained_by_the_odds_of_a_higher_level(tmp_path: Path) -> None:
    """Men are 1.2 standard deviations higher, thieves 1.0 lower: 1.7 times as much in log odds (Agresti 2010)."""
    told = explain_answer(tmp_path, "mood", "sex", "stole")
    assert (told["model"], told["parallel_slopes"]["degrees_of_freedom"]) == ("cumulative", 6)
    (sex,), (stolen,) = (predictor["steps"] for predictor in told["predictors"])
    assert sex["odds_ratio_interval"][0] < np.exp(1.2 * 1.7) < sex["odds_ratio_interval"][1]
    assert stolen["odds_ratio_interval"][1] < 1
    assert abs(sex["average_effect"] - 1.1) < 3 * sex["average_effect_error"]
    assert any("proportional odds" in note for note in told["notes"])


def test_options_are_each_explained_against_the_first_one(tmp_path: Path) -> None:
    told = explain_answer(tmp_path, "party", "sex")
    assert told["model"] == "multinomial"
    steps = told["predictors"][0]["steps"]
    assert [step["answer"] for step in steps] == ["green", "blue", "none"]
    # Green: 0.25 + 0.75/4 of women, 0.6 + 0.4/4 of men; red 0.75/4 and 0.4/4.
    truth = (0.7 / 0.1) / (0.4375 / 0.1875)
    low, high = steps[0]["odds_ratio_interval"]
    assert low < truth < high
    assert 0.15 < steps[0]["average_effect"] < 0.38
    assert told["likelihood_ratio"]["degrees_of_freedom"] == 3


def test_a_number_is_explained_by_itself(tmp_path: Path) -> None:
    told = explain_answer(tmp_path, "cups", "sex", "stole")
    assert (told["model"], told["log_likelihood"]) == ("linear", None)
    (sex,), (stolen,) = (predictor["steps"] for predictor in told["predictors"])
    assert sex["odds_ratio"] is None
    assert sex["coefficient_interval"][0] < 3 < sex["coefficient_interval"][1]
    assert stolen["coefficient_interval"][0] < 2 < stolen["coefficient_interval"][1]


@pytest.mark.parametrize("answer", ["mood", "party", "cups"])
def test_the_terminal_and_the_report_say_what_is_explained(tmp_path: Path, answer: str) -> None:
    file = tmp_path / "report.html"
    done = analyse_study(
        tmp_path, STUDY, DATA, "--explain", answer, "--by", "sex", "--by", "stole", "--output", str(file)
    )
    assert done.exit_code == 0, done.output
    said = {"mood": "proportional odds", "party": "m / f: green / red", "cups": "Higher by "}[answer]
    assert said in done.stdout
    text = " ".join(file.read_text("utf-8").split())
    shown = {
        "mood": "levels higher on average",
        "party": "m / f: Option green / Option red",
        "cups": "Wald test",
    }
    assert shown[answer] in text


def test_rows_of_schools_and_weights_make_an_answer_less_sure(tmp_path: Path) -> None:
    """Of a school all are on one side: counting rows for schools says too much."""
    (plain,) = explain_answer(tmp_path, "cheated", "side")["predictors"][0]["steps"]
    told = explain_answer(tmp_path, "cheated", "side", weights="w", clusters="school")
    (drawn,) = told["predictors"][0]["steps"]
    assert told["weighted"]
    assert any("by how the rows were drawn" in note for note in told["notes"])
    assert drawn["standard_error"] > 1.5 * plain["standard_error"]
    again = explain_answer(
        tmp_path, "cheated", "side", weights="w", clusters="school", replicates={"make": "jackknife"}
    )
    (left_out,) = again["predictors"][0]["steps"]
    assert left_out["standard_error"] == pytest.approx(drawn["standard_error"], rel=0.15)


def test_weights_of_a_study_file_vary_as_weights(tmp_path: Path) -> None:
    """Not as numbers of people: a thousand times as many says no more."""
    data = DATA.splitlines()
    stated = {**STUDY, "weights": "w"}
    few = found_explanation(tmp_path, stated, "\n".join(data) + "\n")
    large = [data[0], *(_multiply(line) for line in data[1:])]
    many = found_explanation(tmp_path, stated, "\n".join(large) + "\n")
    assert many["standard_error"] == pytest.approx(few["standard_error"], rel=1e-6)


def _multiply(line: str) -> str:
    cells = line.split(",")
    return ",".join([*cells[:7], f"{cells[7]}000", cells[8]])


def found_explanation(folder: Path, stated: dict[str, Any], data: str) -> dict[str, Any]:
    assert read_analysis(folder, stated, data)["weights"] == "w"
    done = analyse_study(folder, stated, data, "--explain", "cheated", "--by", "side", "--json")
    step: dict[str, Any] = json.loads(done.stdout)["explanation"]["predictors"][0]["steps"][0]
    return step
