"""Pictures for the guides of releases: a budget, what things cost, and what was released."""

from playwright.sync_api import Page, expect

from tests.browser.site_users import Desk
from tests.pictures.report_pictures import publish_answered
from tests.pictures.studio import Studio

EPSILON = ("0.4", "0,4")
SHARE = ("Share of “Yes”", "Proporción de «Sí»")
RESPONDENTS = "5000"


def take_all(studio: Studio, page: Page) -> None:
    """From a survey without a budget to its first release; somebody is signed in on the page."""
    desk = Desk(page, studio.language)
    home = f"/manage/surveys/{publish_answered(studio, studio.served.database_url)}/releases"
    page.goto(home)
    expect(page.locator("#epsilon")).to_be_visible()
    studio.take(page, "budget", 1000)
    desk.button("Set the budget").click()
    expect(page.get_by_role("status")).to_be_visible()

    desk.link("New release").click()
    desk.field("Number of respondents").first.check()
    for folded in page.locator("#builder .question:not([open]) > summary").all()[::-1]:
        folded.click()
    page.get_by_label(studio.say(*SHARE), exact=True).first.check()
    for label in ("Shares of all answers", "Mean"):
        desk.field(label).first.check()
    desk.field("ε of this release").fill(studio.say(*EPSILON))
    desk.field("Respondents you expect").fill(RESPONDENTS)
    page.locator("#builder .foot button.primary").click()
    expect(page.locator("#cost")).to_be_visible()
    page.locator(".plan-items > li > details > summary").nth(1).click()
    studio.take(page, "builder", 1340)

    page.locator("input[name=sure]").check()
    page.locator("section.looked button.primary").click()
    page.wait_for_url("**/releases/1?*")
    page.goto(page.url.partition("?")[0])
    studio.take(page, "release", 1075)
