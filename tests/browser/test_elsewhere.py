"""Data from elsewhere in a real browser: the files stay chosen, by keyboard too, and no script is needed."""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe_inspector import NARROW, Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, Desk, press_on, sign_in
from tests.support import factories
from tests.support.foreign_data import ADDRESS, FILES, write_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Both files, on somebody's disk."""
    (tmp_path / "data.csv").write_bytes(FILES["data"])
    (tmp_path / "study.json").write_bytes(FILES["study_file"])
    return tmp_path


def choose(desk: Desk, folder: Path) -> None:
    desk.field("Table").set_input_files(folder / "data.csv")
    desk.field("Study file").set_input_files(folder / "study.json")


def count_chosen(page: Page) -> list[int]:
    """How many files each field holds."""
    return [page.locator(f"#{name}").evaluate("field => field.files.length") for name in FILES]


@pytest.mark.parametrize("language", ["en", "es"])
def test_files_stay_chosen_through_a_refusal_a_report_and_a_download(
    open_page: Opener, installation: factories.Served, inspector: Inspector, folder: Path, language: str
) -> None:
    page = open_page(locale=language, viewport=NARROW)
    watch = open_page.watch(page)
    watch.expect("422")
    watch.expect("ERR_UPLOAD_FILE_CHANGED")
    desk = Desk(page, language)
    sign_in(page, installation.database_url)
    press_on(page, desk.link("Data from elsewhere"), "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(desk.say("Data from elsewhere"))
    inspector.look(page, "elsewhere")
    (folder / "data.csv").write_bytes(write_table() + b"perhaps,no,male\n")
    choose(desk, folder)
    press_on(page, page.locator("summary"), "Enter")
    desk.field("Answer to explain").fill("cheated")
    desk.field("What it may go with").fill("sex\nstole")

    press_on(page, desk.button("Show the report"), "Enter")
    expect(page.locator(".problems")).to_be_focused()
    expect(page.locator(".problems")).to_contain_text("402")
    assert count_chosen(page) == [1, 1]
    inspector.look(page, "elsewhere, refused")
    # Mended on the disk, a file has to be chosen again: a browser sends no other than the one that was chosen.
    (folder / "data.csv").write_bytes(FILES["data"])
    os.utime(folder / "data.csv", (2_000_000_000, 2_000_000_000))  # it looks at whole seconds
    press_on(page, desk.button("Show the report"), "Enter")
    expect(page.get_by_role("status")).to_contain_text(
        "elegirlo otra vez" if language == "es" else "chosen again"
    )
    choose(desk, folder)
    press_on(page, desk.button("Show the report"), "Enter")
    expect(page.locator("#found")).to_be_focused()
    expect(page.locator("#explanation")).to_be_visible()
    expect(page.locator(".problems")).to_have_count(0)
    inspector.look(page, "elsewhere, report")
    assert count_chosen(page) == [1, 1]

    with page.expect_download() as download:
        press_on(page, page.locator("button[value=json]"), "Enter")
    expect(page.get_by_role("status")).to_contain_text(download.value.suggested_filename)
    assert json.loads(Path(download.value.path()).read_text("utf-8"))["n"] == 400
    expect(page.locator("#explanation")).to_be_visible()
    assert count_chosen(page) == [1, 1]

    page.clock.install()
    held: list[Route] = []
    page.route("**/manage/elsewhere", lambda route: held.append(route))
    press_on(page, desk.button("Show the report"), "Enter")
    page.clock.run_for(3_000)
    expect(page.get_by_role("status")).to_contain_text(
        desk.say("{seconds} seconds so far.").replace("{seconds}", "3")
    )
    held[0].continue_()
    expect(page.get_by_role("status")).to_have_text(desk.say("The report is below."))


def test_without_scripts_the_same_form_shows_and_downloads(
    open_page: Opener, installation: factories.Served, folder: Path
) -> None:
    page = open_page(**DESK, java_script_enabled=False)
    desk = Desk(page)
    sign_in(page, installation.database_url)
    page.goto(ADDRESS)
    choose(desk, folder)
    with page.expect_download() as download:
        desk.button("Report for Excel").click()
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"
    desk.button("Show the report").click()
    expect(page.locator("#found")).to_have_text("Exams on paper")
    expect(page.get_by_role("table").first).to_be_visible()
