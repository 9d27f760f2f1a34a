"""Nobody starts without having had all of the introduction: what is folded, or lies below Start, must be ticked."""

import pytest
from playwright.sync_api import Route, expect

from server.web.joined_modules import find_file
from server.web.respondent_modules import AFTER_START
from tests.browser import question_screens
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Respondent, press_on
from tests.support import factories

WHO = "We are the students' union and ask about exams."
CONSENT = (
    "After you press Send, you can find or remove your answers among the others with your receipt, while the "
    "survey is open; this site offers no other way. Whoever runs the survey can delete them all together."
)
QUESTION = "Have you ever copied in an exam?"
FOLDED = f"{WHO}\n\nTaking part is voluntary.\n\n{CONSENT}"
LONG = " ".join([WHO] * 25)
BACK_AND_FORWARD = """async () => {
  const moved = () => new Promise((done) => { addEventListener('popstate', () => done(), { once: true }); });
  history.pushState({ screen: 1 }, '');
  for (const by of [-1, 1, 0]) {
    const there = moved();
    if (by) history.go(by);
    await there;
  }
}"""
"""To the place of the first question as the browser's keys lead there; ends once the page has gone back by itself."""


def open_survey(
    open_page: Opener, served: factories.Served, introduction: str, language: str, **look: object
) -> Respondent:
    document = factories.definition(
        language=language,
        introduction=introduction,
        questions=[factories.question("copied", QUESTION), factories.question("paid", "Paid?")],
    )
    slug = factories.publish(served.database_url, document).slug
    page = open_page(**look, locale=language)
    visit = Respondent(page, slug, language).open()
    expect(visit.button("Start · {n} questions", n=2)).to_be_visible()
    return visit


