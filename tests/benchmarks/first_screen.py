"""How long somebody on a poor network waits until *Start* can be pressed: part of `make bench-visit`.

A real Chromium whose network gives 400 kbit/s and answers after 400 ms, on connections that are open, with an empty
cache: milliseconds until *Start* is there and until all is there that it leads to, requests, and bytes with and
without headers, for surveys that need little and much. Nothing here passes or fails: what is aimed at is printed beside
what was measured. Chromium does not delay the opening of a connection, and there is no TLS here. So a first visit is
measured once more, cold: through a relay that holds each new connection for two ways there and back (TCP and TLS 1.3)
before anything goes through. Looking the name up and the bytes of a certificate are not in it.
"""

import asyncio
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from tests.browser import question_screens
from tests.browser.chromium import launch
from tests.browser.site_users import PHONE
from tests.support import factories

ROUNDS = 3
LATENCY, BYTES_A_SECOND = 400, 400_000 // 8
WAYS = 2
"""There and back, until a new connection carries a request."""
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
        with factories.serving(database_url) as served, holding(served.url) as cold_url:
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
                    cold = statistics.median(
                        _visit(browser, cold_url, slug, language)[0] for _ in range(ROUNDS)
                    )
                    print(
                        f"  {name:<18} {language} {statistics.median(waits):6.0f} ms, {cold:6.0f} cold, "
                        f"{statistics.median(lasts):6.0f} with all behind it, {len(requests[-1])} requests, "
                        f"{bodies:,} bytes, {sent:,} with what the browser reckons for headers"
                    )
            browser.close()


@contextmanager
def holding(site: str) -> Iterator[str]:
    """The address of a relay to a site that holds each new connection for as long as opening one takes."""
    loop = asyncio.new_event_loop()
    there = urlsplit(site)

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(WAYS * LATENCY / 1000)
        back, forth = await asyncio.open_connection(there.hostname, there.port)
        await asyncio.gather(_carry(reader, forth), _carry(back, writer))

    # In a thread of its own: Playwright runs a loop in this one.
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.start_server(relay, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(listening, loop).result()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass  # the browser has left
    finally:
        writer.close()


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
