"""`python -m server release --data`: central releases from a table that is not a survey."""

import csv
import io
import json
import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.privacy.noise import geometric_variance
from tests.support.factories import ROOT, moneda

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"
"""A database that cannot be made: a table needs none."""
TOWNS = [("North", "Alba"), ("North", "Bruma"), ("South", "Cala")]
COLUMNS = {
    "sex": {"categories": ["female", "male", "other", ""]},
    "children": {"low": 0, "high": 4, "bins": 5},
    "hours": {"low": -1, "high": 3, "step": 0.5, "bins": 3},
    "place": {"path": ["state", "town"], "leaves": [list(town) for town in TOWNS]},
}
HEADER = ("sex", "state", "children", "hours", "remark", "town")

Row = tuple[str, tuple[str, str], int, float]


def people(number: int) -> list[Row]:
    """Made-up people; nobody is "other", and nobody lives in South > Cala."""
    rng = random.Random(7)
    return [
        (
            rng.choice(["female", "male", ""]),
            rng.choice(TOWNS[:2]),
            rng.choice([0, 0, 1, 2, 4]),
            rng.choice([-1, -0.5, 0, 2.5, 3]),
        )
        for _ in range(number)
    ]


PEOPLE = people(300)


def table(rows: Sequence[Row], **how: Any) -> bytes:
    """The rows as a file."""
    file = io.StringIO()
    writer = csv.writer(file, **how)
    writer.writerow(HEADER)
    writer.writerows((sex, at[0], some, hours, 'says "x";\n, y', at[1]) for sex, at, some, hours in rows)
    return file.getvalue().encode()


