"""The page that explains an answer of a survey: what the command says, of shown responses alone."""

import csv
import html
import io
import json
import re
from collections import Counter

import openpyxl
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from server.cli import main
from server.inputs.schema import violations
from server.reports.formats import FORMATS
from server.reports.question_figures import FIGURE_FORMATS
from server.web import long_work
from tests.support import factories
from tests.support.explainable_survey import collect, make_explainable
from tests.support.report_readers import pdf_text

pytestmark = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)


def read_rows(page: str) -> list[list[str]]:
    """The cells of the table's rows, without their heads, which may stand for several."""
    table = page.partition('id="explained"')[2].partition("</table>")[0]
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in table.split("<tr>")]
    return [[html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row] for row in found if row]


def test_the_page_says_what_the_command_says(signed_in: FlaskClient, database_url: str) -> None:
    survey = collect(database_url)
    address = f"/manage/surveys/{survey.slug}/explain"
    assert f'href="{address}"' in signed_in.get(f"/manage/surveys/{survey.slug}/results").text
    offered = signed_in.get(address).text
    assert re.findall(r'<option value="([\w.]+)"', offered) == [
        *("copied", "stole", "party", "party.red", "party.green", "party.blue", "party.none"),
        *("cups", "mood"),
    ]
    assert re.findall(r'name="by" value="([\w.]+)"', offered) == [
        "stratum",
        "copied",
        "stole",
        "party",
        "mood",
    ]
    page = signed_in.get(f"{address}?explain=copied&by=stratum&by=stole&by=party.red").text
    assert "(others)" not in page
    assert page.count("<svg") == 1
    words = [word for name in ("stratum", "stole", "party.red") for word in ("--by", name)]
    command = ("estimate", survey.slug, "--explain", "copied", *words, "--json")
    found = json.loads(CliRunner(env={"DATABASE_URL": database_url}).invoke(main, command).stdout)
    steps = [step for predictor in found["predictors"] for step in predictor["steps"]]
    rows = read_rows(page)
    assert [row[0] for row in rows] == ["others / South", "Yes / No", "Option red / not: Option red"]
    for row, step in zip(rows, steps, strict=True):
        if step["tells"] is False:
            assert row[1:4] == ["These responses do not tell.", "–", "–"]
            continue
        low, high = step["odds_ratio_interval"]
        ends = f"at least {low:.3g}" if high is None else f"{low:.3g} to {high:.3g}"
        assert f"{step['odds_ratio']:.3g} times the odds ({ends})" in row[1]
        assert row[2] == f"{100 * step['average_effect']:.1f}".replace("-", "\N{MINUS SIGN}")
    assert [step["tells"] for step in steps] == [True, True, False]
    statistic = found["likelihood_ratio"]["statistic"]
    assert f"chi-squared {round(statistic, 2)}, degrees of freedom 3" in page


def test_responses_that_wait_move_nothing(signed_in: FlaskClient, database_url: str) -> None:
    survey = collect(database_url)
    address = f"/manage/surveys/{survey.slug}/explain?explain=copied&by=stratum&by=stole"
    before = signed_in.get(address).text
    factories.store(database_url, survey, [([1, 1, 0, 0, 0], 9)])
    assert signed_in.get(address).text == before
    factories.store(database_url, survey, [([1, 1, 0, 0, 0], 200)])
    assert signed_in.get(address).text != before


def test_little_is_said_to_tell_nothing(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, make_explainable(), minimum=10)
    address = f"/manage/surveys/{survey.slug}/explain"
    assert "Nothing is shown yet." in signed_in.get(address).text
    factories.store(database_url, survey, [([0, 0, 0, 0, 0], 9)])
    few = signed_in.get(f"{address}?explain=copied&by=stole").text
    assert ("Nothing is shown yet." in few, "<table" in few) == (True, False)
    factories.store(database_url, survey, [([k & 1, k >> 1, 0, 0, 0], 20) for k in range(4)])
    page = signed_in.get(f"{address}?explain=copied&by=stole").text
    assert read_rows(page)[0][1:4] == ["These responses do not tell.", "–", "–"]
    assert "times the odds" not in page
    assert 'class="dot"' not in page


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        (
            "explain=x&by=stole",
            422,
            "Answer to explain: must be one of copied, stole, party, cups, mood; it is x",
        ),
        ("explain=copied", 422, "What it may go with: must name what the answer may go with"),
        ("by=stole", 422, "Answer to explain: is required where"),
        (
            "explain=copied&by=copied",
            422,
            "What it may go with: must name no question twice; that of copied is there already",
        ),
    ],
)
def test_what_cannot_be_explained_is_named_on_the_page(
    signed_in: FlaskClient, database_url: str, query: str, status: int, said: str
) -> None:
    survey = factories.publish(database_url, make_explainable())
    factories.store(database_url, survey, [([0, 1, 0, 0, 0], 5), ([1, 0, 0, 1, 0], 5)])
    answer = signed_in.get(f"/manage/surveys/{survey.slug}/explain?{query}")
    assert answer.status_code == status
    assert said in html.unescape(re.sub(r"<[^>]+>", "", answer.text))
    assert answer.text.count("checked") == query.count("by=")


def test_too_many_and_too_long_are_refused(
    signed_in: FlaskClient, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 50), ([1, 0], 50)])
    address = f"/manage/surveys/{survey.slug}/explain?explain=q1&by=q2"
    with long_work.take_place("a"), long_work.take_place("b"):
        assert signed_in.get(address).status_code == 503
        assert signed_in.get(address.partition("?")[0]).status_code == 200
    monkeypatch.setattr(long_work, "LONGEST", -1)
    assert signed_in.get(address).status_code == 413


