"""Figures of results as a screen or paper shows them: what stands under them stands under the right places."""

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import SURVEY, sign_in
from tests.support import factories

A4 = 718
"""CSS pixels between margins of 10 mm."""

ENDS = """() => [...document.querySelectorAll('.branches .plot')].map((plot) => {
  const { left, width } = plot.getBoundingClientRect();
  const limits = [...document.querySelectorAll('#forest-ground .limit')];
  return limits.map((line) => left + width * Number.parseFloat(line.getAttribute('x1')) / 100);
})"""
"""Where 0 and 100 are drawn in each row."""

LABELS = """() => ['0', '100'].map((mark) => {
  const found = [...document.querySelectorAll('.branches .plot-scale text')].find((one) => one.textContent === mark);
  const { left, right } = found.getBoundingClientRect();
  return (left + right) / 2;
})"""
"""Where the middles of those two labels are."""


@pytest.fixture
def page(open_page: Opener, installation: factories.Served) -> Page:
    """The results of a survey with two strata, one inside another one."""
    survey = factories.publish(installation.database_url, SURVEY)
    links = factories.plant(
        installation.database_url, survey.slug, "North > Coast, 300\nNorth > Hills, 300\nSouth, 300"
    )
    for name in ("North > Coast", "North > Hills", "South"):
        factories.store(installation.database_url, survey, [([1, 0, 1], 300), ([0, 0, 0], 300)], links[name])
    page = open_page()
    sign_in(page, installation.database_url)
    page.goto(f"/manage/surveys/{survey.slug}/results")
    return page


def test_the_scale_of_strata_stands_under_the_ends_of_their_plots(page: Page) -> None:
    shown: tuple[tuple[int, Literal["screen", "print"]], ...] = (
        (390, "screen"),
        (800, "screen"),
        (1280, "screen"),
        (A4, "print"),
    )
    for width, media in shown:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media=media)
        rows, labels = page.evaluate(ENDS), page.evaluate(LABELS)
        assert len(rows) == 5
        for ends in rows:
            assert ends == pytest.approx(labels, abs=2), (width, media)


def test_what_was_found_is_on_the_first_screen(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    first = page.locator(".finding h3").first.bounding_box()
    assert first is not None
    assert first["y"] + first["height"] < 800
    page.set_viewport_size({"width": 390, "height": 844})
    lead = page.locator(".told .lead").bounding_box()
    assert lead is not None
    assert lead["y"] + lead["height"] < 844
    expect(page.locator(".told .lead")).to_contain_text("Have you ever copied in an exam? “Yes”: ")
    expect(page.locator(".told .lead")).to_contain_text(
        re.compile("2 more|does not tell|do not tell|more question")
    )


def test_paper_has_no_links_to_what_was_never_sent(page: Page) -> None:
    folded = page.locator(".numbers:has(> .not-here)")
    expect(folded.first).to_be_visible()
    page.emulate_media(media="print")
    for fold in folded.all():
        expect(fold).to_be_hidden()
