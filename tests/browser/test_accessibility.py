"""No page, in any state, has what axe-core calls a violation (WCAG 2.2 AA, good practice) or needs two scrollbars."""

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from server.models import Survey
from tests import factories
from tests.browser.chromium import NODE_MODULES
from tests.browser.conftest import Opener
from tests.browser.people import DESK, PHONE, SURVEY, Respondent, sign_in, words

AXE = (NODE_MODULES / "axe-core" / "axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (tags) => {
  const { violations } = await axe.run({ runOnly: { type: 'tag', values: tags } });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary: why }) => `${id}: ${html} ${why}`));
}"""
LOOKS: list[tuple[str, dict[str, Any]]] = [("light", DESK["viewport"]), ("dark", PHONE["viewport"])]
NARROW = {"width": 320, "height": 640}  # 1280 pixels at 400 % (WCAG 1.4.10)


class Inspector:
    """Collects what is wrong in each state, so that one run tells all."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.problems: list[str] = []

    def look(self, page: Page, state: str) -> None:
        """Inspect the page as it is now: in light and dark, wide and narrow."""
        self.states.append(state)
        for scheme, size in LOOKS:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if not page.evaluate("'axe' in globalThis"):
                page.evaluate(AXE)
            self.problems += [f"{state} ({scheme}): {found}" for found in page.evaluate(RUN, TAGS)]
        page.set_viewport_size(NARROW)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW["width"]:
            self.problems.append(f"{state}: {width} pixels wide where there are {NARROW['width']}")


@pytest.fixture
def inspector() -> Iterator[Inspector]:
    made = Inspector()
    yield made
    assert made.states
    assert made.problems == [], "\n".join(made.problems)


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_respondents_screens(
    open_page: Opener, served: factories.Served, inspector: Inspector, language: str
) -> None:
    slug = factories.publish(served.database_url, {**SURVEY, "language": language}).slug
    page = open_page(locale=language)
    visit = Respondent(page, slug, language).open()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    inspector.look(page, "introduction")
    for summary in page.locator("summary").all():
        summary.click()
    visit.button("Flip for a Yes").click()
    visit.button("No").click()
    expect(page.locator(".bar")).to_have_count(2)
    inspector.look(page, "introduction, everything opened")
    visit.start(3)
    inspector.look(page, "question")
    visit.button("Next").click()
    inspector.look(page, "question, no answer chosen")
    visit.radio("Yes").check()
    inspector.look(page, "question, answered")
    for _ in range(3):
        visit.choose("Yes")
    inspector.look(page, "review")
    visit.sent_body()
    inspector.look(page, "review, details opened")
    open_page.watch(page).expect("ERR_FAILED")
    page.route("**/responses", lambda route: route.abort())
    visit.button("Send").click()
    expect(
        page.get_by_text(visit.say("The connection is poor. Still trying; nothing is lost."))
    ).to_be_visible()
    inspector.look(page, "sending")
    page.reload()
    page.unroute("**/responses")
    expect(visit.heading("Your answers are still waiting here")).to_be_visible()
    inspector.look(page, "waiting")
    visit.send()
    inspector.look(page, "sent")
    visit.open()
    expect(visit.heading("This survey was already answered on this device")).to_be_visible()
    inspector.look(page, "second visit")
    visit.button("Erase my traces").click()
    expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
    inspector.look(page, "erased")


def test_the_respondents_refusals(
    open_page: Opener, served: factories.Served, inspector: Inspector, language: str
) -> None:
    slug = factories.publish(served.database_url, {**SURVEY, "language": language}).slug
    page = open_page(locale=language)
    open_page.watch(page).expect("404|410|load:")
    visit = Respondent(page, slug, language).open()
    visit.answer("Yes", "Yes", "Yes")
    factories.close(served.database_url, slug)
    visit.button("Send").click()
    expect(visit.heading("Your answers were not accepted")).to_be_visible()
    inspector.look(page, "closed meanwhile")
    visit.open()
    inspector.look(page, "closed")
    Respondent(page, "nowhere", language).open()
    inspector.look(page, "unknown")
    visit.slug = factories.publish(served.database_url, SURVEY).slug
    page.route("**/survey.json", lambda route: route.fulfill(body="{}"))
    open_page.watch(page).allow("changed:")
    visit.open()
    expect(visit.heading("This survey is not safe to answer here")).to_be_visible()
    inspector.look(page, "refusal")
    page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })")
    page.goto("/nowhere")
    inspector.look(page, "no such page")


