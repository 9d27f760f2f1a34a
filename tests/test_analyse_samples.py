"""`python -m server analyse` of rows that were drawn unevenly: weights, margins, clusters, populations."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind
from tests.test_analyse import COIN, analyse_study, question, read_analysis, study

SEX: dict[str, Any] = {"covariates": [{"name": "sex", "categories": ["f", "m", "x"]}]}
HALVES = [{"of": ["f", "x"], "share": 50}, {"of": ["m"], "share": 50}]
ROWS = [("yes", "f", 1, "A")] * 60 + [("no", "f", 1, "B")] * 120 + [("yes", "m", 2, "C")] * 15
ROWS += [("no", "m", 2, "D")] * 5 + [("no", "x", 1, "D")] * 10
DATA = "cheated,sex,w,class\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


def read_sampling(folder: Path, data: str = DATA, **sampling: Any) -> dict[str, Any]:
    told: dict[str, Any] = read_analysis(folder, study(COIN, **SEX, sampling=sampling), data)["sampling"]
    return told


def test_rows_are_raked_to_what_the_population_is_known_to_be(tmp_path: Path) -> None:
    """By hand: women and others count half together, men half; guesses are 2y - 1/2."""
    told = read_sampling(tmp_path, weights="w", margins=[{"covariate": "sex", "groups": HALVES}])
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
    alone, together = (
        read_sampling(tmp_path, weights="w"),
        read_sampling(tmp_path, weights="w", clusters="class"),
    )
    assert (alone["clusters"], together["clusters"]) == (None, {"column": "class", "count": 4})
    (row,), (clustered,) = alone["estimates"], together["estimates"]
    assert clustered["value"] == row["value"]
    assert clustered["standard_error"] > 2 * row["standard_error"]
    assert (row["degrees_of_freedom"], clustered["degrees_of_freedom"]) == (209, 3)
    assert clustered["design_effect"] > 4


def test_groups_of_rows_that_do_not_tell_how_much_they_vary_differ_by_nothing_known(tmp_path: Path) -> None:
    """Each was drawn alone, from a stratum of its own."""
    data = "cheated,sex,person\n" + "".join(
        f"{'yes' if k % 3 else 'no'},{'fm'[k % 2]},{k}\n" for k in range(40)
    )
    tables = [{"question": "cheated", "by": "sex"}]
    (table,) = read_sampling(tmp_path, data, strata="person", tables=tables)["tables"]
    told = json.dumps(table)
    assert "NaN" not in told
    assert "Infinity" not in told


def test_what_is_read_anyway_may_be_what_rows_were_drawn_by(tmp_path: Path) -> None:
    (row,), told = (found := read_sampling(tmp_path, clusters=" sex "))["estimates"], found["clusters"]
    assert told == {"column": "sex", "count": 3}
    assert row["degrees_of_freedom"] == 2


def test_a_population_may_be_written_as_a_fraction_of_none(tmp_path: Path) -> None:
    assert read_sampling(tmp_path, population=300.0)["population"] == 300


def test_uneven_weights_are_said_to_make_intervals_too_narrow(tmp_path: Path) -> None:
    data = "cheated,sex,w\n" + "yes,f,1\nno,m,1\n" * 50 + "yes,f,900\nno,m,700\n"
    stated = study(COIN, **SEX, sampling={"weights": "w"})
    assert "hold less often than they say" in analyse_study(tmp_path, stated, data).stdout
    assert "hold less often than they say" not in analyse_study(tmp_path, stated, DATA).stdout


def test_a_sample_of_a_small_population_says_more_and_never_that_coins_are_none(tmp_path: Path) -> None:
    errors = [
        read_sampling(tmp_path, population=size)["estimates"][0]["standard_error"]
        for size in (210, 420, 10**9)
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
    told = read_analysis(tmp_path, stated, data)
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
    done = analyse_study(tmp_path, stated, DATA, "--output", str(file), "--language", language)
    assert done.exit_code == 0, done.output
    text = " ".join(file.read_text("utf-8").split())
    for each in words:
        assert each in text, each
    assert "For the population, by how the rows were drawn:" in done.stdout
    assert "Raked to: sex." in done.stdout


@pytest.mark.parametrize(
    ("shares", "total"), [((51, 50), "101"), ((0.5, 0.4), "0.9"), ((49.9, 50.1), None), ((0.1, 0.9), None)]
)
def test_shares_of_a_margin_that_are_not_all_there_is_are_said_to_be_taken_in_proportion(
    tmp_path: Path, shares: tuple[float, float], total: str | None
) -> None:
    file = tmp_path / "report.html"
    groups = [{**group, "share": share} for group, share in zip(HALVES, shares, strict=True)]
    stated = study(COIN, **SEX, sampling={"margins": [{"covariate": "sex", "groups": groups}]})
    done = analyse_study(tmp_path, stated, DATA, "--output", str(file))
    assert done.exit_code == 0, done.output
    said = f"hares of sex add up to {total}, not to 1 or 100: each counts as its part of that."
    page = " ".join(file.read_text("utf-8").split())
    assert (said in done.stdout, said in page) == (total is not None,) * 2
    assert ("add up to" in done.stdout) == (total is not None)
    (margin,) = read_analysis(tmp_path, stated, DATA)["sampling"]["margins"]
    assert margin["shares_sum"] == pytest.approx(sum(shares))


def test_questions_together_stand_in_the_report_and_on_the_terminal(tmp_path: Path) -> None:
    """An answer of a question with several is given or not; of a group that is nearly nobody nothing is told."""
    boxes = {
        "name": "drugs",
        "kind": "select_multiple",
        "text": "Drugs?",
        "options": every_kind.options({"x": 0, "y": 0}),
    }
    asked = [
        question({"mechanism": "coin_flip", "gamma": 0.25}, "cheated"),
        {**boxes, "design": {"mechanism": "coin_flip", "epsilon": 4.0}},
    ]
    data = "cheated,drugs.x,drugs.y,w\n" + "1,1,0,2\n0,0,0,1\n" * 100 + "1,0,0,1\n0,1,1,2\n" * 40
    stated = study(*asked, sampling={"weights": "w", "together": ["cheated,drugs.x"]})
    file = tmp_path / "report.html"
    done = analyse_study(tmp_path, stated, data, "--output", str(file))
    assert done.exit_code == 0, done.output
    assert "cheated x drugs (280 rows), for the population:" in done.stdout
    (phi,) = [line.split()[-4:] for line in done.stdout.splitlines() if " phi " in line]
    text = " ".join(re.sub("<[^>]+>", " ", file.read_text("utf-8")).split())
    assert "cheated × drugs together" in text
    row = read_analysis(tmp_path, stated, data)["sampling"]["together"][0]["rows"][-1]
    numbers = (row["standard_error"], row["interval"][0], row["interval"][1])
    assert [phi[0], phi[1], phi[3]] == [f"{number:.4f}" for number in numbers]
    assert f"{round(row['estimate'], 3)} ({round(numbers[1], 3)} to {round(numbers[2], 3)})" in text
    many = [
        {
            "name": name,
            "kind": "select_one",
            "text": "?",
            "options": every_kind.options(dict.fromkeys("abcdef", 0)),
        }
        | {"design": {"mechanism": "k_ary", "epsilon": 2}}
        for name in ("x", "y", "z")
    ]
    stated_many = study(*many, sampling={"together": ["x,y,z"]})
    refused = analyse_study(tmp_path, stated_many, "x,y,z\n" + "0,1,2\n" * 9)
    assert refused.exit_code == 2
    assert "sampling.together: must have at most 144 combinations of answers" in " ".join(
        refused.output.split()
    )
    nobody = "cheated,drugs.x,drugs.y,w\n" + "0,1,0,2\n0,0,0,1\n0,0,0,1\n1,1,0,1\n" * 50
    rows = read_analysis(tmp_path, stated, nobody)["sampling"]["together"][0]["rows"]
    assert [row["estimate"] for row in rows[4:]] == [None] * 5
    assert all(row["estimate"] is not None for row in rows[:4])


def margins(*groups: dict[str, Any], covariate: str = "sex") -> dict[str, Any]:
    return {"margins": [{"covariate": covariate, "groups": list(groups)}]}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing stated": (
        {},
        DATA,
        "sampling: must have at least one of weights, margins, clusters, strata, population, replicates, tables",
    ),
    "a question of none together": (
        {"together": ["cheated,bribed"]},
        DATA,
        "sampling.together: must name some of cheated; it names bribed",
    ),
    "one question together": (
        {"together": ["cheated"]},
        DATA,
        "sampling.together: must name two or three questions with commas between them; it is cheated",
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
    done = analyse_study(tmp_path, study(COIN, **SEX, sampling=sampling), data)
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_two_ways_of_counting_rows_are_not_taken_at_once(tmp_path: Path) -> None:
    for more in ({"weights": "w"}, {"strata": [{"path": ["A"], "population": 5}]}):
        done = analyse_study(tmp_path, study(COIN, sampling={"population": 9_999}, **more), "cheated\nyes\n")
        assert done.exit_code == 2
        assert "sampling: must not be given together with" in done.stderr


def test_one_row_and_margins_that_contradict_each_other(tmp_path: Path) -> None:
    data = "cheated,sex\nyes,f\n"
    (row,) = read_sampling(tmp_path, data, population=50)["estimates"]
    assert (row["value"], row["standard_error"], row["interval"]) == (1.5, None, [None, None])
    assert "-" in analyse_study(tmp_path, study(COIN, **SEX, sampling={"population": 50}), data).stdout
    both = [{"name": "sex", "categories": ["f", "m"]}, {"name": "sex2", "categories": ["f", "m"]}]
    stated = [
        {"covariate": "sex", "groups": [{"of": ["f"], "share": 1}, {"of": ["m"], "share": 1}]},
        {"covariate": "sex2", "groups": [{"of": ["f"], "share": 1}, {"of": ["m"], "share": 2}]},
    ]
    same = "cheated,sex,sex2\n" + "yes,f,f\nno,m,m\n" * 20
    done = analyse_study(tmp_path, study(COIN, covariates=both, sampling={"margins": stated}), same)
    assert done.exit_code == 2
    assert "sampling.margins: must be within reach of the rows: no weights were found" in done.stderr


def test_the_numbers_are_json_alone(tmp_path: Path) -> None:
    done = analyse_study(tmp_path, study(COIN, **SEX, sampling={"weights": "w"}), DATA, "--json")
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
        "together",
    }


PAIR = [question({"mechanism": "coin_flip", "gamma": 0.4}, name) for name in ("cheated", "stole", "lied")]


def join_by_hand(weighed: list[tuple[list[int], float, str]]) -> tuple[Any, Any]:
    """Shares of every combination by guesses written out, and their covariance over clusters (Binder 1983)."""
    guesses = np.ones((len(weighed), 1))
    for place in range(len(weighed[0][0])):
        own = np.array([(row[0][place] - 0.1) / 0.8 for row in weighed])
        guesses = (guesses[:, :, None] * np.stack([1 - own, own], axis=1)[:, None]).reshape(len(weighed), -1)
    weights = np.array([row[1] for row in weighed])
    shares = weights @ guesses / weights.sum()
    pulls = weights[:, None] * (guesses - shares) / weights.sum()
    names = sorted({row[2] for row in weighed})
    sums = np.array([pulls[[row[2] == name for row in weighed]].sum(axis=0) for name in names])
    return shares, len(names) / (len(names) - 1) * sums.T @ sums


@pytest.mark.parametrize(
    "replicates", [{}, {"replicates": {"make": "jackknife"}}], ids=["sandwich", "jackknife"]
)
def test_questions_together_are_those_of_guesses_by_hand(tmp_path: Path, replicates: dict[str, Any]) -> None:
    """Cells and what follows from them, of two and of three questions; the jackknife is near the sandwich."""
    rng, rows = np.random.default_rng(3), []
    for number in range(900):
        truth = rng.random() < 0.5
        answers = [int(rng.random() < (0.8 if truth else 0.3)) for _ in range(3)]
        flips = [int(own if rng.random() < 0.9 else 1 - own) for own in answers]
        rows.append((flips, float(1 + number % 4), f"class {number % 30}"))
    data = "cheated,stole,lied,w,class\n"
    data += "".join(f"{a},{b},{c},{w},{name}\n" for (a, b, c), w, name in rows)
    sampling = {"weights": "w", "clusters": "class", "together": ["cheated,stole", "cheated,stole,lied.yes"]}
    sampling |= {"tables": [{"question": "stole", "by": "cheated"}], **replicates}
    told = read_analysis(tmp_path, study(*PAIR, sampling=sampling), data)["sampling"]
    two, three = told["together"]
    (line,) = told["tables"][0]["lines"]

    shares, covariance = join_by_hand([(own[:2], w, name) for own, w, name in rows])
    by_name = {row["statistic"]: row for row in two["rows"][4:]}
    errors = np.sqrt(np.diag(covariance))
    tolerance = 0.02 if replicates else 1e-9
    assert (two["questions"], two["n"], two["versions"]) == (["cheated", "stole"], 900, [1])
    np.testing.assert_allclose([row["estimate"] for row in two["rows"][:4]], shares, rtol=1e-9)
    np.testing.assert_allclose([row["standard_error"] for row in two["rows"][:4]], errors, rtol=tolerance)
    quantile = stats.t.ppf(0.975, 29)
    for row, share in zip(two["rows"][:4], shares, strict=True):
        assert row["interval"] == pytest.approx(
            [share + sign * quantile * row["standard_error"] for sign in (-1, 1)]
        )
    # Every measure by numeric slopes of its own formula.
    for statistic, formula in FORMULAS.items():
        row, value = by_name[statistic], formula(shares)
        slope = np.array([(formula(shares + step) - value) / 1e-6 for step in np.eye(4) * 1e-6])
        error = math.sqrt(slope @ covariance @ slope)
        assert row["estimate"] == pytest.approx(value)
        assert row["standard_error"] == pytest.approx(error, rel=max(tolerance, 1e-4)), statistic
        ends = [value - quantile * error, value + quantile * error]
        if statistic == "odds ratio":
            ends = [value * math.exp(sign * quantile * error / value) for sign in (-1, 1)]
        assert row["interval"] == pytest.approx(ends, rel=max(tolerance, 1e-4)), statistic
    for place, own in enumerate(("share among the others", "share among those who gave the first")):
        assert by_name[own]["estimate"] == pytest.approx(line["groups"][place]["value"])
        assert by_name[own]["standard_error"] == pytest.approx(
            line["groups"][place]["standard_error"], rel=tolerance if replicates else 1e-6
        )

    shares, covariance = join_by_hand(rows)
    np.testing.assert_allclose([row["estimate"] for row in three["rows"][:8]], shares, rtol=1e-9)
    inside = [row for row in three["rows"] if row["answers"][-1] == "lied: yes"]
    assert {row["statistic"] for row in inside} == {f"{name}, within the last" for name in FORMULAS}
    for row in inside:
        formula = FORMULAS[row["statistic"].removesuffix(", within the last")]
        value = formula(shares[1::2])
        slope = np.array([(formula((shares + step)[1::2]) - value) / 1e-6 for step in np.eye(8) * 1e-6])
        assert row["estimate"] == pytest.approx(value)
        error = math.sqrt(slope @ covariance @ slope)
        assert row["standard_error"] == pytest.approx(error, rel=max(tolerance, 1e-4))
    assert len(three["rows"]) == 8 + 6 * len(FORMULAS)


def _phi(cells: Any) -> float:
    no, yes = cells.reshape(2, 2) / cells.sum()
    margins = no.sum() * yes.sum() * (no + yes)[0] * (no + yes)[1]
    return float((no[0] * yes[1] - no[1] * yes[0]) / math.sqrt(margins))


FORMULAS = {
    "share among those who gave the first": lambda cells: cells[3] / (cells[2] + cells[3]),
    "share among the others": lambda cells: cells[1] / (cells[0] + cells[1]),
    "difference": lambda cells: cells[3] / (cells[2] + cells[3]) - cells[1] / (cells[0] + cells[1]),
    "odds ratio": lambda cells: cells[0] * cells[3] / (cells[1] * cells[2]),
    "phi": _phi,
}
"""Of shares of no and no, no and yes, yes and no, yes and yes."""
