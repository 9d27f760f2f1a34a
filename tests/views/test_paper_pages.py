"""The page on which sheets of paper are keyed in, and its form."""

import re

import pytest
from flask.testing import FlaskClient

from server.collect import batches
from server.output.languages import RESPONDENT_LANGUAGES, list_readings
from server.people import survey_access
from server.store.models import Mode
from tests.support import factories

BATCH = "0123456789abcdef" * 2
FORM = {"version": "1", "batch": BATCH, "sheets": "AB\r\nba\r\n\r\nA A\r\n"}


def count_stored(database_url: str, slug: str) -> int:
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        return batches.count_stored(session.connection(), survey.id)


def test_sheets_are_keyed_in_line_by_line_and_a_form_that_is_sent_twice_stores_nothing_new(
    signed_in: FlaskClient, survey: factories.Published, database_url: str
) -> None:
    page = f"/manage/surveys/{survey.slug}/paper"

    first = signed_in.post(page, data=FORM)
    again = signed_in.post(page, data=FORM)

    assert (first.status_code, first.location) == (303, f"{page}?version=1&said=stored")
    assert (again.status_code, again.location) == (303, f"{page}?version=1&said=known")
    assert count_stored(database_url, survey.slug) == 3
    rows = factories.dump(database_url)["responses"]
    assert sorted(bytes(row[2]) for row in rows) == [b"\0\1", b"\1\0", b"\1\1"]  # type: ignore[arg-type]
    assert {row[5] for row in rows} == {Mode.PAPER}
    assert "Stored. These sheets count now" in signed_in.get(first.location).text
    assert "nothing was stored twice" in signed_in.get(again.location).text
    log = signed_in.get(f"/manage/surveys/{survey.slug}/log").text
    assert log.count("keyed in sheets of paper of version 1") == 1


def test_a_new_batch_is_drawn_for_each_page(signed_in: FlaskClient, survey: factories.Published) -> None:
    names = {
        re.findall(
            r'name="batch" value="([0-9a-f]{32})"', signed_in.get(f"/manage/surveys/{survey.slug}/paper").text
        )[0]
        for _ in range(3)
    }
    assert len(names) == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"sheets": "AB\r\nAX\r\nA"},
            "Line 2:</strong> must have one of A, B for question 2; it has X",
        ),
        (
            {"sheets": "AB\r\nAX\r\nA"},
            "Line 3:</strong> must have 2 letters, one for each question; it has 1",
        ),
        ({"sheets": " \r\n"}, "Sheets:</strong> must have from 1 to 50 lines; it has 0"),
        ({"sheets": "AB\r\n" * 51}, "Sheets:</strong> must have from 1 to 50 lines; it has 51"),
        ({"batch": "me"}, "Batch:</strong> must be 32 hexadecimal digits in lower case; it is me"),
        ({"stratum": "77"}, "Stratum:</strong> is not known"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    signed_in: FlaskClient, survey: factories.Published, database_url: str, change: dict[str, str], said: str
) -> None:
    before = factories.dump(database_url)

    answer = signed_in.post(f"/manage/surveys/{survey.slug}/paper", data={**FORM, **change})

    assert answer.status_code in (404, 422)
    assert said in answer.text
    assert factories.dump(database_url) == before


def test_what_was_typed_comes_back_with_the_refusal(
    signed_in: FlaskClient, survey: factories.Published
) -> None:
    text = signed_in.post(f"/manage/surveys/{survey.slug}/paper", data={**FORM, "sheets": "AX"}).text

    assert re.search(r"<textarea[^>]*name=\"sheets\"[^>]*>\s*AX</textarea>", text)
    assert f'name="batch" value="{BATCH}"' in text


def test_lines_that_were_changed_after_they_were_stored_are_not_stuck(
    signed_in: FlaskClient, survey: factories.Published, database_url: str
) -> None:
    """Somebody pressed, waited, changed a line and pressed again: the first lines were stored."""
    page = f"/manage/surveys/{survey.slug}/paper"
    signed_in.post(page, data=FORM)

    answer = signed_in.post(page, data={**FORM, "sheets": "BB"})

    assert answer.status_code == 409
    assert "Press again only if these lines are other sheets" in answer.text
    assert re.search(r"<textarea[^>]*>\s*BB</textarea>", answer.text)
    (batch,) = re.findall(r'name="batch" value="([0-9a-f]{32})"', answer.text)
    assert batch != BATCH
    again = signed_in.post(page, data={**FORM, "sheets": "BB", "batch": batch})
    assert again.status_code == 303
    assert count_stored(database_url, survey.slug) == 4


def test_the_next_batch_counts_for_the_stratum_of_the_one_before(
    signed_in: FlaskClient, survey: factories.Published, database_url: str
) -> None:
    """Sheets cannot be taken back: a choice that is forgotten puts the next batch into the wrong place."""
    factories.plant(database_url, survey.slug, "North > A\nNorth > B")
    page = f"/manage/surveys/{survey.slug}/paper"
    (number,) = re.findall(r'value="(\d+)">North &gt; B', signed_in.get(page).text)

    stored = signed_in.post(page, data={**FORM, "stratum": number})

    assert stored.status_code == 303
    assert re.findall(r'value="(\d+)" selected', signed_in.get(stored.location).text) == [number]


def test_the_form_is_downloaded_and_what_stands_in_the_way_is_named(
    signed_in: FlaskClient, survey: factories.Published, database_url: str
) -> None:
    page = f"/manage/surveys/{survey.slug}/paper"
    form = signed_in.get(f"{page}/form.pdf?version=1&language=es")
    assert (form.status_code, form.mimetype, form.data[:5]) == (200, "application/pdf", b"%PDF-")
    assert signed_in.get(f"{page}/form.pdf?language=xx").status_code == 422
    odd = factories.publish(database_url, factories.definition([0.25, 0.2001]))

    text = signed_in.get(f"/manage/surveys/{odd.slug}/paper").text

    assert "Version 1 cannot be answered on paper" in text
    assert "<strong>Question 2</strong> has chances that three throws" in text
    assert "<textarea" not in text
    assert signed_in.get(f"/manage/surveys/{odd.slug}/paper/form.pdf").status_code == 409
    assert signed_in.post(f"/manage/surveys/{odd.slug}/paper", data=FORM).status_code == 409


def test_the_form_comes_in_each_language_and_its_digits(
    signed_in: FlaskClient, survey: factories.Published
) -> None:
    page = f"/manage/surveys/{survey.slug}/paper"
    readings = re.findall(r'<option value="([a-z-]+)" lang="\w+" translate="no"', signed_in.get(page).text)

    assert readings == [reading for reading, _name in list_readings()]
    assert {*RESPONDENT_LANGUAGES, "ar-u-nu-arab"} <= set(readings)
    assert signed_in.get(f"{page}/form.pdf?language=ar-u-nu-arab").mimetype == "application/pdf"
    assert signed_in.get(f"{page}/form.pdf?language=es-u-nu-arab").status_code == 422
