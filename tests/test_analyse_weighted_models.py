"""Models of rows that count, and vary, as they were drawn: against formulas of their own, and made-up schools.

Each model is solved anew here from weighted shares, or by making a weighted likelihood largest, and its variance
follows from numeric slopes of that by the weight of each row, over clusters (Binder 1983), or from leaving out each
cluster. Coverage is held against 0.94 with a false-alarm rate of 1e-6; the twin has the weights without the sandwich,
as if a row that counts three times were three people.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize, minimize_scalar

from server.privacy.estimators.sample_designs import SampleDesign
from server.reports.elsewhere.models import read_models
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_parts import Model
from tests.support.scale import choose_size
from tests.test_analyse_answering_models import ANCHORED, CHEATING
from tests.test_analyse_lists import BASELINES, DOUBLE, LIES, LISTS, SUMS
from tests.test_analyse_models import UNKNOWN, analyse

Floats = NDArray[np.float64]
Rows = Mapping[str, Floats]
Found = dict[str, float]
PLAIN = {**UNKNOWN, "report": "Q1"}
EXTENDED = {
    "model": "extended_crosswise",
    "name": "tax",
    "report": "Q1",
    "group": "form",
    "groups": [
        {"cell": "A", "prevalence": 0.2, "anchor_prevalence": 0.2},
        {"cell": "B", "prevalence": 0.8, "anchor_prevalence": 0.8},
    ],
    "anchor": "Q2",
}
FORCED, TRUTHS, COMMON = np.array([0.75, 0.25]), np.array([0.75, 0.25]), np.array([0.8, 0.75, 0.3])


def average(values: Floats, weights: Floats, inside: Any = True) -> float:
    """Of the rows that are inside."""
    own = weights * inside
    return float(own @ values / own.sum())


def shares(rows: Rows, weights: Floats) -> Floats:
    """Of Yes, or the mean, in each group."""
    groups = range(int(rows["group"].max()) + 1)
    return np.array([average(rows["report"], weights, rows["group"] == place) for place in groups])


def climb(loss: Callable[[Any], float], start: list[float]) -> Floats:
    """Where a smooth loss is least."""
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}
    return np.asarray(minimize(loss, start, method="Nelder-Mead", options=options).x)


def lose(chance: Floats, rows: Rows, weights: Floats) -> float:
    """The weighted log-likelihood of reports with these chances of a Yes in each group, turned round."""
    own = np.clip(chance, 1e-12, 1 - 1e-12)[rows["group"].astype(int)]
    return float(-average(np.where(rows["report"] == 1, np.log(own), np.log(1 - own)), weights))


def solve_unknown(rows: Rows, weights: Floats) -> Found:
    share, prevalence = np.linalg.solve([[0.75, 0.25], [0.25, 0.75]], shares(rows, weights))
    return {"share": share, "prevalence": prevalence}


def solve_cheating(rows: Rows, weights: Floats) -> Found:
    yes, no = climb(lambda x: lose(x[0] + FORCED * x[1], rows, weights), [0.3, 0.4])
    return {"honest_yes": yes, "honest_no": no, "cheaters": 1 - yes - no}


def solve_inattentive(rows: Rows, weights: Floats, prevalence: float = 0.15) -> Found:
    slope = 2 * prevalence - 1
    attentive = (average(rows["anchor"], weights) - 0.5) / (slope * -0.5)
    share = 0.5 + (average(rows["report"], weights) - 0.5) / (attentive * slope)
    return {"share": share, "attentive": attentive, "uncorrected": 0.5 + attentive * (share - 0.5)}


def solve_extended(rows: Rows, weights: Floats) -> Found:
    second = rows["group"] == 1
    turned = {name: np.where(second, 1 - rows[name], rows[name]) for name in ("report", "anchor")}
    corrected = solve_inattentive(turned, weights, 0.2)
    first, other = (average(turned["report"], weights, inside) for inside in (~second, second))
    return {
        "share": (average(turned["report"], weights) - 0.8) / (0.2 - 0.8),
        "preference": first - other,
        "corrected": corrected["share"],
        "attentive": corrected["attentive"],
    }


def solve_list(rows: Rows, weights: Floats) -> Found:
    without, with_it = shares(rows, weights)
    none, all_ = ((rows["report"] == number).astype(float) for number in (0, 4))
    floor = average(none, weights, rows["group"] == 0) - average(none, weights, rows["group"] == 1)
    return {"share": with_it - without, "floor": floor, "ceiling": average(all_, weights, rows["group"] == 1)}


def solve_double(rows: Rows, weights: Floats) -> Found:
    apart = (rows["report"] - rows["second"]) / 2
    means = [average(apart, weights, rows["group"] == place) for place in (0, 1)]
    return {"share": means[0] - means[1]}


def solve_sum(rows: Rows, weights: Floats) -> Found:
    with_it, without = shares(rows, weights)
    return {"mean": with_it - without}


def solve_lies(rows: Rows, weights: Floats) -> Found:
    share, honesty = climb(lambda x: lose(x[0] * x[1] + (1 - x[0]) * (1 - TRUTHS), rows, weights), [0.3, 0.6])
    return {"share": share, "honesty": honesty}


def solve_baselines(rows: Rows, weights: Floats) -> Found:
    def loss(share: float) -> float:
        return lose(COMMON * share + (1 - COMMON) * (1 - share), rows, weights)

    return {"share": float(minimize_scalar(loss, (-0.3, 0.3), options={"xtol": 1e-12}).x)}


def answer_crosswise(rng: np.random.Generator, trait: Any, prevalence: Any) -> Any:
    """Whether both answers are the same."""
    return (rng.random(len(trait)) < prevalence) == trait


def make(name: str, rng: np.random.Generator, trait: Any, group: Any) -> dict[str, Any]:
    """Reports of people of whom some have the trait, who are of these groups."""
    n = len(trait)
    chance, told = rng.random(n), {"group": group}
    if name == "unknown_prevalence":
        asked = chance < TRUTHS[group]
        return told | {"report": np.where(asked, trait, rng.random(n) < 0.4)}
    if name == "cheating":
        return told | {"report": (trait | (chance < FORCED[group])) & (rng.random(n) < 0.85)}
    if name in ("inattentive_crosswise", "extended_crosswise"):
        prevalence = 0.15 if name == "inattentive_crosswise" else np.array([0.2, 0.8])[group]
        coin, attends = rng.random((2, n)) < 0.5, chance < 0.8
        report = np.where(attends, answer_crosswise(rng, trait, prevalence), coin[0])
        anchor = np.where(attends, answer_crosswise(rng, np.zeros(n, bool), prevalence), coin[1])
        return ({} if name == "inattentive_crosswise" else told) | {"report": report, "anchor": anchor}
    if name == "item_count":
        return told | {"report": rng.binomial(3, 0.4, n) + (trait & (group == 1))}
    if name == "double_list":
        first, second = rng.binomial(2, 0.4, n), rng.binomial(1, 0.5, n)
        return told | {"report": first + (trait & (group == 0)), "second": second + (trait & (group == 1))}
    if name == "item_sum":
        return told | {"report": rng.integers(5, 30, n) + np.where(group == 0, 20 * trait, 0)}
    if name == "stochastic_lie_detector":
        return told | {"report": np.where(trait, chance < 0.7, rng.random(n) > TRUTHS[group])}
    return told | {"report": answer_crosswise(rng, trait, COMMON[group])}


def list_truths(name: str, share: float) -> Found:
    """What a share of people with the trait makes of the numbers of a model."""
    found = {"share": share}
    if name == "unknown_prevalence":
        found["prevalence"] = 0.4
    if name == "cheating":
        found = {"honest_yes": 0.85 * share, "honest_no": 0.85 * (1 - share), "cheaters": 0.15}
    if name == "inattentive_crosswise":
        found |= {"attentive": 0.8, "uncorrected": 0.5 + 0.8 * (share - 0.5)}
    if name == "extended_crosswise":
        found = {"share": 0.5 + 0.8 * (share - 0.5), "corrected": share, "attentive": 0.8, "preference": 0.0}
    if name == "item_count":
        found |= {"floor": share * 0.6**3, "ceiling": share * 0.4**3}
    if name == "item_sum":
        found = {"mean": 20 * share}
    if name == "stochastic_lie_detector":
        found["honesty"] = 0.7
    return found


CASES: dict[str, tuple[dict[str, Any], Callable[[Rows, Floats], Found]]] = {
    "unknown_prevalence": (PLAIN, solve_unknown),
    "cheating": ({**CHEATING, "report": "Q1"}, solve_cheating),
    "inattentive_crosswise": (ANCHORED, solve_inattentive),
    "extended_crosswise": (EXTENDED, solve_extended),
    "item_count": (LISTS, solve_list),
    "double_list": (DOUBLE, solve_double),
    "item_sum": (SUMS, solve_sum),
    "stochastic_lie_detector": (LIES, solve_lies),
    "several_baselines": (BASELINES, solve_baselines),
}
LEANING = {
    "inattentive_crosswise": ("share",),
    "extended_crosswise": ("corrected",),
    "stochastic_lie_detector": ("honesty",),
    "item_count": ("ceiling",),
}
"""Of each model what has Fieller's interval, or an exact one: the estimate is not its middle."""
LEVELS = np.array([[0.05, 0.1, 0.3, 0.4], [0.3, 0.5, 0.7, 0.9]])
"""Of schools of either kind: what share has the trait."""


