"""What was not confirmed is sent again by itself: with a reason, one page at a time, always the same bytes."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent, stop_clock
from tests.conftest import NewDatabase
from tests.support import factories

WAITING = "Your answers are still waiting here"
SENT = "Sent. Thank you."
KEPT = "It is kept on this device"
LEFT_OPEN = "Leave this page open until then"
RESPONSES = "**/responses"
MOMENT = 300  # milliseconds in which nothing must happen

EVENTS = {
    "online": "dispatchEvent(new Event('online'))",
    "pageshow": "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
    "visibilitychange": "document.dispatchEvent(new Event('visibilitychange'))",
}

DEAF = """
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (name, ...rest) {
  if (name !== '%s') listen.call(this, name, ...rest);
};
"""


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


@pytest.fixture
def visit(open_page: Opener, survey: factories.Published) -> Respondent:
    """Somebody who is ready to send, on a page whose clock stands still."""
    return ready(open_page, survey)


def ready(open_page: Opener, survey: factories.Published, script: str = "") -> Respondent:
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_|status of 503|status of 423")
    if script:
        page.add_init_script(script)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    stop_clock(page)
    return visit


def sent_bodies(page: Page) -> list[str]:
    """What all pages of this device post from now on."""
    bodies: list[str] = []
    page.context.on(
        "request",
        lambda request: bodies.append(request.post_data or "") if request.method == "POST" else None,
    )
    return bodies


def own_rows(served: factories.Served, body: str) -> int:
    identity = factories.stored_id(json.loads(body))
    return sum(row[0] == identity for row in factories.list_responses(served.database_url))


def lose(visit: Respondent) -> None:
    """Press Send without a connection, until the page says that it goes on by itself."""
    page = visit.page
    page.context.set_offline(True)
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    given_up = page.get_by_text("Not confirmed yet.")
    for _ in range(100):  # each attempt fails in its own time, and only then its pause begins
        page.clock.run_for(500)
        page.wait_for_timeout(50)
        if given_up.is_visible():
            break
    expect(given_up).to_be_visible()


def test_it_is_sent_as_soon_as_the_network_is_back(visit: Respondent, installation: factories.Served) -> None:
    page, bodies = visit.page, sent_bodies(visit.page)
    lose(visit)
    expect(visit.heading(WAITING)).to_be_visible()
    expect(page.get_by_text(KEPT)).to_be_visible()
    expect(visit.button("Try again")).to_be_enabled()
    expect(visit.button("Erase my traces")).to_be_visible()
    assert len(set(bodies)) == 1

    page.context.set_offline(False)

    expect(visit.heading(SENT)).to_be_focused()
    assert len(set(bodies)) == 1
    assert own_rows(installation, bodies[0]) == 1


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("listens", [True, False], ids=["", "a page that does not listen"])
def test_it_is_sent_when_there_is_a_reason_to(
    event: str, listens: bool, open_page: Opener, survey: factories.Published, installation: factories.Served
) -> None:
    visit = ready(open_page, survey, "" if listens else DEAF % event)
    page = visit.page
    page.route(RESPONSES, lambda route: route.abort())
    bodies = sent_bodies(page)
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.unroute(RESPONSES)

    page.evaluate(EVENTS[event])

    if listens:
        expect(visit.heading(SENT)).to_be_visible()
        assert bodies == [bodies[0]] * 2
    else:
        page.wait_for_timeout(MOMENT)
        assert len(bodies) == 1


def test_it_is_sent_when_the_link_is_opened_again(visit: Respondent, installation: factories.Served) -> None:
    bodies = sent_bodies(visit.page)
    lose(visit)
    visit.page.close()
    page = visit.page.context.new_page()
    page.context.set_offline(False)

    again = Respondent(page, visit.slug).open()

    expect(again.heading(SENT)).to_be_visible()
    assert len(set(bodies)) == 1
    assert own_rows(installation, bodies[0]) == 1


def test_no_attempt_before_the_server_wants_one(visit: Respondent, installation: factories.Served) -> None:
    page, bodies = visit.page, sent_bodies(visit.page)
    said = {"Retry-After": "7", "Content-Type": "application/json"}
    page.route(RESPONSES, lambda route: route.fulfill(status=503, headers=said, body="{}"), times=1)
    visit.button("Send").click()
    expect(page.get_by_text(KEPT)).to_be_visible()
    again = visit.button("Try again")
    expect(again).to_have_attribute("aria-disabled", "true")

    for _ in range(2):
        for event in EVENTS.values():
            page.evaluate(event)
        again.click(force=True)
        page.wait_for_timeout(MOMENT)
        assert len(bodies) == 1
        page.clock.run_for(3000)
    page.clock.run_for(2000)

    expect(visit.heading(SENT)).to_be_visible()
    assert bodies == [bodies[0]] * 2
    assert own_rows(installation, bodies[0]) == 1


def test_an_answer_that_never_comes_is_given_up_and_the_same_is_sent_again(
    visit: Respondent, installation: factories.Served
) -> None:
    page, bodies = visit.page, sent_bodies(visit.page)
    page.route(RESPONSES, lambda _route: None, times=1)
    visit.button("Send").click()
    expect(page.get_by_text("Sending…")).to_be_visible()

    with page.expect_event("requestfailed"):
        page.clock.run_for(20_000)
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.clock.run_for(500)

    expect(visit.heading(SENT)).to_be_visible()
    assert bodies == [bodies[0]] * 2
    assert own_rows(installation, bodies[0]) == 1


@pytest.mark.parametrize("locks", [True, False], ids=["", "without locks"])
def test_of_two_pages_one_sends_at_a_time(
    locks: bool, open_page: Opener, survey: factories.Published, installation: factories.Served
) -> None:
    visit = ready(open_page, survey)
    context = visit.page.context
    if not locks:
        context.add_init_script("Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })")
    lose(visit)
    bodies = sent_bodies(visit.page)
    visit.page.close()
    context.set_offline(False)
    held: list[Route] = []
    context.route(RESPONSES, lambda route: held.append(route))
    visits = [Respondent(context.new_page(), survey.slug).open() for _ in range(2)]
    for one in visits:
        expect(one.heading(WAITING)).to_be_visible()
        expect(one.page.get_by_text("Sending…")).to_be_visible()
    visits[1].page.wait_for_timeout(MOMENT)
    assert len(bodies) == (1 if locks else 2)

    for route in held:
        route.continue_()
    context.unroute(RESPONSES)

    if locks:
        expect(visits[0].heading(SENT)).to_be_visible()
        expect(visits[1].heading("This survey was already answered on this device")).to_be_visible()
        assert len(bodies) == 1
    else:
        for one in visits:
            expect(one.heading(SENT)).to_be_visible()
    assert len(set(bodies)) == 1
    assert own_rows(installation, bodies[0]) == 1


def test_traces_erased_on_one_page_are_sent_by_none(
    visit: Respondent, installation: factories.Served
) -> None:
    lose(visit)
    context, (kept,) = visit.page.context, visit.page.evaluate("Object.values(localStorage)")
    body = json.loads(json.loads(kept)["pending"])
    other = Respondent(context.new_page(), visit.slug)
    context.route(RESPONSES, lambda route: route.abort())
    context.set_offline(False)
    other.open()
    for wait in (500, 1000):
        expect(other.page.get_by_text("The connection is poor.")).to_be_visible()
        context.clock.run_for(wait)
    other.button("Erase my traces").click()
    expect(other.heading("Nothing of this survey is left on this page")).to_be_visible()
    context.unroute(RESPONSES)
    bodies = sent_bodies(visit.page)

    visit.page.evaluate(EVENTS["online"])

    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
    assert bodies == []
    assert own_rows(installation, json.dumps(body)) == 0
    assert visit.page.evaluate("localStorage.length") == 0


def test_traces_erased_on_one_page_while_another_is_sending_leave_no_note(
    visit: Respondent, installation: factories.Served
) -> None:
    bodies = sent_bodies(visit.page)
    other = Respondent(visit.page.context.new_page(), visit.slug).open()
    expect(other.heading("This is what you were about to send")).to_be_visible()
    held: list[Route] = []
    visit.page.context.route(RESPONSES, lambda route: held.append(route))
    with visit.page.expect_request(RESPONSES):
        visit.button("Send").click()
    other.button("Erase my traces").click()
    expect(other.heading("Nothing of this survey is left on this page")).to_be_visible()
    held.pop().continue_()
    expect(visit.heading(SENT)).to_be_visible()
    expect(visit.page.get_by_text("This browser remembers nothing of it")).to_be_visible()
    assert own_rows(installation, bodies[0]) == 1
    assert visit.page.evaluate("localStorage.length") == 0


def test_where_nothing_can_be_kept_the_page_does_not_say_that_it_is(
    open_page: Opener, survey: factories.Published, installation: factories.Served
) -> None:
    forbidden = (
        "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('SecurityError'); } })"
    )
    visit = ready(open_page, survey, forbidden)
    bodies = sent_bodies(visit.page)
    lose(visit)
    expect(visit.page.get_by_text(LEFT_OPEN)).to_be_visible()
    expect(visit.page.get_by_text(KEPT)).to_have_count(0)
    visit.page.context.set_offline(False)
    expect(visit.heading(SENT)).to_be_visible()
    assert own_rows(installation, bodies[0]) == 1


def test_a_server_that_was_stopped_gets_it_when_it_is_back(open_page: Opener, sqlite: NewDatabase) -> None:
    database_url, port = sqlite(True), factories.free_port()
    survey = factories.publish(database_url, SURVEY)
    with factories.serving(database_url, port=port) as first:
        page = open_page(**PHONE, base_url=first.url)
        open_page.watch(page).expect("ERR_CONNECTION")
        visit = Respondent(page, survey.slug).open()
        visit.answer("Yes", "No", "Yes")
    bodies = sent_bodies(page)
    visit.button("Send").click()
    expect(visit.button("Try again")).to_be_visible()
    with factories.serving(database_url, port=port) as again:
        # Nothing but the page's own timer.
        expect(visit.heading(SENT)).to_be_visible(timeout=60_000)
        assert len(set(bodies)) == 1
        assert own_rows(again, bodies[0]) == 1


LATE = [
    ("closed", False, "Your answers were not accepted"),
    ("closed", True, SENT),
    ("paused", True, SENT),
    ("paused", False, WAITING),
]


@pytest.mark.parametrize(("change", "arrived", "heading"), LATE)
def test_a_survey_that_takes_no_answers_any_more_tells_what_became_of_them(
    change: str,
    arrived: bool,
    heading: str,
    visit: Respondent,
    installation: factories.Served,
    open_page: Opener,
) -> None:
    """Whether they had arrived without the page having learnt it, or not."""
    page, bodies = visit.page, sent_bodies(visit.page)
    open_page.watch(page).expect("status of 4(10|23)")
    if arrived:
        page.route(RESPONSES, lambda route: (route.fetch(), route.abort()), times=1)
        visit.button("Send").click()
        expect(page.get_by_text("The connection is poor.")).to_be_visible()
    else:
        lose(visit)
    page.close()
    if change == "closed":
        factories.close(installation.database_url, visit.slug)
    else:
        factories.settle(installation.database_url, visit.slug, paused=True)
    late = Respondent(page.context.new_page(), visit.slug)
    page.context.set_offline(False)
    late.open()

    expect(late.heading(heading)).to_be_visible()
    assert len(set(bodies)) == 1
    assert own_rows(installation, bodies[0]) == int(arrived)
    stored = late.page.evaluate("Object.values(localStorage).map((text) => Object.keys(JSON.parse(text))[0])")
    if heading == WAITING:
        expect(late.page.get_by_text("The survey takes no answers at the moment.")).to_be_visible()
        expect(late.page.get_by_text(KEPT)).to_be_visible()
        factories.settle(installation.database_url, visit.slug, paused=False)
        late.page.evaluate(EVENTS["online"])
        expect(late.heading(SENT)).to_be_visible()
        assert own_rows(installation, bodies[0]) == 1
    else:
        assert stored == (["sent"] if arrived else [])


def test_who_waits_for_nothing_is_told_that_the_survey_is_closed(
    open_page: Opener, survey: factories.Published, installation: factories.Served
) -> None:
    factories.close(installation.database_url, survey.slug)
    page = open_page(**PHONE)
    open_page.watch(page).expect("status of 410")
    visit = Respondent(page, survey.slug).open()
    expect(visit.heading("This survey is closed")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(visit.heading("This survey is closed")).to_be_visible()
