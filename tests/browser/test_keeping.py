"""Copying, archiving, moving and deleting: each story with a mouse on a desk, and with keys alone on a phone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from server.study.surveys import today
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, press_on, sign_in
from tests.support import factories

Device = dict[str, Any]


@pytest.fixture(params=["mouse", "keys"])
def mouse(request: pytest.FixtureRequest) -> bool:
    """Whether somebody has a mouse, and a desk; else keys alone, and a phone."""
    return bool(request.param == "mouse")


@pytest.fixture
def device(mouse: bool) -> Device:
    return DESK if mouse else {"viewport": PHONE["viewport"]}


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served, device: Device) -> Desk:
    """A researcher who has signed in."""
    page = open_page(**device)
    sign_in(page, installation.database_url)
    return Desk(page)


@pytest.fixture
def press(mouse: bool) -> Callable[[Locator], None]:
    """Uses a button, a link or what unfolds."""

    def press_target(target: Locator) -> None:
        if mouse:
            target.click()
        else:
            press_on(target.page, target, "Enter")

    return press_target


@pytest.fixture
def other(sqlite: Callable[[bool], str]) -> Iterator[factories.Served]:
    """Another installation."""
    with factories.serving(sqlite(True)) as running:
        yield running


Press = Callable[[Locator], None]


def go(desk: Desk, press: Press, slug: str) -> None:
    """To the page, by its link in the navigation."""
    desk.page.goto(f"/manage/surveys/{slug}")
    press(desk.page.get_by_role("navigation").get_by_role("link", name="Keep or delete"))
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Keep or delete")
    width = desk.page.evaluate("document.documentElement.scrollWidth")
    assert width <= desk.page.viewport_size["width"]  # type: ignore[index]


def collect_survey(database_url: str) -> str:
    """A survey that was answered in two strata, and closed."""
    survey = factories.publish(database_url, {**SURVEY, "title": "Exams in May"}, minimum=3)
    links = factories.plant(database_url, survey.slug, "North\nSouth")
    for number, slug in enumerate(links.values(), start=1):
        factories.store(database_url, survey, [([1, 0, 0], 20 * number), ([0, 1, 0], 30)], slug)
    factories.close(database_url, survey.slug)
    return survey.slug


def test_a_survey_is_duplicated(desk: Desk, installation: factories.Served, press: Press) -> None:
    slug = collect_survey(installation.database_url)
    go(desk, press, slug)
    title = desk.field("Title of the copy")
    expect(title).to_have_value("Exams in May (copy)")
    title.press("End")
    desk.page.keyboard.type(" 2")
    press(desk.button("Duplicate"))
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Exams in May (copy) 2")
    assert desk.slug != slug
    desk.page.goto(f"/manage/surveys/{desk.slug}/links")
    expect(desk.page.get_by_text("South").first).to_be_visible()


def test_a_survey_goes_into_the_archive_and_comes_back(
    desk: Desk, installation: factories.Served, press: Press
) -> None:
    slug, page = collect_survey(installation.database_url), desk.page
    go(desk, press, slug)
    press(desk.button("Put it into the archive"))
    expect(desk.button("Take it out of the archive")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link", name="Edit")).to_have_count(0)
    page.goto("/manage/surveys")
    listed = page.locator(f"a[href='/manage/surveys/{slug}']")
    expect(listed).to_be_hidden()
    press(page.get_by_text("in the archive"))
    press(listed)
    expect(page.get_by_text("It is in the archive")).to_be_visible()
    go(desk, press, slug)
    press(desk.button("Take it out of the archive"))
    expect(desk.button("Put it into the archive")).to_be_visible()
    page.goto("/manage/surveys")
    expect(listed).to_be_visible()


def results(page: Page, slug: str) -> list[str]:
    """The tables of estimates."""
    page.goto(f"/manage/surveys/{slug}/results")
    expect(page.get_by_role("table").first).to_be_visible()
    return page.locator("table").all_inner_texts()


def test_a_survey_moves_to_another_installation_with_its_results(
    desk: Desk,
    installation: factories.Served,
    other: factories.Served,
    open_page: Opener,
    press: Press,
    device: Device,
    tmp_path: Path,
) -> None:
    slug = collect_survey(installation.database_url)
    go(desk, press, slug)
    open_page.watch(desk.page).expect("422")
    desk.page.get_by_label("Everything: the survey moves.").check()
    press(desk.button("Export everything"))
    expect(desk.page.get_by_role("alert")).to_contain_text("the name that the other server shows")
    desk.page.get_by_label("Nothing. It shows").check()
    with desk.page.expect_download() as download:
        press(desk.button("Export everything"))
    expect(desk.page.get_by_role("status")).to_have_text(f"Downloaded: {download.value.suggested_filename}")
    assert download.value.suggested_filename.endswith(f", archive, {today()}.zip")
    file = tmp_path / "survey.zip"
    download.value.save_as(file)

    page = open_page(base_url=other.url, **device)
    sign_in(page, other.database_url)
    elsewhere = Desk(page)
    press(elsewhere.link("Import a survey"))
    with page.expect_file_chooser() as chooser:
        press(elsewhere.field("File"))
    chooser.value.set_files(file)
    press(elsewhere.button("Import"))
    expect(page.get_by_role("heading", level=1)).to_have_text("The survey was imported")
    expect(page.get_by_text("120 responses")).to_be_visible()
    expect(page.get_by_text("3 links, with the same names as before")).to_be_visible()
    press(elsewhere.link("Open the survey"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Exams in May")
    assert elsewhere.slug == slug
    assert results(page, slug) == results(desk.page, slug)


def test_a_survey_is_deleted_once_its_title_is_typed(
    desk: Desk, installation: factories.Served, open_page: Opener, press: Press
) -> None:
    slug, page = collect_survey(installation.database_url), desk.page
    open_page.watch(page).expect("422")
    go(desk, press, slug)
    press(page.locator("summary"))
    field = page.locator("#confirmation")
    field.focus()
    page.keyboard.type("Exams in June")
    press(desk.button("Delete it now, for good"))
    alert = page.get_by_role("alert")
    expect(alert).to_be_focused()
    expect(alert).to_contain_text("must be exactly the survey’s title")
    expect(field).to_have_value("Exams in June")
    field.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Exams in May")
    press(desk.button("Delete it now, for good"))
    expect(page.get_by_role("status")).to_contain_text("The survey was deleted for good.")
    expect(page.locator(f"a[href='/manage/surveys/{slug}']")).to_have_count(0)
    assert page.request.get(f"/manage/surveys/{slug}").status == 404
