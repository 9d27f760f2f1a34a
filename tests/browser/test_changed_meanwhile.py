"""Settings that change while somebody answers: nothing that was entered is lost without a word about why."""

import json

import pytest
from playwright.sync_api import Route, expect

from tests import factories
from tests.browser.conftest import Opener
from tests.browser.people import DESK, PHONE, SURVEY, Desk, Respondent, sign_in

SENT = "Sent. Thank you."
INVITED = "This survey now asks for an invitation"
FORBIDDEN = (
    "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('SecurityError'); } })"
)


@pytest.fixture
def survey(served: factories.Served) -> factories.Published:
    return factories.publish(served.database_url, SURVEY)


def rows_of(served: factories.Served, body: str) -> list[bytes]:
    """The reports that are stored under the id of a body."""
    identity = bytes.fromhex(json.loads(body)["id"])
    return [row[2] for row in factories.stored(served.database_url) if row[0] == identity]


def ready(open_page: Opener, link: str, script: str = "") -> tuple[Respondent, str]:
    """Somebody at the review, and what would be sent."""
    page = open_page(**PHONE)
    open_page.watch(page).allow("status of 4(10|22|23)")
    if script:
        page.add_init_script(script)
    visit = Respondent(page, link).open()
    visit.answer("Yes", "No", "Yes")
    return visit, visit.sent_body()


@pytest.mark.parametrize("reloaded", [False, True])
def test_invitations_switched_off_the_page_drops_the_code(
    open_page: Opener, served: factories.Served, survey: factories.Published, reloaded: bool
) -> None:
    (code,) = factories.invite(served.database_url, survey.slug, 1)
    visit, body = ready(open_page, f"{survey.slug}#{code.replace('-', '')}")
    factories.settle(served.database_url, survey.slug, by_invitation=False)
    if reloaded:
        visit.page.reload()
    visit.button("Send").click()
    expect(visit.heading(SENT)).to_be_visible()
    assert rows_of(served, body) == [bytes(json.loads(body)["reports"])]


def test_invitations_switched_on_the_answers_wait_for_a_code(
    open_page: Opener, served: factories.Served, survey: factories.Published
) -> None:
    visit, body = ready(open_page, survey.slug)
    (code,) = factories.invite(served.database_url, survey.slug, 1)
    visit.button("Send").click()
    expect(visit.heading(INVITED)).to_be_visible()
    expect(visit.page.get_by_text("they wait on this device")).to_be_visible()
    assert rows_of(served, body) == []
    visit.button("Load the page again").click()
    expect(visit.heading("This survey asks for an invitation")).to_be_visible()
    visit.page.get_by_role("textbox").fill(code)
    visit.button("Use this code").click()
    visit.send()
    assert rows_of(served, body) == [bytes(json.loads(body)["reports"])]


def test_invitations_switched_on_where_nothing_can_be_kept(
    open_page: Opener, served: factories.Served, survey: factories.Published
) -> None:
    visit, _body = ready(open_page, survey.slug, FORBIDDEN)
    factories.invite(served.database_url, survey.slug, 1)
    visit.button("Send").click()
    expect(visit.heading(INVITED)).to_be_visible()
    expect(visit.page.get_by_text("This browser keeps nothing")).to_be_visible()
    expect(visit.page.get_by_text("they wait on this device")).to_have_count(0)


def test_a_link_alone_says_that_it_lets_nobody_in(
    open_page: Opener, served: factories.Served, survey: factories.Published
) -> None:
    factories.invite(served.database_url, survey.slug, 1)
    visit = Respondent(open_page(**PHONE), survey.slug).open()
    expect(visit.page.get_by_text("By invitation only: a link alone lets nobody in.")).to_be_visible()


def test_parts_added_below_a_stratum_are_told_of(
    open_page: Opener, served: factories.Served, survey: factories.Published
) -> None:
    link = factories.plant(served.database_url, survey.slug, "Spain")["Spain"]
    visit, body = ready(open_page, link)
    factories.plant(served.database_url, survey.slug, "Spain > Madrid\nSpain > Lugo")
    visit.button("Send").click()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    expect(visit.page.get_by_text("was divided in the meantime")).to_be_visible()
    assert rows_of(served, body) == []
    visit.open()
    expect(visit.heading("This link leads to no survey any more")).to_be_visible()


@pytest.mark.parametrize("change", ["paused", "closed"])
def test_a_survey_that_stops_before_its_questions_arrive_blames_no_connection(
    open_page: Opener, served: factories.Served, survey: factories.Published, change: str
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).expect("status of 4(10|23)|standing: ")

    def stop(route: Route) -> None:
        if change == "paused":
            factories.settle(served.database_url, survey.slug, paused=True)
        else:
            factories.close(served.database_url, survey.slug)
        route.continue_()

    page.route("**/survey.json", stop)
    visit = Respondent(page, survey.slug).open()
    expect(visit.heading("The survey takes no answers at the moment.")).to_be_visible()
    expect(page.get_by_text("Check your connection")).to_have_count(0)


def test_the_researcher_is_told_how_many_links_a_switch_touches(
    open_page: Opener, served: factories.Served, survey: factories.Published
) -> None:
    factories.plant(served.database_url, survey.slug, "Spain > Madrid\nSpain > Lugo\nKenya")
    page = open_page(**DESK)
    sign_in(page, served.database_url)
    page.goto(f"/manage/surveys/{survey.slug}/schedule")
    hint = page.locator("#hint-by")
    expect(hint).to_contain_text("touches 4 links")
    expect(Desk(page).field("By invitation only")).to_have_attribute("aria-describedby", "hint-by")
