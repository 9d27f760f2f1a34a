"""One person, one set of coins: what the review has once shown is what can be sent, whatever is loaded again."""

import json
import math
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from server import archives, people
from server.people import survey_access
from server.study import surveys
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent, stop_clock
from tests.support import factories

REVIEW = "Of your answers, only what the coins decided leaves this device"
REVIEWED = "This is what you were about to send"
SENT = "Sent. Thank you."
ANSWERED = "This survey was already answered on this device"
LOST = "If this page is loaded again, your answers are lost."
FORBIDDEN = (
    "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('SecurityError'); } })"
)


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


@pytest.fixture
def visit(open_page: Opener, survey: factories.Published) -> Respondent:
    return Respondent(open_page(**PHONE), survey.slug).open()


def read_storage(page: Page) -> list[Any]:
    return [json.loads(text) for text in page.evaluate("Object.values(localStorage)")]


def test_eight_reloads_at_the_review_show_the_same_reports(
    visit: Respondent, installation: factories.Served
) -> None:
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    for _ in range(8):
        visit.page.reload()
        expect(visit.heading(REVIEWED)).to_be_visible()
        assert visit.sent_body() == shown
    visit.send()
    row = [
        row
        for row in factories.list_responses(installation.database_url)
        if row[0] == factories.stored_id(json.loads(shown))
    ]
    assert [one[2] for one in row] == [bytes(json.loads(shown)["reports"])]


def test_id_and_reports_are_kept_and_neither_answers_nor_coins(visit: Respondent) -> None:
    visit.answer("Yes", "No", "Yes")
    (entry,) = read_storage(visit.page)
    assert list(entry) == ["shown", "to"]
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


def test_a_browser_that_was_killed_after_sending_denies_nothing_and_sends_it_once(
    visit: Respondent, installation: factories.Served
) -> None:
    """Its disk has what the review kept, and not yet that it has arrived: nobody is told that it was stored nowhere."""
    page = visit.page
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    on_disk = page.evaluate("Object.entries(localStorage)")
    visit.send()
    page.evaluate(
        "notes => { localStorage.clear(); for (const note of notes) localStorage.setItem(...note); }", on_disk
    )
    page.reload()
    expect(visit.heading(REVIEWED)).to_be_visible()
    expect(page.get_by_text("As far as this device knows, it has not been stored.")).to_be_visible()
    expect(page.get_by_text("it counts no more than once")).to_be_visible()
    assert visit.sent_body() == shown
    visit.send()
    stored = factories.stored_id(json.loads(shown))
    assert sum(row[0] == stored for row in factories.list_responses(installation.database_url)) == 1


def test_only_erasing_begins_anew(visit: Respondent) -> None:
    page = visit.page
    for reload in (False, True):
        visit.answer("Yes", "No", "Yes")
        if reload:
            page.reload()
        visit.button("Erase my traces").click()
        expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
        assert read_storage(page) == []
        page.go_forward()
        expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
        visit.open()


def test_before_the_review_a_reload_loses_the_answers_and_the_page_says_so(visit: Respondent) -> None:
    visit.start(3)
    expect(visit.page.get_by_text(LOST)).to_be_visible()
    visit.choose("Yes")
    assert read_storage(visit.page) == []
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


def test_where_only_the_note_finds_no_room_what_has_arrived_is_kept_no_longer(visit: Respondent) -> None:
    """Other pages of the site may fill the room that a browser gives to all of them."""
    page = visit.page
    visit.answer("Yes", "No", "Yes")

    def fill(route: Route) -> None:
        page.evaluate(
            """() => {
              for (let size = 2 ** 22, k = 0; size >= 1; k += 1) {
                try {
                  localStorage.setItem(`other ${k}`, 'x'.repeat(size));
                } catch {
                  size = Math.floor(size / 2);
                }
              }
            }"""
        )
        route.continue_()

    page.route("**/responses", fill)
    visit.send()
    expect(visit.button("Erase my traces")).to_be_visible()
    ours = page.evaluate("Object.entries(localStorage).filter(([name]) => name.startsWith('moneda:'))")
    assert [list(json.loads(note)) for _, note in ours] == [["sent"]]
    visit.open()
    expect(visit.heading(ANSWERED)).to_be_visible()


