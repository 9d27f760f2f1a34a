"""The page *Data from elsewhere*: the report of a table and its study file, of which nothing stays."""

import html
import io
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.cli import main
from server.web import long_work
from server.web.views import elsewhere
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.foreign_data import ADDRESS, FILES, write_study, write_table
from tests.support.report_readers import pdf_text


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: the page asks the database who is signed in, and nothing else."""
    return sqlite(True)


def send(client: FlaskClient, changes: dict[str, bytes | None] | None = None, **fields: str) -> TestResponse:
    files = {**FILES, **(changes or {})}
    form: dict[str, Any] = {
        name: (io.BytesIO(body), f"{name}.csv") for name, body in files.items() if body is not None
    }
    return client.post(ADDRESS, data={**form, **fields}, headers={"Accept-Language": "en"})


def refusal(answer: TestResponse) -> str:
    """What the page says is wrong, without its marks."""
    found = re.search(r'<div class="problems".*?</div>', answer.text, re.DOTALL)
    assert found is not None, answer.text
    return html.unescape(" ".join(re.sub(r"<[^>]+>", "", found[0]).split()))


def cells(page: str) -> list[list[str]]:
    """The rows of all tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]


def run_command(folder: Path, *options: str) -> bytes:
    """What `analyse` prints of the same files, on a database that cannot be made."""
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    command = ("analyse", str(folder / "data"), "--study", str(folder / "study_file"), *options)
    done = CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"}).invoke(main, command)
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


EXPLAINED = {"explain": "cheated", "by": " sex \n\nstole\n"}


def test_the_report_and_its_files_say_what_the_command_says(
    signed_in: FlaskClient, database_url: str, tmp_path: Path
) -> None:
    options = ("--explain", "cheated", "--by", "sex", "--by", "stole")
    before = factories.dump(database_url)

    shown = send(signed_in, **EXPLAINED)
    files = {
        ending: send(signed_in, **EXPLAINED, format=ending) for ending in ("html", "pdf", "xlsx", "json")
    }

    assert [answer.status_code for answer in (shown, *files.values())] == [200] * 5
    for ending, answer in files.items():
        assert answer.headers["Content-Disposition"].startswith('attachment; filename="Exams')
        assert answer.headers["Content-Disposition"].endswith(f".{ending}")
    run_command(tmp_path, *options, "--output", str(tmp_path / "report.html"))
    written = (tmp_path / "report.html").read_text("utf-8")
    assert files["html"].data.decode() == written
    assert cells(shown.data.decode()) == cells(written) != []
    assert "What “cheated” goes with" in shown.text
    numbers = json.loads(run_command(tmp_path, *options, "--json"))
    assert files["json"].json == numbers
    assert numbers["n"] == 400
    assert "Examsonpaper" in pdf_text(files["pdf"].data, "Exams on paper")
    assert "Exams on paper" in str(
        next(iter(openpyxl.load_workbook(io.BytesIO(files["xlsx"].data))["Report"].values))
    )
    assert factories.dump(database_url) == before


REFUSED: dict[str, tuple[dict[str, bytes | None], dict[str, str], int, str]] = {
    "no table": ({"data": None}, {}, 422, "Table: is required"),
    "no study file": ({"study_file": None}, {}, 422, "Study file: is required"),
    "a cell": (
        {"data": write_table() + b"perhaps,no,male\n"},
        {},
        422,
        "Row 402, column cheated: must be one of 0, 1, no, yes; it is perhaps",
    ),
    "a NUL": (
        {"data": write_table() + b"yes,no,m\0ale\n"},
        {},
        422,
        "Table: must not contain a NUL character",
    ),
    "UTF-16": (
        {"data": write_table().decode().encode("utf-16-le")},
        {},
        422,
        "Table: must not contain a NUL character",
    ),
    "a row": ({"data": write_table() + b"yes\n"}, {}, 422, "Row 402: must have 3 cells; it has 1"),
    "a column": ({"data": b"cheated,sex\nyes,male\n"}, {}, 422, "Table: must have a column"),
    "a weight": (
        {
            "study_file": write_study(weights="w"),
            "data": b"cheated,stole,sex,w\nyes,no,male,1\nno,no,male,2\n",
        },
        {},
        422,
        "Column w: must hold each number in two rows or more",
    ),
    "no JSON": ({"study_file": b"{"}, {}, 400, "Study file: must be JSON; it is not from character 1 on"),
    "a study": ({"study_file": b'{"format": 1}'}, {}, 422, "Study file: must have exactly one of"),
    "how rows were drawn": (
        {"study_file": write_study(sampling={})},
        {},
        422,
        "Study file, sampling: must have at least one of",
    ),
    "a population of too few": (
        {"study_file": write_study(sampling={"population": 9})},
        {},
        422,
        "Study file, sampling.population: must be at least 400, the rows of the table; it is 9",
    ),
    "an answer": ({}, {"explain": "lied", "by": "sex"}, 422, "Answer to explain: must be one of"),
    "nothing to explain": ({}, {"by": "sex"}, 422, "Answer to explain: is required where"),
    "a predictor": ({}, {"explain": "cheated", "by": "age"}, 422, "What it may go with: must be one of"),
    "no predictor": ({}, {"explain": "cheated"}, 422, "What it may go with: must name"),
    "a format": ({}, {"format": "doc"}, 422, "Format: must be one of html, pdf, xlsx, json; it is doc"),
}


