"""Where a survey wants it, an opened page goes on without a network, and leaves with Send or when it is erased."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from playwright.sync_api import Page, Route, expect

from server.web.assets import read_assets
from server.web.joined_modules import find_file
from tests.browser.conftest import PATIENCE, Opener
from tests.browser.recorder import recording
from tests.browser.site_users import PHONE, SURVEY, Respondent, change_language
from tests.browser.test_traffic import lose_twice
from tests.browser.visit_traces import COINS, STORED, differences, record_visit
from tests.support import factories

LOST = "ERR_INTERNET_DISCONNECTED|Failed to fetch|ERR_FAILED"
ASKED_TWICE = "cross-world service worker resource mismatch"
"""Chromium gives no script what a page has asked for early, where a worker answered: the script asks again."""


def publish_offline(served: factories.Served) -> factories.Published:
    survey = factories.publish(served.database_url, SURVEY)
    factories.settle(served.database_url, survey.slug, offline=True)
    return survey


def left_here(page: Page) -> tuple[list[str], list[str], list[list[str]]]:
    """The names of caches, the scopes of workers, and what is stored."""
    stored = page.evaluate(STORED)
    return [name for name, _ in stored["cached"]], stored["workers"], stored["local"]


def await_kept(page: Page) -> None:
    page.evaluate(
        """(patience) => Promise.race([navigator.serviceWorker.ready.then(() => {}), new Promise((_, fail) => {
          setTimeout(fail, patience, new Error('nothing is kept'));
        })])""",
        PATIENCE,
    )


def open_survey(open_page: Opener, survey: factories.Published, **look: str) -> Respondent:
    page = open_page(**PHONE, **look)
    open_page.watch(page).allow(f"{ASKED_TWICE}|was preloaded")
    visit = Respondent(page, survey.slug).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    await_kept(page)
    return visit


def test_opened_survey_is_answered_without_a_network_and_arrives_once(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = publish_offline(installation)
    visit = open_survey(open_page, survey)
    page = visit.page
    open_page.watch(page).expect(LOST)
    bodies: list[str] = []
    page.context.on(
        "request", lambda asked: bodies.append(asked.post_data or "") if asked.method == "POST" else None
    )
    (kept,) = page.evaluate(STORED)["cached"]
    names = [re.sub(r".*/", "", url) for url in kept[1]]
    assert kept[0] == f"moneda:/s/{survey.slug}"
    assert {survey.slug, "survey.json", "style.css", find_file("page.js"), find_file("answer.js")} <= set(
        names
    )
    assert page.evaluate(STORED)["local"] == []

    page.context.set_offline(True)
    page.reload()
    visit.answer("Yes", "No", "Yes")
    shown = visit.sent_body()
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.reload()  # what waits is what was sent; no answer comes back
    expect(visit.heading("Your answers are still waiting here")).to_be_visible()
    assert [list(json.loads(note)) for _, note in left_here(page)[2]] == [["pending", "to", "of", "spends"]]
    assert factories.hashed_id(json.loads(shown)["id"]) not in {
        row[0] for row in list_responses(installation)
    }

    page.context.set_offline(False)
    expect(visit.heading("Sent. Thank you.")).to_be_visible()
    assert set(bodies) == {shown}
    assert [row[0] for row in list_responses(installation)].count(
        factories.hashed_id(json.loads(shown)["id"])
    ) == 1
    assert left_here(page)[:2] == ([], [])
    visit.open()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()
    assert left_here(page)[:2] == ([], [])


@pytest.mark.parametrize("coins", COINS)
def test_what_is_sent_and_left_without_a_network_depends_on_no_answer(
    open_page: Opener, installation: factories.Served, coins: str
) -> None:
    survey = publish_offline(installation)

    def behave(visit: Respondent, truth: str) -> None:
        await_kept(visit.page)
        visit.page.context.set_offline(True)
        visit.answer(truth, truth, truth)
        lose_twice(visit)
        waiting.append(visit.page.evaluate(STORED))
        visit.page.context.set_offline(False)
        expect(visit.heading("Sent. Thank you.")).to_be_visible()

    waiting: list[object] = []
    with recording(installation.url) as recorder:
        yes, no = (
            record_visit(open_page, recorder, installation, survey, truth, behave, coins, complaint=LOST)
            for truth in ("Yes", "No")
        )
    assert differences(yes, no) == []
    assert differences(*waiting) == []
    assert yes["stored"]["cached"] == yes["stored"]["workers"] == []


def list_responses(served: factories.Served) -> list[tuple[object, ...]]:
    return factories.list_responses(served.database_url)


def decline(visit: Respondent) -> None:
    visit.button("I’d rather not take part").click()
    expect(visit.heading("That is fine. Nothing was sent now.")).to_be_visible()


def erase(visit: Respondent) -> None:
    visit.answer("Yes", "No", "Yes")
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()


def decline_early(visit: Respondent) -> None:
    """At a second visit, where what comes after the first screen stalls, and comes when somebody has declined."""
    late: list[Route] = []
    visit.page.context.route(f"**/{find_file('delivery.js')}", lambda route: late.append(route))
    visit.page.goto(f"/s/{visit.slug}", wait_until="commit")
    decline(visit)
    assert left_here(visit.page) == ([], [], [])
    late.pop().continue_()
    visit.page.wait_for_load_state("networkidle")


def decline_stalled(visit: Respondent) -> None:
    """At a second visit, where the worker that would keep the page never comes."""
    page = visit.page
    page.add_init_script("ServiceWorkerContainer.prototype.register = () => new Promise(() => {});")
    page.clock.install()
    visit.open()
    page.wait_for_load_state("networkidle")
    visit.button("I’d rather not take part").click()
    page.clock.run_for(8_000)
    expect(visit.heading("That is fine. Nothing was sent now.")).to_be_visible()


@pytest.mark.parametrize("leave", [decline, decline_early, decline_stalled, erase])
def test_nothing_is_left_once_somebody_declines_or_erases(
    open_page: Opener, installation: factories.Served, leave: Callable[[Respondent], None]
) -> None:
    visit = open_survey(open_page, publish_offline(installation))
    leave(visit)
    assert left_here(visit.page) == ([], [], [])


@pytest.mark.parametrize("ends", ["arrived", "erased", "answered by the other"])
def test_no_page_of_another_link_is_left_either(
    open_page: Opener, installation: factories.Served, ends: str
) -> None:
    """A phone may have opened the links of two groups: a note of one is the survey's, and so what goes with it."""
    survey = publish_offline(installation)
    links = factories.plant(installation.database_url, survey.slug, "North\nSouth")
    north = open_survey(open_page, replace(survey, slug=links["North"]))
    page = north.page
    open_page.watch(page).allow(LOST)
    if ends != "answered by the other":
        north.answer("Yes", "No", "Yes")
    if ends == "arrived":
        context = page.context
        context.set_offline(True)
        north.button("Send").click()
        expect(page.get_by_text("The connection is poor.")).to_be_visible()
        # A page that is only left may send once more in the moment in which the network is back.
        page.close()
        context.set_offline(False)
        page = context.new_page()
    south = Respondent(page, links["South"]).open()
    if ends == "erased":
        erase_reviewed(south)
    else:
        if ends == "answered by the other":
            south.answer("Yes", "No", "Yes")
            south.button("Send").click()
        expect(south.heading("Sent. Thank you.")).to_be_visible()
    assert left_here(page)[:2] == ([], [])


