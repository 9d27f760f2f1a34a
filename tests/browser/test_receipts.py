"""The receipt in a browser: its words, what they are typed like, taking back, and what is queued stays out."""

import re
import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Respondent, words
from tests.browser.visit_traces import await_files
from tests.support import factories
from tests.support.code_reader import read_code


def send(page: Page, served: factories.Served, language: str = "en") -> tuple[Respondent, str]:
    """Answer a survey; the respondent, and the words of the receipt."""
    survey = factories.publish(served.database_url, SURVEY)
    visit = Respondent(page, survey.slug, language).open()
    visit.answer("Yes", "No", "Yes")
    visit.send()
    shown = page.locator("output")
    expect(shown).to_have_text(re.compile(r"^(\S+ ){11}\S+$"))
    return visit, shown.inner_text()


@pytest.mark.parametrize(("language", "device"), [("en", PHONE), ("es", DESK)])
def test_a_response_is_looked_for_and_taken_back_by_its_words(
    language: str,
    device: dict[str, object],
    open_page: Opener,
    installation: factories.Served,
    inspector: Inspector,
) -> None:
    page = open_page(locale=language, **device)
    open_page.watch(page).expect("status of 410")
    visit, receipt = send(page, installation, language)
    inspector.look(page, f"sent {language}")
    say = words(language)
    page.get_by_role("link", name=say("Is my response in?")).click()
    field = page.get_by_label(say("Your receipt"))
    look = page.get_by_role("button", name=say("Is my response in?"))
    status = page.get_by_role("status")
    wrong = receipt.split()
    wrong[4] = "xyzzy"
    field.fill(" ".join(wrong))
    look.click()
    expect(page.get_by_role("alert")).to_contain_text("xyzzy")
    expect(page.get_by_role("alert")).to_contain_text("5")
    inspector.look(page, f"receipt {language}")
    field.fill(f"  {receipt.upper()}\n")
    field.press("Tab")
    page.keyboard.press("Enter")
    expect(status).to_have_text(say("Your response is in."))
    inspector.look(page, f"found {language}")
    page.get_by_role("button", name=say("Take it back")).click()
    expect(status).to_have_text(say("Your response is not in any more."))
    expect(field).to_be_focused()
    field.fill(" ".join(word[:4] for word in receipt.split()))
    look.click()
    expect(status).to_have_text(
        say(
            "No response with this receipt is in. "
            "It may have been taken back, belong to another survey, or not have arrived. "
            "Answers that still wait on a device cannot be taken back before they have arrived: look again then."
        )
    )
    assert receipt.split()[0] not in page.url
    factories.close(installation.database_url, visit.slug)
    look.click()
    expect(page.get_by_role("alert")).to_have_text(
        say("This survey was closed in the meantime, so that is no longer possible.")
    )
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    inspector.look(page, f"closed {language}")


def test_while_the_server_has_too_much_to_do_the_page_asks_again_by_itself(
    open_page: Opener, installation: factories.Served
) -> None:
    """Three times; then it says so, and the next press asks anew."""
    page = open_page(**PHONE)
    open_page.watch(page).allow("status of (429|503)")
    _visit, receipt = send(page, installation)
    page.get_by_role("link", name="Is my response in?").click()
    page.clock.install()
    asked: list[int] = []
    refusals = [429, 503, 503, 429, 503]

    def answer(route: Route) -> None:
        asked.append(len(asked))
        if len(asked) > len(refusals):
            route.continue_()
            return
        problem = {"error": {"field": "receipt", "message": ""}}
        route.fulfill(status=refusals[len(asked) - 1], json=problem, headers={"Retry-After": "1"})

    page.route("**/receipt.json", answer)
    look = page.get_by_role("button", name="Is my response in?")
    page.get_by_label("Your receipt").fill(receipt)
    look.click()

    def wait_for(number: int) -> None:
        for _ in range(200):
            if len(asked) < number:
                page.wait_for_timeout(50)  # for what was answered
                page.clock.run_for(4000)

    wait_for(4)
    busy = "The server has too much to do at the moment, and did not look. Try again in a minute."
    expect(page.get_by_role("alert")).to_have_text(busy)
    assert len(asked) == 4
    look.click()
    wait_for(6)
    expect(page.get_by_role("status")).to_have_text("Your response is in.")
    assert len(asked) == 6


