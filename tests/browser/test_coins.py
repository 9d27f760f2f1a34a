"""One person, one set of coins: what the review has once shown is what can be sent, whatever is loaded again."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.browser.conftest import Opener
from tests.browser.people import PHONE, SURVEY, Respondent

REVIEW = "Only what the coins decided leaves this device"
REVIEWED = "This is what you were about to send"
SENT = "Sent. Thank you."
LOST = "If this page is loaded again, your answers are lost."
FORBIDDEN = (
    "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('SecurityError'); } })"
)


@pytest.fixture
def survey(served: factories.Served) -> factories.Published:
    return factories.publish(served.database_url, SURVEY)


@pytest.fixture
def visit(open_page: Opener, survey: factories.Published) -> Respondent:
    return Respondent(open_page(**PHONE), survey.slug).open()


def kept(page: Page) -> list[Any]:
    return [json.loads(text) for text in page.evaluate("Object.values(localStorage)")]


def test_eight_reloads_at_the_review_show_the_same_reports(
    visit: Respondent, served: factories.Served
) -> None:
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    for _ in range(8):
        visit.page.reload()
        expect(visit.heading(REVIEWED)).to_be_visible()
        assert visit.sent_body() == shown
    visit.send()
    row = [row for row in factories.stored(served.database_url) if row[0].hex() == json.loads(shown)["id"]]
    assert [one[2] for one in row] == [bytes(json.loads(shown)["reports"])]


def test_id_and_reports_are_kept_and_neither_answers_nor_coins(visit: Respondent) -> None:
    visit.answer("Yes", "No", "Yes")
    (entry,) = kept(visit.page)
    assert list(entry) == ["shown"]
    assert entry["shown"] == visit.sent_body()
    assert list(json.loads(entry["shown"])) == ["id", "version", "reports"]


def test_going_back_changes_what_is_kept_under_the_same_coins(
    open_page: Opener, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    # Coins that leave answers as they are.
    page.add_init_script(
        "const real = Crypto.prototype.getRandomValues; Crypto.prototype.getRandomValues = function (array) {"
        " return array instanceof Uint32Array ? array.fill(2 ** 31) : real.call(this, array); };"
    )
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    first = json.loads(visit.sent_body())
    visit.button("Back").click()
    expect(page.get_by_text(LOST)).to_be_visible()
    visit.choose("No")
    second = json.loads(visit.sent_body())
    assert (first["reports"], second["reports"]) == ([1, 0, 1], [1, 0, 0])
    assert first["id"] == second["id"]
    page.go_back()
    page.reload()
    expect(visit.heading(REVIEWED)).to_be_visible()
    assert json.loads(visit.sent_body()) == second


def test_only_erasing_begins_anew(visit: Respondent) -> None:
    page = visit.page
    for reload in (False, True):
        visit.answer("Yes", "No", "Yes")
        if reload:
            page.reload()
        visit.button("Erase my traces").click()
        expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
        assert kept(page) == []
        page.go_forward()
        expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
        visit.open()


def test_before_the_review_a_reload_loses_the_answers_and_the_page_says_so(visit: Respondent) -> None:
    visit.start(3)
    expect(visit.page.get_by_text(LOST)).to_be_visible()
    visit.choose("Yes")
    assert kept(visit.page) == []
    visit.page.reload()
    visit.start(3)
    expect(visit.page.get_by_role("radio", checked=True)).to_have_count(0)


def test_a_second_page_shows_no_second_set_of_coins(visit: Respondent) -> None:
    other = Respondent(visit.page.context.new_page(), visit.slug).open()
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    other.start(3)
    for truth in ("Yes", "Yes"):
        other.choose(truth)
    other.choose("No")
    expect(other.heading(REVIEWED)).to_be_visible()
    assert other.sent_body() == shown
    other.send()
    visit.button("Send").click()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()


def test_where_nothing_can_be_kept_the_page_says_neither_that_it_is_nor_that_it_remembers(
    open_page: Opener, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    page.add_init_script(FORBIDDEN)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    expect(page.get_by_text("This browser keeps nothing")).to_be_visible()
    expect(page.get_by_text("this device keeps")).to_have_count(0)
    visit.send()
    expect(page.get_by_text("This device remembers")).to_have_count(0)
    expect(page.get_by_text("This browser remembers nothing of it")).to_be_visible()
    expect(visit.button("Erase my traces")).to_have_count(0)


def test_what_was_reviewed_is_shown_again_where_the_survey_was_paused_or_closed(
    visit: Respondent, open_page: Opener, served: factories.Served
) -> None:
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    open_page.watch(visit.page).expect("status of 4(10|23)")
    factories.settle(served.database_url, visit.slug, paused=True)
    visit.page.reload()
    expect(visit.heading(REVIEWED)).to_be_visible()
    visit.button("Send").click()
    expect(visit.page.get_by_text("The survey takes no answers at the moment.")).to_be_visible()
    expect(visit.page.get_by_text("The connection is poor.")).to_have_count(0)
    assert visit.sent_body() == shown
    factories.close(served.database_url, visit.slug)
    visit.page.reload()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    assert kept(visit.page) == []
