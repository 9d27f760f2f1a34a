"""Models of data from elsewhere: `analyse`, its formats and the page say what each finds in which rows."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.inputs.schema import schema
from server.reports.elsewhere.models import MODELS

UNKNOWN: dict[str, Any] = {
    "model": "unknown_prevalence",
    "name": "cheated",
    "text": "Have you ever cheated?",
    "report": {"header": "Q1", "cells": {"1": "yes", "2": "no"}},
    "group": "form",
    "groups": [{"cell": "A", "truth": 0.75}, {"cell": "B", "truth": 0.25}],
}
QUESTION = {
    "name": "q1",
    "kind": "yes_no",
    "text": "Q1?",
    "design": {"mechanism": "kuk", "if_yes": 0.8, "if_no": 0.1},
}


def rows(header: str, counts: dict[str, int]) -> str:
    return "\n".join([header, *(row for row, times in counts.items() for _ in range(times))]) + "\n"


TWO_FORMS = rows("form,Q1", {"A,2": 740, "A,1": 260, "B,2": 560, "B,1": 440})


def analyse(folder: Path, models: list[dict[str, Any]], data: str, *options: str, **more: Any) -> Result:
    (folder / "study.json").write_text(json.dumps({"format": 1, "models": models, **more}), "utf-8")
    (folder / "data.csv").write_text(data, "utf-8")
    command = ("analyse", str(folder / "data.csv"), "--study", str(folder / "study.json"), *options)
    return CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"}).invoke(main, command)


def find(folder: Path, model: dict[str, Any], data: str, **more: Any) -> dict[str, Any]:
    """What the only model of a study found, as JSON."""
    done = analyse(folder, [model], data, "--json", **more)
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["models"]
    assert isinstance(found, dict)
    return found


def numbers(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found["estimates"]}


def test_every_model_has_a_name_in_the_schema_and_members_there() -> None:
    rules = schema("elsewhere")
    items = rules["properties"]["models"]["items"]
    assert set(items["properties"]["model"]["enum"]) == set(MODELS)
    branches = {each["if"]["properties"]["model"]["const"]: each["then"]["$ref"] for each in items["allOf"]}
    assert branches == {name: f"#/$defs/{name}" for name in MODELS}
    for name in MODELS:
        members = rules["$defs"][name]
        assert members["properties"]["model"] == {"const": name}
        assert {"model", "name", "text"} <= set(members["properties"])
        assert members["additionalProperties"] is False


def test_an_unknown_prevalence_is_the_solution_of_two_equations(tmp_path: Path) -> None:
    """Of λ = t π + (1 - t) φ in each group (Greenberg et al. 1969), with variances λ (1 - λ) / (n - 1)."""
    found = find(tmp_path, UNKNOWN, TWO_FORMS)
    system = np.array([[0.75, 0.25], [0.25, 0.75]])
    yes = np.array([0.26, 0.44])
    inverse = np.linalg.inv(system)
    said = numbers(found)
    for name, value, error in zip(
        ("share", "prevalence"),
        np.linalg.solve(system, yes),
        np.sqrt(inverse**2 @ (yes * (1 - yes) / 999)),
        strict=True,
    ):
        assert said[name]["value"] == pytest.approx(value, abs=1e-12)
        assert said[name]["standard_error"] == pytest.approx(error, abs=1e-12)
        low, high = said[name]["interval"]
        assert low < value < high
    assert (found["rows"], found["left_out"]) == (2000, 0)
    assert found["groups"] == [{"cell": "A", "rows": 1000}, {"cell": "B", "rows": 1000}]
    # The twin whose chances are of the other group says something else.
    other = [{"cell": "B", "truth": 0.75}, {"cell": "A", "truth": 0.25}]
    assert (
        abs(numbers(find(tmp_path, {**UNKNOWN, "groups": other}, TWO_FORMS))["share"]["value"] - 0.17) > 0.1
    )


def test_rows_with_an_empty_cell_or_of_another_group_are_left_out_and_counted(tmp_path: Path) -> None:
    more = TWO_FORMS + "A,\n" * 3 + ",1\n" * 2 + "C,1\n" * 7 + "C,\n"
    found = find(tmp_path, {**UNKNOWN, "leave_out": ["C"]}, more)
    assert (found["rows"], found["left_out"]) == (2000, 13)
    assert found["estimates"] == find(tmp_path, UNKNOWN, TWO_FORMS)["estimates"]


def test_an_estimate_beyond_what_is_possible_is_kept_and_remarked_on(tmp_path: Path) -> None:
    data = rows("form,Q1", {"A,2": 95, "A,1": 5, "B,2": 60, "B,1": 40})
    share = numbers(find(tmp_path, UNKNOWN, data))["share"]
    assert share["value"] == pytest.approx(-0.125)
    assert share["possible"] is False
    assert "out of its range" in analyse(tmp_path, [UNKNOWN], data).stdout
    assert numbers(find(tmp_path, UNKNOWN, TWO_FORMS))["share"]["possible"] is True
    assert "out of its range" not in analyse(tmp_path, [UNKNOWN], TWO_FORMS).stdout


def test_a_model_stands_beside_questions_and_may_read_the_same_column(tmp_path: Path) -> None:
    survey = {"questions": [QUESTION]}
    columns = [{"name": "q1", "header": "Q1", "cells": {"1": "yes", "2": "no"}}]
    done = analyse(tmp_path, [UNKNOWN], TWO_FORMS, "--json", survey=survey, columns=columns)
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["questions"][0]["estimate"]["shares"][1] == pytest.approx((0.35 - 0.1) / 0.7, abs=1e-8)
    assert document["models"][0]["estimates"] == find(tmp_path, UNKNOWN, TWO_FORMS)["estimates"]
    printed = analyse(tmp_path, [UNKNOWN], TWO_FORMS, survey=survey, columns=columns).stdout
    assert "\nq1 " in printed
    assert "cheated: Unrelated question of unknown prevalence" in printed


def test_the_terminal_and_every_format_say_the_same(tmp_path: Path) -> None:
    title = {"title": "A study on paper", "language": "en"}
    printed = analyse(tmp_path, [UNKNOWN], TWO_FORMS, survey=title).stdout
    assert printed.startswith("A study on paper (2000 rows, collected elsewhere)")
    assert "0.1700    0.0222          0.1277 to 0.2148" in printed
    assert "Rows: 2000 used (A 1000, B 1000), 0 left out." in printed
    assert MODELS["unknown_prevalence"].assumes in printed
    for ending in ("html", "json", "xlsx", "pdf"):
        target = tmp_path / f"report.{ending}"
        done = analyse(tmp_path, [UNKNOWN], TWO_FORMS, "--output", str(target), survey=title)
        assert done.exit_code == 0, done.output
    page = (tmp_path / "report.html").read_text("utf-8")
    for said in ("Have you ever cheated?", "17.0", "12.8", "21.5", MODELS["unknown_prevalence"].assumes):
        assert said in page
    assert "Codebook" not in page  # no question of a design is in it
    (model,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["models"]
    assert model == find(tmp_path, UNKNOWN, TWO_FORMS)
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "report.xlsx").read_bytes()))
    (sheet,) = (sheet for sheet in book if sheet.title == "cheated estimates of the model")
    assert 0.17 in [round(cell, 9) for row in sheet.values for cell in row if isinstance(cell, float)]


REFUSED = {
    "of another model": ({"model": "guess"}, {}, "models[0].model: must be one of"),
    "without a group": ({"group": None}, {}, "models[0].group: is required"),
    "another member": ({"prior": 1}, {}, "models[0].prior: is not known here; allowed: model, name, text"),
    "a chance above 1": (
        {"groups": [{"cell": "A", "truth": 1.5}, {"cell": "B", "truth": 0.2}]},
        {},
        "models[0].groups[0].truth: must be from 0 to 1; it is 1.5",
    ),
    "equal chances": (
        {"groups": [{"cell": "A", "truth": 0.5}, {"cell": "B", "truth": 0.5}]},
        {},
        "models[0].groups[1].truth: must differ from that of the other group; both are 0.5",
    ),
    "a group twice": (
        {"groups": [{"cell": "A", "truth": 0.5}, {"cell": " A ", "truth": 0.2}]},
        {},
        "models[0].groups: must be unique; A stands twice",
    ),
    "one column for both": ({"group": "Q1"}, {}, "models[0]: must be unique; Q1 stands twice"),
    "an answer that is none": (
        {"report": {"header": "Q1", "cells": {"1": "perhaps"}}},
        {},
        "models[0].report.cells.1: must be one of 0, 1, no, yes; it is perhaps",
    ),
    "a column that is no text": ({"report": 3}, {}, "models[0].report: must be text, or an object; it is 3"),
    "no such column": ({"report": "Q9"}, {}, "also Q9; it has form, Q1"),
    "a group of nobody": (
        {"groups": [{"cell": "A", "truth": 0.5}, {"cell": "Z", "truth": 0.2}], "leave_out": ["B"]},
        {},
        "models[0].groups[1].cell: must stand in a row that has all cells of the model; Z does not",
    ),
    "an undeclared group": (
        {"groups": [{"cell": "A", "truth": 0.5}, {"cell": "Z", "truth": 0.2}]},
        {},
        "data[1002].form: must be one of A, Z; it is B",
    ),
}


@pytest.mark.parametrize(("changes", "more", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_by_its_place(
    tmp_path: Path, changes: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    model = {name: value for name, value in {**UNKNOWN, **changes}.items() if value is not None}
    done = analyse(tmp_path, [model], TWO_FORMS, **more)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split()), done.output


def test_no_model_can_be_explained(tmp_path: Path) -> None:
    done = analyse(tmp_path, [UNKNOWN], TWO_FORMS, "--explain", "cheated", "--by", "form")
    assert done.exit_code == 2
    assert "explain: needs a question with a design; the study file has none" in done.output


def test_no_row_and_no_name_twice_are_refused(tmp_path: Path) -> None:
    done = analyse(tmp_path, [UNKNOWN], "form,Q1\nA,\n,1\n")
    assert (
        "models[0]: must have rows with a cell in each of its columns; no row has all of form, Q1"
        in done.output
    )
    done = analyse(tmp_path, [UNKNOWN, UNKNOWN], TWO_FORMS)
    assert "models: must be unique; cheated stands twice" in done.output


STRATA = [{"path": ["North"], "population": 9}, {"path": ["South"], "population": 1}]
BY_STRATUM = {"North,A,2": 90, "North,A,1": 60, "North,B,2": 80, "North,B,1": 70} | {
    "South,A,2": 500,
    "South,A,1": 200,
    "South,B,2": 450,
    "South,B,1": 150,
}


@pytest.mark.parametrize(
    "ways",
    [
        {"weights": "w"},
        {"sampling": {"weights": "w"}},
        {"sampling": {"weights": "w", "replicates": {"make": "jackknife"}}},
        {"strata": [{"path": ["S"], "population": 300}, {"path": ["T"], "population": 100}]},
        {},
    ],
    ids=["weights", "sampling", "replicates", "populations", "every row once"],
)
def test_rows_of_which_nobody_knows_what_they_count_are_in_no_model(
    tmp_path: Path, ways: dict[str, Any]
) -> None:
    """As without these rows; where every row counts once, those that miss nothing of the model are in it."""
    people = [(1 + k % 3 % 2, "AB"[k % 2], 1 + k % 5 % 2, "ST"[k % 7 % 2], k % 60) for k in range(200)]
    lines = [",".join(map(str, person)) for person in people]
    stated = {"covariates": [{"name": "age", "low": 0, "high": 99}], "missing": ["-9"], **ways}
    header = "Q1,form,w,stratum,age\n"
    missing = [f"{1 + k % 2},{'AB'[k % 2]},1,S,-9" for k in range(9)]
    mixed = [*missing[:4], *lines[:50], *missing[4:], *lines[50:]]
    found = find(tmp_path, UNKNOWN, header + "\n".join(mixed) + "\n", **stated)
    without = find(tmp_path, UNKNOWN, header + "\n".join(lines) + "\n", **stated)
    assert (found["rows"], found["left_out"]) == ((200, 9) if ways else (209, 0))
    assert (found["estimates"] == without["estimates"]) == bool(ways)


def test_strata_with_populations_weigh_models_as_weights_within_strata_do(tmp_path: Path) -> None:
    """As with the weights that follow from populations, in strata; the twin lets every row count once."""
    plain = "stratum,form,Q1"
    found = find(tmp_path, UNKNOWN, rows(plain, {**BY_STRATUM, ",A,1": 9}), strata=STRATA)
    assert (found["rows"], found["left_out"]) == (1600, 9)
    weights = {"North": 0.9 / 300, "South": 0.1 / 1300}
    weighted = rows(f"{plain},w", {f"{row},{weights[row[:5]]!r}": n for row, n in BY_STRATUM.items()})
    sampling = {"weights": "w", "strata": "stratum"}
    expected = numbers(find(tmp_path, UNKNOWN, weighted, sampling=sampling))
    for name, own in numbers(found).items():
        assert own["value"] == pytest.approx(expected[name]["value"], rel=1e-9)
        assert own["standard_error"] == pytest.approx(expected[name]["standard_error"], rel=1e-9)
        assert own["interval"] == pytest.approx(expected[name]["interval"], rel=1e-9)
    twin = numbers(find(tmp_path, UNKNOWN, rows(plain, BY_STRATUM)))["share"]
    assert abs(twin["value"] - expected["share"]["value"]) > 0.02
