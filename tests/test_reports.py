"""Reports: the same numbers in every format, and noisy responses that recompute them."""

import csv
import hashlib
import html
import io
import json
import re
from base64 import b64encode
from itertools import product
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.factories import Published, list_responses
from tests.support.folded_parts import ALL_OPEN

ROWS = [[1, 0]] * 30 + [[0, 1]] * 20 + [[1, 1]] * 10 + [[0, 0]] * 40
"""100 responses: 40 "yes" to the first question (gamma 1/4) and 30 to the second (gamma 1/10)."""


def _answer(client: FlaskClient, survey: Published, rows: list[list[int]] = ROWS) -> None:
    for reports in rows:
        assert client.post(survey.url, json=survey.response(reports)).status_code == 201


def _get(client: FlaskClient, survey: Published, file: str) -> str:
    answer = client.get(f"/manage/surveys/{survey.slug}/{file}")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    return answer.text


def _table(client: FlaskClient, survey: Published, file: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(_get(client, survey, file), newline=""))
    return [row for row in rows if row.get("statistic") != "text"]


def _words(page: str) -> str:
    """What a page shows, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.partition("</head>")[2])).split())


def _pages(client: FlaskClient, survey: Published, query: str = "") -> list[str]:
    """The words of the report to download and of the live page."""
    return [
        _words(_get(client, survey, "report.html")),
        _words(client.get(f"/manage/surveys/{survey.slug}/results?{query}{ALL_OPEN}").text),
    ]


def test_numbers_are_those_worked_out_by_hand(signed_in: FlaskClient, survey: Published) -> None:
    _answer(signed_in, survey)

    report = json.loads(_get(signed_in, survey, "report.json"))

    first, second = (question["estimate"] for question in report["questions"])
    assert report["n"] == 100
    assert first["shares"][1] == pytest.approx((0.4 - 0.25) / 0.5, abs=1e-12)
    assert first["standard_errors"][1] == pytest.approx((0.4 * 0.6 / 99) ** 0.5 / 0.5, abs=1e-12)
    assert second["shares"][1] == pytest.approx((0.3 - 0.4) / 0.2, abs=1e-8)
    assert (first["impossible"], second["impossible"]) == (False, True)
    # Wilson (1927) for 40 of 100, z = 1.959964: (0.309401, 0.497997), carried through the estimator.
    assert first["intervals"][1] == pytest.approx(
        [(0.309401 - 0.25) / 0.5, (0.497997 - 0.25) / 0.5], abs=5e-6
    )


def test_every_format_says_the_same(signed_in: FlaskClient, survey: Published) -> None:
    _answer(signed_in, survey)
    report = json.loads(_get(signed_in, survey, "report.json"))
    rows = _table(signed_in, survey, "report.csv")
    pages = _pages(signed_in, survey, "interval=once&")
    (_, live) = _pages(signed_in, survey, "interval=anytime&")

    for number, question in enumerate(report["questions"]):
        estimate = question["estimate"]
        for index, answer in enumerate(("no", "yes")):
            row = rows[2 * number + index]
            assert (row["question"], row["answer"]) == (question["name"], answer)
            assert int(row["n"]) == report["n"] == sum(question["counts"])
            assert int(row["count_reported"]) == question["counts"][index]
            assert float(row["share_reported"]) == estimate["observed"][index]
            assert float(row["estimate"]) == estimate["shares"][index]
            assert float(row["standard_error"]) == estimate["standard_errors"][index]
            assert [float(row["interval_low"]), float(row["interval_high"])] == estimate["intervals"][index]
            assert row["impossible"] == str(estimate["impossible"]).lower()
            assert float(row["impossible_p_value"]) == question["impossible_p_value"]
            assert float(row["epsilon"]) == question["epsilon"]
        shown = [f"{100 * value:.1f}" for value in (estimate["shares"][1], *estimate["intervals"][1])]
        shown += [f"{100 * estimate['standard_errors'][1]:.1f}", f"{100 * estimate['observed'][1]:.1f}"]
        for page in pages:
            table = page.partition("standard error")[2]  # the heads of its columns
            line = table[table.index(question["text"]) :][:200].replace("\N{MINUS SIGN}", "-")
            assert all(value in line for value in shown), (shown, line)
        table = live.partition("standard error")[2]
        line = table[table.index(question["text"]) :][:200].replace("\N{MINUS SIGN}", "-")
        low, high = (f"{100 * value:.1f}" for value in estimate["anytime_intervals"][1])
        assert f"{low} to {high}" in line
        assert [float(row[f"anytime_{end}"]) for end in ("low", "high")] == estimate["anytime_intervals"][1]
    file, once = pages
    # The file says it where it says what was found; the page of results beside its numbers as well.
    assert file.count("Impossible share.") == 1
    assert once.partition("standard error")[2].count("Impossible share.") == 1


def test_noisy_responses_and_codebook_recompute_the_estimates(
    signed_in: FlaskClient, survey: Published
) -> None:
    _answer(signed_in, survey)
    header, *rows = csv.reader(io.StringIO(_get(signed_in, survey, "responses.csv"), newline=""))
    codebook = _table(signed_in, survey, "codebook.csv")
    report = json.loads(_get(signed_in, survey, "report.json"))
    reports = np.array(rows, dtype=int)

    for column, name in enumerate(header):
        codes = [row for row in codebook if row["column"] == name]
        assert [(row["truth"], row["report"]) for row in codes] == list(product(("no", "yes"), repeat=2))
        weights = np.array([int(row["numerator"]) for row in codes]).reshape(2, 2)
        chances = np.array([float(row["probability"]) for row in codes]).reshape(2, 2)
        assert (weights.sum(axis=1) == 2**32).all()
        assert (chances == weights / 2**32).all()
        observed = np.bincount(reports[:, column], minlength=2) / len(reports)
        shares = np.linalg.solve(weights.T / 2**32, observed)
        assert shares.tolist() == pytest.approx(report["questions"][column]["estimate"]["shares"], abs=1e-12)
        assert {row["text"] for row in codes} == {report["questions"][column]["text"]}


def test_noisy_responses_are_sorted_and_carry_no_id_or_day(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    _answer(signed_in, survey)

    text = _get(signed_in, survey, "responses.csv")

    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["q1", "q2"]
    assert rows == sorted(rows)
    assert sorted(ROWS) == [[int(cell) for cell in row] for row in rows]
    held = list_responses(database_url)
    assert not [row for row in held if bytes(row[0]).hex() in text or str(row[3]) in text]  # type: ignore[call-overload]


def test_one_response_has_an_estimate_but_no_standard_error(
    signed_in: FlaskClient, survey: Published
) -> None:
    _answer(signed_in, survey, [[1, 0]])

    question = json.loads(_get(signed_in, survey, "report.json"))["questions"][0]
    assert question["estimate"]["standard_errors"] == [None, None]
    assert question["estimate"]["shares"][1] == pytest.approx(1.5)
    assert {row["standard_error"] for row in _table(signed_in, survey, "report.csv")} == {""}
    for page in _pages(signed_in, survey):
        assert not re.search(r"\b(nan|inf|None)\b", page, re.IGNORECASE)


def test_report_without_responses_says_so(signed_in: FlaskClient, survey: Published) -> None:
    report = json.loads(_get(signed_in, survey, "report.json"))

    assert report["n"] == 0
    assert {question["estimate"] for question in report["questions"]} == {None}
    assert {question["impossible_p_value"] for question in report["questions"]} == {None}
    assert {row["estimate"] for row in _table(signed_in, survey, "report.csv")} == {""}
    assert _get(signed_in, survey, "responses.csv") == "q1,q2\r\n"
    document, live = _pages(signed_in, survey)
    assert "No response is shown." in document
    assert "The first responses will show here by themselves." in live


def test_html_report_needs_nothing_but_itself(signed_in: FlaskClient, survey: Published) -> None:
    _answer(signed_in, survey)

    page = _get(signed_in, survey, "report.html")

    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy[1] == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert page.index("Content-Security-Policy") < page.index("<style>")
    loads = (
        r"\s(src|href|srcset|action|formaction|data|poster|background|on\w+)="
        r"|<(script|link|iframe|object|embed|base)\b|url\(|@import"
    )
    assert re.search(loads, page, re.IGNORECASE) is None


def test_versions_are_reported_together_or_apart(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    _answer(signed_in, survey, [[1, 1]] * 3)
    newer = factories.publish(database_url, factories.definition([0.2, 0.1, 0.1]), survey.slug)
    _answer(signed_in, newer, [[0, 0, 0]] * 2)

    numbers = [
        json.loads(_get(signed_in, survey, f"report.json{query}"))
        for query in ("", "?version=2", "?version=1")
    ]

    assert [(each["version"]["number"], each["n"]) for each in numbers] == [(2, 5), (2, 2), (1, 3)]
    assert [each["versions"] for each in numbers] == [[2, 1], [2], [1]]
    assert [question["versions"] for question in numbers[0]["questions"]] == [[2, 1], [2, 1], [2]]
    assert [each["version"]["sha256"] for each in numbers] == [newer.version, newer.version, survey.version]
    missing: Any = signed_in.get(f"/manage/surveys/{survey.slug}/report.json?version=3")
    assert (missing.status_code, missing.get_json()["error"]["field"]) == (404, "version")
