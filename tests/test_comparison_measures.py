"""Two strata compared: ratio, test and what could have been seen, on the page, in reports, commands and the API."""

import csv
import io
import json
import math

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from scipy import stats

from server.privacy.designs import coin_flip
from server.privacy.planning import power_two_samples
from server.reports import Report
from server.reports.stratum_comparison import HigherGroup, compare_strata
from tests.support import factories
from tests.test_comparing import compare, database_url, report, researcher, site  # noqa: F401 - fixtures

PAIR = ("Peru > Arequipa", "Peru > Cusco")
ASKED = {"question": "q1", "first_stratum": PAIR[0], "second_stratum": PAIR[1]}


def test_ratio_test_and_power_are_those_by_hand(report: Report) -> None:  # noqa: F811
    """Shares 0.2 and 0.7 of 600 each, under two fair coins: 210 and 360 reports of Yes."""
    (pair,) = compare(report, "q1", *PAIR).figures
    measures = pair.measures
    assert measures.least_shown is not None
    assert measures.ratio == pytest.approx(2 / 7)
    errors = [2 * math.sqrt(rate * (1 - rate) / 599) for rate in (0.35, 0.6)]
    assert measures.standard_error == pytest.approx(math.hypot(*errors), rel=1e-9)
    # Fieller's own limits, whose z standard errors are nearly the distances of Wilson's.
    z2 = stats.norm.ppf(0.975) ** 2
    roots = np.roots([0.7**2 - z2 * errors[1] ** 2, -2 * 0.2 * 0.7, 0.2**2 - z2 * errors[0] ** 2])
    assert measures.ratio_interval == pytest.approx(sorted(roots.tolist()), abs=0.006)
    assert measures.p_value is not None
    assert measures.p_value < 1e-7
    assert measures.power == pytest.approx(power_two_samples(600, 600, 0.2, 0.7, coin_flip(0.25)), abs=1e-3)
    assert measures.least_shown == pytest.approx(
        (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * measures.standard_error, rel=0.01
    )
    half = measures.least_shown / 2
    seen = power_two_samples(600, 600, 0.45 - half, 0.45 + half, coin_flip(0.25))
    assert seen == pytest.approx(0.8, abs=0.03)  # a little less near a half, where reports vary most


@pytest.mark.parametrize("question", ["q1", "way", "cups", "drinks"])
@pytest.mark.parametrize(
    "pair", [PAIR, ("Peru > Cusco", "Chile"), ("Peru", "Chile"), ("<without stratum>", "Chile")]
)
def test_interval_ratio_and_test_never_contradict_each_other(
    report: Report,  # noqa: F811
    question: str,
    pair: tuple[str, str],
) -> None:
    for figure in compare(report, question, *pair).figures:
        measures, (low, high) = figure.measures, figure.interval
        told = low > 0 or high < 0
        assert measures.p_value is not None
        assert (measures.p_value < 0.05) == told or measures.p_value == pytest.approx(0.05)
        ends = measures.ratio_interval
        assert ends is not None
        # Of few responses a ratio may be less sure than the difference, and never more.
        assert told or ends[0] <= 1 <= ends[1]
        if measures.ratio is not None:
            assert ends[0] <= measures.ratio <= ends[1]
        if math.isinf(measures.standard_error):  # all reports of some group are alike
            assert measures.least_shown is measures.power is None
        else:
            assert measures.least_shown is not None
            assert measures.least_shown > (high - low) / 2


def test_p_values_of_many_responses_are_those_of_the_normal_test(report: Report) -> None:  # noqa: F811
    (pair,) = compare(report, "cups", "Peru > Arequipa", "Chile").figures
    z = abs(pair.value or 0) / pair.measures.standard_error
    assert pair.measures.p_value == pytest.approx(2 * stats.norm.sf(z), rel=0.05)
    several = compare(report, "way", "Peru > Arequipa", "Chile").figures
    for figure in several:
        z = abs(figure.value or 0) / figure.measures.standard_error
        assert figure.measures.p_value == pytest.approx(min(1, 3 * 2 * stats.norm.sf(z)), rel=0.08)


def test_looking_often_widens_a_ratio_and_tests_nothing(report: Report) -> None:  # noqa: F811
    entry = report.question("q1")
    (pair,) = compare_strata(report, entry, PAIR, anytime=True).figures
    assert pair.measures.p_value is None
    (once,) = compare_strata(report, entry, PAIR, anytime=False).figures
    wide, narrow = pair.measures.ratio_interval, once.measures.ratio_interval
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert pair.distance.verdict == HigherGroup.SECOND


def test_every_format_and_the_api_hold_the_comparison(
    site: tuple[Flask, str],  # noqa: F811
    researcher: FlaskClient,  # noqa: F811
    database_url: str,  # noqa: F811
) -> None:
    home = f"/manage/surveys/{site[1]}"
    document = json.loads(researcher.get(f"{home}/report.json", query_string=ASKED).text)
    (found,) = document["comparisons"]
    (row,) = found["rows"]
    assert [group["stratum"] for group in found["groups"]] == list(PAIR)
    assert row["ratio"] == pytest.approx(2 / 7)
    assert (row["higher"], row["answer"]) == ("second", "yes")
    rows = list(csv.DictReader(io.StringIO(researcher.get(f"{home}/report.csv", query_string=ASKED).text)))
    numbers = {each["statistic"]: each for each in rows if each["group"] == "compared"}
    assert float(numbers["share_ratio"]["estimate"]) == row["ratio"]
    assert float(numbers["share_difference"]["interval_low"]) == row["difference_interval"][0]
    assert float(numbers["share_difference_p_value"]["estimate"]) == row["p_value"]
    page = researcher.get(f"{home}/report.html", query_string=ASKED).text.replace("\xa0", " ")
    for text in ("Two strata compared", "Ratio, test and power", "0.286", "&lt; 0.001"):
        assert text in page
    assert "Ratio, test and power" in researcher.get(f"{home}/results", query_string=ASKED).text
    assert "Two strata compared" not in researcher.get(f"{home}/report.html").text
    for ending in ("pdf", "xlsx"):
        assert researcher.get(f"{home}/report.{ending}", query_string=ASKED).status_code == 200
    told = factories.run(database_url, "estimate", site[1], "--compare", *ASKED.values(), "--json")
    assert json.loads(told.stdout) == {"comparisons": [found]}
    printed = factories.run(database_url, "report", site[1], "--compare", *ASKED.values()).stdout
    assert "q1: Peru > Arequipa (600) less Peru > Cusco (600):" in printed
    assert "0.286" in printed
    assert "< 0.001" in printed


@pytest.mark.parametrize(
    ("asked", "status", "message"),
    [
        ({**ASKED, "second_stratum": ""}, 422, "is required where two strata are compared"),
        ({**ASKED, "second_stratum": "Mars"}, 422, "must be one of Peru,"),
        ({**ASKED, "question": "q7"}, 422, "must be one of q1, way, cups, drinks; it is q7"),
        ({**ASKED, "second_stratum": "Peru"}, 409, "must have nobody in common with the first"),
        ({**ASKED, "second_stratum": "Bolivia > Oruro"}, 409, "one of the two is withheld"),
        ({**ASKED, "second_stratum": PAIR[0]}, 409, "must be another stratum than the first"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(
    site: tuple[Flask, str],  # noqa: F811
    researcher: FlaskClient,  # noqa: F811
    asked: dict[str, str],
    status: int,
    message: str,
) -> None:
    answer = researcher.get(f"/manage/surveys/{site[1]}/report.html", query_string=asked)
    assert answer.status_code == status
    assert message in answer.text.replace("&gt;", ">")
