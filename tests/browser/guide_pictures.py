"""Take the pictures of the guides, in both languages: `python -m tests.browser.guide_pictures`, by `make screenshots`.

Every picture is of the real site in a real browser; the people behind results are made up, and the pages say so.
"""

import base64
import struct
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from server import surveys
from server.db import make_engine, migrate
from server.simulation import Assumptions, simulate
from tests import factories, xlsforms
from tests.browser.chromium import launch
from tests.browser.people import DESK, PHONE, Desk, Respondent, sign_in

IMAGES = factories.ROOT / "docs" / "images"
MOST_BYTES = 120_000
PREFIX = {"en": "guide", "es": "guia"}
RESPONDENTS = 3_000

Document = dict[str, Any]
Say = Callable[[str, str], str]

PIXELS = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = '';
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


@dataclass(frozen=True)
class Studio:
    """Takes pictures of a server in a language."""

    browser: Browser
    served: factories.Served
    language: str
    blank: Page

    def say(self, english: str, spanish: str) -> str:
        """One of two wordings."""
        return spanish if self.language == "es" else english

    def context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(
            **{"base_url": self.served.url, "locale": self.language, **options}
        )
        context.set_default_timeout(20_000)
        return context

    def phone(self, slug: str, **options: Any) -> Respondent:
        """Somebody who opens a survey on a phone."""
        page = self.context(**PHONE, device_scale_factor=1.5, **options).new_page()
        return Respondent(page, slug, self.language).open()

    def take(self, page: Page, name: str) -> None:
        """One picture, without a pointer over anything."""
        page.mouse.move(0, 0)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.fonts.ready")
        path = IMAGES / f"{PREFIX[self.language]}-{name}.png"
        picture = with_palette(self.blank, page.screenshot(animations="disabled"))
        path.write_bytes(picture)
        print(f"{path.relative_to(factories.ROOT)}: {len(picture):,} bytes")
        assert len(picture) <= MOST_BYTES, f"{name} should have at most {MOST_BYTES:,} bytes"


def with_palette(page: Page, png: bytes) -> bytes:
    """The same picture with at most 256 colours: a fraction of its size, and nobody sees a difference."""
    width, height, text = page.evaluate(PIXELS, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3].astype(np.uint32)
    colours = pixels @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    for kept in (0xFFFFFF, 0xFCFCFC, 0xF8F8F8, 0xF0F0F0, 0xE0E0E0):
        groups, codes = np.unique(colours & kept, return_inverse=True)
        if len(groups) <= 256:
            break
    # A group is shown as its most frequent colour, so that papers and inks stay exactly what they are.
    distinct, first, counts = np.unique(colours, return_index=True, return_counts=True)
    palette = np.zeros(len(groups), np.uint32)
    for place in np.argsort(counts):
        palette[codes[first[place]]] = distinct[place]
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = codes.reshape(height, width)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(int(colour).to_bytes(3, "big") for colour in palette)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def questions(say: Say) -> dict[str, Document]:
    """Of a made-up survey about extra jobs, by name."""

    def options(*named: tuple[str, str, str]) -> list[Document]:
        return [{"name": name, "text": say(english, spanish)} for name, english, spanish in named]

    undeclared = {
        "kind": "yes_no",
        "text": say(
            "In the last 12 months, have you done paid work that was not declared?",
            "En los últimos 12 meses, ¿has hecho algún trabajo pagado sin declararlo?",
        ),
        "design": {"mechanism": "coin_flip"},
    }
    reason = {
        "kind": "select_one",
        "text": say(
            "Why did you take up your last extra job?", "¿Por qué aceptaste tu último trabajo extra?"
        ),
        "options": options(
            ("money", "I needed the money", "Necesitaba el dinero"),
            ("asked", "Somebody asked me to", "Alguien me lo pidió"),
            ("none", "I had no extra job", "No tuve ningún trabajo extra"),
        ),
        "prefer_not_to_say": True,
        "design": {"mechanism": "best_choice"},
    }
    boxes = {
        "kind": "select_multiple",
        "text": say(
            "Which of these have you done for pay without declaring it?",
            "¿Qué has hecho a cambio de dinero sin declararlo?",
        ),
        "options": options(
            ("repairs", "Repairs or building", "Reparaciones u obras"),
            ("care", "Cleaning or care", "Limpieza o cuidados"),
            ("lessons", "Lessons or translations", "Clases o traducciones"),
        ),
        "design": {"mechanism": "coin_flip"},
    }
    hours = {
        "kind": "number",
        "text": say(
            "How many hours did you work in extra jobs last week?",
            "¿Cuántas horas dedicaste la semana pasada a trabajos extra?",
        ),
        **{"low": 0, "high": 40, "step": 1, "unit": say("hours", "horas")},
        "design": {"mechanism": "stochastic_rounding"},
    }
    control = {
        "kind": "yes_no",
        "text": say("Have you worked on 30 February?", "¿Has trabajado el 30 de febrero?"),
        "control": True,
        "design": {"mechanism": "coin_flip"},
    }
    named = {"undeclared": undeclared, "reason": reason, "boxes": boxes, "hours": hours, "control": control}
    return {name: {"name": name, **question} for name, question in named.items()}


def survey(studio: Studio, *names: str, budget: float, **more: Any) -> Document:
    """A definition with these questions."""
    asked = questions(studio.say)
    title = studio.say("Extra jobs", "Trabajos extra")
    entries = [asked[name] for name in names]
    return factories.definition(
        language=studio.language, title=title, questions=entries, budget=budget, **more
    )


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
    desk.saved()
    desk.entry(2).locator("summary").first.click()
    page.evaluate("document.querySelector('[data-place=\"0\"]').scrollIntoView()")
    previewed(page)
    studio.take(page, "editor")
    desk.link("Overview").click()
    page.locator("form[action$='/publish'] button.primary").click()
    expect(page.locator("#link")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 480})
    studio.take(page, "share")
    page.set_viewport_size(DESK["viewport"])
    return desk.slug


def previewed(page: Page) -> None:
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
    page.evaluate("document.querySelector('label[for=slider]').scrollIntoView()")
    previewed(page)
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
    return xlsforms.form(
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


def imported(studio: Studio, page: Page) -> None:
    """What is not taken from a workbook."""
    page.set_viewport_size(DESK["viewport"])
    page.goto("/manage/surveys/import")
    page.set_input_files("#definition", {"name": "form.xlsx", "mimeType": "", "buffer": workbook(studio.say)})
    page.select_option("select[name=language]", studio.language)
    page.locator("main form button.primary").click()
    expect(page.locator("table.left-out")).to_be_visible()
    studio.take(page, "import")


def results(studio: Studio, page: Page) -> None:
    """Of a survey whose respondents are simulated."""
    definition = survey(studio, "undeclared", "reason", "hours", "control", budget=4.4)
    slug = factories.publish(studio.served.database_url, definition).slug
    shares = {"undeclared": 0.18, "reason.money": 0.3, "reason.asked": 0.12, "reason.prefer_not_to_say": 0.05}
    with factories.writing(studio.served.database_url) as session:
        found = surveys.find(session, slug)
        assert found is not None
        for _ in simulate(session, found, RESPONDENTS, Assumptions(shares, {"hours": 5})):
            pass
    page.set_viewport_size({"width": 1280, "height": 1240})
    page.goto(f"/manage/surveys/{slug}/results")
    expect(page.locator("table.estimates")).to_be_visible()
    studio.take(page, "results")


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
                    imported(studio, page)
                    results(studio, page)
        browser.close()


if __name__ == "__main__":
    main()
