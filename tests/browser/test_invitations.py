"""Invitations, from the researcher who issues the codes to the respondents who use them up."""

import csv
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import segno
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, SURVEY, Desk, Respondent, change_language, press_on, sign_in
from tests.support import factories, pdf_reader

STORED = "[...Object.entries(localStorage), ...Object.entries(sessionStorage)].flat().join(' ')"
INVITED = "You have an invitation"
USED = (
    "This code was used already, and each lets one answer in. If that was you, your answer has arrived, "
    "and you can close this page. Nothing was asked of you here."
)


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return factories.publish(installation.database_url, SURVEY)


def plain(code: str) -> str:
    return code.replace("-", "")


def fingerprint(code: str) -> bytes:
    return hashlib.sha256(plain(code).encode()).digest()


def spent(served: factories.Served, code: str) -> object:
    """Whether the code was used."""
    (found,) = [
        row for row in factories.dump(served.database_url)["invitations"] if row[0] == fingerprint(code)
    ]
    return found[2]


def own_rows(served: factories.Served, identity: str) -> list[tuple[object, ...]]:
    return [
        row
        for row in factories.list_responses(served.database_url)
        if row[0] == factories.hashed_id(identity)
    ]


def sent_bodies(page: Page) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = []
    page.on(
        "request",
        lambda request: (
            bodies.append(json.loads(request.post_data or "")) if request.url.endswith("/responses") else None
        ),
    )
    return bodies


def download_file(page: Page, press: Callable[[], object]) -> bytes:
    with page.expect_download() as download:
        press()
    return Path(download.value.path()).read_bytes()


@pytest.mark.parametrize(("device", "language"), [(DESK, "en"), (PHONE, "es")], ids=["mouse", "keyboard"])
def test_a_researcher_issues_codes_and_takes_them_along(
    open_page: Opener,
    installation: factories.Served,
    survey: factories.Published,
    device: dict[str, Any],
    language: str,
) -> None:
    page = open_page(**device, locale=language)
    sign_in(page, installation.database_url)
    desk = Desk(page, language)
    by_keyboard = device is PHONE
    (stratum,) = factories.plant(installation.database_url, survey.slug, "Getafe").values()
    factories.settle(installation.database_url, survey.slug, by_invitation=True)

    def press(target: Locator) -> None:
        if by_keyboard:
            press_on(page, target, "Enter")
        else:
            target.click()

    page.goto(f"/manage/surveys/{survey.slug}")
    press(page.locator(".side").get_by_role("link", name=desk.say("Invitations")))
    page.wait_for_url("**/invitations")
    if by_keyboard:
        for field, typed in ((desk.field("How many"), "12"), (desk.field("Name of the batch"), "By letter")):
            press_on(page, field, "Space")
            page.keyboard.type(typed)
        press_on(page, desk.field("For the link of"), "ArrowDown")
    else:
        desk.field("How many").fill("12")
        desk.field("Name of the batch").fill("By letter")
        desk.field("For the link of").select_option(label="Getafe")
    press(desk.button("Issue the codes"))
    expect(desk.button("Download as a table (CSV)")).to_be_visible()

    table = download_file(page, lambda: press(desk.button("Download as a table (CSV)"))).decode()
    rows = list(csv.DictReader(table.splitlines()))
    codes, links = [row["code"] for row in rows], [row["link"] for row in rows]
    address = f"{installation.url}/s/{stratum}"
    assert links == [f"{address}#{plain(code)}" for code in codes]
    assert len(set(codes)) == 12
    expect(page.get_by_role("status")).to_contain_text(".csv")
    text = download_file(page, lambda: press(desk.button("Download the links (text)"))).decode()
    assert text.split() == links
    sheet = pdf_reader.pages(download_file(page, lambda: press(desk.button("Download cards to print (PDF)"))))
    assert re.findall(r"^[0-9A-Z-]{19}$", "".join(one.text for one in sheet), re.MULTILINE) == codes
    assert all(f"{SURVEY['title']}\n" in one.text and address in one.text for one in sheet)
    for drawn, link in zip([code for one in sheet for code in one.codes], links, strict=True):
        matrix = segno.make_qr(link, error="m", boost_error=False, mask=0).matrix
        assert drawn == {(x, y) for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark}

    press(desk.link("Back to the invitations"))
    expect(page.locator(".batches strong")).to_have_text("By letter")
    database = installation.database_url.removeprefix("sqlite:///")
    for place in (page.content().encode(), *(Path(database + end).read_bytes() for end in ("", "-wal"))):
        assert not any(form.encode() in place for code in codes for form in (code, plain(code)))
    assert {fingerprint(code) for code in codes} <= {
        row[0] for row in factories.dump(installation.database_url)["invitations"]
    }
    press(page.locator(".batches summary"))
    press(desk.button("Withdraw the unused codes"))
    expect(page.locator(".batches .pill")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "es"])
