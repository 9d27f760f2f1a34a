"""Links of strata, times, limits and pauses: each story with a mouse on a desk, and with keys alone on a phone."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from server.study.surveys import today
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, Respondent, press_on, sign_in
from tests.support import factories

PASTED = "Spain > Madrid > Getafe, 183000\nSpain > Madrid > Parla, 132000\nSpain > Murcia"


@dataclass
class Hands:
    """How somebody works at a page: with a mouse, or with keys alone."""

    page: Page
    mouse: bool

    @property
    def desk(self) -> Desk:
        return Desk(self.page)

    def press(self, target: Locator) -> None:
        """Use a button, a link or what unfolds."""
        if self.mouse:
            target.click()
        else:
            press_on(self.page, target, "Enter")

    def press_before(self, target: Locator) -> None:
        """Use what stands right before where one is."""
        if self.mouse:
            target.click()
        else:
            self.page.keyboard.press("Shift+Tab")
            expect(target).to_be_focused()
            self.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        """Replace what a field holds."""
        if self.mouse:
            field.fill(text)
        else:
            press_on(self.page, field, "ControlOrMeta+a")
            self.page.keyboard.press("Delete")
            self.page.keyboard.insert_text(text)

    def choose(self, field: Locator, text: str) -> None:
        """Take one of a list."""
        if self.mouse:
            field.select_option(text)
        else:
            press_on(self.page, field, "Home")
            self.page.keyboard.type(text)

    def set_time(self, field: Locator, day: str, hour: str) -> None:
        """Enter a day as month, day and year, and an hour: the parts of the field, one after the other."""
        if self.mouse:
            month, number, year = day.split("/")
            field.fill(f"{year}-{month}-{number}T{hour}")
        else:
            press_on(self.page, field, "ArrowLeft")
            self.page.keyboard.type(day.replace("/", ""))
            self.page.keyboard.press("ArrowRight")
            self.page.keyboard.type(hour.replace(":", "") + "AM")


@pytest.fixture(params=["mouse", "keys"])
def hands(request: pytest.FixtureRequest, open_page: Opener, installation: factories.Served) -> Hands:
    """A researcher who has signed in."""
    mouse = request.param == "mouse"
    page = open_page(**(DESK if mouse else {"viewport": PHONE["viewport"]}))
    sign_in(page, installation.database_url)
    return Hands(page, mouse)


def test_strata_are_built_shared_and_answered(
    hands: Hands, open_page: Opener, installation: factories.Served
) -> None:
    page, desk = hands.page, hands.desk
    survey = factories.publish(installation.database_url, SURVEY)
    page.goto(f"/manage/surveys/{survey.slug}")
    hands.press(desk.link("Links"))
    hands.press(desk.link("Add strata"))
    hands.write(desk.field("One on each line"), PASTED)
    hands.press(desk.button("Add"))
    expect(desk.field("Name of Spain > Madrid > Parla")).to_have_value("Parla")

    # By hand: one more level, below a stratum that had none.
    hands.press(page.locator("summary", has_text="More Spain > Murcia"))
    hands.press(page.get_by_role("button", name="Add below Spain > Murcia"))
    expect(page.get_by_label("Where")).to_have_value(re.compile(r"\d+"))
    hands.write(desk.field("One on each line"), "Lorca")
    hands.press(desk.button("Add"))
    hands.write(page.get_by_label("Population Spain > Murcia > Lorca"), "98,000")
    hands.press(desk.button("Save"))
    expect(page.get_by_label("Population Spain > Murcia > Lorca")).to_have_value("98000")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    hands.press_before(desk.link("Back to the links"))
    link = share_link(hands, installation.url)
    phone = open_page(**PHONE)
    phone.goto(link)
    visit = Respondent(phone, link.rpartition("/")[2])
    visit.answer("Yes", "No", "No")
    visit.send()
    assert stratum_of_the_response(installation.database_url, survey.slug) == "Lorca"


def share_link(hands: Hands, url: str) -> str:
    """Copy the link of Lorca, and take away what there is to take."""
    page = hands.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy = page.get_by_role("button", name="Copy the link Spain > Murcia > Lorca")
    hands.press(copy)
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = str(page.evaluate("navigator.clipboard.readText()"))
    assert re.fullmatch(rf"{url}/s/\w{{12}}", link)
    slug = link.rpartition("/")[2]
    downloads = {
        f"{slug}.svg": page.get_by_role("link", name="SVG Spain > Murcia > Lorca"),
        f"{slug}.png": page.get_by_role("link", name="PNG Spain > Murcia > Lorca"),
        f"{SURVEY['title']}, links, {today()}.csv": hands.desk.link("All links as CSV"),
    }
    beginnings = (b"<?xml", b"\x89PNG", b"stratum,population,link")
    for (name, target), beginning in zip(downloads.items(), beginnings, strict=True):
        with page.expect_download() as started:
            hands.press(target)
        assert started.value.suggested_filename == name
        assert started.value.path().read_bytes().startswith(beginning)
    hands.press(hands.desk.link("Sheet of QR codes to print"))
    expect(page.get_by_role("img", name=f"QR code of {link}")).to_be_visible()
    return link


def stratum_of_the_response(database_url: str, slug: str) -> str:
    """The name of the stratum that the only response to a survey has."""
    rows = factories.dump(database_url)
    (survey,) = [row[0] for row in rows["surveys"] if row[1] == slug]
    names = {row[0]: str(row[4]) for row in rows["strata"] if row[1] == survey}
    (stratum,) = [row[4] for row in rows["responses"] if row[4] in names]
    return names[stratum]


def reads(open_page: Opener, slug: str, heading: str, complaint: str = "") -> None:
    """What a respondent reads who follows the link now."""
    phone = open_page(**PHONE)
    if complaint:
        open_page.watch(phone).expect(complaint)
    phone.goto(f"/s/{slug}")
    expect(phone.get_by_role("heading", level=1, name=heading)).to_be_visible()
    open_page.close(phone)


def test_a_survey_opens_later_pauses_and_fills_up(
    hands: Hands, open_page: Opener, installation: factories.Served
) -> None:
    page, desk = hands.page, hands.desk
    survey = factories.publish(installation.database_url, SURVEY)
    page.goto(f"/manage/surveys/{survey.slug}")
    hands.press(desk.link("Times and limits"))
    hands.press(page.locator("summary", has_text="Pause the survey"))
    hands.press(desk.button("Pause it now"))
    expect(page.get_by_role("status")).to_have_text("Paused.")
    reads(open_page, survey.slug, "This survey is paused", "423")
    hands.press(desk.button("Take responses again"))
    expect(page.get_by_role("status")).to_have_text("The survey takes responses again.")
    reads(open_page, survey.slug, "Chance changes some answers; all together tell a lot")

    # Three are the fewest that are ever shown, and here the most that are wanted.
    hands.write(desk.field("Maximum number of responses"), "3")
    hands.write(desk.field("Smallest group shown"), "3")
    hands.press(desk.button("Save"))
    expect(page.get_by_role("status")).to_have_text("Saved.")
    for _ in range(3):
        assert factories.ask(installation.url + survey.url, survey.response([0, 1, 0]))[0] == 201
    reads(open_page, survey.slug, "This survey is closed", "410")
    hands.press(desk.link("Overview"))
    expect(page.get_by_text("It is full: it takes no more than 3 responses.")).to_be_visible()

    hands.press(desk.link("Change this under Times and limits"))
    hands.write(desk.field("Maximum number of responses"), "1000")
    hands.choose(desk.field("Time zone"), "Europe/Madrid")
    hands.set_time(desk.field("Opening time"), "07/01/2199", "09:00")
    hands.press(desk.button("Save"))
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(desk.field("Opening time")).to_have_value("2199-07-01T09:00")
    reads(open_page, survey.slug, "This survey is not open yet", "423")
    hands.press(desk.link("Overview"))
    expect(page.get_by_text("It is planned to open on July 1, 2199, 09:00 (Europe/Madrid).")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_times_are_at_first_those_of_the_browser(open_page: Opener, installation: factories.Served) -> None:
    page = open_page(**DESK, timezone_id="America/Bogota")
    sign_in(page, installation.database_url)
    slug = factories.draft(installation.database_url, SURVEY)
    page.goto(f"/manage/surveys/{slug}/schedule")
    zone = Desk(page).field("Time zone")
    expect(zone).to_have_value("America/Bogota")
    zone.select_option("Asia/Tokyo")
    Desk(page).button("Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(zone).to_have_value("Asia/Tokyo")


def test_what_is_refused_stays_on_the_page(open_page: Opener, installation: factories.Served) -> None:
    page: Any = open_page(**DESK)
    open_page.watch(page).expect("422")
    sign_in(page, installation.database_url)
    desk, slug = Desk(page), factories.publish(installation.database_url, SURVEY).slug
    factories.plant(installation.database_url, slug, PASTED)
    page.goto(f"/manage/surveys/{slug}/strata")
    desk.field("One on each line").fill("Spain > Ávila, 0\nFrance")
    page.get_by_label("Population Spain > Murcia").fill("1500000")
    desk.button("Save").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text(
        "Line 1: its population must be a whole number from 1 to"
    )
    expect(desk.field("One on each line")).to_have_value("Spain > Ávila, 0\nFrance")
    expect(page.get_by_label("Population Spain > Murcia")).to_have_value("1500000")
    page.goto(f"/manage/surveys/{slug}/schedule")
    desk.field("Time zone").select_option("Europe/Madrid")
    desk.field("Closing time").fill("2190-03-28T02:30")
    desk.button("Save").click()
    expect(page.get_by_role("alert")).to_contain_text("clocks in Europe/Madrid are put forward then")
    expect(desk.field("Closing time")).to_have_value("2190-03-28T02:30")
