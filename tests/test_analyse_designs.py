"""`python -m server analyse` of strata, finite populations, crossed margins, replicate weights and tables by groups.

Numbers are worked out here, row by row, with the formulas that R's survey package documents (Lumley 2010).
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.test_analyse import COIN, analyse_study, read_analysis, study

Floats = NDArray[np.float64]
STOLE = {
    "name": "stole",
    "kind": "yes_no",
    "text": "Stolen?",
    "design": {"mechanism": "coin_flip", "gamma": 0.25},
}
KNOWN: dict[str, Any] = {
    "covariates": [
        {"name": "sex", "categories": ["f", "m"]},
        {"name": "age", "categories": ["15", "30", "60"]},
    ]
}
_rng = np.random.default_rng(13)
ROWS = 400
regions = _rng.integers(0, 2, ROWS)
schools = _rng.integers(0, 6, ROWS)
sexes, ages = _rng.integers(0, 2, ROWS), np.where(_rng.random(ROWS) < 0.005, 2, _rng.integers(0, 2, ROWS))
W = np.where(regions == 0, 1.5, 3.0)
cheated = (_rng.random(ROWS) < np.array([0.1, 0.3, 0.5, 0.6, 0.8, 0.9])[schools]).astype(np.int64)
stole_reports = np.where(_rng.random(ROWS) < 0.7, cheated, _rng.integers(0, 2, ROWS))
REPLICATES = _rng.uniform(0.5, 2, (4, ROWS)) * W
HEAD = ["cheated", "stole", "sex", "age", "w", "region", "school", "one", "r1", "r2", "r3", "r4"]


def table() -> str:
    lines = [",".join(HEAD)]
    for k in range(ROWS):
        words = (
            ["no", "yes"][cheated[k]],
            ["no", "yes"][stole_reports[k]],
            "fm"[sexes[k]],
            ["15", "30", "60"][ages[k]],
        )
        places = f"{W[k]}", "NS"[regions[k]], f"s{schools[k]}", "s0"
        lines.append(",".join([*words, *places, *(f"{own:.6f}" for own in REPLICATES[:, k])]))
    return "\n".join(lines) + "\n"


DATA = table()
GUESSES = 2 * cheated - 0.5


def make_stated_study(**sampling: Any) -> dict[str, Any]:
    made = study(COIN, **KNOWN, sampling=sampling)
    made["survey"]["questions"].append(STOLE)
    return made


def read_sampling(folder: Path, **sampling: Any) -> dict[str, Any]:
    told: dict[str, Any] = read_analysis(folder, make_stated_study(**sampling), DATA)["sampling"]
    return told


def vary(pulls: Floats, keys: NDArray[np.int64], left: dict[int, float] | None = None) -> float:
    """Between the schools of each region; `keys` has the unit of each row."""
    total = 0.0
    for region in (0, 1):
        sums = [
            float(pulls[(regions == region) & (keys == key)].sum())
            for key in set(keys[regions == region].tolist())
        ]
        m, mean = len(sums), sum(sums) / len(sums)
        total += (left or {0: 1, 1: 1})[region] * m / (m - 1) * sum((own - mean) ** 2 for own in sums)
    return total


def test_schools_are_of_their_region(tmp_path: Path) -> None:
    """Schools of one name in two regions are two; a part of those of a region is taken away, but for the coins."""
    told = read_sampling(tmp_path, weights="w", strata="region", clusters="school")
    row = told["estimates"][0]
    value = float(W @ GUESSES / W.sum())
    pulls = W * (GUESSES - value) / W.sum()
    assert row["value"] == pytest.approx(value)
    assert row["standard_error"] == pytest.approx(math.sqrt(vary(pulls, schools)))
    assert row["degrees_of_freedom"] == 10
    assert row["effective_n"] == pytest.approx(ROWS / row["design_effect"])
    assert (told["clusters"]["count"], told["strata"]["count"], told["strata"]["of_one"]) == (12, 2, 0)
    part = read_sampling(
        tmp_path, weights="w", strata="region", clusters="school", population={"N": 12, "S": 60}
    )["estimates"][0]
    coins = 0.75 * float(W**2 @ np.where(regions == 0, 0.5, 0.1)) / W.sum() ** 2
    assert part["standard_error"] == pytest.approx(math.sqrt(vary(pulls, schools, {0: 0.5, 1: 0.9}) + coins))


def test_clusters_of_one_name_in_each_stratum_are_several(tmp_path: Path) -> None:
    told = read_sampling(tmp_path, weights="w", strata="region", clusters="one")
    assert (told["clusters"]["count"], told["strata"]["of_one"]) == (2, 2)


def test_replicate_weights_that_came_with_the_table(tmp_path: Path) -> None:
    told = read_sampling(
        tmp_path, weights="w", replicates={"columns": ["r1", "r2", "r3", "r4"], "kind": "brr"}
    )
    row = told["estimates"][0]
    values = REPLICATES @ GUESSES / REPLICATES.sum(axis=1)
    variance = float(((values - values.mean()) ** 2).mean())
    floor = 0.75 * float(W @ W) / W.sum() ** 2
    assert row["standard_error"] == pytest.approx(math.sqrt(max(variance, floor)), rel=1e-5)
    assert (row["degrees_of_freedom"], told["replicates"]["count"]) == (3, 4)


def test_a_jackknife_and_a_bootstrap_of_schools_are_made(tmp_path: Path) -> None:
    drawn = {"weights": "w", "strata": "region", "clusters": "school"}
    linear = read_sampling(tmp_path, **drawn)["estimates"][0]
    jackknife = read_sampling(tmp_path, **drawn, replicates={"make": "jackknife"})
    value, variance = linear["value"], 0.0
    for region in (0, 1):
        for school in range(6):
            kept = np.where(regions == region, 6 / 5, 1) * ~((regions == region) & (schools == school)) * W
            variance += 5 / 6 * (float(kept @ GUESSES / kept.sum()) - value) ** 2
    assert jackknife["estimates"][0]["standard_error"] == pytest.approx(math.sqrt(variance))
    assert jackknife["replicates"] == {"kind": "jackknife", "made": True, "count": 12, "seed": None}
    bootstrap = read_sampling(tmp_path, **drawn, replicates={"make": "bootstrap", "count": 1000, "seed": 5})
    assert bootstrap["replicates"] == {"kind": "bootstrap", "made": True, "count": 1000, "seed": 5}
    assert bootstrap["estimates"][0]["standard_error"] == pytest.approx(linear["standard_error"], rel=0.1)
    again = read_sampling(tmp_path, **drawn, replicates={"make": "bootstrap", "count": 1000, "seed": 5})
    assert again == bootstrap


CELLS = [
    {"of": [["f", "15"]], "share": 30},
    {"of": [["f", "30"]], "share": 15},
    {"of": [["f", "60"]], "share": 5},
    {"of": [["m", "15"]], "share": 20},
    {"of": [["m", "30"], ["m", "60"]], "share": 30},
]


def test_margins_may_cross_and_small_cells_are_taken_together(tmp_path: Path) -> None:
    """Women of 60 are too few: they stand with women of 30. The value is that of each cell by its share."""
    told = read_sampling(tmp_path, weights="w", margins=[{"covariates": ["sex", "age"], "groups": CELLS}])
    assert told["margins"][0]["taken_together"] == [[1, 2]]
    assert told["margins"][0]["covariates"] == ["sex", "age"]
    cells = [
        (0.3, (sexes == 0) & (ages == 0)),
        (0.2, (sexes == 0) & (ages > 0)),
        (0.2, (sexes == 1) & (ages == 0)),
        (0.3, (sexes == 1) & (ages > 0)),
    ]
    value = sum(share * float(W[own] @ GUESSES[own] / W[own].sum()) for share, own in cells)
    assert told["estimates"][0]["value"] == pytest.approx(value)
    printed = analyse_study(
        tmp_path,
        make_stated_study(weights="w", margins=[{"covariates": ["sex", "age"], "groups": CELLS}]),
        DATA,
    ).stdout
    assert "Too few rows, so taken together in sex × age: f · 30 + f · 60." in printed


def test_strata_of_the_study_may_be_a_margin(tmp_path: Path) -> None:
    """A larger one stands for those inside it."""
    rows = "\n".join(f"{'yes' if k % 3 else 'no'},{'North' if k % 2 else 'South > Coast'}" for k in range(60))
    groups = [{"of": ["North"], "share": 1}, {"of": ["South"], "share": 3}]
    made = study(
        COIN,
        strata=[{"path": ["North"]}, {"path": ["South"]}, {"path": ["South", "Coast"]}],
        sampling={"margins": [{"covariate": "stratum", "groups": groups}]},
    )
    told = read_analysis(tmp_path, made, f"cheated,stratum\n{rows}\n")["sampling"]
    cheated, north = np.arange(60) % 3 > 0, np.arange(60) % 2 > 0
    value = 0.25 * cheated[north].mean() + 0.75 * cheated[~north].mean()
    assert told["estimates"][0]["value"] == pytest.approx(2 * value - 0.5)
    done = analyse_study(tmp_path, made, f"cheated,stratum\n{rows}\nyes,\n")
    assert "sampling.margins[0]: must be known of every row; some have no stratum" in done.stderr


def test_answers_are_compared_between_groups_that_are_known(tmp_path: Path) -> None:
    told = read_sampling(
        tmp_path,
        weights="w",
        strata="region",
        clusters="school",
        tables=[{"question": "cheated", "by": "sex"}],
    )
    (made,) = told["tables"]
    (line,) = made["lines"]
    shares = [float(W[sexes == s] @ GUESSES[sexes == s] / W[sexes == s].sum()) for s in (0, 1)]
    assert [own["value"] for own in line["groups"]] == pytest.approx(shares)
    (apart,) = line["differences"]
    pulls = [W * (sexes == s) * (GUESSES - shares[s]) / W[sexes == s].sum() for s in (0, 1)]
    variance = vary(pulls[1] - pulls[0], schools)
    assert apart["value"] == pytest.approx(shares[1] - shares[0])
    assert apart["standard_error"] == pytest.approx(math.sqrt(variance))
    assert line["test"]["statistic"] == pytest.approx((shares[1] - shares[0]) ** 2 / variance)
    assert line["test"]["degrees_of_freedom"] == [1, 10]
    assert [own["share"]["value"] for own in made["groups"]] == pytest.approx(
        [W[sexes == s].sum() / W.sum() for s in (0, 1)]
    )


def test_a_small_p_value_of_all_groups_is_not_printed_as_nought(tmp_path: Path) -> None:
    rows = ["cheated,sex,w"]
    rows += [f"{'yes' if k % 4 else 'no'},f,1\n{'no' if k % 4 else 'yes'},m,1" for k in range(300)]
    stated = study(
        COIN,
        covariates=[{"name": "sex", "categories": ["f", "m"]}],
        sampling={"weights": "w", "tables": [{"question": "cheated", "by": "sex"}]},
    )
    printed = analyse_study(tmp_path, stated, "\n".join(rows) + "\n").stdout
    assert "p of all groups" in printed
    assert " < 0.001" in printed
    assert not re.search(r" 0\.000$", printed, re.MULTILINE)


def test_answers_are_compared_between_groups_that_are_randomised(tmp_path: Path) -> None:
    """Both guesses at once: the share of who cheated among who stole, and the delta method over rows."""
    told = read_sampling(tmp_path, weights="w", tables=[{"question": "cheated", "by": "stole"}])
    (made,) = told["tables"]
    (line,) = made["lines"]
    stole = 2 * stole_reports - 0.5
    sides = [1 - stole, stole]
    shares = [float(W @ (GUESSES * own)) / float(W @ own) for own in sides]
    assert [own["value"] for own in line["groups"]] == pytest.approx(shares)
    pulls = [W * own * (GUESSES - share) / float(W @ own) for own, share in zip(sides, shares, strict=True)]
    moved = pulls[1] - pulls[0]
    variance = ROWS / (ROWS - 1) * float(((moved - moved.mean()) ** 2).sum())
    assert line["differences"][0]["standard_error"] == pytest.approx(math.sqrt(variance))
    assert made["groups"][1]["share"]["value"] == pytest.approx(float(W @ stole / W.sum()))
    # The twin takes reports of stealing for stealing: it finds a smaller difference.
    twin = [
        float(W[stole_reports == s] @ GUESSES[stole_reports == s] / W[stole_reports == s].sum())
        for s in (0, 1)
    ]
    assert twin[1] - twin[0] < 0.8 * line["differences"][0]["value"]


def test_a_group_that_may_be_nobody_is_not_told_of(tmp_path: Path) -> None:
    """Of who stole, about three in a hundred by their reports: a share over so few would be anything."""
    few = "cheated,stole\n" + "yes,no\n" * 70 + "no,no\n" * 76 + "yes,yes\n" * 24 + "no,yes\n" * 30
    made = make_stated_study(tables=[{"question": "cheated", "by": "stole"}])
    (line,) = read_analysis(tmp_path, {**made, "covariates": []}, few)["sampling"]["tables"][0]["lines"]
    assert line["groups"][0]["value"] is not None
    assert (line["groups"][1]["value"], line["differences"][0]["value"]) == (None, None)
    assert line["test"]["p_value"] is None


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "one population of several strata": (
        {"strata": "region", "population": 999},
        "sampling.population: must say a number for each stratum, as an object; it is 999",
    ),
    "populations of no strata": ({"population": {"N": 999}}, "sampling.strata: is required"),
    "a stratum without a population": (
        {"strata": "region", "population": {"N": 999}},
        "sampling.population.S: is required",
    ),
    "a population of a stratum without a row": (
        {"strata": "region", "population": {"N": 999, "S": 999, "E": 9}},
        "sampling.population.E: must be a stratum of the table; none of its rows is of it",
    ),
    "replicates that are no weights of these rows": (
        {"replicates": {"columns": ["r1", "r2", "r3", "r4"], "kind": "brr"}},
        "must hold whole weights, which add up to about as much as those of the rows, 400; they add up to",
    ),
    "one cluster": (
        {"clusters": "one"},
        "sampling.clusters: must name a column of at least 2 clusters; it has 1",
    ),
    "a population of fewer clusters": (
        {"strata": "region", "clusters": "school", "population": {"N": 9, "S": 5}},
        "sampling.population.S: must be at least 6, the clusters of the table; it is 5",
    ),
    "replicates of both kinds": (
        {"replicates": {"columns": ["r1", "r2"], "make": "jackknife"}},
        "sampling.replicates: must have exactly one of columns, make; it has columns, make",
    ),
    "a jackknife with a seed": (
        {"replicates": {"make": "jackknife", "seed": 1}},
        "sampling.replicates.seed: must not be given together with sampling.replicates.make",
    ),
    "columns of no kind": (
        {"replicates": {"columns": ["r1", "r2"]}},
        "sampling.replicates.kind: must be one of jk1, jkn, brr, fay, bootstrap, other",
    ),
    "jkn without its factors": (
        {"replicates": {"columns": ["r1", "r2"], "kind": "jkn"}},
        "sampling.replicates.rscales: is required",
    ),
    "as many factors as columns": (
        {"replicates": {"columns": ["r1", "r2", "r3"], "kind": "jkn", "rscales": [1, 1]}},
        "sampling.replicates.rscales: must have as many numbers as there are columns, 3; it has 2",
    ),
    "rho of no fay": (
        {"replicates": {"columns": ["r1", "r2"], "kind": "brr", "rho": 0.3}},
        "sampling.replicates.rho: must not be given together with sampling.replicates.kind brr",
    ),
    "columns beside clusters": (
        {"clusters": "school", "replicates": {"columns": ["r1", "r2"], "kind": "brr"}},
        "sampling.clusters: must not be given together with sampling.replicates.columns",
    ),
    "a stratum of one cluster": (
        {"strata": "school", "clusters": "school", "replicates": {"make": "jackknife"}},
        "sampling.replicates: must hold 2 clusters or rows of each stratum; of some there is one alone",
    ),
    "a table of no question": (
        {"tables": [{"question": "lied", "by": "sex"}]},
        "sampling.tables[0].question: must be one of cheated, stole; it is lied",
    ),
    "a table by nothing": (
        {"tables": [{"question": "cheated", "by": "w"}]},
        "sampling.tables[0].by: must be one of sex, age, cheated, stole; it is w",
    ),
    "a table by itself": (
        {"tables": [{"question": "cheated", "by": "cheated"}]},
        "sampling.tables[0].by: must name no question twice",
    ),
    "a margin of two names": (
        {"margins": [{"covariate": "sex", "covariates": ["sex", "age"], "groups": CELLS}]},
        "sampling.margins[0]: must have exactly one of covariate, covariates",
    ),
    "cells of one category": (
        {"margins": [{"covariates": ["sex", "age"], "groups": [{"of": ["f"], "share": 1}, *CELLS[1:]]}]},
        "sampling.margins[0].groups[0].of: must have a category of each of sex, age; it is f",
    ),
    "a cell in no group": (
        {"margins": [{"covariates": ["sex", "age"], "groups": CELLS[1:]}]},
        "sampling.margins[0].groups: must hold every category; f, 15 is in none",
    ),
    "a cell in two groups": (
        {"margins": [{"covariates": ["sex", "age"], "groups": [*CELLS, CELLS[0]]}]},
        "sampling.margins[0].groups[5].of: must be unique; f, 15 stands twice",
    ),
    "a weight in words": (
        {"replicates": {"columns": ["r1", "sex"], "kind": "brr"}},
        "columns: must be unique; sex stands twice",
    ),
    "a group that is no text": (
        {"margins": [{"covariate": "sex", "groups": [{"of": [1], "share": 1}, {"of": ["m"], "share": 1}]}]},
        "sampling.margins[0].groups[0].of[0]: must be text, or a list; it is 1",
    ),
}


@pytest.mark.parametrize(("sampling", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_named(tmp_path: Path, sampling: dict[str, Any], message: str) -> None:
    done = analyse_study(tmp_path, make_stated_study(**sampling), DATA)
    assert done.exit_code == 2, done.output
    assert message in done.stderr


WHOLE = {
    "weights": "w",
    "strata": "region",
    "clusters": "school",
    "population": {"N": 12, "S": 60},
    "margins": [{"covariates": ["sex", "age"], "groups": CELLS}],
    "replicates": {"make": "bootstrap", "count": 50},
    "tables": [{"question": "cheated", "by": "sex"}, {"question": "stole", "by": "cheated"}],
}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            (
                "drawn apart from 2 strata",
                "from 72 clusters",
                "taken together with the one beside: f · 30 + f · 60",
                "a bootstrap: clusters or rows drawn again 50 times",
                "with the seed 1",
                "effective number of rows",
                "by sex",
                "adjusted Wald test",
            ),
        ),
        (
            "es",
            (
                "2 estratos",
                "72 conglomerados",
                "f · 30 + f · 60",
                "50 veces",
                "la semilla 1",
                "prueba de Wald",
            ),
        ),
    ],
)
def test_the_report_says_how_rows_were_drawn(tmp_path: Path, language: str, words: tuple[str, ...]) -> None:
    file = tmp_path / "report.html"
    done = analyse_study(
        tmp_path, make_stated_study(**WHOLE), DATA, "--output", str(file), "--language", language
    )
    assert done.exit_code == 0, done.output
    text = " ".join(file.read_text("utf-8").split())
    assert [each for each in words if each not in text] == []
    assert "cheated by sex, for the population:" in done.stdout
    assert "Strata: 2 (region)." in done.stdout
    assert "Replicate weights: 50 (bootstrap, seed 1)." in done.stdout
    numbers = json.loads(analyse_study(tmp_path, make_stated_study(**WHOLE), DATA, "--json").stdout)[
        "sampling"
    ]
    assert len(numbers["tables"]) == 2
