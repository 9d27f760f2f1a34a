"""Texts that somebody wrote: escaped in every page and report, harmless in CSV, intact in JSON."""

import csv
import io
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import editor_form, factories

HTML = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>&\"'{{ 7*7 }}{% raw %}</title></style></textarea>"
)
FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://example.org","click")',
    "＝1+1",
    "＋1",
    "－1",
    "＠A1",
]
BEFORE = ["", " ", "   ", "\t", "\r", "\n", " \t", "\u00a0", "\u200b", "\ufeff", "\u3000", "\x0b"]


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens before anything reaches a database."""
    return sqlite(True)


def _with_text(text: str, gamma: float = 0.25) -> dict[str, Any]:
    questions = [factories.question("q1", text, gamma)]
    return factories.definition(title=text, introduction=text, questions=questions)


def _pages(slug: str) -> list[str]:
    home = f"/manage/surveys/{slug}"
    paths = ["", "/edit", "/preview", "/results", "/report.html"]
    return ["/manage/surveys", f"/s/{slug}", *(home + path for path in paths)]


def test_html_in_a_text_is_escaped_on_every_page(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, _with_text(HTML))
    signed_in.post(survey.url, json=survey.response([1]))
    shown = 0

    for path in _pages(survey.slug):
        answer = signed_in.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text, path
        assert "<img src=x" not in answer.text, path
        assert "49" not in answer.text.partition("<body")[2].partition("alert")[2][:60], path
        shown += "&lt;script&gt;alert(1)" in answer.text

    assert shown >= 5


def test_html_in_a_refused_text_is_escaped_in_the_message(signed_in: FlaskClient) -> None:
    file = json.dumps({HTML: 1}).encode()
    refused = [
        signed_in.post(
            "/manage/surveys/new?check=1",
            data={"title": HTML * 100, "budget": HTML, "questions[0].name": HTML, "questions[0].text": HTML},
            follow_redirects=True,
        ),
        signed_in.post("/manage/surveys/new", data={HTML: HTML}),
        signed_in.post("/manage/surveys/new?lang=%22%3E%3Cscript%3Ealert(1)", data={}),
        signed_in.get(f"/manage/surveys/{HTML.replace('/', '')}"),
        signed_in.post("/manage/surveys/import", data={"definition": (io.BytesIO(file), HTML)}),
    ]

    for answer in refused:
        assert answer.status_code < 500
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text


def test_definition_keeps_the_text_as_it_was_written(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, _with_text(HTML))

    served = signed_in.get(f"/s/{survey.slug}/survey.json").get_json()
    exported = signed_in.get(f"/manage/surveys/{survey.slug}/definition.json").get_json()
    report = signed_in.get(f"/manage/surveys/{survey.slug}/report.json").get_json()

    assert served["definition"]["title"] == exported["title"] == report["title"] == HTML
    assert served["definition"]["questions"][0]["text"] == report["questions"][0]["text"] == HTML
    assert exported == _with_text(HTML)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_a_csv_file_starts_a_formula(
    formula: str, signed_in: FlaskClient, database_url: str
) -> None:
    texts = [before + formula for before in BEFORE]
    questions = [factories.question(f"q{place}", text) for place, text in enumerate(texts)]
    survey = factories.publish(database_url, factories.definition(title=formula, questions=questions))
    for report in (0, 1):
        signed_in.post(survey.url, json=survey.response([report] * len(texts)))
    found = set()

    for file in ("report.csv", "codebook.csv", "responses.csv"):
        answer = signed_in.get(f"/manage/surveys/{survey.slug}/{file}")
        assert answer.content_type == "text/csv; charset=utf-8"
        for row in csv.reader(io.StringIO(answer.text, newline="")):
            found.update(cell for cell in row if formula in cell)
            assert not [cell for cell in row if _runs(cell)], (file, row)

    assert found
    assert all(cell.startswith("'") and cell.endswith(formula) for cell in found), found
    intact = signed_in.get(f"/manage/surveys/{survey.slug}/report.json").get_json()
    assert [question["text"] for question in intact["questions"]] == [text.strip() for text in texts]


ENDED = ["a;", "a; ", "a\t", "a\n", "a\n \n", "a,b;", 'a";']


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_formula_starts_where_another_separator_is_usual(
    formula: str, signed_in: FlaskClient, database_url: str
) -> None:
    """Excel in Spanish cuts cells at semicolons, and knows no quotes inside them."""
    questions = [factories.question(f"q{place}", text + formula) for place, text in enumerate(ENDED)]
    survey = factories.publish(database_url, factories.definition(questions=questions))

    for file in ("report.csv", "codebook.csv"):
        text = signed_in.get(f"/manage/surveys/{survey.slug}/{file}").text
        cells = [cell for line in re.split("[\r\n]", text) for cell in re.split("[;\t]", line)]
        assert sum(cell.lstrip().startswith(f"'{formula[0]}") for cell in cells) >= len(ENDED)
        assert not [cell for cell in cells if _runs(cell)]


@pytest.mark.parametrize("texts", [("=A", "'=A", "''=A"), ("x;=A", "x;'=A"), ("a\n-b", "a\n'-b")])
def test_two_texts_stay_two_in_a_csv_file(
    texts: tuple[str, ...], signed_in: FlaskClient, database_url: str
) -> None:
    """A text that looks as if it had been made harmless is not taken for one that was."""
    questions = [factories.question(f"q{place}", text) for place, text in enumerate(texts)]
    survey = factories.publish(database_url, factories.definition(questions=questions))

    file = signed_in.get(f"/manage/surveys/{survey.slug}/codebook.csv").text
    rows = csv.DictReader(io.StringIO(file, newline=""))

    assert len({row["text"] for row in rows}) == len(texts)


def _runs(cell: str) -> bool:
    """Whether a spreadsheet may take the cell for a formula: not a number, and a sign comes first."""
    try:
        float(cell)
    except ValueError:
        return cell.lstrip(" \t\r\n\u00a0\u200b\ufeff\u3000\x0b")[:1] in tuple("=+-@＝＋－＠")
    return False


def test_formula_check_has_teeth() -> None:
    assert [_runs(cell) for cell in ("=1", " -x", "\t@a", "'=1", "-0.5", "a=1", "")] == [True] * 3 + [
        False
    ] * 4


@pytest.mark.parametrize(
    ("field", "limit"), [("title", 200), ("introduction", 4000), ("questions[0].text", 500)]
)
def test_text_that_is_too_long_is_kept_and_refused_with_its_limit(
    field: str, limit: int, signed_in: FlaskClient
) -> None:
    long = "ñ" * 10_000

    editor = editor_form.new(signed_in).type({field: long}).press("save")

    said = editor.page.partition('role="alert"')[2].partition("</ul>")[0]
    assert f"at most {limit} characters; it has 10000" in said
    assert editor[field] == long
    assert signed_in.post(f"{editor.path}/publish").status_code == 422


def test_texts_at_their_limits_are_kept_whole(signed_in: FlaskClient, database_url: str) -> None:
    """100 questions of 500 characters, each four bytes long, in one form; and of 50 answers, one of them."""
    coin = "\U0001fa99"
    questions = [factories.question(f"q{number}", coin * 500) for number in range(100)]
    options = [{"name": f"o{place}", "text": f"{coin * 197}{place}"} for place in range(50)]
    questions[0] |= {"kind": "select_one", "options": options, "design": {"mechanism": "k_ary", "epsilon": 1}}
    document = factories.definition(title=coin * 200, introduction=coin * 4000, questions=questions)
    editor = editor_form.edit(signed_in, factories.draft(database_url, document))

    editor.type(language="es").press("save")

    slug = editor.answer.request.path.rpartition("/")[2]
    path = f"/manage/surveys/{slug}"
    assert signed_in.get(f"{path}/definition.json").get_json() == {**document, "language": "es"}
    assert signed_in.post(f"{path}/publish").status_code == 303


def test_form_that_is_larger_than_any_survey_is_refused(signed_in: FlaskClient, database_url: str) -> None:
    before = factories.dump(database_url)

    answer = signed_in.post("/manage/surveys/new", data={"introduction": "x" * (5 << 20)})

    assert answer.status_code == 413
    assert "What was sent: must be at most 4194304 bytes" in answer.text
    assert factories.dump(database_url) == before
