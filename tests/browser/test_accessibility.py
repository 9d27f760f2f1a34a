"""No page of a respondent, in any state, has what axe-core calls a violation or needs two scrollbars."""

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import SURVEY, Respondent
from tests.support import factories


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_respondents_screens(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    slug = factories.publish(installation.database_url, {**SURVEY, "language": language}).slug
    page = open_page(locale=language)
    visit = Respondent(page, slug, language).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    inspector.look(page, "introduction")
    for summary in page.locator("summary").all():
        summary.click()
    visit.button("Flip for a {Yes}", Yes=visit.say("Yes")).click()
    visit.button("No").click()
    expect(page.locator(".bar")).to_have_count(2)
    inspector.look(page, "introduction, everything opened")
    visit.start(3)
    inspector.look(page, "question")
    visit.button("Next").click()
    inspector.look(page, "question, no answer chosen")
    visit.radio("Yes").check()
    inspector.look(page, "question, answered")
    for _ in range(3):
        visit.choose("Yes")
    inspector.look(page, "review")
    visit.sent_body()
    inspector.look(page, "review, details opened")
    open_page.watch(page).expect("ERR_FAILED")
    page.route("**/responses", lambda route: route.abort())
    visit.button("Send").click()
    expect(
        page.get_by_text(visit.say("The connection is poor. Still trying; leave this page open."))
    ).to_be_visible()
    inspector.look(page, "sending")
    expect(visit.button("Try again")).to_be_visible()
    inspector.look(page, "not confirmed yet")
    page.reload()
    expect(visit.button("Try again")).to_be_visible()
    expect(visit.heading("Your answers are still waiting here")).to_be_visible()
    inspector.look(page, "waiting")
    page.unroute("**/responses")
    expect(visit.heading("Sent. Thank you.")).to_be_visible()
    inspector.look(page, "sent")
    visit.open()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()
    inspector.look(page, "second visit")
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
    inspector.look(page, "erased")


def test_the_respondents_refusals(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    slug = factories.publish(installation.database_url, {**SURVEY, "language": language}).slug
    page = open_page(locale=language)
    open_page.watch(page).expect("404|410|load:")
    visit = Respondent(page, slug, language).open()
    visit.answer("Yes", "Yes", "Yes")
    factories.close(installation.database_url, slug)
    visit.button("Send").click()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    inspector.look(page, "closed meanwhile")
    visit.open()
    inspector.look(page, "closed")
    Respondent(page, "nowhere", language).open()
    inspector.look(page, "unknown")
    visit.slug = factories.publish(installation.database_url, SURVEY).slug
    page.route("**/survey.json", lambda route: route.fulfill(body="{}"))
    open_page.watch(page).allow("changed:")
    visit.open()
    expect(visit.heading("This survey is not safe to answer here")).to_be_visible()
    inspector.look(page, "refusal")
    page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })")
    page.goto("/nowhere")
    inspector.look(page, "no such page")


def test_what_a_check_and_a_number_answer(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    shown = {"show_if": {"question": "hours", "from": 30, "to": 60}, "otherwise": "no"}
    last = {**question_screens.QUESTIONS["stole"], **shown}
    document = question_screens.survey(
        question_screens.CHECK, question_screens.QUESTIONS["hours"], last, language=language
    )
    page = open_page(locale=language)
    visit = Respondent(page, factories.publish(installation.database_url, document).slug, language).open()
    expect(visit.button("Start · up to {n} questions", n=2)).to_be_visible()
    inspector.inspect_unfolded(page, "introduction of a survey with a condition")
    question_screens.begin(visit)
    for choice, state in ((None, "check"), ("The researcher", "wrong"), ("Nobody", "right")):
        if choice is not None:
            page.get_by_role("radio", name=choice).check()
            expect(page.get_by_role("status")).not_to_be_empty()
        inspector.look(page, state)
    question_screens.go_on(visit)
    page.get_by_role("textbox").fill("many")
    visit.button("Next").click()
    expect(page.get_by_role("alert")).to_contain_text("many")
    inspector.look(page, "number that is none")


def test_the_inspector_sees_what_is_wrong(open_page: Opener) -> None:
    page = open_page()
    page.goto("/")
    page.evaluate(
        "Object.assign(document.querySelector('h1').style, { color: '#ccc', width: '500px' });"
        "document.querySelector('main').append(new Image());"
    )
    inspector = Inspector()
    inspector.look(page, "spoiled")
    found = " ".join(inspector.problems)
    assert all(problem in found for problem in ("color-contrast", "image-alt", "pixels wide"))
