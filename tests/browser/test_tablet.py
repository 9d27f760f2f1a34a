"""One tablet, many people: nothing of a person is left for the next, and what waits arrives once."""

import json
import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Response, Route, expect

from server.people import survey_access
from server.study import study_sheets
from server.web.joined_modules import find_file
from tests.browser import question_screens as screens
from tests.browser.axe_inspector import Inspector
from tests.browser.chromium import launch_on
from tests.browser.conftest import PATIENCE, Opener
from tests.browser.recorder import recording
from tests.browser.shared_tablet import (
    PIN,
    QUESTIONS,
    READ_RECORD,
    answer_all,
    await_hand_over,
    await_waiting,
    begin,
    begin_unkept,
    choose_pin,
    hand_back,
    lessen_work,
    open_desk,
    publish_for_tablet,
    read_heap,
)
from tests.browser.site_users import PHONE, Respondent, change_language, press_on
from tests.browser.visit_traces import (
    COINS,
    STORED,
    Traces,
    differences,
    record_visit,
    rewritten,
    without_integrity,
)
from tests.support import factories
from tests.support.scale import choose_size

KNOWN = "was preloaded|cross-world service worker|ERR_INTERNET_DISCONNECTED|Failed to fetch|ERR_FAILED"
"""What Chromium says of a worker and of a lost network."""
PEOPLE = choose_size(12, 50)
"""Three before, six without a network and a restart among them, three after: each way that one can be kept and sent."""
LOOK_UNTIL_NOTHING_IS_KEPT = f"""async () => {{
  for (let looks = 200; looks; looks -= 1) {{
    const {{ databases, cached, workers }} = await ({STORED})();
    if (![databases, cached, workers].flat().length) return true;
    await new Promise((resume) => setTimeout(resume, 20));
  }}
  return false;
}}"""
LOOK_UNTIL_KEPT = """async () => {
  const { serviceWorker } = navigator;
  while (!(await caches.match(location.href, { ignoreVary: true }) && await serviceWorker.getRegistration())) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
}"""
FEW = 12
UNLIKELY = 1e-6


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return publish_for_tablet(installation)


@pytest.fixture
def tablet(open_page: Opener, survey: factories.Published) -> Respondent:
    """A tablet that is handed over to the first person."""
    page = open_page(**PHONE)
    open_page.watch(page).allow(KNOWN)
    lessen_work(page)
    return begin(page, survey.slug)


def receipts_stored(served: factories.Served) -> list[Any]:
    return [row[0] for row in factories.list_responses(served.database_url)]


def assert_nothing_is_left(page: Page, marks: Sequence[str], *, heap: bool = True) -> None:
    """Of a person who has handed the tablet back: in what is stored, the history, the page and the heap."""
    stored = page.evaluate(STORED)
    assert stored["local"] == stored["session"] == [] == stored["files"]
    assert stored["cookie"] == ""
    assert stored["history"][:2] == [3, {"guard": True}]
    assert [found["name"] for found in stored["databases"]] == [
        f"moneda:{re.sub(r'.*(?=/s/)', '', page.url)}"
    ]
    record = page.evaluate(READ_RECORD)
    slots = record["slots"]
    assert slots == sorted(slots)
    assert len(slots) == 64
    assert len({len(slot) for slot in slots}) == 1
    assert record["takes"] is False
    assert set(record["pin"]) == {"salt", "rounds", "hash"}
    kept = bytes.fromhex("".join(record.pop("slots")))
    everything = json.dumps([stored, record, page.content(), page.evaluate("history.state")])
    if heap:
        everything += read_heap(page)
    assert [mark for mark in marks if mark in everything or mark.encode() in kept] == []


def draw_mark(known: str) -> int:
    """A number that stands nowhere yet, so that it is found only where somebody left it."""
    drawn = 100_000 + secrets.randbelow(900_000)
    return draw_mark(known) if str(drawn) in known else drawn


