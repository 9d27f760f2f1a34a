"""What respondents read, whom each question was shown, and who was let in: the same in every format of both reports."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from flask.testing import FlaskClient

from server import reports
from server.output.documents import Document, to_html, to_pdf, to_xlsx
from server.people import survey_access
from server.study import strata, surveys
from tests.conftest import NewDatabase
from tests.support import factories, report_readers, sample_archives, sample_documents
from tests.support.factories import ROOT, Published
from tests.support.sample_ledger import ledger

TITLE = "Work without papers"
YES_NO = [{"name": name, "text": name} for name in ("nobody", "all")]
TEXTS = (
    "We are the University of Alba.",
    "to count it",
    "write to us (ana@example.org)",
    "Undeclared work is any work without a contract.",
    "Think of all of them",
    "Who sees it?",
    "Nobody can.",
    "our page (https://example.org/study)",
)
"""Each as it is read, its marks drawn."""
ROUTED = ("Have you worked so?: ", "Because of money; Because of papers")


def document() -> dict[str, Any]:
    """A survey with a text of every kind, and a question that some are shown."""
    coin = {"mechanism": "coin_flip", "gamma": 0.25}
    entries: list[dict[str, Any]] = [
        {
            "name": "meaning",
            "kind": "text",
            "text": "*Undeclared* work is any work **without** a contract.\n\nSee [our page](https://example.org/study).",
        },
        {"name": "worked", "kind": "yes_no", "text": "Have you worked so?", "design": coin},
        {
            "name": "others",
            "kind": "section",
            "text": "About the others",
            "body": "Think of **all** of them",
        },
        {
            "name": "seen",
            "kind": "check",
            "text": "Who *sees* it?",
            "options": YES_NO,
            "correct": "nobody",
            "feedback": "**Nobody** can.",
        },
        {
            "name": "why",
            "kind": "select_one",
            "text": "Why?",
            "options": [{"name": name, "text": f"Because of {name}"} for name in ("money", "papers")],
            "design": {"mechanism": "k_ary", "epsilon": 1.5},
            "show_if": {"question": "worked", "any_of": ["yes"]},
            "otherwise": "papers",
        },
        {
            "name": "thanks",
            "kind": "text",
            "text": "Thank you.",
            "show_if": {"question": "worked", "any_of": ["yes"]},
        },
    ]
    introduction = (
        "We are **the *University* of Alba**.\n\n- to count it\n- [write to us](mailto:ana@example.org)"
    )
    return {
        **factories.definition(questions=entries),
        "title": TITLE,
        "introduction": introduction,
        "consent": "I **agree** to this.",
        "least_age": 18,
    }


@pytest.fixture(scope="module")
def write_formats(sqlite: NewDatabase) -> Callable[[str, str], dict[str, str]]:
    """Every format of a report, "internal" or "public", as text."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, document())
    factories.store(database_url, survey, [([0, 0], 30), ([1, 1], 20)])
    factories.close(database_url, survey.slug)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        report, public = reports.read(session, found), reports.read_published(session, found, ledger())

    def write(kind: str, locale: str) -> dict[str, str]:
        made: Document
        if kind == "internal":
            made = reports.build_internal_document(report, ledger(), locale)
            rest = {"csv": reports.to_csv(report), "json": reports.to_json(report)}
        else:
            made = reports.build_public_document(public, locale)
            rest = {"csv": reports.public_csv(public), "json": reports.public_json(public)}
        sheets = sample_documents.workbook(to_xlsx(made)).worksheets
        cells = (cell.value for sheet in sheets for row in sheet.iter_rows() for cell in row)
        return {
            "html": to_html(made),
            "pdf": report_readers.pdf_text(to_pdf(made), TITLE),
            "xlsx": " ".join(str(value) for value in cells if value is not None),
            **rest,
        }

    return write


@pytest.mark.parametrize("locale", ["en", "es"])
@pytest.mark.parametrize("kind", ["internal", "public"])
def test_every_text_stands_in_every_format_drawn(
    kind: str, locale: str, write_formats: Callable[[str, str], dict[str, str]]
) -> None:
    made = write_formats(kind, locale)
    drawn = {
        "html": report_readers.plain(re.sub("<[^>]*>", "", made["html"].partition("<body")[2])),
        "pdf": made["pdf"],
        "xlsx": report_readers.plain(made["xlsx"]),
    }
    for name, said in drawn.items():
        for text in (*TEXTS, *ROUTED, "I agree to this."):
            assert report_readers.plain(text) in said, (name, text)
        assert "**" not in said
        assert "](" not in said
    page = made["html"]
    assert "<strong>the </strong><strong><em>University</em></strong>" in page
    assert '<a href="mailto:ana@example.org"' in page
    assert re.search(r"<ul>\s*<li dir=\"auto\">to count it</li>", page)


