"""A survey's own texts in several languages: written side by side, and published with it."""

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from server.inputs import InputError
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.published_reader import parse_published
from tests.support import factories

ASKED = "Question 1?"
FRENCH = {"Exams": "Examens", ASKED: "Question un ?"}


def make_translated(**changes: object) -> dict[str, Any]:
    return factories.definition(translations={"fr": FRENCH}, **changes)


def field_of(page: str, text: str) -> str:
    """The field beside a text."""
    found = re.search(rf'<label for="(text-\d+)"[^>]*>{re.escape(text)}</label>', page)
    assert found is not None
    return found[1]


def test_translations_are_written_side_by_side(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    home = f"/manage/surveys/{slug}/translations"
    assert home in signed_in.get(f"/manage/surveys/{slug}/edit").text
    page = signed_in.get(f"{home}?to=fr").text
    assert "3 texts are missing." in page
    # Which language is written, and which question a text is of.
    assert '<h2 lang="fr" dir="auto">Français</h2>' in page
    assert re.findall(r"<h3>(.*)</h3>|<label [^>]*>(.*)</label>", page) == [
        ("", "Exams"),
        ("Question 1", ""),
        ("", ASKED),
        ("Question 2", ""),
        ("", "Question 2?"),
    ]
    base = page.partition('name="base" value="')[2].partition('"')[0]
    form = {
        "base": base,
        "to": "fr",
        field_of(page, ASKED): "Question un ?\r\n",
        field_of(page, "Exams"): " ",
    }
    saved = signed_in.post(home, data=form, follow_redirects=True).text
    assert all(told in saved for told in ("Saved.", "2 texts are missing.", "Question un ?"))
    # The editor says what is missing, keeps what it does not show, and a text that is written anew has none.
    editor = signed_in.get(f"/manage/surveys/{slug}/edit").text
    assert "2 texts are missing in Français." in editor
    exported = json.loads(signed_in.get(f"/manage/surveys/{slug}/definition.json").data)
    assert exported["translations"] == {"fr": {ASKED: "Question un ?"}}
    # Somebody else saved meanwhile: nothing of either is lost, and what was typed is shown.
    late = signed_in.post(home, data={**form, field_of(page, ASKED): "Autre"})
    assert (late.status_code, "Autre" in late.text) == (409, True)
    refused = signed_in.post(home, data={**form, "to": "xx"})
    assert refused.status_code == 422
    # What is refused is named as its field is: by the text that it translates.
    long = signed_in.post(home, data={**form, "base": "2", field_of(page, ASKED): "x" * 8001})
    assert long.status_code == 422
    assert re.search(
        rf"<strong>{re.escape(ASKED)}:?</strong> must have at most 8000 characters; it has 8001", long.text
    )
    assert "x" * 8001 in long.text


def test_what_is_published_holds_the_translations_of_its_texts(
    client: FlaskClient, database_url: str
) -> None:
    left = {**FRENCH, "Not asked any more?": "Plus demandé ?"}
    survey = factories.publish(
        database_url, factories.definition(translations={"fr": left, "en": {"Exams": "X"}})
    )
    other = factories.publish(database_url, factories.definition())
    published = json.loads(client.get(f"/s/{survey.slug}/survey.json").data)
    assert published["definition"]["translations"] == {"fr": FRENCH}
    assert survey.version != other.version
    assert parse_published(published["definition"]).translations == {"fr": FRENCH}
    # Without any, a definition is what it was before there were translations.
    assert "translations" not in json.loads(client.get(f"/s/{other.slug}/survey.json").data)["definition"]


@pytest.mark.parametrize(
    ("language", "yes", "spoken"), [("fr", "Oui", "fr"), ("pt", "Yes", "en"), ("en", "Yes", "en")]
)
def test_answers_that_we_word_are_in_the_page_s_language_where_the_survey_is(
    client: FlaskClient, database_url: str, language: str, yes: str, spoken: str
) -> None:
    slug = factories.publish(database_url, make_translated()).slug
    page = client.get(f"/s/{slug}?lang={language}").text
    assert f'<template id="names" lang="{spoken}" data-yes="{yes}"' in page
    # Once more, from memory, and to whoever asked for another language before.
    assert client.get(f"/s/{slug}", headers={"Accept-Language": language}).text == page


def test_odd_translations_are_refused(database_url: str) -> None:
    options = [{"name": name, "text": text} for name, text in (("a", "Often"), ("b", "Never"))]
    choice = {
        "name": "q",
        "kind": "select_one",
        "text": "How often?",
        "options": options,
        "design": {"mechanism": "k_ary", "epsilon": 1},
    }
    for translations, field in (
        ({"xx": {}}, "translations.xx"),
        ({"fr": {"Exams": " "}}, "translations.fr.Exams"),
        ({"fr": {"Exams": "x" * 8001}}, "translations.fr.Exams"),
        ({"fr": []}, "translations.fr"),
        ({"fr": {"Often": "Oui", "Never": "Oui"}}, "translations.fr"),
        ({"fr": {"Often": "Never"}}, "translations.fr"),
    ):
        with pytest.raises(InputError) as refused:
            parse_definition(factories.definition(questions=[choice], translations=translations))
        assert refused.value.problems[0].field == field


def test_copies_and_archives_keep_translations(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.publish(database_url, make_translated()).slug
    copy = signed_in.post(f"/manage/surveys/{slug}/duplicate", data={"title": "Exams again"})
    assert copy.status_code == 303
    there = re.search(r"/manage/surveys/(\w+)", copy.headers["Location"])
    assert there is not None
    exported = json.loads(signed_in.get(f"/manage/surveys/{there[1]}/definition.json").data)
    assert exported["translations"] == {"fr": FRENCH}
