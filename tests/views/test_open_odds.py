"""An odds ratio that the responses leave without an end: no number stands for the missing one, wherever it is told."""

import csv
import html
import io
import json
import re

import openpyxl
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from server.cli import main
from server.inputs.schema import violations
from server.reports.formats import FORMATS
from tests.support import factories
from tests.support.report_readers import pdf_text
from tests.views.test_explanations import read_rows

pytestmark = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("yes", "open_end", "said"),
    [
        ({"North": 180, "South": 480}, 1, r"Higher: [\d,.]+ times the odds \(at least ([\d,.]+)\)\."),
        ({"North": 480, "South": 180}, 0, r"Lower: [\d,.]+ times the odds \(at most ([\d,.]+)\)\."),
    ],
    ids=["at least", "at most"],
)
def test_an_open_end_is_no_number(
    signed_in: FlaskClient, database_url: str, yes: dict[str, int], open_end: int, said: str
) -> None:
    """Fewer of the one group say yes than the coins alone would make: 180 of 800, at γ = 1/4."""
    survey = factories.publish(database_url)
    links = factories.plant(database_url, survey.slug, "North\nSouth")
    for name, number in yes.items():
        rows = [([1, 0], number), ([0, 0], 800 - number)]
        factories.store(database_url, survey, rows, links[name])
    home, query = f"/manage/surveys/{survey.slug}", "explain=q1&by=stratum"
    page = signed_in.get(f"{home}/explain?{query}").text
    files = {ending: signed_in.get(f"{home}/report.{ending}?{query}") for ending in FORMATS}
    assert violations(files["json"].json, "report") == []
    ((step,),) = (predictor["steps"] for predictor in files["json"].json["explanation"]["predictors"])
    ratio, ends, coefficients = (
        step[name] for name in ("odds_ratio", "odds_ratio_interval", "coefficient_interval")
    )
    assert (ends[open_end], coefficients[open_end]) == ((0, None)[open_end], None)
    closed = ends[1 - open_end]
    assert (closed - ratio) * (2 * open_end - 1) < 0
    ((name, sentence, average, extent, _p),) = read_rows(page)
    assert (name, extent) == ("South / North", "–")  # its own interval would be too narrow
    assert float(average.replace("−", "-")) != 0
    (told,) = re.findall(said, sentence)
    assert float(told) == pytest.approx(closed, rel=0.005)
    assert read_rows(files["html"].text) == read_rows(page)
    assert "the responses set no other end" in html.unescape(page)
    # The figure: an arrow where the bar goes on, at that end alone; and the same words.
    ranges = re.findall(r'<path class="range" d="([^"]+)"', page)
    assert [len(re.findall(head, ranges[0])) for head in (r"l-5 5l5 5", r"l5 5l-5 5")] == [
        1 - open_end,
        open_end,
    ]
    words = f"({('at most', 'at least')[open_end]} {told})"
    assert page.count(words) >= 2
    printed = CliRunner(env={"DATABASE_URL": database_url}).invoke(
        main, ("estimate", survey.slug, "--explain", "q1", "--by", "stratum")
    )
    document = pdf_text(files["pdf"].data, "Exams")
    book = openpyxl.load_workbook(io.BytesIO(files["xlsx"].data))
    cells = " ".join(str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row)
    for text in (page, files["html"].text, printed.stdout, cells):
        assert words[1:9] in text
        assert not re.search(r"∞|\binf\b", text)
    assert words.replace(" ", "") in document
    assert "∞" not in document
    (row,) = (
        row for row in csv.DictReader(io.StringIO(files["csv"].text)) if row["statistic"] == "odds_ratio"
    )
    assert (row["interval_low"], row["interval_high"])[open_end] == ("0.0", "")[open_end]
    assert json.dumps(files["json"].json, allow_nan=False)
