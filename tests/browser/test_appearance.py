"""Pages hold what people put into them, show the way on and back, and print on paper."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import question_screens as screens
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, Respondent, sign_in
from tests.support import factories

WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
HEBREW = "שאלות על בחינות"
HARD = {
    **SURVEY,
    "title": WORD,
    "introduction": WORD,
    "questions": [factories.question("q1", WORD), factories.question("q2", HEBREW)],
}
NARROW: dict[str, Any] = {"viewport": {"width": 320, "height": 568}}
A4 = {"width": 718, "height": 1000}  # CSS pixels between margins of 10 mm


@pytest.fixture
def page(open_page: Opener, installation: factories.Served) -> Page:
    page = open_page(**NARROW)
    sign_in(page, installation.database_url)
    return page


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("language", ["en", "es"])
def test_charts_of_estimates_are_seen_whole_on_every_screen(
    language: str, open_page: Opener, installation: factories.Served
) -> None:
    """A table wider than its place would be cut off, and where charts are its last column these too."""
    survey = factories.publish(installation.database_url, SURVEY)
    ends = factories.plant(installation.database_url, survey.slug, "North\nSouth")
    for link in ends.values():
        factories.store(installation.database_url, survey, [([1, 0, 1], 3_000), ([0, 0, 0], 1)], link)
    page = open_page(viewport={"width": 1440, "height": 800}, locale=language)
    sign_in(page, installation.database_url)
    for address in ("results", "simulate"):
        page.goto(f"/manage/surveys/{survey.slug}/{address}")
        if address == "simulate":
            page.locator("main form button").last.click()
            expect(page.locator("main details summary")).to_have_count(2)
            for fold in page.locator(
                "main details summary"
            ).all():  # one holds the strata of each of the questions
                fold.click()
        else:
            for fold in page.locator(".numbers summary").all():
                fold.click()
        tables = page.locator(".scroll:has(.estimates)")
        expect(tables).to_have_count(3 if address == "results" else 1 + len(SURVEY["questions"]))
        expect(tables.last).to_be_visible()
        for width in (1440, 1280, 1201, 1200, 1024, 820, 768, 640):
            page.set_viewport_size({"width": width, "height": 800})
            cut = [place.evaluate("place => place.scrollWidth - place.clientWidth") for place in tables.all()]
            assert set(cut) == {0}, (address, width)


def test_a_text_is_written_from_its_own_side(page: Page, installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url, {**HARD, "title": HEBREW})
    Respondent(page, survey.slug).open()
    for place in (page.locator("#title"), page.get_by_role("heading", level=2, name=HEBREW)):
        expect(place).to_have_css("direction", "rtl")
    for address in ("", "/results"):
        page.goto(f"/manage/surveys/{survey.slug}{address}")
        expect(page.get_by_role("heading", level=1)).to_have_css("direction", "rtl")


def test_every_page_shows_the_way_on_and_back(
    page: Page, open_page: Opener, installation: factories.Served
) -> None:
    desk = Desk(page)
    draft = factories.draft(installation.database_url, SURVEY)
    page.goto(f"/manage/surveys/{draft}")
    desk.link("Preview").click()
    visit = Respondent(page, draft)
    visit.answer("Yes", "No", "Yes")
    desk.link("Back to the survey").click()
    page.get_by_role("button", name="Publish").click()
    expect(desk.button("Copy the link")).to_be_visible()
    desk.link("See the results").click()
    expect(page.get_by_text("Nothing is shown yet. The first responses")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)
    desk.link("Share the link").click()
    expect(desk.button("Copy the link")).to_be_visible()
    open_page.watch(page).expect("404")
    page.goto("/manage/surveys/nowhere")
    desk.link("Back to your surveys").click()
    expect(desk.link("New survey")).to_be_visible()
    page.goto("/nowhere")
    desk.link("To the front page").click()
    expect(desk.link("I am a researcher")).to_be_visible()


COVERED = """() => {
  const here = document.activeElement, bar = document.querySelector('.actions');
  if (here === document.body || bar.contains(here)) return '';
  const field = (here.closest('label') ?? here).getBoundingClientRect(), line = bar.getBoundingClientRect();
  return field.bottom > line.top + 1 && field.top < line.bottom ? here.outerHTML : '';
}"""


def test_what_has_the_focus_is_never_behind_the_bar_with_the_button(
    open_page: Opener, installation: factories.Served
) -> None:
    """In the language in which the bar is highest."""
    asked = screens.make_question(
        "used", "select_multiple", "Which?", "coin_flip", options=screens.options(*"ABCDEFGH")
    )
    survey = factories.publish(installation.database_url, screens.survey(asked))
    page = open_page(**NARROW, locale="pt")
    visit = Respondent(page, survey.slug, "pt").open()
    visit.start(1)
    expect(page.locator(".option")).to_have_count(9)
    check_focus(page)
    page.set_viewport_size(NARROW["viewport"])
    page.get_by_role("checkbox").first.check()
    visit.button("Next").click()
    expect(page.locator("main pre")).to_be_attached()
    check_focus(page)


def test_what_is_stored_and_how_to_take_it_back_stand_beside_send(
    open_page: Opener, installation: factories.Served
) -> None:
    """On a phone, before anything is scrolled; what more there is to say of it stands above."""
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    said = page.locator(".actions").get_by_text(
        "No name, address or time of day is stored with your answers. Until closing, your receipt finds or removes"
    )
    expect(said).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_text("this site offers no other way")).to_have_count(1)


def check_focus(page: Page) -> None:
    """On screens that are high enough for the bar to stay in view."""
    for height in range(580, 900, 20):
        page.set_viewport_size({"width": NARROW["viewport"]["width"], "height": height})
        expect(page.locator(".actions")).to_have_css("position", "sticky")
        for key, start in (("Tab", ".back"), ("Shift+Tab", ".actions button")):
            page.locator(f"main {start}").focus()
            for _ in range(20):
                page.keyboard.press(key)
                assert page.evaluate(COVERED) == "", height


def test_a_changed_survey_is_loaded_again_by_a_button(
    page: Page, open_page: Opener, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    factories.publish(installation.database_url, {**SURVEY, "title": "Exams, again"}, survey.slug)
    open_page.watch(page).expect("409")
    visit.button("Send").click()
    visit.button("Load the page again").click()
    expect(page.locator("#title")).to_have_text("Exams, again")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_the_report_is_printed_as_a_table_that_fits_the_paper(
    open_page: Opener, installation: factories.Served, scheme: Any, language: str
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**{**DESK, "viewport": A4}, locale=language)
    sign_in(page, installation.database_url)
    for reports in ([1, 0, 0], [1, 0, 1]):
        assert page.request.post(survey.url, data=survey.response(reports)).status == 201
    report = page.request.get(f"/manage/surveys/{survey.slug}/report.html?lang={language}").text()
    page.goto("about:blank")
    page.set_content(report)
    page.emulate_media(media="print", color_scheme=scheme)
    expect(page.locator("#estimates tbody tr").first).to_have_css("display", "table-row")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(page.locator("body")).to_have_css("color", "rgb(0, 0, 0)")
    assert fits(page)
