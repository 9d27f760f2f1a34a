"""No page of a researcher, in any state, has what axe-core calls a violation or needs two scrollbars."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from server.people import survey_access
from server.simulation import Assumptions, simulate
from server.store.models import Survey
from server.study.study_sheets import parse_study_sheet
from server.study.study_sheets.sheet_forms import write_form
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.question_screens import CHECK, TEXT
from tests.browser.site_users import SURVEY, Desk, sign_in
from tests.support import every_kind, factories, sample_xlsforms
from tests.support.study_form import study_document

# What has the focus, and whether it is seen; past the last the browser itself has it.
_FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    const seen = one === document.body || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
    return [one.name || one.textContent.trim(), seen];
}"""
SECTION = {"name": "part", "kind": "section", "text": "About your work", "body": "The *first* part."}


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served, language: str) -> Desk:
    """A researcher who has signed in."""
    page = open_page(locale=language)
    sign_in(page, installation.database_url)
    return Desk(page, language)


def everything(language: str, **changes: Any) -> dict[str, Any]:
    """A survey of every kind of entry under every design."""
    document = every_kind.document()
    entries = [TEXT, SECTION, CHECK, *document["questions"]]
    return {**document, "language": language, "questions": entries, **changes}


def spoil_everything(language: str) -> dict[str, Any]:
    """The same with something wrong in every entry."""
    entries = [{**entry, "text": ""} for entry in everything(language)["questions"]]
    for entry in entries:
        if "design" in entry:
            entry["design"] = {**entry["design"], "gamma": 0.7, "epsilon": 21, "truth": 2}
        if "options" in entry:
            entry["options"] = [{"name": "1", "text": ""}, *entry["options"]]
        if "low" in entry:
            entry |= {"low": 5, "high": 1, "step": 0, "cuts": ["x"]}
    entries[-1]["show_if"] = {"question": "nothing", "any_of": []}
    return everything(language, questions=entries, title="", budget=0, plan={"respondents": 0, "margin": 2})


def address(slug: str, page: str = "") -> str:
    return f"/manage/surveys/{slug}{page}"


def test_the_way_in(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
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


def test_the_help(open_page: Opener, inspector: Inspector, language: str) -> None:
    page = open_page(locale=language)
    results = {"en": "guide/results", "es": "guia/resultados"}[language]
    for address in ("", f"/{results}", "/definition", "/glossary", "/impact-assessment"):
        inspector.unfold(page, f"/help{address}", f"help{address}")
    page.goto("/help")
    page.get_by_role("searchbox").fill("moneda")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    inspector.look(page, "help, found")
    open_page.watch(page).expect("422")
    page.goto("/help?q=!")
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.look(page, "help, refused")


def test_the_lessons(desk: Desk, installation: factories.Served, inspector: Inspector, language: str) -> None:
    page = desk.page
    for lesson in (
        "",
        "/again",
        "/difference",
        "/noise",
        "/noise?noise=laplace",
        "/audit",
        "/class",
        "/cards",
    ):
        inspector.unfold(page, f"/teach{lesson}", f"teach{lesson}")
    inspector.unfold(page, "/manage/class", "class survey")
    desk.button("Make it and show the board").click()
    expect(page.locator(".link")).to_be_visible()
    inspector.look(page, "board, nobody yet")
    coin = {"mechanism": "coin_flip", "gamma": 0.25}
    card = {"name": "red_card", "kind": "yes_no", "text": "Red?", "design": coin}
    document = {**factories.definition(questions=[card]), "language": language}
    survey = factories.publish(installation.database_url, document)
    factories.store(installation.database_url, survey, [([1], 20), ([0], 20)])
    inspector.unfold(page, address(survey.slug, "/board"), "board")
    desk.button("Close it and show all").click()
    page.locator("#red").fill("20")
    page.locator("#cards").fill("40")
    desk.button("Compare with the estimate").click()
    expect(page.get_by_text(desk.say("The interval holds it."))).to_be_visible()
    inspector.look(page, "board, compared")


def test_the_list_and_where_surveys_come_from(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, tmp_path: Path
) -> None:
    page = desk.page
    open_page.watch(page).expect("422")
    for document in (SURVEY, spoil_everything("es")):
        factories.draft_unfinished(installation.database_url, document)
    factories.publish(installation.database_url, SURVEY)
    inspector.unfold(page, "/manage/surveys", "surveys")
    inspector.unfold(page, "/manage/gallery", "gallery")
    inspector.unfold(page, "/manage/power?planned=500", "what shows a difference")
    inspector.unfold(page, "/manage/surveys/import", "import")
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "good.xlsx").write_bytes(sample_xlsforms.kobo())
    for file in ("bad.xlsx", "good.xlsx"):
        desk.field("File").set_input_files(tmp_path / file)
        desk.button("Import").click()
        page.wait_for_url("**/import")
        inspector.inspect_unfolded(page, f"import of {file}")
    expect(desk.link("Open the editor")).to_be_visible()


