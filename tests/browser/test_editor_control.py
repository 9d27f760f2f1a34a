"""Privacy as one control: its figures stay in view, advice is one button, results stand beside; lists are pasted."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Desk, press_on, sign_in
from tests.support import factories


def make_planned_survey(questions: int = 6, respondents: int = 300) -> dict[str, Any]:
    """Yes/no questions of one strength, with a plan."""
    made = factories.definition([0.25] * questions, plan={"respondents": respondents, "margin": 0.05})
    coins = [{**entry, "design": {"mechanism": "coin_flip"}} for entry in made["questions"]]
    return {**made, "format": 2, "strength": {"gamma": 0.25}, "questions": coins}


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served) -> Desk:
    page = open_page(viewport={"width": 1440, "height": 900})
    sign_in(page, installation.database_url)
    return Desk(page)


def edit(desk: Desk, served: factories.Served, document: dict[str, Any]) -> str:
    slug = factories.draft(served.database_url, document)
    desk.page.goto(f"/manage/surveys/{slug}/edit")
    return slug


def test_figures_follow_the_slider_and_an_advice_is_one_button(
    desk: Desk, installation: factories.Served
) -> None:
    edit(desk, installation, make_planned_survey())
    foreseen = desk.page.locator("#foreseen")
    expect(foreseen).to_contain_text("Chance changes some answers; all together tell a lot")
    expect(desk.slider()).to_be_in_viewport(ratio=1)  # stands in the bar, wherever one reads
    desk.slider().focus()
    for _ in range(20):
        desk.page.keyboard.press("ArrowLeft")
    desk.await_saved()
    # gamma = 0.05: six losses of ln(1.1 / 0.9); 0.98^2 / (0.1 * 0.05)^2
    expect(foreseen).to_contain_text("Nobody can be sure of your answers")
    expect(foreseen).to_contain_text("38,415")
    expect(desk.slider()).to_be_focused()
    desk.button("Plan for 38,415").click()
    expect(desk.field("Respondents you plan for")).to_have_value("38415")
    expect(desk.button("Plan for 38,415")).to_have_count(0)
    expect(desk.page.locator("#said")).to_have_text("Done. Undo takes it back.")
    desk.button("Undo").click()
    expect(desk.field("Respondents you plan for")).to_have_value("300")


@pytest.mark.parametrize(
    "size", [DESK["viewport"], PHONE["viewport"], {"width": 320, "height": 640}], ids=str
)
def test_consequences_stay_in_view_and_leave_room_for_the_page(
    open_page: Opener, installation: factories.Served, size: Any
) -> None:
    page = open_page(viewport=size)
    sign_in(page, installation.database_url)
    edit(Desk(page), installation, make_planned_survey())
    for place in ("#at-title", "[id='at-plan.margin']"):
        page.locator(place).focus()
        for figure in page.locator("#foreseen dd, #slider").all():
            expect(figure).to_be_in_viewport(ratio=1)
        bar, field = page.locator(".spent").bounding_box(), page.locator(place).bounding_box()
        assert bar is not None
        assert field is not None
        assert bar["height"] < size["height"] * 0.4
        assert field["y"] + field["height"] <= bar["y"] + 1, f"{place} is not covered"
    slider, kept = (page.locator(part).bounding_box() for part in ("#slider", "#status"))
    assert slider is not None
    assert kept is not None
    assert kept["y"] >= slider["y"] + slider["height"], "Saved is nothing that the slider says"
    assert 0 < kept["height"] < 24, "on one line"
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_results_to_come_stand_beside_the_editor(desk: Desk, installation: factories.Served) -> None:
    edit(desk, installation, make_planned_survey(2, 1200))
    page = desk.page
    frame = page.frame_locator("#phone iframe:last-of-type")
    expect(frame.get_by_role("button", name="Start · 2 questions")).to_be_visible()
    results = page.get_by_role("link", name="As results will look").last
    press_on(page, results, "Enter")
    heading = "With 1,200 people results will look like this"
    expect(frame.get_by_role("heading", level=1, name=heading)).to_be_visible()
    expect(results).to_have_attribute("aria-current", "true")
    desk.field("Respondents you plan for").fill("700")
    desk.await_saved()
    expect(frame.get_by_role("heading", level=1, name="With 700 people")).to_be_visible()
    expect(results).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="As respondents see it").click()
    expect(frame.get_by_role("radio", name="Yes")).to_be_visible()  # at the entry that was last in hand


def test_results_to_come_that_arrive_late_take_no_newer_ones_away(
    desk: Desk, installation: factories.Served
) -> None:
    """Each change asks for them anew, and working them out may take seconds: that is said meanwhile."""
    edit(desk, installation, make_planned_survey(2, 1200))
    page, held = desk.page, list[Route]()
    page.route("**/simulate/look?*", lambda route: held.append(route))
    waiting = page.locator("#preview-waiting")
    expect(waiting).to_be_hidden()
    page.get_by_role("link", name="As results will look").last.click()
    expect(waiting).to_contain_text("Working out what results will look like.")
    desk.field("Respondents you plan for").fill("700")
    desk.await_saved()
    frames = page.locator("#phone iframe")
    expect(frames).to_have_count(3)
    first, last = held
    first.continue_()
    expect(frames).to_have_count(2)
    expect(waiting).to_be_visible()
    last.continue_()
    expect(frames).to_have_count(1)
    expect(page.frame_locator("#phone iframe").get_by_role("heading", name="With 700 people")).to_be_visible()
    expect(waiting).to_be_hidden()


def test_list_is_pasted_looked_at_and_added(
    desk: Desk, installation: factories.Served, open_page: Opener
) -> None:
    edit(desk, installation, make_planned_survey(1))
    page = desk.page
    page.locator("#listed summary").click()
    field = desk.field("List of questions")
    field.fill("- An answer\nHow?\n - well\n - badly")
    open_page.watch(page).expect("422")
    desk.button("See what is understood").click()
    expect(page.locator("#list-problems")).to_be_focused()
    expect(page.locator("#list-problems")).to_contain_text(
        "Line 1: is an answer, and no question stands above it"
    )
    field.fill("Which?\nHow?\n - well\n - badly")
    desk.field("Title").fill("Kept meanwhile")
    desk.await_saved()
    expect(field).to_have_value("Which?\nHow?\n - well\n - badly")
    desk.button("See what is understood").click()
    expect(page.locator("#understood")).to_be_focused()
    expect(page.locator("#understood > ol > li")).to_have_count(2)
    desk.button("Add these 2 questions").click()
    expect(page.locator(".entry")).to_have_count(3)
    expect(desk.part(2, "Wording")).to_be_focused()
    expect(field).to_have_value("")
    expect(page.locator("#understood")).to_have_count(0)
    expect(page.locator("#said")).to_have_text(re.compile("The first of them is question 2"))


def test_question_is_kept_and_inserted_with_the_keyboard(desk: Desk, installation: factories.Served) -> None:
    edit(desk, installation, make_planned_survey(1))
    page = desk.page
    press_on(page, page.locator("button[value='keep_question-0']"), "Enter")
    expect(page.locator("#said")).to_have_text("Question 1 is in your library now.")
    # In sight of whoever sees: of what is kept, nothing else on the screen would tell.
    assert page.locator("#said").evaluate("said => said.clientHeight") > 10
    expect(page.locator("#said")).to_be_in_viewport()
    expect(page.locator("button[value='keep_question-0']")).to_be_focused()
    press_on(page, page.locator("#library > summary"), "Enter")
    press_on(page, desk.button("Insert it"), "Enter")
    expect(page.locator(".entry")).to_have_count(2)
    expect(desk.part(2, "Wording")).to_be_focused()
    desk.await_saved()
