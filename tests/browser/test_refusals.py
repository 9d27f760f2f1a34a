"""When something is missing or was altered, no question is asked and nothing is sent."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rfc8785
from playwright.sync_api import Page, Route, expect

from server.study.definitions import version_of
from server.study.definitions.definition_reader import parse_definition
from server.web.joined_modules import find_file
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.support import factories

Definition = dict[str, Any]
Change = Callable[[Definition], object]

# Runs before the page: whatever could take an answer is noticed, however briefly it was there.
NOTICE_CONTROLS = """
globalThis.controls = [];
new MutationObserver(() => {
  for (const found of document.querySelectorAll('form, input, select, textarea')) controls.push(found.outerHTML);
}).observe(document, { childList: true, subtree: true });
"""


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


@pytest.fixture
def page(open_page: Opener) -> Iterator[Page]:
    """A respondent's page that must never ask or send."""
    opened = open_page(**PHONE)
    opened.add_init_script(NOTICE_CONTROLS)
    posted: list[str] = []
    opened.on("request", lambda request: posted.append(request.url) if request.method != "GET" else None)
    yield opened
    assert opened.evaluate("globalThis.controls ?? []") == []
    assert posted == []
    assert_no_controls(opened)


def assert_no_controls(page: Page) -> None:
    for role in ("radio", "checkbox", "textbox", "form"):
        expect(page.get_by_role(role, include_hidden=True)).to_have_count(0)


def expect_refusal(visit: Respondent, check: str) -> None:
    """The screen that gives the reason, and only this one, in words and by the name of the check."""
    expect(visit.heading("This survey is not safe to answer here")).to_be_visible()
    reason = visit.page.locator("main p[data-check]:visible")
    expect(reason).to_have_attribute("data-check", re.compile(rf"\b{check}\b"))
    expect(reason).to_have_text(re.compile(r"\w+ \w+ \w+"))
    expect(visit.page.get_by_text(re.compile(rf": {check}$"))).to_be_visible()


@pytest.mark.parametrize("language", ["en", "es"])
def test_without_scripts_the_page_explains_and_offers_nothing(
    open_page: Opener, survey: factories.Published, language: str
) -> None:
    page = open_page(java_script_enabled=False, locale=language)
    visit = Respondent(page, survey.slug, language).open()
    expect(visit.heading("This survey needs JavaScript to protect you")).to_be_visible()
    expect(page.get_by_text(visit.say("Opening the survey…"))).not_to_be_visible()
    assert_no_controls(page)
    expect(page.get_by_role("button", include_hidden=True)).to_have_count(0)
    assert "Have you ever" not in page.content()


@pytest.mark.parametrize(
    "missing",
    [
        "delete Crypto.prototype.getRandomValues",
        "Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })",
        "Object.defineProperty(globalThis, 'crypto', { value: undefined })",
    ],
)
def test_without_a_source_of_chance_it_refuses(page: Page, survey: factories.Published, missing: str) -> None:
    page.add_init_script(missing)
    visit = Respondent(page, survey.slug).open()
    expect_refusal(visit, "coins")


def test_a_source_of_chance_that_fails_is_not_replaced(
    page: Page, open_page: Opener, survey: factories.Published
) -> None:
    page.add_init_script("Crypto.prototype.getRandomValues = () => { throw new Error('no entropy'); }")
    open_page.watch(page).expect("no entropy")
    visit = Respondent(page, survey.slug).open()
    expect_refusal(visit, "unknown")


def test_scripts_that_were_altered_do_not_run(
    page: Page, open_page: Opener, survey: factories.Published
) -> None:
    page.route(
        f"**/client/*/{find_file('design.js')}",
        lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text() + "\n// altered"),
    )
    open_page.watch(page).allow("was preloaded")  # and nothing asks for it
    open_page.watch(page).expect(rf"'integrity' attribute for resource '[^']*/{find_file('design.js')}'")
    hurry = page.context.new_cdp_session(page)
    hurry.send("Animation.enable")
    hurry.send("Animation.setPlaybackRate", {"playbackRate": 100})
    visit = Respondent(page, survey.slug).open()
    assert page.locator("script:not([integrity])").count() == 0, "every script is pinned"
    expect(page.get_by_text(visit.say("Opening the survey…"))).to_be_visible()
    expect(page.locator(".late")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)


def design(definition: Definition) -> Definition:
    first: Definition = definition["questions"][0]["designs"][0]
    return first


def set_weights(definition: Definition, *rows: list[int]) -> None:
    design(definition)["weights"] = list(rows)


def set_epsilon(definition: Definition, epsilon: float) -> None:
    design(definition)["epsilon"] = epsilon


HALF, WHOLE = 2**31, 2**32

TAMPERED: dict[str, Change] = {
    "a row that does not add up": lambda it: set_weights(it, [WHOLE - 1, 0], [HALF, HALF]),
    "weaker weights": lambda it: set_weights(it, [WHOLE - 9, 9], [9, WHOLE - 9]),
    "a smaller epsilon": lambda it: set_epsilon(it, 0.5),
    "another wording": lambda it: it["questions"][1].update(text="Have you ever helped anybody?"),
    "a question less": lambda it: it["questions"].pop(),
    "another title": lambda it: it.update(title="Exam  survey"),
}