def test_the_report_has_the_section_in_every_format(signed_in: FlaskClient, database_url: str) -> None:
    survey = collect(database_url)
    home = f"/manage/surveys/{survey.slug}"
    query = "explain=copied&by=stratum&by=stole"
    page = signed_in.get(f"{home}/explain?{query}").text
    files = re.findall(rf'href="{home}/(\w+)\.\w+\?{re.escape(query)}"', html.unescape(page))
    assert Counter(files) == {"report": len(FORMATS), "explained": len(FIGURE_FORMATS)}
    for ending in FIGURE_FORMATS:
        assert signed_in.get(f"{home}/explained.{ending}?{query}").status_code == 200
    files = {ending: signed_in.get(f"{home}/report.{ending}?{query}") for ending in FORMATS}
    assert {answer.status_code for answer in files.values()} == {200}
    found = files["json"].json["explanation"]
    assert violations(files["json"].json, "report") == []
    assert read_rows(files["html"].text) == read_rows(page) != []
    assert "What“copied”goeswith" in pdf_text(files["pdf"].data, "Exams")
    book = openpyxl.load_workbook(io.BytesIO(files["xlsx"].data))
    names = [sheet.title for sheet in book]
    assert any("copied" in name for name in names), names
    told = [row for row in csv.DictReader(io.StringIO(files["csv"].text)) if row["group"] == "explained"]
    odds = [row for row in told if row["statistic"] == "odds_ratio"]
    steps = [step for predictor in found["predictors"] for step in predictor["steps"]]
    assert [float(row["estimate"]) for row in odds] == [step["odds_ratio"] for step in steps]
    tests = [float(row["estimate"]) for row in told if row["statistic"] == "likelihood_ratio_p_value"]
    assert tests[-1] == found["likelihood_ratio"]["p_value"]
    runner = CliRunner(env={"DATABASE_URL": database_url})
    options = ("report", survey.slug, "--explain", "copied", "--by", "stratum", "--by", "stole")
    assert json.loads(runner.invoke(main, [*options, "--json"]).stdout)["explanation"] == found
    assert "What “copied” goes with" in runner.invoke(main, options).stdout
    for wrong, said in (
        (("--by", "stole"), "--by needs --explain"),
        (("--explain", "copied", "--by", "stole", "--version", "1"), "--version must not be given with"),
        (("--explain", "copied", "--by", "stole", "--format", "microdata"), "--format microdata must not"),
    ):
        refused = runner.invoke(main, ["report", survey.slug, *wrong])
        assert (refused.exit_code, said in refused.stderr) == (2, True)
    assert signed_in.get(f"{home}/report.json?{query}&version=1").status_code == 422
    assert "explanation" not in signed_in.get(f"{home}/report.json").json


def test_a_question_that_is_called_like_the_strata_is_offered_by_its_answers(
    signed_in: FlaskClient, database_url: str
) -> None:
    questions = [factories.question("copied"), factories.question("stratum", "In which layer?")]
    survey = factories.publish(database_url, factories.definition(questions=questions))
    links = factories.plant(database_url, survey.slug, "North\nSouth")
    for name, rows in {"North": [([0, 1], 60), ([1, 0], 50)], "South": [([1, 1], 70), ([0, 0], 40)]}.items():
        factories.store(database_url, survey, rows, links[name])
    address = f"/manage/surveys/{survey.slug}/explain"
    offered = re.findall(r'name="by" value="([\w.]+)"', signed_in.get(address).text)
    assert offered == ["stratum", "copied", "stratum.no", "stratum.yes"]
    page = signed_in.get(f"{address}?explain=copied&by=stratum.yes&by=stratum").text
    assert [row[0] for row in read_rows(page)] == ["Yes / No", "South / North"]


def test_strata_that_count_by_their_populations_stand_before_every_response_counting_the_same(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, factories.definition([0.45, 0.45]), minimum=20)
    links = factories.plant(database_url, survey.slug, "North, 900\nSouth, 100")
    for link, odd in ((links["North"], 40), (links["South"], 150)):
        rows = [([0, 0], 150), ([0, 1], odd), ([1, 0], odd), ([1, 1], 150)]
        factories.store(database_url, survey, rows, link)
    factories.close(database_url, survey.slug)
    query = "explain=q1&by=q2"
    page = html.unescape(signed_in.get(f"/manage/surveys/{survey.slug}/explain?{query}").text)
    first, _, second = page.partition("<summary>Unweighted: every response counts the same</summary>")
    assert "Weighted by population: every stratum counts as much as its population" in first
    assert "corrected likewise (Rao and Scott 1984)" in first
    assert "Not weighted: every response counts the same." in second
    home = f"/manage/surveys/{survey.slug}"
    found = signed_in.get(f"{home}/report.json?{query}").get_json()["explanation"]
    for shown, own in ((first, found), (second, found["unweighted"])):
        ((step,),) = (predictor["steps"] for predictor in own["predictors"])
        assert f"Higher: {step['odds_ratio']:.3g} times the odds" in shown
    # A file of the figure holds what stands first.
    rows = list(csv.reader(io.StringIO(signed_in.get(f"{home}/explained.csv?{query}").text)))
    assert f"{found['predictors'][0]['steps'][0]['odds_ratio']:.3g} times" in rows[1][2]
    for kind in ("html", "pdf", "xlsx"):
        assert signed_in.get(f"{home}/report.{kind}?{query}").status_code == 200
    book = openpyxl.load_workbook(io.BytesIO(signed_in.get(f"{home}/report.xlsx?{query}").data))
    assert "Explained, unweighted" in book.sheetnames
    both = f"{home}/explain?explain=q1&by=stratum"
    assert "South / North" in html.unescape(signed_in.get(both).text)
