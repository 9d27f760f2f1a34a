"""Where a server asks for work, the page does it while questions are read, and nobody loses a response to it."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import shared_tablet
from tests.browser.conftest import Opener
from tests.browser.recorder import recording
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.browser.visit_traces import Leak, differences, record_visit
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.work_solver import solve

WRONG_CLOCK = "Date.now = ((now) => () => now() - 40 * 3600 * 1000)(Date.now);"


@pytest.fixture(scope="module")
def working(sqlite: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[factories.Served]:
    """A server that asks for work."""
    complaints = tmp_path_factory.mktemp("working") / "stderr"
    with (
        complaints.open("w") as log,
        factories.serving(sqlite(True), log=log, MONEDA_PROOF_OF_WORK="always") as running,
    ):
        yield running
    assert complaints.read_text() == ""


@pytest.fixture
def open_working(browser: Browser, working: factories.Served) -> Iterator[Opener]:
    """Opens pages of it."""
    opener = Opener(browser, working.url)
    yield opener
    opener.close_all()


def record_posts(page: Page) -> list[str]:
    """What the page sends from now on."""
    bodies: list[str] = []
    page.on("request", lambda asked: bodies.append(asked.post_data or "") if asked.method == "POST" else None)
    return bodies


def check_body(body: str, slug: str) -> dict[str, object]:
    """A response with the work for its receipt, link and hour, as another program finds it."""
    document: dict[str, object] = json.loads(body)
    assert list(document) == ["id", "version", "reports", "work"]
    work = str(document["work"])
    assert work == solve(slug, str(document["id"]), int(work[:6]))
    return document


def test_the_work_is_done_shown_and_sent(open_working: Opener, working: factories.Served) -> None:
    """In a page whose clock is right, and in one whose clock is off by more than the server lets pass."""
    survey = factories.publish(working.database_url, SURVEY)
    before = len(factories.list_responses(working.database_url))
    page = open_working(**PHONE)
    visit, bodies = Respondent(page, survey.slug).open(), record_posts(page)
    visit.answer("Yes", "No", "Yes")
    page.get_by_text("See exactly what will be sent").click()
    expect(page.locator("pre")).to_contain_text(re.compile(r'"work": "[0-9a-f]{54}"'))
    shown = page.locator("pre").inner_text()
    visit.send()
    assert bodies == [shown]
    check_body(shown, survey.slug)

    page = open_working(**PHONE)
    open_working.watch(page).expect("status of 428")
    page.add_init_script(WRONG_CLOCK)
    visit, bodies = Respondent(page, survey.slug).open(), record_posts(page)
    visit.answer("Yes", "No", "Yes")
    visit.send()
    early, late = (check_body(body, survey.slug) for body in bodies)
    assert {**early, "work": late["work"]} == late
    assert int(str(late["work"])[:6]) - int(str(early["work"])[:6]) == 40
    assert len({len(body) for body in [shown, *bodies]}) == 1
    assert len(factories.list_responses(working.database_url)) == before + 2


def test_a_page_from_before_it_was_switched_on_loses_nothing(
    open_working: Opener, sqlite: NewDatabase, browser: Browser, tmp_path: Path
) -> None:
    """It cannot work: what it has to send waits on the device until the link is opened again."""
    database_url, port = sqlite(True), factories.free_port()
    survey = factories.publish(database_url, SURVEY)
    opener = Opener(browser, f"http://127.0.0.1:{port}")
    with factories.serving(database_url, port=port):
        page = opener(**PHONE)
        opener.watch(page).allow("ERR_|status of 428")
        visit, bodies = Respondent(page, survey.slug).open(), record_posts(page)
        visit.answer("Yes", "No", "Yes")
    with factories.serving(database_url, port=port, MONEDA_PROOF_OF_WORK="always"):
        visit.button("Send").click()
        expect(page.get_by_text("It is kept on this device")).to_be_visible()
        page.reload()
        expect(visit.heading("Sent. Thank you.")).to_be_visible()
        document = check_body(bodies[-1], survey.slug)
        assert {**json.loads(bodies[0]), "work": document["work"]} == document
        assert len(factories.list_responses(database_url)) == 1
        opener.close_all()


def test_nothing_of_the_work_depends_on_an_answer(open_working: Opener, working: factories.Served) -> None:
    """With the coins fixed, in one hour, visits leave the same bytes; a page whose work tells the answer is caught."""
    survey = factories.publish(working.database_url, SURVEY)

    def plain(visit: Respondent, truth: str) -> None:
        visit.answer(truth, truth, truth)
        visit.send()

    leak = (
        "answer.js",
        "way.review(page, body,",
        "way.setClock(Date.now() + 3600000 * (answers.get('copied') === 'yes')); way.review(page, body,",
    )
    with recording(working.url) as recorder:

        def compare(leaks: Sequence[Leak] = ()) -> list[str]:
            hour = None
            while hour != int(time.time()) // 3600:  # where another one began meanwhile, other work is right
                hour = int(time.time()) // 3600
                left = [
                    record_visit(open_working, recorder, working, survey, truth, plain, leaks=leaks)
                    for truth in ("Yes", "No")
                ]
            return differences(*left)

        assert compare() == []
        assert any("body" in place for place in compare([leak]))


def test_a_tablet_does_the_work_when_it_sends(open_working: Opener, working: factories.Served) -> None:
    """Also where its clock is off: the work is of the hour in which something is sent."""
    survey = shared_tablet.publish_for_tablet(working)
    page = open_working(**PHONE)
    page.add_init_script(WRONG_CLOCK)
    open_working.watch(page).allow("428|was preloaded|cross-world service worker")
    visit = shared_tablet.begin(page, survey.slug)
    shared_tablet.answer_all(visit, "yes", 3)
    shared_tablet.hand_back(visit)
    shared_tablet.open_desk(visit)
    bodies = record_posts(page)
    visit.button("Send now").click()
    expect(page.get_by_text("Arrived: 1")).to_be_visible()
    assert check_body(bodies[-1], survey.slug)["id"] == json.loads(bodies[0])["id"]
