"""Weighted, post-stratified and raked rows, through tables, questions together and regression, by brute force.

Everything is worked out anew from the weights of rows, raked one margin after another; what a row tells of a number is
how much that moves where its weight is a little larger or smaller, and weights are raked again. The variance is that of
sums of it, between what was drawn. Small made-up data; coins keep nine in ten.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.test_analyse import analyse_study, question, study
from tests.test_analyse_survey_package import AGE, AGES, COVARIATES, SEX

Floats = NDArray[np.float64]
Margins = Sequence[tuple[NDArray[np.int64], tuple[float, ...]]]
N, KEPT = 200, 0.9
RNG = np.random.default_rng(11)
SEXES, OLD, REGION, SCHOOL = (RNG.integers(0, size, N) for size in (2, 3, 3, 10))
ONE = RNG.random(N) < 0.3 + 0.3 * SEXES
TWO = RNG.random(N) < np.where(ONE, 0.6, 0.35)
FIRST, SECOND = ((truth ^ (RNG.random(N) > KEPT)).astype(int) for truth in (ONE, TWO))
WEIGHTS = RNG.choice([0.5, 1, 2, 3], N)
COLUMNS = [f"r{k}" for k in range(10)]
FITTED: Margins = [(SEXES, (0.51, 0.49)), (OLD, (0.3, 0.4, 0.3))]
CLUSTERED = {"weights": "weight", "strata": "region", "clusters": "school"}
CASES: list[tuple[dict[str, Any], Margins]] = [
    ({"weights": "weight"}, []),
    (CLUSTERED, []),
    ({"weights": "weight", "margins": [SEX]}, FITTED[:1]),
    ({**CLUSTERED, "margins": [SEX, AGE]}, FITTED),
]


def write_rows() -> str:
    lines = [f"one,two,region,school,sex,age,weight,{','.join(COLUMNS)}"]
    for i in range(N):
        left_out = ",".join(str(0 if SCHOOL[i] == k else 10 / 9 * WEIGHTS[i]) for k in range(10))
        sex, region = ("female", "male")[SEXES[i]], "NSW"[REGION[i]]
        own = f"{FIRST[i]},{SECOND[i]},{region},{region}{SCHOOL[i]},{sex},{AGES[OLD[i]]},{WEIGHTS[i]}"
        lines.append(f"{own},{left_out}")
    return "\n".join(lines) + "\n"


def ask(folder: Path, by: str, **sampling: Any) -> dict[str, Any]:
    design = {"mechanism": "warner", "truth": KEPT}
    described = study(
        question(design, "one"),
        question(design, "two"),
        columns=[{"name": name, "cells": {"1": "yes", "0": "no"}} for name in ("one", "two")],
        covariates=COVARIATES,
        sampling={**sampling, "tables": [{"question": "one", "by": "sex"}], "together": ["one,two"]},
    )
    done = analyse_study(folder, described, write_rows(), "--explain", "one", "--by", by, "--json")
    assert done.exit_code == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def rake(weights: Floats, margins: Margins) -> Floats:
    for _ in range(40):
        for groups, parts in margins:
            total = weights.sum()
            for place, part in enumerate(parts):
                inside = groups == place
                weights = np.where(inside, weights * part * total / weights[inside].sum(), weights)
    return weights / weights.sum()


def solve(weights: Floats, margins: Margins) -> Floats:
    """Shares of both, difference and log odds ratio of the first by sex, and log odds ratio and phi of both."""
    counted = rake(weights, margins)
    first, second = ((report - (1 - KEPT)) / (2 * KEPT - 1) for report in (FIRST, SECOND))
    masses = np.bincount(SEXES, counted)
    women, men = np.bincount(SEXES, counted * first) / masses
    one, two, both = counted @ first, counted @ second, counted @ (first * second)
    table = np.array([[1 - one - two + both, two - both], [one - both, both]])
    across = table[1, 1] * table[0, 0] - table[0, 1] * table[1, 0]
    return np.array(
        [
            one,
            two,
            men - women,
            math.log(men / (1 - men) * (1 - women) / women),
            math.log(table[1, 1] * table[0, 0] / table[0, 1] / table[1, 0]),
            across / math.sqrt(one * (1 - one) * two * (1 - two)),
        ]
    )


def vary(sampling: dict[str, Any], margins: Margins) -> Floats:
    """Standard errors: between schools within regions, or rows; each group that is fitted takes a degree of freedom."""
    moved = np.zeros((N, 6))
    for i in range(N):
        step = np.zeros(N)
        step[i] = 1e-4 * WEIGHTS[i]
        moved[i] = (solve(WEIGHTS + step, margins) - solve(WEIGHTS - step, margins)) / 2e-4
    strata = REGION if "strata" in sampling else np.zeros(N, np.int64)
    drawn = SCHOOL if "clusters" in sampling else np.arange(N)
    variance, free = np.zeros(6), -len(set(strata.tolist()))
    for stratum in set(strata.tolist()):
        inside = strata == stratum
        sums = np.array(
            [moved[inside & (drawn == unit)].sum(axis=0) for unit in sorted(set(drawn[inside].tolist()))]
        )
        variance += len(sums) * sums.var(axis=0, ddof=1)
        free += len(sums)
    return np.sqrt(variance * free / (free - sum(len(parts) - 1 for _, parts in margins)))


@pytest.mark.parametrize(
    ("sampling", "margins"), CASES, ids=["weights", "clusters", "post-strata", "raked clusters"]
)
def test_tables_and_regression_are_what_moving_each_weight_shows(
    tmp_path: Path, sampling: dict[str, Any], margins: Margins
) -> None:
    """Errors may be larger, where few schools vary by less than coins make them, or by what few rows leave unsaid."""
    values, errors = solve(WEIGHTS, margins), vary(sampling, margins)
    by_sex, by_two = ask(tmp_path, "sex", **sampling), ask(tmp_path, "two", **sampling)
    (line,) = by_sex["sampling"]["tables"][0]["lines"]
    (difference,), (odds,) = line["differences"], line["odds_ratios"]
    rows = {row["statistic"]: row for row in by_sex["sampling"]["together"][0]["rows"]}
    steps = [told["explanation"]["predictors"][0]["steps"][0] for told in (by_sex, by_two)]
    told = [
        *((row["value"], row["standard_error"]) for row in by_sex["sampling"]["estimates"]),
        (difference["value"], difference["standard_error"]),
        (math.log(odds["value"]), odds["log_standard_error"]),
        (
            math.log(rows["odds ratio"]["estimate"]),
            rows["odds ratio"]["standard_error"] / rows["odds ratio"]["estimate"],
        ),
        (rows["phi"]["estimate"], rows["phi"]["standard_error"]),
        *((step["coefficient"], step["standard_error"]) for step in steps),
    ]
    places = [0, 1, 2, 3, 4, 5, 3, 4]
    assert [value for value, _ in told] == pytest.approx(values[places], rel=1e-4)
    ratios = np.array([error for _, error in told]) / errors[places]
    assert (ratios > 1 - 1e-4).all()
    assert (ratios[:6] < (1.2 if "clusters" in sampling else 1 + 1e-4)).all()
    assert (ratios[6:] < (1.3 if "clusters" in sampling else 1.03)).all()
    # The twin takes a row of weight 3 for three people who were drawn one by one.
    assert abs(solve(np.ones(N), margins) - values).max() > 1e-2


def test_replicates_of_a_census_leave_what_coins_and_people_vary_by(tmp_path: Path) -> None:
    """All that there were, drawn: of each replicate the distance counts 0. The odds ratio was then taken for exact."""
    census = {"columns": COLUMNS, "kind": "jkn", "rscales": [0] * 10}
    plain = ask(tmp_path, "sex", weights="weight")["explanation"]
    found = ask(tmp_path, "sex", weights="weight", replicates=census)["explanation"]
    (own,), (expected,) = (each["predictors"][0]["steps"] for each in (found, plain))
    assert own["standard_error"] == pytest.approx(expected["standard_error"], rel=1e-6)
    assert own["odds_ratio_interval"] == pytest.approx(expected["odds_ratio_interval"], rel=1e-3)
    assert found["likelihood_ratio"]["p_value"] == pytest.approx(
        plain["likelihood_ratio"]["p_value"], rel=1e-3
    )
