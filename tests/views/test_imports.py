"""The pages that take a file or a template: what they make, say and refuse."""

import io
import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.output.languages import RESPONDENT_LANGUAGES
from server.study.gallery import templates
from tests.conftest import NewDatabase
from tests.support import factories, sample_xlsforms
from tests.support.factories import dump


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens before anything reaches a database."""
    return sqlite(True)


IMPORT = "/manage/surveys/import"
GALLERY = "/manage/gallery"


def send(client: FlaskClient, body: bytes, name: str = "survey.json", **fields: str) -> TestResponse:
    return client.post(IMPORT, data={"definition": (io.BytesIO(body), name), **fields})


def drafts(client: FlaskClient) -> list[dict[str, Any]]:
    """Every survey that the researcher has, as exported."""
    page = client.get("/manage/surveys").text
    slugs = sorted({part.split('"')[0].split("/")[0] for part in page.split("/manage/surveys/")[1:]})
    made = [slug for slug in slugs if len(slug) == 12]
    return [client.get(f"/manage/surveys/{slug}/definition.json").get_json() for slug in made]


def test_a_stranger_gets_to_none_of_these_pages(client: FlaskClient, database_url: str) -> None:
    before = dump(database_url)

    for path in (IMPORT, GALLERY):
        assert client.get(path).status_code in (302, 303)
        assert client.post(path, data={"template": "wave", "language": "en"}).status_code in (302, 303, 403)

    assert dump(database_url) == before


def test_a_definition_becomes_a_draft(signed_in: FlaskClient) -> None:
    document = factories.definition(title="Imported")

    answer = send(signed_in, json.dumps(document).encode())

    assert answer.status_code == 303
    assert drafts(signed_in) == [document]


def test_a_form_becomes_a_draft_and_what_was_left_is_listed(signed_in: FlaskClient) -> None:
    answer = send(signed_in, sample_xlsforms.kobo(), "form.xlsx")

    assert answer.status_code == 201
    assert "5 questions were taken." in answer.text
    for cell in (
        "geopoint",
        "8–10, 12",
        "hint::Español (es)",
        "a place on the map would give the respondent away",
    ):
        assert cell in answer.text
    (draft,) = drafts(signed_in)
    assert (draft["title"], draft["language"]) == ("Tabaco y salud", "es")


def test_a_form_is_taken_in_the_language_that_was_chosen(signed_in: FlaskClient) -> None:
    send(signed_in, sample_xlsforms.kobo(), "form.xlsx", language="en")

    (draft,) = drafts(signed_in)
    assert draft["language"] == "en"
    assert "Do you smoke?" in {entry["text"] for entry in draft["questions"]}


def test_a_form_that_states_no_language_has_the_pages(signed_in: FlaskClient) -> None:
    rows = [["type", "name", "label"], ["select_one yn", "a", "¿A?"]]
    body = sample_xlsforms.form(rows, [["list_name", "name", "label"], ["yn", 1, "Sí"], ["yn", 0, "No"]])

    answer = signed_in.post(
        IMPORT, data={"definition": (io.BytesIO(body), "f.xlsx")}, headers={"Accept-Language": "es"}
    )

    assert answer.status_code == 303  # nothing was left: straight to the survey
    (draft,) = drafts(signed_in)
    assert draft["language"] == "es"


def test_a_form_of_which_nothing_can_be_taken_makes_no_draft(
    signed_in: FlaskClient, database_url: str
) -> None:
    before = dump(database_url)

    answer = send(
        signed_in, sample_xlsforms.form([["type", "name", "label"], ["text", "a", "A?"]]), "form.xlsx"
    )

    assert answer.status_code == 422
    assert "must hold a question that can be taken" in answer.text
    assert "free text cannot be randomised" in answer.text
    assert dump(database_url) == before


@pytest.mark.parametrize(
    ("name", "body", "status", "said"),
    [
        ("a.csv", b"type,name,label\n", 422, "it is a.csv"),
        ("a.txt", b"hello", 422, "it is a.txt"),
        ("a.json", b"", 422, "must not be empty"),
        ("a.json", b"hello", 400, "must be JSON"),
        ("a.json", b"\xff\xfe{", 400, "must be UTF-8"),
        ("a.json", b"[" * 100_000, 400, "must not be nested this deeply"),
        ("a.json", b'{"format": 1, "format": 1}', 400, "must stand only once"),
        ("a.json", b'{"format": 3}', 422, "must be one of 1, 2; it is 3"),
        ("a.json", b'{"questions": {"a": 1}}', 422, "must be a list"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), 422, "Save it again as .xlsx"),
        ("a.xlsx", b"PK\x03\x04 cut", 422, "cut off or is something else"),
        ("<script>alert(1)</script>.csv", b"a", 422, "&lt;script&gt;"),
    ],
)
def test_other_files_are_refused_by_name_and_reason(
    name: str, body: bytes, status: int, said: str, signed_in: FlaskClient, database_url: str
) -> None:
    before = dump(database_url)

    answer = send(signed_in, body, name)

    assert answer.status_code == status
    assert said in answer.text
    assert "<script>alert" not in answer.text
    assert dump(database_url) == before


def test_no_file_at_all_is_refused(signed_in: FlaskClient) -> None:
    for data in ({}, {"definition": "text"}, {"definition": (io.BytesIO(b""), "")}):
        answer = signed_in.post(IMPORT, data=data)
        assert answer.status_code == 422
        assert "must be chosen" in answer.text


def test_an_unknown_language_is_refused(signed_in: FlaskClient) -> None:
    answer = send(signed_in, sample_xlsforms.kobo(), "form.xlsx", language="xx")

    assert answer.status_code == 422
    assert f"must be one of {', '.join(RESPONDENT_LANGUAGES)}; it is xx" in answer.text


def test_texts_of_a_form_are_escaped_where_they_are_listed(signed_in: FlaskClient) -> None:
    html = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    rows = [["type", "name", "label", html], [html, html, html, html], ["select_one yn", html, html, html]]

    answer = send(
        signed_in,
        sample_xlsforms.workbook({"survey": rows, "choices": sample_xlsforms.YES_NO, "<b>x": [["a"]]}),
        html,
    )

    assert answer.status_code == 201
    assert "&lt;script&gt;" in answer.text
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    assert "<b>x" not in answer.text


def test_a_long_list_is_shortened(signed_in: FlaskClient) -> None:
    answer = send(signed_in, sample_xlsforms.leaving_out(601), "form.xlsx")

    assert "601 things were not taken" in answer.text
    assert answer.text.count("<tr>") == 501
    assert "101 more are not shown." in answer.text


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("name", [template.name for template in templates()])
def test_a_template_becomes_a_draft_in_the_editor(name: str, language: str, signed_in: FlaskClient) -> None:
    answer = signed_in.post(GALLERY, data={"template": name, "language": language})

    assert answer.status_code == 303
    assert answer.location.endswith("/edit")
    assert signed_in.get(answer.location).status_code == 200
    (template,) = [template for template in templates() if template.name == name]
    assert drafts(signed_in) == [template.definitions[language].as_json()]


def test_the_gallery_says_what_each_costs_and_needs(signed_in: FlaskClient) -> None:
    page = signed_in.get(GALLERY).text

    for figure in (
        "ε = 1.10",
        "ε = 1.39",
        "1,537",
        "3,264",
        "3,764",
        "3,805",
        "1,352",
        "910",
        "± 5 points",
    ):
        assert figure in page
    assert page.count("Use this template") == 6


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"template": "wave"},
        {"template": "wave", "language": "fr"},
        {"template": "../x", "language": "en"},
    ],
)
def test_a_template_that_is_not_there_makes_nothing(
    fields: dict[str, str], signed_in: FlaskClient, database_url: str
) -> None:
    before = dump(database_url)

    answer = signed_in.post(GALLERY, data=fields)

    assert answer.status_code == 404
    assert dump(database_url) == before


def test_the_list_of_surveys_leads_to_both_pages(signed_in: FlaskClient) -> None:
    page = signed_in.get("/manage/surveys").text

    assert f'href="{GALLERY}"' in page
    assert f'href="{IMPORT}"' in page