def test_by_a_link_with_the_code_with_the_keyboard_alone(
    open_page: Opener, installation: factories.Served, survey: factories.Published, language: str
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE, locale=language)
    bodies = sent_bodies(page)
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url.partition("#")[0]))
    visit = Respondent(page, survey.slug, language).open(f"#{plain(code)}")

    expect(page.get_by_role("heading", name=visit.say(INVITED))).to_be_visible()
    expect(page.get_by_text(code)).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    answer_by_keyboard(visit)
    expect(visit.heading("Sent. Thank you.")).to_be_focused()
    (body,) = bodies
    assert body["invitation"] == plain(code)
    assert len(own_rows(installation, body["id"])) == 1
    assert spent(installation, code)
    expect_forgotten(page, code)
    # Back and Forward lead to no step that still has it.
    for step in (1, 1, -1, 1, -1, -1):
        page.evaluate(f"history.go({step})")
        page.wait_for_timeout(50)
        expect_forgotten(page, code)
    assert not any(form in address for address in addresses for form in (code, plain(code)))


@pytest.mark.parametrize("language", ["en", "es"])
def test_by_a_code_that_is_typed_from_paper_with_the_keyboard_alone(
    open_page: Opener, installation: factories.Served, survey: factories.Published, language: str
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE, locale=language)
    bodies = sent_bodies(page)
    visit = Respondent(page, survey.slug, language).open()
    start = visit.button("Start · {n} questions", n=3)

    press_on(page, start, "Enter")
    field, problem = page.get_by_role("textbox"), page.locator("#uncoded")
    expect(field).to_be_focused()
    expect(problem).to_have_text(visit.say("Enter the code of your invitation to go on."))
    page.keyboard.type("0123-45")
    page.keyboard.press("Enter")
    wrong = "This is not a complete code: compare it with your invitation. It has 16 letters and digits, without U."
    expect(problem).to_have_text(visit.say(wrong))
    field.fill("")
    expect(problem).to_be_empty()
    # As people type: in small letters, with spaces, O for 0 and l for 1.
    page.keyboard.type(f" {code.lower().replace('-', ' ').replace('0', 'o').replace('1', 'l')}")
    page.keyboard.press("Enter")
    expect(visit.radio("Yes")).to_be_visible()
    page.go_back()
    expect(field).to_have_value(code)
    answer_by_keyboard(visit)
    expect(visit.heading("Sent. Thank you.")).to_be_focused()
    assert [body["invitation"] for body in bodies] == [plain(code)]
    assert spent(installation, code)
    expect_forgotten(page, code)


def answer_by_keyboard(visit: Respondent) -> None:
    """From the introduction to Send, after a look at what is sent."""
    page = visit.page
    press_on(page, visit.button("Start · {n} questions", n=3), "Enter")
    for _ in range(3):
        press_on(page, visit.radio("Yes"), "Space")
        before = page.get_by_role("heading", level=1).inner_text()
        press_on(page, visit.button("Next"), "Enter")
        expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    press_on(page, page.get_by_text(visit.say("See exactly what will be sent")), "Enter")
    expect(page.locator("pre")).to_contain_text('"invitation"')
    press_on(page, visit.button("Send"), "Enter")


def expect_forgotten(page: Page, code: str) -> None:
    """Nothing of the code is on the page, in its address, in its history or in what the browser keeps."""
    expect(page).to_have_url(re.compile(r"^[^#]*$"))
    left = page.evaluate(STORED) + page.evaluate("JSON.stringify(history.state)") + page.content()
    entries = page.context.new_cdp_session(page).send("Page.getNavigationHistory")["entries"]
    # Forward entries count too; what was asked of the network is not kept by the page.
    left += json.dumps([entry["url"] for entry in entries])
    assert not any(form in left.upper() for form in (code, plain(code)))


