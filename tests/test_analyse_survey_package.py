"""Uneven rows beside R's package survey (4.1.1): weights, strata, clusters, margins, replicates, populations.

The rows are made up by a rule. The numbers of R are of `svymean`, `svycontrast` of `svyby` and `svyglm`, under
`svydesign`, `postStratify`, `rake` and `as.svrepdesign(type = "JKn", mse = TRUE)`; a report stood there for its
unbiased guess, (report - 1/4) / (1/2).
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.test_analyse import analyse_study, question, read_analysis, study

QUESTIONS = (
    question({"mechanism": "warner", "truth": 0.75}, "report"),
    question({"mechanism": "matrix", "chances": [[1, 0], [0, 1]]}, "direct"),
)
AGES = "young", "mid", "old"
COVARIATES = [{"name": "sex", "categories": ["female", "male"]}, {"name": "age", "categories": list(AGES)}]
CLUSTERS = {"weights": "weight", "strata": "region", "clusters": "school"}
SEX = {"covariate": "sex", "groups": [{"of": ["female"], "share": 51}, {"of": ["male"], "share": 49}]}
AGE = {
    "covariate": "age",
    "groups": [{"of": [age], "share": part} for age, part in zip(AGES, (30, 40, 30), strict=True)],
}
MADE = {"make": "jackknife"}


def write_rows() -> str:
    lines = ["report,direct,region,school,sex,age,weight"]
    for i in range(180):
        region = "NSW"[i % 3]
        place = (i // 3) % (4 + i % 3)
        sex = "male" if i * 5 % 7 < 3 else "female"
        age = AGES[i * i % 3 if i % 2 else i * 11 % 5 % 3]
        limit = (5 if sex == "male" else 3) + place % 2
        direct = int((i * i * 31 + i * 17 + place * 3) % 10 < limit)
        report = direct if (i * 37 + i // 7) % 4 else 1 - direct
        lines.append(f"{report},{direct},{region},{region}{place},{sex},{age},{(4 + i * 7 % 11) / 4}")
    return "\n".join(lines) + "\n"


def describe(**sampling: Any) -> dict[str, Any]:
    cells = {"1": "yes", "0": "no"}
    columns = [{"name": name, "cells": cells} for name in ("report", "direct")]
    return study(*QUESTIONS, columns=columns, covariates=COVARIATES, sampling=sampling)


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({"weights": "weight"}, (0.502469135802, 0.079261792479, 0.435802469136, 0.039222375236)),
        (
            {"weights": "weight", "strata": "region"},
            (0.502469135802, 0.079240545267, 0.435802469136, 0.038598419624),
        ),
        (CLUSTERS, (0.502469135802, 0.098779763749, 0.435802469136, 0.084540623753)),
        ({**CLUSTERS, "replicates": MADE}, (0.502469135802, 0.098846571278, 0.435802469136, 0.084526051544)),
        (
            {**CLUSTERS, "replicates": MADE, "margins": [SEX, AGE]},
            (0.432449526194, 0.093593568426, 0.446908636124, 0.073520053209),
        ),
    ],
    ids=["weights", "strata", "clusters", "jackknife", "raked jackknife"],
)
def test_estimates_and_errors_are_those_of_the_package(
    tmp_path: Path, sampling: dict[str, Any], expected: tuple[float, ...]
) -> None:
    report, direct = read_analysis(tmp_path, describe(**sampling), write_rows())["sampling"]["estimates"]

    assert (
        report["value"],
        report["standard_error"],
        direct["value"],
        direct["standard_error"],
    ) == pytest.approx(expected, rel=1e-6 if "margins" in sampling else 1e-10)


def test_a_margin_takes_a_degree_of_freedom_that_the_package_leaves(tmp_path: Path) -> None:
    """15 schools in 3 regions leave 12, and a margin of two groups 11."""
    told = read_analysis(tmp_path, describe(**CLUSTERS, margins=[SEX]), write_rows())["sampling"]["estimates"]

    assert [row["value"] for row in told] == pytest.approx([0.507154444808, 0.450399022107], rel=1e-10)
    assert [row["degrees_of_freedom"] for row in told] == [11, 11]
    assert [row["standard_error"] * math.sqrt(11 / 12) for row in told] == pytest.approx(
        [0.096459492766, 0.083996079372], rel=1e-10
    )


def test_of_a_small_population_only_what_drawing_adds_becomes_smaller(tmp_path: Path) -> None:
    """Without coins as the package, which takes what coins add to guesses for a part of drawing."""
    sampling = {"strata": "region", "population": {"N": 100, "S": 200, "W": 400}}
    report, direct = read_analysis(tmp_path, describe(**sampling), write_rows())["sampling"]["estimates"]

    assert (direct["value"], direct["standard_error"]) == pytest.approx(
        (0.444444444444, 0.029192325723), rel=1e-10
    )
    assert report["value"] == pytest.approx(0.477777777778)
    assert report["standard_error"] > 1.1 * 0.060053334738


def test_differences_of_groups_are_those_of_the_package(tmp_path: Path) -> None:
    tables = [{"question": name, "by": "sex"} for name in ("report", "direct")]
    told = read_analysis(tmp_path, describe(**CLUSTERS, tables=tables), write_rows())["sampling"]["tables"]

    ((report,), (direct,)) = (table["lines"][0]["differences"] for table in told)
    assert (direct["value"], direct["standard_error"]) == pytest.approx(
        (0.260423081636, 0.100218750153), rel=1e-10
    )
    assert report["value"] == pytest.approx(0.083592517502, rel=1e-10)
    # Between these few schools guesses vary by less than coins alone make them, which the package cannot know.
    assert 0.111641220371 < report["standard_error"] < 0.12


def test_an_odds_ratio_of_two_groups_is_that_of_the_packages_regression(tmp_path: Path) -> None:
    """By the delta method, whose error is near that of fits to each replicate; the twin knows no weights."""
    tables = [{"question": "direct", "by": "sex"}]
    told = read_analysis(tmp_path, describe(**CLUSTERS, replicates=MADE, tables=tables), write_rows())[
        "sampling"
    ]
    plain = read_analysis(tmp_path, describe(clusters=CLUSTERS["clusters"], tables=tables), write_rows())[
        "sampling"
    ]

    (odds,), (twin,) = (each["tables"][0]["lines"][0]["odds_ratios"] for each in (told, plain))
    assert math.log(odds["value"]) == pytest.approx(1.076956178291, rel=1e-6)
    assert odds["log_standard_error"] == pytest.approx(0.436967751305, rel=0.05)
    reach = stats.t.ppf(0.975, odds["degrees_of_freedom"]) * odds["log_standard_error"]
    assert [math.log(end) for end in odds["interval"]] == pytest.approx(
        [math.log(odds["value"]) - reach, math.log(odds["value"]) + reach]
    )
    assert math.log(twin["value"]) != pytest.approx(1.076956178291, rel=1e-2)
    done = analyse_study(tmp_path, describe(**CLUSTERS, replicates=MADE, tables=tables), write_rows())
    assert f"{odds['value']:.3g}" in done.stdout.partition("odds ratio")[2]


def test_a_regression_with_replicate_weights_is_that_of_the_package(tmp_path: Path) -> None:
    options = ("--explain", "direct", "--by", "sex", "--json")
    done = analyse_study(tmp_path, describe(**CLUSTERS, replicates=MADE), write_rows(), *options)

    assert done.exit_code == 0, done.output
    ((step,),) = (each["steps"] for each in json.loads(done.stdout)["explanation"]["predictors"])
    assert step["coefficient"] == pytest.approx(1.076956178291, rel=1e-6)
    assert step["standard_error"] == pytest.approx(0.436967751305, rel=1e-6)
