"""No page for running a study, in any state, has what axe-core calls a violation or needs two scrollbars."""

from datetime import date
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import expect

from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import SURVEY, Desk, Respondent, sign_in
from tests.support import factories, sample_archives
from tests.support.sign_in_form import PASSWORD


@pytest.fixture(params=["en", "es"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served, language: str) -> Desk:
    """A researcher who has signed in."""
    page = open_page(locale=language)
    sign_in(page, installation.database_url)
    return Desk(page, language)


def address(slug: str, page: str = "") -> str:
    return f"/manage/surveys/{slug}{page}"


def test_links_strata_times_and_limits(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    page, database = desk.page, installation.database_url
    open_page.watch(page).expect("422")
    slug = factories.publish(database, SURVEY).slug
    inspector.unfold(page, address(slug, "/links"), "the only link")
    inspector.unfold(page, address(slug, "/strata"), "no strata yet")
    factories.plant(database, slug, "Spain > Madrid > Getafe, 183000\nSpain > Madrid > Parla\nSpain > Murcia")
    factories.plant(database, slug, " > ".join("ABCDEF") + "\n" + "A long name without end " * 8)
    inspector.unfold(page, address(slug, "/links"), "links of strata")
    inspector.unfold(page, address(slug, "/links/sheet"), "sheet of QR codes")
    inspector.unfold(page, address(slug, "/strata?said=added"), "strata")
    page.locator("#lines").fill("Spain, 1\n>")
    page.locator("[name=action][value=add]").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "strata that were refused")
    inspector.unfold(page, address(slug, "/schedule"), "times and limits")
    page.locator("#cap").fill("2")
    page.locator("form.settings").evaluate("form => { form.noValidate = true; }")
    page.locator("#minimum").fill("0")
    page.locator("form.settings button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "times and limits that were refused")
    page.locator("details.danger button").click()
    page.wait_for_url("**/schedule?said=paused")
    inspector.inspect_unfolded(page, "a paused survey's times and limits")
    inspector.unfold(page, address(slug), "overview of a paused survey with strata")
    factories.close(database, slug)
    inspector.unfold(page, address(slug, "/schedule"), "a closed survey's times and limits")


def test_accounts_and_people(
    open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    database, page = installation.database_url, open_page(locale=language)
    login = f"axe-{language}"
    person = factories.account(database, login, PASSWORD)
    slug = factories.publish(database).slug
    factories.join(database, slug, person, "editor")
    page.goto("/manage/sign-in")
    open_page.watch(page).expect("403|422")

    def enter(code: str = "") -> None:
        for field, text in (("login", login), ("password", PASSWORD), ("code", code)):
            page.locator(f"#{field}").fill(text)
        page.locator("main form .primary").click()

    page.locator("#login").fill(login)
    page.locator("#password").fill("not the password")
    page.locator("main form .primary").click()
    inspector.inspect_unfolded(page, "sign-in that failed")
    enter()
    page.wait_for_url("**/surveys")
    page.goto("/manage/account")
    page.locator("#login").fill("axe with spaces")
    page.locator("#current").fill(PASSWORD)
    page.locator(".settings .primary").click()
    inspector.inspect_unfolded(page, "account that was refused")
    page.goto("/manage/account/codes")
    secret = page.locator("[name=secret]").input_value()
    page.locator("#code").fill("1")
    page.locator("main form .primary").click()
    inspector.inspect_unfolded(page, "setting codes up, a wrong code")
    page.locator("#code").fill(pyotp.TOTP(secret).now())
    page.locator("main form .primary").click()
    inspector.inspect_unfolded(page, "recovery codes")
    page.goto(f"/manage/sign-in/{factories.link_of(database, person)}")
    inspector.inspect_unfolded(page, "sign-in link that needs a code")
    inspector.unfold(page, f"/manage/surveys/{slug}/log", "log of an editor")

    owner = open_page(locale=language)
    sign_in(owner, database)
    inspector.unfold(owner, "/manage/account", "account without a password")
    for place in (f"/manage/surveys/{slug}/people", "/manage/colleagues"):
        owner.goto(place)
        owner.locator("#name").fill("Axe")
        owner.locator("form.inline .primary").click()
        inspector.inspect_unfolded(owner, f"{place}: a link is shown")
    link = owner.locator("#given").inner_text()
    inspector.unfold(owner, link, "invitation to somebody else")
    visitor = open_page(locale=language)
    visitor.goto(link)
    visitor.locator("#name").fill("Axe")
    visitor.locator("#login").fill(login)
    for field in ("password", "again"):
        visitor.locator(f"#{field}").fill(PASSWORD)
    open_page.watch(visitor).expect("409")
    visitor.locator("main form .primary").click()
    inspector.inspect_unfolded(visitor, "invitation, an account that was refused")
    inspector.unfold(owner, "/manage/log", "log of accounts")


def test_invitations_on_both_sides(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page, database = desk.page, installation.database_url
    open_page.watch(page).expect("422")
    survey = factories.publish(database, {**SURVEY, "language": language}, minimum=2)
    slug = survey.slug
    inspector.unfold(page, address(slug, "/invitations"), "invitations, none yet, everybody may answer")
    factories.plant(database, slug, "A long name without end " * 8)
    used, other, third, _last = factories.invite(database, slug, 4)
    page.goto(address(slug, "/invitations"))
    page.locator("form.settings").evaluate("form => { form.noValidate = true; }")
    page.locator("form.settings .primary").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "invitations that were refused")
    page.locator("#size").fill("1001")
    page.locator("#batch-label").fill("Axe " * 30)
    page.locator("form.settings .primary").click()
    expect(page.locator("[data-download]")).to_be_visible()
    inspector.inspect_unfolded(page, "codes, shown once")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("[name=sheet]").last.click()
    expect(page.get_by_role("status")).to_contain_text(".pdf")
    inspector.look(page, "a sheet was downloaded")
    page.goto(address(slug, "/invitations"))
    page.locator(".batches details").first.evaluate("details => { details.open = true; }")
    page.locator(".batches button").first.click()
    inspector.inspect_unfolded(page, "invitations, some withdrawn")

    person = open_page(locale=language)
    open_page.watch(person).expect("409|422")
    visit = Respondent(person, slug, language).open()
    start = visit.button("Start · {n} questions", n=3)
    start.click()
    expect(person.locator("#uncoded")).not_to_be_empty()
    inspector.look(person, "introduction that asks for a code")
    visit.open(f"?again#{used}")
    expect(person.get_by_text(used)).to_be_visible()
    inspector.look(person, "introduction with a code")
    assert person.request.post(survey.url, data={**survey.response(), "invitation": used}).status == 201
    start.click()
    expect(person.locator("#uncoded")).not_to_be_empty()
    inspector.look(person, "introduction with a code that was used")
    person.get_by_role("textbox").fill(other)
    visit.answer("Yes", "Yes", "Yes")
    assert person.request.post(survey.url, data={**survey.response(), "invitation": other}).status == 201
    visit.button("Send").click()
    expect(visit.heading("The code was not accepted")).to_be_visible()
    inspector.look(person, "code that was used")
    person.get_by_role("textbox").fill(third)
    visit.button("Use this code").click()
    inspector.inspect_unfolded(person, "waiting with another code")
    visit.send()
    inspector.look(person, "sent with a code")


def test_live_results(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, language: str
) -> None:
    page, database = desk.page, installation.database_url
    open_page.watch(page).expect("404")
    first = {**SURVEY, "language": language}
    survey = factories.publish(database, first, minimum=10)
    slug = survey.slug
    factories.store(database, survey, [([1, 1, 1], 4)])
    inspector.unfold(page, address(slug, "/results"), "results that are withheld")
    links = factories.plant(database, slug, "Spain > Madrid, 300\nSpain > Murcia, 100\nPeru, 50\nChile, 20")
    rows = [([1, 1, 0], 120), ([1, 0, 0], 80), ([0, 1, 0], 80), ([0, 0, 1], 110)]
    for number, path in enumerate(("Spain > Madrid", "Spain > Murcia", "Peru"), start=1):
        factories.store(database, survey, rows[number - 1 :], links[path], date(2026, 5, number))
    questions = [{**first["questions"][0], "design": {"mechanism": "coin_flip", "gamma": 0.2}}]
    newer = factories.publish(database, {**first, "questions": questions + first["questions"][1:2]}, slug)
    factories.store(database, newer, [([1, 1], 30), ([0, 1], 40)], links["Peru"], date(2026, 5, 9))
    factories.store(database, newer, [([1, 1], 3)], links["Chile"], date(2026, 5, 9))
    inspector.unfold(page, address(slug, "/results"), "live results of two versions and four strata")
    inspector.unfold(page, address(slug, "/results?question=paid&interval=once"), "results for one look")
    compared = "/results?first_stratum=Spain&second_stratum=Peru"
    inspector.unfold(page, address(slug, compared), "two strata compared")
    inspector.unfold(page, address(slug, "/results?row=copied&column=paid"), "two questions together")
    inspector.unfold(page, address(slug, "/results?version=1"), "results of one version")
    inspector.unfold(page, address(slug, "/results?question=nothing"), "results of no question")


def test_keeping_and_deleting(
    desk: Desk, open_page: Opener, installation: factories.Served, inspector: Inspector, tmp_path: Path
) -> None:
    page, database = desk.page, installation.database_url
    open_page.watch(page).expect("422")
    slug = factories.publish(database, {**SURVEY, "title": "A long name without end " * 8}, minimum=10).slug
    factories.plant(database, slug, "North\nSouth")
    inspector.unfold(page, address(slug, "/keeping"), "keeping an open survey")
    factories.close(database, slug)
    page.goto(address(slug, "/keeping"))
    page.locator("summary").click()
    page.locator("#confirmation").fill("No")
    page.locator("details.danger button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspector.inspect_unfolded(page, "a deletion that was refused")
    (tmp_path / "survey.zip").write_bytes(sample_archives.pack(database, slug))
    page.goto("/manage/surveys/import")
    desk.field("File").set_input_files(tmp_path / "survey.zip")
    desk.button("Import").click()
    expect(desk.link("Open the survey")).to_be_visible()
    inspector.inspect_unfolded(page, "import of an archive")
    page.goto(address(slug, "/keeping"))
    desk.button("Put it into the archive").click()
    expect(desk.button("Take it out of the archive")).to_be_visible()
    inspector.inspect_unfolded(page, "keeping an archived survey")
    inspector.unfold(page, address(slug), "overview of an archived survey")
    page.goto(address(slug, "/keeping"))
    page.locator("summary").click()
    page.locator("#confirmation").fill(slug)
    page.locator("details.danger button").click()
    page.wait_for_url("**/surveys?said=deleted")
    inspector.inspect_unfolded(page, "surveys after a deletion")
