"""The receipt in a browser: its words, what they are typed like, taking back, and what is queued stays out."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Respondent, words
from tests.support import factories


def send(page: Page, served: factories.Served, language: str = "en") -> tuple[Respondent, str]:
    """Answer a survey; the respondent, and the words of the receipt."""
    survey = factories.publish(served.database_url, SURVEY)
    visit = Respondent(page, survey.slug, language).open()
    visit.answer("Yes", "No", "Yes")
    visit.send()
    shown = page.locator("output")
    expect(shown).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
    return visit, shown.inner_text()


@pytest.mark.parametrize(("language", "device"), [("en", PHONE), ("es", DESK)])
def test_a_response_is_looked_for_and_taken_back_by_its_words(
    language: str,
    device: dict[str, object],
    open_page: Opener,
    served: factories.Served,
    inspector: Inspector,
) -> None:
    page = open_page(locale=language, **device)
    open_page.watch(page).expect("status of 410")
    visit, receipt = send(page, served, language)
    inspector.look(page, f"sent {language}")
    say = words(language)
    page.get_by_role("link", name=say("Is my response in?")).click()
    field = page.get_by_label(say("Your receipt"))
    look = page.get_by_role("button", name=say("Is my response in?"))
    status = page.get_by_role("status")
    wrong = receipt.split()
    wrong[4] = "xyzzy"
    field.fill(" ".join(wrong))
    look.click()
    expect(page.get_by_role("alert")).to_contain_text("xyzzy")
    expect(page.get_by_role("alert")).to_contain_text("5")
    inspector.look(page, f"receipt {language}")
    field.fill(f"  {receipt.upper()}\n")
    field.press("Tab")
    page.keyboard.press("Enter")
    expect(status).to_have_text(say("Your response is in."))
    inspector.look(page, f"found {language}")
    page.get_by_role("button", name=say("Take it back")).click()
    expect(status).to_have_text(say("Your response is not in any more."))
    expect(field).to_be_focused()
    field.fill(" ".join(word[:4] for word in receipt.split()))
    look.click()
    expect(status).to_have_text(
        say(
            "No response with this receipt is in. It never arrived, was taken back, or belongs to another survey."
        )
    )
    assert receipt.split()[0] not in page.url
    factories.close(served.database_url, visit.slug)
    look.click()
    expect(page.get_by_role("alert")).to_have_text(
        say("This survey was closed in the meantime, so that is no longer possible.")
    )
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    inspector.look(page, f"closed {language}")
