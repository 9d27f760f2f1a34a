"""What made-up responses could move stands in every report of an open survey, and is what trying them all out finds.

The numbers are worked out here from the published weights alone, in fractions: of 100 responses one is replaced, in
every way there is, and the shares are solved for anew.
"""

import csv
import io
import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import jsonschema
import numpy as np
import pytest
from flask.testing import FlaskClient

from server import reports
from server.config import SCHEMAS
from server.privacy.designs import TOTAL, Design, coin_flip, k_ary, kuk, warner
from server.privacy.estimators.coefficients import joint_coefficients
from server.reports.forged_moves import FORGED, measure_joint_move
from tests.support import every_kind, factories, sample_releases

Matrix = list[list[Fraction]]
WHOLE = 2**32
SAID = (
    "Whoever had an open link could answer any number of times, and nobody can tell. "
    "Of somebody who answered twice, up to twice the ε of one response can be learned."
)


def invert(weights: list[list[int]]) -> Matrix:
    """How shares follow from counts: the inverse of the design's transpose, by elimination."""
    size = len(weights)
    rows = [
        [Fraction(weights[truth][report], WHOLE) for truth in range(size)]
        + [Fraction(report == k) for k in range(size)]
        for report in range(size)
    ]
    for place in range(size):
        pivot = next(row for row in range(place, size) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [cell / rows[place][place] for cell in rows[place]]
        for row in range(size):
            if row != place:
                factor = rows[row][place]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[place], strict=True)]
    return [row[size:] for row in rows]


def try_all(values: list[list[Fraction]], n: int = 100) -> Fraction:
    """The largest change of an estimate, a row of what each report adds to it, where one of n reports is another."""
    return max(
        abs(row[new] - row[old]) / n for row in values for old, new in product(range(len(row)), repeat=2)
    )


def average(question: dict[str, Any], inverse: Matrix) -> list[list[Fraction]]:
    """What each report adds to a mean: of a number between two ends, or of levels that count 1, 2, 3, ..."""
    size = len(inverse)
    low, high = (question["low"], question["high"]) if question["kind"] == "number" else (1, size)
    points = [Fraction(low) + Fraction(high - low) * k / (size - 1) for k in range(size)]
    return [[sum((points[k] * inverse[k][y] for k in range(size)), Fraction(0)) for y in range(size)]]


def test_what_is_told_is_what_trying_everything_finds(signed_in: FlaskClient, database_url: str) -> None:
    """Of every kind of question and every design."""
    survey = factories.publish(database_url, every_kind.document())
    published = signed_in.get(f"/s/{survey.slug}/survey.json").get_json()["definition"]
    report = signed_in.get(f"/manage/surveys/{survey.slug}/report.json").get_json()
    told = {move["question"]: move for move in report["forging"]["at_most"]}
    assert report["forging"]["forged"] == 0.01
    asked = [question for question in published["questions"] if "designs" in question]
    assert list(told) == [question["name"] for question in asked]
    for question in asked:
        move = told[question["name"]]
        inverses = [invert(design["weights"]) for design in question["designs"]]
        share = max(map(try_all, inverses))
        has_mean, may_refuse = (
            question["kind"] in ("number", "scale"),
            question.get("prefer_not_to_say", False),
        )
        assert move["mean_of_answered"] == ("whole range" if has_mean and may_refuse else None)
        if question["kind"] == "number" and not may_refuse:
            assert move["share"] is None
        else:
            assert move["share"] == pytest.approx(float(share)), question["name"]
            # The twin would say that 1 % of the responses move a share by a point.
            assert move["share"] > 0.0101
        if has_mean and not may_refuse:
            assert move["mean"] == pytest.approx(float(try_all(average(question, inverses[0])))), question[
                "name"
            ]
        else:
            assert move["mean"] is None


