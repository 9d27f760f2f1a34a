"""`python -m server analyse`: what was collected elsewhere is estimated as if it had been collected here."""

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pypdf
import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import every_kind, factories

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"
"""A database that cannot be made: what comes from elsewhere needs none, and leaves nothing in one."""


def run(url: str, *arguments: str) -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, arguments)


def read_output(url: str, *arguments: str) -> bytes:
    done = run(url, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


def analyse_study(folder: Path, study: Mapping[str, Any], data: str, *options: str) -> Result:
    (folder / "study.json").write_text(json.dumps(study), "utf-8")
    (folder / "data.csv").write_text(data, "utf-8")
    return run(NOWHERE, "analyse", str(folder / "data.csv"), "--study", str(folder / "study.json"), *options)


def read_analysis(folder: Path, study: Mapping[str, Any], data: str) -> dict[str, Any]:
    done = analyse_study(folder, study, data, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def question(design: Mapping[str, Any], name: str = "cheated", **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "yes_no", "text": f"{name}?", "design": design, **more}


def study(*questions: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": 1, "survey": {"questions": list(questions)}, **more}


COIN = question({"mechanism": "coin_flip", "gamma": 0.25})


def column(reports: Mapping[str, int], header: str = "cheated") -> str:
    return "\n".join([header, *(text for text, times in reports.items() for _ in range(times))]) + "\n"


@pytest.mark.parametrize("second", [False, True], ids=["one version", "two versions"])
def test_what_was_collected_here_says_the_same_from_its_file(
    new_database: NewDatabase, tmp_path: Path, second: bool
) -> None:
    """Every number of `report --json`, digit for digit: every kind of question, strata by population, versions."""
    url, rng = new_database(True), np.random.default_rng(3)
    documents = [every_kind.document()]
    if second:
        documents.append(every_kind.document())
        documents[1]["questions"][0]["design"] = {"mechanism": "coin_flip", "gamma": 0.2}
    survey = None
    for document in documents:
        survey = factories.publish(url, document, survey.slug if survey else "")
        if document is documents[0]:
            links = factories.plant(url, survey.slug, "Spain > =Ávila, 700\nSpain > Soria, 200\nPeru, 300")
        widths = [design.weights.shape[1] for design in parse_definition(document).designs]
        for link in ("", links["Spain > =Ávila"], links["Spain > Soria"], links["Peru"]):
            rows = [([int(rng.integers(width)) for width in widths], 1) for _ in range(40)]
            factories.store(url, survey, rows, link)
    assert survey is not None
    here = json.loads(read_output(url, "report", survey.slug, "--json"))
    with zipfile.ZipFile(
        io.BytesIO(read_output(url, "report", survey.slug, "--format", "microdata"))
    ) as packed:
        (tmp_path / "responses.csv").write_bytes(packed.read("responses.csv"))
    (tmp_path / "study.json").write_bytes(read_output(url, "survey", "study-file", survey.slug))
    arguments = ("analyse", str(tmp_path / "responses.csv"), "--study", str(tmp_path / "study.json"))
    elsewhere = json.loads(read_output(NOWHERE, *arguments, "--json"))
    assert elsewhere["questions"] == here["questions"]
    assert elsewhere["n"] == here["n"] == 160 * len(documents)
    # The table of the terminal has the same lines, too.
    table = read_output(url, "report", survey.slug).decode().split("\nWeighted")[0]
    assert table in read_output(NOWHERE, *arguments).decode()


ALWAYS_YES = {
    "mangat": ({"mechanism": "mangat", "truth": 0.6}, 0.4),
    "triangular": ({"mechanism": "triangular", "prevalence": 0.25}, 0.25),
    "forced yes": ({"mechanism": "forced_yes", "yes": 1 / 6}, 1 / 6),
    "as chances": ({"mechanism": "matrix", "chances": [[0.7, 0.3], [0, 1]]}, 0.3),
}


@pytest.mark.parametrize(("design", "if_no"), ALWAYS_YES.values(), ids=ALWAYS_YES)
def test_designs_that_exclude_an_answer_are_estimated_and_said_to_protect_nothing(
    tmp_path: Path, design: dict[str, Any], if_no: float
) -> None:
    """(λ − p) / (1 − p), with the standard error of Mangat (1994), whose p is 1 − if_no, but n − 1 in it."""
    (entry,) = read_analysis(tmp_path, study(question(design)), column({"yes": 260, "no": 240}))["questions"]
    share = (0.52 - if_no) / (1 - if_no)
    error = math.sqrt(0.52 * 0.48 / 499) / (1 - if_no)
    assert entry["estimate"]["shares"][1] == pytest.approx(share, abs=1e-8)
    assert entry["estimate"]["standard_errors"][1] == pytest.approx(error, abs=1e-8)
    low, high = entry["estimate"]["intervals"][1]
    assert low < share < high
    assert entry["epsilon"] is None
    # The twin that takes the design for two-sided is found out.
    twin = study(question({"mechanism": "kuk", "if_yes": 0.9, "if_no": if_no}))
    (other,) = read_analysis(tmp_path, twin, column({"yes": 260, "no": 240}))["questions"]
    assert abs(other["estimate"]["shares"][1] - share) > 0.005


def test_rows_count_as_much_as_their_weights(tmp_path: Path) -> None:
    """The weighted share of the rows' unbiased guesses 2y - 1/2, by hand."""
    rows = [("yes", 1.0)] * 40 + [("no", 1.0)] * 60 + [("yes", 2.5)] * 90 + [("no", 2.5)] * 60
    data = "cheated,w\n" + "".join(f"{answer},{weight}\n" for answer, weight in rows)
    document = read_analysis(tmp_path, study(COIN, weights="w"), data)
    (entry,) = document["questions"]
    guesses = np.array([2 * (answer == "yes") - 0.5 for answer, _ in rows])
    weights = np.array([weight for _, weight in rows])
    assert entry["estimate"]["shares"][1] == pytest.approx(
        float(guesses @ weights / weights.sum()), abs=1e-12
    )
    assert entry["unweighted"]["estimate"]["shares"][1] == pytest.approx(float(guesses.mean()), abs=1e-12)
    assert (document["weights"], entry["weighting"]) == ("w", "by the weights of the rows")
    printed = analyse_study(tmp_path, study(COIN, weights="w"), data).stdout
    assert "Weighted: every row counts as much as its weight." in printed
    assert "population" not in printed


def test_reports_that_are_no_answers_are_counted_as_none(tmp_path: Path) -> None:
    """Of two truths and three reports, the second report is not "yes"."""
    three = study(question({"mechanism": "matrix", "chances": [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]}))
    data = column({"0": 20, "1": 10, "2": 30})
    printed = analyse_study(tmp_path, three, data).stdout
    assert re.search(r"cheated +yes +60 +- +0\.6667", printed)
    assert "Reported: left out where reports are others than answers." in printed
    page = tmp_path / "report.html"
    assert analyse_study(tmp_path, three, data, "--output", str(page)).exit_code == 0
    assert "“Reported” is left out where reports are others than answers." in page.read_text()
    assert "16.7 %" not in page.read_text()
    two = analyse_study(tmp_path, study(COIN), column({"0": 50, "1": 10})).stdout
    assert re.search(r"cheated +yes +60 +10 ", two)
    assert "Reported: left out" not in two


def test_columns_may_have_other_names_and_other_texts(tmp_path: Path) -> None:
    stated = {"name": "cheated", "header": "Q7 a", "cells": {"1": "yes", "2": "no"}}
    plain = read_analysis(tmp_path, study(COIN), column({"yes": 30, "no": 50}))
    assert (
        read_analysis(tmp_path, study(COIN, columns=[stated]), column({"1": 30, "2": 50}, "Q7 a"))[
            "questions"
        ]
        == plain["questions"]
    )


def test_rows_in_which_something_is_missing_are_left_out_and_counted(tmp_path: Path) -> None:
    """As if they were not in the table; a text that a column declares keeps its meaning, and models go by their own."""
    model: dict[str, Any] = {
        "model": "item_sum",
        "name": "hours",
        "report": "h",
        "low": -100,
        "high": 100,
        "group": "form",
    }
    model["groups"] = [{"cell": "A", "sensitive": False}, {"cell": "B", "sensitive": True}]
    stated = study(
        COIN, missing=["-99", ""], models=[model], covariates=[{"name": "age", "low": -100, "high": 99}]
    )
    stated["covariates"].append({"name": "sex", "categories": ["f", "-99"]})
    whole = ["yes,20,f,A,1", "no,30,-99,A,2", "no,41,f,B,4", "yes,32,-99,B,6"]
    lacking = ["-99,20,f,A,3", "no, -99 ,f,B,5", ",20,f,A,-99", "no,,f,B,8"]
    header = "cheated,age,sex,form,h"
    found = analyse_study(tmp_path, stated, "\n".join([header, *whole, *lacking, ""]), "--json")
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert (document["n"], document["left_out"]) == (4, 4)
    (hours,) = document["models"]
    assert (hours["rows"], hours["left_out"]) == (7, 1)
    alone = json.loads(analyse_study(tmp_path, stated, "\n".join([header, *whole, ""]), "--json").stdout)
    assert (alone["questions"], alone["left_out"]) == (document["questions"], 0)
    printed = analyse_study(
        tmp_path, stated, "\n".join([header, *whole, *lacking, ""]), "--output", str(tmp_path / "r.html")
    )
    assert "4 of 8 rows were left out, as something in them is missing." in printed.stdout
    assert "Left out, because something in them is missing: 4 of 8 rows." in (tmp_path / "r.html").read_text(
        "utf-8"
    )
    # The twin: what was not said to be missing is refused, and read as a number where it could be one.
    stated["missing"] = ["?"]
    assert (
        "data[6].cheated: must be one of"
        in analyse_study(tmp_path, stated, "\n".join([header, *whole, *lacking])).stderr
    )
    assert (
        "must have a row in which nothing is missing"
        in analyse_study(tmp_path, stated, f"{header}\n?,1,f,A,1\n").stderr
    )


def test_an_empty_cell_is_missing_where_the_version_of_its_row_has_the_column(tmp_path: Path) -> None:
    other = question({"mechanism": "coin_flip", "gamma": 0.4}, "stole")
    versions = [
        {"number": 2, "survey": {"questions": [COIN, other]}},
        {"number": 1, "survey": {"questions": [COIN]}},
    ]
    data = "version,cheated,stole\n" + "2,yes,no\n2,no,\n1,no,\n1,,\n" * 5
    document = read_analysis(tmp_path, {"format": 1, "missing": [""], "versions": versions}, data)
    assert (document["n"], document["left_out"]) == (10, 10)
    # The row of the table is named, and not that of those that are left.
    wrong = analyse_study(tmp_path, {"format": 1, "missing": [""], "versions": versions}, data + "1,no,no\n")
    assert "data[22].stole: must fit version 1" in wrong.stderr


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("ending", ["html", "pdf", "xlsx"])
def test_the_report_is_written_as_files_and_says_where_the_data_come_from(
    tmp_path: Path, ending: str, language: str
) -> None:
    file = tmp_path / f"report.{ending}"
    data = "cheated,sex\n" + "yes,f\nyes,f\nyes,f\nno,f\nyes,m\nno,m\n" * 60
    entry = question({"mechanism": "mangat", "truth": 0.6})
    stated = study(entry, covariates=[{"name": "sex", "categories": ["f", "m"]}])
    options = ("--explain", "cheated", "--by", "sex", "--output", str(file), "--language", language)
    done = analyse_study(tmp_path, stated, data, *options)
    assert done.exit_code == 0, done.output
    if ending == "pdf":
        text = " ".join(page.extract_text() for page in pypdf.PdfReader(file).pages)
    elif ending == "xlsx":
        sheets = openpyxl.load_workbook(file)
        text = " ".join(
            str(cell) for sheet in sheets for row in sheet.iter_rows(values_only=True) for cell in row
        )
    else:
        text = file.read_text("utf-8")
    said = {
        "en": ("collected elsewhere", "times the odds"),
        "es": ("se recogieron en otro lugar", "veces la razón"),
    }
    text = " ".join(text.split())
    for words in said[language]:
        assert words in text, text
    assert "browser" not in text
    assert "∞" in text


def test_another_ending_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = analyse_study(tmp_path, study(COIN), GOOD, "--output", str(tmp_path / "report.doc"))
    assert done.exit_code == 2
    assert "--output must end in one of .html, .pdf, .xlsx" in done.stderr


GOOD = column({"yes": 3, "no": 5})
WITH = {"covariates": [{"name": "age", "low": 18, "high": 99}, {"name": "sex", "categories": ["f", "m"]}]}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "another text": (
        study(COIN),
        "cheated\nyes\nmaybe\n",
        "data[3].cheated: must be one of 0, 1, no, yes; it is maybe",
    ),
    "a formula": (
        study(COIN),
        "cheated\n=1+1\n",
        "data[2].cheated: must be one of 0, 1, no, yes; it is =1+1",
    ),
    "an empty cell": (
        study(COIN),
        "cheated,x\n,1\n",
        'data[2].cheated: must be one of 0, 1, no, yes; it is ""',
    ),
    "no such column": (
        study(COIN),
        "stole\nyes\n",
        "data: must have a column for each name that is declared, also cheated",
    ),
    "too many cells": (study(COIN), "cheated\nyes,1\n", "data[2]: must have 1 cells; it has 2"),
    "rows as on a very old Macintosh": (
        study(COIN),
        "cheated\ryes\rno\r",
        "data: must have rows that end with a line feed (LF, or CR LF); they end with CR alone",
    ),
    "an empty file": (study(COIN), "", "for each name that is declared, also cheated; it has -"),
    "a workbook": (
        study(COIN),
        "PK\x03\x04" + "\0" * 40,
        "data: must be a CSV file; it is a workbook (.xlsx) or another ZIP file",
    ),
    "many such rows": (study(COIN), "cheated\r" + "yes\r" * 20_000, "they end with CR alone"),
    "nobody": (study(COIN), "cheated\n", "data: must have a row for each person"),
    "a number out of range": (
        study(COIN, **WITH),
        "cheated,age,sex\nyes,17,f\n",
        "data[2].age: must be a number from 18 to 99; it is 17",
    ),
    "a category that was not declared": (
        study(COIN, **WITH),
        "cheated,age,sex\nyes,18,x\n",
        "data[2].sex: must be one of f, m; it is x",
    ),
    "a weight of nothing": (
        study(COIN, weights="w"),
        "cheated,w\nyes,0\n",
        "data[2].w: must be a number from 1e-06 to 1e+06; it is 0",
    ),
    "weights that are alone": (
        study(COIN, weights="w"),
        "cheated,w\nyes,1\nno,2\n",
        "data.w: must hold each number in two rows",
    ),
    "no design": (
        study({"name": "cheated", "kind": "yes_no", "text": "?"}),
        GOOD,
        "survey.questions[0].design: is required",
    ),
    "a chance that is none": (
        study(question({"mechanism": "mangat", "truth": 2})),
        GOOD,
        "survey.questions[0].design.truth: must be from 0.001 to 0.999; it is 2",
    ),
    "a matrix that tells nothing": (
        study(question({"mechanism": "matrix", "chances": [[0.5, 0.5], [0.5, 0.5]]})),
        GOOD,
        "survey.questions[0].design: must give reports that tell the answers apart",
    ),
    "a matrix whose rows do not sum to 1": (
        study(question({"mechanism": "matrix", "chances": [[0.5, 0.4], [0.25, 0.75]]})),
        GOOD,
        "survey.questions[0].design.chances: must be the chances of a design: row 0",
    ),
    "a matrix of a third answer": (
        study(question({"mechanism": "matrix", "chances": [[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]]})),
        GOOD,
        "survey.questions[0].design: must have a row for each answer, 2; it has 3",
    ),
    "a matrix of a report that nobody sends": (
        study(question({"mechanism": "matrix", "chances": [[0.5, 0.5, 0], [0.25, 0.75, 0]]})),
        GOOD,
        "survey.questions[0].design.chances: must be the chances of a design: each report must have a chance",
    ),
    "a column of no question": (
        study(COIN, columns=[{"name": "x"}]),
        GOOD,
        "columns[0].name: must be one of cheated; it is x",
    ),
    "a name twice": (
        study(COIN, covariates=[{"name": "cheated", "low": 0, "high": 1}]),
        GOOD,
        "columns: must be unique; cheated stands twice",
    ),
    "a column stated twice": (
        study(COIN, columns=[{"name": "cheated"}, {"name": "cheated", "header": "x"}]),
        GOOD,
        "columns: must be unique; cheated stands twice",
    ),
    "a text for two answers": (
        study(COIN, columns=[{"name": "cheated", "cells": {"a": "yes", " a": "no", "b": "no"}}]),
        GOOD,
        "columns[0].cells: must be unique; a stands twice",
    ),
    "no survey": ({"format": 1}, GOOD, "study: must have exactly one of survey, versions; it has -"),
    "a mechanism with a slip": (
        study(question({"mechanism": "mangatt", "truth": 0.7})),
        GOOD,
        "kuk, crosswise, mangat, triangular, forced_yes, matrix; it is mangatt",
    ),
    "a mechanism of two answers for more": (
        study({"name": "cheated", "kind": "select_one", "text": "?", "design": {"mechanism": "mangatt"}}),
        GOOD,
        "must be one of best_choice, k_ary, unary, symmetric_unary, matrix; it is mangatt",
    ),
    "a margin beyond all numbers": (
        study(
            COIN,
            **WITH,
            sampling={
                "margins": [
                    {"covariate": "sex", "groups": [{"of": ["f"], "share": 2e12}, {"of": ["m"], "share": 1}]}
                ]
            },
        ),
        GOOD,
        "sampling.margins[0].groups[0].share: must be from 0.000000001 to 1000000000000; it is 2000000000000",
    ),
    "another member": ({**study(COIN), "x": 1}, GOOD, "x: is not known here; allowed: format, survey"),
}


def test_an_option_without_a_name_is_repeated_as_nothing(tmp_path: Path) -> None:
    for options, said in (
        (("--explain", "", "--by", "age"), 'explain: must be one of cheated; it is ""'),
        (("--explain", "cheated", "--by", ""), 'by: must be one of age, sex, cheated; it is ""'),
    ):
        done = analyse_study(tmp_path, study(COIN, **WITH), "cheated,age,sex\nyes,18,f\n", *options)
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"Error: {said}")


def test_a_study_file_that_cannot_be_read_is_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "responses.csv").write_text(GOOD)
    for content, said in (
        (b"{", "study: must be JSON; it is not from character 1 on"),
        (b"[1]", "study: must be an object; it is [1]"),
        (b'{"format": NaN}', "study: must be JSON; NaN is not"),
        (b"\xff", "study: must be UTF-8; byte 0 is not"),
        (b'{"format": 1, "weights": "\\u0000"}', "weights: must not contain a NUL character"),
        (b"[" * 40 + b"]" * 40, "study: must not be nested this deeply"),
    ):
        (tmp_path / "study.json").write_bytes(content)
        done = CliRunner().invoke(
            main, ["analyse", str(tmp_path / "responses.csv"), "--study", str(tmp_path / "study.json")]
        )
        assert (done.exit_code, done.stderr.strip()) == (2, f"Error: {said}")


@pytest.mark.parametrize(("stated", "data", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_named_with_its_place_and_what_may_stand_there(
    tmp_path: Path, stated: dict[str, Any], data: str, message: str
) -> None:
    done = analyse_study(tmp_path, stated, data)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert done.stdout == ""