@pytest.mark.parametrize(("files", "fields", "status", "said"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_its_place_and_keeps_what_was_typed(
    signed_in: FlaskClient,
    files: dict[str, bytes | None],
    fields: dict[str, str],
    status: int,
    said: str,
) -> None:
    for chosen in {"json", fields.get("format", "")}:
        typed = {**fields, "format": fields.get("format", chosen)}
        answer = send(signed_in, files, **typed)
        assert answer.status_code == status
        assert said in refusal(answer)
        assert f'name="explain" value="{fields.get("explain", "")}"' in answer.text
        assert f">{fields.get('by', '')}</textarea>" in answer.text


def test_too_much_too_long_and_too_many_are_refused(
    signed_in: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = b"cheated,stole,sex\n" + b"yes,no,male\n" * (elsewhere.TABLE_LIMIT // 12)
    answer = send(signed_in, {"data": large})
    assert (answer.status_code, "must be at most 10485760 bytes" in refusal(answer)) == (413, True)
    for field in ("cheated", ""):
        monkeypatch.setattr(long_work, "LONGEST", -1)
        answer = send(signed_in, explain=field, by="sex" if field else "")
        assert answer.status_code == 413
        assert "must be worked out in" in refusal(answer)
    monkeypatch.undo()
    for _ in range(long_work.AT_ONCE):
        assert long_work._places.acquire(blocking=False)
    try:
        answer = send(signed_in)
        assert (answer.status_code, "send it again in a while" in refusal(answer)) == (503, True)
    finally:
        long_work._places.release(long_work.AT_ONCE)
    assert send(signed_in).status_code == 200


def test_a_published_survey_gives_the_study_file_of_its_responses(
    signed_in: FlaskClient, database_url: str
) -> None:
    """With the noisy responses beside it, the page finds what the survey's own report finds."""
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0, 1], 60), ([0, 0, 1], 60)])
    page = f"/manage/surveys/{survey.slug}"
    assert f'href="{page}/study.json"' in signed_in.get(f"{page}/results").text
    study, responses = (signed_in.get(f"{page}/{name}") for name in ("study.json", "responses.csv"))
    assert "study file" in study.headers["Content-Disposition"]

    found = send(signed_in, {"data": responses.data, "study_file": study.data}, format="json").json
    assert found["questions"] == signed_in.get(f"{page}/report.json").json["questions"]


def test_the_page_is_led_to_from_the_list_of_surveys(signed_in: FlaskClient) -> None:
    assert f'href="{ADDRESS}"' in signed_in.get("/manage/surveys").text
    assert signed_in.get(ADDRESS).status_code == 200


MODELLED: dict[str, Any] = {
    "model": "unknown_prevalence",
    "name": "cheated",
    "text": "Ever cheated, on either form?",
    "report": "Q7",
    "group": "form",
    "groups": [{"cell": "A", "truth": 0.75}, {"cell": "B", "truth": 0.25}],
}


def test_models_are_on_the_page_and_what_is_wrong_with_one_is_said_of_the_study_file(
    signed_in: FlaskClient,
) -> None:
    table = "\n".join(["form,Q7", *["A,0"] * 74, *["A,1"] * 26, *["B,0"] * 56, *["B,1"] * 44]).encode()
    study = json.dumps({"format": 1, "models": [MODELLED]}).encode()
    answer = send(signed_in, {"data": table, "study_file": study})
    assert answer.status_code == 200
    assert "Ever cheated, on either form?" in answer.text
    (row,) = (row for row in cells(answer.text) if row[:1] == ["Yes to the sensitive question"])
    assert row[1].startswith("17.0")
    other = {**MODELLED, "groups": [{"cell": "A", "truth": 0.5}, {"cell": "B", "truth": 0.5}]}
    wrong = send(
        signed_in, {"data": table, "study_file": json.dumps({"format": 1, "models": [other]}).encode()}
    )
    assert wrong.status_code == 422
    assert "Study file, models[0].groups[1].truth" in refusal(wrong)
    alone = b"form,Q7\nA,0\nA,1\n"
    wrong = send(signed_in, {"data": alone, "study_file": study})
    assert wrong.status_code == 422
    assert "Study file, models[0].groups[1].cell" in refusal(wrong)


def test_a_list_experiment_is_on_the_page(signed_in: FlaskClient) -> None:
    model = {"model": "item_count", "name": "bribed", "text": "How many of these?", "report": "Q1"}
    groups = [{"cell": "A", "items": 1}, {"cell": "B", "items": 2}]
    study = json.dumps({"format": 1, "models": [{**model, "group": "form", "groups": groups}]}).encode()
    table = "\n".join(["form,Q1", *["A,0"] * 60, *["A,1"] * 40, *["B,0"] * 50, *["B,1"] * 30, *["B,2"] * 20])
    answer = send(signed_in, {"data": table.encode(), "study_file": study})
    assert answer.status_code == 200
    (row,) = (row for row in cells(answer.text) if row[:1] == ["To whom the sensitive item applies"])
    assert row[1].startswith("30.0")