def test_two_questions_together(signed_in: FlaskClient, database_url: str) -> None:
    """A pair of answers under coins of 1/4 and 1/10, on the results page and in a released table."""
    survey = factories.publish(database_url, factories.definition())
    factories.store(database_url, survey, [([0, 0], 40), ([1, 0], 20), ([0, 1], 20), ([1, 1], 20)])
    asked = signed_in.get(f"/s/{survey.slug}/survey.json").get_json()["definition"]["questions"]
    one, other = (invert(question["designs"][0]["weights"]) for question in asked)
    values = [
        [one[i][y] * other[j][z] for y, z in product(range(2), repeat=2)]
        for i, j in product(range(2), repeat=2)
    ]
    points = math.ceil(try_all(values) * 1000) / 10  # rounded up
    first, second = (question["name"] for question in survey.definition["questions"])
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?row={first}&column={second}").text
    assert f"could be off by at most {points} points" in page
    sample_releases.grant(database_url, survey.slug)
    sample_releases.release(database_url, survey.slug, {"kind": "table", "questions": [first, second]})
    book = sample_releases.ledger(database_url, survey.slug)
    with factories.writing(database_url) as session:
        published = reports.read_published(session, sample_releases.find_survey(session, survey.slug), book)
    page = reports.write_public_page(published, "en")
    assert SAID in page
    assert f">{points} points<" in page
    document = json.loads(reports.public_json(published))
    jsonschema.validate(document, json.loads((SCHEMAS / "public_report.schema.json").read_text()))
    shares = {move["question"]: move["share"] for move in document["forging"]["at_most"]}
    assert shares == pytest.approx({first: 0.02, second: 0.05})
    rows = list(csv.DictReader(io.StringIO(reports.public_csv(published))))
    assert {row["of_1"]: float(row["text"]) for row in rows if row["what"] == "forging.share"} == shares


def test_every_report_of_an_open_survey_says_so(signed_in: FlaskClient, database_url: str) -> None:
    """And none of one that asked for codes from the start."""
    survey = factories.publish(database_url, factories.definition([0.25]))
    closed = factories.publish(database_url, factories.definition([0.25]))
    factories.settle(database_url, closed.slug, by_invitation=True)
    for each in (survey, closed):
        factories.store(database_url, each, [([0], 60), ([1], 40)])
        base = f"/manage/surveys/{each.slug}"
        page, results = (signed_in.get(f"{base}/{name}").text for name in ("report.html", "results"))
        rows = list(csv.DictReader(io.StringIO(signed_in.get(f"{base}/report.csv").text)))
        found = [(row["question"], row["text"]) for row in rows if row["kind"] == "forging.share"]
        document = signed_in.get(f"{base}/report.json").get_json()
        jsonschema.validate(document, json.loads((SCHEMAS / "report.schema.json").read_text()))
        if each is survey:
            assert SAID in page
            assert SAID in results
            assert ">2.0 points<" in page
            assert found == [("q1", "0.02")]
        else:
            assert SAID not in page
            assert SAID not in results
            assert (found, document["forging"]) == ([], None)


@pytest.mark.parametrize(
    "designs",
    [
        [coin_flip(0.25), coin_flip(0.1)],
        [k_ary(4, 1.0), coin_flip(0.3), k_ary(3, 0.5)],
        [warner(0.7), kuk(0.8, 0.3)],
    ],
)
def test_a_table_moves_by_what_its_whole_inverse_says(designs: list[Design]) -> None:
    counted = joint_coefficients([designs])
    whole = np.ptp(counted.numerators[:, counted.denominator > 0], axis=1).max()
    assert measure_joint_move([[design] for design in designs]) == pytest.approx(FORGED * whole)


def test_a_table_with_too_many_cells_to_estimate_still_says_how_far_it_could_move() -> None:
    kept, other = np.linalg.inv(k_ary(50, 6.0).weights / TOTAL)[0, :2]
    expected = FORGED * (kept**2 - kept * other)
    assert measure_joint_move([[k_ary(50, 6.0)]] * 2) == pytest.approx(expected)
