"""Settings that change while somebody answers: nothing that was entered is lost without a word about why."""

import json
from dataclasses import replace

import pytest
from playwright.sync_api import Route, expect

from server.collect import acceptance, invitation_batches
from server.people import survey_access
from server.study import schedule, strata, surveys
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, Respondent, sign_in, stop_clock
from tests.support import factories

SENT = "Sent. Thank you."
STILL_HERE = "Your answers are still waiting here"
REVIEWED = "This is what you were about to send"
ANSWERED = "This survey was already answered on this device"
FORBIDDEN = (
    "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('SecurityError'); } })"
)


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


def rows_of(served: factories.Served, body: str) -> list[bytes]:
    """The reports that are stored under the id of a body."""
    identity = factories.stored_id(json.loads(body))
    return [row[2] for row in factories.list_responses(served.database_url) if row[0] == identity]


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
    open_page: Opener, installation: factories.Served, survey: factories.Published, reloaded: bool
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    visit, body = ready(open_page, f"{survey.slug}#{code.replace('-', '')}")
    factories.settle(installation.database_url, survey.slug, by_invitation=False)
    if reloaded:
        visit.page.reload()
    visit.button("Send").click()
    expect(visit.heading(SENT)).to_be_visible()
    assert rows_of(installation, body) == [bytes(json.loads(body)["reports"])]


