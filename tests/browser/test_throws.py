"""Coins, dice and discs of the respondent's own: every throw counted, and on the wire like the browser's coins."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import question_screens
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.recorder import Recorder, recording
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.browser.visit_traces import (
    COINS,
    Leak,
    Traces,
    differences,
    record_visit,
    rewritten,
    without_integrity,
)
from tests.support import factories

TOTAL = 2**32
FACES = {"coin": ("heads", "tails"), "die": "123456", "disc": "0123456789"}
GAMMAS = ("0.25", "0.125", "0.375", "0.2", "0.49", "0.333")
OPTIONS = ("money", "time", "fun", "other")
FOUR = {
    "name": "why",
    "kind": "select_one",
    "text": "Why did you?",
    "options": [{"name": name, "text": name.title()} for name in OPTIONS],
    "design": {"mechanism": "k_ary"},
}
THREE = {**factories.question("sat"), "prefer_not_to_say": True, "design": {"mechanism": "k_ary"}}
DOCUMENT = factories.definition(
    format=2,
    strength={"gamma": 0.25},
    questions=[
        *(factories.question(f"q{k}", f"Question {k}?", float(gamma)) for k, gamma in enumerate(GAMMAS)),
        FOUR,
        THREE,
    ],
)
PLANS = [
    ("coin", 2),
    ("coin", 3),
    ("coin", 3),
    ("disc", 1),
    ("disc", 2),
    ("disc", 3),
    ("die", 1),
    ("disc", 1),
]
"""What the questions of DOCUMENT are thrown with, and how often."""

TABLE = """() => [...document.querySelectorAll('.throws tbody tr')].map(({ cells: [seen, record] }) => [
  [...seen.children].map((line) => [...line.children].map(({ textContent }) => textContent)),
  seen.textContent, record.textContent,
])"""

Shares = dict[str, dict[str, Fraction]]


class Thrower(Respondent):
    """Somebody who trusts no machine."""

    def take_coins(self) -> "Thrower":
        """Choose on the first screen to throw."""
        self.page.get_by_text(self.say("Trust no machine? Throw your own coins")).click()
        self.page.get_by_role("checkbox", name=self.say("I throw my own"), exact=True).check()
        return self

    def throw(self) -> None:
        """From the throw to the table."""
        self.button("I have thrown").click()
        expect(self.page.locator(".throws")).to_be_visible()

    def read_table(self, device: str, times: int) -> Shares:
        """Throw everything that can be thrown, and do each time, for each true answer, what the table says."""
        rows = self.page.evaluate(TABLE)
        records = self.page.locator(".option").all_inner_texts()
        shares = {truth: dict.fromkeys(records, Fraction()) for truth in records}
        outcomes = list(product(FACES[device], repeat=times))
        for outcome in outcomes:
            (record,) = (tap for lines, text, tap in rows if shows(lines, text, outcome))
            for truth in records:
                said = truth if record == self.say("your own answer") else record
                shares[truth][said] += Fraction(1, len(outcomes))
        return shares

    def record(self, text: str) -> None:
        """Tap it and go on."""
        self.page.get_by_role("radio", name=text, exact=True).check()
        question_screens.go_on(self)


def shows(lines: list[list[str]], text: str, outcome: tuple[str, ...]) -> bool:
    """Whether a row of the table is about an outcome: its coins one by one, or a span of numbers."""
    if lines:
        return any(
            all(seen in (face, "either") for face, seen in zip(outcome, line, strict=True)) for line in lines
        )
    low, _, high = text.partition(" to ")
    return int(low) <= int("".join(outcome)) <= int(high or low)


def open_survey(open_page: Opener, served: factories.Served, document: dict[str, Any]) -> Thrower:
    page = open_page(**PHONE)
    visit = Thrower(page, factories.publish(served.database_url, document).slug).open()
    assert isinstance(visit, Thrower)
    return visit


def tables(visit: Thrower) -> list[Shares]:
    """What each question's table throws; every question is recorded as its first answer."""
    visit.take_coins().start(len(PLANS))
    found = []
    for plan in PLANS:
        visit.throw()
        found.append(visit.read_table(*plan))
        visit.page.get_by_role("radio").first.check()
        question_screens.go_on(visit)
    return found


def list_stated() -> list[Shares]:
    """What the definition states of each question, as it is written there."""
    found = []
    for gamma in GAMMAS:
        truth = Fraction(1, 2) + Fraction(gamma)
        found.append({"Yes": {"Yes": truth, "No": 1 - truth}, "No": {"Yes": 1 - truth, "No": truth}})
    # gamma 1/4 is a loss of ln 3: the answer is three times as likely as each other one.
    for answers in ([name.title() for name in OPTIONS], ["Yes", "No", "Prefer not to say"]):
        whole = len(answers) + 2
        found.append({x: {y: Fraction(3 if x == y else 1, whole) for y in answers} for x in answers})
    return found


