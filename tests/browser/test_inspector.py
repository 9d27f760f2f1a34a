"""The inspector finds what is there, and nothing that scrolling mends."""

from playwright.sync_api import Browser

from tests.browser.axe_inspector import Inspector
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


def _found(browser: Browser, targets: str) -> list[str]:
    page = browser.new_page(**DESK)
    inspector = Inspector()
    page.set_content(PAGE % targets)
    page.evaluate(SCROLL, DESK["viewport"]["height"])
    inspector.look(page, "page")
    page.close()
    return [problem for problem in inspector.problems if "target-size" in problem]


def test_a_target_half_under_a_bar_is_not_too_small(browser: Browser) -> None:
    assert _found(browser, WIDE) == []


def test_a_small_target_is_found(browser: Browser) -> None:
    assert _found(browser, SMALL)


def test_pale_text_is_found_unless_it_is_left_to_another_language(browser: Browser) -> None:
    page = browser.new_page(**DESK)
    for contrast in (True, False):
        inspector = Inspector(contrast=contrast)
        page.set_content(PAGE % '<p style="color: #aaa; background: white">Pale</p>')
        inspector.look(page, "page")
        assert any("color-contrast" in problem for problem in inspector.problems) is contrast
    page.close()
