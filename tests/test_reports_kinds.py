"""Reports of every kind of question: each format says the same, and exports recompute every estimate."""

import csv
import io
import json
import re
from collections import defaultdict
from html import unescape
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from server.people import survey_access
from server.simulation import Assumptions, simulate
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published
from tests.support.folded_parts import ALL_OPEN


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens after everything was read."""
    return sqlite(True)


@pytest.fixture
def survey(database_url: str) -> Published:
    """Answered by 300 made-up people."""
    published = factories.publish(database_url, every_kind.document())
    answer(database_url, published.slug, 300)
    return published


def answer(database_url: str, slug: str, respondents: int) -> None:
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for _ in simulate(
            session, survey, respondents, Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
        ):
            pass


def _get(client: FlaskClient, survey: Published, file: str) -> str:
    got = client.get(f"/manage/surveys/{survey.slug}/{file}")
    assert got.status_code == 200
    return got.text


def _table(client: FlaskClient, survey: Published, file: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(_get(client, survey, file), newline=""))
    return [row for row in rows if row.get("statistic") not in ("text", "disclosure")]


def _words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.partition("</head>")[2])).split())


def _recompute_estimates(
    header: list[str], responses: Any, codebook: list[dict[str, str]]
) -> dict[tuple[str, str], float]:
    """Every estimate, with NumPy alone: by question and answer, means under the answer "(mean)"."""
    found: dict[tuple[str, str], float] = {}
    for column, name in enumerate(header):
        rows = [row for row in codebook if row["column"] == name]
        truths = list(dict.fromkeys(row["truth"] for row in rows))
        design = np.array([float(row["probability"]) for row in rows]).reshape(len(truths), -1)
        observed = np.bincount(responses[:, column], minlength=design.shape[1]) / len(responses)
        shares = np.linalg.solve(design.T, observed)
        first = rows[0]
        if first["encoding"] in ("one_hot", "boxes"):
            found[first["question"], truths[1]] = shares[1]
            continue
        numeric = [k for k, truth in enumerate(truths) if truth != "prefer_not_to_say"]
        for k, truth in enumerate(truths):
            if first["encoding"] == "whole" or k not in numeric:
                found[first["question"], truth] = shares[k]
        if first["low"]:
            values = np.linspace(float(first["low"]), float(first["high"]), len(numeric))
            found[first["question"], "(mean)"] = values @ shares[numeric] / shares[numeric].sum()
    return found


def test_noisy_responses_and_codebook_recompute_every_estimate(
    signed_in: FlaskClient, survey: Published
) -> None:
    header, *rows = csv.reader(io.StringIO(_get(signed_in, survey, "responses.csv"), newline=""))
    codebook = _table(signed_in, survey, "codebook.csv")
    weights: dict[tuple[str, str], int] = defaultdict(int)
    for row in codebook:
        weights[row["column"], row["truth"]] += int(row["numerator"])
        assert float(row["probability"]) == int(row["numerator"]) / 2**32
    assert set(weights.values()) == {2**32}

    found = _recompute_estimates(header, np.array(rows, dtype=int), codebook)

    reported = _table(signed_in, survey, "report.csv")
    assert found == {
        (row["question"], "(mean)" if row["statistic"] == "mean" else row["answer"]): pytest.approx(
            float(row["estimate"]), abs=1e-9
        )
        for row in reported
    }
    assert {row["statistic"] for row in reported} == {"share", "mean"}


def test_json_and_csv_say_the_same(signed_in: FlaskClient, survey: Published) -> None:
    report = json.loads(_get(signed_in, survey, "report.json"))
    rows = {
        # A bin's name may begin with a minus: no spreadsheet shall take it for a formula.
        (row["question"], row["answer"].lstrip("'") or "(mean)"): row
        for row in _table(signed_in, survey, "report.csv")
    }
    seen = 0

    for question in report["questions"]:
        name = question["name"]
        boxes = question.get("boxes", [])
        columns = [(box["name"], box["estimate"], 1) for box in boxes] or [
            (answer, question["estimate"], code)
            for code, answer in enumerate(question["answers"])
            if question["encoding"] == "whole" or code > 1
        ]
        for answer, estimate, code in columns:
            row = rows[name, answer]
            assert float(row["estimate"]) == estimate["shares"][code]
            assert float(row["standard_error"]) == estimate["standard_errors"][code]
            assert [float(row["interval_low"]), float(row["interval_high"])] == estimate["intervals"][code]
            seen += 1
        if "mean" in question:
            row, mean = rows[name, "(mean)"], question["mean"]["estimate"]
            assert (float(row["estimate"]), float(row["standard_error"])) == (
                mean["mean"],
                mean["standard_error"],
            )
            seen += 1
        assert float(rows[name, columns[0][0] if columns else "(mean)"]["epsilon"]) == question["epsilon"]
    assert seen == len(rows)
    assert sum(question["epsilon"] for question in report["questions"]) == pytest.approx(
        report["epsilon"], abs=1e-4
    )


def test_pages_show_every_answer_and_every_number(signed_in: FlaskClient, survey: Published) -> None:
    rows = _table(signed_in, survey, "report.csv")
    texts = {"prefer_not_to_say": "Prefer not to say", "yes": "Yes", "no": "No"}

    for file in ("report.html", f"results?{ALL_OPEN}"):
        page = _words(_get(signed_in, survey, file)).replace("\N{MINUS SIGN}", "-")
        for row in rows:
            asked = page[page.index(row["text"]) :]
            if row["statistic"] == "share":
                label = row["answer_text"].lstrip("'")
                assert row["kind"] != "yes_no" or label == texts[row["answer"]]
                plain = row["kind"] == "yes_no" and f"{row['question']}.prefer_not_to_say" not in page
                if not (plain and row["answer"] == "no"):
                    assert label in asked
                    assert f"{100 * float(row['estimate']) + 0.0:.1f}".replace("-0.0", "0.0") in asked
            else:
                decimals = 2 if row["kind"] == "number" else 3
                assert f"{float(row['estimate']):.{decimals}f}" in asked
        assert "The second part" in page
        assert "Whoever was not shown it counts as: No." in page
        assert "Control question" in page
        for odds in (
            "Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are recorded as Yes.",
            "Of 100 people who enter No, 30 draw a red card. Of 100 who enter Yes, 80 draw a red card.",
            "For each option by itself: of 100 people who do not choose it, 18 arrive as choosing it. "
            "Of 100 who choose it, 50 arrive as choosing it.",
            "Of 100 people who enter -10 cups, 18 arrive as 30 cups. Of 100 who enter 30 cups, 82 arrive as 30 cups. "
            "A number in between arrives as 30 cups more often the higher it is.",
        ):
            assert odds in page.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("respondents", [0, 1])
def test_too_few_responses_are_said_and_never_break_a_format(
    respondents: int, signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, every_kind.document())
    if respondents:
        answer(database_url, survey.slug, respondents)

    report = json.loads(_get(signed_in, survey, "report.json"), parse_constant=pytest.fail)
    assert report["n"] == respondents
    for file in ("report.csv", "codebook.csv", "responses.csv", "report.html", "results"):
        text = _get(signed_in, survey, file)
        assert not re.search(r"\b(nan|inf|None)\b", _words(text) if "<html" in text else text)
    if not respondents:
        assert {row["estimate"] for row in _table(signed_in, survey, "report.csv")} == {""}


def test_long_lists_of_options_are_reported_row_by_row(signed_in: FlaskClient, database_url: str) -> None:
    names = {f"o{number}": 0 for number in range(50)}
    question = {
        "name": "many",
        "kind": "select_one",
        "text": "Which?",
        "options": every_kind.options(names),
        "design": {"mechanism": "best_choice", "epsilon": 1.0},
    }
    survey = factories.publish(database_url, factories.definition(questions=[question]))
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        for _ in simulate(session, found, 20):
            pass

    page = _get(signed_in, survey, "report.html")
    tables = re.findall(r'<table id="([a-z-]+)">(.*?)</table>', page, re.DOTALL)
    rows = {name: table.count("</tr>") - 1 for name, table in tables}
    assert rows["estimates"] == 50
    assert rows.get("remarks", 0) <= 1
    assert len(_table(signed_in, survey, "codebook.csv")) == 50 * 2 * 2
    header = _get(signed_in, survey, "responses.csv").split("\r\n")[0]
    assert header.split(",") == [f"many.{name}" for name in names]
