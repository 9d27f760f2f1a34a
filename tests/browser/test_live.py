"""The page of live results: each story with a mouse on a desk, and with keys alone on a phone."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from server.study.surveys import today
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, press_on, sign_in
from tests.support import factories
from tests.support.factories import Published

YES = [([1, 1, 0], 60), ([1, 0, 0], 10), ([0, 1, 0], 10), ([0, 0, 1], 20), ([0, 0, 0], 20)]
"""120 responses of people of whom those who copied also paid."""


@dataclass(frozen=True)
class Watcher:
    """A researcher at the live page of a survey with two strata."""

    page: Page
    mouse: bool
    survey: Published
    links: dict[str, str]
    database_url: str

    @property
    def desk(self) -> Desk:
        return Desk(self.page)

    def open(self) -> None:
        """Open the page, with a clock that this test moves."""
        self.page.clock.install()
        self.page.goto(f"/manage/surveys/{self.survey.slug}/results")
        self.page.wait_for_load_state("networkidle")
        # Gone as soon as the page is loaded again.
        self.page.evaluate("window.stays = true")

    def wait(self) -> None:
        """Until the page has looked for new responses."""
        with self.page.expect_response(lambda answer: "/results" in answer.url):
            self.page.clock.run_for(10_000)

    def press(self, target: Locator) -> None:
        if self.mouse:
            target.click()
        else:
            press_on(self.page, target, "Enter")

    def choose(self, field: Locator, text: str) -> None:
        """One of a list."""
        if self.mouse:
            field.select_option(field.locator("option", has_text=text).get_attribute("value"))
        else:
            press_on(self.page, field, "Home")
            self.page.keyboard.type(text)

    def stays(self) -> bool:
        """Whether the page was not loaded again."""
        return bool(self.page.evaluate("window.stays === true"))


@pytest.fixture(params=["mouse", "keys"])
def watcher(request: pytest.FixtureRequest, open_page: Opener, installation: factories.Served) -> Watcher:
    mouse = request.param == "mouse"
    page = open_page(**(DESK if mouse else {"viewport": PHONE["viewport"]}))
    sign_in(page, installation.database_url)
    survey = factories.publish(installation.database_url, SURVEY, minimum=10)
    links = factories.plant(installation.database_url, survey.slug, "North, 3000\nSouth, 1000")
    return Watcher(page, mouse, survey, links, installation.database_url)


NOTHING_IS_PRESSED = pytest.mark.parametrize("watcher", ["mouse"], indirect=True)


def test_responses_arrive_without_reloading(watcher: Watcher) -> None:
    page, desk = watcher.page, watcher.desk
    watcher.open()
    nothing = page.get_by_text("Nothing is shown yet. The first responses")
    expect(nothing).to_contain_text("10 or more at once; until then this stays at 0, whatever has arrived")
    factories.store(watcher.database_url, watcher.survey, [([1, 0, 0], 9)])
    watcher.wait()
    expect(nothing).to_be_visible()
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["North"])
    watcher.wait()
    expect(page.locator(".figures")).to_contain_text("110")  # as many as the minimum wait
    expect(page.get_by_text("more responses are not shown yet").first).to_be_visible()

    # What somebody is at stays as it is, while the numbers around it change.
    watcher.choose(desk.field("Rows"), "Have you ever sat")
    before = desk.field("Rows").input_value()
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["South"])
    watcher.wait()
    expect(page.locator(".figures")).to_contain_text("220")
    expect(desk.field("Rows")).to_have_value(before)
    if not watcher.mouse:
        expect(desk.field("Rows")).to_be_focused()
    assert before == "sat"
    assert watcher.stays()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_changed_is_marked_and_nothing_else_moves(watcher: Watcher) -> None:
    page, desk = watcher.page, watcher.desk
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["North"])
    watcher.open()
    page.evaluate(
        "new MutationObserver((found) => { window.spoken = (window.spoken ?? 0) + found.length; })"
        ".observe(document.getElementById('refreshing').lastElementChild, { childList: true, characterData: true })"
    )
    changed, said = page.locator("[data-changed]"), page.locator("#refreshing")
    watcher.wait()
    expect(changed).to_have_count(0)
    expect(said).to_be_empty()

    watcher.press(page.get_by_text("All numbers in a table"))
    field = desk.field("Rows")
    field.focus()
    # What was opened has come, and nothing of it is marked.
    expect(page.locator("#part-estimates table")).to_be_visible()
    expect(changed).to_have_count(0)
    open_before, place = page.locator("details[open]").count(), where(field)
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["South"])
    watcher.wait()
    expect(page.locator(".figures dd").first).to_have_attribute("data-changed", "(changed)")
    expect(page.locator('[data-mark="collected South"]')).to_have_attribute("data-changed", "(changed)")
    expect(page.locator('[data-mark="collected North"]')).not_to_have_attribute("data-changed", "(changed)")
    expect(said).to_contain_text("220 responses are shown. Findings and counts that changed are marked.")
    expect(field).to_be_focused()
    assert page.locator("details[open]").count() == open_before
    assert abs(where(field) - place) < 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # What is copied is the sentence alone.
    assert "changed" not in (page.locator("#found-copied").text_content() or "")

    # It is said once, and the marks stay until something else changes.
    spoken, marks = page.evaluate("window.spoken"), changed.count()
    watcher.wait()
    expect(changed).to_have_count(marks)
    assert page.evaluate("window.spoken") == spoken
    factories.store(watcher.database_url, watcher.survey, [([0, 0, 0], 40)], watcher.links["North"])
    watcher.wait()
    expect(page.locator('[data-mark="collected North"]')).to_have_attribute("data-changed", "(changed)")
    expect(page.locator('[data-mark="collected South"]')).not_to_have_attribute("data-changed", "(changed)")


def test_a_folded_part_comes_when_it_is_opened_and_goes_when_it_is_closed(watcher: Watcher) -> None:
    page = watcher.page
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["North"])
    watcher.open()
    part, estimate = page.locator("#part-estimates"), page.locator("#part-estimates .strong").first
    expect(page.locator("table.estimates:not(.followed)")).to_have_count(0)
    watcher.press(part.locator("summary"))
    expect(estimate).to_be_visible()
    before = estimate.text_content()
    assert "Show these numbers" not in (part.text_content() or "")

    # It stays as new as the rest, also where the page is printed.
    factories.store(watcher.database_url, watcher.survey, [([0, 0, 0], 200)], watcher.links["North"])
    watcher.wait()
    expect(estimate).not_to_have_text(before or "")
    page.emulate_media(media="print")
    expect(estimate).to_be_visible()
    page.emulate_media(media="screen")

    watcher.press(part.locator("summary"))
    watcher.wait()
    expect(page.locator("table.estimates:not(.followed)")).to_have_count(0)
    assert watcher.stays()


def test_a_folded_part_is_a_page_without_scripts(open_page: Opener, installation: factories.Served) -> None:
    page = open_page(**DESK, java_script_enabled=False)
    sign_in(page, installation.database_url)
    survey = factories.publish(installation.database_url, SURVEY)
    factories.store(installation.database_url, survey, YES)
    page.goto(f"/manage/surveys/{survey.slug}/results?interval=anytime")
    page.get_by_text("All numbers in a table").click()
    page.locator("#part-estimates").get_by_role("link", name="Show these numbers").click()
    page.wait_for_url("**interval=anytime&open=estimates#part-estimates")
    expect(page.locator("#part-estimates .strong").first).to_be_visible()


def test_a_sentence_is_selected_where_the_clipboard_refuses(watcher: Watcher) -> None:
    page = watcher.page
    factories.store(watcher.database_url, watcher.survey, YES)
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));"
        "document.execCommand = () => false"
    )
    watcher.open()
    watcher.press(page.get_by_role("button", name="Copy the sentence").first)
    page.wait_for_function("() => String(getSelection()) === document.querySelector('.found').textContent")
    expect(page.get_by_role("button", name="Copied")).to_have_count(0)


def test_a_sentence_is_copied_with_how_sure_it_is_also_without_https(watcher: Watcher) -> None:
    """Where a phone asks a computer beside it, browsers keep the newer way to the clipboard from pages."""
    page = watcher.page
    factories.store(watcher.database_url, watcher.survey, YES)
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    watcher.open()
    watcher.press(page.get_by_role("button", name="Copy the sentence").first)
    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    said = " ".join(page.locator(place).first.text_content() or "" for place in (".found", "#sure"))
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").focus()
    page.keyboard.press("ControlOrMeta+v")
    assert page.locator("textarea").input_value().split() == said.split()


@NOTHING_IS_PRESSED
def test_first_results_are_said_and_not_marked(watcher: Watcher) -> None:
    page = watcher.page
    watcher.open()
    factories.store(watcher.database_url, watcher.survey, YES)
    watcher.wait()
    expect(page.locator("#refreshing")).to_contain_text("110 responses are shown.")
    expect(page.locator("[data-changed]")).to_have_count(0)


@NOTHING_IS_PRESSED
def test_the_board_looks_again_and_again(watcher: Watcher) -> None:
    page = watcher.page
    page.clock.install()
    page.goto(f"/manage/surveys/{watcher.survey.slug}/board")
    for shown in ("110", "230"):
        factories.store(watcher.database_url, watcher.survey, YES)
        with page.expect_response(lambda answer: "/board" in answer.url):
            page.clock.run_for(5_000)
        expect(page.locator(".figures")).to_contain_text(shown)
    expect(page.locator("#shares-ground .outside")).to_have_count(2)


def where(field: Locator) -> float:
    """How far below the top of the screen."""
    return float(field.evaluate("each => each.getBoundingClientRect().top"))


@NOTHING_IS_PRESSED
def test_a_slow_refresh_is_spoken_of(watcher: Watcher) -> None:
    page = watcher.page
    factories.store(watcher.database_url, watcher.survey, YES)
    watcher.open()
    held: list[Route] = []
    page.route("**/results", lambda route: held.append(route))
    with page.expect_request("**/results"):
        page.clock.run_for(10_000)
    page.clock.run_for(1_000)
    expect(page.locator("#refreshing")).to_have_text("Looking for new responses …")
    held[0].continue_()
    expect(page.locator("#refreshing")).to_be_empty()
    assert watcher.stays()


def test_intervals_of_both_kinds(watcher: Watcher) -> None:
    page, desk = watcher.page, watcher.desk
    factories.store(watcher.database_url, watcher.survey, YES)
    watcher.open()
    watcher.press(page.get_by_text("How to read these numbers"))
    kinds = page.get_by_role("group", name="Intervals")
    expect(kinds.locator("[aria-current]")).to_have_text("If you check once, at the end")
    watcher.press(page.get_by_text("All numbers in a table"))
    narrow = width(page)
    watcher.press(desk.link("If you check along the way"))
    page.wait_for_url("**interval=anytime#estimates")
    watcher.press(page.get_by_text("How to read these numbers"))
    watcher.press(page.get_by_text("All numbers in a table"))
    expect(kinds.locator("[aria-current]")).to_have_text("If you check along the way")
    assert narrow < 0.9 * width(page)


def width(page: Page) -> float:
    """Of the first interval in the table."""
    text = page.locator(".estimates td", has_text=re.compile(r"\d to −?\d")).first.text_content()
    assert text is not None
    low, high = map(float, re.findall(r"-?\d+\.\d", text.replace("\N{MINUS SIGN}", "-")))
    return high - low


def test_a_question_by_stratum(watcher: Watcher) -> None:
    page, desk = watcher.page, watcher.desk
    factories.store(watcher.database_url, watcher.survey, YES, watcher.links["North"])
    factories.store(watcher.database_url, watcher.survey, YES[1:], watcher.links["South"])
    factories.close(watcher.database_url, watcher.survey.slug)  # so that none of them waits
    watcher.open()
    watcher.choose(desk.field("Question"), "Have you ever paid")
    watcher.press(page.locator("form:has(#question)").get_by_role("button", name="Show"))
    page.wait_for_url("**question=paid#strata")
    watcher.press(page.locator("#part-strata-table").get_by_text("As a table"))
    table = page.get_by_role("table", name=re.compile("Have you ever paid"))
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(3)
    # North: 70 of 120 arrived as Yes, South: 10 of 60; gamma 1/4 and three times as many people in the North.
    north, south = (70 / 120 - 0.25) / 0.5, (10 / 60 - 0.25) / 0.5
    for row, name, share in zip(
        rows.all(), ("All strata", "North", "South"), (0.75 * north + 0.25 * south, north, south), strict=True
    ):
        expect(row).to_contain_text(name)
        shown = f"{100 * share:.1f}".replace("-", "\N{MINUS SIGN}")
        expect(row.locator(".strong")).to_have_text(re.compile(rf"{shown}\s%"))
    expect(rows.first).to_contain_text("weighted by population")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_questions_together(watcher: Watcher) -> None:
    page, desk = watcher.page, watcher.desk
    # 40 % did each, 30 % both; under fair coins 45 % arrive as Yes to each, 23.75 % to both.
    arrived = [([1, 1, 0], 1140), ([1, 0, 0], 1020), ([0, 1, 0], 1020), ([0, 0, 0], 1620)]
    factories.store(watcher.database_url, watcher.survey, arrived)
    factories.close(watcher.database_url, watcher.survey.slug)
    watcher.open()
    watcher.choose(desk.field("Rows"), "Have you ever copied")
    watcher.choose(desk.field("Columns"), "Have you ever paid")
    watcher.press(page.locator("form:has(#row)").get_by_role("button", name="Show"))
    page.wait_for_url("**row=copied&column=paid#joint")
    expect(page.get_by_text("The two answers go together")).to_be_visible()
    expect(page.locator(".together rect.chosen")).to_be_visible()
    page.locator("summary").filter(has_text="All numbers in a table").last.click()
    expect(page.locator("table.joint td.chosen")).to_contain_text("±")
    page.locator("summary").filter(has_text="Odds ratio").click()
    expect(page.get_by_text("Odds ratio 15, between")).to_be_visible()
    watcher.choose(desk.field("Answer in the columns"), "No")
    watcher.press(page.locator("form:has(#row)").get_by_role("button", name="Show"))
    expect(page.get_by_text("The two answers keep apart")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_downloaded_report_is_one_press_away(watcher: Watcher) -> None:
    factories.store(watcher.database_url, watcher.survey, YES)
    watcher.open()
    with watcher.page.expect_download() as started:
        watcher.press(watcher.desk.link("Report as JSON"))
    title = watcher.survey.definition["title"]
    assert started.value.suggested_filename == f"{title}, internal report, {today()}.json"


def test_a_file_that_takes_long_is_written_once_and_says_so(watcher: Watcher, open_page: Opener) -> None:
    page, title = watcher.page, "¿Qué copian, y quién?"
    survey = factories.publish(watcher.database_url, {**SURVEY, "title": title})
    factories.store(watcher.database_url, survey, YES)
    page.clock.install()
    page.goto(f"/manage/surveys/{survey.slug}/results")
    page.wait_for_load_state("networkidle")
    held: list[Route] = []
    page.route("**/report.pdf", lambda route: held.append(route))
    link, said = (
        page.get_by_role("link", name="Report as PDF"),
        page.locator("[data-written] + [role=status]"),
    )
    watcher.press(link)
    expect(said).to_contain_text("Waiting for the file: Report as PDF.")
    page.clock.run_for(3_000)
    expect(said).to_contain_text("3 seconds so far.")
    watcher.press(page.get_by_role("link", name="Report as JSON"))  # as somebody who is impatient
    with page.expect_download() as download:
        held[0].continue_()
    name = f"¿Qué copian, y quién, internal report, {today()}.pdf"
    assert download.value.suggested_filename == name
    expect(said).to_have_text(f"Downloaded: {name}")
    assert len(held) == 1

    # What cannot be had is the browser's to tell, as without a script.
    page.unroute("**/report.pdf")
    page.route("**/report.pdf", lambda route: route.fulfill(status=503, body="The database is busy."))
    open_page.watch(page).expect("status of 503")
    watcher.press(link)
    expect(page.get_by_text("The database is busy.")).to_be_visible()
