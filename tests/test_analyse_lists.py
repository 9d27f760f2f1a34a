"""Lists, sums, lies and several baseline items from elsewhere: `analyse` says what independent formulas do."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import chi2, ttest_ind

from server.cli import main
from tests.support.factories import ROOT
from tests.test_analyse_models import analyse, find, numbers, rows

FORMS = {"group": "form", "report": "Q1"}
LISTS: dict[str, Any] = {
    **FORMS,
    "model": "item_count",
    "name": "bribed",
    "text": "How many of these?",
    "groups": [{"cell": "A", "items": 3}, {"cell": "B", "items": 4}],
}
CONTROL, TREATMENT = [50, 200, 180, 70], [40, 160, 190, 90, 20]
COUNTED = rows(
    "form,Q1",
    {f"A,{count}": times for count, times in enumerate(CONTROL)}
    | {f"B,{count}": times for count, times in enumerate(TREATMENT)},
)
SUMS: dict[str, Any] = {
    **FORMS,
    "model": "item_sum",
    "name": "hours",
    "low": 0,
    "high": 168,
    "groups": [{"cell": "A", "sensitive": True}, {"cell": "B", "sensitive": False}],
}
LIES: dict[str, Any] = {
    **FORMS,
    "model": "stochastic_lie_detector",
    "name": "doped",
    "groups": [{"cell": "A", "truth": 0.75}, {"cell": "B", "truth": 0.25}],
}
BASELINES: dict[str, Any] = {
    **FORMS,
    "model": "several_baselines",
    "name": "copied",
    "groups": [
        {"cell": cell, "prevalence": prevalence} for cell, prevalence in (("A", 0.8), ("B", 0.75), ("C", 0.3))
    ],
}
DOUBLE: dict[str, Any] = {
    **FORMS,
    "model": "double_list",
    "name": "both",
    "second": "Q2",
    "groups": [{"cell": "A", "items": 3, "second_items": 1}, {"cell": "B", "items": 2, "second_items": 2}],
}


def test_a_list_is_a_difference_of_means_with_floor_and_ceiling_and_an_exact_test(tmp_path: Path) -> None:
    found = find(tmp_path, LISTS, COUNTED)
    people = [np.repeat(np.arange(len(tally)), tally) for tally in (CONTROL, TREATMENT)]
    said = numbers(found)
    assert said["share"]["value"] == pytest.approx(people[1].mean() - people[0].mean())
    error = math.sqrt(sum(each.var(ddof=1) / len(each) for each in people))
    assert said["share"]["standard_error"] == pytest.approx(error)
    assert said["floor"]["value"] == pytest.approx(50 / 500 - 40 / 500)
    assert said["ceiling"]["value"] == pytest.approx(20 / 500)
    assert said["floor"]["interval"][0] < 0.02 < said["floor"]["interval"][1]
    (test,) = found["tests"]
    assert (test["name"], test["p_value"], test["statistic"]) == ("design_effect", 1.0, None)
    assert found["remarks"]
    # The twin: lists whose treatment group shrinks its counts are told.
    shrunk = COUNTED.replace("B,2", "B,0").replace("B,3", "B,0")
    (test,) = find(tmp_path, LISTS, shrunk)["tests"]
    assert test["p_value"] < 1e-6
    assert "change how people count the others" in test["verdict"]
    # Which group has the longer list does not matter.
    other = {**LISTS, "groups": LISTS["groups"][::-1]}
    assert find(tmp_path, other, COUNTED)["estimates"] == find(tmp_path, LISTS, COUNTED)["estimates"]


def test_two_lists_are_half_the_difference_of_differences(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    counted = [
        ("A", int(first), int(second))
        for first, second in zip(random.integers(0, 4, 200), random.integers(0, 2, 200), strict=True)
    ] + [
        ("B", int(first), int(second))
        for first, second in zip(random.integers(0, 3, 150), random.integers(0, 3, 150), strict=True)
    ]
    data = "\n".join(["form,Q1,Q2", *(",".join(map(str, row)) for row in counted)]) + "\nA,,1\n"
    found = find(tmp_path, DOUBLE, data)
    apart = {
        form: np.array([(first - second) / 2 for own, first, second in counted if own == form])
        for form in "AB"
    }
    share = numbers(found)["share"]
    assert share["value"] == pytest.approx(apart["A"].mean() - apart["B"].mean())
    error = math.sqrt(sum(each.var(ddof=1) / len(each) for each in apart.values()))
    assert share["standard_error"] == pytest.approx(error)
    assert (found["rows"], found["left_out"]) == (350, 1)
    sums = {
        form: np.array([first + second for own, first, second in counted if own == form]) for form in "AB"
    }
    z = (sums["A"].mean() - sums["B"].mean()) / math.sqrt(
        sum(each.var(ddof=1) / len(each) for each in sums.values())
    )
    assert found["tests"][0]["p_value"] == pytest.approx(chi2.sf(z**2, 1))
    assert found["tests"][0]["statistic"] == pytest.approx(z**2)


def test_a_sum_is_welchs_interval(tmp_path: Path) -> None:
    control, treatment = [10, 14, 9.5, 11, 16, 12], [15.5, 12, 19, 14, 22, 11, 30]
    data = rows("form,Q1", {f"A,{total}": 1 for total in treatment} | {f"B,{total}": 1 for total in control})
    found = numbers(find(tmp_path, SUMS, data))["mean"]
    expected = ttest_ind(treatment, control, equal_var=False)
    assert found["value"] == pytest.approx(np.mean(treatment) - np.mean(control))
    assert found["interval"] == pytest.approx(list(expected.confidence_interval(0.95)))
    alone = find(tmp_path, SUMS, "form,Q1\nA,5\nB,3\n")
    assert numbers(alone)["mean"]["interval"] == [None, None]
    assert "nothing is known of chance" in alone["remarks"][0]
    for data in ("form,Q1\nA,5\nB,3\n", "form,Q1\n" + "A,0\nB,0\n" * 9):
        target = tmp_path / f"{len(data)}.html"
        assert analyse(tmp_path, [SUMS], data).exit_code == 0
        assert analyse(tmp_path, [SUMS], data, "--output", str(target)).exit_code == 0


def test_lies_are_two_equations_and_told_on_the_boundary(tmp_path: Path) -> None:
    inside = rows("form,Q1", {"A,no": 620, "A,yes": 380, "B,no": 330, "B,yes": 670})
    found = find(tmp_path, LIES, inside)
    others, admitted = np.linalg.solve([[0.25, 1], [0.75, 1]], [0.38, 0.67])
    said = numbers(found)
    assert said["share"]["value"] == pytest.approx(1 - others)
    assert said["honesty"]["value"] == pytest.approx(admitted / (1 - others))
    assert "likeliest_share" not in said
    assert found["tests"][0]["p_value"] < 0.001
    assert "may lie" in found["tests"][0]["verdict"]
    beyond = find(tmp_path, LIES, rows("form,Q1", {"A,no": 560, "A,yes": 440, "B,no": 180, "B,yes": 820}))
    said = numbers(beyond)
    assert said["honesty"]["possible"] is False
    assert said["likeliest_honesty"] == {
        **said["likeliest_honesty"],
        "value": pytest.approx(1),
        "standard_error": None,
        "interval": [None, None],
    }
    assert "boundary" in beyond["remarks"][0]
    nobody = find(tmp_path, LIES, rows("form,Q1", {"A,no": 76, "A,yes": 24, "B,no": 22, "B,yes": 78}))
    assert "honesty" not in numbers(nobody)
    assert "do not show that anybody has the trait" in nobody["remarks"][0]


def test_several_baseline_items_have_one_share_and_a_test(tmp_path: Path) -> None:
    counts = {"A": (308, 192), "B": (325, 175), "C": (215, 285)}
    data = rows(
        "form,Q1",
        {f"{form},{answer}": times for form, own in counts.items() for answer, times in enumerate(own)},
    )
    found = find(tmp_path, BASELINES, data)
    shares = np.linspace(0, 1, 200_001)
    likely = sum(
        yes * np.log(shares * p + (1 - shares) * (1 - p))
        + no * np.log(1 - shares * p - (1 - shares) * (1 - p))
        for (no, yes), p in zip(counts.values(), (0.8, 0.75, 0.3), strict=True)
    )
    assert numbers(found)["share"]["value"] == pytest.approx(shares[np.argmax(likely)], abs=1e-5)
    alone = sum(yes * math.log(yes / 500) + no * math.log(no / 500) for no, yes in counts.values())
    (test,) = found["tests"]
    assert test["statistic"] == pytest.approx(2 * (alone - likely.max()), abs=1e-6)
    assert test["degrees_of_freedom"] == 2
    assert test["p_value"] == pytest.approx(chi2.sf(test["statistic"], 2))
    random = rows("form,Q1", {f"{form},{answer}": 250 for form in "ABC" for answer in (0, 1)})
    assert find(tmp_path, BASELINES, random)["tests"][0]["p_value"] > 0.9, "as the share 1/2 explains"


def test_every_format_has_each_of_them(tmp_path: Path) -> None:
    data = "form,Q1,Q2\n" + "".join(
        f"{form},{count},{other}\n" * 3 for form in "AB" for count in (0, 1) for other in (0, 1)
    )
    models = [
        LISTS,
        DOUBLE,
        {**SUMS, "text": "Hours?"},
        LIES,
        {**BASELINES, "groups": BASELINES["groups"][:2]},
    ]
    printed = analyse(tmp_path, models, data).stdout
    for title in (
        "bribed: List experiment, two groups",
        "both: List experiment, two lists and two groups",
        "hours: Item sum, two groups",
        "doped: Stochastic lie detector, two groups",
        "copied: Several baseline items, a group each",
    ):
        assert title in printed
    assert "Rows: 24 used (A 12, B 12), 0 left out." in printed
    for ending in ("html", "xlsx", "pdf", "json"):
        target = tmp_path / f"report.{ending}"
        done = analyse(tmp_path, models, data, "--output", str(target), "--language", "en")
        assert done.exit_code == 0, done.output
    page = (tmp_path / "report.html").read_text("utf-8")
    for said in ("Hours?", "Mean of the sensitive number", "To whom it applies, and all of the others"):
        assert said in page


REFUSED = {
    "lists of one length": (
        {**LISTS, "groups": [{"cell": "A", "items": 3}, {"cell": "B", "items": 3}]},
        COUNTED,
        "models[0].groups[1].items: must be one more or one less than that of the other group, 3; it is 3",
    ),
    "a count beyond the list": (
        LISTS,
        COUNTED + "A,4\n",
        "models[0].groups[0].items: must be at least 4: a row of A counts as many",
    ),
    "a count that is none": (
        LISTS,
        COUNTED + "A,5\n",
        "data[1002].Q1: must be one of 0, 1, 2, 3, 4; it is 5",
    ),
    "no item beside it": (
        {**LISTS, "groups": [{"cell": "A", "items": 0}, {"cell": "B", "items": 1}]},
        COUNTED,
        "models[0].groups[0].items: must be from 1 to 30; it is 0",
    ),
    "both lists longer": (
        {
            **DOUBLE,
            "groups": [
                {"cell": "A", "items": 3, "second_items": 2},
                {"cell": "B", "items": 2, "second_items": 1},
            ],
        },
        "form,Q1,Q2\nA,1,1\nB,1,1\n",
        "models[0].groups[1].second_items: must be longer in the group whose first list is shorter",
    ),
    "two sensitive groups": (
        {**SUMS, "groups": [{"cell": "A", "sensitive": True}, {"cell": "B", "sensitive": True}]},
        "form,Q1\nA,5\nB,3\n",
        "models[0].groups[1].sensitive: must be true in one group, and false in the other",
    ),
    "no range": (
        {**SUMS, "high": 0},
        "form,Q1\nA,5\nB,3\n",
        "models[0].high: must be above the lowest number, 0; it is 0",
    ),
    "a total out of range": (SUMS, "form,Q1\nA,500\nB,3\n", "data[2].Q1: must be a number from 0 to 168"),
    "totals of one group": (SUMS, "form,Q1\nA,5\n", "models[0].groups[1].cell: must stand in a row"),
    "equal chances of truth": (
        {**LIES, "groups": [{"cell": "A", "truth": 0.5}, {"cell": "B", "truth": 0.5}]},
        "form,Q1\nA,0\nB,0\n",
        "models[0].groups[1].truth: must differ from that of the other group; both are 0.5",
    ),
    "a prevalence that tells nothing": (
        {**BASELINES, "groups": [{"cell": cell, "prevalence": 0.5} for cell in "AB"]},
        "form,Q1\nA,0\nB,0\n",
        "models[0].groups[0].prevalence: must not be 0.5",
    ),
    "a single group": (
        {**BASELINES, "groups": BASELINES["groups"][:1]},
        "form,Q1\nA,0\n",
        "models[0].groups: must have at least 2 entries; it has 1",
    ),
}


@pytest.mark.parametrize(("model", "data", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_by_its_place(
    tmp_path: Path, model: dict[str, Any], data: str, said: str
) -> None:
    done = analyse(tmp_path, [model], data)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split()), done.output


def test_the_example_of_the_page_says_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "analyse.md").read_text("utf-8")
    part = page.partition("### Lists, sums, lies and several baseline items")[2].partition("\n## ")[0]
    (study,) = re.findall(r"```json\n(.*?)```", part, re.DOTALL)
    header = re.search(r"\| `models.csv`: (.+), rows \|", part)
    assert header
    counted = re.findall(r"([AB]), (\d), (\d+), ([CD]), ([12]), ([sd]), (\d+)(?=;| \|)", part)
    lines = [",".join(cells) for *cells, times in counted for _ in range(int(times))]
    assert len(lines) > 100
    (tmp_path / "study.json").write_text(study, "utf-8")
    (tmp_path / "models.csv").write_text("\n".join([header[1].replace(", ", ","), *lines]), "utf-8")
    command = ("analyse", str(tmp_path / "models.csv"), "--study", str(tmp_path / "study.json"))
    done = CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"}).invoke(main, command)
    assert done.exit_code == 0, done.output
    printed: list[list[str]] = []
    name = ""
    for line in done.stdout.splitlines():
        if started := re.match(r"(\w+): ", line):
            name = started[1]
        printed.append([name, *re.split(r"  +", line)])
    shown = re.findall(r"\| `(\w+)` \| `(\w+)` \| (\S+) \| (\S+) \| (\S+ to \S+) \|", part)
    assert {name for name, *_ in shown} == {model["name"] for model in json.loads(study)["models"]}
    for row in shown:
        assert list(row) in printed
