"""What people do on the pages, told by roles and labels in their own language."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from babel.support import Translations
from playwright.sync_api import Locator, Page, expect

from server.output.formatting import bind_units
from tests.support import factories

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}

CATALOGUES = factories.ROOT / "server" / "translations"

SURVEY = factories.definition(
    introduction="Three questions about exams.",
    title="Exam survey",
    questions=[
        factories.question("copied", "Have you ever copied in an exam?"),
        factories.question("paid", "Have you ever paid someone to write a paper?"),
        factories.question("sat", "Have you ever sat an exam for someone else?"),
    ],
)


def words(language: str) -> Callable[..., str]:
    """The page's texts: `say("Start · {n} questions", n=3)` is that text in this language."""
    translate = Translations.load(Path(CATALOGUES), [language]).gettext

    def say(text: str, **values: object) -> str:
        said = bind_units(translate(text))
        for name, value in values.items():
            said = said.replace(f"{{{name}}}", str(value))
        return said

    return say


class Respondent:
    """Somebody who answers a survey on a page, in a language."""

    def __init__(self, page: Page, slug: str, language: str = "en") -> None:
        self.page = page
        self.slug = slug
        self.say = words(language)

    def open(self, query: str = "") -> "Respondent":
        """Follow the link."""
        self.page.goto(f"/s/{self.slug}{query}")
        return self

    def button(self, text: str, **values: object) -> Locator:
        """The button that says this."""
        return self.page.get_by_role("button", name=self.say(text, **values), exact=True)

    def heading(self, text: str) -> Locator:
        """The screen's heading, if it is this."""
        return self.page.get_by_role("heading", level=1, name=self.say(text), exact=True)

    def answer_text(self, text: str) -> str:
        """What the page calls an answer that the software words: in the survey's language, not in the reader's."""
        language = self.page.locator("#names").get_attribute("lang")
        assert language is not None
        return words(language)(text)

    def radio(self, truth: str) -> Locator:
        """The answer "Yes" or "No"."""
        return self.page.get_by_role("radio", name=self.answer_text(truth), exact=True)

    def start(self, questions: int) -> None:
        """Leave the introduction, read to its end."""
        start = self.button("Start · 1 question" if questions == 1 else "Start · {n} questions", n=questions)
        expect(start).to_be_visible()
        folded = self.page.locator("#about details:not([open]) summary")
        if folded.count():
            folded.click()
        if self.read().count():
            self.read().check()
        start.click()

    def read(self) -> Locator:
        """The box that says that the whole introduction was read; there is none where all of it lies above Start."""
        return self.page.get_by_role("checkbox", name=self.say("I have read all of this"))

    def choose(self, truth: str) -> None:
        """Answer the question on the screen and go on."""
        before = self.page.get_by_role("heading", level=1).inner_text()
        self.radio(truth).check()
        self.button("Next").click()
        expect(self.page.get_by_role("heading", level=1)).not_to_have_text(before)

    def answer(self, *truths: str) -> None:
        """From the introduction to the screen that sends."""
        self.start(len(truths))
        for truth in truths:
            self.choose(truth)
        expect(
            self.heading("Of your answers, only what the coins decided leaves this device")
        ).to_be_visible()

    def send(self) -> None:
        """Send, and wait for the receipt in its words and as a picture."""
        self.button("Send").click()
        expect(self.heading("Sent. Thank you.")).to_be_visible()
        expect(self.page.locator("output")).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
        expect(self.page.locator(".receipt details")).to_be_visible()

    def sent_body(self) -> str:
        """Open what will be sent, and read it."""
        self.page.get_by_text(self.say("See exactly what will be sent")).click()
        shown = self.page.locator("pre")
        expect(shown).not_to_be_empty()
        return shown.inner_text()


def change_language(visit: Respondent, language: str) -> Respondent:
    """Take another language for the screen that is shown; the same person, who reads it."""
    visit.page.locator(".languages summary").click()
    visit.page.locator(f".languages a[lang={language}]").click()
    expect(visit.page.locator(f"html[lang={language}]")).to_be_attached()
    return Respondent(visit.page, visit.slug, language)


def stop_clock(page: Page) -> None:
    """Let the page's time stand still, but for `page.clock.run_for`: the same moment for everybody."""
    page.clock.install(time=0)
    page.clock.pause_at(10_000)


class Desk:
    """A researcher at a page, in a language."""

    def __init__(self, page: Page, language: str = "en") -> None:
        self.page = page
        self.say = words(language)

    def button(self, text: str, **values: object) -> Locator:
        return self.page.get_by_role("button", name=self.say(text, **values), exact=True)

    def link(self, text: str) -> Locator:
        return self.page.get_by_role("link", name=self.say(text), exact=True)

    def field(self, text: str) -> Locator:
        return self.page.get_by_label(self.say(text), exact=True)

    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name=self.say("Strength for each question"))

    def plan(self) -> Locator:
        """What it takes and what it reveals."""
        return self.page.locator("#plan")

    def entry(self, number: int) -> Locator:
        """An entry of the editor, by its number on the page."""
        return self.page.locator(f'.entry[data-place="{number - 1}"]')

    def part(self, number: int, text: str) -> Locator:
        """A field of an entry of the editor."""
        return self.entry(number).get_by_label(self.say(text), exact=True)

    def await_saved(self) -> None:
        """Wait until the editor has kept everything."""
        status = self.page.locator("#status")
        expect(status).to_have_text(self.say("Saved"))
        self.page.wait_for_function(
            "() => document.querySelector('#editor').getAttribute('action').includes('/edit')"
        )

    def add(self, kind: str = "yes_no", wording: str = "") -> None:
        """Add an entry of a kind at the end of the survey in the editor, and write its wording."""
        count = self.page.locator(".entry").count()
        self.page.locator("#added").select_option(kind)
        self.button("Add a question").click()
        expect(self.page.locator(".entry")).to_have_count(count + 1)
        field = self.entry(count + 1).locator("[name$='.text']").first
        expect(field).to_be_focused()
        if wording:
            field.fill(wording)

    @property
    def slug(self) -> str:
        return re.findall(r"/surveys/(\w+)", self.page.url)[0]


def sign_in(page: Page, database_url: str) -> None:
    """Follow a new one-time link and press its button."""
    page.goto(f"/manage/sign-in/{factories.sign_in_secret(database_url)}")
    page.locator("main form button").click()
    page.wait_for_url("**/manage/surveys")


def press_on(page: Page, target: Locator, key: str) -> None:
    """Go to the target with the Tab key, and press another one there."""
    expect(target).to_be_visible()
    # Once around everything that takes the focus: lists grow with every test on the same site. A field for a
    # time has a stop for each of its parts.
    stops = page.locator("a, button, input, select, textarea, summary, iframe, [tabindex]").count()
    stops += 7 * page.locator("input[type=datetime-local], input[type=date], input[type=time]").count()
    for _ in range(stops + 10):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            page.keyboard.press(key)
            return
    raise AssertionError(f"Tab does not reach {target}")
