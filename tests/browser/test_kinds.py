"""Every kind of question as a respondent meets it: on a phone, by keyboard alone, in both languages."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.question_screens import ANSWERS, QUESTIONS
from tests.browser.site_users import DESK, PHONE, Respondent, press_on
from tests.support import factories
from tests.support.sampling import choose
from tests.support.scale import scale


@pytest.mark.parametrize(
    ("language", "look", "turn"),
    [("en", PHONE, 0), ("en", DESK, 1), ("es", PHONE, 0), ("es", PHONE, 1)],
    ids=["en, phone, first answers", "en, desk, second", "es, phone, first", "es, phone, second"],
)
def test_a_visit_to_a_survey_of_everything(
    open_page: Opener, installation: factories.Served, language: str, look: dict[str, Any], turn: int
) -> None:
    visit = question_screens.open_survey(
        open_page, installation, question_screens.everything(), language, **look
    )
    page = visit.page
    expect(page.locator("main .primary")).to_be_visible()
    if language == "en":
        all_seen = re.compile(r"^Somebody who sees all 16 answers arrive and must choose")
        expect(page.get_by_text(all_seen)).to_be_visible()
    for summary in page.locator("summary").all():
        summary.click()
    expect(page.get_by_role("combobox", name=visit.say("Question"), exact=True)).to_have_count(2)
    assert question_screens.fits(page)
    question_screens.begin(visit)
    heading, alert = page.get_by_role("heading", level=1), page.get_by_role("alert")
    for said in ("Work and health", "About your work"):
        expect(heading).to_have_text(said)
        question_screens.go_on(visit)
    for place, (name, question) in enumerate(QUESTIONS.items(), start=1):
        given = ANSWERS[name][turn]
        expect(heading, name).to_have_text(question["text"])
        expect(page.get_by_text(visit.say("{k} of {n}", k=place, n=16), exact=True), name).to_be_visible()
        expect(page.locator(".under"), name).to_have_text("About your work")
        expect(page.locator("main .label"), name).to_contain_text("100")
        visit.button("Next").click()
        expect(alert, name).not_to_be_empty()
        question_screens.enter(visit, question, given)
        expect(alert, name).to_be_empty()
        assert question_screens.fits(page), name
        question_screens.go_on(visit)
        visit.button("Back").click()
        expect(heading, name).to_have_text(question["text"])
        if isinstance(given, int | float):
            typed = page.get_by_role("textbox").input_value()
            assert typed, name
            assert float(typed.replace(",", ".")) == given, name
        else:
            kept = page.locator("main :checked").evaluate_all("all => all.map(({ value }) => value)")
            assert kept == ([given] if isinstance(given, str) else given or [""]), name
        question_screens.go_on(visit)
    question_screens.go_on(visit)
    expect(visit.heading(question_screens.REVIEW)).to_be_focused()
    assert len(question_screens.sent_reports(visit, installation)) == 26


def test_a_visit_with_the_keyboard_alone(open_page: Opener, installation: factories.Served) -> None:
    visit = question_screens.open_survey(
        open_page, installation, question_screens.survey(*QUESTIONS.values()), **{**DESK, "is_mobile": False}
    )
    page = visit.page
    press_on(page, visit.button("Start · {n} questions", n=len(QUESTIONS)), "Enter")
    for name, question in QUESTIONS.items():
        expect(page.get_by_role("heading", level=1), name).to_have_text(question["text"])
        enter_by_keys(visit, question, ANSWERS[name][0])
        page.keyboard.press("Enter")
    expect(visit.heading(question_screens.REVIEW)).to_be_focused()
    press_on(page, page.get_by_text("See exactly what will be sent"), "Enter")
    expect(page.locator("pre")).not_to_be_empty()
    press_on(page, visit.button("Send"), "Enter")
    expect(visit.heading("Sent. Thank you.")).to_be_focused()


def enter_by_keys(visit: Respondent, question: question_screens.Document, given: Any) -> None:
    """Answer the question on the screen without a mouse; stay there."""
    page = visit.page
    if isinstance(given, int | float):
        press_on(page, page.get_by_role("textbox"), "Home")
        page.keyboard.type(str(given))
    elif isinstance(given, list) or question["kind"] == "number":
        for box in given if isinstance(given, list) else [given]:
            label = question_screens.option(visit, question, box)
            press_on(page, page.get_by_role("checkbox", name=label, exact=True), "Space")
    else:
        chosen = page.get_by_role("radio", name=question_screens.option(visit, question, given), exact=True)
        press_on(page, page.get_by_role("radio").first, "Space")
        for _ in range(page.get_by_role("radio").count()):
            if chosen.is_checked():
                break
            page.keyboard.press("ArrowDown")
        expect(chosen).to_be_checked()


BAD_NUMBERS = ["x", "-0.5", "60.5", "7.25", "1e1", "1,500", "7,5,0", "12 000", "०"]


def test_a_number_that_does_not_fit_is_refused_and_nothing_is_lost(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS["hours"]))
    question_screens.begin(visit)
    field, alert = visit.page.get_by_role("textbox"), visit.page.get_by_role("alert")
    for typed in BAD_NUMBERS:
        field.fill(typed)
        visit.button("Next").click()
        refusal = f"“{typed}” does not fit here. From 0 to 60 hours, in steps of 0.5 hours."
        expect(alert, typed).to_have_text(refusal)
        expect(field, typed).to_be_focused()
        expect(field).to_have_value(typed)
        field.fill("7,5")
        expect(alert, typed).to_be_empty()
        question_screens.go_on(visit)
        visit.button("Back").click()
        expect(field, typed).to_have_value("7.5")


def test_a_number_and_no_number_exclude_each_other(open_page: Opener, installation: factories.Served) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS["cash"]))
    question_screens.begin(visit)
    field, box = visit.page.get_by_role("textbox"), visit.page.get_by_role("checkbox")
    field.fill("12")
    box.check()
    expect(field).to_have_value("")
    field.fill("13")
    expect(box).not_to_be_checked()


def test_the_range_that_a_number_lies_in_is_said_before_going_on(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS["age"]))
    question_screens.begin(visit)
    said = visit.page.get_by_role("status")
    for typed, span in [("24", "16 to 24 years"), ("25", "25 to 49 years"), ("99", "65 to 99 years")]:
        visit.page.get_by_role("textbox").fill(typed)
        expect(said).to_have_text(f"In the range {span}. Only the range is sent, after the coin.")
    visit.page.get_by_role("textbox").fill("15")
    expect(said).to_be_empty()


def test_none_and_preferring_not_to_say_exclude_what_is_ticked(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS["any"]))
    question_screens.begin(visit)
    page = visit.page
    visit.button("Next").click()
    expect(page.get_by_role("alert")).to_contain_text("Tick what applies, or that nothing does.")

    def list_ticked() -> list[str]:
        values: list[str] = page.locator(":checked").evaluate_all("all => all.map(({ value }) => value)")
        return values

    def box(name: str) -> None:
        page.get_by_role("checkbox", name=name, exact=True).check()

    box("Alcohol")
    box("Cannabis")
    assert list_ticked() == ["alcohol", "cannabis"]
    box("None of these")
    assert list_ticked() == [""]
    box("Prefer not to say")
    assert list_ticked() == ["prefer_not_to_say"]
    box("Sleeping pills")
    assert list_ticked() == ["sleeping_pills"]


def test_fifty_options_stay_usable_on_a_phone(open_page: Opener, installation: factories.Served) -> None:
    many = question_screens.options(*(f"Region number {k}" for k in range(50)))
    question = {**QUESTIONS["boxed"], "options": many}
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(question))
    question_screens.begin(visit)
    page = visit.page
    last = page.get_by_role("radio", name="Region number 49")
    last.check()
    box = page.locator(".option").last.bounding_box()
    assert box is not None
    assert box["height"] >= 56
    assert question_screens.fits(page)
    expect(visit.button("Next")).to_be_in_viewport()
    question_screens.go_on(visit)
    assert len(question_screens.sent_reports(visit, installation)) == 50


def test_what_a_survey_does_not_need_does_not_run(open_page: Opener, installation: factories.Served) -> None:
    """How many bytes a first load has is looked at in `tests/test_compression.py`."""
    for document, needs in (
        (question_screens.survey(QUESTIONS["stole"]), False),
        (question_screens.everything(), True),
    ):
        page = open_page(**PHONE)
        slug = factories.publish(installation.database_url, document).slug
        visit = Respondent(page, slug).open()
        expect(visit.page.locator("main .primary")).to_be_visible()
        modules = (page.locator("script[data-modules]").get_attribute("data-modules") or "").split()
        assert ("field.js" in modules) == ("ticks.js" in modules) == ("labels.js" in modules) == needs
        assert (page.locator("link[href*='kinds.css']").count() > 0) == needs


def test_a_check_answers_in_the_numbers_of_its_survey(
    open_page: Opener, installation: factories.Served
) -> None:
    stole = {**QUESTIONS["stole"], "design": {"mechanism": "coin_flip", "gamma": 0.2}}
    visit = question_screens.open_survey(
        open_page, installation, question_screens.survey(question_screens.CHECK, stole)
    )
    question_screens.begin(visit)
    expect(visit.page.get_by_role("status")).to_be_empty()
    for choice in ("The researcher", "Nobody"):
        visit.page.get_by_role("radio", name=choice).check()
        expect(visit.page.get_by_role("status")).not_to_contain_text("recorded")
        numbers = visit.page.locator("form .in-numbers")
        expect(numbers).to_contain_text("who enter No, 30 are recorded as Yes")
        expect(numbers).to_contain_text("who enter Yes, 70 are recorded as Yes")


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_screen_of_any_kind_has_an_obstacle(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    document = question_screens.everything(introduction="**Who** asks, and [what for](https://example.org).")
    visit = question_screens.open_survey(
        open_page, installation, document, language, **{**DESK, "has_touch": False, "is_mobile": False}
    )
    page = visit.page
    expect(page.locator("main .primary")).to_be_visible()
    inspector.look(page, "introduction")
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_role("combobox", name=visit.say("Question"), exact=True).last.select_option(index=3)
    page.locator("#test-here .pair button").last.click()
    inspector.look(page, "introduction, unfolded")
    question_screens.begin(visit)
    for state in ("text", "section"):
        inspector.look(page, state)
        question_screens.go_on(visit)
    # Of a screen before and after it was answered, which differ in an alert and what is chosen, one is drawn.
    ways = ("missing", "answered")
    looked = {
        (name, way)
        for name in QUESTIONS
        for way in (ways if scale() == "long" else [choose(f"{name} when", ways)])
    }
    for name, question in QUESTIONS.items():
        visit.button("Next").click()
        expect(page.get_by_role("alert")).not_to_be_empty()
        if (name, "missing") in looked:
            inspector.look(page, f"{name}, missing")
        question_screens.enter(visit, question, ANSWERS[name][0])
        if (name, "answered") in looked:
            inspector.look(page, f"{name}, answered")
        question_screens.go_on(visit)
    page.get_by_role("radio").first.check()
    inspector.look(page, "check")
    question_screens.go_on(visit)
    visit.sent_body()
    inspector.look(page, "review")
    assert len(inspector.states) == 6 + len(looked)
