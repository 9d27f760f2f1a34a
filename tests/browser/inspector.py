"""What axe-core finds on a page as it stands: light and dark, on a desk and on a phone, and as narrow as can be."""

from typing import Any

from playwright.sync_api import Page

from tests.browser.chromium import NODE_MODULES
from tests.browser.people import DESK, PHONE

AXE = (NODE_MODULES / "axe-core" / "axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A preview in a frame is a page that is inspected by itself.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "iframes": False}
# A bar that stays in view covers whatever is scrolled under it: a target is too small only if it is so in the
# middle of the window as well.
RUN = """async (options) => {
  const { violations } = await axe.run(options);
  const found = [];
  for (const { id, nodes } of violations) {
    for (const node of nodes) {
      if (id !== 'target-size' || await small(node)) found.push(`${id}: ${node.html} ${node.failureSummary}`);
    }
  }
  return found;

  async function small({ target: [selector] }) {
    const [left, top] = [scrollX, scrollY];
    document.querySelector(selector).scrollIntoView({ block: 'center' });
    const again = await axe.run(selector, { runOnly: { type: 'rule', values: ['target-size'] } });
    scrollTo(left, top);
    return again.violations.length > 0;
  }
}"""
LOOKS: list[tuple[str, dict[str, Any]]] = [("light", DESK["viewport"]), ("dark", PHONE["viewport"])]
NARROW = {"width": 320, "height": 640}  # 1280 pixels at 400 % (WCAG 1.4.10)


class Inspector:
    """Collects what is wrong in each state, so that one run tells all."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.problems: list[str] = []

    def look(self, page: Page, state: str) -> None:
        """Inspect the page as it is now: in light and dark, wide and narrow."""
        self.states.append(state)
        for scheme, size in LOOKS:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if not page.evaluate("'axe' in globalThis"):
                page.evaluate(AXE)
            self.problems += [f"{state} ({scheme}): {found}" for found in page.evaluate(RUN, OPTIONS)]
        page.set_viewport_size(NARROW)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW["width"]:
            self.problems.append(f"{state}: {width} pixels wide where there are {NARROW['width']}")

    def unfold(self, page: Page, address: str, state: str) -> None:
        """Open a page, unfold everything on it, and inspect it."""
        page.goto(address)
        self.unfolded(page, state)

    def unfolded(self, page: Page, state: str) -> None:
        """Unfold everything on the page that is being opened, and inspect it."""
        page.wait_for_load_state("networkidle")
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        self.look(page, state)
