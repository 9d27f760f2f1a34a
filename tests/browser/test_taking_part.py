"""Who takes part has agreed and is old enough; who does not leaves no trace; and both know whom to ask."""

import io
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from server.inputs.logos import draw_logo
from server.people import survey_access
from server.study import study_sheets
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.recorder import Recorder, recording
from tests.browser.site_users import PHONE, Respondent, press_on, words
from tests.browser.visit_traces import STORED, Wire, await_files, differences, record_visit
from tests.support import factories

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
CONSENT = "I know what this is for.\n\nIt is **voluntary**.\n\n" + "Nothing happens to whoever says no. " * 60
SURVEY = factories.definition(
    introduction="Two questions about exams.",
    consent=CONSENT,
    least_age=18,
    questions=[factories.question("copied", "Have you ever copied?"), factories.question("paid", "Paid?")],
)


def publish(served: factories.Served) -> factories.Published:
    """A survey that says who asks, with a logo."""
    survey = factories.publish(served.database_url, SURVEY)
    picture = io.BytesIO()
    Image.new("RGB", (300, 100), "#17544a").save(picture, "PNG")
    with factories.writing(served.database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        study_sheets.save_study_sheet(session, found, study_sheets.parse_study_sheet(SHEET))
        study_sheets.save_logo(session, found, draw_logo(picture.getvalue()))
    return survey


def expect_sender(page: Page) -> None:
    """Name, logo and contact are on the screen as it is."""
    expect(page.get_by_role("img", name="Students' union")).to_be_visible()
    assert page.locator("#sender img").evaluate("image => image.complete && image.naturalWidth === 192")
    expect(page.get_by_role("link", name="ana@example.org")).to_be_visible()
    expect(page.get_by_role("link", name="555 0100")).to_have_attribute("href", "tel:5550100")


def agree(visit: Respondent) -> None:
    """Tick both boxes."""
    visit.page.get_by_role("checkbox", name=visit.say("I have read this and agree to take part")).check()
    visit.page.get_by_role("checkbox", name=visit.say("I am at least {age} years old", age=18)).check()


@pytest.mark.parametrize("language", ["en", "es"])
def test_nobody_starts_without_a_tick_for_each_and_everybody_knows_who_asks(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    survey = publish(installation)
    page = open_page(**PHONE, locale=language)
    wire = Wire(page)
    visit = Respondent(page, survey.slug, language).open()
    start = visit.button("Start · {n} questions", n=2)
    expect(start).to_be_visible()
    await_files(page)
    loaded = len(wire.requests)
    expect_sender(page)
    agreed = page.get_by_role("checkbox", name=visit.say("I have read this and agree to take part"))
    old = page.get_by_role("checkbox", name=visit.say("I am at least {age} years old", age=18))
    for tick, said in (
        (
            agreed,
            "Tick this if you agree. If you do not, choose “I’d rather not take part” below: nothing is sent then.",
        ),
        (
            old,
            "Tick this if you are old enough. If you are younger, choose that here: nothing is sent then.",
        ),
    ):
        page.evaluate("scrollTo(0, document.body.scrollHeight)")  # however far somebody has scrolled
        press_on(page, start, "Enter")
        expect(tick).to_be_focused()
        missing = page.get_by_role("alert").filter(has_text=visit.say(said))
        expect(missing).to_be_in_viewport()
        bar = page.locator(".actions").bounding_box()
        text = missing.bounding_box()
        assert bar is not None
        assert text is not None
        assert text["y"] + text["height"] <= bar["y"], "nothing lies over what is said"
        inspector.look(page, f"without a tick, {language}")
        page.set_viewport_size(PHONE["viewport"])
        page.keyboard.press("Space")
        expect(tick).to_be_checked()
        expect(missing).to_have_count(0)
    assert len(wire.requests) == loaded
    start.click()
    expect(page.get_by_role("heading", name="Have you ever copied?")).to_be_visible()
    expect_sender(page)
    visit.button("Back").click()
    expect(agreed).to_be_checked()
    expect(old).to_be_checked()
    old.uncheck()
    start.click()
    expect(old).to_be_focused()
    old.check()
    start.click()
    for _ in range(2):
        visit.choose("Yes")
    expect_sender(page)
    visit.send()
    expect_sender(page)
    expect(page.get_by_text(SHEET["thanks"][language])).to_be_visible()
    expect(page.get_by_text(SHEET["help_lines"][language].split(":")[0])).to_be_visible()
    inspector.look(page, f"sent, {language}")


@pytest.mark.parametrize("button", ["I am younger", "I’d rather not take part"])
def test_who_does_not_take_part_leaves_no_trace_and_finds_help(
    open_page: Opener, installation: factories.Served, inspector: Inspector, button: str
) -> None:
    survey = publish(installation)
    page = open_page(**PHONE)
    wire = Wire(page)
    visit = Respondent(page, survey.slug).open()
    expect(visit.button("Start · {n} questions", n=2)).to_be_visible()
    await_files(page)
    loaded, before = len(wire.requests), page.evaluate(STORED)
    visit.button(button).click()
    expect(visit.heading("That is fine. Nothing was sent now.")).to_be_visible()
    expect_sender(page)
    expect(page.get_by_role("link", name="116 123")).to_have_attribute("href", "tel:116123")
    expect(page.get_by_text("You help us")).to_have_count(0)
    expect(page.get_by_text("C1A2B3")).to_have_count(0)
    assert len(wire.requests) == loaded
    assert page.evaluate(STORED) == before
    inspector.look(page, button)


def test_no_code_is_looked_at_before_the_ticks(open_page: Opener, installation: factories.Served) -> None:
    survey = publish(installation)
    factories.settle(installation.database_url, survey.slug, by_invitation=True)
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    wire = Wire(page)
    visit = Respondent(page, survey.slug).open(f"#{code}")
    start = visit.button("Start · {n} questions", n=2)
    start.click()
    expect(page.get_by_role("alert").filter(has_text="Tick this if you agree.")).to_be_visible()
    assert {request["method"] for request in wire.requests.values()} == {"GET"}
    agree(visit)
    start.click()
    expect(page.get_by_role("heading", name="Have you ever copied?")).to_be_visible()
    assert [request["url"] for request in wire.requests.values() if request["method"] == "POST"] == [
        f"{installation.url}/s/{survey.slug}/code.json"
    ]


@pytest.fixture(scope="module")
def recorder(installation: factories.Served) -> Iterator[Recorder]:
    """The server, behind something that keeps what is sent to it."""
    with recording(installation.url) as running:
        yield running


def test_thanks_and_help_are_the_same_for_yes_and_no(
    open_page: Opener, recorder: Recorder, installation: factories.Served
) -> None:
    survey = publish(installation)

    def behave(visit: Respondent, truth: str) -> None:
        agree(visit)
        visit.answer(truth, truth)
        visit.send()

    yes, no = (
        record_visit(open_page, recorder, installation, survey, truth, behave) for truth in ("Yes", "No")
    )
    assert differences(yes, no) == []
    assert "Samaritans" in yes["document"]["html"]
    assert "C1A2B3" in yes["document"]["html"]


def test_the_panel_gets_one_code_from_everybody_and_nothing_else(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = publish(installation)
    link = SHEET["completion_link"]
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    open_page.watch(page).expect("request to another host: https://panel.example/submissions")
    wire = Wire(page)
    arrived: list[dict[str, str]] = []

    def take(route: Route) -> None:
        arrived.append(route.request.all_headers() | {"address": route.request.url})
        route.fulfill(body="back at the panel", content_type="text/plain")

    def lose(route: Route) -> None:
        """It is stored, and that is not heard of."""
        route.fetch()
        route.abort()

    page.context.route("https://panel.example/**", take)
    page.route("**/responses", lose, times=1)
    visit = Respondent(page, survey.slug).open("?PROLIFIC_PID=marked-person")
    agree(visit)
    visit.answer("Yes", "No")
    visit.send()
    expect(page.get_by_text("Your completion code: C1A2B3")).to_be_visible()
    posted = [each for each in wire.requests.values() if each["method"] == "POST"]
    assert len(posted) == 2
    assert not [each for each in posted if "marked-person" in str(each)]
    page.reload()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()
    assert arrived == [], "nobody goes there but by pressing"
    page.get_by_role("link", name=link).click()
    page.wait_for_url(link)
    assert [each["address"] for each in arrived] == [link]
    assert "referer" not in arrived[0]
    assert "cookie" not in arrived[0]


def test_a_draft_is_previewed_with_all_of_it(open_page: Opener, installation: factories.Served) -> None:
    survey = publish(installation)
    page = open_page()
    page.goto(f"/manage/sign-in/{factories.sign_in_secret(installation.database_url)}")
    page.locator("main form button").click()
    page.wait_for_url("**/manage/surveys")
    page.goto(f"/manage/surveys/{survey.slug}/edit")
    page.get_by_text("Consent and age").click()
    assert page.get_by_label("Consent", exact=True).input_value().startswith("I know what this is for.")
    page.get_by_label("Least age").fill("121")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Must be from 1 to 120; it is 121.")).to_be_visible()
    page.get_by_label("Least age").fill("16")
    page.get_by_role("button", name="Save the draft").click()
    page.wait_for_url(f"**/surveys/{survey.slug}")
    page.goto(f"/manage/surveys/{survey.slug}/preview")
    expect(
        page.get_by_role("checkbox", name=words("en")("I am at least {age} years old", age=16))
    ).to_be_visible()
    expect_sender(page)