@pytest.mark.scaled
def test_many_people_half_without_a_network_and_a_restart_between_arrive_once_each(
    open_page: Opener, installation: factories.Served, survey: factories.Published, tmp_path: Path
) -> None:
    folder, kind = tmp_path / "profile", open_page.browser.browser_type
    sent: list[str] = []
    before = len(receipts_stored(installation))

    def note(asked: Request) -> None:
        if asked.method == "POST":
            sent.append(json.loads(asked.post_data or "")["id"])

    order: list[str] = []
    lengths = set()
    context = launch_on(folder, kind, base_url=installation.url, locale="en", **PHONE)
    context.set_default_timeout(PATIENCE)
    context.on("request", note)
    page = context.pages[0]
    visit = begin(page, survey.slug)
    known = page.content() + read_heap(page)
    for number in range(PEOPLE):
        if number == PEOPLE // 4:
            context.set_offline(True)
        if number == PEOPLE // 2:
            context.close()
            context = launch_on(folder, kind, base_url=installation.url, locale="en", **PHONE)
            context.set_default_timeout(PATIENCE)
            context.on("request", note)
            context.set_offline(True)
            page = context.pages[0]
            visit = Respondent(page, survey.slug).open("/tablet")
            await_hand_over(visit)
            await_waiting(visit, number, number - len(receipts_stored(installation)) + before)
        if number == 3 * PEOPLE // 4:
            context.set_offline(False)
        cost = draw_mark(known)
        answer_all(visit, "yes" if secrets.randbelow(2) else "no", cost)
        visit.button("Show my receipt").click()
        receipt = page.locator("output").first
        expect(receipt).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
        words = receipt.inner_text()
        hand_back(visit)
        order.append(words)
        lengths.add(len("".join(page.evaluate(READ_RECORD)["slots"])))
        assert_nothing_is_left(page, [str(cost), words], heap=number % choose_size(3, 1) == 0)
    open_desk(visit)
    visit.button("Send now").click()
    expect(page.get_by_text("Waiting to be sent: 0")).to_be_visible()
    expect(page.get_by_text(f"Arrived: {PEOPLE}")).to_be_visible()
    ids = set(sent)
    context.close()
    assert len(lengths) == 1
    assert len(set(order)) == len(ids) == PEOPLE
    found = [factories.hashed_id(receipt) for receipt in ids]
    stored = receipts_stored(installation)
    assert [stored.count(one) for one in found] == [1] * PEOPLE


def test_wrong_pins_wait_longer_and_a_reload_does_not_help(tablet: Respondent) -> None:
    page = tablet.page
    page.clock.install()
    open_desk(tablet, "000000")
    for _ in range(2):
        expect(page.get_by_text("This is not the PIN.")).to_be_visible()
        page.get_by_label("PIN", exact=True).fill("1111111")
        tablet.button("Open").click()
    expect(page.get_by_text("This is not the PIN.")).to_be_visible()
    page.reload()
    open_desk(tablet)
    expect(page.get_by_text(re.compile(r"Too many wrong PINs\. Try again in \d+ seconds\."))).to_be_visible()
    page.clock.fast_forward(31_000)
    page.get_by_label("PIN", exact=True).fill("٨٢٤١٩٣")  # as an Arabic keyboard types it
    tablet.button("Open").click()
    expect(tablet.button("Send now")).to_be_visible()
    assert page.evaluate(READ_RECORD)["wrong"] == 0


def test_pins_that_are_sent_off_in_one_go_are_looked_at_one_by_one(tablet: Respondent) -> None:
    page = tablet.page
    tablet.button("For the interviewer").click()
    page.evaluate(
        """() => {
          const form = document.querySelector('main form');
          for (let pin = 100000; pin < 100020; pin += 1) {
            form.querySelector('input').value = pin;
            form.requestSubmit();
          }
        }"""
    )
    expect(page.get_by_text("This is not the PIN.")).to_be_visible()
    assert page.evaluate(READ_RECORD)["wrong"] == 1


def test_a_clock_that_is_put_back_makes_no_wait_longer(tablet: Respondent) -> None:
    """A tablet whose battery was empty may begin years ago: nobody waits for that."""
    page = tablet.page
    page.clock.install(time="2026-05-04T12:00:00Z")
    open_desk(tablet, "000000")
    for _ in range(2):
        expect(page.get_by_text("This is not the PIN.")).to_be_visible()
        page.get_by_label("PIN", exact=True).fill("1111111")
        tablet.button("Open").click()
    expect(page.get_by_text("This is not the PIN.")).to_be_visible()
    page.clock.set_system_time("2020-01-01T12:00:00Z")
    for _ in range(2):
        page.get_by_label("PIN", exact=True).fill(PIN)
        tablet.button("Open").click()
        expect(page.get_by_text("Try again in 30 seconds.")).to_be_visible()
    page.clock.fast_forward(31_000)
    page.get_by_label("PIN", exact=True).fill(PIN)
    tablet.button("Open").click()
    expect(tablet.button("Send now")).to_be_visible()


