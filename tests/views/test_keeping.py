"""The page on which a survey is copied, put away, exported and deleted."""

import html
import json
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.factories import Published, dump


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what depends on the database is checked with the archives."""
    return sqlite(True)


def home(slug: str, page: str = "") -> str:
    return f"/manage/surveys/{slug}{page}"


def new_slug(location: str) -> str:
    return location.rpartition("/")[2]


def test_a_duplicate_is_a_draft_with_the_same_questions_and_nothing_else(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    sample_archives.respond(signed_in, survey, [survey.slug], 3)
    before = dump(database_url)

    answer = signed_in.post(home(survey.slug, "/duplicate"), data={"title": "  Again \N{COIN} "})

    copy = signed_in.get(home(new_slug(answer.location), "/definition.json")).get_json()
    assert re.fullmatch("[0-9a-f]{32}", copy.pop("family"))
    assert copy == {**survey.definition, "title": "Again \N{COIN}"}
    after = dump(database_url)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"audit_entries", "drafts", "revisions", "surveys"}
    assert signed_in.get(f"/s/{new_slug(answer.location)}").status_code == 404


def test_a_duplicate_takes_the_tree_of_strata_under_new_links(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    links = factories.plant(database_url, survey.slug, sample_archives.TREE)

    copies = [
        new_slug(signed_in.post(home(survey.slug, "/duplicate"), data=data).location)
        for data in ({"strata": "on", "title": ""}, {})
    ]

    trees = [factories.plant(database_url, slug, "Last") for slug in copies]
    assert list(trees[0]) == [*links, "Last"]
    assert list(trees[1]) == ["Last"]
    assert not set(trees[0].values()) & set(links.values())


def test_an_unfinished_draft_is_duplicated_too(signed_in: FlaskClient, database_url: str) -> None:
    document = {
        **factories.definition(),
        "title": "",
        "questions": [{"name": "q", "kind": "yes_no", "text": ""}],
    }
    slug = factories.draft_unfinished(database_url, document)
    assert signed_in.get(home(slug, "/keeping")).status_code == 200
    answer = signed_in.post(home(slug, "/duplicate"), data={"title": "T"})
    assert signed_in.get(home(new_slug(answer.location), "/edit")).status_code == 200
    refused = signed_in.post(home(slug, "/duplicate"), data={"title": "a\x00b"})
    assert (refused.status_code, "NUL" in refused.text) == (422, True)


def test_an_archived_survey_is_listed_apart_and_only_read(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    sample_archives.respond(signed_in, survey, [survey.slug], 3)
    put_away = home(survey.slug, "/archive")
    assert signed_in.post(put_away).status_code == 409  # it is open
    factories.close(database_url, survey.slug)

    assert signed_in.post(put_away).status_code == 303

    listed, _, apart = signed_in.get("/manage/surveys").text.partition("<details>")
    assert (home(survey.slug) in listed, home(survey.slug) in apart) == (False, True)
    overview = signed_in.get(home(survey.slug)).text
    assert "It is in the archive" in overview
    assert home(survey.slug, "/edit") not in overview
    assert signed_in.get(home(survey.slug, "/results")).status_code == 200
    before = dump(database_url)
    for page in ("/edit", "/publish", "/close"):
        refused = signed_in.post(home(survey.slug, page), data={"title": "x", "action": "save"})
        assert (refused.status_code, "archived" in refused.text) == (409, True)
    assert dump(database_url) == before
    sample_archives.export(signed_in, survey.slug)

    assert signed_in.post(put_away, data={"out": "1"}).status_code == 303
    assert home(survey.slug) in signed_in.get("/manage/surveys").text.partition("<details>")[0]
    assert signed_in.post(home(survey.slug, "/close")).status_code == 303


@pytest.mark.parametrize("typed", ["", " ", "Exam", "exams", "Exams.", "\x00", "Exams" * 1000, "<b>"])
def test_what_is_typed_wrongly_deletes_nothing_and_is_kept(
    typed: str, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    before = dump(database_url)

    answer = signed_in.post(home(survey.slug, "/delete"), data={"confirmation": typed})

    assert answer.status_code == 422
    assert "must be exactly the survey’s title" in answer.text
    assert "<b>" not in answer.text.partition("<h1")[2]
    if typed.strip() and len(typed) < 100 and typed.isprintable():
        assert f'value="{typed.replace("<", "&lt;").replace(">", "&gt;")}"' in answer.text
    assert dump(database_url) == before


@pytest.mark.parametrize("what", ["title", "slug"])
def test_the_title_or_the_link_deletes_for_good(
    what: str, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.close(database_url, survey.slug)
    typed = {"title": "  Exams\n", "slug": survey.slug}[what]

    answer = signed_in.post(home(survey.slug, "/delete"), data={"confirmation": typed})

    assert "The survey was deleted for good." in signed_in.get(answer.location).text
    factories.keep_house(signed_in.application)
    after = dump(database_url)
    for name in ("surveys", "drafts", "survey_versions", "responses", "untidied"):
        assert after[name] == [], name
    said = [details for *_, action, details in after["audit_entries"] if action == "survey deleted"]
    assert [json.loads(str(details)) for details in said] == [{"slug": survey.slug}]
    for path in (home(survey.slug), survey.url.removesuffix("/responses")):
        assert signed_in.get(path).status_code == 404


def test_only_the_owner_exports_archives_and_deletes(
    app: Flask, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.close(database_url, survey.slug)
    number = factories.account(database_url, "maria")
    factories.join(database_url, survey.slug, number, "editor")
    editor = factories.sign_in(app.test_client(), factories.link_of(database_url, number))
    page = editor.get(home(survey.slug, "/keeping")).text
    assert "Duplicate" in page
    assert "Delete" not in page.partition("<main")[2].replace("Keep or delete", "")
    before = dump(database_url)

    for path in ("/export.zip", "/archive", "/delete"):
        answer = editor.post(home(survey.slug, path), data={"confirmation": survey.slug})
        assert (path, answer.status_code) == (path, 403)
    assert dump(database_url) == before
    copy = new_slug(editor.post(home(survey.slug, "/duplicate")).location)
    assert editor.post(home(copy, "/delete"), data={"confirmation": copy}).status_code == 303
    assert signed_in.get(home(survey.slug)).status_code == 200


def test_everything_that_is_done_is_in_the_log(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.settle(database_url, survey.slug, minimum=3)
    factories.close(database_url, survey.slug)
    for page, data in (("/export.zip", {}), ("/archive", {}), ("/archive", {"out": "1"})):
        assert signed_in.post(home(survey.slug, page), data=data).status_code in (200, 303)
    said = signed_in.get(home(survey.slug, "/log")).text
    for sentence in ("exported everything", "put the survey into the archive", "took the survey out"):
        assert sentence in said
    copy = sample_archives.import_archive(signed_in, sample_archives.export(signed_in, survey.slug))
    assert "imported the survey" in signed_in.get(home(copy, "/log")).text
    assert (
        "as a copy"
        in signed_in.get(home(new_slug(signed_in.post(home(copy, "/duplicate")).location), "/log")).text
    )


def test_an_open_survey_says_why_it_has_no_archive_and_what_there_is_instead(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, minimum=3)
    factories.store(database_url, survey, [([0, 1], 20)])
    said = " ".join(html.unescape(signed_in.get(home(survey.slug, "/keeping")).text).split())
    assert "a pause is not enough: an archive holds all responses, so that two of them would tell" in said
    assert "Until then, the results page has the noisy responses as files" in said
    assert signed_in.post(home(survey.slug, "/export.zip")).status_code == 409
    for file in ("responses.csv", "microdata.zip", "responses.sav"):
        assert signed_in.get(home(survey.slug, f"/{file}")).status_code == 200
