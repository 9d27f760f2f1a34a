"""Central releases on the pages: with a mouse on a desk, with keys alone on a phone, and without scripts."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from server import releases
from server.people import survey_access
from server.releases.plans.plan_reader import parse_plan
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, press_on, sign_in
from tests.support import factories
from tests.support.factories import Published
from tests.support.release_form import COUNT, key, ledger, share

YES = [([1, 1, 0], 300), ([1, 0, 1], 200), ([0, 1, 0], 250), ([0, 0, 0], 250)]


@dataclass(frozen=True)
class Releaser:
    """A researcher at the releases of a survey."""

    page: Page
    mouse: bool
    survey: Published
    database_url: str

    @property
    def desk(self) -> Desk:
        return Desk(self.page)

    @property
    def home(self) -> str:
        return f"/manage/surveys/{self.survey.slug}/releases"

    def press(self, target: Locator) -> None:
        if self.mouse:
            target.click()
        else:
            press_on(self.page, target, "Enter")

    def tick(self, target: Locator) -> None:
        if self.mouse:
            target.check()
        else:
            press_on(self.page, target, "Space")
        expect(target).to_be_checked()


@pytest.fixture(params=["mouse", "keys", "no script"])
def releaser(request: pytest.FixtureRequest, open_page: Opener, installation: factories.Served) -> Releaser:
    mouse = request.param != "keys"
    options = DESK if mouse else {"viewport": PHONE["viewport"]}
    page = open_page(**options, java_script_enabled=request.param != "no script")
    sign_in(page, installation.database_url)
    survey = factories.publish(installation.database_url, SURVEY)
    factories.store(installation.database_url, survey, YES)
    return Releaser(page, mouse, survey, installation.database_url)


def test_from_the_budget_to_the_public_report(releaser: Releaser, open_page: Opener) -> None:
    page, desk = releaser.page, releaser.desk
    page.goto(f"/manage/surveys/{releaser.survey.slug}/results")
    releaser.press(desk.link("Releases"))
    page.wait_for_url("**/releases")
    releaser.press(desk.button("Set the budget"))
    expect(page.get_by_role("status")).to_have_text("The budget is set.")
    expect(desk.button("Make a link")).to_be_visible()
    releaser.press(desk.link("New release"))
    page.wait_for_url("**/releases/new")

    # Looking at prices spends nothing.
    releaser.tick(desk.field("Number of respondents"))
    releaser.tick(page.get_by_role("group", name="Have you ever copied").get_by_label("Share of “Yes”"))
    desk.field("Respondents you expect").fill("1000")
    releaser.press(desk.button("Show what it costs"))
    expect(page.get_by_text("It spends ε = 1. Afterwards 0 is left.")).to_be_visible()
    assert ledger(releaser.database_url, releaser.survey.slug).released == ()
    desk.field("ε of this release").fill("0.5")
    releaser.press(desk.button("Look again at what it costs"))
    expect(page.get_by_text("It spends ε = 0.5. Afterwards 0.5 is left.")).to_be_visible()

    # Not without being sure; then once.
    releaser.press(desk.button("Release, and spend ε = 0.5"))
    assert page.url.endswith("/releases/new")
    releaser.tick(page.get_by_label("I am sure"))
    releaser.press(desk.button("Release, and spend ε = 0.5"))
    page.wait_for_url("**/releases/1?said=released")
    expect(page.get_by_role("status")).to_have_text("Released. It spent ε = 0.5.")
    book = ledger(releaser.database_url, releaser.survey.slug)
    count = str(book.released[0].figures[0].value)
    releaser.press(page.get_by_text("All numbers in a table").first)
    expect(page.get_by_role("table").first).to_contain_text(f"{int(count):,}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    # Everybody who has the link reads the same, until it is revoked.
    releaser.press(desk.link("All releases"))
    page.wait_for_url("**/releases")
    expect(page.get_by_role("heading", name="ε = 0.5 of 1 is left")).to_be_visible()
    releaser.press(desk.button("Make a link"))
    expect(page.get_by_text("The link works now.")).to_be_visible()
    address = page.locator("#link").inner_text()
    visitor = open_page(**PHONE, java_script_enabled=False)
    visitor.goto(address)
    visitor.get_by_text("What was released, with every number").click()
    expect(visitor.get_by_role("table").first).to_contain_text(f"{int(count):,}")
    with visitor.expect_download() as started:
        visitor.get_by_role("link", name="PDF").click()
    assert Path(started.value.path()).read_bytes().startswith(b"%PDF")
    visitor.get_by_role("link", name="Español").click()
    expect(visitor.locator("html")).to_have_attribute("lang", "es")
    releaser.press(desk.button("Revoke the link"))
    expect(page.get_by_text("The link works no more.")).to_be_visible()
    open_page.watch(visitor).expect("410")
    visitor.reload()
    expect(visitor.locator("main")).to_contain_text(re.compile("withdrawn|retirado"))


def test_many_questions_are_folded_and_nothing_of_them_is_out_of_reach(releaser: Releaser) -> None:
    page, desk = releaser.page, releaser.desk
    wordings = [f"Did you ever do thing {place}?" for place in range(1, 7)]
    questions = [factories.question(f"q{place}", text) for place, text in enumerate(wordings, 1)]
    document = factories.definition(questions=questions)
    home = f"/manage/surveys/{factories.publish(releaser.database_url, document).slug}/releases"
    page.goto(home)
    releaser.press(desk.button("Set the budget"))
    expect(page.get_by_role("status")).to_have_text("The budget is set.")
    page.goto(f"{home}/new")
    for place, text in enumerate(wordings):
        box = page.get_by_role("group", name=text).get_by_label("Share of “Yes”")
        if place:  # the first shows what there is to choose
            expect(box).to_be_hidden()
            releaser.press(page.locator("summary", has_text=text))
        releaser.tick(box)
        expect(page.locator(".question > summary", has_text=text)).to_contain_text("something is chosen")
    releaser.press(desk.button("Show what it costs"))

    items = page.locator(".plan-items > li")
    expect(items).to_have_count(len(wordings))
    shape = items.nth(4).get_by_text("The noise itself")
    expect(shape).to_be_hidden()
    releaser.press(items.nth(4).locator("summary").first)
    expect(shape).to_be_visible()


def test_a_copied_sentence_says_how_sure_it_is(open_page: Opener, installation: factories.Served) -> None:
    """Pasted elsewhere, it stands without its page and its figure."""
    page = open_page(**DESK, permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, installation.database_url)
    survey = factories.publish(installation.database_url, SURVEY)
    factories.store(installation.database_url, survey, YES)
    with factories.writing(installation.database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        releases.set_budget(session, found, 3, 0, "unbounded", None)
        plan = {"format": 1, "items": [COUNT, share("copied")], "epsilon": 2}
        releases.make(session, found, parse_plan(plan), None)
    home = f"/manage/surveys/{survey.slug}"
    for address, said in (
        (
            "releases/1",
            "Each range by itself holds the number without noise in about 95 of 100 such releases; "
            "of 100 ranges, about 5 miss it.",
        ),
        (
            "results",
            "Each range by itself holds the truth in about 95 of 100 such surveys; of 100 ranges, about 5 miss it.",
        ),
    ):
        page.goto(f"{home}/{address}")
        sentence = " ".join(page.locator(".found").first.inner_text().split())
        Desk(page).button("Copy the sentence").first.click()
        expect(Desk(page).button("Copied")).to_be_visible()
        copied = " ".join(page.evaluate("navigator.clipboard.readText()").split())
        assert copied.startswith(sentence)
        assert copied.endswith(said)


def test_a_plan_from_a_file(open_page: Opener, installation: factories.Served, tmp_path: Path) -> None:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    slug = factories.publish(installation.database_url, SURVEY).slug
    plan = {"format": 1, "division": "given", "items": [{**share("paid"), "epsilon": "0.125"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    desk = Desk(page)
    page.goto(f"/manage/surveys/{slug}/releases")
    desk.button("Set the budget").click()
    page.goto(f"/manage/surveys/{slug}/releases/new")
    page.get_by_text("Use a plan from a file").click()
    desk.field("File").set_input_files(tmp_path / "plan.json")
    desk.button("Read the plan").click()
    expect(page.get_by_text("It spends ε = 0.125.")).to_be_visible()
    with page.expect_download() as started:
        desk.button("Download this plan").click()
    assert json.loads(Path(started.value.path()).read_text())["items"] == plan["items"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_page_of_releases_has_a_violation(
    language: str, open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    page, database = open_page(locale=language), installation.database_url
    watch = open_page.watch(page)
    watch.expect("422")
    sign_in(page, database)
    questions = [{**question, "text": f"{question['text']} " * 4} for question in SURVEY["questions"]]
    survey = factories.publish(database, {**SURVEY, "language": language, "questions": questions})
    factories.store(database, survey, YES)
    home = f"/manage/surveys/{survey.slug}/releases"
    inspector.unfold(page, home, "no budget")
    page.locator("#epsilon").fill("0")
    page.locator("form.settings .primary").click()
    inspector.inspect_unfolded(page, "a budget that was refused")
    page.locator("#epsilon").fill("3")
    page.locator("#delta").fill("0.0001")
    page.locator("form.settings .primary").click()
    page.wait_for_url("**?said=budget")
    inspector.inspect_unfolded(page, "a budget, nothing released")
    factories.plant(database, survey.slug, "Spain > " + "A long name without end " * 6 + "\nPeru")
    inspector.unfold(page, f"{home}/new", "the builder")
    page.locator("#share").fill("x")
    page.locator("[value=exceeding]").click()
    inspector.inspect_unfolded(page, "a comparison that was refused")
    for item in (COUNT, share("copied"), {"kind": "hierarchy"}):
        page.locator(f"[name=item][value='{key(item)}']").check()
    page.locator("#people").fill("1000")
    page.locator("#side1").select_option("copied")
    page.locator("#side2").select_option("*strata")
    page.locator("[value=table]").click()
    inspector.inspect_unfolded(page, "a plan with its price")
    page.locator("[name=division][value=errors]").check()
    page.locator("#builder [value=look]").click()
    inspector.inspect_unfolded(page, "a plan that needs errors")
    page.locator("[name=division][value=equally]").check()
    page.locator("#builder [value=look]").click()
    page.locator("[name=sure]").check()
    page.locator(".looked .card .primary").click()
    page.wait_for_url("**/releases/1?said=released")
    inspector.inspect_unfolded(page, "a release")
    page.goto(home)
    page.locator("#public button").click()
    expect(page.locator("#link")).to_be_visible()
    inspector.inspect_unfolded(page, "releases and the public link")
    visitor = open_page(locale=language)
    open_page.watch(visitor).expect("410")
    inspector.unfold(visitor, page.locator("#link").inner_text(), "the public report")
    page.locator("#public form button").click()
    expect(page.locator("#link")).to_have_count(0)
    visitor.reload()
    inspector.inspect_unfolded(visitor, "a report that was withdrawn")
