"""Where a sentence says that the responses do not tell, no number beside it looks like a finding; it stays readable."""

import io
from collections.abc import Iterator

import openpyxl
from flask.testing import FlaskClient

from server.config import Config
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.folded_parts import ALL_OPEN
from tests.support.front_client import create_app
from tests.support.report_readers import Page, pdf_text, plain

TITLE = str(factories.definition()["title"])
MARKS = "not told, out of its range"
NOTE = "“Out of its range”: nothing is cut"


def close(url: str, slug: str) -> tuple[FlaskClient, str]:
    """Whoever owns a survey that was closed, signed in; and where its pages are."""
    factories.close(url, slug)
    client = create_app(Config(database_url=url)).test_client()
    return factories.sign_in(client, factories.sign_in_secret(url)), f"/manage/surveys/{slug}"


def collect(url: str, gammas: list[float], responses: list[tuple[list[int], int]]) -> tuple[FlaskClient, str]:
    """A closed survey with these responses."""
    survey = factories.publish(url, factories.definition(gammas))
    factories.store(url, survey, responses)
    return close(url, survey.slug)


def test_an_estimate_that_tells_nothing_is_marked_in_tables(sqlite: NewDatabase) -> None:
    """Gamma 0.1 and 10 of 10 reports of no: an estimate of -200 %, and an interval from 0 to 100."""
    client, address = collect(sqlite(True), [0.45, 0.1], [([1, 0], 5), ([0, 0], 5)])
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert "These responses do not tell" in page
    assert page.count(f"<small>{MARKS}</small>") == 1
    assert page.count(NOTE) == 1


def test_an_estimate_that_tells_is_not(sqlite: NewDatabase) -> None:
    client, address = collect(sqlite(True), [0.45], [([1], 90), ([0], 110)])
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert "number strong" in page
    assert "<small>" not in page
    assert NOTE not in page


def split(url: str, yes: dict[str, int]) -> tuple[FlaskClient, str]:
    """As `collect`, in strata of 100: so many of each report yes, at γ = 0.3."""
    survey = factories.publish(url, factories.definition([0.3]))
    links = factories.plant(url, survey.slug, "\n".join(yes))
    for name, number in yes.items():
        factories.store(url, survey, [([1], number), ([0], 100 - number)], links[name])
    return close(url, survey.slug)


def test_a_group_that_is_beyond_what_is_possible_is_marked_among_strata(sqlite: NewDatabase) -> None:
    """15 of 100 in the north, where coins alone make 20."""
    client, address = split(sqlite(True), {"North": 15, "South": 60})
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert page.count("<small>out of its range</small>") == 1
    assert page.count(NOTE) == 1
    rows = [row for table in Page(client.get(f"{address}/report.html").text).tables for row in table.rows]
    marked = [row[0] for row in rows if row[-1] == "out of its range"]
    assert marked == ["North"]
    client, address = split(sqlite(True), {"North": 40, "South": 60})
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert "<small>" not in page
    assert NOTE not in page


def list_rows(client: FlaskClient, address: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The columns and rows of the table of estimates: of the page that is a report, and of the workbook."""
    for table in Page(client.get(f"{address}/report.html").text).tables:
        if table.name == "estimates":
            yield table.columns, table.rows
    book = openpyxl.load_workbook(io.BytesIO(client.get(f"{address}/report.xlsx").data))
    for sheet in book:
        if sheet.title == "Estimates":
            cells = [["" if cell is None else str(cell) for cell in row] for row in sheet.values]
            head = next(place for place, row in enumerate(cells) if "Answer" in row)
            yield cells[head], [row for row in cells[head + 1 :] if row[1]]


def test_reports_have_a_column_of_remarks_where_there_is_one_to_make(sqlite: NewDatabase) -> None:
    client, address = collect(sqlite(True), [0.45, 0.1], [([1, 0], 5), ([0, 0], 5)])
    told = list(list_rows(client, address))
    assert len(told) == 2
    for columns, rows in told:
        assert columns[-1] == "remark"
        assert [row[len(columns) - 1] for row in rows] == ["not told", MARKS]
    text = pdf_text(client.get(f"{address}/report.pdf").data, TITLE)
    assert text.count(plain(MARKS)) == 1
    assert text.count(plain(NOTE)) == 1


def test_reports_have_no_such_column_where_nothing_is_marked(sqlite: NewDatabase) -> None:
    client, address = collect(sqlite(True), [0.45], [([1], 90), ([0], 110)])
    told = list(list_rows(client, address))
    assert len(told) == 2
    for columns, _rows in told:
        assert "remark" not in columns
    text = pdf_text(client.get(f"{address}/report.pdf").data, TITLE)
    assert "outofitsrange" not in text
    assert plain(NOTE) not in text