INCONSISTENT: dict[str, tuple[str, Change]] = {
    "a row that does not add up": ("rows", lambda it: set_weights(it, [HALF, HALF - 1], [HALF, HALF])),
    "a negative weight": ("rows", lambda it: set_weights(it, [WHOLE + 1, -1], [HALF, HALF])),
    "a fraction": ("rows", lambda it: set_weights(it, [HALF + 0.5, HALF - 0.5], [HALF, HALF])),
    "weaker weights": ("epsilon", lambda it: set_weights(it, [WHOLE - 9, 9], [9, WHOLE - 9])),
    "no chance at all": ("epsilon", lambda it: set_weights(it, [WHOLE, 0], [0, WHOLE])),
    "a smaller epsilon": ("epsilon", lambda it: set_epsilon(it, 1.0986)),
    "a larger epsilon": ("epsilon", lambda it: set_epsilon(it, 1.0988)),
    "a smaller sum": ("epsilon", lambda it: it.update(epsilon=3.2958)),
    "other odds": ("odds", lambda it: design(it)["odds"].update(counts=[[70, 30], [30, 70]])),
    "an unknown form": ("format", lambda it: it.update(format=3)),
    "an unknown kind": ("format", lambda it: it["questions"][0].update(kind="essay")),
    "no questions": ("format", lambda it: it.update(questions=[], epsilon=0)),
}


@pytest.mark.parametrize("tampering", TAMPERED)
def test_a_definition_that_was_altered_is_refused(
    page: Page, open_page: Opener, survey: factories.Published, tampering: str
) -> None:
    def alter_definition(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        TAMPERED[tampering](document["definition"])
        route.fulfill(response=answer, json=document)

    page.route("**/survey.json", alter_definition)
    open_page.watch(page).expect("hash: ")
    expect_refusal(Respondent(page, survey.slug).open(), "hash")


@pytest.mark.parametrize("inconsistency", INCONSISTENT)
def test_a_definition_that_contradicts_itself_is_refused_whatever_its_hash(
    page: Page, open_page: Opener, survey: factories.Published, inconsistency: str
) -> None:
    check, change = INCONSISTENT[inconsistency]
    published = parse_definition(survey.definition).to_canonical()
    definition = json.loads(published)
    change(definition)
    version = version_of(rfc8785.dumps(definition))
    page.route(
        "**/survey.json", lambda route: route.fulfill(json={"definition": definition, "version": version})
    )
    page.route(
        f"**/s/{survey.slug}",
        lambda route: route.fulfill(
            response=(answer := route.fetch()), body=answer.text().replace(survey.version, version)
        ),
    )
    open_page.watch(page).expect(f"{check}: ")
    expect_refusal(Respondent(page, survey.slug).open(), check)


def test_the_control_an_unaltered_definition_served_the_same_way_is_asked(
    open_page: Opener, survey: factories.Published
) -> None:
    page = open_page()
    page.add_init_script(NOTICE_CONTROLS)
    definition = json.loads(parse_definition(survey.definition).to_canonical())
    answer = {"definition": definition, "version": survey.version}
    page.route("**/survey.json", lambda route: route.fulfill(json=answer))
    Respondent(page, survey.slug).open().start(3)
    expect(page.get_by_role("radio")).to_have_count(2)
    assert page.evaluate("controls.length") > 0


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        ("load", {"status": 500, "body": "{}"}),
        ("load", {"body": "<!doctype html>"}),
        ("changed", {"json": {"definition": {}, "version": "0" * 64}}),
        ("changed", {"body": "null"}),
        ("hash", {"json": "PINNED"}),
    ],
)
def test_a_definition_that_is_none_is_refused(
    page: Page, open_page: Opener, survey: factories.Published, check: str, answer: dict[str, Any]
) -> None:
    if answer.get("json") == "PINNED":
        answer = {"json": {"definition": None, "version": survey.version}}
    page.route("**/survey.json", lambda route: route.fulfill(**answer))
    open_page.watch(page).expect(f"{check}: ")
    open_page.watch(page).allow("status of 500")
    expect_refusal(Respondent(page, survey.slug).open(), check)


@pytest.mark.parametrize("language", ["en", "es"])
def test_closed_and_unknown_surveys_say_so(
    open_page: Opener, installation: factories.Served, survey: factories.Published, language: str
) -> None:
    factories.close(installation.database_url, survey.slug)
    draft = factories.draft(installation.database_url, SURVEY)
    page = open_page(**PHONE, locale=language)
    open_page.watch(page).expect("404|410")
    for slug, title in [
        (survey.slug, "This survey is closed"),
        ("nowhere", "There is no survey here"),
        (draft, "There is no survey here"),
    ]:
        visit = Respondent(page, slug, language).open()
        expect(visit.heading(title)).to_be_visible()
        assert_no_controls(page)
