"""One tablet, many people: each answers as if alone, nothing of a person is left for the next, and what waits arrives once."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.support import factories

PIN = "824193"


def publish_for_tablet(served: factories.Served) -> factories.Published:
    survey = factories.publish(served.database_url, SURVEY)
    factories.settle(served.database_url, survey.slug, tablet=True)
    return survey


def begin(page: Page, slug: str) -> Respondent:
    """An interviewer chooses a PIN, and waits until the tablet needs no network."""
    visit = Respondent(page, slug).open("/tablet")
    page.get_by_label("PIN").fill(PIN)
    visit.button("Begin").click()
    expect(page.get_by_text("it also works without a network")).to_be_visible()
    visit.button("Back to handing over").click()
    expect(visit.heading("Hand the tablet over")).to_be_visible()
    return visit


def take_part(visit: Respondent, *truths: str) -> None:
    """One person, from Start until the tablet is handed back."""
    visit.button("Start").click()
    visit.answer(*truths)
    visit.button("Send").click()
    expect(visit.heading("Thank you. You are done.")).to_be_visible()
    visit.button("Clear the screen").click()
    expect(visit.heading("Hand the tablet over")).to_be_visible()


def test_a_person_answers_and_hands_back(open_page: Opener, served: factories.Served) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).allow("was preloaded|cross-world")
    visit = begin(page, publish_for_tablet(served).slug)
    take_part(visit, "Yes", "No", "Yes")
    expect(page.get_by_text("Waiting to be sent: 1.")).to_be_visible()