def plan(*items: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    return {"format": 1, "columns": COLUMNS, "items": list(items), **rest}


def certain(kind: str, **rest: Any) -> dict[str, Any]:
    """An item with so large a loss that hardly any noise is added."""
    return {"kind": kind, "epsilon": 100, **rest}


def run(folder: Path, data: bytes, document: object, *arguments: str) -> Result:
    """Release from a file that holds these bytes."""
    (folder / "data.csv").write_bytes(data)
    (folder / "plan.json").write_text(json.dumps(document), "utf-8")
    files = ["--data", str(folder / "data.csv"), "--plan", str(folder / "plan.json")]
    return CliRunner(env={"DATABASE_URL": NOWHERE}).invoke(main, ["release", *files, *arguments])


def release_table(folder: Path, data: bytes, document: object) -> Any:
    done = run(folder, data, document, "--yes", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def figures(entry: Mapping[str, Any], statistic: str) -> dict[tuple[str, ...], Any]:
    """The values of one statistic by the answers that they are of."""
    return {
        tuple(answer for _, answer in figure["place"]): figure["value"]
        for figure in entry["figures"]
        if figure["statistic"] == statistic
    }


def bins(hours: float) -> str:
    """Of the numbers -1, -0.5, ..., 3 three to a part."""
    return "-1 to 0" if hours <= 0 else "0.5 to 1.5" if hours <= 1.5 else "2 to 3"


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_every_kind_gives_what_is_in_the_table(neighbours: str, tmp_path: Path) -> None:
    """With a loss of 100 a count is wrong with probability 2 exp(-50) at most; no mean is off by its bound in 10^10."""
    document = plan(
        certain("share", question="sex", option="female"),
        certain("histogram", question="hours"),
        certain("table", questions=["sex", "children"]),
        certain("table", question="children", by_stratum=True),
        certain("hierarchy"),
        certain("mean", question="children"),
        certain("mean", question="children", noise="gaussian", delta="0.001"),
        certain("mean", question="hours", stratum=["North", "Bruma"]),
        certain("most_common", question="children"),
        certain("top", question="children", how_many=2),
        certain("exceeding", questions=["sex"], share="0.2", positives=2),
        certain("count", stratum=["North"]),
        division="given",
        neighbours=neighbours,
    )

    done = release_table(tmp_path, table(PEOPLE), document)

    share, hours, crossed, by_town, tree, mean, gaussian, there, common, top, above, north = done["released"]
    sexes = Counter(row[0] for row in PEOPLE)
    n = len(PEOPLE)
    assert figures(share, "share") == {("female",): sexes["female"] / n}
    counted = Counter(bins(row[3]) for row in PEOPLE)
    assert figures(hours, "reports") == {
        (name,): counted[name] for name in ("-1 to 0", "0.5 to 1.5", "2 to 3")
    }
    pairs = Counter((row[0] or "(empty)", str(row[2])) for row in PEOPLE)
    assert figures(crossed, "reports") == {
        (sex, str(some)): pairs[sex, str(some)]
        for sex in ("female", "male", "other", "(empty)")
        for some in range(5)
    }
    places = Counter((" > ".join(row[1]), str(row[2])) for row in PEOPLE)
    assert figures(by_town, "reports") == {
        (" > ".join(town), str(some)): places[" > ".join(town), str(some)]
        for town in TOWNS
        for some in range(5)
    }
    towns = Counter(row[1] for row in PEOPLE)
    assert figures(tree, "respondents") == {
        ("",): n,
        ("North",): n,
        ("South",): 0,
        **{(" > ".join(town),): towns[town] for town in TOWNS},
    }
    exact = sum(row[2] for row in PEOPLE) / n
    for entry in (mean, gaussian):
        assert figures(entry, "mean")["",] == pytest.approx(exact, abs=3 * 0.5 / n * 4)
    local = [row[3] for row in PEOPLE if row[1] == ("North", "Bruma")]
    assert figures(there, "mean")["",] == pytest.approx(
        sum(local) / len(local), abs=3 * 0.25 / len(local) * 8
    )
    assert list(figures(common, "most_common")) == [("0",)]
    usual = {str(some) for some, _ in Counter(row[2] for row in PEOPLE).most_common(2)}
    assert {answer for (answer,) in figures(top, "top")} == usual
    assert {answer for (answer,), value in figures(above, "above").items() if value == 1} == {
        "female",
        "male",
    }
    assert figures(north, "respondents") == {("North",): n}
    assert done["neighbours"] == neighbours
    assert done["rows"] == (n if neighbours == "bounded" else None)


def test_a_twin_that_drops_a_row_is_noticed(tmp_path: Path) -> None:
    """The comparison above sees one row less."""
    item = certain("table", questions=["sex", "children"])
    whole, less = (
        release_table(tmp_path, table(rows), plan(item, division="given"))["released"][0]
        for rows in (PEOPLE, PEOPLE[1:])
    )
    assert figures(whole, "reports") != figures(less, "reports")


def test_declared_categories_that_nobody_has_get_noise(tmp_path: Path) -> None:
    """A cell stays 0 with probability (1 - a) / (1 + a), a = exp(-0.1): all of 40 do with 1e-52."""
    columns = {"sex": {"categories": ["female", *(f"c{number}" for number in range(40))]}}
    document = {"format": 1, "columns": columns, "items": [{"kind": "histogram", "question": "sex"}]}
    data = b"sex\n" + b"female\n" * 50

    noisy = release_table(tmp_path, data, {**document, "epsilon": "0.1"})["released"][0]
    exact = release_table(tmp_path, data, {**document, "epsilon": 100})["released"][0]

    def of_nobody(entry: Mapping[str, Any]) -> list[int]:
        return [value for (answer,), value in figures(entry, "reports").items() if answer != "female"]

    assert len(of_nobody(noisy)) == 40
    assert any(of_nobody(noisy))
    assert not any(of_nobody(exact))


def test_intervals_hold_the_noise_and_nothing_else(tmp_path: Path) -> None:
    """A table stands for nobody else: the standard error of a share is that of its noise, exactly.

    Two cells with geometric noise of variance 2 a / (1 - a)**2, a = exp(-1): methods, section 3.
    """
    item = {"kind": "share", "question": "sex", "option": "female"}
    data = table(PEOPLE)
    (entry,) = release_table(tmp_path, data, plan(item, epsilon=1))["released"]

    (figure,) = (figure for figure in entry["figures"] if figure["statistic"] == "share")
    variance = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
    share = figure["value"]
    # The number of rows is the noisy one, within 40 of 300 but for a probability of 1e-14.
    expected = math.sqrt(variance * ((1 - share) ** 2 + share**2)) / len(PEOPLE)
    assert figure["standard_error"] == pytest.approx(expected, rel=0.16)
    assert figure["low"] < share < figure["high"]
    # Rows that stood for a larger population would have six times this error.
    assert figure["standard_error"] < math.sqrt(share * (1 - share) / len(PEOPLE)) / 3


@pytest.mark.parametrize(("neighbours", "changes"), [("unbounded", 1), ("bounded", 2)])
def test_noise_is_scaled_to_what_one_row_changes(neighbours: str, changes: int, tmp_path: Path) -> None:
    """Standard deviation sqrt(2 a) / (1 - a), a = exp(-epsilon / sensitivity): methods, section 3."""
    items = [{"kind": "histogram", "question": "sex"}, {"kind": "table", "questions": ["sex", "children"]}]
    done = release_table(tmp_path, table(PEOPLE), plan(*items, epsilon="1.4", neighbours=neighbours))
    a = math.exp(-0.7 / changes)
    for entry in done["released"]:
        errors = [f["standard_error"] for f in entry["figures"] if f["statistic"] == "reports"]
        assert errors
        assert errors == pytest.approx([math.sqrt(2 * a) / (1 - a)] * len(errors))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data,
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\r\n", b"\n"),
        lambda data: data + b"\r\n\r\n",
        lambda _: table(PEOPLE, delimiter=";"),
        lambda _: table(PEOPLE, delimiter="\t", quoting=csv.QUOTE_ALL),
        lambda _: table(PEOPLE, delimiter=";").replace(b"0.5", b"0,5").replace(b"2.5", b" 2,50 "),
    ],
)
def test_files_of_several_programs_say_the_same(change: Any, tmp_path: Path) -> None:
    items = [certain("histogram", question="hours"), certain("hierarchy")]
    document = plan(*items, division="given")
    usual, other = (
        release_table(tmp_path, data, document)["released"] for data in (table(PEOPLE), change(table(PEOPLE)))
    )
    assert [entry["figures"] for entry in usual] == [entry["figures"] for entry in other]


