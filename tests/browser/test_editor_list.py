"""The editor's list with its script: one question is open, lines are dragged and moved by keys, several at once."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Desk, sign_in
from tests.support import factories

FIVE = factories.definition(
    title="Five",
    questions=[factories.question(f"q{number}", f"Is it {number}?") for number in range(1, 6)],
)


def five(page: Page, served: factories.Served, at: int | None = None) -> Desk:
    """The editor with five questions."""
    sign_in(page, served.database_url)
    slug = factories.draft(served.database_url, FIVE)
    page.goto(f"/manage/surveys/{slug}/edit{'' if at is None else f'?at={at}'}")
    return Desk(page)


def summary(desk: Desk, number: int) -> Locator:
    return desk.entry(number).locator("summary").first


def names(desk: Desk) -> str:
    return "".join(str(entry.get_attribute("data-entry"))[1:] for entry in desk.page.locator(".entry").all())


def list_open(desk: Desk) -> list[str | None]:
    return [entry.get_attribute("data-entry") for entry in desk.page.locator(".entry[open]").all()]


def tick(desk: Desk, *numbers: int) -> None:
    for number in numbers:
        desk.page.get_by_role("checkbox", name=f"Select question {number}").check()


def drag(desk: Desk, number: int, below: int) -> None:
    """Take a question by its dots and let it go under the line of another one.

    An open question between them is long, and the page may stand at it: the window is made high enough for both.
    """
    page = desk.page
    page.set_viewport_size({"width": 1280, "height": 2400})
    page.locator(".grip").nth(number - 1).scroll_into_view_if_needed()
    grip = page.locator(".grip").nth(number - 1).bounding_box()
    line = summary(desk, below).bounding_box()
    assert grip is not None
    assert line is not None
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(line["x"], line["y"] + line["height"] * 0.9, steps=5)


def test_opening_a_question_folds_the_one_before_and_a_save_folds_none(
    open_page: Opener, installation: factories.Served
) -> None:
    desk = five(open_page(**DESK), installation)
    assert list_open(desk) == []
    summary(desk, 2).click()
    summary(desk, 4).click()
    assert list_open(desk) == ["q4"]
    desk.entry(4).get_by_text("Names in downloaded files").click()
    name = desk.part(4, "Name")
    name.fill("renamed")
    desk.await_saved()
    expect(desk.entry(4)).to_have_attribute("data-entry", "renamed")
    expect(name).to_be_visible()
    expect(name).to_be_focused()


def test_question_is_dragged_by_its_dots_with_what_was_just_typed(
    open_page: Opener, installation: factories.Served
) -> None:
    desk = five(open_page(**DESK), installation, at=1)
    desk.part(2, "Wording").fill("Is it new?")
    drag(desk, 1, 4)
    expect(desk.page.locator(".entry-row.held")).to_have_count(1)
    desk.page.mouse.up()
    expect(desk.page.locator("#said")).to_have_text("Now question 4 of 5.")
    desk.await_saved()
    assert names(desk) == "23415"
    assert list_open(desk) == ["q2"], "what was open stays open"
    desk.page.reload()
    assert names(desk) == "23415"
    expect(summary(desk, 1)).to_contain_text("Is it new?")


def test_what_can_be_done_with_a_tick_is_in_sight(open_page: Opener, installation: factories.Served) -> None:
    """The tools stand below the list: far below its first lines, or behind what is always in sight."""
    desk = five(open_page(**DESK), installation)
    leads = desk.page.get_by_role("link", name="With the selected questions")
    expect(leads).to_be_hidden()
    tick(desk, 2)
    expect(leads).to_be_in_viewport()
    leads.click()
    expect(desk.page.get_by_role("button", name="Set their strength")).to_be_in_viewport(ratio=1)
    expect(desk.page.get_by_role("checkbox", name="Select question 2")).to_be_checked()


def test_escape_ends_a_drag_and_nothing_moves(open_page: Opener, installation: factories.Served) -> None:
    desk = five(open_page(**DESK), installation)
    drag(desk, 1, 4)
    desk.page.keyboard.press("Escape")
    desk.page.mouse.up()
    expect(desk.page.locator(".entry-row.held, .entry-row.drop")).to_have_count(0)
    assert names(desk) == "12345"


def test_line_is_moved_with_alt_and_arrows_and_keeps_the_focus(
    open_page: Opener, installation: factories.Served
) -> None:
    desk = five(open_page(**DESK), installation)
    summary(desk, 2).focus()
    desk.page.keyboard.press("Alt+ArrowDown")
    expect(desk.page.locator("#said")).to_have_text("Now question 3 of 5.")
    expect(summary(desk, 3)).to_be_focused()
    assert names(desk) == "13245"
    assert list_open(desk) == []
    desk.page.keyboard.press("Alt+ArrowUp")
    expect(summary(desk, 2)).to_be_focused()
    assert names(desk) == "12345"

    box = desk.page.get_by_role("checkbox", name="Select question 5")
    box.focus()
    desk.page.keyboard.press("Alt+ArrowUp")
    expect(desk.page.get_by_role("checkbox", name="Select question 4")).to_be_focused()
    assert names(desk) == "12354"

    # Keys are quicker than the server: each press is about the question that it was made on.
    summary(desk, 1).focus()
    for _ in range(3):
        desk.page.keyboard.press("Alt+ArrowDown")
    expect(desk.page.locator("#said")).to_have_text("Now question 4 of 5.")
    expect(summary(desk, 4)).to_be_focused()
    assert names(desk) == "23514"


def test_a_button_that_is_pressed_twice_by_mistake_works_once(
    open_page: Opener, installation: factories.Served
) -> None:
    desk = five(open_page(**DESK), installation, at=1)
    desk.entry(2).get_by_role("button", name="Delete, question 2").dblclick()
    expect(desk.page.locator("#said")).to_have_text("Deleted. Undo brings it back.")
    expect(desk.entry(2)).to_have_attribute("open", "")  # the next one, whose button may lie where that lay
    assert names(desk) == "1345"
    desk.button("Add a question").focus()
    for _ in range(3):
        desk.page.keyboard.press("Enter")
    expect(desk.page.locator("#said")).to_have_text("Question 5 was added.")
    desk.part(5, "Wording").fill("Is it once?")
    desk.await_saved()
    desk.page.reload()
    expect(desk.page.locator(".entry")).to_have_count(5)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_several_are_moved_given_a_strength_and_deleted(
    open_page: Opener, installation: factories.Served, size: dict[str, Any]
) -> None:
    desk = five(open_page(**size), installation)
    group = desk.page.get_by_role("group", name="With the selected questions")
    expect(group).to_be_hidden()
    tick(desk, 1, 3)
    group.get_by_role("button", name="Move down, the selected questions").click()
    expect(desk.page.locator("#said")).to_have_text("Moved. The first of them is now question 2 of 5.")
    assert names(desk) == "21435"
    boxes = desk.page.locator("[name='selected']")
    assert [box.is_checked() for box in boxes.all()] == [False, True, False, True, False]

    strength = group.get_by_label("Strength ε of each, 0.01 to 6.9")
    strength.fill("100")
    strength.press("Enter")
    expect(strength).to_be_focused()
    expect(strength).to_have_attribute("aria-invalid", "true")
    expect(strength).to_have_accessible_description(
        "Strength ε of each must be a number from 0.01 to 6.9; it is “100”."
    )
    strength.fill("0.5")
    group.get_by_role("button", name="Set their strength").click()
    expect(desk.page.locator("#said")).to_contain_text("Each question has a strength of its own now.")
    expect(summary(desk, 2)).to_contain_text("0.50")
    expect(summary(desk, 1)).not_to_contain_text("0.50")

    group.get_by_role("button", name="Delete, the selected questions").click()
    expect(desk.page.locator(".entry")).to_have_count(3)
    expect(group).to_be_hidden()
    expect(desk.button("Undo")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".entry")).to_have_count(5)
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_link_to_what_is_wrong_opens_its_question_and_goes_to_the_field(
    open_page: Opener, installation: factories.Served
) -> None:
    desk = five(open_page(**DESK), installation, at=3)
    desk.part(4, "Wording").fill("")
    summary(desk, 2).click()
    desk.part(2, "Wording").fill("")
    desk.button("Save the draft").click()
    alert = desk.page.get_by_role("alert")
    expect(alert).to_be_focused()
    assert list_open(desk) == ["q2"]
    expect(summary(desk, 4)).to_contain_text("please look at it")

    alert.get_by_role("link", name="Question 4, wording").click()
    expect(desk.part(4, "Wording")).to_be_focused()
    assert list_open(desk) == ["q4"]
    alert.get_by_role("link", name="Question 2, wording").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.part(2, "Wording")).to_be_focused()
    assert list_open(desk) == ["q2"]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_nothing_is_cut_off_where_it_is_narrow(
    open_page: Opener, installation: factories.Served, language: str, script: bool
) -> None:
    page = open_page(viewport={"width": 320, "height": 640}, locale=language, java_script_enabled=script)
    five(page, installation, at=1)
    page.locator("[name='selected']").first.check()
    for part in (".entry[open] .entry-body", ".selection", ".entry-row .handles"):
        box = page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320


def test_several_are_moved_without_a_script(open_page: Opener, installation: factories.Served) -> None:
    desk = five(open_page(**DESK, java_script_enabled=False), installation)
    expect(desk.page.locator(".grip").first).to_be_hidden()
    tick(desk, 4, 5)
    desk.page.get_by_role("button", name="Move up, the selected questions").click()
    assert names(desk) == "12453"
    desk.page.get_by_role("button", name="Delete, the selected questions").click()
    assert names(desk) == "123"
