"""The states of respondents' pages, one after another, for whatever looks at them: its name, while a page is in it."""

from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Page, expect

from server.people import survey_access
from server.study import study_sheets
from tests.browser import question_screens, shared_tablet
from tests.browser.site_users import Respondent
from tests.support import completion_claims, factories, ticket_buyers

Scene = Callable[[Page, factories.Served, str], Iterator[str]]
SHEET = {
    "sponsor": "Students' union",
    "contact_name": "Ana, 555 0100",
    "contact_email": "ana@example.org",
    "shown": True,
    "thanks": {"en": "You help us to see what is fair.", "es": "Nos ayudas."},
    "help_lines": {"en": "Samaritans: 116 123", "es": "Esperanza: 717 003 717"},
    "completion_code": "C1A2B3",
    "completion_link": "https://panel.example/submissions/complete?cc=C1A2B3",
}
"""What an Arabic or French page reads in the survey's own language, where that is English."""
ASKED = question_screens.QUESTIONS
PART = {"name": "part", "kind": "section", "text": "About your work", "body": "The *first* part."}
SHORT = question_screens.survey(ASKED["stole"])
LONG = question_screens.survey(
    PART,
    question_screens.CHECK,
    ASKED["often"],
    ASKED["age"],
    introduction="Two questions about work.",
    consent="I know what this is for. It is **voluntary**.",
    least_age=18,
)