def erase_reviewed(visit: Respondent) -> None:
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()


def test_another_language_while_answers_wait_leads_to_no_error_of_the_browser(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = open_survey(open_page, publish_offline(installation))
    page = visit.page
    open_page.watch(page).allow(LOST)
    page.context.set_offline(True)
    visit.answer("Yes", "No", "Yes")
    visit.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.reload()
    waiting = visit.heading("Your answers are still waiting here")
    expect(waiting).to_be_visible()
    page.locator(".languages summary").click()
    page.locator(".languages a[lang=es]").click()
    page.wait_for_url("**lang=es")
    expect(waiting).to_be_visible()  # in the language that was kept
    page.context.set_offline(False)
    expect(visit.heading("Sent. Thank you.")).to_be_visible()


def test_in_another_language_it_goes_on_without_a_network_too(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = change_language(open_survey(open_page, publish_offline(installation)), "es")
    page = visit.page
    open_page.watch(page).allow(LOST)
    page.evaluate(
        """async () => {
          const { screens } = document.querySelector('main').dataset;
          while (!await caches.match(screens)) await new Promise((resume) => { setTimeout(resume, 20); });
        }"""
    )
    page.context.set_offline(True)
    page.reload()
    visit.answer("Yes", "No", "Yes")


def test_a_page_that_keeps_itself_after_it_was_sent_is_caught(
    open_page: Opener, installation: factories.Served
) -> None:
    """The twin: without the removal, what the tests above look at is left."""
    page = open_page(**PHONE)
    survey = publish_offline(installation)

    def unpin_files(route: Route) -> None:
        answer = route.fetch()
        text = re.sub(r' (data-)?integrity="[^"]*"', "", answer.text())
        route.fulfill(response=answer, body=text)

    def change_script(route: Route) -> None:
        answer = route.fetch()
        assert answer.text().count("await caches.delete(key(scope));") == 1
        text = answer.text().replace("await caches.delete(key(scope));", "return;")
        route.fulfill(response=answer, body=text)

    page.route(f"**/s/{survey.slug}", unpin_files)
    page.route(f"**/client/*/{find_file('submit.js')}", change_script)
    visit = Respondent(page, survey.slug).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    await_kept(page)
    decline(visit)
    assert left_here(page)[:2] != ([], [])


@pytest.mark.parametrize("change", ["a new version", "closed", "not offline any more"])
def test_a_kept_page_never_stands_in_for_what_the_network_says(
    open_page: Opener, installation: factories.Served, change: str
) -> None:
    survey = publish_offline(installation)
    visit = open_survey(open_page, survey)
    page = visit.page
    if change == "closed":
        open_page.watch(page).expect("410")
        factories.close(installation.database_url, survey.slug)
    elif change == "a new version":
        factories.publish(installation.database_url, {**SURVEY, "title": "Exams, again"}, survey.slug)
    else:
        factories.settle(installation.database_url, survey.slug, offline=False)
    page.reload()
    if change == "a new version":
        expect(page.get_by_role("heading", name="Exams, again")).to_be_visible()
        # A browser may end the former worker only after this visit has asked for a new one; the next asks again.
        page.reload()
        await_kept(page)
        open_page.watch(page).allow(LOST)
        page.context.set_offline(True)
        page.reload()
        expect(page.get_by_role("heading", name="Exams, again")).to_be_visible()
    else:
        expect(page.locator("main")).not_to_have_attribute("data-offline", re.compile("."))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert left_here(page) == ([], [], [])


@contextmanager
def hold_server(served: factories.Served) -> Iterator[None]:
    """The server stands still: connections are accepted and nothing is answered, until the end."""
    os.killpg(served.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(served.process.pid, signal.SIGCONT)


def test_where_nothing_comes_through_the_kept_page_comes_until_the_network_is_back(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = publish_offline(installation)
    visit = open_survey(open_page, survey)
    page = visit.page
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url) if request.service_worker else None)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")  # so that every file is asked for
    factories.publish(installation.database_url, {**SURVEY, "title": "Exams, again"}, survey.slug)
    with hold_server(installation):
        page.reload(timeout=4 * PATIENCE)
        visit.start(3)
        expect(visit.radio("Yes")).to_be_visible()
        # The page was waited for, and nothing else.
        assert [url for url in asked if not url.endswith("/offline_worker.js")] == [page.url]
        assert left_here(page)[0] == [f"moneda:/s/{survey.slug}"]
    page.reload()
    expect(page.get_by_role("heading", name="Exams, again")).to_be_visible()


def test_an_answer_that_takes_its_time_is_waited_for(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = publish_offline(installation)
    page = open_survey(open_page, survey).page
    factories.publish(installation.database_url, {**SURVEY, "title": "Exams, again"}, survey.slug)
    with (
        hold_server(installation),
        page.context.expect_event("request", lambda request: bool(request.service_worker)),
    ):
        page.evaluate("location.reload()")
    expect(page.get_by_role("heading", name="Exams, again")).to_be_visible()


def test_a_kept_file_that_was_altered_does_not_run(open_page: Opener, installation: factories.Served) -> None:
    survey = publish_offline(installation)
    visit = open_survey(open_page, survey)
    page = visit.page
    watch = open_page.watch(page)
    watch.expect(rf"'integrity' attribute for resource '[^']*/{find_file('answer.js')}'")
    watch.allow(f"{LOST}|was preloaded")
    page.evaluate(
        """async ([name, file]) => {
          const cache = await caches.open(name);
          const kept = await cache.match(file);
          await cache.put(file, new Response(`${await kept.text()}//`, { headers: kept.headers }));
        }""",
        [f"moneda:/s/{survey.slug}", f"/client/{read_assets().fingerprint}/{find_file('answer.js')}"],
    )
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")  # where the file is as well
    page.context.set_offline(True)
    page.reload()
    expect(page.locator(".late")).to_be_attached()
    expect(page.get_by_role("button")).to_have_count(0)


def test_other_surveys_and_browsers_without_workers_keep_nothing(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**PHONE)
    visit = Respondent(page, factories.publish(installation.database_url, SURVEY).slug).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert left_here(page) == ([], [], [])
    expect(page.get_by_text("So that you can go on without a network")).to_have_count(0)

    other = open_page(**PHONE)  # as Tor Browser and private windows of some others have it
    other.add_init_script("delete Navigator.prototype.serviceWorker")
    visit = Respondent(other, publish_offline(installation).slug).open()
    visit.answer("Yes", "No", "Yes")
    assert other.evaluate("caches.keys()") == []
    visit.send()
