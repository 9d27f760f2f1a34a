"""A researcher's first survey: signing in, designing, publishing, sharing, watching, taking away, closing."""

import csv
import io
import json
import re
from typing import Any

import pytest
import segno
from playwright.sync_api import expect

from server.study.surveys import today
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Desk, Respondent, press_on, sign_in
from tests.support import factories

WORDINGS = ["Have you ever copied?", "Have you ever paid someone?", "Have you ever sat an exam for someone?"]
INTRODUCTION = "Who asks, and why."


@pytest.fixture
def desk(open_page: Opener, installation: factories.Served) -> Desk:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    return Desk(page)


def write_survey(desk: Desk) -> None:
    """Three questions at gamma 0.3, as a draft."""
    desk.link("New survey").click()
    desk.field("Title").fill("Exam survey")
    desk.field("Introduction").fill(INTRODUCTION)
    desk.part(1, "Wording").fill(WORDINGS[0])
    for wording in WORDINGS[1:]:
        desk.add(wording=wording)
    desk.await_saved()
    desk.slider().focus()
    for _ in range(5):
        desk.page.keyboard.press("ArrowRight")
    expect(desk.page.locator("#slider-value")).to_have_text("γ = 0.3")
    desk.button("Save the draft").click()
    desk.page.wait_for_url(re.compile(r"/surveys/\w+$"))
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Exam survey")


def test_the_printed_link_signs_in_once(open_page: Opener, sqlite: Any) -> None:
    with factories.serving(sqlite(True)) as running:
        page = open_page(base_url=running.url)
        desk = Desk(page)
        page.goto("/manage/surveys")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        page.goto(running.sign_in_link)
        desk.button("Sign in").click()
        expect(desk.link("New survey")).to_be_visible()
        (cookie,) = page.context.cookies()
        assert (cookie["path"], cookie["httpOnly"], cookie["sameSite"]) == ("/manage", True, "Lax")
        desk.button("Sign out").click()
        open_page.watch(page).expect("403")
        page.goto(running.sign_in_link)
        desk.button("Sign in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        open_page.close(page)


def test_the_slider_shows_its_consequences(desk: Desk) -> None:
    """epsilon = ln((1/2 + gamma) / (1/2 - gamma)) for each of two questions; 1,537 = 4 x 384.1 for gamma 1/4."""
    desk.link("New survey").click()
    desk.field("Title").fill("Exams")
    desk.part(1, "Wording").fill("Copied?")
    desk.add(wording="Paid?")
    expect(desk.plan()).to_contain_text("1,537")
    expect(desk.page.locator("#spent")).to_contain_text("ε = 2.20")
    desk.slider().focus()
    for key, gamma, loss, total in [
        ("ArrowRight", "0.26", "1.16", "2.31"),
        ("End", "0.49", "4.60", "9.20"),
        ("Home", "0.01", "0.05", "0.09"),
        ("ArrowRight", "0.02", "0.09", "0.17"),
    ]:
        desk.page.keyboard.press(key)
        expect(desk.page.locator("#slider-value")).to_have_text(f"γ = {gamma}")
        expect(desk.page.locator("#spent")).to_contain_text(f"ε = {total}")
        expect(desk.entry(1).locator("summary").first).to_contain_text(loss)
        expect(desk.slider()).to_be_focused()


def test_the_preview_sends_and_stores_nothing(desk: Desk, installation: factories.Served) -> None:
    write_survey(desk)
    before = factories.dump(installation.database_url)
    page = desk.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method != "GET" else None)
    desk.link("Preview").click()
    visit = Respondent(page, desk.slug)
    expect(page.get_by_text("Preview: nothing is sent or stored.")).to_be_visible()
    visit.answer("Yes", "No", "Yes")
    visit.button("Send").click()
    expect(visit.heading("End of the preview")).to_be_visible()
    assert sent == []
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert factories.dump(installation.database_url) == before


