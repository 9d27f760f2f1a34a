"""Pictures for the guides of a study that runs: its links, times, invitations and versions, and what becomes of it."""

import tempfile
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import typst
from playwright.sync_api import Page, expect

from server.collect import response_codes
from server.people import survey_access
from server.store.engines import make_engine, migrate
from tests.browser.site_users import DESK, Desk, sign_in
from tests.pictures import guide_accounts, guide_results
from tests.pictures.studio import Studio, survey
from tests.support import factories

ON_PAPER = b"""#set page(width: 210mm, height: 119mm, margin: 0pt)
#place(top + left, image("cards.pdf", width: 210mm, height: 297mm))"""
"""The upper two rows of cards."""


def take_all(studio: Studio, page: Page) -> None:
    """From the links of a study to its new home; somebody is signed in on the page."""
    document = survey(
        studio, *guide_results.ASKED, budget=4.4, plan={"respondents": guide_results.PLANNED, "margin": 0.05}
    )
    slug = factories.draft(studio.served.database_url, document)
    home = f"/manage/surveys/{slug}"
    desk = Desk(page, studio.language)
    links(studio, desk, home)
    page.goto(home)
    page.locator("form[action$='/publish'] button.primary").click()
    expect(page.locator("#link")).to_be_visible()
    times(studio, desk, slug)
    take_invitations(studio, desk)
    guide_accounts.take_all(studio, desk, home)
    guide_results.take_all(studio, page, slug)
    again(studio, desk, slug)
    take_keeping(studio, desk, slug)


def links(studio: Studio, desk: Desk, home: str) -> None:
    """Strata, their links, and a sheet of QR codes."""
    page = desk.page
    page.goto(f"{home}/strata")
    paths = [(studio.say(*path), people) for path, people, _ in guide_results.STRATA]
    page.locator("#lines").fill("\n".join(f"{path}, {people}" for path, people in paths))
    desk.button("Add").click()
    expect(page.get_by_role("status")).to_be_visible()
    page.goto(f"{home}/strata")
    page.locator("form.strata").evaluate(
        "form => form.querySelectorAll('details:not(.more)').forEach((each) => { each.open = true; })"
    )
    studio.take(page, "strata", 1890)
    desk.link("Back to the links").click()
    studio.take(page, "links", 1400)
    desk.link("Sheet of QR codes to print").click()
    studio.take(page, "sheet", 1110)


def times(studio: Studio, desk: Desk, slug: str) -> None:
    """When a survey opens and closes, and what people read before and during a pause."""
    page, today = desk.page, date.today()  # noqa: DTZ011 - as the clock on the wall
    page.goto(f"/manage/surveys/{slug}/schedule")
    desk.field("Time zone").select_option("Europe/Madrid")
    desk.field("Opening time").fill(f"{today + timedelta(days=3)}T09:00")
    desk.field("Closing time").fill(f"{today + timedelta(days=31)}T20:00")
    desk.field("Maximum number of responses").fill("8000")
    desk.button("Save").click()
    expect(page.get_by_role("status")).to_be_visible()
    studio.take(page, "schedule", 1440)
    studio.take(studio.phone(slug).page, "early")
    desk.field("Opening time").fill("")
    desk.button("Save").click()
    expect(page.get_by_role("status")).to_be_visible()
    page.locator("details.danger summary").click()
    desk.button("Pause it now").click()
    expect(desk.button("Take responses again")).to_be_visible()
    studio.take(studio.phone(slug).page, "paused")
    desk.button("Take responses again").click()
    expect(page.get_by_role("status")).to_be_visible()


