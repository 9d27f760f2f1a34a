"""A respondent's whole visit on a phone: answering, going back, sending, coming again, and what can go wrong."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, Route, expect

from server.web.joined_modules import find_file
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent, change_language, press_on, stop_clock
from tests.browser.visit_traces import await_files
from tests.support import factories

LABELS = {
    "en": "Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are recorded as Yes.",
    "es": "De 100 personas que marcan No, 25 quedan registradas como Yes. "
    "De 100 que marcan Yes, 75 quedan registradas como Yes.",
}
FIRST, SECOND, THIRD = (question["text"] for question in SURVEY["questions"])
MOST_SENT = 31_000
MOST_UNPACKED = 90_000


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


@pytest.fixture(params=["en", "es"])
def visit(request: pytest.FixtureRequest, open_page: Opener, survey: factories.Published) -> Respondent:
    """The survey, opened on a phone that asks for this language."""
    page = open_page(**PHONE, locale=request.param)
    return Respondent(page, survey.slug, request.param).open()


@pytest.fixture
def english(open_page: Opener, survey: factories.Published) -> Respondent:
    return Respondent(open_page(**PHONE), survey.slug).open()


def own_rows(served: factories.Served, identity: str) -> list[tuple[object, ...]]:
    return [
        row
        for row in factories.list_responses(served.database_url)
        if row[0] == factories.hashed_id(identity)
    ]


def label(page: Page) -> str:
    return " ".join(page.locator(".label").inner_text().split())


def sent_bodies(page: Page) -> list[str]:
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data) if request.method == "POST" else None)
    return bodies


def test_a_whole_visit(visit: Respondent, installation: factories.Served) -> None:
    page = visit.page
    bodies = sent_bodies(page)
    assert page.locator("html").get_attribute("lang") == page.evaluate("navigator.language")
    expect(page.get_by_text("Three questions about exams.")).to_be_visible()
    language = page.evaluate("navigator.language")
    assert label(page) == LABELS[language]

    visit.start(3)
    for number, question in enumerate((FIRST, SECOND, THIRD), start=1):
        expect(page.get_by_role("heading", level=1)).to_have_text(question)
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        expect(page.get_by_text(visit.say("{k} of {n}", k=number, n=3), exact=True)).to_be_visible()
        expect(page.get_by_role("progressbar")).to_have_js_property("value", number)
        assert label(page) == LABELS[language]
        expect(page.get_by_role("radio", checked=True)).to_have_count(0)
        visit.choose("Yes" if number == 2 else "No")

    body = visit.sent_body()
    visit.send()
    assert bodies == [body]
    answer = json.loads(body)
    expect(page.locator("output")).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
    (row,) = own_rows(installation, answer["id"])
    assert row[2] == bytes(answer["reports"])


def test_the_words_are_the_readers_and_the_answers_the_surveys(
    visit: Respondent, installation: factories.Served
) -> None:
    spanish = visit.page.evaluate("navigator.language") == "es"
    for own, other, language in [("Yes", "Sí", "en"), ("Sí", "Yes", "es")]:
        visit.slug = factories.publish(installation.database_url, {**SURVEY, "language": language}).slug
        visit.open().start(3)
        for text in ("Siguiente", "Atrás"):
            button = visit.page.get_by_role("button", name=re.compile(rf"^\W*{text}$"))
            expect(button).to_have_count(int(spanish))
        expect(visit.page.get_by_role("radio", name=own, exact=True)).to_have_count(1)
        expect(visit.page.get_by_role("radio", name=other, exact=True)).to_have_count(0)
        expect(visit.page.get_by_text(own, exact=True)).to_have_attribute("lang", language)


def test_the_language_can_be_changed_and_no_cookie_is_set(english: Respondent) -> None:
    change_language(english, "es")
    expect(english.page.get_by_role("button", name="Empezar")).to_be_visible()
    assert english.page.context.cookies() == []


def test_going_back_keeps_the_answers_and_next_needs_one(english: Respondent) -> None:
    page = english.page
    english.start(3)
    english.button("Next").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("heading", level=1)).to_have_text(FIRST)
    english.choose("Yes")
    english.choose("No")
    english.button("Back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SECOND)
    expect(english.radio("No")).to_be_checked()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(FIRST)
    expect(english.radio("Yes")).to_be_checked()
    page.go_back()
    expect(english.button("Start · {n} questions", n=3)).to_be_visible()
    page.go_forward()
    page.go_forward()
    expect(english.radio("No")).to_be_checked()


def test_the_made_up_answer_and_the_tested_coin_are_never_sent(english: Respondent) -> None:
    page = english.page
    bodies = sent_bodies(page)
    page.get_by_text("Try it with a made-up answer").click()
    english.button("Flip for a {Yes}", Yes="Yes").click()
    expect(page.get_by_text(re.compile("You entered Yes; (Yes|No) would arrive"))).to_be_visible()
    page.get_by_text("How can I check?").click()
    page.get_by_role("button", name="No", exact=True).click()
    shown = page.get_by_text(re.compile(r"^Yes [\d,]+ times, expected 2,500$"))
    expect(shown).to_be_visible()
    # Ten standard deviations: what follows the design strays further once in 10^22 runs.
    assert abs(int(re.findall(r"Yes ([\d,]+)", shown.inner_text())[0].replace(",", "")) - 2500) < 433
    assert bodies == []


def test_a_second_visit_does_not_flip_again_until_traces_are_erased(english: Respondent) -> None:
    page = english.page
    english.answer("No", "No", "No")
    english.send()
    for come_again in (page.reload, english.open):
        come_again()
        expect(english.heading("This survey was already answered on this device")).to_be_visible()
        expect(page.get_by_role("radio")).to_have_count(0)
        assert [list(json.loads(value)) for value in stored_here(page)] == [["sent"]]
    english.button("Erase my traces").click()
    expect(english.heading("Nothing of this survey is left on this page")).to_be_visible()
    assert stored_here(page) == []
    english.open()
    expect(english.button("Start · {n} questions", n=3)).to_be_visible()


def stored_here(page: Page) -> list[str]:
    stored: list[str] = page.evaluate("[...Object.values(localStorage), ...Object.values(sessionStorage)]")
    return stored


def test_what_did_not_get_through_is_sent_later_with_the_same_bytes(
    english: Respondent, open_page: Opener, installation: factories.Served
) -> None:
    page = english.page
    bodies = sent_bodies(page)
    open_page.watch(page).expect("ERR_FAILED")
    page.route("**/responses", lambda route: route.abort())
    english.answer("Yes", "No", "Yes")
    english.button("Send").click()
    expect(page.get_by_text("The connection is poor.")).to_be_visible()
    page.reload()
    expect(english.heading("Your answers are still waiting here")).to_be_visible()
    kept = english.sent_body()
    assert [json.loads(note)["pending"] for note in stored_here(page)] == [kept]
    page.unroute("**/responses")
    # Nobody presses anything.
    expect(english.heading("Sent. Thank you.")).to_be_visible()
    assert set(bodies) == {kept}
    assert len(own_rows(installation, json.loads(kept)["id"])) == 1


@pytest.mark.parametrize("lost", ["request", "answer"])
def test_it_tries_again_by_itself_then_when_asked_and_is_stored_once(
    english: Respondent, open_page: Opener, installation: factories.Served, lost: str
) -> None:
    page = english.page
    bodies = sent_bodies(page)
    open_page.watch(page).expect("ERR_FAILED")
    stop_clock(page)

    def lose(route: Route) -> None:
        if lost == "answer":
            route.fetch()
        route.abort()

    page.route("**/responses", lose)
    english.answer("Yes", "No", "Yes")
    with page.expect_event("requestfailed"):
        english.button("Send").click()
    for pause in (500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000):
        with page.expect_event("requestfailed"):
            page.clock.run_for(pause)
    expect(english.button("Try again")).to_be_visible()
    page.unroute("**/responses")
    english.button("Try again").click()
    expect(english.heading("Sent. Thank you.")).to_be_visible()
    assert len(bodies) == 10
    assert len(set(bodies)) == 1
    assert len(own_rows(installation, json.loads(bodies[0])["id"])) == 1


@pytest.mark.parametrize("change", ["closed", "a new version"])
def test_a_survey_that_changed_meanwhile_stores_nothing_and_says_why(
    english: Respondent, open_page: Opener, installation: factories.Served, change: str
) -> None:
    page = english.page
    english.answer("Yes", "No", "Yes")
    identity = json.loads(english.sent_body())["id"]
    if change == "closed":
        factories.close(installation.database_url, english.slug)
    else:
        factories.publish(installation.database_url, {**SURVEY, "title": "Exams, again"}, english.slug)
    open_page.watch(page).expect("410" if change == "closed" else "409")
    english.button("Send").click()
    expect(english.heading("Your answers were not accepted")).to_be_visible()
    said = (
        "takes no responses any more; it is closed"
        if change == "closed"
        else "must be the survey’s current one"
    )
    expect(page.get_by_text(said)).to_be_visible()
    assert own_rows(installation, identity) == []
    assert stored_here(page) == []


def test_a_broken_server_loses_nothing(
    english: Respondent, open_page: Opener, installation: factories.Served
) -> None:
    page = english.page
    open_page.watch(page).expect("status of 500")
    page.route("**/responses", lambda route: route.fulfill(status=500, body="{}"), times=1)
    english.answer("Yes", "No", "Yes")
    body = english.sent_body()
    english.send()
    assert len(own_rows(installation, json.loads(body)["id"])) == 1


def test_with_the_keyboard_alone(
    open_page: Opener, survey: factories.Published, installation: factories.Served
) -> None:
    page = open_page()
    visit = Respondent(page, survey.slug).open()
    press_on(page, visit.button("Start · {n} questions", n=3), "Enter")
    for truth, key in [("Yes", "Space"), ("No", "ArrowDown"), ("Yes", "Space")]:
        press_on(page, visit.radio("Yes"), key)
        expect(visit.radio(truth)).to_be_checked()
        press_on(page, visit.button("Next"), "Enter")
    press_on(page, page.get_by_text("See exactly what will be sent"), "Enter")
    expect(page.locator("pre")).not_to_be_empty()
    identity = json.loads(page.locator("pre").inner_text())["id"]
    press_on(page, visit.button("Send"), "Enter")
    expect(visit.heading("Sent. Thank you.")).to_be_focused()
    assert len(own_rows(installation, identity)) == 1


@pytest.mark.parametrize("language", ["en", "es"])
def test_all_that_is_loaded_is_under_31_kb(
    open_page: Opener, survey: factories.Published, language: str
) -> None:
    """Until Start, and what comes behind it for the whole visit (how much of it until Start: test_compression.py)."""
    page = open_page(**PHONE, locale=language)
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    visit = Respondent(page, survey.slug, language).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    await_files(page)
    icon = page.locator("link[rel=icon]").get_attribute("href")
    assert icon is not None
    sent = {Path(answer.url).name: answer.request.sizes()["responseBodySize"] for answer in answers}
    unpacked = {Path(answer.url).name: len(answer.body()) for answer in answers}
    drawn = len(page.request.get(icon).body())
    print(
        f"\nAll that the respondent's page loads ({language}): {sum(sent.values()) + drawn:,} bytes sent, {sent}; "
        f"{sum(unpacked.values()) + drawn:,} unpacked"
    )
    assert {"survey.json", "style.css", find_file("page.js"), find_file("answer.js"), survey.slug} <= set(
        sent
    )
    assert sum(sent.values()) + drawn < MOST_SENT
    assert sum(unpacked.values()) + drawn < MOST_UNPACKED