def test_invitations_switched_off_before_start_let_everybody_in(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """The questions come as they would without a code, which leaves the address once the answers have arrived."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).allow("410")
    visit = Respondent(page, f"{survey.slug}#{code.replace('-', '')}").open()
    expect(page.get_by_role("heading", name="You have an invitation")).to_be_visible()
    factories.settle(installation.database_url, survey.slug, by_invitation=False)
    visit.answer("Yes", "No", "Yes")
    visit.button("Send").click()
    expect(visit.heading(SENT)).to_be_visible()
    assert "#" not in page.url


def invite_from_now_on(served: factories.Served, slug: str, stratum: str = "") -> str:
    """Switch invitations on as the page does; the end of a new link, with a code."""
    with factories.writing(served.database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        wanted = replace(schedule.schedule_of(survey), by_invitation=True)
        acceptance.set_schedule(session, survey, wanted, surveys.now())
        nodes = {node.path: node.stratum for node in strata.walk(strata.tree(session, survey))}
        _batch, (code,) = invitation_batches.issue(session, survey, nodes.get(stratum), 1, "Class 3B")
        return f"{nodes[stratum].slug if stratum else survey.link}#{code.replace('-', '')}"


@pytest.mark.parametrize("stratum", ["", "Kenya"])
def test_invitations_switched_on_close_the_link_and_the_new_one_sends_the_same(
    open_page: Opener, installation: factories.Served, survey: factories.Published, stratum: str
) -> None:
    links = factories.plant(installation.database_url, survey.slug, "Spain\nKenya")
    visit, body = ready(open_page, links.get(stratum, survey.slug))
    invited = invite_from_now_on(installation, survey.slug, stratum)
    visit.button("Send").click()
    expect(visit.heading(STILL_HERE)).to_be_visible()
    expect(visit.page.get_by_text("This link was replaced by a new one")).to_be_visible()
    expect(visit.page.get_by_text("they have not been stored")).to_be_visible()
    assert rows_of(installation, body) == []
    visit.open()
    expect(visit.heading(STILL_HERE)).to_be_visible()
    visit = Respondent(visit.page, invited).open()
    expect(visit.heading(REVIEWED)).to_be_visible()
    assert json.loads(visit.sent_body()) == {**json.loads(body), "invitation": invited.partition("#")[2]}
    visit.send()
    assert rows_of(installation, body) == [bytes(json.loads(body)["reports"])]


def test_invitations_switched_on_where_nothing_can_be_kept(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    visit, _body = ready(open_page, survey.slug, FORBIDDEN)
    invite_from_now_on(installation, survey.slug)
    visit.button("Send").click()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    expect(visit.page.get_by_text("Your link was closed in the meantime.")).to_be_visible()
    expect(visit.page.get_by_text("they have not been stored")).to_have_count(0)


def test_what_had_arrived_before_its_link_was_closed_is_acknowledged(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    visit, body = ready(open_page, survey.slug)
    page = visit.page
    stop_clock(page)  # it does not try again before it is closed
    open_page.watch(page).allow("ERR_FAILED")
    page.route("**/responses", lambda route: (route.fetch(), route.abort()), times=1)
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.close()
    invited = invite_from_now_on(installation, survey.slug)
    for link in (survey.slug, invited):
        again = Respondent(page.context.new_page(), link)
        open_page.watch(again.page).allow("status of 410")
        again.open()
        expect(again.heading(SENT if link == survey.slug else ANSWERED)).to_be_visible()
    assert rows_of(installation, body) == [bytes(json.loads(body)["reports"])]


def test_a_new_link_that_was_opened_first_tells_what_became_of_what_waits(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """It was not stored by the closed link, so the open one shows it, to be sent as it is."""
    visit, body = ready(open_page, survey.slug)
    open_page.watch(visit.page).allow("ERR_INTERNET_DISCONNECTED")
    visit.page.context.set_offline(True)
    visit.button("Send").click()
    expect(visit.page.get_by_text("The connection is poor.")).to_be_visible()
    visit.page.close()
    invited = invite_from_now_on(installation, survey.slug)
    visit.page.context.set_offline(False)
    other = Respondent(visit.page.context.new_page(), invited)
    open_page.watch(other.page).allow("status of 410")
    other.open()
    expect(other.heading(REVIEWED)).to_be_visible()
    assert rows_of(installation, body) == []
    other.send()
    assert rows_of(installation, body) == [bytes(json.loads(body)["reports"])]


def test_without_a_code_the_page_says_that_answers_are_taken_only_with_one(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    factories.invite(installation.database_url, survey.slug, 1)
    visit = Respondent(open_page(**PHONE), survey.slug).open()
    expect(visit.page.get_by_text("By invitation only: answers are taken only with a code.")).to_be_visible()


def test_parts_added_below_a_stratum_are_told_of_and_the_link_of_one_sends_the_same(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    link = factories.plant(installation.database_url, survey.slug, "Spain")["Spain"]
    visit, body = ready(open_page, link)
    parts = factories.plant(installation.database_url, survey.slug, "Spain > Madrid\nSpain > Lugo")
    visit.button("Send").click()
    expect(visit.heading(STILL_HERE)).to_be_visible()
    expect(visit.page.get_by_text("The group of this link was divided")).to_be_visible()
    assert rows_of(installation, body) == []
    visit.open()
    expect(visit.heading(STILL_HERE)).to_be_visible()
    part = Respondent(visit.page, parts["Spain > Lugo"]).open()
    expect(part.heading(REVIEWED)).to_be_visible()
    expect(part.page.get_by_text("Spain > Lugo")).to_be_visible()
    part.send()
    assert rows_of(installation, body) == [bytes(json.loads(body)["reports"])]


@pytest.mark.parametrize("change", ["paused", "closed"])
def test_a_survey_that_stops_before_its_questions_arrive_blames_no_connection(
    open_page: Opener, installation: factories.Served, survey: factories.Published, change: str
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).expect("status of 4(10|23)|standing: ")

    def stop(route: Route) -> None:
        if change == "paused":
            factories.settle(installation.database_url, survey.slug, paused=True)
        else:
            factories.close(installation.database_url, survey.slug)
        route.continue_()

    page.route("**/survey.json", stop)
    visit = Respondent(page, survey.slug).open()
    expect(visit.heading("The survey takes no answers at the moment.")).to_be_visible()
    expect(page.get_by_text("Check your connection")).to_have_count(0)


def test_the_researcher_is_told_how_many_links_a_switch_closes_before_it_does(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    factories.plant(installation.database_url, survey.slug, "Spain > Madrid\nSpain > Lugo\nKenya")
    factories.settle(installation.database_url, survey.slug, minimum=10)
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    page.goto(f"/manage/surveys/{survey.slug}/schedule")
    hint = page.locator("#hint-by")
    expect(hint).to_contain_text("Switching it on closes 4 links at once and for good")
    desk = Desk(page)
    expect(desk.field("By invitation only")).to_have_attribute("aria-describedby", "hint-by")
    desk.field("By invitation only").check()
    desk.button("Save").click()
    expect(page.get_by_role("status")).to_contain_text("The links that were out are closed")
    expect(hint).to_contain_text("Switching it off opens 4 links to everybody")
    page.get_by_role("status").get_by_role("link", name="Links").click()
    expect(page.locator("#link")).to_be_visible()
    assert survey.slug not in page.locator("#link").inner_text()
