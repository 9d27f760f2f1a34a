"""A link whose survey was deleted: what an earlier visit left here is told of, and can be taken away."""

import pytest
from playwright.sync_api import expect

from server.archives import disposition
from server.people import survey_access
from tests.browser.conftest import Opener
from tests.browser.shared_tablet import (
    answer_all,
    await_waiting,
    begin,
    hand_back,
    lessen_work,
    open_desk,
    publish_for_tablet,
)
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.browser.visit_traces import STORED
from tests.support import factories, ticket_buyers

NOTHING_HERE = "There is no survey here"
STILL_HERE = "Something of this link is still kept on this device"
TAKEN_AWAY = "Nothing that was to be sent by this link is left on this device."
MISSING = "status of 404|was preloaded|cross-world service worker|ERR_FAILED|ERR_INTERNET_DISCONNECTED"


def delete(served: factories.Served, slug: str) -> None:
    with factories.writing(served.database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        disposition.delete(session, survey)


def take_away(visit: Respondent, end: str = "") -> None:
    """Open the link, be told what is here, and erase it."""
    page = visit.page
    visit.open(end)
    expect(visit.heading(NOTHING_HERE)).to_be_visible()
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_visible()
    visit.button("Erase my traces").click()
    expect(page.get_by_role("status").filter(has_text=TAKEN_AWAY)).to_be_visible()
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_hidden()
    stored = page.evaluate(STORED)
    assert [stored[kind] for kind in ("local", "session", "databases", "cached", "workers")] == [[]] * 5
    visit.open(end)
    expect(visit.heading(NOTHING_HERE)).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_hidden()


@pytest.mark.parametrize("waits", ["ticket", "reviewed", "sent"])
def test_what_waits_on_a_phone_is_taken_away(
    open_page: Opener, installation: factories.Served, waits: str
) -> None:
    survey = ticket_buyers.publish(installation.database_url, document=SURVEY)[0]
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    visit = Respondent(page, survey.slug).open(f"#{code}")
    visit.start(3)
    expect(page.get_by_role("heading", name="Your ticket is on this device")).to_be_visible()
    if waits != "ticket":
        visit.answer("Yes", "No", "Yes")
    if waits == "sent":
        page.route("**/responses", lambda route: route.abort())
        visit.button("Send").click()
        expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.goto("about:blank")
    delete(installation, survey.slug)
    take_away(visit)


def test_what_waits_on_a_tablet_is_taken_away(open_page: Opener, installation: factories.Served) -> None:
    survey = publish_for_tablet(installation)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    lessen_work(page)
    tablet = begin(page, survey.slug)
    answer_all(tablet, "no", 141_421)
    hand_back(tablet)
    await_waiting(tablet, 1, 1)
    delete(installation, survey.slug)
    take_away(tablet, "/tablet")


def test_a_tablet_that_is_still_open_is_told_why(open_page: Opener, installation: factories.Served) -> None:
    survey = publish_for_tablet(installation)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    lessen_work(page)
    tablet = begin(page, survey.slug)
    answer_all(tablet, "no", 141_421)
    hand_back(tablet)
    delete(installation, survey.slug)
    open_desk(tablet)
    tablet.button("Send now").click()
    expect(page.get_by_text("Refused by the server for good, and taken away: 1.")).to_be_visible()
    expect(page.get_by_text("This link leads to no survey any more.")).to_be_visible()


def test_what_waits_for_another_link_is_left_alone(open_page: Opener, installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    kept = page.evaluate(STORED)["local"]
    other = Respondent(page, "unknown").open()
    expect(other.heading(NOTHING_HERE)).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_hidden()
    assert page.evaluate(STORED)["local"] == kept