def test_nothing_is_offered_to_be_taken_back_by_a_receipt_that_stands_there_no_more(
    open_page: Opener, installation: factories.Served
) -> None:
    """What is told of one comes when another was typed: the button would take the first one's response back."""
    page = open_page(**PHONE)
    visit, receipt = send(page, installation)
    held: list[Route] = []
    page.route("**/receipt.json", lambda route: held.append(route))
    visit.open("/receipt")
    field = page.get_by_label("Your receipt")
    field.fill(receipt)
    with page.expect_request("**/receipt.json"):
        page.get_by_role("button", name="Is my response in?").click()
    field.fill("0" * 32)
    with page.expect_request("**/receipt.json"):
        held[0].continue_()
        # Nothing is asked before the answer has come.
        page.evaluate(
            "() => { const again = () => { if (globalThis.done) return;"
            "document.getElementById('receipt').requestSubmit(); requestAnimationFrame(again); }; again(); }"
        )
    page.evaluate("globalThis.done = true")
    expect(page.get_by_role("button", name="Take it back")).to_have_count(0)


@pytest.mark.parametrize("came", [True, False])
def test_a_receipt_whose_words_do_not_come_is_a_number_that_does_the_same(
    open_page: Opener, installation: factories.Served, came: bool
) -> None:
    """As on a page of a release that was replaced meanwhile; nothing is said of words that are not there."""
    page = open_page(**PHONE, locale="ar")
    if not came:
        open_page.watch(page).expect("status of 404")
        page.route("**/words*.js", lambda route: route.fulfill(status=404))
    visit = Respondent(page, factories.publish(installation.database_url, SURVEY).slug, "ar").open()
    visit.answer("Yes", "No", "Yes")
    visit.button("Send").click()
    said = page.get_by_text(
        visit.say("Its words are in English: there is no list of such words in your language.")
    )
    missing = page.locator(".unspelled")
    expect(said if came else missing).to_be_visible()
    expect(missing if came else said).to_be_hidden()
    receipt = page.locator("output").inner_text()
    assert len(receipt.split()) == (12 if came else 8)
    page.unroute_all()
    page.goto(f"/s/{visit.slug}/receipt")
    page.get_by_role("textbox").fill(receipt)
    visit.button("Is my response in?").click()
    expect(page.get_by_role("status")).to_have_text(visit.say("Your response is in."))


CACHED = """async () => {
  const { files } = await (await fetch('/client/manifest.json')).json();
  const kept = (file) => fetch(file, { cache: 'only-if-cached', mode: 'same-origin' }).then(() => [file], () => []);
  return (await Promise.all(Object.keys(files).map(kept))).flat();
}"""


def test_a_browsers_cache_does_not_tell_who_has_answered_from_who_declined(
    open_page: Opener, installation: factories.Served
) -> None:
    """Nor the page of the receipt who has one."""
    survey = factories.publish(installation.database_url, SURVEY)
    found = []
    for answers in (True, False):
        page = open_page(**PHONE)
        open_page.watch(page).allow("ERR_CACHE_MISS|Failed to fetch|only-if-cached|status of 504")
        visit = Respondent(page, survey.slug).open()
        if answers:
            visit.answer("Yes", "No", "Yes")
            visit.send()
            page.get_by_role("link", name="Is my response in?").click()
            expect(visit.button("Is my response in?")).to_be_visible()
            page.wait_for_load_state("networkidle")
        else:
            await_files(page)
            visit.button("I’d rather not take part").click()
        found.append(page.evaluate(CACHED))
    assert found[0] == found[1] != []