def test_costs_are_shown_and_nothing_is_released_without_yes(tmp_path: Path) -> None:
    document = plan({"kind": "count"}, {"kind": "histogram", "question": "sex"}, epsilon="0.5", people=300)

    looked = run(tmp_path, table(PEOPLE), document)
    asked = json.loads(run(tmp_path, table(PEOPLE), document, "--json").stdout)
    to_file = run(tmp_path, table(PEOPLE), document, "--output", str(tmp_path / "out.json"))

    assert "5.642" in looked.stdout  # sqrt(2 a) / (1 - a) with a = exp(-1/4)
    assert "Nothing was released" in looked.stderr
    assert "respondents" not in looked.stdout
    assert [item["epsilon"] for item in asked["plan"]] == [0.25, 0.25]
    assert "released" not in asked
    assert (to_file.exit_code, (tmp_path / "out.json").exists()) == (0, False)


def test_a_loss_is_divided_to_reach_an_error(tmp_path: Path) -> None:
    """A count with a loss of 1 is off by 1.357 root mean squared: sqrt(2 a) / (1 - a), a = exp(-1)."""
    document = plan({"kind": "count", "error": "1.3568"}, division="errors")
    done = release_table(tmp_path, table(PEOPLE), document)
    assert done["plan"][0]["epsilon"] == pytest.approx(1, rel=0.001)
    assert done["plan"][0]["error"] <= 1.3568
    assert (done["epsilon"], done["delta"]) == (done["plan"][0]["epsilon"], 0)