def read_weights(visit: Thrower) -> list[list[list[int]]]:
    """The weights of each question, its answers in their order."""
    body = visit.page.evaluate(
        "async () => (await fetch(document.querySelector('main').dataset.definition)).json()"
    )
    return [entry["designs"][0]["weights"] for entry in body["definition"]["questions"]]


def test_every_throw_counted_gives_the_published_shares(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = open_survey(open_page, installation, DOCUMENT)
    weights = read_weights(visit)
    found = tables(visit)
    assert found == list_stated()
    for shares, rows, (device, _) in zip(found, weights, PLANS, strict=True):
        names = [name for name in ("No", "Yes") if name in shares]
        names += [name for name in shares if name not in names]
        for truth, row in zip(names, rows, strict=True):
            for report, weight in zip(names, row, strict=True):
                # Published weights are whole numbers, each less than one for each answer away.
                assert abs(shares[truth][report] * TOTAL - weight) < (1 if device == "coin" else len(row))


SWAPPED = ("throws.js", "const record = row ?", "row = (row + 1) % 3; const record = row ?")
OPPOSITE = ("throws.js", "make('td', {}, words().own)", "make('td', {}, textOf(question, order[0]))")


@pytest.mark.parametrize("twin", [SWAPPED, OPPOSITE], ids=["outcomes swapped", "own answer replaced"])
def test_a_table_that_throws_something_else_is_caught(
    open_page: Opener, installation: factories.Served, twin: tuple[str, str, str]
) -> None:
    page = open_page(**PHONE)
    slug = factories.publish(installation.database_url, factories.definition(gammas=[0.25])).slug
    without_integrity(page, slug)
    rewritten(page, [twin])
    visit = Thrower(page, slug)
    visit.open()
    visit.take_coins().start(1)
    visit.throw()
    assert visit.read_table("coin", 2) != list_stated()[0]


def test_a_plan_that_does_not_throw_the_published_design_is_not_offered(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**PHONE)
    slug = factories.publish(installation.database_url, factories.definition(gammas=[0.25])).slug

    def change_plan(page_text: str) -> str:
        assert page_text.count("&#34;own&#34;: 2") == 1
        return page_text.replace("&#34;own&#34;: 2", "&#34;own&#34;: 4")

    page.route(
        f"**/s/{slug}/screens*",
        lambda route: (
            (answer := route.fetch()) and route.fulfill(response=answer, body=change_plan(answer.text()))
        ),
    )
    with page.expect_response("**/respondent_throws.js"):
        visit = Thrower(page, slug).open()
    visit.start(1)
    expect(visit.radio("Yes")).to_be_visible()
    visit.button("Back").click()
    expect(page.locator("#by-hand")).to_be_empty()


RECORDS = ["Yes", "No", "Yes"]


def test_what_was_tapped_is_stored_and_nobody_is_asked_to_throw_twice(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = open_survey(open_page, installation, SURVEY)
    visit.take_coins().start(3)
    visit.throw()
    visit.button("Next").click()
    expect(visit.page.get_by_role("alert")).to_have_text("Tap what the table says to go on.")
    visit.record("No")
    visit.button("Back").click()
    # A slip may be mended; the throw stays as it is.
    expect(visit.radio("No")).to_be_checked()
    visit.record(RECORDS[0])
    for record in RECORDS[1:]:
        visit.throw()
        visit.button("Back").click()
        expect(visit.page.locator(".throws")).to_be_visible()
        question_screens.go_on(visit)
        expect(visit.page.locator(".throws")).to_be_visible()
        visit.record(record)
    expect(visit.heading("Only what you tapped leaves this device")).to_be_visible()
    assert question_screens.sent_reports(visit, installation) == [int(record == "Yes") for record in RECORDS]


NOT_OFFERED = {
    "conditions": (
        [
            factories.question("a"),
            {**factories.question("b"), "show_if": {"question": "a", "any_of": ["yes"]}, "otherwise": "no"},
        ],
        "depends on your true answers",
    ),
    "colours": (
        [{**factories.question(), "design": {"mechanism": "kuk", "if_yes": 0.75, "if_no": 0.25}}],
        "three",
    ),
    "chances that are no throws": (
        [
            {
                **factories.question(),
                "prefer_not_to_say": True,
                "design": {"mechanism": "k_ary", "epsilon": 1.5},
            }
        ],
        "three",
    ),
    "one of two": (
        [
            factories.question("a"),
            {**factories.question("b"), "design": {"mechanism": "coin_flip", "gamma": 0.2001}},
        ],
        "three",
    ),
    "boxes": ([question_screens.QUESTIONS["pills"]], "three"),
    "a number": ([question_screens.QUESTIONS["hours"]], "three"),
}


@pytest.mark.parametrize("why", NOT_OFFERED)
def test_where_it_cannot_be_done_it_is_not_offered_and_said_why(
    open_page: Opener, installation: factories.Served, why: str
) -> None:
    questions, reason = NOT_OFFERED[why]
    visit = open_survey(open_page, installation, factories.definition(format=2, questions=questions))
    visit.page.get_by_text("How can I check?").click()
    expect(visit.page.get_by_text("Coins of your own cannot")).to_contain_text(reason)
    expect(visit.page.locator("#throws")).to_have_count(0)
    expect(visit.page.locator("#by-hand")).to_be_empty()


@pytest.fixture(scope="module")
def recorder(installation: factories.Served) -> Iterator[Recorder]:
    """The server, behind something that keeps what is sent to it."""
    with recording(installation.url) as running:
        yield running


def by_machine(visit: Respondent, truth: str) -> None:
    visit.answer(truth, truth, truth)
    visit.send()


def by_hand(visit: Respondent, record: str) -> None:
    """Throw, tap each time this record, and send."""
    thrower = Thrower(visit.page, visit.slug)
    thrower.take_coins().start(3)
    for _ in range(3):
        thrower.throw()
        thrower.record(record)
    thrower.send()


def both_ways(
    open_page: Opener, recorder: Recorder, served: factories.Served, record: str, leaks: Sequence[Leak] = ()
) -> tuple[Traces, Traces]:
    """What is left of who throws, and of whose browser flips coins that give the same record."""
    survey = factories.publish(served.database_url, SURVEY)
    hand = record_visit(open_page, recorder, served, survey, record, by_hand, leaks=leaks)
    rows_by_hand = factories.list_responses(served.database_url)
    machine = record_visit(open_page, recorder, served, survey, "Yes", by_machine, record, leaks)
    rows = factories.list_responses(served.database_url)
    return {**hand, "rows": rows_by_hand}, {**machine, "rows": rows}


@pytest.mark.parametrize("record", COINS)
def test_who_throws_leaves_the_same_bytes_and_rows_as_the_browsers_coins(
    open_page: Opener, recorder: Recorder, installation: factories.Served, record: str
) -> None:
    hand, machine = both_ways(open_page, recorder, installation, record)
    assert differences(hand, machine) == []
    assert len(hand["rows"]) == 1
    (posted,) = (request for request in hand["requests"] if request["method"] == "POST")
    assert json.loads(posted["body"])["reports"] == [int(record == "Yes")] * 3


TELLING = {
    "files for those alone who throw": (
        "answer.js",
        "byHand ??= Boolean(",
        "byHand ??= document.querySelector('#by-hand input')?.checked && fetch('/?hand') && Boolean(",
    ),
    "a mark in storage": (
        "answer.js",
        "coins?.fill(0);",
        "coins?.fill(0); if (byHand) sessionStorage.setItem('hand', 1);",
    ),
    "a longer body": ("answer.js", "way.sign(writeBody(", "way.sign((byHand ? ' ' : '') + writeBody("),
    "a step of history": (
        "answer.js",
        "if (again) showEntry(entry);",
        "if (again) { history.pushState(history.state, ''); showEntry(entry); }",
    ),
}


@pytest.mark.parametrize("leak", TELLING)
def test_a_page_that_tells_who_throws_is_caught(
    open_page: Opener, recorder: Recorder, installation: factories.Served, leak: str
) -> None:
    hand, machine = both_ways(open_page, recorder, installation, "No", [TELLING[leak]])
    assert differences(hand, machine) != []


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_screen_of_throws_has_an_obstacle(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page = open_page(locale=language)
    slug = factories.publish(installation.database_url, {**DOCUMENT, "language": language}).slug
    visit = Thrower(page, slug, language)
    visit.open()
    visit.take_coins()
    inspector.look(page, "introduction")
    visit.start(len(PLANS))
    for device, _ in PLANS:
        inspector.look(page, f"{device}, throw")
        visit.throw()
        visit.button("Next").click()
        inspector.look(page, f"{device}, record")
        page.get_by_role("radio").first.check()
        question_screens.go_on(visit)
    inspector.look(page, "review")


def test_the_keyboard_is_enough(open_page: Opener, installation: factories.Served) -> None:
    visit = open_survey(open_page, installation, factories.definition(gammas=[0.25]))
    page = visit.page
    page.get_by_text("Trust no machine? Throw your own coins").focus()
    for key in ("Enter", "Tab", "Space"):
        page.keyboard.press(key)
    expect(page.get_by_role("checkbox", name="I throw my own")).to_be_checked()
    visit.start(1)
    expect(page.locator("h1")).to_be_focused()
    tab_to(page, "I have thrown")
    expect(page.locator(".throws")).to_be_visible()
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    tab_to(page, "Next")
    expect(visit.heading("Only what you tapped leaves this device")).to_be_visible()


def tab_to(page: Page, button: str) -> None:
    """Press Tab until this button has the focus, then Enter."""
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == button:
            break
    page.keyboard.press("Enter")
