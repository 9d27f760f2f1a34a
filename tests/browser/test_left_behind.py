"""A link whose survey was deleted: what an earlier visit left here is told of, and can be taken away."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

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
TAKEN_AWAY = "Nothing that was to be sent by this link is kept on this device any more."
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
    expect(page.get_by_text("No answer was sent now.")).to_be_visible()  # an earlier attempt may have arrived
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


def hand_one_back(open_page: Opener, installation: factories.Served, first: str = "") -> Respondent:
    """A tablet on which one person has answered, in a browser that runs this script before every page."""
    survey = publish_for_tablet(installation)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    page.context.add_init_script(first)
    lessen_work(page)
    tablet = begin(page, survey.slug)
    answer_all(tablet, "no", 141_421)
    hand_back(tablet)
    return tablet


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
    tablet = hand_one_back(open_page, installation)
    await_waiting(tablet, 1, 1)
    delete(installation, tablet.slug)
    take_away(tablet, "/tablet")


@contextmanager
def led_astray(page: Page) -> Iterator[None]:
    """Let what is sent come where its survey is not, as at a wrong address or on a database from before it."""
    page.route(
        "**/responses",
        lambda route: route.continue_(url=re.sub("/s/[^/]+/", "/s/unknown/", route.request.url)),
    )
    yield
    page.unroute("**/responses")


NOWHERE = "This link leads to no survey at the moment; it may have been deleted."


def test_a_tablet_whose_link_leads_nowhere_for_a_while_loses_nothing(
    open_page: Opener, installation: factories.Served
) -> None:
    tablet = hand_one_back(open_page, installation)
    open_desk(tablet)
    page = tablet.page
    with led_astray(page):
        tablet.button("Send now").click()
        expect(page.get_by_text(f"{NOWHERE} What waits stays on this tablet")).to_be_visible()
        expect(page.get_by_text("Waiting to be sent: 1")).to_be_visible()
    tablet.button("Send now").click()
    expect(page.get_by_text("Arrived: 1")).to_be_visible()


def test_a_phone_whose_link_leads_nowhere_for_a_while_loses_nothing(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE)
    open_page.watch(page).allow(MISSING)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    body = visit.sent_body()
    with led_astray(page):
        visit.button("Send").click()
        expect(page.get_by_text(f"{NOWHERE} Not confirmed yet. It is kept on this device")).to_be_visible()
        expect(visit.heading("Your answers are still waiting here")).to_be_visible()
        expect(visit.button("Erase my traces")).to_be_visible()
        assert json.loads(body)["id"] in str(page.evaluate(STORED)["local"])
    visit.open()
    expect(visit.heading("Sent. Thank you.")).to_be_visible()


HOLD = """(name) => new Promise((resolve) => {
  const asked = indexedDB.open(name);
  asked.onsuccess = () => { globalThis.held = asked.result; resolve(); };
})"""


def test_nothing_is_said_to_be_erased_while_another_page_holds_the_record(
    open_page: Opener, installation: factories.Served
) -> None:
    """Also in a browser that lists no databases."""
    tablet = hand_one_back(open_page, installation, "delete IDBFactory.prototype.databases;")
    delete(installation, tablet.slug)
    page = tablet.page
    tablet.open("/tablet")
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_visible()
    other = page.context.new_page()
    other.goto("/s/unknown")
    other.evaluate(HOLD, f"moneda:/s/{tablet.slug}/tablet")
    tablet.button("Erase my traces").click()
    # What the browser was asked after that, it answers after that: it had its time to say that all is gone.
    assert (
        page.evaluate("caches.keys().then(() => document.querySelector('#left [role=status]').innerText)")
        == ""
    )
    other.evaluate("held.close()")
    expect(page.get_by_role("status").filter(has_text=TAKEN_AWAY)).to_be_visible()
    tablet.open("/tablet")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", name=STILL_HERE)).to_be_hidden()


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