def test_what_programs_call_and_sign_in_with(desk: Desk, open_page: Opener, inspector: Inspector) -> None:
    """Also by keys alone: each that is reached has a name and shows that it has the focus."""
    page = desk.page
    open_page.watch(page).expect("422")
    page.goto("/manage/account/programs")
    inspector.look(page, "programs")
    page.get_by_role("textbox").nth(0).fill("Nightly")
    desk.field("Days for which it is valid").fill("0")
    desk.button("Make a token").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.look(page, "programs, refused")
    desk.field("Days for which it is valid").fill("30")
    desk.button("Make a token").click()
    expect(page.locator("#token")).to_be_visible()
    inspector.look(page, "programs, with a token")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(_FOCUSED))
    names = {name for name, _seen in reached}
    assert {"token", "name", "survey", "role", "days"} <= names, reached
    assert all(seen for _name, seen in reached), reached
    inspector.unfold(page, "/api", "reference")


def test_the_editor(desk: Desk, installation: factories.Served, inspector: Inspector, language: str) -> None:
    page, database = desk.page, installation.database_url
    page.goto("/manage/surveys/new")
    inspector.look(page, "new survey")
    desk.button("Save the draft").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "new survey, nothing written")
    by_hand = factories.draft(database, everything(language))
    inspector.unfold(page, address(by_hand, "/edit"), "editor of every kind, by hand")
    budget = {"budget": 60, "plan": {"respondents": 800, "margin": 0.05}}
    shared = [{**entry} for entry in everything(language)["questions"]]
    for entry in shared:
        if "design" in entry:
            design = entry["design"]
            entry["design"] = {name: design[name] for name in design if name not in ("gamma", "epsilon")}
    equal = factories.draft(database, everything(language, questions=shared, **budget))
    inspector.unfold(page, address(equal, "/edit?said=added&at=3"), "editor of every kind, equal shares")
    wrong = factories.draft_unfinished(database, spoil_everything(language))
    inspector.unfold(page, address(wrong, "/edit?check=1"), "editor with every error")


def expect_to_be_asked(desk: Desk) -> None:
    """The browser asks before what came back refused is left behind; who stays still has it."""
    desk.page.once("dialog", lambda dialog: dialog.dismiss())
    with desk.page.expect_event("dialog") as asked:
        desk.link("Overview").click(no_wait_after=True)
    assert asked.value.type == "beforeunload"


