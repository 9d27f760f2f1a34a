"""Take the pictures of the guides, in both languages: `python -m tests.pictures.guide_pictures`, by `make screenshots`.

Every picture is of the real site in a real browser; the people behind results are made up, and the pages say so.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from server.store.engines import make_engine, migrate
from tests.browser.chromium import launch
from tests.browser.site_users import DESK, Desk, sign_in
from tests.pictures import guide_releases, guide_running
from tests.pictures.studio import IMAGES, PREFIX, Say, Studio, survey
from tests.support import factories, sample_xlsforms


def first_survey(studio: Studio, desk: Desk) -> str:
    """From the empty list to the link that is shared; the slug."""
    page = desk.page
    page.set_viewport_size({"width": 1280, "height": 420})
    studio.take(page, "surveys")
    page.set_viewport_size(DESK["viewport"])
    desk.link("Start from a template").click()
    studio.take(page, "gallery")
    page.locator("button[name=template]").first.click()
    desk.field("Introduction").fill(
        studio.say(
            "We are the Institute for Work Research. We want to know how common undeclared work is, not who does it.",
            "Somos el Instituto de Estudios del Trabajo. Queremos saber cuán frecuente es el trabajo sin declarar, "
            "no quién lo hace.",
        )
    )
    desk.await_saved()
    desk.entry(2).locator("summary").first.click()
    page.evaluate("document.querySelector('[data-place=\"0\"]').scrollIntoView()")
    await_preview(page)
    studio.take(page, "editor")
    desk.link("Overview").click()
    page.locator("form[action$='/publish'] button.primary").click()
    expect(page.locator("#link")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 480})
    studio.take(page, "share")
    page.set_viewport_size(DESK["viewport"])
    return desk.slug


def await_preview(page: Page) -> None:
    """Wait until the phone beside the editor shows the draft as it is; the next one loads behind the last."""
    page.wait_for_timeout(1000)
    expect(page.locator("iframe")).to_have_count(1)
    expect(page.frame_locator("iframe").locator("main h1")).to_be_visible()


def respondents(studio: Studio, first: str) -> None:
    """The screens of people who answer, on phones."""
    visit = studio.phone(first)
    expect(visit.page.locator("main .primary")).to_be_visible()
    studio.take(visit.page, "intro")
    visit = studio.phone(first, color_scheme="dark")
    visit.start(1)
    visit.button("Next").click()
    visit.choose("Yes")
    visit.sent_body()
    visit.page.locator("pre").evaluate("text => text.scrollIntoView({ block: 'center' })")
    studio.take(visit.page, "sent")

    definition = survey(studio, "undeclared", "reason", "boxes", "hours", budget=5)
    visit = studio.phone(factories.publish(studio.served.database_url, definition).slug)
    visit.start(4)
    visit.choose("No")
    visit.page.get_by_role("radio").nth(3).check()
    studio.take(visit.page, "choice")
    visit.button("Next").click()
    visit.page.get_by_role("checkbox").first.check()
    studio.take(visit.page, "boxes")
    visit.button("Next").click()
    visit.page.get_by_role("textbox").fill("6")
    studio.take(visit.page, "number")


def plans(studio: Studio, page: Page) -> None:
    """What it takes, the question before a launch, and a rehearsal."""
    planned = {"respondents": 2000, "margin": 0.05}
    definition = survey(studio, "undeclared", "reason", "hours", budget=3.3, plan=planned)
    home = f"/manage/surveys/{factories.draft(studio.served.database_url, definition)}"
    page.set_viewport_size({"width": 1280, "height": 1570})
    page.goto(f"{home}/edit")
    page.evaluate("document.getElementById('privacy').scrollIntoView()")
    await_preview(page)
    studio.take(page, "plan")
    page.goto(home)
    page.locator("form[action$='/publish'] button.primary").click()
    page.set_viewport_size({"width": 1280, "height": 480})
    studio.take(page, "launch")

    page.set_viewport_size({"width": 1280, "height": 1100})
    page.goto(home)
    Desk(page, studio.language).link("Try it with made-up people").click()
    for name, percent in (("undeclared.yes", 18), ("reason.money", 30), ("reason.asked", 12)):
        page.fill(f"[name='share {name}']", str(percent))
    page.fill("[name='mean hours']", "5")
    page.fill("[name=respondents]", "2000")
    page.locator("main form button.primary").click()
    expect(page.locator("#found")).to_be_visible()
    studio.take(page, "rehearsal")


def workbook(say: Say) -> bytes:
    """A form as others write them."""
    label = say("label::English (en)", "label::Español (es)")
    return sample_xlsforms.form(
        [
            ["type", "name", label, "hint", "constraint"],
            ["start", "start", "", "", ""],
            ["note", "welcome", say("This takes three minutes.", "Son tres minutos."), "", ""],
            ["text", "who", say("What is your name?", "¿Cómo te llamas?"), "", ""],
            ["select_one yn", "smoked", say("Have you ever smoked?", "¿Has fumado alguna vez?"), "", ""],
            [
                "integer",
                "days",
                say("On how many of the last 30 days?", "¿Cuántos de los últimos 30 días?"),
                say("Count today too", "Cuenta también hoy"),
                ". >= 0 and . <= 30",
            ],
            ["date", "began", say("When did you begin?", "¿Cuándo empezaste?"), "", ""],
            ["geopoint", "home", say("Where do you live?", "¿Dónde vives?"), "", ""],
        ],
        settings=[["form_title"], [say("Tobacco and health", "Tabaco y salud")]],
    )


def take_import(studio: Studio, page: Page) -> None:
    """What is not taken from a workbook."""
    page.set_viewport_size(DESK["viewport"])
    page.goto("/manage/surveys/import")
    page.set_input_files("#definition", {"name": "form.xlsx", "mimeType": "", "buffer": workbook(studio.say)})
    page.select_option("select[name=language]", studio.language)
    page.locator("main form button.primary").click()
    expect(page.locator("table.left-out")).to_be_visible()
    studio.take(page, "import")


def main() -> None:
    """Take them all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for language in PREFIX:
            with tempfile.TemporaryDirectory() as folder:
                database_url = f"sqlite:///{Path(folder) / 'guide.sqlite3'}"
                migrate(make_engine(database_url))
                with factories.serving(database_url) as served:
                    studio = Studio(browser, served, language, browser.new_page())
                    page = studio.context(**DESK).new_page()
                    sign_in(page, database_url)
                    respondents(studio, first_survey(studio, Desk(page, language)))
                    plans(studio, page)
                    take_import(studio, page)
                    guide_running.take_all(studio, page)
                    guide_releases.take_all(studio, page)
        browser.close()


if __name__ == "__main__":
    main()