@pytest.mark.parametrize("look", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_what_is_folded_is_read_before_the_first_question(
    open_page: Opener,
    installation: factories.Served,
    inspector: Inspector,
    language: str,
    look: dict[str, object],
) -> None:
    visit = open_survey(open_page, installation, FOLDED, language, **look)
    page, start = visit.page, visit.button("Start · {n} questions", n=2)
    expect(page.get_by_text(CONSENT)).to_be_hidden()
    start.click()
    expect(page.get_by_role("heading", name=QUESTION)).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_text(
        visit.say("Read all about this survey first, at the top, and tick there that you have.")
    )
    expect(page.get_by_text(CONSENT)).to_be_in_viewport()
    inspector.look(page, "introduction that is to be ticked")
    visit.read().check()
    expect(page.get_by_role("alert")).to_be_empty()
    start.click()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    visit.button("Back").click()
    page.get_by_text(visit.say("More about this survey")).click()
    expect(visit.read()).to_be_checked()


def test_with_the_keyboard_alone(open_page: Opener, installation: factories.Served) -> None:
    visit = open_survey(open_page, installation, FOLDED, "en")
    press_on(visit.page, visit.button("Start · {n} questions", n=2), "Enter")
    expect(visit.page.locator("#about summary")).to_be_focused()
    visit.page.keyboard.press("Tab")
    expect(visit.read()).to_be_focused()
    visit.page.keyboard.press("Space")
    press_on(visit.page, visit.button("Start · {n} questions", n=2), "Enter")
    expect(visit.page.get_by_role("heading", name=QUESTION)).to_be_visible()


def test_one_paragraph_that_does_not_fit_above_start_is_ticked(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = open_survey(open_page, installation, LONG, "en", **PHONE)
    start = visit.button("Start · {n} questions", n=2)
    start.click()
    expect(visit.page.get_by_role("alert")).not_to_be_empty()
    visit.read().check()
    start.click()
    expect(visit.page.get_by_role("heading", name=QUESTION)).to_be_visible()


def test_what_stands_above_start_as_a_whole_needs_no_tick(
    open_page: Opener, installation: factories.Served
) -> None:
    for introduction, look in ((WHO, PHONE), ("", PHONE), (LONG, DESK)):
        visit = open_survey(open_page, installation, introduction, "en", **look)
        expect(visit.read()).to_have_count(0)
        visit.button("Start · {n} questions", n=2).click()
        expect(visit.page.get_by_role("heading", name=QUESTION)).to_be_visible()


@pytest.mark.parametrize("missing", ["consent.js", "delivery.js"])
def test_without_a_script_of_consent_or_of_sending_nobody_is_asked_a_question(
    open_page: Opener, installation: factories.Served, missing: str
) -> None:
    slug = factories.publish(installation.database_url, factories.definition(consent="I agree.")).slug
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    page.route(f"**/{find_file(missing)}", lambda route: route.abort())
    page.goto(f"/s/{slug}")
    expect(page.get_by_text("Part of this page did not arrive, or this browser is too old")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)


def test_start_waits_for_what_sends_and_then_leads_one_screen_on(
    open_page: Opener, installation: factories.Served
) -> None:
    """It comes after the first screen: nobody is asked what could not be sent. After eight seconds the page says so."""
    slug = factories.publish(installation.database_url, factories.definition()).slug
    page = open_page(**PHONE)
    page.clock.install()
    late: list[Route] = []
    page.route(f"**/{find_file('delivery.js')}", lambda route: late.append(route))
    page.goto(f"/s/{slug}", wait_until="commit")
    start = page.get_by_role("button", name="Start")
    start.click()
    expect(start).to_have_attribute("aria-disabled", "true")  # it was heard
    start.click(force=True)
    page.clock.run_for(8_000)
    expect(page.get_by_role("alert").filter(has_text="Nothing was sent this time.")).to_be_visible()
    page.evaluate(BACK_AND_FORWARD)
    expect(start).to_be_visible()
    assert len(late) == 1
    late[0].continue_()
    expect(page.get_by_role("heading", name="Question 1?")).to_be_visible()
    expect(page.get_by_text("1 of 2")).to_be_visible()


ALL = question_screens.everything()
LATER = (
    "screens?lang=en",
    *(file for file in AFTER_START if file not in ("respondent_work.js", "respondent_tickets.js")),
)


@pytest.mark.parametrize("how", ["cut", "altered"])
def test_what_comes_later_comes_whole_or_nobody_is_asked(
    open_page: Opener, installation: factories.Served, how: str
) -> None:
    """Whichever file it is: a page says so, sends nothing, and is whole once it is loaded again."""
    slug = factories.draft(installation.database_url, ALL)
    factories.settle(installation.database_url, slug, completions=True, by_invitation=True)
    factories.publish(installation.database_url, ALL, slug)
    (code,) = factories.invite(installation.database_url, slug, 1)

    def spoil(route: Route) -> None:
        answer = route.fetch()
        text = answer.text()
        body = text[: len(text) // 2] if how == "cut" else text.replace("data-version", "data-verse", 1) + " "
        route.fulfill(response=answer, body=body)

    for file in LATER:
        page = open_page(**PHONE)
        open_page.watch(page).allow("integrity")
        sent: list[str] = []
        page.on("request", lambda request, sent=sent: sent.append(request.method))
        page.route(lambda url, file=file: url.endswith(f"/{file}"), spoil, times=1)
        page.goto(f"/s/{slug}#{code}")
        said = page.get_by_text("Part of this page did not arrive, or this browser is too old")
        expect(said, file).to_be_visible()
        # An earlier visit may have sent what waits here.
        expect(page.get_by_text("This time no question was asked and nothing was sent.")).to_be_visible()
        page.get_by_role("button", name="Load the page again").click()
        expect(page.get_by_role("button", name="Start"), file).to_be_visible()
        assert {*sent} == {"GET"}, file
        page.get_by_role("button", name="Start").click()
        expect(page.locator("main progress"), file).to_be_visible()


def test_where_what_sends_never_comes_whoever_declined_has_and_others_may_change_the_language(
    open_page: Opener, installation: factories.Served
) -> None:
    slug = factories.publish(installation.database_url, factories.definition()).slug
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    late: list[Route] = []
    file = f"**/{find_file('delivery.js')}"
    page.route(file, lambda route: late.append(route))
    declined = page.get_by_role("heading", name="That is fine. Nothing was sent now.")
    for declines in (True, False):
        with page.expect_request(file):
            page.goto(f"/s/{slug}", wait_until="commit")
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        if declines:
            page.locator(".aside").click()
            expect(declined).to_be_visible()
        late.pop().abort()
        page.wait_for_load_state("networkidle")
        if declines:
            expect(declined).to_be_visible()
    expect(page.get_by_text("Part of this page did not arrive")).to_be_visible()
    for language, name in {"es": "Español", "fr": "Français"}.items():  # after that, and while it stalls
        page.locator(".languages summary").click()
        page.get_by_role("link", name=name).click(no_wait_after=True)
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator(".actions .aside")).to_be_visible()