@pytest.mark.parametrize("kind", ["internal", "public"])
def test_programs_find_the_texts_and_whom_each_question_was_shown(
    kind: str, write_formats: Callable[[str, str], dict[str, str]]
) -> None:
    made, asked = write_formats(kind, "en"), document()
    json_ = json.loads(made["json"])
    schema = "report" if kind == "internal" else "public_report"
    jsonschema.validate(
        json_, json.loads((ROOT / "server" / "schemas" / f"{schema}.schema.json").read_text("utf-8"))
    )
    about = json_ if kind == "internal" else json_["versions"][0]
    for name in ("introduction", "consent", "least_age"):
        assert about[name] == asked[name]
    entries = {entry["name"]: entry for entry in asked["questions"]}
    assert [(text["name"], text["before"]) for text in about["texts"]] == [
        ("meaning", "worked"),
        ("others", "why"),
        ("seen", "why"),
        ("thanks", None),
    ]
    for text in about["texts"]:
        assert {name: value for name, value in text.items() if name != "before"} == entries[text["name"]]
    first, second = about["questions"]
    assert (first["show_if"], first["otherwise"]) == (None, None)
    assert (second["show_if"], second["otherwise"]) == (entries["why"]["show_if"], "papers")
    assert first["answer_texts"] == ["No", "Yes"]
    assert (first["mechanism"], first["parameters"]) == ("coin_flip", {"gamma": 0.25})
    assert json_["admission"] == [{"version": 1, "strata": None, "ways": ["link"], "known": True}]

    rows = list(csv.DictReader(io.StringIO(made["csv"], newline="")))
    rows = [row for row in rows if row["statistic"] != "disclosure"]
    texts = [row for row in rows if row["statistic"] == "text"]
    name, kind_ = ("question", "kind") if kind == "internal" else ("of_1", "what")
    assert [(row[name], row[kind_]) for row in texts] == [
        ("", "introduction"),
        ("", "consent"),
        ("meaning", "text"),
        ("others", "section"),
        ("seen", "check"),
        ("thanks", "text"),
    ]
    # In CSV an apostrophe keeps spreadsheets from taking an item of a list for a formula.
    assert texts[0]["text"].replace("'- ", "- ") == asked["introduction"]
    if kind == "internal":
        shown = {row["question"]: (row["shown_if"], row["otherwise"]) for row in rows if row not in texts}
        assert shown["worked"] == ("", "")
        assert [json.loads(cell) for cell in shown["why"]] == [entries["why"]["show_if"], "papers"]
        conditions = {row["question"]: row["shown_if"] for row in texts}
        assert {name: cell for name, cell in conditions.items() if name != "thanks"} == dict.fromkeys(
            ("", "meaning", "others", "seen"), ""
        )
        assert json.loads(conditions["thanks"]) == entries["thanks"]["show_if"]


@pytest.mark.parametrize(("asked_in", "range_"), [("en", "2.5 to 1000.5 €"), ("es", "2,5 a 1000,5 €")])
@pytest.mark.parametrize("read_in", ["en", "es"])
def test_a_range_in_a_condition_is_in_the_language_of_the_question(
    database_url: str, asked_in: str, range_: str, read_in: str
) -> None:
    """Whoever reads: between the survey's own words stands no other language, and no other decimal sign."""
    paid = {
        "name": "paid",
        "kind": "number",
        "text": "¿?",
        "low": 0,
        "high": 2000,
        "step": 0.5,
        "unit": "€",
        "design": {"mechanism": "stochastic_rounding", "epsilon": 1.5},
    }
    shown_if = {"question": "paid", "from": 2.5, "to": 1000.5}
    why = {**factories.question("why", "¿¿??"), "show_if": shown_if, "otherwise": "no"}
    thanks = {"name": "thanks", "kind": "text", "text": "¡!", "show_if": shown_if}
    asked = factories.definition(questions=[paid, why, thanks], language=asked_in)
    survey = factories.publish(database_url, asked)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        made = reports.build_internal_document(reports.read(session, found), ledger(), read_in)

    page = to_html(made).replace("\N{NO-BREAK SPACE}", " ")

    assert page.count(f"¿?: {range_}") == 2