def take_invitations(studio: Studio, desk: Desk) -> None:
    """Codes as they are issued, the list of batches, and three people who come with a code."""
    page, database_url = desk.page, studio.served.database_url
    asks = studio.say(
        "The Institute for Work Research asks how common undeclared work is, not who does it.",
        "El Instituto de Estudios del Trabajo pregunta cuán frecuente es el trabajo sin declarar, no quién lo hace.",
    )
    document = survey(studio, "undeclared", "reason", budget=2.2, introduction=asks)
    published = factories.publish(database_url, document, minimum=10)
    factories.plant(database_url, published.slug, studio.say("Harbour\nOld town", "Puerto\nCasco antiguo"))
    factories.settle(database_url, published.slug, by_invitation=True)
    home = f"/manage/surveys/{published.slug}/invitations"
    by_letter = issue_codes(desk, home, 400, studio.say("By letter, October", "Por carta, octubre"))
    spend(studio, published.slug, by_letter[:187])
    issue_codes(
        desk, home, 150, studio.say("At the meeting", "En la reunión"), studio.say("Harbour", "Puerto")
    )
    studio.take(page, "issued", 690)
    with page.expect_download() as download:
        desk.button("Download cards to print (PDF)").click()
    studio.keep(draw_cards(Path(download.value.path())), "cards")
    page.goto(home)
    studio.take(page, "invitations", 1270)

    lost, fresh = by_letter[300], by_letter[200]
    for name, link, part in (
        ("invited", f"{published.slug}#{plain(fresh)}", "code.whole"),
        ("asked", published.slug, "#code"),
    ):
        visit = studio.phone(link)
        visit.page.locator(part).evaluate("element => element.scrollIntoView({ block: 'center' })")
        studio.take(visit.page, name)
    visit = studio.phone(f"{published.slug}#{plain(lost)}")
    visit.start(2)
    visit.choose("Yes")
    visit.page.get_by_role("radio").first.check()
    visit.button("Next").click()
    spend(studio, published.slug, [lost])
    visit.button("Send").click()
    expect(visit.heading("The code was not accepted")).to_be_visible()
    studio.take(visit.page, "refused")


def issue_codes(desk: Desk, home: str, size: int, label: str, stratum: str = "") -> list[str]:
    """Issue codes on the page, and stay where they are shown."""
    desk.page.goto(home)
    desk.field("How many").fill(str(size))
    desk.field("Name of the batch").fill(label)
    if stratum:
        desk.field("For the link of").select_option(label=stratum)
    desk.button("Issue the codes").click()
    return desk.page.locator("#codes").input_value().split()


def spend(studio: Studio, slug: str, codes: Sequence[str]) -> None:
    """Let codes be used."""
    with factories.writing(studio.served.database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        response_codes.spend(session.connection(), [(survey.id, plain(code)) for code in codes])


def plain(code: str) -> str:
    return code.replace("-", "")


def draw_cards(pdf: Path) -> bytes:
    """The cards of the file that was downloaded, as a picture."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "cards.pdf").write_bytes(pdf.read_bytes())
        source = Path(folder) / "picture.typ"
        source.write_bytes(ON_PAPER)
        picture: bytes = typst.compile(str(source), format="png", ppi=110)
    return picture


def again(studio: Studio, desk: Desk, slug: str) -> None:
    """The draft of a second version."""
    asked = [name for name in guide_results.ASKED if name != "control"]
    improved = survey(studio, *asked, "boxes", budget=4.4)
    factories.save(studio.served.database_url, slug, improved)
    desk.page.goto(f"/manage/surveys/{slug}")
    studio.take(desk.page, "version", 1110)


def take_keeping(studio: Studio, desk: Desk, slug: str) -> None:
    """The end of a study, and its new home."""
    page = desk.page
    page.goto(f"/manage/surveys/{slug}")
    page.locator("details.danger summary").click()
    desk.button("Close it now").click()
    page.goto(f"/manage/surveys/{slug}/keeping")
    with page.expect_download() as download:
        desk.button("Export everything").click()
    page.locator("details.danger summary").click()
    page.evaluate("scrollTo(0, 0)")
    studio.take(page, "keeping", 1640)
    page.goto(f"/manage/surveys/{slug}/log")
    studio.take(page, "log", 760)
    with tempfile.TemporaryDirectory() as folder:
        database_url = f"sqlite:///{Path(folder) / 'elsewhere.sqlite3'}"
        migrate(make_engine(database_url))
        with factories.serving(database_url) as elsewhere:
            there = studio.context(**DESK, base_url=elsewhere.url).new_page()
            sign_in(there, database_url)
            there.goto("/manage/surveys/import")
            content = Path(download.value.path()).read_bytes()
            there.set_input_files(
                "#definition", {"name": f"{slug}.zip", "mimeType": "application/zip", "buffer": content}
            )
            there.locator("main form button.primary").click()
            expect(there.get_by_role("link", name=desk.say("Open the survey"))).to_be_visible()
            studio.take(there, "moved", 400)
            there.context.close()