def use(served: factories.Served, survey: factories.Published, code: str) -> None:
    """Let somebody else answer with a code."""
    sent = {**survey.response([0, 0, 0]), "invitation": plain(code)}
    assert factories.ask(served.url + survey.url, sent)[0] == 201


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_used_code_is_noticed_before_the_questions(
    open_page: Opener, installation: factories.Served, survey: factories.Published, language: str
) -> None:
    """Brought by the link, then a wrong one typed; with a good one it goes on, and asks no second time."""
    used, fresh = factories.invite(installation.database_url, survey.slug, 2)
    use(installation, survey, used)
    page = open_page(**PHONE, locale=language)
    open_page.watch(page).expect("409")
    open_page.watch(page).expect("422")
    looked: list[str] = []
    page.on("request", lambda request: looked.append(request.url) if request.method == "POST" else None)
    visit = Respondent(page, survey.slug, language).open(f"#{plain(used)}")
    start = visit.button("Start · {n} questions", n=3)
    field, problem = page.get_by_role("textbox"), page.locator("#uncoded")
    assert looked == []

    start.click()
    expect(problem).to_have_text(visit.say(USED))
    expect(field).to_have_value(used)
    expect(field).to_be_focused()
    field.fill("0000-0000-0000-0000")
    page.keyboard.press("Enter")
    expect(problem).to_have_text(
        visit.say("No invitation with this code belongs to this link: compare both with what you were given.")
    )
    expect(visit.radio("Yes")).to_have_count(0)
    field.fill(f"{installation.url}/s/{survey.slug}#{plain(fresh)}")
    start.click()
    expect(visit.radio("Yes")).to_be_visible()
    expect(page.get_by_text(visit.say("None of your answers has been sent yet."))).to_be_visible()
    page.go_back()
    expect(field).to_have_value(fresh)
    visit.answer("Yes", "No", "Yes")
    assert len(looked) == 3
    visit.send()
    assert [address.rpartition("/")[2] for address in looked] == ["code.json"] * 3 + ["responses"]
    assert spent(installation, fresh)


@pytest.mark.parametrize("ends", ["full", "closed"])
def test_a_page_that_was_opened_before_the_end_asks_no_question(
    open_page: Opener, installation: factories.Served, survey: factories.Published, ends: str
) -> None:
    """Whoever would answer for nothing reads why, before the first question."""
    last, late = factories.invite(installation.database_url, survey.slug, 2)
    page = open_page(**PHONE)
    open_page.watch(page).expect("410")
    visit = Respondent(page, survey.slug).open(f"#{plain(late)}")
    expect(page.get_by_role("heading", name="You have an invitation")).to_be_visible()
    use(installation, survey, last)
    if ends == "full":
        factories.settle(installation.database_url, survey.slug, cap=1)
    else:
        factories.close(installation.database_url, survey.slug)
    visit.button("Start · {n} questions", n=3).click()
    expect(visit.heading("This survey is closed")).to_be_visible()
    expect(page.get_by_text("As many responses as were looked for")).to_have_count(int(ends == "full"))
    assert not spent(installation, late)


def test_no_code_is_sent_before_the_introduction_was_read(
    open_page: Opener, installation: factories.Served
) -> None:
    document = {**SURVEY, "introduction": "Who asks.\n\nWhat for, and what becomes of it."}
    survey = factories.publish(installation.database_url, document)
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    looked: list[str] = []
    page.on("request", lambda request: looked.append(request.url) if request.method == "POST" else None)
    visit = Respondent(page, survey.slug).open(f"#{plain(code)}")
    page.locator("#about .option input").wait_for(state="attached")
    page.get_by_role("button", name="Start · 3 questions").click()
    expect(page.locator("#unread")).not_to_be_empty()
    assert looked == []
    page.locator("#about .option input").check()
    page.get_by_role("button", name="Start · 3 questions").click()
    expect(visit.radio("Yes")).to_be_visible()
    assert [address.rpartition("/")[2] for address in looked] == ["code.json"]


