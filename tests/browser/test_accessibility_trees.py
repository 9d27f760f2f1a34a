"""What a screen reader is given of each respondent's screen, as text, in two languages: as it was read and found good.

The texts are in `accessibility_trees/`, two files a language, to be read from top to bottom: a survey from its first
screen to its last, and every other state (`respondent_scenes.py`). Where a screen is changed
on purpose, `MONEDA_WRITE_TREES=1` writes them anew; whoever does it reads them.
"""

import os
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.respondent_scenes import COMPLAINTS, SCENES
from tests.browser.site_users import PHONE, Respondent
from tests.support import factories

FOLDER = Path(__file__).parent / "accessibility_trees"
CHANGING = (
    (re.compile(r"(?<=status: )(?:\w+ ){11}\w+$", re.MULTILINE), "<receipt>"),
    (re.compile(r"/[a-z]/[a-z0-9]{12}(?=[/?\"\n]|$)", re.MULTILINE), "/<link>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<site>"),
    (re.compile(r"(?<=(?:receipt|robante)\": )(?:\w+ ){11}\w+$", re.MULTILINE), "<receipt>"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2,4}\b"), "<code>"),
    (re.compile(r"[0-9a-f]{64}"), "<fingerprint>"),
    # Where every try fails, one of these until the next.
    (
        re.compile(
            r"(?<=status: )(Sending…|The connection is poor\..*|Enviando…|La conexión es .*)$", re.MULTILINE
        ),
        "<trying>",
    ),
)
"""What differs from one survey, server or visit to the next."""


def document(language: str) -> dict[str, object]:
    """A question of each form that an answer can have."""
    titles = {"en": ("Exam survey", "Four questions about exams."), "es": ("Encuesta", "Cuatro preguntas.")}
    title, introduction = titles[language]
    asked = {
        "en": ("Have you copied?", "What was the reason?", "What did you use?", "How many hours?"),
        "es": ("¿Has copiado?", "¿Cuál fue el motivo?", "¿Qué usaste?", "¿Cuántas horas?"),
    }[language]
    words = {"en": ("No time", "Too hard"), "es": ("Sin tiempo", "Muy difícil")}[language]
    options = [{"name": f"reason_{place}", "text": text} for place, text in enumerate(words)]
    design = {"epsilon": 1.5}
    return factories.definition(
        title=title,
        introduction=introduction,
        language=language,
        questions=[
            factories.question("copied", asked[0]),
            {
                "name": "reason",
                "kind": "select_one",
                "text": asked[1],
                "options": options,
                "prefer_not_to_say": True,
                "design": {"mechanism": "k_ary", **design},
            },
            {
                "name": "used",
                "kind": "select_multiple",
                "text": asked[2],
                "options": options,
                "design": {"mechanism": "coin_flip", **design},
            },
            {
                "name": "hours",
                "kind": "number",
                "text": asked[3],
                "low": 0,
                "high": 40,
                "step": 1,
                "unit": "h",
                "design": {"mechanism": "stochastic_rounding", **design},
            },
        ],
    )


def read_tree(page: Page) -> str:
    """The page as roles, names and states, once it has come to rest; without what differs from visit to visit."""
    before, tree = "", _read_at_once(page)
    while tree != before:  # what is filled in by and by, as the state of a survey, is not read halfway
        page.wait_for_timeout(150)
        before, tree = tree, _read_at_once(page)
    return tree


def _read_at_once(page: Page) -> str:
    tree = page.locator("body").aria_snapshot()
    for pattern, name in CHANGING:
        tree = pattern.sub(name, tree)
    return tree


def walk(page: Page, database_url: str, language: str) -> Iterator[tuple[str, str]]:
    """Every screen that a respondent comes to, in their order, and what stands in its tree."""
    survey = factories.publish(database_url, document(language))
    visit = Respondent(page, survey.slug, language).open()
    expect(visit.button("Start · {n} questions", n=4)).to_be_visible()
    yield "introduction", read_tree(page)
    visit.start(4)
    for number in range(1, 5):
        expect(visit.button("Next")).to_be_visible()
        yield f"question {number}", read_tree(page)
        before = page.locator("main h1").element_handle()
        field = (
            page.get_by_role("radio").or_(page.get_by_role("checkbox")).or_(page.get_by_role("textbox")).first
        )
        if field.get_attribute("type") in ("radio", "checkbox"):
            field.check()
        else:
            visit.button("Next").click()
            expect(page.get_by_role("alert")).not_to_be_empty()
            yield f"question {number}, passed over", read_tree(page)
            field.fill("7")
        visit.button("Next").click()
        page.wait_for_function("before => !before.isConnected", arg=before)
    yield "what will be sent", read_tree(page)
    visit.send()
    yield "sent", read_tree(page)
    visit.open()
    expect(page.locator("main h1")).to_be_visible()
    yield "answered already", read_tree(page)
    factories.close(database_url, survey.slug)
    for name, slug in (("closed", survey.slug), ("no such survey", "bcdfghjkmnpq")):
        page.context.clear_cookies()
        page.goto(f"/s/{slug}?lang={language}")
        yield name, read_tree(page)


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_a_screen_reader_is_given(
    open_page: Opener, installation: factories.Served, language: str
) -> None:
    page = open_page(**{**PHONE, "locale": language})
    open_page.watch(page).allow("Failed to load resource")
    found = "".join(
        f"# {name}\n\n{tree}\n\n" for name, tree in walk(page, installation.database_url, language)
    )
    compare(found, FOLDER / f"{language}.txt")


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_a_screen_reader_is_given_in_every_other_state(
    open_page: Opener, installation: factories.Served, language: str
) -> None:
    page = open_page(**{**PHONE, "locale": language})
    open_page.watch(page).allow(COMPLAINTS)
    found = "".join(
        f"# {name}\n\n{read_tree(page)}\n\n"
        for scene in SCENES
        for name in scene(page, installation, language)
    )
    compare(found, FOLDER / f"{language}-more.txt")


def compare(found: str, file: Path) -> None:
    """Hold what was read to what is written down, or write it."""
    if os.environ.get("MONEDA_WRITE_TREES"):
        file.write_text(found, "utf-8")
    both = (text.splitlines() for text in (file.read_text("utf-8"), found))
    assert list(unified_diff(*both, lineterm="", n=0)) == []