def rows_of(picture: Path) -> list[str]:
    """The dark squares of a saved code, without what is around it; every dot and check of the PNG is looked at."""
    content = picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, rest = {}, content[8:]
    while rest:
        (length,) = struct.unpack(">I", rest[:4])
        body, check, rest = rest[4 : 8 + length], rest[8 + length : 12 + length], rest[12 + length :]
        assert zlib.crc32(body) == int.from_bytes(check)
        chunks[body[:4]] = body[4:]
    width, height, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (width, form) == (height, [1, 0, 0, 0, 0])
    raw = zlib.decompress(chunks[b"IDAT"])
    step = 1 + width // 8
    lines = [raw[start : start + step] for start in range(0, len(raw), step)]
    assert len(lines) == height
    assert {byte for line in lines for byte in line[1:]} <= {0x00, 0xFF}  # squares of eight dots
    assert all(lines[place] == lines[place - place % 8] for place in range(height))
    rows = ["".join("0" if byte else "1" for byte in line[1:]) for line in lines[::8]]
    assert {*rows[:4], *rows[-4:]} == {"0" * (width // 8)}
    assert {row[:4] + row[-4:] for row in rows} == {"0" * 8}
    return [row[4:-4] for row in rows[4:-4]]


@pytest.mark.parametrize(("language", "device"), [("es", PHONE), ("en", {**DESK, "color_scheme": "dark"})])
def test_a_saved_receipt_is_scanned_and_sent_by_nobody_but_who_asks(
    language: str,
    device: dict[str, object],
    open_page: Opener,
    installation: factories.Served,
    inspector: Inspector,
    tmp_path: Path,
) -> None:
    page = open_page(locale=language, **device)
    say = words(language)
    visit, receipt = send(page, installation, language)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
    page.get_by_text(say("As a picture to scan or save")).click()
    expect(page.locator(".receipt svg")).to_be_visible()
    inspector.look(page, f"code {language}")
    with page.expect_download() as download:
        page.get_by_role("button", name=say("Save the picture")).click()
    assert download.value.suggested_filename == f"{say('receipt')}.png"
    download.value.save_as(tmp_path / "code.png")
    address = read_code(rows_of(tmp_path / "code.png"))
    number = address.partition("#")[2]
    assert address == f"{installation.url}/s/{visit.slug}/receipt#{number}"
    assert not [url for url in asked if not url.startswith("blob:")]

    other = open_page(locale=language, **device)
    other.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
    other.goto(f"/s/{visit.slug}/how")
    other.goto(address)
    field = other.get_by_label(say("Your receipt"))
    expect(field).to_have_value(receipt)
    expect(other.locator("#scanned")).to_be_visible()
    inspector.look(other, f"scanned {language}")
    assert other.url == f"{installation.url}/s/{visit.slug}/receipt"
    assert not [url for url in asked if number in url.replace(address, "") or receipt in url]
    other.go_back()
    other.go_forward()
    assert other.url == f"{installation.url}/s/{visit.slug}/receipt"
    # Another one, scanned into the same page; and what is none stays where it is.
    other.goto(f"/s/{visit.slug}/receipt#{'0' * 32}")
    expect(field).to_have_value(re.compile(r"^(\S+ )\1{10}\S+$"))
    other.goto(address)
    expect(field).to_have_value(receipt)
    other.get_by_role("button", name=say("Is my response in?")).click()
    expect(other.get_by_role("status")).to_have_text(say("Your response is in."))
    factories.close(installation.database_url, visit.slug)
    open_page.watch(other).expect("status of 410")
    other.goto(f"/s/{visit.slug}/how")
    other.goto(address)
    expect(other.get_by_role("textbox")).to_have_count(0)
    assert other.url == f"{installation.url}/s/{visit.slug}/receipt"


def test_an_address_without_a_receipt_fills_in_nothing(
    open_page: Opener, installation: factories.Served
) -> None:
    slug = factories.publish(installation.database_url, SURVEY).slug
    page = open_page(**PHONE)
    for fragment in ("main", "0" * 31, "F" * 32):
        page.goto(f"/s/{slug}/receipt?with={fragment}#{fragment}")
        expect(page.get_by_label("Your receipt")).to_be_visible()
        expect(page.get_by_label("Your receipt")).to_have_value("")
        expect(page.locator("#scanned")).to_be_hidden()
        assert page.url.endswith(f"#{fragment}")
