"""With the coins fixed, visits that differ in their answers, and in what was shown for them, leave the same bytes."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.recorder import Recorder, recording
from tests.browser.site_users import PHONE, SURVEY, Respondent, change_language, stop_clock
from tests.browser.visit_traces import (
    COINS,
    LOCKED,
    Wire,
    await_files,
    differences,
    find_missed,
    record_visit,
    traces,
)
from tests.support import factories

OTHER = {"Yes": "No", "No": "Yes"}
ONE_QUESTION = factories.definition(gammas=[0.25])


def plain(visit: Respondent, truth: str) -> None:
    visit.answer(truth, truth, truth)
    visit.send()


def mix_answers(visit: Respondent, truth: str) -> None:
    visit.answer(truth, OTHER[truth], truth)
    visit.send()


def back_and_changed(visit: Respondent, truth: str) -> None:
    visit.start(3)
    visit.choose(OTHER[truth])
    visit.choose(OTHER[truth])
    visit.button("Back").click()
    visit.choose(truth)
    visit.choose(truth)
    visit.page.go_back()
    visit.page.go_back()
    visit.page.go_back()
    visit.choose(truth)
    visit.choose(truth)
    visit.choose(truth)
    visit.send()


def retry_sending(visit: Respondent, truth: str) -> None:
    visit.page.route("**/responses", lambda route: route.abort(), times=1)
    plain(visit, truth)


def back_online(visit: Respondent, truth: str) -> None:
    visit.answer(truth, truth, truth)
    visit.page.context.set_offline(True)
    lose_twice(visit)
    visit.page.context.set_offline(False)
    expect(visit.heading("Sent. Thank you.")).to_be_visible()


def opened_again_while_it_waits(visit: Respondent, truth: str) -> None:
    visit.page.route("**/responses", lambda route: route.abort())
    visit.answer(truth, OTHER[truth], truth)
    lose_twice(visit)
    visit.page.unroute("**/responses")
    visit.page.reload()
    expect(visit.heading("Sent. Thank you.")).to_be_visible()


def lose_twice(visit: Respondent) -> None:
    """Two attempts that fail, on a clock that stands still but for the pause between them: as many for everybody."""
    page = visit.page
    stop_clock(page)
    with page.expect_event("requestfailed"):
        visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    with page.expect_event("requestfailed"):
        page.clock.run_for(500)
    page.evaluate(f"async () => {{ while ((await ({LOCKED})()).length); }}")  # until the page knows of it


def details_opened(visit: Respondent, truth: str) -> None:
    visit.answer(truth, truth, truth)
    json.loads(visit.sent_body())
    visit.send()


def reloaded_at_the_review(visit: Respondent, truth: str) -> None:
    visit.answer(truth, OTHER[truth], truth)
    visit.page.reload()
    expect(visit.heading("This is what you were about to send")).to_be_visible()
    visit.send()


def erased_and_walked_through_history(visit: Respondent, truth: str) -> None:
    plain(visit, truth)
    for _ in range(4):
        visit.page.go_forward()
    visit.page.go_back()
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()


def reopen_page(visit: Respondent, truth: str) -> None:
    plain(visit, truth)
    visit.page.go_forward()
    visit.page.reload()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()


def without_a_note(visit: Respondent, truth: str) -> None:
    plain(visit, truth)
    assert visit.page.evaluate("localStorage.length") == 0
    visit.page.reload()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    await_files(visit.page)


def language_changed(visit: Respondent, truth: str) -> None:
    visit.start(3)
    visit.choose(truth)
    visit.radio(OTHER[truth]).check()
    there = change_language(visit, "ar")
    there.button("Next").click()
    there.choose(truth)
    there.send()


VISITS = [
    language_changed,
    plain,
    mix_answers,
    back_and_changed,
    retry_sending,
    back_online,
    opened_again_while_it_waits,
    details_opened,
    reloaded_at_the_review,
    erased_and_walked_through_history,
    reopen_page,
    without_a_note,
]

RETRIED = {
    retry_sending: (2, "net::ERR_FAILED"),
    back_online: (3, "net::ERR_INTERNET_DISCONNECTED"),
    opened_again_while_it_waits: (3, "net::ERR_FAILED"),
}
"""Visits with more than one attempt, and what the browser complains of in them."""


@pytest.fixture(scope="module")
def recorder(installation: factories.Served) -> Iterator[Recorder]:
    """The server, behind something that keeps what is sent to it."""
    with recording(installation.url) as running:
        yield running


@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize("behave", VISITS, ids=lambda behave: behave.__name__)
def test_yes_and_no_leave_the_same_bytes(
    open_page: Opener,
    recorder: Recorder,
    installation: factories.Served,
    behave: Callable[[Respondent, str], None],
    coins: str,
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    factories.settle(installation.database_url, survey.slug, forgets=behave is without_a_note)
    attempts, lost = RETRIED.get(behave, (1, ""))
    yes, no = (
        record_visit(open_page, recorder, installation, survey, truth, behave, coins, complaint=lost)
        for truth in ("Yes", "No")
    )
    assert differences(yes, no) == []
    # What was compared is a whole visit: everything was sent, and it says what the coins say.
    posted = [request for request in yes["requests"] if request["method"] == "POST"]
    assert {request["body"] for request in posted} == {posted[0]["body"]}
    assert len(posted) == attempts
    assert json.loads(posted[0]["body"])["reports"] == [int(coins == "Yes")] * 3
    assert yes["bytes"][-1].startswith(b"POST /s/")
    assert yes["bytes"][-1].endswith(posted[0]["body"].encode())


CHOSEN = "if (designs) answers.set(name, answer);"
"""Where answer.js learns the truth."""

LEARNT = f"const truth = String(Number(answer === 'yes')); {{0}}; {CHOSEN}"

FETCH = "const real = fetch; globalThis.fetch = async (url, options) => {0}"

LEAKING = {
    "by one place of each kind": {
        # Whole, or its address: what the browser tells of its headers may come after the visit is over.
        "another request": ("fetch('/?' + truth)", r"requests\[\d+\](?:\.url)?: .*/\?1'"),
        "the query": (
            FETCH.format("real(`${url}?${truth}`, options)"),
            r"requests\[\d+\]\.url: '[^']*/responses\?1'",
        ),
        "a header": (
            FETCH.format("real(url, { ...options, headers: { ...options.headers, 'x-truth': truth } })"),
            r"requests\[\d+\]\.sent\[\d+\]: \('x-truth', '1'\)",
        ),
        "white space in the body": (
            FETCH.format("real(url, { ...options, body: options.body.padEnd(300 + 9 * truth) })"),
            r"requests\[\d+\]\.body: ",
        ),
        "localStorage": ("localStorage.setItem('truth', truth)", r"stored\.local\["),
        "a cookie": ("document.cookie = `truth=${truth}; path=/manage`", r"cookies\["),
        "a database": ("indexedDB.open(`truth${truth}`)", r"stored\.databases\["),
        "a cache": ("caches.open(truth)", r"stored\.cached\["),
        "a file": (
            "navigator.storage.getDirectory().then((root) => root.getFileHandle(truth, { create: true }))",
            r"stored\.files\[",
        ),
        "the state of history": (
            "history.go = () => history.replaceState({ screen: 0, truth }, '')",
            r"stored\.history\[1\]\.truth: ",
        ),
        "a mark among its times": ("performance.mark(truth)", r"stored\.marked\["),
        "the name of the window": ("globalThis.name = truth", r"stored\.window\[0\]: "),
        "an attribute": ("document.body.dataset.truth = truth", r"document\.html: "),
        "a global variable": ("if (truth === '1') globalThis.seen = true", r"stored\.globals: "),
    },
    "by another place of each kind": {
        "the address of an image": (
            "new Image().src = document.querySelector('link').href + '?' + truth",
            r"requests\[\d+\]\.url: '[^']*\.svg\?1'",
        ),
        "a capital letter": (
            FETCH.format(
                "real(url, { ...options, headers: { ...options.headers, [truth === '1' ? 'X-A' : 'x-a']: '' } })"
            ),
            r"requests\[\d+\]\.sent\[\d+\]: \('X-A', ''\)",
        ),
        "the id": (
            FETCH.format("real(url, { ...options, body: options.body.replace('1011', `101${truth}`) })"),
            r"requests\[\d+\]\.body: ",
        ),
        "the name of an entry of sessionStorage": (
            "sessionStorage.setItem(truth, '')",
            r"stored\.session\[0\]\[0\]: ",
        ),
        "the address of the page": (
            "history.replaceState(history.state, '', `#${truth}`)",
            r"entries\[1\]\[2\]: ",
        ),
        "the title": ("document.title = truth", r"stored\.window\[1\]: "),
        "a control": (
            "const box = document.createElement('input'); document.body.append(box); box.value = truth",
            r"document\.controls\[",
        ),
    },
    "by how many there are": {
        "a second request": (
            FETCH.format("(truth === '1' && await real(url, options), real(url, options))"),
            r"requests: ",
        ),
        "the length of history": (
            "for (let k = 0; k < truth; k += 1) history.pushState({ screen: 1 }, '')",
            r"stored\.history\[0\]: ",
        ),
    },
}
"""Pages that leak the truth, each in ways of which none hides another: what does it, and where it must be seen."""


@pytest.mark.parametrize("page", LEAKING)
def test_a_page_that_leaks_the_truth_is_caught_wherever_it_does(
    open_page: Opener, recorder: Recorder, installation: factories.Served, page: str
) -> None:
    survey = factories.publish(installation.database_url, ONE_QUESTION)

    def behave(visit: Respondent, truth: str) -> None:
        visit.answer(truth)
        visit.send()

    spoiled = LEARNT.format(" ".join(f"{{ {leak} }}" for leak, _place in LEAKING[page].values()))
    yes, no = (
        record_visit(
            open_page, recorder, installation, survey, truth, behave, leaks=[("answer.js", CHOSEN, spoiled)]
        )
        for truth in ("Yes", "No")
    )
    found = differences(yes, no)
    assert find_missed(found, [place for _leak, place in LEAKING[page].values()]) == [], found


LATER = {
    "when the network is back": "addEventListener('online', () => truth === '1' && fetch('/?late'))",
    "at the third attempt": "let tries = 0; "
    + FETCH.format("(tries += 1, real(tries === 3 ? `${url}?${truth}` : url, options))"),
    "how often it is tried": FETCH.format(
        "real(url, options).catch(() => truth === '1' && real(url, options))"
    ),
}


@pytest.mark.parametrize("leak", LATER)
def test_a_page_that_leaks_the_truth_in_what_it_sends_later_is_caught(
    open_page: Opener, recorder: Recorder, installation: factories.Served, leak: str
) -> None:
    survey = factories.publish(installation.database_url, ONE_QUESTION)

    def behave(visit: Respondent, truth: str) -> None:
        visit.answer(truth)
        visit.page.context.set_offline(True)
        lose_twice(visit)
        visit.page.context.set_offline(False)
        expect(visit.heading("Sent. Thank you.")).to_be_visible()

    spoiled = ("answer.js", CHOSEN, LEARNT.format(LATER[leak]))
    complaint = "net::ERR_INTERNET_DISCONNECTED"
    yes, no = (
        record_visit(open_page, recorder, installation, survey, truth, behave, "No", [spoiled], complaint)
        for truth in ("Yes", "No")
    )
    assert differences(yes, no) != []


def test_nothing_is_sent_before_send_is_pressed_or_kept_before_the_review(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE)
    wire = Wire(page)
    visit = Respondent(page, survey.slug).open()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    await_files(page)
    loaded = len(wire.requests)
    visit.start(3)
    for truth in ("Yes", "No"):
        visit.choose(truth)
    assert page.evaluate("localStorage.length") == 0
    visit.choose("Yes")
    shown = visit.sent_body()
    before = traces(page, wire)
    assert before["stored"]["local"] == [
        [
            f"moneda:{page.locator('main').get_attribute('data-round')}",
            json.dumps({"shown": shown, "to": survey.url}, separators=(",", ":")),
        ]
    ]
    assert len(before["requests"]) == loaded
    assert {request["method"] for request in before["requests"]} == {"GET"}
    assert [request["body"] for request in before["requests"]] == [None] * loaded
    assert all(not before["stored"][kind] for kind in ("session", "databases", "files", "cached"))
    assert before["cookies"] == []
    visit.send()
    assert len(wire.requests) == loaded + 6  # what was sent, the words of the receipt, and its picture


def test_the_control_of_the_comparison_two_equal_visits_are_equal(
    open_page: Opener, recorder: Recorder, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    one, other = (record_visit(open_page, recorder, installation, survey, "Yes", plain) for _ in range(2))
    assert differences(one, other) == []
