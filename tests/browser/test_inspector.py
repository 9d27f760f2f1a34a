"""The inspector finds what is there, and nothing that scrolling mends."""

import pytest
from playwright.sync_api import Browser

from tests.browser.axe_inspector import LOOKS, Inspector
from tests.browser.site_users import DESK

PAGE = """<!doctype html><html lang="en"><title>Targets</title><main><h1>Targets</h1>
<div style="height: 900px"></div>%s<div style="height: 900px"></div>
<button style="position: sticky; bottom: 0; height: 100px; width: 100%%; background: white">A bar</button>
</main></html>"""
WIDE = '<p><input aria-label="one" style="height: 30px; width: 200px"></p>' * 4
SMALL = (
    '<button class="small" style="font-size: 8px; height: 10px; padding: 0; display: block">small</button>'
    * 2
)
# Ten pixels of the first field are in sight above the bar.
SCROLL = """(window_height) => {
  const { top } = document.querySelector('input, .small').getBoundingClientRect();
  scrollBy(0, top - (window_height - 100 - 10));
}"""


def _find_small_targets(browser: Browser, targets: str) -> list[str]:
    page = browser.new_page(**DESK)
    inspector = Inspector()
    page.set_content(PAGE % targets)
    page.evaluate(SCROLL, DESK["viewport"]["height"])
    inspector.look(page, "page")
    page.close()
    return [problem for problem in inspector.problems if "target-size" in problem]


def test_a_target_half_under_a_bar_is_not_too_small(browser: Browser) -> None:
    assert _find_small_targets(browser, WIDE) == []


def test_a_small_target_is_found(browser: Browser) -> None:
    assert _find_small_targets(browser, SMALL)


PALE = '<p style="color: #aaa; background: white">Pale</p>'
NAMELESS = "<button></button>"


@pytest.mark.parametrize("beside", ["", "<p>Dark</p>" * 20])
def test_one_of_two_looks_is_drawn_and_either_finds_what_is_wrong(browser: Browser, beside: str) -> None:
    page = browser.new_page(**DESK)
    page.set_content(PAGE % (beside + PALE + beside + NAMELESS))
    states = [f"page {number}" for number in range(8)]
    found = {}
    for drawn in (False, True):
        inspector = Inspector(drawn=drawn)
        for state in states:
            inspector.look(page, state)
        found[drawn] = [
            (state, scheme)
            for state in states
            for scheme, _size in LOOKS
            if {"color-contrast", "button-name"}
            <= {
                problem.split(": ")[1]
                for problem in inspector.problems
                if problem.startswith(f"{state} ({scheme})")
            }
        ]
    page.close()
    assert found[False] == [(state, scheme) for state in states for scheme in ("light", "dark")]
    assert [state for state, _scheme in found[True]] == states
    assert set(found[True]) < set(found[False])


@pytest.mark.parametrize(
    "spoiled",
    [
        "<p>Text</p>" * 3 + PALE + "<p>Text</p>" * 3,
        "<p>Text</p>" * 3
        + '<div style="background: #444">'
        + "<p>Text</p>" * 3
        + "</div>"
        + "<p>Text</p>" * 3,
        "<p>Text</p>" * 3 + '<div style="opacity: 0.3">' + "<p>Text</p>" * 3 + "</div>" + "<p>Text</p>" * 3,
        '<p>Text</p><input aria-label="One" value="one"><input aria-label="Two" value="two" style="color: #ccc">',
    ],
    ids=["color", "background", "opacity", "field"],
)
def test_one_pale_text_among_others_is_found(browser: Browser, spoiled: str) -> None:
    page = browser.new_page(**DESK)
    page.set_content(PAGE % spoiled)
    inspector = Inspector()
    inspector.look(page, "page")
    assert any("color-contrast" in problem for problem in inspector.problems)
    assert page.locator("[data-stands-for]").count() == 0
    page.close()
