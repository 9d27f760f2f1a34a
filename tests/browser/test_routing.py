"""Answers decide which screens are shown, in the browser alone; the preview may open any of them."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import CHECK, QUESTIONS, TEXT
from tests.browser.site_users import DESK, Respondent, sign_in
from tests.support import factories

ROUTED = [
    QUESTIONS["stole"],
    {**QUESTIONS["taken"], "show_if": {"question": "stole", "any_of": ["yes"]}, "otherwise": "time"},
    {**TEXT, "show_if": {"question": "taken", "any_of": ["money"]}},
    {**QUESTIONS["hours"], "show_if": {"question": "taken", "any_of": ["time"]}, "otherwise": 0},
    {**QUESTIONS["pills"], "show_if": {"question": "hours", "from": 30, "to": 60}, "otherwise": []},
    QUESTIONS["often"],
]


def headings(visit: Respondent, **answers: Any) -> list[str]:
    """Walk on from the introduction to the end, answering as told; the headings on the way."""
    seen = []
    by_text = {entry["text"]: entry for entry in ROUTED}
    while (heading := visit.page.get_by_role("heading", level=1).inner_text()) != visit.say(
        question_screens.REVIEW
    ):
        seen.append(heading)
        if (question := by_text.get(heading)) is not None:
            question_screens.enter(visit, question, answers[question["name"]])
        question_screens.go_on(visit)
    return seen


STOLE, TAKEN, HOURS, PILLS, OFTEN = (
    QUESTIONS[name]["text"] for name in ("stole", "taken", "hours", "pills", "often")
)


@pytest.mark.parametrize(
    ("answers", "way"),
    [
        # Who was not shown what was taken counts as having taken time.
        ({"stole": "no", "hours": 10, "often": "never"}, [STOLE, HOURS, OFTEN]),
        ({"stole": "no", "hours": 30, "pills": [], "often": "never"}, [STOLE, HOURS, PILLS, OFTEN]),
        ({"stole": "yes", "taken": "money", "often": "never"}, [STOLE, TAKEN, "Work and health", OFTEN]),
        ({"stole": "yes", "taken": "goods", "often": "always"}, [STOLE, TAKEN, OFTEN]),
    ],
)
def test_answers_decide_the_way_and_everybody_reports_everything(
    open_page: Opener, installation: factories.Served, answers: dict[str, Any], way: list[str]
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(*ROUTED))
    expect(visit.button("Start · up to {n} questions", n=5)).to_be_visible()
    question_screens.begin(visit)
    assert headings(visit, **answers) == way
    assert len(question_screens.sent_reports(visit, installation)) == 1 + 1 + 1 + 3 + 1


def test_a_changed_answer_changes_the_way_and_going_back_follows_it(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(*ROUTED))
    page, heading = visit.page, visit.page.get_by_role("heading", level=1)
    question_screens.begin(visit)
    question_screens.answer(visit, ROUTED[0], "yes")
    question_screens.answer(visit, ROUTED[1], "goods")
    expect(heading).to_have_text(OFTEN)
    for back in (page.go_back, visit.button("Back").click):
        back()
        expect(heading).to_have_text(TAKEN)
        page.go_forward()
        expect(heading).to_have_text(OFTEN)
    page.go_back()
    expect(visit.page.get_by_role("radio", name="Goods")).to_be_checked()
    question_screens.answer(visit, ROUTED[1], "time")
    question_screens.answer(visit, ROUTED[3], 45)
    question_screens.answer(visit, ROUTED[4], ["cannabis"])
    expect(heading).to_have_text(OFTEN)
    for text in (PILLS, HOURS, TAKEN, STOLE):
        visit.button("Back").click()
        expect(heading).to_have_text(text)
    question_screens.answer(visit, ROUTED[0], "no")
    expect(heading).to_have_text(HOURS)
    page.go_back()
    expect(heading).to_have_text(STOLE)
    question_screens.answer(visit, ROUTED[0], "yes")
    expect(visit.page.get_by_role("radio", name="Time")).to_be_checked()


def test_loading_again_in_the_middle_begins_anew_where_the_way_began(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(*ROUTED))
    page = visit.page
    question_screens.begin(visit)
    question_screens.answer(visit, ROUTED[0], "yes")
    question_screens.answer(visit, ROUTED[1], "goods")
    page.reload()
    expect(visit.button("Start · up to {n} questions", n=5)).to_be_visible()
    page.wait_for_function("() => history.state.screen === 0")
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text(STOLE)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text(STOLE)


def test_the_preview_opens_the_entry_that_its_address_names(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    draft = factories.draft(installation.database_url, question_screens.survey(*ROUTED, CHECK))
    heading = page.get_by_role("heading", level=1)
    page.goto(f"/manage/surveys/{draft}/preview#often")
    expect(heading).to_have_text(OFTEN)
    page.evaluate("location.hash = '#taken'")
    expect(heading).to_have_text(TAKEN)
    page.reload()
    expect(heading).to_have_text(TAKEN)
    page.evaluate("location.hash = '#hours'")
    expect(heading).to_have_text(HOURS)
    visit = Respondent(page, draft)
    visit.button("Back").click()
    expect(heading).to_have_text(STOLE)  # what is in between is shown for other answers only
    page.evaluate("location.hash = '#understood'")
    expect(heading).to_have_text(CHECK["text"])
    visit.button("Next").click()
    expect(heading).to_have_text(STOLE)  # nothing can be sent before it was answered
    page.evaluate("location.hash = '#nothing'")
    expect(heading).to_have_text(STOLE)


def test_the_preview_leads_to_its_end_and_begins_again(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    draft = factories.draft(installation.database_url, question_screens.survey(*ROUTED))
    page.goto(f"/manage/surveys/{draft}/preview")
    visit = Respondent(page, draft)
    question_screens.begin(visit)
    headings(visit, stole="no", hours=10, often="never")
    visit.button("Send").click()
    expect(visit.heading("End of the preview")).to_be_visible()
    page.evaluate("location.hash = '#hours'")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOURS)