def ways(survey: Published, client: FlaskClient) -> list[tuple[int, list[str], bool]]:
    found = client.get(f"/manage/surveys/{survey.slug}/report.json").get_json()["admission"]
    return [(each["version"], each["ways"], each["known"]) for each in found]


def switch(client: FlaskClient, survey: Published, invited: bool) -> None:
    fields = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}
    data = {**fields, **({"by_invitation": "yes"} if invited else {})}
    assert client.post(f"/manage/surveys/{survey.slug}/schedule", data=data).status_code == 303


def publish(client: FlaskClient, database_url: str, slug: str, title: str) -> Published:
    """The next version, published as researchers do, with enough responses to be shown."""
    factories.save(database_url, slug, factories.definition(title=title))
    assert client.post(f"/manage/surveys/{slug}/publish").status_code == 303
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        assert found.current is not None
        survey = Published(slug, found.current.sha256, surveys.definition_of(found.current).as_json())
        link = found.link
    factories.store(database_url, survey, [([1, 0], 30)], link)
    return survey


def test_who_was_let_in_is_said_version_by_version(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    first = publish(signed_in, database_url, slug, "One")
    assert ways(first, signed_in) == [(1, ["link"], True)]
    publish(signed_in, database_url, slug, "Two")
    switch(signed_in, first, invited=True)
    publish(signed_in, database_url, slug, "Three")

    assert ways(first, signed_in) == [
        (3, ["invitation"], True),
        (2, ["invitation", "link"], True),
        (1, ["link"], True),
    ]
    page = signed_in.get(f"/manage/surveys/{slug}/report.html").text
    rows = re.findall(r'<td data-label="let in">([^<]*)</td>|data-label="let in">([^<]*)<', page)
    assert ["".join(row).partition(",")[0] for row in rows] == [
        "by invitation only",
        "some of the time everybody who had the link",
        "everybody who had the link",
    ]


def test_a_part_by_invitation_is_named(signed_in: FlaskClient, database_url: str) -> None:
    """The broken twin: of the survey as a whole it would be said that everybody had a way in."""
    slug = factories.draft(database_url, factories.definition())
    factories.plant(database_url, slug, "Alta, 4000\nBaja, 3000\nCosta, 900")
    survey = publish(signed_in, database_url, slug, "One")
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        costa = next(node for node in strata.tree(session, found) if node.path == "Costa").stratum.id
    open_ = signed_in.get(f"/manage/surveys/{slug}/report.json").get_json()["admission"]
    assert [(each["strata"], each["ways"]) for each in open_] == [(None, ["link"])]

    fields = {f"access.{costa}": "invited"}
    assert signed_in.post(f"/manage/surveys/{slug}/strata", data=fields).status_code == 303
    publish(signed_in, database_url, slug, "Two")

    said = signed_in.get(f"/manage/surveys/{slug}/report.json").get_json()["admission"]
    assert [(each["version"], each["strata"], each["ways"], each["known"]) for each in said] == [
        (2, ["", "Alta", "Baja"], ["link"], True),
        (2, ["Costa"], ["invitation"], True),
        (1, ["", "Alta", "Baja"], ["link"], True),
        (1, ["Costa"], ["invitation", "link"], True),
    ]
    page = signed_in.get(f"/manage/surveys/{survey.slug}/report.html").text
    assert "to version 2 (Costa) by invitation only" in page


def test_of_a_survey_that_came_from_elsewhere_only_what_is_known_is_said(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    publish(signed_in, database_url, slug, "One")
    second = publish(signed_in, database_url, slug, "Two")
    switch(signed_in, second, invited=True)
    factories.close(database_url, slug)

    copy = sample_archives.import_archive(signed_in, sample_archives.export(signed_in, slug))

    assert ways(Published(copy, "", {}), signed_in) == [(2, ["invitation"], False), (1, [], False)]
    page = signed_in.get(f"/manage/surveys/{copy}/report.html").text
    assert "by invitation only, one response for each code, as far as is known" in page
    assert "not known" in page
