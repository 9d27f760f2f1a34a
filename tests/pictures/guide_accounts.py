"""Pictures for the guides of signing in, of colleagues, and of who may do what."""

import pyotp
from playwright.sync_api import Page, expect

from server.people import researchers
from tests.browser.site_users import PHONE, Desk
from tests.pictures.studio import Studio
from tests.support import factories
from tests.support.sign_in_form import PASSWORD

LOGIN = "ana@example.org"
ANDROID = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"


def take_all(studio: Studio, desk: Desk, home: str) -> None:
    """From the first password to colleagues with roles in a survey; its owner is signed in at the desk."""
    signing_in(studio, desk)
    colleagues(studio, desk)
    people(studio, desk, home)


def on_phone(studio: Studio, address: str) -> Desk:
    """A researcher's phone."""
    page = studio.context(**PHONE, device_scale_factor=1.5, user_agent=ANDROID).new_page()
    page.goto(address)
    return Desk(page, studio.language)


def signing_in(studio: Studio, desk: Desk) -> None:
    """A password and codes, and what they are for."""
    page = desk.page
    page.goto("/manage/account")
    desk.field("Your name, as colleagues see it").fill("Ana Flores")
    desk.field("Sign-in name").fill(LOGIN)
    desk.field("New password").fill(PASSWORD)
    desk.field("The same password again").fill(PASSWORD)
    desk.button("Save").click()
    expect(page.get_by_role("status")).to_be_visible()
    desk.link("Set up codes").click()
    studio.take(page, "codes", 520)
    secret = page.locator("[name=secret]").input_value()
    desk.field("Six-digit code from your app").fill(pyotp.TOTP(secret).now())
    desk.button("Turn codes on").click()
    recovery = page.locator("#codes").inner_text().split()

    phone = on_phone(studio, "/manage/sign-in")
    phone.field("Sign-in name").fill(LOGIN)
    phone.field("Password").fill(PASSWORD)
    studio.take(phone.page, "signin")
    # The app's code of this half minute has turned codes on.
    phone.field("Six-digit code, if you use them").fill(recovery[0])
    phone.button("Sign in").click()
    phone.page.wait_for_url("**/manage/surveys")
    phone.page.goto("/manage/account")
    below(phone.page, "#app")
    studio.take(phone.page, "account")


def below(page: Page, part: str) -> None:
    """Scroll until a part of the page is at the top."""
    page.locator(part).evaluate("element => element.scrollIntoView()")


def colleagues(studio: Studio, desk: Desk) -> None:
    """Who has an account, and the link of somebody who is to have one."""
    with factories.writing(studio.served.database_url) as session:
        for name, login in (("Bruno Díaz", "bruno@example.org"), ("Carla Ruiz", "carla@example.org")):
            researchers.add(session, name).login = login
    page = desk.page
    page.goto("/manage/colleagues")
    invite(desk, "Elena Soto")
    page.goto("/manage/colleagues")
    invite(desk, "Diego Peña")
    studio.take(page, "colleagues", 1190)


def invite(desk: Desk, name: str, role: str = "") -> str:
    """Make an invitation on the page; its link."""
    desk.field("Name of the colleague to invite").fill(name)
    if role:
        desk.page.locator("#role").select_option(role)
    desk.button("Make an invitation").click()
    return desk.page.locator("#given").inner_text()


def people(studio: Studio, desk: Desk, home: str) -> None:
    """Roles in a survey, and two who are invited: one has an account already."""
    slug = home.rpartition("/")[2]
    with factories.writing(studio.served.database_url) as session:
        known = {person.name: person.id for person in researchers.list_researchers(session)}
    factories.join(studio.served.database_url, slug, known["Bruno Díaz"], "editor")
    desk.page.goto(f"{home}/people")
    link = invite(desk, "Carla Ruiz", "viewer")
    secret = factories.link_of(studio.served.database_url, known["Carla Ruiz"])
    carla = on_phone(studio, f"/manage/sign-in/{secret}")
    carla.button("Sign in").click()
    carla.page.wait_for_url("**/manage/surveys")
    carla.page.goto(link)
    studio.take(carla.page, "accepting")
    carla.button("Accept the invitation").click()
    carla.page.wait_for_url(f"**{home}")

    desk.page.goto(f"{home}/people")
    link = invite(desk, "Diego Peña", "editor")
    studio.take(desk.page, "people", 1090)
    studio.take(on_phone(studio, link).page, "joining")
