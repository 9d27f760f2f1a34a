"""Take the pictures of the README: `python -m tests.pictures.screenshots`, which is `make screenshots`."""

import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import launch
from tests.browser.site_users import DESK, PHONE, Respondent
from tests.support import factories

IMAGES = factories.ROOT / "docs" / "images"
MOST_BYTES = 200_000


@contextmanager
def demonstration(database_url: str) -> Iterator[list[str]]:
    """`make demo` on a database of its own; the addresses that it prints: survey, sign-in link."""
    port = str(factories.free_port())
    command = [sys.executable, "-m", "server", "demo", "--port", port]
    environment = factories.environment(database_url)
    with subprocess.Popen(
        command, cwd=factories.ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            lines = list(iter(process.stdout.readline, "Ctrl-C stops it.\n"))
            await_answer(int(port))  # which says so a moment before it listens
            yield re.findall(r"http\S+/(?:s|manage)/\S+", "".join(lines))
        finally:
            process.terminate()


def await_answer(port: int) -> None:
    """Return once somebody listens there; an error after ten seconds."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"nobody listens on {port}")


def respondent(browser: Browser, address: str) -> None:
    """A question and what is sent, on a phone."""
    page = browser.new_context(**PHONE, device_scale_factor=1.5, locale="en").new_page()
    page.goto(address)
    visit = Respondent(page, address.rsplit("/", 1)[1])
    visit.start(6)
    visit.radio("Yes").check()
    take(page, "respondent-question")
    for truth in ("Yes", "No", "No"):
        visit.choose(truth)
    visit.button("Next").click()
    visit.choose("Nothing")
    page.get_by_role("textbox").fill("0")
    visit.button("Next").click()
    visit.choose("Rather serious")
    visit.sent_body()
    take(page, "respondent-review")


def researcher(browser: Browser, sign_in_link: str) -> None:
    """The editor, a survey's overview and its results, on a desk."""
    page = browser.new_context(**DESK, locale="en").new_page()
    page.goto(sign_in_link)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Exam survey").click()
    take(page, "overview")
    page.get_by_role("link", name="Edit").click()
    take(page, "editor")
    page.get_by_role("link", name="Results").first.click()
    take(page, "results")


def take(page: Page, name: str) -> None:
    """One picture, without a pointer over anything."""
    page.mouse.move(0, 0)
    page.wait_for_load_state("networkidle")
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    size = path.stat().st_size
    print(f"{path.relative_to(factories.ROOT)}: {size:,} bytes")
    assert size < MOST_BYTES, f"{name} should be smaller than {MOST_BYTES:,} bytes"


def main() -> None:
    """Take them all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        demonstration(f"sqlite:///{Path(folder) / 'demo.sqlite3'}") as (survey, sign_in_link),
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        respondent(browser, survey)
        researcher(browser, sign_in_link)
        browser.close()


if __name__ == "__main__":
    main()
