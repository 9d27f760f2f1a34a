"""Sheets of paper are keyed in with the keyboard alone, and the page is one that everybody can use."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, SURVEY, Desk, press_on, sign_in
from tests.support import factories
from tests.views.test_paper_pages import count_stored


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_batch_is_keyed_in_with_the_keyboard_alone(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(locale=language, **DESK)
    open_page.watch(page).expect("status of 422")
    desk = Desk(page, language)
    sign_in(page, installation.database_url)
    page.goto(f"/manage/surveys/{survey.slug}/paper")
    inspector.inspect_unfolded(page, "paper")

    sheets = desk.field("Sheets")
    press_on(page, sheets, "A")
    page.keyboard.type("BX")
    page.keyboard.press("Enter")
    page.keyboard.type("bba")
    press_on(page, desk.button("Store these sheets"), "Enter")

    problems = page.get_by_role("alert")
    expect(problems).to_be_focused()
    expect(problems).to_contain_text(re.compile(r"1.*X"))
    inspector.inspect_unfolded(page, "paper, refused")
    expect(sheets).to_have_value("ABX\nbba")
    press_on(page, sheets, "Control+A")
    page.keyboard.type("ABA\nbba\n")
    press_on(page, desk.button("Store these sheets"), "Enter")

    expect(page.get_by_role("status")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(
        desk.say("Stored. These sheets count now; results show them once there are enough.")
    )
    inspector.inspect_unfolded(page, "paper, stored")
    expect(sheets).to_have_value("")
    assert count_stored(installation.database_url, survey.slug) == 2
