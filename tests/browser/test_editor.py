"""The editor with its script: nothing typed is lost, the focus stays, the preview follows, the keyboard is enough."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, press_on, sign_in
from tests.support import factories

KINDS = [
    "yes_no",
    "select_one",
    "select_multiple",
    "scale",
    "number",
    "binned_number",
    "text",
    "section",
    "check",
]


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served) -> Desk:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    return Desk(page)


def editing(desk: Desk, served: factories.Served, document: dict[str, Any] = SURVEY) -> str:
    """Open the editor with a draft; its slug."""
    slug = factories.draft(served.database_url, document)
    desk.page.goto(f"/manage/surveys/{slug}/edit")
    return slug


def export_definition(page: Page, slug: str) -> Any:
    return json.loads(page.request.get(f"/manage/surveys/{slug}/definition.json").text())


def names(desk: Desk) -> list[str | None]:
    return [entry.get_attribute("data-entry") for entry in desk.page.locator(".entry").all()]


def test_survey_of_every_kind_is_built_with_the_mouse(
    open_page: Opener, installation: factories.Served, language: str
) -> None:
    page = open_page(**DESK, locale=language)
    sign_in(page, installation.database_url)
    desk = Desk(page, language)
    desk.link("New survey").click()
    expect(desk.field("Title")).to_be_focused()
    page.keyboard.type("Everything")
    desk.part(1, "Wording").fill("Text of yes_no")
    for place, kind in enumerate(KINDS[1:], start=2):
        desk.add(kind, f"Text of {kind}")
        entry = desk.entry(place)
        texts = entry.locator("[name$='].text'][name*='options']")
        for number in range(texts.count()):
            texts.nth(number).fill(f"Answer {number + 1} of {kind}")
        if kind == "check":
            desk.part(place, "What is said after an answer").fill("Just so.")
            desk.await_saved()
            desk.part(place, "Right answer").select_option(label="Answer 2 of check")
    desk.await_saved()

    desk.entry(2).locator("summary").first.click()
    entry = desk.entry(2)
    entry.get_by_role("button", name=desk.say("Add an answer")).click()
    expect(entry.locator("[name='questions[1].options[2].text']")).to_be_focused()
    page.keyboard.type("Added")
    button = desk.say("Move up, question %(number)d") % {"number": 2}
    entry.get_by_role("button", name=button).click()
    expect(desk.entry(1)).to_have_attribute("data-entry", "q2")
    expect(desk.entry(1).locator("[name='questions[0].options[2].text']")).to_have_value("Added")
    desk.entry(1).get_by_role(
        "button", name=desk.say("Duplicate, question %(number)d") % {"number": 1}
    ).click()
    expect(page.locator(".entry")).to_have_count(10)
    desk.entry(2).get_by_role("button", name=desk.say("Delete, question %(number)d") % {"number": 2}).click()
    expect(page.locator(".entry")).to_have_count(9)
    desk.button("Undo").click()
    expect(page.locator(".entry")).to_have_count(10)
    desk.button("Redo").click()
    expect(page.locator(".entry")).to_have_count(9)
    desk.await_saved()

    before = export_definition(page, desk.slug)
    page.reload()
    assert names(desk) == ["q2", "q1", *[f"q{number}" for number in range(3, 10)]]
    assert export_definition(page, desk.slug) == before
    assert sorted(entry["kind"] for entry in before["questions"]) == sorted(KINDS)
    assert [option["text"] for option in before["questions"][0]["options"]][-1] == "Added"
    desk.button("Save the draft").click()
    page.get_by_role(
        "button", name=re.compile(desk.say("Publish version %(number)d") % {"number": 1})
    ).click()
    expect(page.locator("#link")).to_be_visible()


def test_lines_pasted_into_an_answer_become_answers(desk: Desk, installation: factories.Served) -> None:
    """Empty answers below take them first; one line is pasted as ever."""
    asked = {
        "name": "why",
        "kind": "select_one",
        "text": "Why?",
        "options": [{"name": "", "text": text} for text in ("Old ", "", "Kept")],
        "design": {"mechanism": "k_ary", "epsilon": 1},
    }
    slug = factories.draft_unfinished(installation.database_url, factories.definition(questions=[asked]))
    page = desk.page
    page.goto(f"/manage/surveys/{slug}/edit?at=0")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def paste(answer: int, text: str) -> None:
        page.evaluate("text => navigator.clipboard.writeText(text)", text)
        desk.entry(1).get_by_label(f"Answer {answer}", exact=True).focus()
        page.keyboard.press("End")
        page.keyboard.press("ControlOrMeta+V")

    paste(1, "money\r\n Time \n\n\tFear\nLove\n")
    expect(desk.entry(1).get_by_label("Answer 5", exact=True)).to_have_value("Love")
    desk.await_saved()
    options = export_definition(page, slug)["questions"][0]["options"]
    assert [option["text"] for option in options] == ["Old money", "Time", "Kept", "Fear", "Love"]
    assert len({option["name"] for option in options} - {""}) == 5
    paste(5, " too")
    expect(desk.entry(1).get_by_label("Answer 5", exact=True)).to_have_value("Love too")


def test_survey_is_built_with_the_keyboard_alone_on_a_phone(
    open_page: Opener, installation: factories.Served, language: str
) -> None:
    page = open_page(viewport=PHONE["viewport"], locale=language)
    sign_in(page, installation.database_url)
    desk = Desk(page, language)
    press_on(page, desk.link("New survey"), "Enter")
    expect(desk.field("Title")).to_be_focused()
    page.keyboard.type("Keys")
    press_on(page, desk.part(1, "Wording"), "End")
    page.keyboard.type("First?")
    press_on(page, desk.button("Add a question"), "Enter")
    expect(desk.part(2, "Wording")).to_be_focused()
    page.keyboard.type("Second?")
    desk.await_saved()
    page.keyboard.press("Alt+ArrowUp")
    expect(desk.part(1, "Wording")).to_have_value("Second?")
    expect(desk.part(1, "Wording")).to_be_focused()
    expect(page.locator("#said")).to_have_text(
        desk.say("Now question %(place)d of %(number)d.") % {"place": 1, "number": 2}
    )
    page.keyboard.press("Shift+Tab")
    expect(desk.part(1, "Kind")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(desk.entry(1).locator("[name='questions[0].options[0].text']")).to_have_count(1)
    expect(desk.part(1, "Kind")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(desk.entry(1).locator("[name='questions[0].options[0].text']")).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(desk.entry(1).locator("[name='questions[0].options[0].text']")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(desk.entry(1).locator("[name='questions[0].options[0].text']")).to_have_count(0)
    press_on(
        page,
        desk.entry(1)
        .get_by_role("button", name=desk.say("Move down"))
        .or_(desk.entry(1).locator("button[value='down-0']"))
        .first,
        "Enter",
    )
    expect(desk.entry(2).locator("button[value='down-1']")).to_be_focused()
    expect(desk.part(1, "Wording")).to_have_value("First?")
    press_on(page, desk.slider(), "ArrowLeft")
    expect(page.locator("#slider-value")).to_contain_text(re.compile("0[.,]24"))
    press_on(page, page.locator(".spent .primary"), "Enter")
    publish = page.get_by_role("button", name=desk.say("Publish version %(number)d") % {"number": 1})
    press_on(page, publish, "Enter")
    expect(page.locator("#link")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]


def test_words_are_kept_without_a_button_and_the_caret_stays(desk: Desk) -> None:
    desk.link("New survey").click()
    field = desk.part(1, "Wording")
    field.fill("Have you?")
    field.press("Home")
    desk.await_saved()
    assert desk.page.url.endswith("/edit")
    desk.page.keyboard.type("When ")
    desk.await_saved()

    expect(desk.page.locator(".entry .words").first).to_have_text("When Have you?")
    expect(field).to_be_focused()
    expect(field).to_have_value("When Have you?")
    assert field.evaluate("field => field.selectionStart") == 5
    desk.page.reload()
    expect(desk.page.locator(".entry .words").first).to_have_text("When Have you?")


def test_what_is_typed_while_a_save_is_on_its_way_is_not_lost(
    desk: Desk, installation: factories.Served
) -> None:
    slug = editing(desk, installation)
    waiting: list[Route] = []
    desk.page.route("**/edit", lambda route: route.continue_() if waiting else waiting.append(route))
    title = desk.field("Title")
    title.fill("Sent")
    expect(desk.page.locator("#status")).to_have_text("Saving…")
    title.fill("Sent, and more")
    waiting[0].continue_()

    desk.await_saved()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sent, and more")
    expect(title).to_have_value("Sent, and more")
    assert export_definition(desk.page, slug)["title"] == "Sent, and more"


def test_a_link_or_the_main_button_keeps_what_was_just_typed(
    desk: Desk, installation: factories.Served
) -> None:
    editing(desk, installation)
    desk.field("Title").fill("By a link")
    desk.link("Overview").click()
    desk.page.wait_for_url(re.compile(r"/surveys/\w+$"))
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("By a link")
    desk.link("Edit").click()
    desk.field("Title").fill("By the button")
    desk.button("Save the draft").click()
    desk.page.wait_for_url(re.compile(r"/surveys/\w+$"))
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("By the button")


def test_server_that_cannot_be_reached_is_told_and_tried_again(
    desk: Desk, installation: factories.Served, open_page: Opener
) -> None:
    slug = editing(desk, installation)
    open_page.watch(desk.page).expect("ERR_FAILED")
    desk.page.route("**/edit", lambda route: route.abort())
    desk.field("Title").fill("Later")
    expect(desk.page.locator("#status")).to_contain_text("Not saved")
    desk.page.unroute("**/edit")

    desk.await_saved()
    assert export_definition(desk.page, slug)["title"] == "Later"


def test_other_window_is_not_overwritten_and_the_reader_chooses(
    desk: Desk, installation: factories.Served, open_page: Opener
) -> None:
    slug = editing(desk, installation)
    other = Desk(desk.page.context.new_page())
    other.page.goto(f"/manage/surveys/{slug}/edit")
    desk.field("Title").fill("First")
    desk.await_saved()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("First")
    open_page.watch(desk.page).expect("409")

    other.field("Title").fill("Second")
    expect(other.page.get_by_role("alert")).to_be_focused()
    expect(other.field("Title")).to_have_value("Second")
    assert export_definition(desk.page, slug)["title"] == "First"
    other.button("Use mine").click()
    other.page.wait_for_url("**/edit**")
    expect(other.page.get_by_role("alert")).to_have_count(0)
    assert export_definition(desk.page, slug)["title"] == "Second"

    desk.field("Title").fill("Third")
    desk.link("Load the other").click()
    expect(desk.field("Title")).to_have_value("Second")


def test_preview_beside_the_editor_follows_the_question_and_its_words(
    desk: Desk, installation: factories.Served
) -> None:
    editing(desk, installation)
    phone = desk.page.frame_locator("#phone iframe:last-of-type")
    expect(phone.get_by_role("button", name="Start · 3 questions")).to_be_visible()
    desk.entry(2).locator("summary").first.click()
    desk.part(2, "Wording").focus()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Have you ever paid someone to write a paper?")

    desk.part(2, "Wording").fill("Have you ever paid?")
    expect(phone.get_by_role("heading", level=1)).to_have_text("Have you ever paid?")
    expect(desk.part(2, "Wording")).to_be_focused()
    desk.part(2, "Wording").fill("")
    expect(phone.get_by_text("Question 2, wording")).to_be_visible()
    expect(desk.part(2, "Wording")).to_be_focused()


def test_what_is_missing_is_listed_with_the_way_to_each_field(desk: Desk) -> None:
    desk.link("New survey").click()
    desk.button("Add a question").click()
    expect(desk.page.locator(".entry")).to_have_count(2)
    desk.button("Save the draft").click()
    alert = desk.page.get_by_role("alert")
    expect(alert).to_be_focused()
    assert alert.get_by_role("listitem").count() == 3

    alert.get_by_role("link", name="Question 2, wording").click()
    expect(desk.part(2, "Wording")).to_be_in_viewport()
    expect(desk.part(2, "Wording")).to_have_attribute("aria-invalid", "true")
    desk.part(2, "Wording").fill("Now?")
    expect(alert.get_by_role("listitem")).to_have_count(2)
    desk.field("Title").fill("Now")
    alert.get_by_role("link", name="Question 1, wording").click()
    desk.part(1, "Wording").fill("And?")
    expect(alert).to_have_count(0)


@pytest.mark.parametrize("size", [DESK["viewport"], PHONE["viewport"]], ids=["desk", "phone"])
def test_budget_is_always_in_sight_and_covers_nothing_that_has_the_focus(
    open_page: Opener, installation: factories.Served, size: Any
) -> None:
    page = open_page(viewport=size)
    sign_in(page, installation.database_url)
    desk = Desk(page)
    editing(desk, installation)
    desk.entry(2).locator("summary").first.click()
    page.locator("#title, #at-title").first.focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        expect(page.locator("#spent strong")).to_be_in_viewport()
        covered = page.evaluate(
            """() => {
              const here = document.activeElement, bar = document.querySelector('.spent');
              if (bar.contains(here) || here.contains(bar)) return '';
              const field = here.getBoundingClientRect(), line = bar.getBoundingClientRect();
              return field.bottom > line.top + 1 && field.top < line.bottom ? here.outerHTML : '';
            }"""
        )
        assert covered == ""
        if page.evaluate("document.activeElement?.value") == "undo":
            break
    else:
        raise AssertionError("Tab never came to the end of the form")


def test_survey_is_written_without_scripts(open_page: Opener, installation: factories.Served) -> None:
    page = open_page(**DESK, java_script_enabled=False)
    sign_in(page, installation.database_url)
    desk = Desk(page)
    desk.link("New survey").click()
    desk.field("Title").fill("Plain")
    desk.part(1, "Wording").fill("First?")
    desk.part(1, "Kind").select_option("select_one")
    desk.entry(1).get_by_role("button", name="Show its fields").first.click()
    texts = desk.entry(1).locator("[name$='].text'][name*='options']")
    texts.nth(0).fill("A")
    texts.nth(1).fill("B")
    desk.button("Add a question").click()
    desk.part(2, "Wording").fill("Second?")
    desk.button("Save the draft").click()
    page.get_by_role("button", name="Publish version 1").click()
    expect(page.locator("#link")).to_be_visible()