def test_the_editor_that_was_overtaken(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page, database = desk.page, installation.database_url
    slug = factories.draft(database, {**SURVEY, "language": language})
    page.goto(address(slug, "/edit"))
    page.wait_for_load_state("networkidle")
    factories.save(database, slug, {**SURVEY, "title": "Another"})
    open_page.watch(page).expect("409")
    desk.field("Title").fill("Mine")
    expect(desk.button("Use mine")).to_be_visible()
    inspector.inspect_unfolded(page, "editor that was overtaken")
    # The same page as the server sends it whole: nothing in it is kept anywhere.
    with page.expect_navigation():
        desk.button("Save the draft").click()
    expect_to_be_asked(desk)
    expect(desk.field("Title")).to_have_value("Mine")


def test_a_draft_on_its_way(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page, database = desk.page, installation.database_url
    wrong = factories.draft_unfinished(database, spoil_everything(language))
    inspector.unfold(page, address(wrong), "overview of an unfinished draft")
    inspector.unfold(page, address(wrong, "/preview"), "preview of an unfinished draft")
    inspector.unfold(page, address(wrong, "/simulate"), "simulation of an unfinished draft")
    few = {"plan": {"respondents": 300, "margin": 0.05}}
    slug = factories.draft(database, everything(language, **few))
    inspector.unfold(page, address(slug), "overview of a draft with a plan")
    open_page.watch(page).expect("409|422")
    page.get_by_role("button", name=desk.say("Publish version %(number)d") % {"number": 1}).click()
    expect(desk.button("Publish all the same")).to_be_visible()
    inspector.inspect_unfolded(page, "launch that falls short of its plan")
    inspector.unfold(page, address(slug, "/simulate/look"), "results to come, beside the editor")
    inspector.unfold(page, address(slug, "/simulate"), "simulation")
    page.locator("[name=respondents]").fill("0")
    page.locator("[name^='share ']").first.fill("101")
    page.locator("form.assumptions").evaluate("form => { form.noValidate = true; }")
    desk.button("Simulate").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "simulation that was refused")
    page.locator("[name=respondents]").fill("20")
    page.locator("[name^='share ']").first.fill("100")
    desk.button("Simulate").click()
    expect(page.locator("#found")).to_be_visible()
    inspector.inspect_unfolded(page, "simulation of a few people")


def answer(served: factories.Served, slug: str, respondents: int, assumptions: Assumptions) -> None:
    """Have made-up people answer an open survey, and let it pass for a real one."""
    with factories.writing(served.database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for _ in simulate(session, survey, respondents, assumptions):
            pass
        survey.simulated = False


def test_results_of_every_kind(
    desk: Desk, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page = desk.page
    slug = factories.publish(installation.database_url, everything(language)).slug
    inspector.unfold(page, address(slug, "/results"), "results of every kind, none yet")
    answer(
        installation,
        slug,
        200,
        Assumptions(every_kind.assumed_shares() | {"moon.yes": 1}, every_kind.assumed_means()),
    )
    inspector.unfold(page, address(slug, "/results"), "results of every kind")
    shown_report(page, inspector, slug, "report of every kind")


def test_a_surveys_pages(
    desk: Desk, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page, database = desk.page, installation.database_url
    survey = factories.publish(database, {**SURVEY, "language": language})
    slug = survey.slug
    inspector.unfold(page, address(slug), "overview of an open survey")
    inspector.unfold(page, address(slug, "/edit"), "editor of a published survey")
    inspector.unfold(page, address(slug, "/preview"), "preview")
    for reports in ([1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]):
        assert page.request.post(survey.url, data=survey.response(reports)).status == 201
    inspector.unfold(page, address(slug, "/results"), "results")
    for _ in range(20):
        assert page.request.post(survey.url, data=survey.response([1, 0, 0])).status == 201
    inspector.unfold(page, address(slug, "/results"), "results with impossible shares")
    expect(page.locator(".flag")).to_have_count(3)
    with factories.writing(database) as session:
        session.execute(sa.update(Survey).where(Survey.slug == slug).values(simulated=True))
    inspector.unfold(page, address(slug, "/results"), "results of a demonstration")
    inspector.unfold(page, address(slug, "/preview"), "preview of a demonstration")
    factories.save(database, slug, {**SURVEY, "title": "Changed"})
    inspector.unfold(page, address(slug), "overview of a survey whose draft has changes")
    factories.close(database, slug)
    inspector.unfold(page, address(slug), "overview of a closed survey")
    shown_report(page, inspector, slug, "report of a demonstration")


def test_the_study_sheet(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    page, survey = desk.page, factories.publish(installation.database_url)
    open_page.watch(page).expect("422")
    address = f"/manage/surveys/{survey.slug}/study"
    page.goto(address)
    page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
    inspector.look(page, "study sheet, empty")
    fields = write_form(parse_study_sheet(study_document()))
    for name, text in {**fields, "doi": "10.1", "authors[0].orcid": "0"}.items():
        field = page.locator(f'[name="{name}"]')
        if field.get_attribute("type") == "checkbox":
            field.set_checked(bool(text))
        elif name == "sampling":
            field.select_option(text)
        else:
            field.fill(text)
    page.locator("main form button.primary").click()
    expect(page.locator("main [aria-invalid]")).to_have_count(2)
    inspector.look(page, "study sheet, refused")
    expect_to_be_asked(desk)
    expect(page.locator('[name="doi"]')).to_have_value("10.1")
    page.locator('[name="doi"]').fill(fields["doi"])
    page.locator('[name="authors[0].orcid"]').fill(fields["authors[0].orcid"])
    page.locator("main form button.primary").click()
    page.wait_for_url("**?said=saved")
    inspector.look(page, "study sheet, saved")


def test_refusals(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    page = desk.page
    open_page.watch(page).expect("404|422")
    inspector.unfold(page, "/manage/surveys/nosuchsurvey", "unknown survey")
    slug = factories.publish(installation.database_url, SURVEY).slug
    inspector.unfold(page, address(slug, "/results?version=9"), "unknown version")


def shown_report(page: Page, inspector: Inspector, slug: str, state: str) -> None:
    """Open the report as the file that it is."""
    report = page.request.get(address(slug, "/report.html")).text()
    page.goto("about:blank")
    page.set_content(report)
    inspector.inspect_unfolded(page, state)