@pytest.mark.parametrize("answer", ["none", "503", "429", "nothing for long"])
def test_where_a_code_cannot_be_looked_at_the_questions_come_all_the_same(
    open_page: Opener, installation: factories.Served, survey: factories.Published, answer: str
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED|status of (503|429)")
    if answer == "nothing for long":
        page.clock.install(time=0)

    def keep_from_it(route: Route) -> None:
        if answer == "none":
            route.abort()
        elif answer != "nothing for long":
            error = json.dumps({"error": {"field": "invitation", "message": "later"}})
            route.fulfill(status=int(answer), content_type="application/json", body=error)

    page.route("**/code.json", keep_from_it)
    visit = Respondent(page, survey.slug).open(f"#{plain(code)}")
    visit.start(3)
    if answer == "nothing for long":
        expect(page.get_by_text("Checking whether the code was used…")).to_be_visible()
        page.clock.run_for(6000)
    for truth in ("Yes", "No", "Yes"):
        visit.choose(truth)
    page.unroute("**/code.json")
    visit.send()
    assert spent(installation, code)


def test_a_used_code_and_a_wrong_one_lose_nothing_and_flip_no_new_coin(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """The code is used by somebody else while the questions are answered."""
    used, fresh = factories.invite(installation.database_url, survey.slug, 2)
    page = open_page(**PHONE)
    open_page.watch(page).expect("409")
    open_page.watch(page).expect("422")
    visit = Respondent(page, survey.slug).open(f"#{plain(used)}")
    visit.answer("Yes", "No", "Yes")
    use(installation, survey, used)
    bodies = sent_bodies(page)
    visit.button("Send").click()

    def offer(code: str) -> None:
        page.get_by_role("textbox").fill(code)
        visit.button("Use this code").click()
        expect(visit.heading("Your answers are still waiting here")).to_be_focused()
        assert json.loads(visit.sent_body())["invitation"] == plain(code)

    expect(visit.heading("The code was not accepted")).to_be_focused()
    expect(page.get_by_text("It was used already")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value(used)
    page.get_by_role("textbox").fill("abc")
    visit.button("Use this code").click()
    expect(page.locator("#uncoded")).not_to_be_empty()
    offer("0000-0000-0000-0000")
    visit.button("Send").click()
    expect(page.get_by_text("No invitation with this code belongs to this link.")).to_be_visible()
    # Whoever closes the page now finds everything again.
    visit.open()
    expect(visit.heading("The code was not accepted")).to_be_visible()
    offer(fresh)
    visit.send()

    assert [body.pop("invitation") for body in bodies] == [
        plain(used), *["0" * 16] * 2, plain(fresh)
    ]  # fmt: skip
    assert bodies == [bodies[0]] * 4
    assert len(own_rows(installation, bodies[0]["id"])) == 1
    assert spent(installation, fresh)
    expect_forgotten(page, fresh)


def test_without_the_introduction_the_code_is_asked_for_at_the_end(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("422")
    visit = Respondent(page, survey.slug).open()
    page.get_by_role("textbox").fill(code)
    visit.start(3)
    expect(visit.radio("Yes")).to_be_visible()
    page.reload()
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    page.wait_for_function("() => history.state.screen === 0")
    page.go_forward()
    for truth in ("Yes", "Yes", "No"):
        visit.choose(truth)
    visit.button("Send").click()
    expect(visit.heading("This survey asks for an invitation")).to_be_visible()
    page.get_by_role("textbox").fill(code)
    visit.button("Use this code").click()
    visit.send()
    assert spent(installation, code)


@pytest.mark.parametrize("lost", ["request", "answer"])
def test_a_retry_after_a_lost_connection_is_stored_once(
    open_page: Opener, installation: factories.Served, survey: factories.Published, lost: str
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    bodies = sent_bodies(page)

    def lose(route: Route) -> None:
        if lost == "answer":
            assert route.fetch().status == 201
        route.abort()

    visit = Respondent(page, survey.slug).open(f"#{plain(code)}")
    visit.answer("Yes", "No", "Yes")
    page.route("**/responses", lose, times=1)
    visit.send()
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]
    assert len(own_rows(installation, bodies[0]["id"])) == 1
    assert spent(installation, code)


def test_the_code_survives_a_reload_another_language_and_the_way_to_the_content(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    code, other = factories.invite(installation.database_url, survey.slug, 2)
    page = open_page(**PHONE)
    visit = Respondent(page, survey.slug).open(f"#{plain(code)}")
    visit.start(3)
    expect(page).to_have_url(re.compile(r"^[^#]*$"))
    page.reload()
    expect(page.get_by_text(code)).to_be_visible()
    change_language(visit, "es")
    page.wait_for_url(re.compile(r"\?lang=es#"))
    expect(page.get_by_text(code)).to_be_visible()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(plain(code)))
    # Another link in the same window is another invitation.
    page.evaluate(f"location.hash = '{plain(other)}'")
    expect(page.get_by_text(other)).to_be_visible()


def test_other_surveys_load_nothing_of_it(open_page: Opener, survey: factories.Published) -> None:
    page = open_page(**PHONE)
    visit = Respondent(page, survey.slug).open("#0123456789ABCDEF")
    expect(visit.button("Start · {n} questions", n=3)).to_be_visible()
    assert (
        page.locator(
            "script[data-modules*=invitation], script[data-modules*=codes], #invitation, #uninvited"
        ).count()
        == 0
    )
    expect(page.get_by_role("textbox")).to_have_count(0)
