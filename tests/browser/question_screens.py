"""A question of every kind, and what a respondent does on its screen."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from server.study.kinds import KINDS
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, Respondent
from tests.support import every_kind, factories

Document = dict[str, Any]


def options(*texts: str) -> list[dict[str, str]]:
    return [{"name": text.lower().replace(" ", "_"), "text": text} for text in texts]


def make_question(name: str, kind: str, text: str, mechanism: str, **more: Any) -> Document:
    """A question; what belongs to its design is given as `design`."""
    chances = more.pop("design", {"epsilon": 1.5})
    return {"name": name, "kind": kind, "text": text, "design": {"mechanism": mechanism, **chances}, **more}


PILLS = options("Alcohol", "Cannabis", "Sleeping pills")
OFTEN = options("Never", "Sometimes", "Often", "Always")
TAKEN = options("Money", "Goods", "Time")
HOURS = {"low": 0, "high": 60, "step": 0.5, "unit": "hours"}
AGES = {"low": 16, "high": 99, "step": 1, "unit": "years", "cuts": [25, 50, 65]}
DEVICE = "Were you born in spring?"

OTHERS = {kind.name: list(every_kind.declared_of(kind)) for kind in every_kind.other_kinds()}
"""The answers to questions of kinds of which none is written here."""

QUESTIONS: dict[str, Document] = {
    question["name"]: question
    for question in (
        make_question("stole", "yes_no", "Have you ever taken something from work?", "coin_flip",
            design={"gamma": 0.25}),
        make_question("fired", "yes_no", "Have you ever been fired?", "k_ary", prefer_not_to_say=True),
        make_question("taken", "select_one", "What did you take last?", "k_ary", options=TAKEN),
        make_question("boxed", "select_one", "What did you see others take?", "unary", options=TAKEN),
        make_question("often", "scale", "How often are you late?", "ordinal", options=OFTEN),
        make_question("pills", "select_multiple", "Which of these did you use?", "coin_flip", options=PILLS),
        make_question("any", "select_multiple", "Which of these at work?", "coin_flip", options=PILLS,
            prefer_not_to_say=True),
        make_question("hours", "number", "How many hours do you work for cash?", "stochastic_rounding", **HOURS),
        make_question("cash", "number", "And last week?", "stochastic_rounding", **HOURS, prefer_not_to_say=True),
        make_question("age", "binned_number", "How old are you?", "k_ary", **AGES),
        make_question("began", "binned_number", "How old were you then?", "symmetric_unary", **AGES),
        make_question("asis", "yes_no", "Asked as it is?", "warner", design={"truth": 0.7}),
        make_question("told", "yes_no", "Told what to say?", "forced_response", design={"truth": 0.75, "yes": 0.125}),
        make_question(
            "spare",
            "yes_no",
            "Asked something else?",
            "unrelated_question",
            design={"truth": 0.6, "prevalence": 0.25, "innocuous": DEVICE},
        ),
        make_question("cards", "yes_no", "A card?", "kuk", design={"if_yes": 0.8, "if_no": 0.3}),
        make_question("cross", "yes_no", "The same?", "crosswise", design={"prevalence": 0.25, "innocuous": DEVICE}),
        *(every_kind.example_of(kind) for kind in every_kind.other_kinds()),
    )
}  # fmt: skip

ANSWERS: dict[str, tuple[Any, Any]] = {
    "stole": ("yes", "no"),
    "fired": ("no", "prefer_not_to_say"),
    "taken": ("money", "time"),
    "boxed": ("goods", "time"),
    "often": ("never", "always"),
    "pills": (["alcohol", "sleeping_pills"], []),
    "any": (["prefer_not_to_say"], ["cannabis"]),
    "hours": (0.5, 60),
    "cash": ("prefer_not_to_say", 17.5),
    "age": (16, 64),
    "began": (99, 25),
    "asis": ("yes", "no"),
    "told": ("yes", "no"),
    "spare": ("yes", "no"),
    "cards": ("yes", "no"),
    "cross": ("yes", "no"),
    **{name: (names[0], names[-1]) for name, names in OTHERS.items()},
}
"""Two answers to each, as different as they can be."""

CHECK: Document = {
    "name": "understood",
    "kind": "check",
    "text": "Who can tell which answer you entered?",
    "options": options("The researcher", "Nobody"),
    "correct": "nobody",
    "feedback": "Every answer passes a **coin** on this device.",
}
TEXT: Document = {"name": "hello", "kind": "text", "text": "This takes **three minutes**.\n\n- one\n- two"}


def survey(*entries: Document, **changes: Any) -> Document:
    """A definition of these entries."""
    return factories.definition(questions=list(entries), title="Work and health", **changes)


def everything(**changes: Any) -> Document:
    """A definition with all questions, a text, a section and a check."""
    section = {"name": "part", "kind": "section", "text": "About your work", "body": "The *first* part."}
    return survey(TEXT, section, *QUESTIONS.values(), CHECK, **changes)


def option(visit: Respondent, question: Document, name: str) -> str:
    """What the page calls an answer."""
    fixed = (
        KINDS[question["kind"]].fixed if question["kind"] in KINDS else {}
    )  # a check is no kind of question
    ours = {**fixed, "prefer_not_to_say": "Prefer not to say", "": "None of these"}
    texts = {entry["name"]: entry["text"] for entry in question.get("options", ())}
    return texts.get(name) or visit.answer_text(ours[name])


def enter(visit: Respondent, question: Document, answer: Any) -> None:
    """Answer the question on the screen; stay there."""
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(question["text"])
    if isinstance(answer, int | float):
        visit.page.get_by_role("textbox").fill(str(answer))
    elif question["kind"] in ("number", "select_multiple"):
        for box in visit.page.get_by_role("checkbox").all():
            box.uncheck()
        for name in [answer] if isinstance(answer, str) else answer or [""]:
            visit.page.get_by_role("checkbox", name=option(visit, question, name), exact=True).check()
    else:
        visit.page.get_by_role("radio", name=option(visit, question, answer), exact=True).check()


def go_on(visit: Respondent) -> None:
    """Leave the screen, and wait for the next one."""
    before = visit.page.locator("main h1").element_handle()
    visit.button("Next").click()
    visit.page.wait_for_function("before => !before.isConnected", arg=before)


def answer(visit: Respondent, question: Document, given: Any) -> None:
    """Answer the question on the screen and go on."""
    enter(visit, question, given)
    go_on(visit)


def begin(visit: Respondent) -> None:
    """Leave the introduction."""
    visit.page.locator("main .primary").click()
    expect(visit.page.locator("main progress")).to_be_visible()


REVIEW = "Of your answers, only what the coins decided leaves this device"
"""The heading of the screen that sends."""


def open_survey(
    open_page: Opener, served: factories.Served, document: Document, language: str = "en", **look: Any
) -> Respondent:
    """A published survey, opened on a phone or as told."""
    slug = factories.publish(served.database_url, {**document, "language": language}).slug
    page = open_page(**{**PHONE, "locale": language, **look})
    return Respondent(page, slug, language).open()


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def sent_reports(visit: Respondent, served: factories.Served) -> list[int]:
    """Send, and read from the database what has arrived."""
    shown = json.loads(visit.sent_body())
    visit.send()
    rows = [
        row for row in factories.list_responses(served.database_url) if row[0] == factories.stored_id(shown)
    ]
    assert [row[2] for row in rows] == [bytes(shown["reports"])]
    reports: list[int] = shown["reports"]
    return reports