def test_from_the_draft_to_the_downloads(
    desk: Desk, open_page: Opener, installation: factories.Served
) -> None:
    page = desk.page
    write_survey(desk)
    page.get_by_role("button", name="Publish").click()
    link = share(desk, installation.url)
    factories.settle(installation.database_url, desk.slug, minimum=1)

    page.clock.install()
    desk.link("Results").click()
    figure = page.locator("#live dd").first
    expect(figure).to_have_text("0")
    page.evaluate("globalThis.sameDocument = true")

    phone = open_page(**PHONE)
    phone.goto(link)
    visit = Respondent(phone, desk.slug)
    visit.answer("Yes", "No", "No")
    reports = json.loads(visit.sent_body())["reports"]
    visit.send()

    page.clock.fast_forward(11_000)
    expect(figure).to_have_text("1")
    assert page.evaluate("globalThis.sameDocument") is True
    page.locator("#take > summary").click()  # folded, as no response was shown when the page came
    check_downloads(desk, reports)

    desk.link("Overview").click()
    page.get_by_text("Close the survey").click()
    desk.button("Close it now").click()
    expect(page.get_by_text("closed", exact=True)).to_be_visible()
    late = open_page(**PHONE)
    open_page.watch(late).expect("410")
    late.goto(link)
    expect(late.get_by_role("heading", level=1)).to_have_text("This survey is closed")


def share(desk: Desk, url: str) -> str:
    """Copy the link, and hold the QR code against it."""
    page = desk.page
    link = f"{url}/s/{desk.slug}"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.button("Copy the link").click()
    expect(desk.button("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    code = page.get_by_role("img", name="QR code of the link")
    expect(code).to_have_js_property("complete", True)
    assert code.evaluate("image => image.naturalWidth") > 0
    shown = page.request.get(code.evaluate("image => image.src")).body()
    assert any(shown == qr_code(link, error) for error in "lmqh")
    return link


def qr_code(link: str, error: str) -> bytes:
    image = io.BytesIO()
    segno.make(link, error=error).save(image, kind="svg", scale=8, border=4, light="white")
    return image.getvalue()


def check_downloads(desk: Desk, reports: list[int]) -> None:
    """Every file opens as what it says, and tells of one response."""
    files: dict[str, str] = {}
    for name in (
        "Report as HTML",
        "Report as CSV",
        "Report as JSON",
        "Noisy responses as CSV",
        "Codebook as CSV",
    ):
        with desk.page.expect_download() as started:
            desk.link(name).click()
        assert re.search(rf", [a-z0-9 ]+, {today()}\.\w+$", started.value.suggested_filename)
        files[name] = started.value.path().read_text("utf-8-sig")
    assert "<!doctype html>" in files["Report as HTML"].lower()
    report = rows(files["Report as CSV"])
    assert [row["text"] for row in report if row["statistic"] == "text"] == [INTRODUCTION]
    assert {(row["text"], row["n"]) for row in report if row["statistic"] not in ("text", "disclosure")} == {
        (text, "1") for text in WORDINGS
    }
    assert json.loads(files["Report as JSON"])["n"] == 1
    (row,) = rows(files["Noisy responses as CSV"])
    assert [int(value) for value in list(row.values())[-3:]] == reports
    assert all(text in files["Codebook as CSV"] for text in WORDINGS)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_on_a_phone_with_the_keyboard_alone_in_spanish(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(viewport=PHONE["viewport"], locale="es")
    desk = Desk(page, "es")
    page.goto(f"/manage/sign-in/{factories.sign_in_secret(installation.database_url)}")
    press_on(page, desk.button("Sign in"), "Enter")
    press_on(page, page.get_by_role("link", name="Nueva encuesta"), "Enter")
    expect(desk.field("Title")).to_be_focused()
    page.keyboard.type("Encuesta de exámenes")
    press_on(page, desk.part(1, "Wording"), "End")
    page.keyboard.type("¿Ha copiado alguna vez?")
    press_on(page, desk.slider(), "ArrowLeft")
    expect(page.locator("#slider-value")).to_have_text("γ = 0,24")
    press_on(page, page.locator(".spent .primary"), "Enter")
    press_on(page, page.get_by_role("button", name="Publicar la versión 1"), "Enter")
    expect(page.get_by_role("img", name="Código QR del enlace")).to_be_visible()
    press_on(page, desk.link("Results"), "Enter")
    expect(page.get_by_text("respuestas mostradas hasta ahora")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
