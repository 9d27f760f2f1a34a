"""`python -m server analyse` of rows that were drawn unevenly: weights, margins, clusters, populations."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind
from tests.test_analyse import COIN, analysed, found, study

SEX: dict[str, Any] = {"covariates": [{"name": "sex", "categories": ["f", "m", "x"]}]}
HALVES = [{"of": ["f", "x"], "share": 50}, {"of": ["m"], "share": 50}]
ROWS = [("yes", "f", 1, "A")] * 60 + [("no", "f", 1, "B")] * 120 + [("yes", "m", 2, "C")] * 15
ROWS += [("no", "m", 2, "D")] * 5 + [("no", "x", 1, "D")] * 10
DATA = "cheated,sex,w,class\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


def sampled(folder: Path, data: str = DATA, **sampling: Any) -> dict[str, Any]:
    told: dict[str, Any] = found(folder, study(COIN, **SEX, sampling=sampling), data)["sampling"]
    return told


def test_rows_are_raked_to_what_the_population_is_known_to_be(tmp_path: Path) -> None:
    """By hand: women and others count half together, men half; guesses are 2y - 1/2."""
    told = sampled(tmp_path, weights="w", margins=[{"covariate": "sex", "groups": HALVES}])
    (row,) = told["estimates"]
    women, men = 2 * 60 / 190 - 0.5, 2 * 15 / 20 - 0.5
    assert row["value"] == pytest.approx((women + men) / 2)
    assert (row["question"], row["answer"], row["statistic"], row["n"]) == ("cheated", "yes", "share", 210)
    # Of calibrated halves, the variances within each add up.
    variance = (4 * (60 / 190) * (130 / 190) / 190 + 4 * (15 / 20) * (5 / 20) / 20) / 4
    assert row["standard_error"] == pytest.approx(math.sqrt(variance * 210 / 208))
    assert told["kish_design_effect"] == pytest.approx(210 * (190 / 190**2 + 20 / 20**2) / 4)
    assert told["margins"][0]["groups"] == [{"of": ["f", "x"], "share": 0.5}, {"of": ["m"], "share": 0.5}]
    assert (told["raking_rounds"], told["weights"], told["clusters"]) == (1, "w", None)


def test_classes_that_were_drawn_together_make_intervals_wider(tmp_path: Path) -> None:
    alone, together = sampled(tmp_path, weights="w"), sampled(tmp_path, weights="w", clusters="class")
    assert (alone["clusters"], together["clusters"]) == (None, {"column": "class", "count": 4})
    (row,), (clustered,) = alone["estimates"], together["estimates"]
    assert clustered["value"] == row["value"]
    assert clustered["standard_error"] > 2 * row["standard_error"]
    assert (row["degrees_of_freedom"], clustered["degrees_of_freedom"]) == (209, 3)
    assert clustered["design_effect"] > 4


def test_what_is_read_anyway_may_be_what_rows_were_drawn_by(tmp_path: Path) -> None:
    (row,), told = (found := sampled(tmp_path, clusters=" sex "))["estimates"], found["clusters"]
    assert told == {"column": "sex", "count": 3}
    assert row["degrees_of_freedom"] == 2


def test_a_population_may_be_written_as_a_fraction_of_none(tmp_path: Path) -> None:
    assert sampled(tmp_path, population=300.0)["population"] == 300


def test_uneven_weights_are_said_to_make_intervals_too_narrow(tmp_path: Path) -> None:
    data = "cheated,sex,w\n" + "yes,f,1\nno,m,1\n" * 50 + "yes,f,900\nno,m,700\n"
    stated = study(COIN, **SEX, sampling={"weights": "w"})
    assert "hold less often than they say" in analysed(tmp_path, stated, data).stdout
    assert "hold less often than they say" not in analysed(tmp_path, stated, DATA).stdout


def test_a_sample_of_a_small_population_says_more_and_never_that_coins_are_none(tmp_path: Path) -> None:
    errors = [
        sampled(tmp_path, population=size)["estimates"][0]["standard_error"] for size in (210, 420, 10**9)
    ]
    assert 0.3 * errors[2] < errors[0] < errors[1] < errors[2]


def test_rows_that_count_the_same_give_every_number_of_the_report(tmp_path: Path) -> None:
    """Every kind of question: shares and means, and the standard errors of shares under one coin."""
    document, rng = every_kind.document(), np.random.default_rng(4)
    definition = parse_definition(document)
    names = [name for question in definition.questions for name in question.columns]
    rows = [[int(rng.integers(design.weights.shape[1])) for design in definition.designs] for _ in range(300)]
    data = "\n".join([",".join([*names, "w"]), *(",".join(map(str, [*row, 7])) for row in rows)]) + "\n"
    stated = {"format": 1, "survey": document, "sampling": {"weights": "w"}}
    told = found(tmp_path, stated, data)
    report = {entry["name"]: entry for entry in told["questions"]}
    questions = {question.name: question for question in definition.questions}
    compared = set()
    for row in told["sampling"]["estimates"]:
        entry, question = report[row["question"]], questions[row["question"]]
        if row["statistic"] == "mean":
            value, error = (entry["mean"]["estimate"][name] for name in ("mean", "standard_error"))
        else:
            place = question.answers.index(row["answer"])
            one, place = (entry["boxes"][place], 1) if "boxes" in entry else (entry, place)
            value, error = (one["estimate"][name][place] for name in ("shares", "standard_errors"))
        assert row["value"] == pytest.approx(value, abs=1e-9), row
        assert row["standard_error"] == pytest.approx(error, rel=1e-6), row
        assert row["design_effect"] == pytest.approx(300 / 299)
        compared.add((question.kind, row["statistic"]))
    assert {kind for kind, _ in compared} == {question.kind for question in definition.questions}
    assert len(told["sampling"]["estimates"]) > 20


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Estimates for the population", "count every row once", "4 clusters", "design effect")),
        (
            "es",
            (
                "Estimaciones para la población",
                "cuentan cada fila una vez",
                "4 conglomerados",
                "efecto de diseño",
            ),
        ),
    ],
)
def test_report_and_terminal_say_how_rows_were_drawn(
    tmp_path: Path, language: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "report.html"
    sampling = {"weights": "w", "margins": [{"covariate": "sex", "groups": HALVES}], "clusters": "class"}
    stated = study(COIN, **SEX, sampling=sampling)
    done = analysed(tmp_path, stated, DATA, "--output", str(file), "--language", language)
    assert done.exit_code == 0, done.output
    text = " ".join(file.read_text("utf-8").split())
    for each in words:
        assert each in text, each
    assert "For the population, by how the rows were drawn:" in done.stdout
    assert "Raked to: sex." in done.stdout


def margins(*groups: dict[str, Any], covariate: str = "sex") -> dict[str, Any]:
    return {"margins": [{"covariate": covariate, "groups": list(groups)}]}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing stated": (
        {},
        DATA,
        "sampling: must have at least one of weights, margins, clusters, strata, population, replicates, tables",
    ),
    "a column of no name": ({"clusters": " "}, DATA, "sampling.clusters: must name a column; it is empty"),
    "a margin of nothing known": (
        margins(*HALVES, covariate="age"),
        DATA,
        "sampling.margins[0].covariate: must be a covariate of categories, one of sex; it is age",
    ),
    "a category of nobody's": (
        margins({"of": ["f", "q"], "share": 1}, {"of": ["m"], "share": 1}),
        DATA,
        "sampling.margins[0].groups[0].of: must be one of f, m, x; it is q",
    ),
    "a category in two groups": (
        margins({"of": ["f", "x"], "share": 1}, {"of": ["m", "x"], "share": 1}),
        DATA,
        "sampling.margins[0].groups[1].of: must be unique; x stands twice",
    ),
    "a category in no group": (
        margins({"of": ["f"], "share": 1}, {"of": ["m"], "share": 1}),
        DATA,
        "sampling.margins[0].groups: must hold every category; x is in none",
    ),
    "a group without rows": (
        margins({"of": ["f", "m"], "share": 1}, {"of": ["x"], "share": 1}),
        "cheated,sex\n" + "yes,f\nno,m\n" * 9,
        "sampling.margins[0]: must leave two groups of at least 5 rows; the rows are too few",
    ),
    "a population that is too small": (
        {"population": 209},
        DATA,
        "sampling.population: must be at least 210, the rows of the table; it is 209",
    ),
    "one cluster": (
        {"clusters": "w"},
        "cheated,sex,w\nyes,f,1\nno,m,1\n",
        "sampling.clusters: must name a column",
    ),
    "a cluster without a name": (
        {"clusters": "class"},
        "cheated,sex,class\nyes,f,A\nno,m, \n",
        "data[3].class: must be a name of at most 200 characters",
    ),
    "no such column": (
        {"weights": "v"},
        DATA,
        "data: must have a column for each name that is declared, also v",
    ),
    "a weight of nothing": (
        {"weights": "w"},
        "cheated,sex,w\nyes,f,0\n",
        "data[2].w: must be a number from 1e-06",
    ),
    "a share of nothing": (
        margins({"of": ["f"], "share": 0}, {"of": ["m"], "share": 1}),
        DATA,
        "sampling.margins[0].groups[0].share: must be from 0.000000001 to",
    ),
}


@pytest.mark.parametrize(("sampling", "data", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_named(tmp_path: Path, sampling: dict[str, Any], data: str, message: str) -> None:
    done = analysed(tmp_path, study(COIN, **SEX, sampling=sampling), data)
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_two_ways_of_counting_rows_are_not_taken_at_once(tmp_path: Path) -> None:
    for more in ({"weights": "w"}, {"strata": [{"path": ["A"], "population": 5}]}):
        done = analysed(tmp_path, study(COIN, sampling={"population": 9_999}, **more), "cheated\nyes\n")
        assert done.exit_code == 2
        assert "sampling: must not be given together with" in done.stderr


def test_one_row_and_margins_that_contradict_each_other(tmp_path: Path) -> None:
    data = "cheated,sex\nyes,f\n"
    (row,) = sampled(tmp_path, data, population=50)["estimates"]
    assert (row["value"], row["standard_error"], row["interval"]) == (1.5, None, [None, None])
    assert "-" in analysed(tmp_path, study(COIN, **SEX, sampling={"population": 50}), data).stdout
    both = [{"name": "sex", "categories": ["f", "m"]}, {"name": "sex2", "categories": ["f", "m"]}]
    stated = [
        {"covariate": "sex", "groups": [{"of": ["f"], "share": 1}, {"of": ["m"], "share": 1}]},
        {"covariate": "sex2", "groups": [{"of": ["f"], "share": 1}, {"of": ["m"], "share": 2}]},
    ]
    same = "cheated,sex,sex2\n" + "yes,f,f\nno,m,m\n" * 20
    done = analysed(tmp_path, study(COIN, covariates=both, sampling={"margins": stated}), same)
    assert done.exit_code == 2
    assert "sampling.margins: must be within reach of the rows: no weights were found" in done.stderr


def test_the_numbers_are_json_alone(tmp_path: Path) -> None:
    done = analysed(tmp_path, study(COIN, **SEX, sampling={"weights": "w"}), DATA, "--json")
    assert set(json.loads(done.stdout)["sampling"]) == {
        "weights",
        "margins",
        "clusters",
        "strata",
        "population",
        "replicates",
        "raking_rounds",
        "kish_design_effect",
        "estimates",
        "tables",
    }
