"""A page translator sends away what it reads: nothing that it may read depends on an answer."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import ANSWERS, CHECK, QUESTIONS
from tests.browser.site_users import PHONE, Respondent
from tests.browser.test_routing import ROUTED
from tests.browser.visit_traces import FIXED_CHANCE
from tests.support import factories

# Reads along like a translator: every text and label that is put into the page and not marked otherwise.
TRANSLATOR = """
const labels = ['title', 'alt', 'placeholder', 'aria-label'];
globalThis.read = [];
const take = (node) => {
  if (node.nodeType === Node.TEXT_NODE) {
    const by = node.parentElement;
    if (node.data.trim() && by?.translate && !by.closest('.notranslate')) read.push(node.data.trim());
  } else if (node.nodeType === Node.ELEMENT_NODE && !['template', 'script'].includes(node.localName)) {
    const said = labels.map((name) => node.getAttribute(name)).filter(Boolean);
    if (node.translate) read.push(...said);
    node.childNodes.forEach(take);
  }
};
const observer = new MutationObserver((records) => {
  for (const { type, target, addedNodes } of records) type === 'childList' ? addedNodes.forEach(take) : take(target);
});
// Of what is parsed, once: where a parser pauses is chance. The page's own code runs after this.
document.addEventListener('readystatechange', () => {
  take(document.documentElement);
  observer.observe(document, { childList: true, characterData: true, subtree: true, attributeFilter: labels });
}, { once: true });
"""


def open_survey(
    open_page: Opener, served: factories.Served, document: question_screens.Document, marked: bool
) -> Respondent:
    """A survey whose coins are fixed, with a translator that reads along; or without our marks."""
    slug = factories.publish(served.database_url, document).slug
    page = open_page(**PHONE)
    page.add_init_script(FIXED_CHANCE % 0)
    page.add_init_script(TRANSLATOR)
    if not marked:
        page.route(re.compile(rf"/s/{slug}(/screens\?.*)?$"), unmark)
    return Respondent(page, slug).open()


def unmark(route: Route) -> None:
    """The page, or its later screens, without marks."""
    answer = route.fetch()
    body = re.sub(r' class="notranslate"| translate="no"', "", answer.text())
    route.fulfill(response=answer, body=body)


def read_along(page: Page) -> list[str]:
    found: list[str] = page.evaluate("read")
    return found


def read_of_kinds(
    open_page: Opener, served: factories.Served, document: question_screens.Document, which: int, marked: bool
) -> list[str]:
    visit = open_survey(open_page, served, document, marked)
    page = visit.page
    question_screens.begin(visit)
    for name, question in QUESTIONS.items():
        if question["kind"] in ("number", "binned_number"):
            page.get_by_role("textbox").fill(f"9{which}.5")
            visit.button("Next").click()
            expect(page.get_by_role("alert")).to_contain_text("does not fit here")
        question_screens.answer(visit, question, ANSWERS[name][which])
    question_screens.enter(visit, CHECK, CHECK["options"][which]["name"])
    question_screens.go_on(visit)
    visit.sent_body()
    visit.send()
    return read_along(page)


@pytest.mark.parametrize("marked", [True, False], ids=["", "without marks"])
def test_a_translator_reads_the_same_whatever_is_answered(
    open_page: Opener, installation: factories.Served, marked: bool
) -> None:
    document = question_screens.survey(*QUESTIONS.values(), CHECK)
    one, other = (read_of_kinds(open_page, installation, document, which, marked) for which in (0, 1))
    assert (one == other) == marked
    assert {question["text"] for question in QUESTIONS.values()} <= set(one), "it reads the questions"


WAYS: list[dict[str, Any]] = [
    {"stole": "no", "hours": 10, "often": "never"},
    {"stole": "yes", "taken": "goods", "often": "always"},
]


def read_on_the_way(
    open_page: Opener, served: factories.Served, answers: dict[str, Any], marked: bool
) -> list[str]:
    visit = open_survey(open_page, served, question_screens.survey(*ROUTED), marked)
    question_screens.begin(visit)
    for question in ROUTED:
        if question["name"] in answers:
            question_screens.answer(visit, question, answers[question["name"]])
    visit.send()
    return read_along(visit.page)


@pytest.mark.parametrize("marked", [True, False], ids=["", "without marks"])
def test_where_answers_decide_the_way_a_translator_reads_nothing_of_it(
    open_page: Opener, installation: factories.Served, marked: bool
) -> None:
    one, other = (read_on_the_way(open_page, installation, answers, marked) for answers in WAYS)
    assert (one == other) == marked
    assert any(entry["text"] in one for entry in ROUTED) != marked


def test_nothing_offers_to_complete_to_correct_or_to_go_on_writing(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS["hours"]))
    question_screens.begin(visit)
    field = visit.page.get_by_role("textbox")
    for name in ("autocomplete", "autocorrect"):
        expect(field).to_have_attribute(name, "off")
    for name in ("spellcheck", "writingsuggestions"):
        expect(field).to_have_attribute(name, "false")
    expect(visit.page.locator("main form")).to_have_attribute("autocomplete", "off")
