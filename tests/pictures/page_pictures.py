"""Pictures of every page in its states, to be looked at: `make pictures`; names after it take those pages alone.

Each page of `tests.support.page_list` whole, on a phone and on a desk; those seen most also on a tablet and on a large
screen, in the dark, in Spanish, and with the longest words. They go into `pictures/`, which is in no commit; what
was there before moves to `pictures-before/`, to be laid beside them. A page wider than its window is named, and
what axe finds on it.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from server.web.database_start import open_database
from tests.browser.axe_inspector import find_violations
from tests.browser.chromium import launch
from tests.browser.site_users import DESK, PHONE, sign_in
from tests.support import factories
from tests.support.page_list import NEWCOMER, OWNER, PAGES, VISITOR, WITH_PASSWORD, PageState
from tests.support.page_scenes import SurveysInStates, build_scene, make_link_of_password

FOLDER, BEFORE = (factories.ROOT / name for name in ("pictures", "pictures-before"))
HIGHEST = 12_000
"""Pixels of a picture; what is below is left out."""


@dataclass(frozen=True)
class Device:
    """How pages are looked at: what a picture's name ends with, the browser's settings, and the scene."""

    name: str
    options: dict[str, Any]
    often: bool = False
    language: str = "en"
    long: bool = False


def _wide(width: int, height: int) -> dict[str, Any]:
    return {"viewport": {"width": width, "height": height}}


LOOKS = (
    Device("390", PHONE),
    Device("1280", DESK),
    Device("768", _wide(768, 1024), often=True),
    Device("1680", _wide(1680, 1050), often=True),
    Device("390-dark", {**PHONE, "color_scheme": "dark"}, often=True),
    Device("1280-dark", {**DESK, "color_scheme": "dark"}, often=True),
    Device("390-es", PHONE, often=True, language="es"),
    Device("1280-es", DESK, often=True, language="es"),
    Device("390-long", PHONE, often=True, long=True),
    Device("1280-long", DESK, often=True, long=True),
)


class Photographer:
    """Takes pictures of one server; whoever opens pages in a look stays signed in for all of them."""

    def __init__(self, browser: Browser, served: factories.Served, scene: SurveysInStates) -> None:
        self.browser = browser
        self.served = served
        self.scene = scene

    @contextmanager
    def person(self, who: str, look: Device) -> Iterator[Page]:
        """A page of somebody, on a device of their own."""
        context = self.browser.new_context(base_url=self.served.url, locale=look.language, **look.options)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.emulate_media(reduced_motion="reduce")
        if who == NEWCOMER:
            page.goto(f"/manage/sign-in/{factories.sign_in_secret(self.served.database_url, owner=NEWCOMER)}")
            page.locator("main form button").click()
        elif who == WITH_PASSWORD:
            secret = make_link_of_password(self.served.database_url, f"ana-{look.name}")
            page.goto(f"/manage/sign-in/{secret}")
            page.locator("main form button").click()
        elif who != VISITOR:
            sign_in(page, self.served.database_url)
        yield page
        context.close()

    def take(self, page: Page, state: PageState, look: Device) -> None:
        """One picture; a word where the page is wider than its window, or not as everybody can use it."""
        page.goto(self.scene.address(state.path))
        page.wait_for_load_state("networkidle")
        if state.act is not None:
            state.act(page, self.scene)
        page.mouse.move(0, 0)
        height, wide = page.evaluate(
            "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
        )
        width = look.options["viewport"][
            "width"
        ]  # a phone shows a page that is too wide as if it were wider itself
        path = FOLDER / f"{state.name}-{look.name}.png"
        if height > HIGHEST:  # higher than a browser can draw in time
            page.set_viewport_size({"width": width, "height": HIGHEST})
            page.screenshot(path=path, animations="disabled")
            page.set_viewport_size(look.options["viewport"])
        else:
            clip = {"x": 0, "y": 0, "width": max(width, wide), "height": height}
            page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")  # type: ignore[arg-type]
        said = f", {wide} pixels wide where there are {width}" if wide > width else ""
        print(f"{path.relative_to(factories.ROOT)}{said}", flush=True)
        for found in find_violations(page):
            print(f"  axe: {found}", flush=True)


def take_all(browser: Browser, folder: Path, names: Sequence[str], looks: Sequence[Device]) -> None:
    """Pictures of some pages, or of all; a server for each scene."""
    for language, long in dict.fromkeys((look.language, look.long) for look in looks):
        database_url = f"sqlite:///{folder / f'{language}-{long}'}.sqlite3"
        open_database(database_url).dispose()
        scene = build_scene(database_url, language, long=long)
        with factories.serving(database_url) as served:
            photographer = Photographer(browser, served, scene)
            for look in looks:
                if (look.language, look.long) != (language, long):
                    continue
                chosen = [
                    page
                    for page in PAGES
                    if (page.often or not look.often) and page.name in (names or page.name)
                ]
                # Researchers stay signed in; every visitor comes with a device that remembers nothing.
                for who in (OWNER, NEWCOMER, WITH_PASSWORD):
                    mine = [state for state in chosen if state.who == who]
                    if mine:
                        with photographer.person(who, look) as page:
                            for state in mine:
                                photographer.take(page, state, look)
                for state in chosen:
                    if state.who == VISITOR:
                        with photographer.person(VISITOR, look) as page:
                            photographer.take(page, state, look)


def main() -> None:
    """Take those that are named, or all."""
    names = sys.argv[1:]
    unknown = set(names) - {page.name for page in PAGES}
    if unknown:
        sys.exit(
            f"There is no page called {', '.join(sorted(unknown))}; there are: {', '.join(p.name for p in PAGES)}"
        )
    if FOLDER.exists() and not names:
        shutil.rmtree(BEFORE, ignore_errors=True)
        FOLDER.rename(BEFORE)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        take_all(browser, Path(folder), names, LOOKS)
        browser.close()


if __name__ == "__main__":
    main()
