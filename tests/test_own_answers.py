"""Answers that the software words are in the survey's language, whatever that of a page or a file is."""

import csv
import html
import io
import re
from dataclasses import dataclass
from typing import Any

import openpyxl
import pypdf
import pytest
from flask.testing import FlaskClient

from server.people import survey_access
from tests.support import every_kind, factories
from tests.support.release_form import set_budget

LANGUAGES = ("en", "es")
OURS = {
    "en": {"Yes", "No", "Prefer not to say", "−10 to −0.5\N{NO-BREAK SPACE}cups"},
    "es": {"Sí", "No", "Prefiero no decirlo", "−10 a −0,5\N{NO-BREAK SPACE}cups"},
}
FOREIGN = {
    "en": r"\bSí\b|Prefiero no decirlo|Ninguna de estas|\d a [-−]?\d+(,\d)?\scups",
    "es": r"(?<!\{)\bYes\b(?! by)|Prefer not to say|None of these|\d to [-−]?\d+(\.\d)?\scups",
}
"""What an answer would be called in the other language; the wording of these questions has "Yes by ...?"."""


@dataclass(frozen=True)
class Case:
    """A survey in one language, and an interface in the other."""

    client: FlaskClient
    slug: str
    language: str
    other: str

    def get(self, path: str) -> bytes:
        answer = self.client.get(path, headers={"Accept-Language": self.other})
        assert answer.status_code == 200, path
        return answer.data

    def page(self, path: str) -> str:
        """The text of a page, the words of its attributes included."""
        page = self.get(path).decode()
        said = re.findall(r'(?:value|aria-label|data-\w+)="([^"]*)"', page)
        return html.unescape(re.sub(r"<[^>]*>", " ", page) + " ".join(said))


@pytest.fixture(params=LANGUAGES)
def case(request: pytest.FixtureRequest, signed_in: FlaskClient, database_url: str) -> Case:
    language = request.param
    survey = factories.publish(database_url, {**every_kind.document(), "language": language}, minimum=3)
    reports = [0] * _bytes(database_url, survey.slug)
    factories.store(database_url, survey, [(reports, 30), ([1, *reports[1:]], 30)])
    factories.close(database_url, survey.slug)
    return Case(signed_in, survey.slug, language, "es" if language == "en" else "en")


def _bytes(database_url: str, slug: str) -> int:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        return len(found.versions[-1].reports)


PARAMETERS = (
    r"forced Yes|deck for Yes|Share of Yes to|Sí forzado|mazo del Sí|Proporción de Sí a"
    r"|(?:On average|it may be|De media,|puede ser(?: de)?) −?[\d.,]+ (?:to|a) −?[\d.,]+\scups"
)
"""What is said in the reader's language of whatever survey: of the chances of a named design, of a mean."""


def foreign(case: Case, text: str) -> list[str]:
    """Answers in the language of the interface, with what stands around them."""
    text = re.sub(PARAMETERS, "", text)
    return [
        text[max(0, found.start() - 40) : found.end() + 40]
        for found in re.finditer(FOREIGN[case.language], text)
    ]


on_sqlite = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)


@on_sqlite
@pytest.mark.parametrize("page", ["results", "results?row=coin&column=paid", "simulate", "report.html", ""])
def test_pages_of_a_survey_name_answers_as_it_does(case: Case, page: str) -> None:
    text = case.page(f"/manage/surveys/{case.slug}/{page}".rstrip("/"))
    assert foreign(case, text) == []
    if page:
        assert any(answer in text for answer in OURS[case.language])


@on_sqlite
def test_the_builder_of_releases_names_answers_as_the_survey_does(case: Case) -> None:
    set_budget(case.client, case.slug)
    text = case.page(f"/manage/surveys/{case.slug}/releases/new")
    assert foreign(case, text) == []
    assert ("Sí" if case.language == "es" else "Yes") in text


@on_sqlite
def test_files_name_answers_as_the_survey_does(case: Case) -> None:
    home = f"/manage/surveys/{case.slug}"
    asked = f"?lang={case.other}"
    pdf = pypdf.PdfReader(io.BytesIO(case.get(f"{home}/report.pdf{asked}")))
    book = openpyxl.load_workbook(io.BytesIO(case.get(f"{home}/report.xlsx{asked}")))
    texts = {
        "pdf": " ".join(" ".join(page.extract_text() for page in pdf.pages).split()),
        "xlsx": "\n".join(
            str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row if cell.value
        ),
        "csv": case.get(f"{home}/report.csv").decode(),
        "codebook": case.get(f"{home}/codebook.csv?version=1").decode(),
    }
    assert {name: foreign(case, text) for name, text in texts.items()} == {name: [] for name in texts}
    rows = list(csv.DictReader(io.StringIO(texts["csv"].removeprefix("\ufeff"))))
    rows = [row for row in rows if row["statistic"] != "disclosure"]
    named = {row["answer"]: row["answer_text"] for row in rows if row["question"] in ("coin", "paid")}
    wanted: dict[str, Any] = {
        "en": {"yes": "Yes", "no": "No", "prefer_not_to_say": "Prefer not to say"},
        "es": {"yes": "Sí", "no": "No", "prefer_not_to_say": "Prefiero no decirlo"},
    }
    assert named == wanted[case.language]


@on_sqlite
def test_the_respondents_page_names_answers_as_the_survey_does(
    signed_in: FlaskClient, database_url: str
) -> None:
    for language, other in (LANGUAGES, LANGUAGES[::-1]):
        survey = factories.publish(database_url, {**every_kind.document(), "language": language})
        case = Case(signed_in, survey.slug, language, other)
        page = case.get(f"/s/{survey.slug}").decode()
        assert f'<html lang="{other}"' in page
        (names,) = re.findall(r'<template id="names"[^>]*>', page)
        assert f'lang="{language}"' in names
        assert foreign(case, html.unescape(page)) == []
        assert ('data-yes="Sí"' if language == "es" else 'data-yes="Yes"') in names


@on_sqlite
def test_the_editor_offers_answers_as_the_survey_words_them(
    signed_in: FlaskClient, database_url: str
) -> None:
    for language, other in (LANGUAGES, LANGUAGES[::-1]):
        draft = factories.draft(database_url, {**every_kind.document(), "language": language})
        page = Case(signed_in, draft, language, other).get(f"/manage/surveys/{draft}/edit").decode()
        offered = re.findall(r'value="(?:yes|no|prefer_not_to_say)"[^>]*>(?:\s*<span>)?([^<]+)<', page)
        assert set(map(str.strip, offered)) - {""} <= OURS[language]
        assert offered