def test_what_waits_goes_also_where_the_last_person_leaves_their_last_screen(
    tablet: Respondent, installation: factories.Served
) -> None:
    page = tablet.page
    before = len(receipts_stored(installation))
    page.clock.install()
    answer_all(tablet, "no", 161_803)
    with page.expect_response("**/responses"):
        page.clock.fast_forward(4 * 900_000)
    assert len(receipts_stored(installation)) == before + 1


def test_without_the_script_of_tablets_nobody_is_asked(
    open_page: Opener, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    page.route("**/respondent_tablet.js*", lambda route: route.abort())
    page.goto(f"/s/{survey.slug}/tablet")
    expect(page.get_by_text("Part of this page did not arrive, or this browser is too old")).to_be_visible()
    expect(page.locator("main button")).to_have_count(1)


def test_back_is_a_step_of_ones_own_way_and_leads_to_nobody_elses(tablet: Respondent) -> None:
    page = tablet.page
    answer_all(tablet, "yes", 271_828)
    hand_back(tablet)
    for _ in range(3):
        page.go_back()
        await_hand_over(tablet)
    page.go_forward()
    await_hand_over(tablet)
    tablet.button("Start").click()
    tablet.page.locator("main .primary").click()
    tablet.radio("Yes").check()
    tablet.button("Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What did it cost?")
    page.go_back()
    expect(tablet.radio("Yes")).to_be_checked()
    page.reload()  # whoever gives up in the middle leaves nothing either
    await_hand_over(tablet)
    await_waiting(tablet, 1, 1)
    assert page.evaluate("history.length") == 3


def test_nothing_of_a_receipt_goes_into_the_clipboard_or_a_file(tablet: Respondent) -> None:
    page = tablet.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('before')")
    answer_all(tablet, "yes", 299_792)
    tablet.button("Show my receipt").click()
    expect(page.locator("output")).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
    page.get_by_text("As a picture to scan").click()
    expect(page.locator(".receipt svg")).to_be_visible()
    expect(page.locator("main button")).to_have_count(1)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+c")
    address = page.url.replace("/tablet", "/receipt")
    link = page.locator(".receipt a")
    expect(link).to_have_text(address)
    link.click()
    expect(page.get_by_text(address)).to_be_visible()
    hand_back(tablet)
    assert page.evaluate("navigator.clipboard.readText()") == "before"


def test_a_page_that_changed_on_the_site_is_kept_again_once_it_is_handed_over(
    tablet: Respondent, installation: factories.Served
) -> None:
    """As after an upgrade: the former one goes as soon as the tablet meets the network."""
    page = tablet.page
    with factories.writing(installation.database_url) as session:
        found = survey_access.find(session, tablet.slug)
        assert found is not None
        sheet = study_sheets.parse_study_sheet(
            {"sponsor": "Union", "contact_name": "Ana, room 12", "shown": True}
        )
        study_sheets.save_study_sheet(session, found, sheet)
    for _ in range(2):  # a browser may end the former worker only after this visit has asked for a new one
        page.reload()
        await_hand_over(tablet)
        expect(page.get_by_text("Ana, room 12")).to_be_visible()
        page.evaluate(LOOK_UNTIL_KEPT)
    page.context.set_offline(True)
    page.reload()
    await_hand_over(tablet)
    expect(page.get_by_text("Ana, room 12")).to_be_visible()


SLOW = """() => {
  const back = history.back.bind(history);
  history.back = () => setTimeout(back, 1500);
  IDBFactory.prototype.open = () => { throw new DOMException('lost', 'UnknownError'); };
}"""
"""A device that takes its time for a step back, and cannot read what it keeps."""


def test_declining_leaves_the_tablet_ready_for_the_next(tablet: Respondent) -> None:
    tablet.button("Start").click()
    tablet.button("I’d rather not take part").click()
    expect(tablet.heading("That is fine. Nothing was sent now.")).to_be_visible()
    page = tablet.page
    page.evaluate(SLOW)
    tablet.button("Clear the screen").click()
    expect(page.locator("main")).to_have_text("Opening the survey…")
    await_hand_over(tablet)
    await_waiting(tablet, 0, 0)
    assert page.evaluate("history.length") == 3


def test_leaving_asks_while_something_waits_and_it_is_sent_later(
    tablet: Respondent, installation: factories.Served
) -> None:
    page = tablet.page
    page.context.set_offline(True)
    answer_all(tablet, "no", 314_159)
    hand_back(tablet)
    open_desk(tablet)
    tablet.button("Leave").click()
    expect(page.get_by_text("Not sent yet: 1.")).to_be_visible()
    tablet.button("Leave").click()
    expect(tablet.heading("You have left")).to_be_visible()
    before = len(receipts_stored(installation))
    page.reload()
    expect(tablet.heading("One tablet, many people")).to_be_visible()
    expect(page.get_by_text("Waiting to be sent: 1.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Waiting to be sent: 0.")).to_be_visible()
    assert len(receipts_stored(installation)) == before + 1
    # Now that nothing waits, nothing is kept; and on the same page somebody may begin anew.
    assert page.evaluate(LOOK_UNTIL_NOTHING_IS_KEPT)
    choose_pin(tablet)


def test_leaving_with_nothing_waiting_takes_everything_away(tablet: Respondent) -> None:
    open_desk(tablet)
    tablet.button("Leave").click()
    expect(tablet.heading("You have left")).to_be_visible()
    stored = tablet.page.evaluate(STORED)
    assert [stored[name] for name in ("databases", "cached", "workers", "local")] == [[], [], [], []]


def test_the_next_person_finds_the_language_of_whoever_hands_it_round(tablet: Respondent) -> None:
    page = tablet.page
    page.context.set_offline(True)
    there = change_language(tablet, "fr")  # before Start: a page of its own, also without a network
    there.button("Start").click()
    there = change_language(there, "ar")  # in the middle: the same page
    screens.begin(there)
    there.page.locator("main input").first.check()
    there.button("Next").click()
    page.reload()
    await_hand_over(tablet)
    there = change_language(tablet, "pt")
    there.button("Start").click()
    there.button("I’d rather not take part").click()
    there.button("Clear the screen").click()
    await_hand_over(tablet)
    assert page.evaluate("history.length") == 3


def test_a_person_whose_page_is_come_back_to_leaves_no_language_behind(tablet: Respondent) -> None:
    """As a browser does that opens again what was open when it ended, or Back from another site."""
    page = tablet.page
    there = change_language(tablet, "ar")
    there.button("Start").click()
    page.goto("/help")
    page.go_back()
    await_hand_over(tablet)
    assert page.evaluate("document.documentElement.lang") == "en"


HELD = """() => {
  const request = navigator.locks.request.bind(navigator.locks);
  const released = new Promise((resolve) => { globalThis.release = resolve; });
  navigator.locks.request = async (name, ...rest) => {
    const outcome = await request(name, ...rest);
    if (name.endsWith(':sending')) await released;
    return outcome;
  };
}"""
"""Nobody learns that a run of sending is over."""


def test_a_stratums_tablet_sends_by_the_stratums_link(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = publish_for_tablet(installation)
    north = factories.plant(installation.database_url, survey.slug, "North\nSouth")["North"]
    page = open_page(**PHONE)
    open_page.watch(page).allow(KNOWN)
    tablet = begin(page, north)
    tablet.button("Start").click()
    expect(page.get_by_text("This link is for a group of people: North")).to_be_visible()
    page.reload()
    answer_all(tablet, "yes", 7)
    hand_back(tablet)
    open_desk(tablet)
    # Asked for in the moment in which a run ends that has left it, as too few wait, it is sent all the same.
    page.evaluate(HELD)
    page.evaluate("dispatchEvent(new Event('online'))")
    tablet.button("Send now").click()
    with page.expect_request(f"**/s/{north}/responses"):
        page.evaluate("release()")
    expect(page.get_by_text("Arrived: 1")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_screen_can_be_read_and_used_by_everybody(
    open_page: Opener, survey: factories.Published, inspector: Inspector, language: str
) -> None:
    page = open_page(**PHONE, locale=language)
    open_page.watch(page).allow(KNOWN)
    visit = Respondent(page, survey.slug, language).open("/tablet")
    expect(visit.button("Begin")).to_be_visible()
    inspector.look(page, "beginning")
    page.locator("#pin").fill("1")
    visit.button("Begin").click()
    expect(page.get_by_role("alert")).to_have_text(visit.say("A PIN has 6 to 12 digits, and nothing else."))
    inspector.look(page, "no PIN")
    page.set_viewport_size(PHONE["viewport"])
    visit = begin(page, survey.slug, language)
    inspector.look(page, "handing over")
    press_on(page, visit.button("For the interviewer"), "Enter")
    expect(page.locator("#pin")).to_be_focused()
    page.keyboard.type("000000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(visit.say("This is not the PIN."))
    inspector.look(page, "a wrong PIN")
    press_on(page, visit.button("Back"), "Enter")
    press_on(page, visit.button("Start"), "Enter")
    expect(page.locator("main .primary")).to_be_visible()
    inspector.look(page, "introduction")
    screens.begin(visit)
    screens.answer(visit, QUESTIONS[0], "yes")
    screens.answer(visit, QUESTIONS[1], 5)
    page.context.set_offline(True)
    visit.button("Send").click()
    expect(visit.heading("Thank you. You are done.")).to_be_focused()
    press_on(page, visit.button("Show my receipt"), "Enter")
    expect(page.locator(".receipt h2")).to_be_focused()
    expect(page.locator(".receipt details")).to_be_visible()
    page.locator(".receipt summary").click()
    inspector.look(page, "receipt")
    press_on(page, visit.button("Clear the screen"), "Enter")
    await_hand_over(visit)
    open_desk(visit)
    visit.button("Leave").click()
    inspector.look(page, "leaving")
    visit.button("Leave").click()
    expect(visit.heading("You have left")).to_be_visible()
    inspector.look(page, "left")


@pytest.mark.parametrize("state", ["off", "invited", "paused", "closed"])
def test_whoever_cannot_be_asked_is_told_why(
    open_page: Opener, installation: factories.Served, survey: factories.Published, state: str
) -> None:
    page = open_page(**PHONE)
    if state == "closed":
        factories.close(installation.database_url, survey.slug)
    else:
        name = {"off": "tablet", "invited": "by_invitation"}.get(state, state)
        factories.settle(installation.database_url, survey.slug, **{name: state != "off"})
    if state in ("paused", "closed"):
        open_page.watch(page).expect("423" if state == "paused" else "410")
    Respondent(page, survey.slug).open("/tablet")
    said = {
        "off": "is not meant for a tablet",
        "invited": "asks everybody for the code",
        "closed": "This survey is closed",
    }
    expect(page.get_by_text(said.get(state, "takes no answers at the moment"))).to_be_visible()
    expect(page.get_by_label("PIN", exact=True)).to_have_count(0)


def test_what_the_server_refuses_for_good_is_counted_and_taken_away(
    tablet: Respondent, installation: factories.Served, open_page: Opener
) -> None:
    answer_all(tablet, "no", 141_421)
    tablet.page.get_by_text(
        "If the survey or its link is changed or closed before that, "
        "or has all its responses, your answers do not count."
    ).wait_for()
    hand_back(tablet)
    factories.close(installation.database_url, tablet.slug)
    open_page.watch(tablet.page).allow("410")
    open_desk(tablet)
    tablet.button("Send now").click()
    expect(tablet.page.get_by_text("Refused by the server for good, and taken away: 1.")).to_be_visible()
    why = "The survey was closed, or as many responses as were looked for had come in, before they arrived."
    expect(tablet.page.get_by_text(why)).to_be_visible()
    expect(tablet.page.get_by_text("410 survey")).to_be_visible()
    expect(tablet.page.locator(".counts .error p")).to_have_count(3)
    expect(tablet.page.get_by_text("Waiting to be sent: 0")).to_be_visible()
    expect(tablet.page.get_by_text("Arrived: 0")).to_be_visible()


def test_a_tablet_whose_survey_was_closed_asks_nobody_and_blames_no_browser(
    tablet: Respondent, installation: factories.Served, open_page: Opener
) -> None:
    """There is no Start, so nobody is told to press it; that the page is not kept any more is the survey's doing."""
    page = tablet.page
    expect(page.get_by_text("Press Start, answer alone")).to_be_visible()
    open_page.watch(page).allow(f"410|{KNOWN}")
    factories.close(installation.database_url, tablet.slug)
    page.reload()
    expect(page.get_by_text("This survey is closed: it takes no answers any more.")).to_be_visible()
    expect(tablet.heading("Nobody can answer here now")).to_be_visible()
    expect(tablet.heading("Hand the tablet over")).to_have_count(0)
    expect(tablet.button("Start")).to_have_count(0)
    expect(page.get_by_text("Press Start, answer alone")).to_have_count(0)
    open_desk(tablet)
    expect(page.get_by_text("This page is not kept on the tablet: without a network")).to_be_visible()


def test_a_tablet_that_cannot_keep_an_answer_says_so_and_takes_it_at_the_next_try(tablet: Respondent) -> None:
    page = tablet.page
    page.evaluate(
        """() => {
          const { put } = IDBObjectStore.prototype;
          IDBObjectStore.prototype.put = function () {
            IDBObjectStore.prototype.put = put;
            throw new DOMException('no room', 'QuotaExceededError');
          };
        }"""
    )
    tablet.button("Start").click()
    page.locator("main .primary").click()
    tablet.radio("Yes").check()
    tablet.button("Next").click()
    page.get_by_role("textbox").fill("1")
    tablet.button("Next").click()
    tablet.button("Send").click()
    expect(tablet.heading("Your answers could not be kept")).to_be_visible()
    tablet.button("Try again").click()
    expect(tablet.heading("Thank you. You are done.")).to_be_visible()
    hand_back(tablet)
    await_waiting(tablet, 1, 1)


def send_in_order(
    open_page: Opener, survey: factories.Published, *, keeps_order: bool
) -> tuple[list[str], list[str], list[str]]:
    """Receipts in the order in which people answered and in that of arrival; the slots before anything was sent."""
    page = open_page(**PHONE)
    open_page.watch(page).allow(KNOWN)
    if keeps_order:
        forget_to_mix(page, survey.slug)
    page.route("**/words*.js", lambda route: route.abort())  # so that receipts stay numbers
    page.route("**/responses", lambda route: route.abort())
    visit = begin_unkept(page, survey.slug)
    answered: list[str] = []
    for number in range(FEW):
        answer_all(visit, "yes", number)
        visit.button("Show my receipt").click()
        answered.append(page.locator("output").inner_text().replace(" ", ""))
        hand_back(visit)
    slots: list[str] = page.evaluate(READ_RECORD)["slots"]
    arrived: list[str] = []

    def note(answer: Response) -> None:
        if answer.request.post_data:
            arrived.append(json.loads(answer.request.post_data)["id"])

    page.on("response", note)
    page.unroute("**/responses")
    open_desk(visit)
    visit.button("Send now").click()
    expect(page.get_by_text(f"Arrived: {FEW}")).to_be_visible()
    return answered, arrived, slots


def forget_to_mix(page: Page, slug: str) -> None:
    """Serve a page that keeps what waits, and sends it, in the order in which people came."""

    def unpin_files(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r' integrity="[^"]*"', "", answer.text()))

    def change_script(route: Route) -> None:
        answer = route.fetch()
        text = answer.text()
        for old, new in (
            ("slots.sort(compareBytes);", ""),
            ("body = batch[drawBelow(batch.length)];", "body = batch[0];"),
        ):
            assert text.count(old) == 1
            text = text.replace(old, new)
        route.fulfill(response=answer, body=text)

    page.route(f"**/s/{slug}/tablet", unpin_files)
    page.route(f"**/client/*/{find_file('slots.js')}", change_script)


def is_mixed(answered: Sequence[str], arrived: Sequence[str]) -> bool:
    """Whether fewer than one in a million random orders lie as near to the order of people, or to its reverse."""
    assert sorted(answered) == sorted(arrived)
    counts = [1]  # of permutations, by their inversions (OEIS A008302)
    for n in range(2, len(answered) + 1):
        wide = [0] * (len(counts) + n - 1)
        for inversions, count in enumerate(counts):
            for more in range(n):
                wide[inversions + more] += count
        counts = wide
    places = [answered.index(receipt) for receipt in arrived]
    inversions = sum(later < earlier for earlier, later in combinations(places, 2))
    nearest = min(inversions, len(counts) - 1 - inversions)
    return 2 * sum(counts[: nearest + 1]) / math.factorial(len(answered)) > UNLIKELY


def test_neither_the_slots_nor_what_is_sent_keeps_the_order_of_people(
    open_page: Opener, survey: factories.Published
) -> None:
    answered, arrived, slots = send_in_order(open_page, survey, keeps_order=False)
    assert slots == sorted(slots)
    assert is_mixed(answered, arrived)


def test_a_tablet_that_keeps_the_order_is_caught(open_page: Opener, survey: factories.Published) -> None:
    """The twin. Of 64 slots that are not sorted, one order in 64! looks sorted."""
    answered, arrived, slots = send_in_order(open_page, survey, keeps_order=True)
    assert slots != sorted(slots)
    assert not is_mixed(answered, arrived)


def test_an_answer_that_is_left_for_the_next_person_is_caught(
    open_page: Opener, survey: factories.Published
) -> None:
    """The twins of what is looked at after each of many people."""
    page = open_page(**PHONE)
    open_page.watch(page).allow(KNOWN)
    dropped = "coins = answers = null;"
    without_integrity(page, f"{survey.slug}/tablet")
    rewritten(page, [("answer.js", dropped, f"sessionStorage.left = [...answers.values()];\n{dropped}")])
    tablet = begin_unkept(page, survey.slug)
    answer_all(tablet, "yes", 161_803)
    hand_back(tablet)
    with pytest.raises(AssertionError):
        assert_nothing_is_left(page, ["161803"])
    page.evaluate("sessionStorage.clear()")
    assert_nothing_is_left(page, ["161803"])
    page.evaluate("globalThis.left = { cost: `${161800 + 3}` }")
    assert "161803" in read_heap(page)


def drop_own_requests(left: Traces) -> Traces:
    """Without what Chromium asks for of its own, as it happens.

    Where a worker answers, it asks for the questions once or twice, before anybody answers, and for a script, too, of
    which the network hears nothing; and some time after a page has come, whether there is a newer worker, unless the
    visit is over by then.
    """
    asked: list[Traces] = []
    for it in left["requests"]:
        again = asked and "sent" not in it and it["kind"] == "Script" and it["url"] == asked[-1]["url"]
        if not again and not it["url"].endswith("/survey.json"):
            asked.append(it)
    sent = [
        it
        for it in left["bytes"]
        if b"/survey.json HTTP" not in it and b"\r\nService-Worker: script\r\n" not in it
    ]
    loaded = sorted(set(left["stored"]["loaded"]))
    return {
        **left,
        "requests": asked,
        "bytes": sent,
        "stored": {**left["stored"], "loaded": loaded},
    }


def hand_round_once(visit: Respondent, given: tuple[str, int]) -> None:
    """A tablet's whole day with one person: begun, handed over, handed back, sent."""
    page = visit.page
    page.get_by_label("PIN", exact=True).fill(PIN)
    visit.button("Begin").click()
    expect(page.get_by_text("it also works without a network")).to_be_visible()
    page.evaluate("navigator.serviceWorker.ready.then(() => {})")  # it answers for the next page, or for none
    visit.button("Back to handing over").click()
    await_hand_over(visit)
    answer_all(visit, *given)
    hand_back(visit)


@pytest.mark.parametrize("coins", COINS)
def test_what_a_tablet_sends_and_keeps_depends_on_no_answer(
    open_page: Opener, installation: factories.Served, survey: factories.Published, coins: str
) -> None:
    at = replace(survey, slug=f"{survey.slug}/tablet")

    def behave(visit: Respondent, given: tuple[str, int]) -> None:
        open_page.watch(visit.page).allow(KNOWN)
        hand_round_once(visit, given)
        kept.append({**visit.page.evaluate(READ_RECORD), "slots": None})
        open_desk(visit)
        visit.button("Send now").click()
        expect(visit.page.get_by_text("Arrived: 1")).to_be_visible()
        expect(visit.page.get_by_text("it also works without a network")).to_be_visible()

    kept: list[Any] = []
    with recording(installation.url) as recorder:
        one, other = (
            record_visit(open_page, recorder, installation, at, given, behave, coins)
            for given in (("yes", 999_999), ("no", 0))
        )
    assert differences(drop_own_requests(one), drop_own_requests(other)) == []
    assert differences(*kept) == []