def publish(served: factories.Served, document: dict[str, Any], language: str) -> factories.Published:
    """A survey of these questions in a language, which says who asks."""
    survey = factories.publish(served.database_url, {**document, "language": language})
    with factories.writing(served.database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        study_sheets.save_study_sheet(session, found, study_sheets.parse_study_sheet(SHEET))
    return survey


def agree_and_answer(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """Consent, an age, a heading, a check, a scale, a number in ranges; thanks, help and a code for a panel."""
    visit = Respondent(page, publish(served, LONG, language).slug, language).open()
    start = visit.button("Start · {n} questions", n=2)
    expect(start).to_be_visible()
    yield "consent and age"
    visit.button("I’d rather not take part").click()
    expect(visit.heading("That is fine. Nothing was sent now.")).to_be_visible()
    yield "would rather not take part"
    visit.open()
    start.click()
    ticks = page.locator("main input[type=checkbox]:visible")
    expect(ticks.first).to_be_focused()
    yield "not agreed yet"
    ticks.first.check()
    ticks.last.check()
    start.click()
    expect(page.get_by_role("heading", name="About your work")).to_be_visible()
    yield "a section"
    question_screens.go_on(visit)
    yield "a check"
    page.get_by_role("radio", name="The researcher").check()
    expect(page.get_by_role("status").first).not_to_be_empty()
    yield "a check, answered wrong"
    page.get_by_role("radio", name="Nobody").check()
    question_screens.go_on(visit)
    yield "a scale"
    page.get_by_role("radio").first.check()
    yield "a scale, answered"
    question_screens.go_on(visit)
    yield "a number in ranges"
    page.get_by_role("textbox").fill("200")
    visit.button("Next").click()
    expect(page.get_by_role("alert").filter(has_text="200")).to_be_visible()
    yield "a number in ranges, out of them"
    page.get_by_role("textbox").fill("30")
    question_screens.go_on(visit)
    page.get_by_text(visit.say("See exactly what will be sent")).click()
    expect(page.locator("pre")).not_to_be_empty()
    visit.send()
    page.locator(".receipt summary").click()
    expect(page.locator(".receipt svg, .receipt canvas, .receipt img").first).to_be_visible()
    yield "sent, with thanks, help and a code for a panel"
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
    yield "erased"


def bring_a_code(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """A code that is asked for, one that was used, and one that buys a ticket."""
    survey = publish(served, SHORT, language)
    factories.settle(served.database_url, survey.slug, by_invitation=True)
    (used,) = factories.invite(served.database_url, survey.slug, 1)
    visit = Respondent(page, survey.slug, language).open()
    start = visit.button("Start · 1 question")
    expect(start).to_be_visible()
    yield "a code is asked for"
    visit.open(f"?again#{used}")
    expect(page.get_by_text(used)).to_be_visible()
    yield "a code came with the link"
    assert page.request.post(survey.url, data={**survey.response(), "invitation": used}).status == 201
    start.click()
    expect(page.locator("#uncoded")).not_to_be_empty()
    yield "a code that was used"
    ticketed = ticket_buyers.publish(served.database_url, document={**SHORT, "language": language})[0]
    (code,) = factories.invite(served.database_url, ticketed.slug, 1)
    visit = Respondent(page, ticketed.slug, language).open(f"#{code}")
    start.click()
    expect(page.get_by_role("heading", name=visit.say("Your ticket is on this device"))).to_be_visible()
    yield "a ticket"


def throw_coins(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """Coins of one's own: before and after the throw."""
    visit = Respondent(page, publish(served, SHORT, language).slug, language).open()
    page.get_by_text(visit.say("Trust no machine? Throw your own coins")).click()
    page.get_by_role("checkbox", name=visit.say("I throw my own"), exact=True).check()
    yield "own coins are chosen"
    visit.button("Start · 1 question").click()
    expect(visit.button("I have thrown")).to_be_visible()
    yield "a throw"
    visit.button("I have thrown").click()
    expect(page.locator(".throws")).to_be_visible()
    yield "what the throw says"


def lose_the_network(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """Answers that wait on the device, and those that were not accepted."""
    survey = publish(served, SHORT, language)
    visit = Respondent(page, survey.slug, language).open()
    visit.button("Start · 1 question").click()
    page.get_by_role("radio").first.check()
    question_screens.go_on(visit)
    page.route("**/responses", lambda route: route.abort())
    visit.button("Send").click()
    expect(
        page.get_by_text(visit.say("The connection is poor. Still trying; leave this page open."))
    ).to_be_visible()
    yield "sending over a poor connection"
    page.reload()
    expect(visit.heading("Your answers are still waiting here")).to_be_visible()
    yield "answers that wait"
    factories.close(served.database_url, survey.slug)
    page.unroute("**/responses")
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    yield "answers that were not accepted"


def distrust_the_page(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """A survey that the page refuses to ask."""
    visit = Respondent(page, publish(served, SHORT, language).slug, language)
    page.route("**/survey.json", lambda route: route.fulfill(body="{}"))
    visit.open()
    expect(visit.heading("This survey is not safe to answer here")).to_be_visible()
    yield "refused by the page"
    page.unroute("**/survey.json")


def look_for_a_receipt(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """The page of the receipt; and that which explains."""
    visit = Respondent(page, publish(served, SHORT, language).slug, language).open()
    page.get_by_role("link", name=visit.say("How this works, in two minutes")).click()
    expect(page.locator("#odds .dots").first).to_be_visible()
    yield "how this works"
    visit.open()
    visit.button("Start · 1 question").click()
    page.get_by_role("radio").first.check()
    question_screens.go_on(visit)
    visit.send()
    receipt = page.locator("output").inner_text()
    page.get_by_role("link", name=visit.say("Is my response in?")).click()
    field = page.get_by_label(visit.say("Your receipt"))
    yield "the receipt's page"
    field.fill(receipt)
    page.get_by_role("button", name=visit.say("Is my response in?")).click()
    expect(page.get_by_role("status")).to_have_text(visit.say("Your response is in."))
    yield "a receipt, found"
    page.get_by_role("button", name=visit.say("Take it back")).click()
    expect(page.get_by_role("status")).to_have_text(visit.say("Your response is not in any more."))
    yield "a response, taken back"


def finish_for_a_panel(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """A code of one's own at the end."""
    survey = completion_claims.publish(served.database_url, {**SHORT, "language": language})
    visit = Respondent(page, survey.slug, language).open()
    visit.button("Start · 1 question").click()
    page.get_by_role("radio").first.check()
    question_screens.go_on(visit)
    visit.send()
    expect(page.locator(".completion code")).to_contain_text("-")
    yield "a completion code of one's own"


def share_a_tablet(page: Page, served: factories.Served, language: str) -> Iterator[str]:
    """One tablet, from the interviewer's first screen to the next person's."""
    shared_tablet.lessen_work(page)
    survey = publish(served, SHORT, language)
    factories.settle(served.database_url, survey.slug, tablet=True)
    page.goto(f"/s/{survey.slug}/tablet")
    visit = Respondent(page, survey.slug, language)
    expect(page.get_by_label(visit.say("PIN"), exact=True)).to_be_visible()
    yield "a tablet, before a PIN"
    visit = shared_tablet.begin(page, survey.slug, language)
    yield "a tablet to hand over"
    visit.button("Start").click()
    expect(page.locator("main .primary")).to_be_visible()
    yield "a tablet, the first screen"
    question_screens.begin(visit)
    page.get_by_role("radio").first.check()
    question_screens.go_on(visit)
    visit.button("Send").click()
    expect(visit.heading("Thank you. You are done.")).to_be_visible()
    yield "a tablet, done"
    shared_tablet.hand_back(visit)
    visit.button("For the interviewer").click()
    yield "a tablet asks for the PIN"
    page.get_by_label(visit.say("PIN"), exact=True).fill(shared_tablet.PIN)
    visit.button("Open").click()
    expect(visit.button("Back to handing over")).to_be_visible()
    yield "a tablet, for the interviewer"


SCENES: tuple[Scene, ...] = (
    agree_and_answer,
    bring_a_code,
    throw_coins,
    lose_the_network,
    distrust_the_page,
    look_for_a_receipt,
    finish_for_a_panel,
    share_a_tablet,
)
COMPLAINTS = (
    "Failed to load resource|Failed to fetch|ERR_FAILED|load:|changed:|was preloaded|"
    "cross-world service worker resource mismatch"
)
"""What pages may say on the console of what a scene does to them."""
