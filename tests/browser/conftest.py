"""A real Chromium on a real server. Every page opened here must stay silent and on its own host."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from server.store.failures import Failure
from tests.browser.axe_inspector import Inspector
from tests.browser.chromium import launch
from tests.support import factories
from tests.support.scale import scale

PATIENCE = 15_000  # milliseconds until something that should be on the page is missed

expect.set_options(timeout=PATIENCE)


class Watch:
    """Notes what no page may do: complain, ask another host, or be given a cookie outside /manage."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.context = context
        self.problems: list[str] = []
        self.expected: list[str] = []
        # A test may type before the page has given its first field the focus; no person is so fast.
        self.allowed = ["Autofocus processing was blocked"]
        context.on("console", lambda message: self.problems.append(f"console: {message.text}"))
        context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))
        context.on("request", lambda request: self._check_host(request.url, host))

    def expect(self, pattern: str) -> None:
        """This test makes the page complain in these words, at least once."""
        self.expected.append(pattern)

    def allow(self, pattern: str) -> None:
        """This test may make the page complain in these words."""
        self.allowed.append(pattern)

    def check(self) -> None:
        """Fail with everything that happened and was not expected, or did not happen and was."""
        cookies = [cookie for cookie in self.context.cookies() if cookie["path"] != "/manage"]
        said = [f"cookie: {cookie['name']}" for cookie in cookies] + self.problems
        missed = [pattern for pattern in self.expected if not any(re.search(pattern, line) for line in said)]
        mine = [*self.expected, *self.allowed]
        assert [line for line in said if not any(re.search(pattern, line) for pattern in mine)] == []
        assert missed == []

    def _check_host(self, url: str, host: str) -> None:
        if urlsplit(url).netloc != host:
            self.problems.append(f"request to another host: {url}")


class Opener:
    """Opens pages, each in a context of its own: another person on another device."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.watches: dict[BrowserContext, Watch] = {}

    def __call__(self, **options: Any) -> Page:
        """A new page; `options` are those of `Browser.new_context`."""
        options = {"base_url": self.url, "locale": "en", **options}
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        self.watches[context] = Watch(context, urlsplit(options["base_url"]).netloc)
        return context.new_page()

    def watch(self, page: Page) -> Watch:
        """What the page's context did wrong."""
        return self.watches[page.context]

    def close(self, page: Page) -> None:
        """End the visit, and check that it was silent."""
        watch = self.watches.pop(page.context)
        watch.check()
        page.context.close()

    def close_all(self) -> None:
        """End every visit; contexts are closed even when one of them was not silent."""
        watches = list(self.watches.values())
        try:
            for watch in watches:
                watch.check()
        finally:
            for watch in watches:
                watch.context.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, once for each process that runs tests."""
    with sync_playwright() as playwright:
        launched = launch(playwright)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def installation(
    sqlite: Callable[[bool], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[factories.Served]:
    """The real server, once for each file: every test makes surveys of its own.

    Not once for all: with each survey its tables become more, which every new connection to SQLite reads, and lists
    longer, through which a keyboard goes field by field.
    """
    complaints = tmp_path_factory.mktemp("served") / "stderr"
    with complaints.open("w") as log, factories.serving(sqlite(True), log=log) as running:
        yield running
    # What is still due when a server stops is done after the next start, and what found the database locked by a test
    # that stores much is tried again: whether there is any, depends on the machine.
    due = "tidying was not finished and stays due: the server was stopped"
    assert [
        line
        for line in complaints.read_text().splitlines()
        if not line.endswith(due)
        and not (" warning server.web.housekeeping " in line and Failure.LOCKED.value in line)
    ] == []


@pytest.fixture
def open_page(browser: Browser, installation: factories.Served) -> Iterator[Opener]:
    """`open_page(**options)` is a new page on a device of its own; see `Opener`."""
    opener = Opener(browser, installation.url)
    yield opener
    opener.close_all()


@pytest.fixture
def inspector() -> Iterator[Inspector]:
    """Looks at pages, and fails at the end with everything that was wrong with any of them."""
    made = Inspector(drawn=scale() == "short")
    yield made
    assert made.states
    assert made.problems == [], "\n".join(made.problems)