def test_a_survey_that_forgets_keeps_what_waits_and_nothing_once_it_has_arrived(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    factories.settle(installation.database_url, survey.slug, forgets=True)
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    visit = Respondent(page, survey.slug).open()
    expect(page.get_by_text("this page takes away all that it kept")).to_be_visible()
    other = Respondent(page.context.new_page(), survey.slug)
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    other.open()
    expect(other.heading(REVIEWED)).to_be_visible()
    stop_clock(page)
    page.route("**/responses", lambda route: (route.fetch(), route.abort()), times=1)
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    (entry,) = read_storage(page)
    assert entry["pending"] == shown  # it arrived, and nobody here knows
    page.reload()
    expect(visit.heading(SENT)).to_be_visible()
    expect(page.get_by_text("This page has taken away all that it kept")).to_be_visible()
    assert read_storage(page) == []
    other.button("Send").click()  # of another page, which waited: not once more
    expect(other.heading("Nothing of this survey is left on this page")).to_be_visible()
    before = len(factories.list_responses(installation.database_url))
    page.reload()
    visit.answer("Yes", "No", "Yes")
    assert json.loads(visit.sent_body())["id"] != json.loads(shown)["id"]
    visit.button("Send").click()
    expect(visit.heading(SENT)).to_be_visible()
    assert read_storage(page) == []
    assert len(factories.list_responses(installation.database_url)) == before + 1


def test_what_was_reviewed_is_shown_again_where_the_survey_was_paused_or_closed(
    visit: Respondent, open_page: Opener, installation: factories.Served
) -> None:
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    open_page.watch(visit.page).expect("status of 4(10|23)")
    factories.settle(installation.database_url, visit.slug, paused=True)
    visit.page.reload()
    expect(visit.heading(REVIEWED)).to_be_visible()
    stop_clock(
        visit.page
    )  # it tries again by itself, and could so learn of the closing before it is loaded again
    visit.button("Send").click()
    expect(visit.page.get_by_text("The survey takes no answers at the moment.")).to_be_visible()
    expect(visit.page.get_by_text("The connection is poor.")).to_have_count(0)
    assert visit.sent_body() == shown
    factories.close(installation.database_url, visit.slug)
    visit.page.reload()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    assert read_storage(visit.page) == []


def test_another_stratums_link_is_not_answered_again(
    visit: Respondent, installation: factories.Served, survey: factories.Published
) -> None:
    link = factories.plant(installation.database_url, survey.slug, "Spain")["Spain"]
    visit.answer("Yes", "No", "Yes")
    visit.send()
    other = Respondent(visit.page, link).open()
    expect(other.heading("This survey was already answered on this device")).to_be_visible()
    other.button("Erase my traces").click()
    assert read_storage(visit.page) == []
    visit.open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()


def test_another_stratums_link_sends_what_waits_where_it_was_first_sent(
    visit: Respondent, installation: factories.Served, survey: factories.Published, open_page: Opener
) -> None:
    links = factories.plant(installation.database_url, survey.slug, "Spain\nKenya")
    page = visit.page
    first = Respondent(page, links["Spain"]).open()
    first.answer("Yes", "No", "Yes")
    body = json.loads(first.sent_body())
    # It arrives, and the device does not learn of it: nor by trying again before it is closed.
    stop_clock(page)
    open_page.watch(page).allow("ERR_FAILED")
    page.route("**/responses", lambda route: (route.fetch(), route.abort()), times=1)
    first.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.close()
    other = Respondent(page.context.new_page(), links["Kenya"])
    sent: list[str] = []
    other.page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    other.open()
    expect(other.heading(SENT)).to_be_visible()
    assert [url.partition("/s/")[2] for url in sent] == [f"{links['Spain']}/responses"]
    rows = [
        row
        for row in factories.list_responses(installation.database_url)
        if row[0] == factories.stored_id(body)
    ]
    assert [row[2] for row in rows] == [bytes(body["reports"])]


def test_what_another_stratums_review_has_shown_is_what_this_link_can_send(
    visit: Respondent, installation: factories.Served, survey: factories.Published
) -> None:
    link = factories.plant(installation.database_url, survey.slug, "Spain")["Spain"]
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    other = Respondent(visit.page.context.new_page(), link).open()
    expect(other.heading(REVIEWED)).to_be_visible()
    assert other.sent_body() == shown
    expect(other.page.get_by_text("Spain")).to_be_visible()


def test_a_page_of_another_link_yields_to_what_is_on_its_way(
    visit: Respondent, installation: factories.Served, survey: factories.Published, open_page: Opener
) -> None:
    link = factories.plant(installation.database_url, survey.slug, "Spain")["Spain"]
    visit.answer("Yes", "No", "Yes")
    identity = json.loads(visit.sent_body())["id"]
    other = Respondent(visit.page.context.new_page(), link).open()
    expect(other.heading(REVIEWED)).to_be_visible()
    visit.page.context.set_offline(True)
    for one in (visit.page, other.page):
        open_page.watch(one).allow("ERR_INTERNET_DISCONNECTED")
    visit.button("Send").click()
    expect(visit.page.get_by_text("The connection is poor.")).to_be_visible()
    other.button("Send").click()
    expect(other.heading("Your answers are still waiting here")).to_be_visible()
    expect(other.page.get_by_text("It goes by the other link of this survey")).to_be_visible()
    visit.page.context.set_offline(False)
    expect(visit.heading(SENT).or_(visit.heading(ANSWERED))).to_be_visible(timeout=60_000)
    expect(other.heading(SENT).or_(other.heading(ANSWERED))).to_be_visible(timeout=60_000)
    (row,) = [
        row
        for row in factories.list_responses(installation.database_url)
        if row[0] == factories.hashed_id(identity)
    ]
    assert None in row, "by the survey's own link, which was first"


def test_a_later_wave_says_what_both_together_tell_and_lets_the_person_choose(
    visit: Respondent, installation: factories.Served, survey: factories.Published
) -> None:
    page = visit.page
    second = publish_copy(installation, survey.slug)
    wave = Respondent(page, second).open()
    told = page.get_by_text("This device has answered another round of this survey")
    expect(wave.button("Start · {n} questions", n=3)).to_be_visible()
    expect(told).to_have_count(0)
    visit.open()
    visit.answer("Yes", "No", "Yes")
    visit.send()
    wave.open()
    expect(told).to_be_visible()
    # Six questions of two fair coins: 3**6 to 1.
    assert math.ceil(100 * 3**6 / (3**6 + 1)) == 100
    expect(page.get_by_text("who sees both").and_(page.get_by_text("nearly always"))).to_be_visible()
    wave.answer("No", "No", "No")
    wave.send()
    for one in (visit, wave):
        one.open()
        expect(one.heading("This survey was already answered on this device")).to_be_visible()


def publish_copy(served: factories.Served, slug: str) -> str:
    """The link of a published duplicate."""
    with factories.writing(served.database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        copy = archives.duplicate(session, found, people.first_researcher(session))
        surveys.publish(session, copy)
        return copy.slug


def test_a_first_round_that_still_waits_counts_too(open_page: Opener, installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url, factories.definition(gammas=[0.25]))
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes")
    page.route("**/responses", lambda route: route.abort())
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    Respondent(page, publish_copy(installation, survey.slug)).open()
    expect(page.get_by_text("who sees both")).to_contain_text("right at most 90 times in 100")


def test_the_figure_of_two_waves_is_that_of_their_losses(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, factories.definition(gammas=[0.25]))
    page = open_page(**PHONE)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes")
    visit.send()
    Respondent(page, publish_copy(installation, survey.slug)).open()
    # Twice 3 to 1.
    expect(page.get_by_text("who sees both")).to_contain_text("right at most 90 times in 100")