def test_noise_is_drawn_for_no_more_than_is_lost(tmp_path: Path) -> None:
    """The float nearest to 0.1 is more than 0.1. The one below is taken, as for surveys."""
    below = math.nextafter(0.1, 0)
    assert Fraction(below) < Fraction("0.1") < Fraction(0.1)
    item = {"kind": "histogram", "question": "sex"}
    (entry,) = release_table(tmp_path, table(PEOPLE), plan(item, epsilon="0.1"))["released"]
    assert entry["notes"]["noise_variance"] == geometric_variance(1, below) != geometric_variance(1, 0.1)


def test_disjoint_places_cost_the_most_of_them_and_replaced_rows_all_of_them(tmp_path: Path) -> None:
    items = [{"kind": "mean", "question": "children", "stratum": list(town)} for town in TOWNS]
    lost = {
        neighbours: release_table(tmp_path, table(PEOPLE), plan(*items, epsilon=3, neighbours=neighbours))[
            "epsilon"
        ]
        for neighbours in ("unbounded", "bounded")
    }
    assert lost == {"unbounded": 1, "bounded": 3}


def test_what_was_released_is_written_into_a_new_file_only(tmp_path: Path) -> None:
    file, document = tmp_path / "out.json", plan({"kind": "count"}, epsilon=1)
    done = run(tmp_path, table(PEOPLE), document, "--yes", "--output", str(file))
    assert (done.exit_code, done.stdout) == (0, "")
    first = file.read_bytes()
    assert json.loads(first)["released"][0]["what"] == {"kind": "count", "epsilon": "1"}

    again = run(tmp_path, table(PEOPLE), document, "--yes", "--output", str(file))
    assert (again.exit_code, file.read_bytes()) == (2, first)
    assert "--output must be a new file" in again.stderr
    nowhere = run(tmp_path, table(PEOPLE), document, "--yes", "--output", str(tmp_path / "no" / "out.json"))
    assert nowhere.exit_code == 2


def test_a_table_comes_through_a_pipe_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(plan(certain("count"), division="given")), "utf-8")
    done = moneda(
        NOWHERE,
        *("release", "--data", "-", "--plan", str(tmp_path / "plan.json"), "--yes", "--json"),
        text=table(PEOPLE).decode(),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["released"][0]["figures"][0]["value"] == len(PEOPLE)


def test_the_manual_has_a_table_and_a_plan_that_fit_together(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "releases.md").read_text("utf-8")
    document = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[1])
    (data,) = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    done = release_table(tmp_path, data.encode(), document)
    assert [entry["what"]["kind"] for entry in done["released"]] == [
        item["kind"] for item in document["items"]
    ]
    assert done["epsilon"] == 1


def declare_column(name: str, **column: Any) -> dict[str, Any]:
    """A plan whose columns are others."""
    return plan({"kind": "count"}, epsilon=1) | {"columns": {**COLUMNS, name: column}}


