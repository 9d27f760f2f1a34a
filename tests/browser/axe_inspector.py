"""What axe-core finds on a page as it stands: light and dark, on a desk and on a phone, and as narrow as can be."""

from typing import Any

from playwright.sync_api import Page, Request

from tests.browser.chromium import NODE_MODULES
from tests.browser.site_users import DESK, PHONE
from tests.support.sampling import choose

# Half a megabyte: sent to a page once, for the documents that it shows later as well, and run where one is looked at.
AXE = f"globalThis.loadAxe = () => {{{(NODE_MODULES / 'axe-core' / 'axe.min.js').read_text('utf-8')}}};"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A preview in a frame is a page that is inspected by itself.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "iframes": False}
# Of texts that look the same inside elements that look the same, the first, the middle and the last stand for all: what
# the contrast of each takes is most of an inspection, and an editor holds two thousand.
MARK = """() => {
  const around = new Map([[null, '']]), alike = new Map();
  const describe = (element) => {
    if (!around.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const own = [element.localName, element.className, backgroundColor, backgroundImage, opacity].join();
      around.set(element, `${describe(element.parentElement)} > ${own}`);
    }
    return around.get(element);
  };
  for (const element of document.body.querySelectorAll('*')) {
    const speaks = element.matches('input, select, textarea, button')
      || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!speaks || !element.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const off = element.matches(':disabled, [aria-disabled=true], :disabled *, [aria-disabled=true] *');
    const look = [describe(element), color, fontSize, fontWeight, textShadow, off].join();
    alike.set(look, [...(alike.get(look) ?? []), element]);
  }
  for (const all of alike.values()) {
    for (const element of [all[0], all[all.length >> 1], all.at(-1)]) element.setAttribute('data-stands-for', '');
  }
  axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-stands-for]' }] });
}"""
UNMARK = """() => document.querySelectorAll('[data-stands-for]').forEach((element) => {
  element.removeAttribute('data-stands-for');
})"""
# A bar that stays in view covers whatever is scrolled under it: a target is too small only if it is so in the
# middle of the window as well.
RUN = """async (options) => {
  const { violations } = await axe.run(options);
  const found = [];
  for (const { id, nodes } of violations) {
    for (const node of nodes) {
      if (id === 'target-size' && !await small(node)) continue;
      const html = node.html.replaceAll(' data-stands-for=""', '');
      found.push(`${id}: ${html} ${node.failureSummary}`);
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
"""What each state is looked at in: on a desk, and on a phone."""
QUIET = 75  # milliseconds for which a page that has loaded asks for nothing; Playwright's own "networkidle" is 500
NARROW = {"width": 320, "height": 640}  # 1280 pixels at 400 % (WCAG 1.4.10)


def find_violations(page: Page, options: dict[str, Any] = OPTIONS) -> list[str]:
    """What axe finds on the page as it stands, in the window that it has."""
    if not page.evaluate("'loadAxe' in globalThis"):
        page.add_init_script(AXE)
        page.evaluate(AXE)
    page.evaluate("() => { globalThis.axe ?? loadAxe(); }")
    page.evaluate(MARK)
    found: list[str] = page.evaluate(RUN, options)
    page.evaluate(UNMARK)
    return found


class Inspector:
    """Collects what is wrong in each state, so that one run tells all.

    Parameters
    ----------
    drawn : bool
        Of each state, take one of the two looks (`tests/support/sampling.py`). What is wrong with light or dark, a desk
        or a phone, is so in a style sheet or a template, which many states share: a run sees it in half of them.
    """

    def __init__(self, *, drawn: bool = False) -> None:
        self.drawn = drawn
        self.states: list[str] = []
        self.problems: list[str] = []
        self._asked: dict[Page, set[Request]] = {}

    def look(self, page: Page, state: str) -> None:
        """Inspect the page as it is now: in light and dark, wide and narrow; always as narrow as can be."""
        self.states.append(state)
        looks = [choose(f"look at {state}", LOOKS)] if self.drawn else LOOKS
        for scheme, size in looks:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.problems += [f"{state} ({scheme}): {found}" for found in find_violations(page)]
        page.set_viewport_size(NARROW)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW["width"]:
            self.problems.append(f"{state}: {width} pixels wide where there are {NARROW['width']}")

    def unfold(self, page: Page, address: str, state: str) -> None:
        """Open a page, unfold everything on it, and inspect it."""
        self._note_requests(page)
        page.goto(address)
        self.inspect_unfolded(page, state)

    def inspect_unfolded(self, page: Page, state: str) -> None:
        """Unfold everything on the page that is being opened, and inspect it."""
        if self._note_requests(page):
            page.wait_for_load_state("networkidle")  # what it asked for before is not known
        quiet = 0
        while quiet < QUIET:
            page.wait_for_timeout(25)
            quiet = 0 if self._asked[page] else quiet + 25
        page.wait_for_load_state("load")
        page.evaluate(
            """document.querySelectorAll('details').forEach((details) => {
                details.removeAttribute('name');  // of those with one name, one can be open
                details.open = true;
            })"""
        )
        page.wait_for_function("() => !document.querySelector('.not-here')")
        self.look(page, state)

    def _note_requests(self, page: Page) -> bool:
        """Keep what the page asks for until it is answered; whether this begins only now."""
        if page in self._asked:
            return False
        asked: set[Request] = set()
        self._asked[page] = asked
        page.on("request", lambda request: asked.add(request))
        page.on("requestfinished", lambda request: asked.discard(request))
        page.on("requestfailed", lambda request: asked.discard(request))
        return True
