"""How long somebody on a poor network waits until *Start* can be pressed: part of `make bench-visit`.

A real Chromium whose network gives 400 kbit/s and answers after 400 ms, on connections that are open, with an empty
cache: milliseconds until *Start* is there and until all is there that it leads to, requests, and bytes with and
without headers, for surveys that need little and much. Nothing here passes or fails: what is aimed at is printed beside
what was measured. Opening a connection is not delayed by Chromium: a visitor without one waits two ways there and back
longer (TCP and TLS 1.3), and for the name.
"""

import statistics
import tempfile
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.browser import question_screens
from tests.browser.chromium import launch
from tests.browser.site_users import PHONE
from tests.support import factories

ROUNDS = 3
LATENCY, BYTES_A_SECOND = 400, 400_000 // 8
MOST_WAIT, MOST_BYTES = 2_000, 30_000
SETTINGS = {
    "agreed, offline": ("offline",),
    "by invitation": ("by_invitation",),
    "all there is": ("by_invitation", "tickets", "completions", "forgets"),
}
NOTICE_START = """new MutationObserver(() => {
  if (document.querySelector('main .actions .primary')) globalThis.startable ??= performance.now();
}).observe(document, { childList: true, subtree: true });"""
LISTED = """() => [globalThis.startable, ...performance.getEntries()
  .filter(({ responseEnd }) => responseEnd && responseEnd <= startable)
  .map(({ transferSize, encodedBodySize }) => [transferSize, encodedBodySize])]"""
LAST = """() => {
  const named = document.getElementById('later').content.querySelectorAll('[integrity]');
  const files = Array.from(named, (file) => file.getAttribute('src') ?? file.getAttribute('href'));
  const came = performance.getEntriesByType('resource')
    .filter(({ name }) => files.some((file) => name.endsWith(file)) || name.includes('/screens?'));
  const ends = came.map(({ responseEnd }) => responseEnd);
  return ends.length > files.length && ends.every(Boolean) && Math.max(...ends);
}"""


def main() -> None:
    """Measure, and print."""
    surveys = {
        "a yes/no question": factories.definition([0.25]),
        "ten of them": factories.definition([0.25] * 10),
        "agreed, offline": question_screens.survey(
            question_screens.CHECK,
            question_screens.QUESTIONS["stole"],
            question_screens.QUESTIONS["often"],
            consent="I know **what** this is for.",
            least_age=18,
        ),
        "of every kind": question_screens.everything(),
        "by invitation": question_screens.everything(),
        "all there is": question_screens.everything(consent="I know **what** this is for.", least_age=18),
    }
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database_url = f"sqlite:///{folder}/moneda.db"
        with factories.serving(database_url) as served:
            browser = launch(playwright)
            print(
                f"400 kbit/s, {LATENCY} ms, medians of {ROUNDS}; at most {MOST_WAIT} ms and {MOST_BYTES} bytes"
            )
            for name, document in surveys.items():
                slug = factories.draft(database_url, document)
                factories.settle(database_url, slug, **dict.fromkeys(SETTINGS.get(name, ()), True))
                factories.publish(database_url, document, slug)
                for language in ("en", "es", "ar"):
                    waits, lasts, requests = zip(
                        *(_visit(browser, served.url, slug, language) for _ in range(ROUNDS)), strict=True
                    )
                    sent, bodies = map(sum, zip(*requests[-1], strict=True))
                    print(
                        f"  {name:<18} {language} {statistics.median(waits):6.0f} ms, {statistics.median(lasts):6.0f} "
                        f"with all behind it, {len(requests[-1])} requests, "
                        f"{bodies:,} bytes, {sent:,} with what the browser reckons for headers"
                    )
            browser.close()


def _visit(browser: Browser, url: str, slug: str, language: str) -> tuple[float, float, list[Any]]:
    context = browser.new_context(**PHONE, base_url=url, locale=language)
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    limits = {"latency": LATENCY, "downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
    network.send("Network.emulateNetworkConditions", {"offline": False, **limits})
    page.add_init_script(NOTICE_START)
    page.goto(f"/s/{slug}")
    page.wait_for_function("() => globalThis.startable")
    wait, *requests = page.evaluate(LISTED)
    last: float = page.wait_for_function(LAST).json_value()
    context.close()
    return wait, last, requests


if __name__ == "__main__":
    main()