def test_the_researchers_pages(
    open_page: Opener, served: factories.Served, inspector: Inspector, language: str
) -> None:
    say = words(language)
    page = open_page(locale=language)
    page.goto("/")
    inspector.look(page, "home")
    page.goto("/manage/sign-in")
    inspector.look(page, "sign-in")
    open_page.watch(page).expect("403")
    page.goto("/manage/sign-in/used-already")
    inspector.look(page, "sign-in link")
    page.locator("main form button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.look(page, "sign-in failed")
    sign_in(page, served.database_url)
    page.locator("summary").click()
    inspector.look(page, "surveys")
    page.goto("/manage/surveys/new")
    inspector.look(page, "editor")
    page.get_by_role("button", name=say("Add a question")).click()
    expect(page.get_by_role("group")).to_have_count(2)
    page.get_by_role("button", name=say("Save the draft")).click()
    expect(page.get_by_role("alert")).to_be_visible()
    open_page.watch(page).expect("422")
    inspector.look(page, "editor with errors")


def test_a_surveys_pages(
    open_page: Opener, served: factories.Served, inspector: Inspector, language: str
) -> None:
    page = open_page(locale=language)
    sign_in(page, served.database_url)
    draft = factories.draft(served.database_url, {**SURVEY, "language": language})
    unfolded(inspector, page, f"/manage/surveys/{draft}", "overview of a draft")
    unfolded(inspector, page, f"/manage/surveys/{draft}/edit", "editor of a draft")
    survey = factories.publish(served.database_url, {**SURVEY, "language": language}, draft)
    unfolded(inspector, page, f"/manage/surveys/{draft}", "overview of an open survey")
    unfolded(inspector, page, f"/manage/surveys/{draft}/edit", "editor of a published survey")
    unfolded(inspector, page, f"/manage/surveys/{draft}/preview", "preview")
    unfolded(inspector, page, f"/manage/surveys/{draft}/results", "results with no responses")
    for reports in ([1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]):
        assert page.request.post(survey.url, data=survey.response(reports)).status == 201
    unfolded(inspector, page, f"/manage/surveys/{draft}/results", "results")
    for _ in range(20):
        assert page.request.post(survey.url, data=survey.response([1, 0, 0])).status == 201
    unfolded(inspector, page, f"/manage/surveys/{draft}/results", "results with impossible shares")
    expect(page.locator(".flag")).to_have_count(3)
    with factories.writing(served.database_url) as session:
        session.execute(sa.update(Survey).where(Survey.slug == draft).values(simulated=True))
    unfolded(inspector, page, f"/manage/surveys/{draft}/results", "results of a demonstration")
    unfolded(inspector, page, f"/manage/surveys/{draft}/preview", "preview of a demonstration")
    report = page.request.get(f"/manage/surveys/{draft}/report.html").text()
    factories.close(served.database_url, draft)
    unfolded(inspector, page, f"/manage/surveys/{draft}", "overview of a closed survey")
    page.goto("about:blank")
    page.set_content(report)
    inspector.look(page, "report")


def unfolded(inspector: Inspector, page: Page, address: str, state: str) -> None:
    """Open a page with everything on it unfolded, and inspect it."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    inspector.look(page, state)


def test_the_inspector_sees_what_is_wrong(open_page: Opener) -> None:
    page = open_page()
    page.goto("/")
    page.evaluate(
        "Object.assign(document.querySelector('h1').style, { color: '#ccc', width: '500px' });"
        "document.querySelector('main').append(new Image());"
    )
    inspector = Inspector()
    inspector.look(page, "spoiled")
    found = " ".join(inspector.problems)
    assert all(problem in found for problem in ("color-contrast", "image-alt", "pixels wide"))
