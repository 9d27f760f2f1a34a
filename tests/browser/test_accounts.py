"""A researcher's account and colleagues, once with the mouse on a desk and once with the keyboard on a phone."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pyotp
import pytest
from playwright.sync_api import Locator, Page, expect

from server.store.models import Researcher
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Desk, press_on
from tests.support import factories
from tests.support.sign_in_form import PASSWORD


class Mouse:
    """Somebody at a desk."""

    options: dict[str, Any] = DESK

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        target.click()

    def write(self, target: Locator, text: str) -> None:
        target.fill(text)

    def choose(self, target: Locator, text: str) -> None:
        target.select_option(label=text)


class Keys(Mouse):
    """Somebody with the keyboard alone, on a phone's screen."""

    options: dict[str, Any] = {"viewport": PHONE["viewport"]}  # noqa: RUF012 - never changed

    def press(self, target: Locator) -> None:
        press_on(self.page, target, "Enter")

    def write(self, target: Locator, text: str) -> None:
        press_on(self.page, target, "ControlOrMeta+a")
        self.page.keyboard.type(text)

    def choose(self, target: Locator, text: str) -> None:
        press_on(self.page, target, "Home")
        self.page.keyboard.type(text)
        expect(target.locator("option:checked")).to_have_text(text)


@pytest.fixture(params=[Mouse, Keys])
def hand(request: pytest.FixtureRequest) -> type[Mouse]:
    kind: type[Mouse] = request.param
    return kind


@pytest.fixture
def own(sqlite: Any) -> Iterator[factories.Served]:
    """A server of its own, which nobody has signed in to."""
    with factories.serving(sqlite(True)) as running:
        yield running


def newcomer(open_page: Opener, hand: type[Mouse], database_url: str, number: int) -> tuple[Desk, Mouse]:
    """The page of somebody who signs in by a one-time link."""
    page = open_page(**hand.options)
    page.goto(f"/manage/sign-in/{factories.link_of(database_url, number)}")
    hand(page).press(Desk(page).button("Sign in"))
    page.wait_for_url("**/manage/surveys")
    return Desk(page), hand(page)


def reached_by(desk: Desk, hand: Mouse, *links: str) -> None:
    """Follow links of the navigation."""
    for link in links:
        hand.press(
            desk.page.get_by_role("navigation", name="Pages").get_by_role("link", name=link, exact=True)
        )


def fits(page: Page) -> None:
    """No second scrollbar."""
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]


