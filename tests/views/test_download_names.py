"""Files that are downloaded from a survey's pages are called by its title, what they hold and the day."""

from datetime import date

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.http import parse_options_header
from werkzeug.test import TestResponse

from server import reports
from server.people import survey_access
from server.study.surveys import today
from server.web.download_names import name_of_public_report
from tests.support import factories
from tests.support.factories import Published
from tests.support.release_form import set_budget
from tests.support.sample_ledger import ledger

TITLE = 'What students do: "exams"? 📝'
SAFE = "What students do exams 📝"


@pytest.fixture
def oddly_titled_survey(database_url: str) -> Published:
    """A survey with enough responses to be shown, and a title that no file can have."""
    survey = factories.publish(database_url, factories.definition(title=TITLE), minimum=10)
    factories.plant(database_url, survey.slug, "North\nSouth")
    factories.store(database_url, survey, [([1, 0], 30)])
    factories.close(database_url, survey.slug)
    return survey


def name_of(answer: TestResponse) -> str:
    assert answer.status_code == 200, answer.text[:500]
    header = answer.headers["Content-Disposition"]
    header.encode("latin-1")  # what a server can send at all
    kind, options = parse_options_header(header)
    assert kind == "attachment"
    return options["filename"]


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("report.pdf", "internal report"),
        ("report.xlsx", "internal report"),
        ("report.html", "internal report"),
        ("report.csv", "internal report"),
        ("report.json", "internal report"),
        ("report.json?version=1", "internal report, version 1"),
        ("figure.svg?question=q1", "q1"),
        ("figure.csv?question=q1", "q1"),
        ("microdata.zip", "microdata"),
        ("responses.csv", "noisy responses to version 1"),
        ("responses.sav", "noisy responses"),
        ("ddi.xml", "DDI"),
        ("strata.csv?question=q1", "q1 by stratum"),
        ("codebook.csv", "codebook of version 1"),
        ("links.csv", "links"),
        ("definition.json", "definition"),
        ("form.xlsx", "XLSForm"),
    ],
)
def test_a_file_is_called_by_the_title_what_it_holds_and_the_day(
    signed_in: FlaskClient, oddly_titled_survey: Published, page: str, what: str
) -> None:
    ending = page.partition("?")[0].rpartition(".")[2]

    answer = signed_in.get(
        f"/manage/surveys/{oddly_titled_survey.slug}/{page}", headers={"Accept-Language": "en"}
    )

    assert name_of(answer) == f"{SAFE}, {what}, {today()}.{ending}"


def test_files_are_called_in_the_language_of_whoever_reads(
    signed_in: FlaskClient, oddly_titled_survey: Published
) -> None:
    answer = signed_in.get(
        f"/manage/surveys/{oddly_titled_survey.slug}/report.csv", headers={"Accept-Language": "es"}
    )

    assert name_of(answer) == f"{SAFE}, informe interno, {today()}.csv"


def test_a_draft_is_called_by_its_own_title(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition(title="Not asked yet"))

    answer = signed_in.get(f"/manage/surveys/{slug}/definition.json", headers={"Accept-Language": "en"})

    assert name_of(answer) == f"Not asked yet, definition, {today()}.json"


def test_an_archive_is_called_so_too(signed_in: FlaskClient, oddly_titled_survey: Published) -> None:
    answer = signed_in.post(
        f"/manage/surveys/{oddly_titled_survey.slug}/export.zip", headers={"Accept-Language": "en"}
    )

    assert name_of(answer) == f"{SAFE}, archive, {today()}.zip"


def test_a_public_report_has_the_day_of_its_newest_release(
    app: Flask, oddly_titled_survey: Published, database_url: str
) -> None:
    """And of no response: whoever reads it tomorrow gets the same name."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, oddly_titled_survey.slug)
        assert survey is not None
        published = reports.read_published(session, survey, ledger())

    newest = max(each.made_at.date() for each in ledger().released)
    assert newest != today()
    assert newest > date(2026, 1, 1)
    assert name_of_public_report(published, "pdf") == f"{SAFE}, {newest}.pdf"


def test_an_internal_report_is_never_called_like_the_public_one(
    app: Flask, signed_in: FlaskClient, oddly_titled_survey: Published
) -> None:
    set_budget(signed_in, oddly_titled_survey.slug)
    signed_in.post(f"/manage/surveys/{oddly_titled_survey.slug}/releases/link")
    page = signed_in.get(f"/manage/surveys/{oddly_titled_survey.slug}/releases").text
    address = page[page.index("/r/") :][:15]

    public = app.test_client().get(f"{address}/report.csv", headers={"Accept-Language": "en"})
    internal = signed_in.get(
        f"/manage/surveys/{oddly_titled_survey.slug}/report.csv", headers={"Accept-Language": "en"}
    )

    assert name_of(public) == f"{SAFE}, {today()}.csv"  # nothing was released: the day of its questionnaire
    assert name_of(internal) != name_of(public)
