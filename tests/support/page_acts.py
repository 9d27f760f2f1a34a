"""What people do on a page of a scene until it looks as it is to look."""

import re

from playwright.sync_api import Page, expect

from tests.browser.site_users import Respondent, words
from tests.support import foreign_data
from tests.support.page_scenes import SurveysInStates

PIN = "824193"


def _begin(page: Page, scene: SurveysInStates) -> Respondent:
    visit = Respondent(page, scene.names["busy"], scene.language)
    visit.start(5)
    return visit


def answer_one(page: Page, scene: SurveysInStates) -> None:
    """The first question, answered."""
    _begin(page, scene).radio("Yes").check()


def answer_all(page: Page, scene: SurveysInStates) -> None:
    """Up to the screen that sends: of each question the first answer, or a number."""
    _answer(page, Respondent(page, scene.names["busy"], scene.language))


def _answer(page: Page, visit: Respondent) -> None:
    visit.start(5)
    for _ in range(5):
        before = page.locator("main h1").element_handle()
        field = (
            page.get_by_role("radio").or_(page.get_by_role("checkbox")).or_(page.get_by_role("textbox")).first
        )
        if field.get_attribute("type") in ("radio", "checkbox"):
            field.check()
        else:
            field.fill("7")
        visit.button("Next").click()
        page.wait_for_function("before => !before.isConnected", arg=before)


def see_what_is_sent(page: Page, scene: SurveysInStates) -> None:
    """The screen that sends, with exactly what will be sent."""
    answer_all(page, scene)
    Respondent(page, "", scene.language).sent_body()


def buy_ticket(page: Page, scene: SurveysInStates) -> None:
    """A code has bought a ticket; each visitor takes one that is left."""
    for code in scene.names["codes"].split():
        page.goto("about:blank")  # a code that follows another makes the page load itself again
        page.goto(f"/s/{scene.names['ticketed']}#{code}")
        visit = Respondent(page, scene.names["ticketed"], scene.language)
        visit.start(1)
        bought = page.get_by_role("heading", name=visit.say("Your ticket is on this device"))
        expect(bought.or_(page.locator(".error:not(:empty)")).first).to_be_visible()
        if bought.is_visible():
            return


def begin_tablet(page: Page, scene: SurveysInStates) -> None:
    """The interviewer's own screen."""
    visit = Respondent(page, scene.names["few"], scene.language)
    page.get_by_label(visit.say("PIN"), exact=True).fill(PIN)
    visit.button("Begin").click()
    kept = visit.say("This page is kept on the tablet: it also works without a network.")
    expect(page.get_by_text(kept)).to_be_visible()


def hand_tablet_over(page: Page, scene: SurveysInStates) -> None:
    """The screen before somebody answers."""
    begin_tablet(page, scene)
    visit = Respondent(page, scene.names["few"], scene.language)
    visit.button("Back to handing over").click()
    expect(visit.heading("Hand the tablet over")).to_be_visible()


def answer_on_tablet(page: Page, scene: SurveysInStates) -> None:
    """Somebody has answered, and sees their receipt."""
    hand_tablet_over(page, scene)
    visit = Respondent(page, scene.names["few"], scene.language)
    visit.button("Start").click()
    _answer(page, visit)
    visit.button("Send").click()
    expect(visit.heading("Thank you. You are done.")).to_be_visible()
    visit.button("Show my receipt").click()


def rehearse(page: Page, scene: SurveysInStates) -> None:
    """The report of made-up people."""
    page.locator("form.assumptions button.primary").click()
    expect(page.locator("#found")).to_be_visible()


def keep_in_library(page: Page, scene: SurveysInStates) -> None:
    """The first question is kept, and the library is open."""
    page.locator(".entry > summary").first.click()
    page.locator("button[value='keep_question-0']").click()
    expect(page.locator("#said")).not_to_be_empty()
    page.locator("#library > summary").click()


def open_third(page: Page, scene: SurveysInStates) -> None:
    """One question of the editor's list, open."""
    page.locator(".entry").nth(2).locator("summary").first.click()


def show_foreign_report(page: Page, scene: SurveysInStates) -> None:
    """A report on data from elsewhere, below the form that asked for it."""
    for name, body in foreign_data.FILES.items():
        page.locator(f"#{name}").set_input_files({"name": name, "mimeType": "text/plain", "buffer": body})
    page.locator("#elsewhere .foot button.primary").click()
    expect(page.locator("#found")).to_be_focused()


def choose_items(page: Page, scene: SurveysInStates) -> None:
    """A release, looked at before it is paid for."""
    _unfold_questions(page)
    said = words(scene.language)("Most common answer, without any number")
    for box in page.get_by_label(said, exact=True).all()[:2]:
        box.check()
    _look_at_price(page)


def choose_every_item(page: Page, scene: SurveysInStates) -> None:
    """All that is offered, looked at before it is paid for."""
    _unfold_questions(page)
    for box in page.locator(
        "#builder > .tick input[name=item], #builder fieldset[aria-labelledby] > .tick input"
    ).all():
        box.check()
    _look_at_price(page)


def spend_too_much(page: Page, scene: SurveysInStates) -> None:
    """A release that is refused: of one thing, for more than anything may cost."""
    page.locator("#builder input[name=item]").first.check()
    page.locator("#epsilon").fill("1000")
    _look_at_price(page)


def _unfold_questions(page: Page) -> None:
    for folded in page.locator("#builder .question:not([open]) > summary").all()[::-1]:
        folded.click()


def _look_at_price(page: Page) -> None:
    page.locator("#builder .foot button.primary").click()
    page.wait_for_load_state("networkidle")


def take_completion_code(page: Page, scene: SurveysInStates) -> None:
    """Somebody has answered, and has the code that shows it."""
    visit = Respondent(page, scene.names["paid"], scene.language)
    _answer(page, visit)
    visit.button("Send").click()
    expect(page.locator(".completion code")).to_have_text(re.compile(r"^(\w{4}-){4}\w{4}$"))