def test_first_researcher_chooses_how_to_sign_in(
    open_page: Opener, own: factories.Served, hand: type[Mouse]
) -> None:
    page = open_page(base_url=own.url, **hand.options)
    desk, does = Desk(page), hand(page)
    page.goto(own.sign_in_link)
    does.press(desk.button("Sign in"))
    does.press(desk.link("Choose a name and a password"))
    does.write(desk.field("Your name, as colleagues see it"), "Ana Flores")
    does.write(desk.field("Sign-in name"), "ana@example.org")
    does.write(desk.field("New password"), PASSWORD)
    does.write(desk.field("The same password again"), PASSWORD)
    does.press(desk.button("Save"))
    expect(page.get_by_role("status")).to_have_text("Saved.")

    does.press(desk.link("Set up codes"))
    expect(page.get_by_role("img", name="QR code of the secret")).to_be_visible()
    fits(page)
    secret = page.locator("[name=secret]").input_value()
    assert secret in page.locator("code").inner_text().replace(" ", "")
    does.write(desk.field("Six-digit code from your app"), pyotp.TOTP(secret).now())
    does.press(desk.button("Turn codes on"))
    recovery = page.locator("#codes").inner_text().split()
    assert len(set(recovery)) == 10
    fits(page)

    does.press(desk.button("Sign out"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    open_page.watch(page).expect("403")
    enter(desk, does, "000000")
    expect(page.get_by_role("alert")).to_be_visible()
    # The next one: the one before was used to turn them on.
    enter(desk, does, pyotp.TOTP(secret).at(int(time.time()) + 30))
    expect(desk.link("New survey")).to_be_visible()
    reached_by(desk, does, "Account")
    expect(page.get_by_text("Chrome, Linux")).to_be_visible()

    other = open_page(base_url=own.url, **DESK)
    other.goto("/manage/sign-in")
    enter(Desk(other), Mouse(other), recovery[3])
    expect(Desk(other).link("New survey")).to_be_visible()
    page.reload()
    expect(page.get_by_text("9 recovery codes are left")).to_be_visible()
    does.press(page.get_by_role("button", name="End all others"))
    expect(page.get_by_role("status")).to_have_text("Ended.")
    other.reload()
    expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")
    for watched in (page, other):
        open_page.close(watched)


def enter(desk: Desk, does: Mouse, code: str) -> None:
    """Send the sign-in form."""
    does.write(desk.field("Sign-in name"), "ana@example.org")
    does.write(desk.field("Password"), PASSWORD)
    does.write(desk.field("Six-digit code, if you use them"), code)
    does.press(desk.button("Sign in"))


def test_colleague_is_invited_to_a_survey_changed_and_removed(
    open_page: Opener, installation: factories.Served, hand: type[Mouse]
) -> None:
    database, login = installation.database_url, f"ben-{hand.__name__}".lower()
    slug = factories.publish(database).slug
    owner, does = newcomer(open_page, hand, database, 1)
    owner.page.goto(f"/manage/surveys/{slug}")
    reached_by(owner, does, "People")
    does.write(owner.field("Name of the colleague to invite"), "Ben")
    does.choose(owner.field("Role"), "editor")
    does.press(owner.button("Make an invitation"))
    link = owner.page.locator("#given").inner_text()
    owner.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    does.press(owner.button("Copy the link"))
    expect(owner.button("Copied")).to_be_visible()
    assert owner.page.evaluate("navigator.clipboard.readText()") == link
    fits(owner.page)

    ben = Desk(open_page(**hand.options))
    his = hand(ben.page)
    ben.page.goto(link)
    expect(ben.field("Your name, as colleagues see it")).to_have_value("Ben")
    his.write(ben.field("Sign-in name"), login)
    his.write(ben.field("Password"), PASSWORD)
    his.write(ben.field("The same password again"), PASSWORD)
    his.press(ben.button("Make the account"))
    ben.page.wait_for_url(f"**/surveys/{slug}")
    reached_by(ben, his, "Edit")
    expect(ben.page.locator(".entry")).to_have_count(2)

    reached_by(owner, does, "People")
    does.choose(owner.field("Role of Ben"), "viewer")
    does.press(owner.button("Change Ben"))
    expect(owner.page.get_by_role("status")).to_have_text("Saved.")
    ben.page.goto(f"/manage/surveys/{slug}")
    expect(ben.link("Edit")).to_have_count(0)
    expect(ben.link("Results")).to_have_count(1)

    does.press(owner.button("Remove Ben"))
    expect(owner.button("Remove Ben")).to_have_count(0)
    open_page.watch(ben.page).expect("404")
    ben.page.reload()
    expect(ben.page.get_by_role("heading", level=1)).to_have_text("There is nothing here")

    reached_by(owner, does, "Log")
    rows = owner.page.locator("tbody tr")
    expect(rows).to_have_count(4)
    for row, words in zip(
        rows.all(), ["removed Ben", "role of Ben to viewer", "accepted", "invited Ben"], strict=True
    ):
        expect(row).to_contain_text(words)
    fits(owner.page)


def test_administrator_invites_and_helps_colleagues(
    open_page: Opener, installation: factories.Served, hand: type[Mouse]
) -> None:
    name = f"Dora {hand.__name__}"
    database = installation.database_url
    dora = factories.account(database, name.lower().replace(" ", "-"))
    with factories.writing(database) as session:
        session.get_one(Researcher, dora).name = name
    admin, does = newcomer(open_page, hand, database, 1)
    reached_by(admin, does, "Colleagues")
    does.write(admin.field("Name of the colleague to invite"), f"Eva {hand.__name__}")
    does.press(admin.button("Make an invitation"))
    assert re.search(r"/manage/invitation/[\w-]{43}$", admin.page.locator("#given").inner_text())

    row = admin.page.locator("li", has_text=name)
    does.press(row.locator("summary"))
    does.press(admin.button(f"Make a sign-in link {name}"))
    given = admin.page.locator("#given")
    expect(given).to_contain_text("/manage/sign-in/")  # the page before showed another link there
    link = given.inner_text()
    hers = open_page(**DESK)
    hers.goto(link)
    Desk(hers).button("Sign in").click()
    expect(Desk(hers).link("New survey")).to_be_visible()

    does.press(row.locator("summary"))
    does.press(admin.button(f"Shut out {name}"))
    expect(row).to_contain_text("shut out")
    hers.reload()
    expect(hers.get_by_role("heading", level=1)).to_have_text("Sign in")
    does.press(admin.link("Log of accounts"))
    expect(admin.page.locator("tbody tr").first).to_contain_text(f"shut {name} out")
