"""Respondents' screens where the system chooses the colours: what can be pressed, has the focus or was chosen is seen.

Colours of ours are gone then, and with them whatever only they tell.
"""

import io

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.respondent_scenes import LONG, PART, SHORT, publish
from tests.browser.site_users import PHONE, Respondent
from tests.support import factories

# What is pressed or filled in; links are underlined and summaries have a triangle by themselves.
CONTROLS = "button, .option, input[type=text], input:not([type]), textarea, select"
UNSEEN = """(controls) => [...document.querySelectorAll(controls)].filter((control) => {
  if (!control.checkVisibility({ visibilityProperty: true })) return false;
  const { borderTopWidth, borderTopStyle, borderTopColor, textDecorationLine } = getComputedStyle(control);
  if (textDecorationLine === 'underline') return false;
  const around = getComputedStyle(document.body).backgroundColor;
  return parseFloat(borderTopWidth) < 1 || borderTopStyle === 'none' || borderTopColor === around;
}).map(({ outerHTML }) => outerHTML.slice(0, 120))"""
FOCUS = """() => {
  const shown = document.activeElement.closest('.option') ?? document.activeElement;
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(shown);
  return [outlineStyle, parseFloat(outlineWidth) >= 2,
    outlineColor !== getComputedStyle(document.body).backgroundColor];
}"""


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, open_page: Opener) -> Page:
    """A phone whose system has few colours, dark on light or light on dark."""
    return open_page(**PHONE, forced_colors="active", color_scheme=request.param)


def expect_seen(page: Page, state: str) -> None:
    """Every control has an edge or a line below it, and whatever has the focus a ring around it."""
    assert page.evaluate(UNSEEN, CONTROLS) == [], state
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS) == ["solid", True, True], state


def look_without_background(option: Locator) -> tuple[str, ...]:
    """What of an answer's look is no background."""
    look: list[str] = option.evaluate(
        "option => { const found = getComputedStyle(option); return [found.borderTopWidth, found.borderTopColor]; }"
    )
    return tuple(look)


def test_whatever_matters_is_seen_without_our_colours(page: Page, installation: factories.Served) -> None:
    document = {**LONG, "questions": [PART, question_screens.QUESTIONS["stole"], LONG["questions"][3]]}
    visit = Respondent(page, publish(installation, document, "en").slug).open()
    expect(visit.button("Start · {n} questions", n=2)).to_be_visible()
    expect_seen(page, "first screen")
    for tick in page.locator("main input[type=checkbox]:visible").all():
        tick.check()
    question_screens.begin(visit)
    question_screens.go_on(visit)
    expect_seen(page, "question")
    chosen, other = page.locator(".option").all()
    before = look_without_background(chosen)
    assert before == look_without_background(other)
    chosen.get_by_role("radio").check()
    assert look_without_background(chosen) != before, "an answer that is chosen has another edge"
    assert look_without_background(other) == before
    question_screens.go_on(visit)
    expect_seen(page, "number")
    page.get_by_role("textbox").fill("30")
    question_screens.go_on(visit)
    expect_seen(page, "what will be sent")
    visit.send()
    expect_seen(page, "sent")
    page.locator(".receipt summary").click()
    drawn = page.locator(".receipt svg, .receipt canvas, .receipt img").first
    expect(drawn).to_be_visible()
    drawn.scroll_into_view_if_needed()
    with Image.open(io.BytesIO(drawn.screenshot())) as picture:
        grey = picture.convert("L")
    shades = grey.histogram()
    assert sum(shades[:40]) + sum(shades[216:]) > 0.8 * sum(shades), (
        "dark on light, whatever the system's colours"
    )
    assert min(sum(shades[:40]), sum(shades[216:])) > 0.1 * sum(shades)
    corners = [grey.getpixel((x, y)) for x in (4, grey.width - 5) for y in (4, grey.height - 5)]
    assert all(isinstance(shade, int) and shade > 216 for shade in corners), "with its light margin"


def test_an_answer_told_by_its_background_alone_is_caught(page: Page, installation: factories.Served) -> None:
    """The twin: the same page without the edge of a chosen answer."""
    visit = Respondent(page, publish(installation, SHORT, "en").slug).open()
    visit.button("Start · 1 question").click()
    chosen = page.locator(".option").first
    page.locator(".option").evaluate_all(
        "options => options.forEach((option) => { option.style.border = '1px solid CanvasText'; })"
    )
    before = look_without_background(chosen)
    chosen.get_by_role("radio").check()
    assert look_without_background(chosen) == before