ROW = b"female,North,2,0.5,-,Alba\n"
HEAD = ",".join(HEADER).encode() + b"\n"
GOOD = plan({"kind": "count"}, epsilon=1)
BAD_DATA = {
    "category": (
        HEAD + ROW + ROW.replace(b"female", b"Female"),
        'data[3].sex: must be one of female, male, other, ""; it is Female',
    ),
    "number": (
        HEAD + ROW.replace(b",2,", b",two,"),
        "data[2].children: must be from 0 to 4 in steps of 1; it is two",
    ),
    "large": (
        HEAD + ROW.replace(b",2,", b",5,"),
        "data[2].children: must be from 0 to 4 in steps of 1; it is 5",
    ),
    "off the grid": (
        HEAD + ROW.replace(b"0.5", b"0.25"),
        "data[2].hours: must be from -1 to 3 in steps of 0.5; it is 0.25",
    ),
    "no number": (
        HEAD + ROW.replace(b"0.5", b""),
        'data[2].hours: must be from -1 to 3 in steps of 0.5; it is ""',
    ),
    "underscore": (
        HEAD + ROW.replace(b",2,", b",0_2,"),
        "data[2].children: must be from 0 to 4 in steps of 1; it is 0_2",
    ),
    "not a number": (HEAD + ROW.replace(b"0.5", b"nan"), "it is nan"),
    "endless": (HEAD + ROW.replace(b"0.5", b"1e999999999"), "it is 1e999999999"),
    "infinite": (HEAD + ROW.replace(b"0.5", b"-inf"), "it is -inf"),
    "comma": (HEAD + ROW.replace(b"0.5", b'"0,5"'), "it is 0,5"),
    "place": (
        HEAD + ROW.replace(b"Alba", b"Cala"),
        "data[2].state, town: must be one of the declared leaves; it is North > Cala",
    ),
    "no place": (HEAD + ROW.replace(b"Alba", b""), "must be one of the declared leaves; it is North"),
    "fewer cells": (HEAD + ROW + b"female,North\n", "data[3]: must have 6 cells; it has 2"),
    "empty line": (HEAD + ROW + b"\n" + ROW, "data[3]: must have 6 cells; it has 0"),
    "open quote": (HEAD + ROW.replace(b"-", b'"x'), "data: must be CSV; it is not from row"),
    "no column": (
        HEAD.replace(b"sex", b"Sex") + ROW,
        "a column for each name that is declared, also sex; it has Sex, state",
    ),
    "column twice": (HEAD.replace(b"remark", b"sex") + ROW, "data[1]: must be unique; sex stands twice"),
    "nothing": (b"", "data: must have a column for each name"),
    "UTF-16": (table(PEOPLE).decode().encode("utf-16"), "data: must be UTF-8; line 1 is not, at byte 0"),
    "Latin 1": (HEAD + ROW + ROW.replace(b"-", b"\xf1"), "data: must be UTF-8; line 3 is not, at byte 82"),
    "one long line": (bytes(100_000), "data: must have rows of at most 65536 bytes"),
}
BAD_PLANS: dict[str, tuple[object, str]] = {
    "no columns": ({"format": 1, "items": [{"kind": "count"}], "epsilon": 1}, "columns: is required"),
    "empty columns": ({**GOOD, "columns": {}}, "columns: must not be empty"),
    "list": ([], "must be an object"),
    "neighbours": (
        {**GOOD, "neighbours": "near"},
        "neighbours: must be one of unbounded, bounded; it is near",
    ),
    "separator": ({**GOOD, "separator": "x"}, "separator: must be one of"),
    "other separator": ({**GOOD, "separator": ";"}, "a column for each name that is declared"),
    "two forms": (
        declare_column("x", categories=["a", "b"], low=1),
        "columns.x: must have exactly one of categories, low, path; it has categories, low",
    ),
    "no form": (declare_column("x"), "columns.x: must have exactly one of categories, low, path; it has -"),
    "more": (declare_column("x", categories=["a", "b"], colour=1), "columns.x.colour: is not known here"),
    "bins of texts": (
        declare_column("x", categories=["a", "b"], bins=2),
        "columns.x.bins: must not be given together with categories",
    ),
    "one category": (
        declare_column("x", categories=["a"]),
        "columns.x.categories: must have at least 2 entries; it has 1",
    ),
    "category twice": (
        declare_column("x", categories=["a", "a "]),
        "columns.x.categories[1]: must be unique; a stands twice",
    ),
    "no high": (declare_column("x", low=1), "columns.x.high: is required"),
    "high": (declare_column("x", low=1, high=1), "columns.x.high: must be more than 1; it is 1"),
    "step": (
        declare_column("x", low=0, high=1, step=0.3),
        "columns.x.step: must divide the range from 0 to 1 into 1 to 1000000 steps; it is 0.3",
    ),
    "small step": (declare_column("x", low=0, high=1, step=1e-9), "columns.x.step: must divide"),
    "bins": (declare_column("x", low=0, high=3, bins=5), "columns.x.bins: must be from 2 to 4; it is 5"),
    "no leaves": (declare_column("x", path=["a"]), "columns.x.leaves: is required"),
    "second path": (
        declare_column("x", path=["a"], leaves=[["b"]]),
        "columns.x: must be the only column with a path",
    ),
    "deep leaf": (
        declare_column("place", path=["state"], leaves=[["a", "b"]]),
        "columns.place.leaves[0]: must have at most 1 entries; it has 2",
    ),
    "inner leaf": (
        declare_column("place", path=["state", "town"], leaves=[["a"], ["a", "b"]]),
        "columns.place.leaves[0]: must be one of the smallest places; others lie inside a",
    ),
    "leaf twice": (
        declare_column("place", path=["state"], leaves=[["a"], ["a"]]),
        "columns.place.leaves[1]: must be unique; a stands twice",
    ),
    "name": (
        declare_column(" x", low=0, high=1),
        "columns. x: must not be empty, nor begin or end with a space",
    ),
    "shuffled": (
        plan({"kind": "shuffled"}),
        "items[0].kind: must be something else; the rows of this table were not randomised",
    ),
    "unknown column": (
        plan({"kind": "mean", "question": "age"}, epsilon=1),
        "items[0].questions: must be one of sex, children, hours; it is age",
    ),
    "no number": (
        plan({"kind": "mean", "question": "sex"}, epsilon=1),
        "must be a number or a scale; sex is not",
    ),
    "no loss": (plan({"kind": "count"}), "epsilon: is required"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_what_was_not_declared_is_named_with_its_row(name: str, tmp_path: Path) -> None:
    data, said = BAD_DATA[name]
    refused = run(tmp_path, data, GOOD, "--yes", "--output", str(tmp_path / "out.json"))
    assert (refused.exit_code, refused.stdout, (tmp_path / "out.json").exists()) == (2, "", False)
    assert said in refused.stderr


ITEMS = [
    {"kind": "count"},
    {"kind": "share", "questions": ["sex"], "option": "female"},
    {"kind": "mean", "questions": ["children"]},
    {"kind": "sum", "questions": ["children"]},
    {"kind": "variance", "questions": ["children"]},
    {"kind": "quantiles", "questions": ["children"], "levels": [0.5]},
    {"kind": "table", "questions": ["sex", "children"]},
    {"kind": "hierarchy"},
    {"kind": "most_common", "question": "sex"},
    {"kind": "top", "question": "sex", "how_many": 2},
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["kind"])
def test_nobody_is_as_private_as_somebody(item: dict[str, Any], tmp_path: Path) -> None:
    document = plan(item, epsilon=1)
    assert release_table(tmp_path, HEAD, document)["released"][0]["figures"]
    refused = run(tmp_path, HEAD, document | {"neighbours": "bounded"}, "--yes")
    assert (refused.exit_code, "data: must have a row for each person" in refused.stderr) == (2, True)


@pytest.mark.parametrize("name", BAD_PLANS)
def test_what_is_wrong_with_a_plan_is_named(name: str, tmp_path: Path) -> None:
    document, said = BAD_PLANS[name]
    refused = run(tmp_path, table(PEOPLE), document, "--yes")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert said in refused.stderr


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(table(PEOPLE))
    data = ("--data", str(tmp_path / "data.csv"))
    for arguments, said in [
        ((), "either SLUG or --data must be given"),
        (("slug", *data), "either SLUG or --data must be given"),
        (data, "--data needs --plan; it is missing"),
        ((*data, "--budget-epsilon", "1"), "--budget-epsilon must not be given with --data"),
        ((*data, "--neighbours", "bounded"), "--neighbours must not be given with --data"),
        (("slug", "--output", "x.json"), "--output needs --data"),
    ]:
        refused = CliRunner(env={"DATABASE_URL": NOWHERE}).invoke(main, ["release", *arguments])
        assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize("option", ["--output", "--ledger"])
def test_no_file_is_called_as_standard_output_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """Nor is a pipe advised, which neither takes."""
    monkeypatch.chdir(tmp_path)
    document = plan(certain("count"), division="given")
    budget = ["--budget-epsilon", "100"] if option == "--ledger" else []
    done = run(tmp_path, table(PEOPLE), document, "--yes", *budget, option, "-")
    assert done.exit_code == 2
    assert done.stderr.strip().endswith(f"{option} must be a new file that can be written; '-' is not")
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "plan.json"}
