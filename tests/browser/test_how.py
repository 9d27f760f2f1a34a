"""The page that explains: the survey's own numbers and coin, in two minutes, for everybody and on paper."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import question_screens
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent, words
from tests.support import factories

MOST_WORDS = 450
"""What is read in two minutes, by whoever reads 225 words a minute."""


def open_explanation(open_page: Opener, slug: str, language: str = "en") -> Page:
    """From the first screen, as its link leads there."""
    page = open_page(**PHONE, locale=language)
    page.goto(f"/s/{slug}")
    page.get_by_role("link", name=words(language)("How this works, in two minutes")).click()
    expect(page.locator("#odds .dots").first).to_be_visible()
    return page


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_has_the_surveys_numbers_its_coin_and_few_words(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    document = factories.definition(gammas=[0.25, 0.4], language=language)
    page = open_explanation(open_page, factories.publish(installation.database_url, document).slug, language)
    counts = [int(found) for found in re.findall(r"\d+", page.locator("#odds").inner_text())]
    # Twice a number of the question, then of 100 people who enter No and who enter Yes.
    assert counts == [1, 100, 25, 100, 75, 2, 100, 10, 100, 90]
    assert len(page.locator("main").inner_text().split()) <= MOST_WORDS

    page.locator("#try-here button").first.click()
    expect(page.locator("#try-here [role=status]").first).not_to_be_empty()
    page.locator("#test-here button").first.click()
    expect(page.locator("#test-here .bar").first).to_be_visible()

    inspector.look(page, "how")


def test_every_kind_of_question_has_its_numbers(open_page: Opener, installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url, question_screens.everything())
    page = open_explanation(open_page, survey.slug)
    expect(page.get_by_text("The number itself is never sent").first).to_be_visible()
    assert page.locator("#odds .dots").count() > len(question_screens.QUESTIONS) / 2
    assert question_screens.fits(page)


def test_it_leads_back_without_a_trace_and_stays_where_nothing_is_asked(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_explanation(open_page, survey.slug)
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.get_by_role("link", name="To the survey").click()
    visit = Respondent(page, survey.slug)
    visit.answer("Yes", "No", "Yes")
    visit.send()

    factories.close(installation.database_url, survey.slug)
    page.goto(f"/s/{survey.slug}/how")
    expect(page.get_by_role("heading", name="What if this database leaks?")).to_be_visible()
    expect(page.locator("#odds")).to_contain_text("while the survey takes answers")
    expect(page.locator("script")).to_have_count(0)


def test_on_paper_it_is_without_what_is_played(open_page: Opener, installation: factories.Served) -> None:
    page = open_explanation(open_page, factories.publish(installation.database_url, SURVEY).slug)
    page.emulate_media(media="print")
    expect(page.locator("#try-here")).to_be_hidden()
    expect(page.locator("body > header")).to_be_hidden()
    expect(page.get_by_role("heading", name="The weak link")).to_be_visible()