def read(stated: dict[str, Any]) -> Model:
    (model,) = read_models([stated])
    return model.model


def draw(
    name: str, rng: np.random.Generator, schools: int, people: int
) -> tuple[dict[str, Floats], Floats, Any]:
    """Reports, weights and schools; those of the second kind were drawn three times as often, and count a third."""
    kind = np.arange(schools) % 4 > 0
    level = np.where(kind, *LEVELS[::-1, rng.integers(0, LEVELS.shape[1], schools)])
    clusters = np.repeat(np.arange(schools), people)
    trait = rng.random(len(clusters)) < level[clusters]
    group = rng.integers(0, 3 if name == "several_baselines" else 2, len(clusters))
    rows = {role: np.asarray(values, float) for role, values in make(name, rng, trait, group).items()}
    return rows, np.where(kind, 1.0, 3.0)[clusters], clusters


@pytest.mark.parametrize("name", CASES)
def test_every_model_is_its_own_formula_and_varies_by_clusters(name: str) -> None:
    stated, solve = CASES[name]
    rng = np.random.default_rng(14)
    rows, weights, clusters = draw(name, rng, 24, 40)
    weights = weights * rng.choice([0.5, 1.0, 1.5], len(weights))
    places = np.arange(len(weights))
    found = read(stated).estimate(rows, "", 0.95, DrawnRows(places, SampleDesign(weights, (), clusters), ""))
    expected = solve(rows, weights)

    # Rows that are alike move what is found alike.
    table = np.stack(list(rows.values()), axis=1)
    cells, of_row = np.unique(table, axis=0, return_inverse=True)
    names, step = list(expected), 1e-4 * weights.sum() / len(weights)
    slopes = np.empty((len(cells), len(names)))
    for cell in range(len(cells)):
        (first, *_) = np.flatnonzero(of_row == cell)
        ends = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[first] += sign * step * 100
            ends.append(np.array(list(solve(rows, moved).values())))
        slopes[cell] = (ends[0] - ends[1]) / (200 * step)
    sums = np.stack(
        [np.bincount(clusters, weights * slopes[of_row, place]) for place in range(len(names))], axis=1
    )
    errors = np.sqrt(24 / 23 * ((sums - sums.mean(axis=0)) ** 2).sum(axis=0))

    said = {each.name: each for each in found.estimates}
    assert set(said) == set(expected)
    assert found.freedom == 23
    reach = stats.t.ppf(0.975, 23)
    for own, error in zip(names, errors, strict=True):
        value = expected[own]
        assert said[own].value == pytest.approx(value, abs=2e-6 * (1 + abs(value))), own
        assert said[own].standard_error == pytest.approx(error, rel=2e-3), own
        low, high = said[own].interval
        if own not in LEANING.get(name, ()):
            assert (low, high) == pytest.approx(
                (value - reach * error, value + reach * error), abs=4e-3 * error
            )
        assert low < value < high

    # Each school left out in turn: near to that.
    again = []
    for left_out in range(24):
        kept = clusters != left_out
        again.append(list(solve({role: own[kept] for role, own in rows.items()}, weights[kept]).values()))
    left = np.sqrt(23 / 24 * ((np.array(again) - np.mean(again, axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(left, errors, rtol=0.2)


@pytest.mark.scaled
@pytest.mark.parametrize("name", CASES)
def test_schools_cover_what_is_true_and_repeated_rows_do_not(name: str) -> None:
    stated, _ = CASES[name]
    model, rng, samples = read(stated), np.random.default_rng(29), choose_size(200, 1500)
    truths = list_truths(name, float(LEVELS.mean()))
    held, twin = dict.fromkeys(truths, 0), 0
    main = next(iter(truths))
    for _ in range(samples):
        rows, weights, clusters = draw(name, rng, 48, 25)
        sample = SampleDesign(weights, (), clusters, np.array(weights == 1, np.int64))
        drawn = DrawnRows(np.arange(len(weights)), sample, "")
        for each in model.estimate(rows, "", 0.95, drawn).estimates:
            if each.name in held:
                held[each.name] += each.interval[0] < truths[each.name] < each.interval[1]
        repeated = {role: np.repeat(own, weights.astype(int)) for role, own in rows.items()}
        (own,) = [each for each in model.estimate(repeated, "", 0.95).estimates if each.name == main]
        twin += own.interval[0] < truths[main] < own.interval[1]
    for own_name, count in held.items():
        assert stats.binomtest(count, samples, 0.94, alternative="less").pvalue > 1e-6, (own_name, count)
    assert stats.binomtest(twin, samples, 0.94, alternative="less").pvalue < 1e-6, twin


@pytest.mark.parametrize("name", ["inattentive_crosswise", "extended_crosswise", "several_baselines"])
def test_clusters_that_are_alike_do_not_take_the_coins_away(name: str) -> None:
    """Of 30 schools with the same reports each but one, a share still varies by p (1 - p) of each row's coin."""
    rows = draw(name, np.random.default_rng(5), 1, 40)[0]
    many = {role: np.tile(own, 30) for role, own in rows.items()}
    many["report"][0] = 1 - many["report"][0]
    sample = SampleDesign(np.ones(1200), (), np.repeat(np.arange(30), 40))
    found = read(CASES[name][0]).estimate(many, "", 0.95, DrawnRows(np.arange(1200), sample, ""))
    (share,) = [each for each in found.estimates if each.name in ("uncorrected", "share")][-1:]
    least = {"inattentive_crosswise": 0.15, "extended_crosswise": 0.2, "several_baselines": 0.2}[name]
    assert np.inf > share.standard_error >= 0.99 * np.sqrt(least * (1 - least) / 1200) / abs(1 - 2 * least)


ROWS = (
    [("A", "yes", 2, "x", 5, 1)] * 30 + [("A", "no", 1, "y", 4, 2)] * 60 + [("B", "yes", 3, "z", 9, 3)] * 40
)
ROWS += [("B", "no", 1, "x", 2, 0)] * 40 + [("A", "yes", 1, "z", 3, 1)] * 10
DATA = "form,Q1,w,class,hours,count\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


@pytest.mark.parametrize("way", [{"weights": "w"}, {"sampling": {"weights": "w", "clusters": "class"}}])
def test_the_command_and_every_format_count_rows_by_their_weights(
    tmp_path: Path, way: dict[str, Any]
) -> None:
    sums = {**SUMS, "report": "hours"}
    html = tmp_path / "report.html"
    done = analyse(tmp_path, [PLAIN, sums], DATA, "--output", str(html), **way)
    assert done.exit_code == 0, done.output
    told = json.loads(analyse(tmp_path, [PLAIN, sums], DATA, "--json", **way).stdout)["models"]
    rows = {
        "group": np.array([row[0] == "B" for row in ROWS], float),
        "report": np.array([row[1] == "yes" for row in ROWS], float),
    }
    expected = solve_unknown(rows, np.array([row[2] for row in ROWS], float))
    assert {each["name"]: each["value"] for each in told[0]["estimates"]} == pytest.approx(expected)
    freedom = 1 if "sampling" in way else 79  # rows of B are of two classes
    assert [each["weighted"] for each in told] == [True, True]
    assert told[0]["degrees_of_freedom"] == freedom
    assert f"Student's t with {freedom} degrees of freedom" in done.stdout
    text = " ".join(html.read_text("utf-8").split())
    assert f"Student’s t with {freedom} degrees of freedom" in text
    assert "Every row counts once" not in text
    assert ("3 clusters" in text) == ("sampling" in way)


@pytest.mark.parametrize("bad", ["-1", "0", "", "much", "1e9"])
@pytest.mark.parametrize("way", [{"weights": "w"}, {"sampling": {"weights": "w"}}])
def test_bad_weights_are_named_with_column_row_and_range(
    tmp_path: Path, way: dict[str, Any], bad: str
) -> None:
    done = analyse(tmp_path, [PLAIN], DATA.replace("A,yes,2,", f"A,yes,{bad},", 1), **way)
    assert done.exit_code == 2
    said = f"data[2].w: must be a number from 1e-06 to 1e+06; it is {bad or ''}".strip()
    assert said in " ".join(done.output.split()), done.output
