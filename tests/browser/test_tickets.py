"""A code buys a ticket in a real browser, at another moment than answers are sent, and nothing is left of either."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from server.collect import response_codes
from server.people.survey_access import find
from tests.browser.conftest import Opener
from tests.browser.recorder import recording
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.browser.visit_traces import COINS, differences, record_visit
from tests.support import factories, ticket_buyers

STORED = "[...Object.entries(localStorage), ...Object.entries(sessionStorage)].flat().join(' ')"
HERE = "Your ticket is on this device"
VECTORS = json.loads((factories.ROOT / "tests/vectors/blind_signatures.json").read_text())


def listen(page: Page) -> dict[str, list[dict[str, Any]]]:
    """What is sent, by the end of its address."""
    found: dict[str, list[dict[str, Any]]] = {"ticket.json": [], "code.json": [], "responses": []}
    page.on(
        "request",
        lambda request: (
            found[request.url.rsplit("/", 1)[1]].append(json.loads(request.post_data or ""))
            if request.method == "POST"
            else None
        ),
    )
    return found


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return ticket_buyers.publish(installation.database_url, document=SURVEY)[0]


def test_a_ticket_is_bought_now_and_spent_later(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    plain = code.replace("-", "")
    page = open_page(**PHONE)
    sent = listen(page)
    Respondent(page, survey.slug).open(f"#{plain}").start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_focused()
    assert [each["invitation"] for each in sent["ticket.json"]] == [plain]
    assert plain not in page.url
    assert plain not in page.evaluate(STORED)
    assert (sent["code.json"], sent["responses"]) == ([], [])

    page.goto("about:blank")
    respondent = Respondent(page, survey.slug).open()
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    respondent.answer("Yes", "No", "Yes")
    respondent.send()
    (body,) = sent["responses"]
    assert sorted(body) == ["id", "reports", "ticket", "version"]
    assert len(sent["ticket.json"]) == 1
    assert "ticket" not in page.evaluate(STORED)
    assert body["ticket"] not in json.dumps(sent["ticket.json"])
    rows = factories.dump(installation.database_url)
    assert any(row[0] == factories.hashed_id(str(body["id"])) for row in rows["responses"])


@pytest.mark.parametrize("coins", COINS)
def test_yes_and_no_leave_the_same_bytes_with_a_ticket(
    open_page: Opener, installation: factories.Served, survey: factories.Published, coins: str
) -> None:
    code = factories.invite(installation.database_url, survey.slug, 1)[0].replace("-", "")

    def behave(visit: Respondent, truth: str) -> None:
        visit.start(3)
        expect(visit.page.get_by_role("heading", name=HERE)).to_be_visible()
        visit.answer(truth, truth, truth)
        visit.send()

    with recording(installation.url) as recorder:
        yes, no = (
            record_visit(open_page, recorder, installation, survey, truth, behave, coins, (), "", f"#{code}")
            for truth in ("Yes", "No")
        )
    assert differences(yes, no) == []
    posted = [sent for sent in yes["bytes"] if sent.startswith(b"POST ")]
    ends = {sent.split(b" ")[1].rpartition(b"/")[2]: code.encode() in sent for sent in posted}
    assert ends == {b"ticket.json": True, b"responses": False}


def test_an_answer_that_is_lost_loses_no_ticket(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """The code is spent on the server; the page is loaded again, asks for the same, and has it."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    sent = listen(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/ticket.json", lose, times=1)
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    respondent.start(3)
    expect(page.get_by_text("No ticket arrived. Try again here")).to_be_visible()
    page.reload()
    respondent.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    first, second = sent["ticket.json"]
    assert first == second
    respondent.answer("Yes", "No", "Yes")
    respondent.send()


def test_a_key_of_another_link_is_not_trusted(open_page: Opener, installation: factories.Served) -> None:
    """A server that sold some people of a link tickets under the keys of others, or brought such a ticket here, would
    know these again, though the definition names all of them: the page refuses to begin, and sends nothing.
    """
    survey, slugs = ticket_buyers.publish(installation.database_url, "North\nSouth", SURVEY)
    north, south = slugs.values()
    (code,) = factories.invite(installation.database_url, survey.slug, 1, north)
    own, foreign = (
        ticket_buyers.write_text(ticket_buyers.find_key(installation.database_url, slug))
        for slug in (north, south)
    )
    page = open_page(**PHONE)
    open_page.watch(page).expect("the key of tickets differs")
    sent = listen(page)

    def exchange(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(own, foreign))

    def assert_refused() -> None:
        with page.context.expect_event(
            "weberror", lambda found: "the key of tickets differs" in str(found.error)
        ):
            page.goto("about:blank")
            page.goto(f"/s/{north}#{code}")
        expect(page.get_by_role("heading", name="This survey is not safe to answer here")).to_be_visible()
        expect(page.get_by_text("The key for tickets that this site names is not the one")).to_be_visible()
        expect(page.get_by_text("No question was asked and nothing was sent.")).to_be_visible()
        expect(page.get_by_role("button", name="Start")).to_have_count(0)
        assert list(sent.values()) == [[], [], []]

    page.route("**/survey.json", exchange)
    assert_refused()
    page.unroute("**/survey.json")
    (ticket,) = ticket_buyers.make_tickets(installation.database_url, south, 1)
    page.goto("about:blank")
    respondent = Respondent(page, north).open(f"#{code}")
    page.evaluate(
        "(ticket) => localStorage.setItem(`moneda:ticket:${document.querySelector('main').dataset.round}"
        ":${location.pathname}`, JSON.stringify({ticket, among: 0}))",
        ticket,
    )
    respondent.start(3)  # as if another page had put it there meanwhile
    expect(page.get_by_text("No ticket arrived. Try again here")).to_be_visible()
    assert list(sent.values()) == [[], [], []]
    assert_refused()


def test_chromium_blinds_and_unblinds_as_the_rfc_says(open_page: Opener, survey: factories.Published) -> None:
    """RFC 9474, appendix A, with the browser's own cryptography."""
    source = (factories.ROOT / "client" / "blinding.js").read_text().replace("export ", "")
    page = open_page(bypass_csp=True)
    page.goto(f"/s/{survey.slug}")
    for case in VECTORS["cases"]:
        found = page.evaluate(
            "async ({source, n, message, salt, inv, answer}) => {"
            "const {blind, finish, invert, toNumber} = new Function("
            "`${source}; return {blind, finish, invert, toNumber}`)();"
            "const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));"
            "const text = (array) => Array.from(array, (byte) => byte.toString(16).padStart(2, '0')).join('');"
            "const factor = invert(toNumber(bytes(inv)), toNumber(bytes(n)));"
            "const asked = await blind(bytes(n), bytes(message), {salt: bytes(salt), factor});"
            "const signed = await finish(bytes(n), bytes(message), bytes(answer), asked.inverse, bytes(salt).length);"
            "return [text(asked.blinded), text(signed)]; }",
            {
                "source": source,
                "n": VECTORS["n"],
                "message": case["msg_prefix"] + case["msg"],
                "salt": case["salt"],
                "inv": case["inv"],
                "answer": case["blind_sig"],
            },
        )
        assert found == [case["blinded_msg"], case["sig"]]


def test_two_pages_of_a_link_have_one_ticket(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """The second was open before: it takes what the first has bought, and buys nothing over it."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    other = page.context.new_page()
    sent = listen(other)
    here, there = (Respondent(each, survey.slug).open(f"#{code}") for each in (page, other))
    here.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    kept = page.evaluate(STORED)
    there.start(3)
    expect(other.get_by_role("heading", name=HERE)).to_be_visible()
    assert (sent["ticket.json"], other.evaluate(STORED)) == ([], kept)
    page.close()
    there.answer("Yes", "No", "Yes")
    there.send()


def test_a_code_that_is_mistyped_after_a_lost_answer_loses_no_ticket(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """What was drawn for a code is kept until that code has its ticket, or buys none."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    open_page.watch(page).expect("422")
    sent = listen(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/ticket.json", lose, times=1)
    respondent = Respondent(page, survey.slug).open()
    for typed in (code, "0123-4567-89AB-CDEF"):
        page.get_by_label("Code of your invitation").fill(typed)
        respondent.start(3)
        refused = typed != code
        said = "No invitation with this code belongs" if refused else "No ticket arrived. Try again here"
        expect(page.get_by_text(said)).to_be_visible()
        page.reload()
    assert "0123456789ABCDEF" not in page.evaluate(STORED)
    page.get_by_label("Code of your invitation").fill(code)
    respondent.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    first, _mistyped, second = sent["ticket.json"]
    assert first == second


@pytest.mark.parametrize("how", ["declined", "erased elsewhere"])
def test_a_ticket_that_comes_after_its_buyer_has_declined_is_not_kept(
    open_page: Opener, installation: factories.Served, survey: factories.Published, how: str
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    held: list[Route] = []
    page.route("**/ticket.json", lambda route: held.insert(0, route))
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    with page.expect_request("**/ticket.json"):
        respondent.start(3)
    if how == "declined":
        respondent.button("I’d rather not take part").click()
        expect(respondent.heading("That is fine. No answer was sent now.")).to_be_visible()
    else:
        page.evaluate("localStorage.clear()")
    held[0].continue_()
    # Whoever asks for the lock of those that buy has it once they have bought.
    place = page.evaluate(
        "`moneda:ticket:${document.querySelector('main').dataset.round}:${location.pathname}`"
    )
    assert (
        page.evaluate(
            "(place) => navigator.locks.request(`moneda:ticket:${place}`, () => Object.keys(localStorage))",
            place,
        )
        == []
    )
    if how != "declined":
        # Who presses again asks for the same, and has it.
        page.unroute("**/ticket.json")
        respondent.start(3)
        expect(page.get_by_role("heading", name=HERE)).to_be_visible()


@pytest.mark.parametrize(
    "file", ["respondent_tickets.js", "respondent_admission.js", "respondent_code_use.js", "screens"]
)
def test_a_page_without_the_script_of_tickets_asks_and_sends_nothing(
    open_page: Opener, installation: factories.Served, survey: factories.Published, file: str
) -> None:
    """An old browser cannot read it: without it the code would go along with the answers."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED")
    sent = listen(page)
    page.route(f"**/{file}*", lambda route: route.abort())
    page.goto(f"/s/{survey.slug}#{code}")
    expect(page.get_by_text("Part of this page did not arrive, or this browser is too old")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)
    assert list(sent.values()) == [[], [], []]


def test_a_ticket_goes_from_the_device_also_where_its_answers_arrive_from_the_page_of_a_pause(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED|423")
    page.route("**/responses", lambda route: route.abort())
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    respondent.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    respondent.answer("Yes", "No", "Yes")
    respondent.button("Send").click()
    expect(page.get_by_text("The connection is poor")).to_be_visible()
    factories.settle(installation.database_url, survey.slug, paused=True)
    page.reload()
    expect(respondent.heading("Your answers are still waiting here")).to_be_visible()
    assert "moneda:ticket" in page.evaluate(STORED)
    factories.settle(installation.database_url, survey.slug, paused=False)
    page.unroute("**/responses")
    expect(page.get_by_text("Your ticket counts as used; it is gone from this device.")).to_be_visible()
    assert "ticket" not in page.evaluate(STORED)


@pytest.mark.parametrize("ready", [False, True])
def test_a_ticket_goes_once_its_link_is_opened_after_the_survey_was_closed(
    open_page: Opener, installation: factories.Served, survey: factories.Published, ready: bool
) -> None:
    """Until then, whoever is refused is told that it is here."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("410")
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    respondent.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    if ready:
        respondent.answer("Yes", "No", "Yes")
    factories.close(installation.database_url, survey.slug)
    if ready:
        respondent.button("Send").click()
        expect(page.get_by_text("All that is left of it on this device is your ticket")).to_be_visible()
        expect(page.get_by_text("nothing of it is left on this device")).to_have_count(0)
    assert "moneda:ticket" in page.evaluate(STORED)
    page.goto("about:blank")
    respondent.open()
    expect(respondent.heading("This survey is closed")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate(STORED) == ""


@pytest.mark.parametrize("ends", ["full", "closed"])
def test_a_page_that_was_opened_before_says_that_no_ticket_is_sold_any_more(
    open_page: Opener, installation: factories.Served, survey: factories.Published, ends: str
) -> None:
    """And not to try again; the code stays unused."""
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("410")
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    expect(page.get_by_role("heading", name="You have an invitation")).to_be_visible()
    before = factories.dump(installation.database_url)["purchases"]
    if ends == "full":
        (ticket,) = ticket_buyers.make_tickets(installation.database_url, survey.slug, 1)
        sent = survey.response(ticket=ticket)
        assert factories.ask(f"{installation.url}{survey.url}", sent)[0] == 201
        factories.settle(installation.database_url, survey.slug, cap=1)
    else:
        factories.close(installation.database_url, survey.slug)
    respondent.start(3)
    expect(respondent.heading("This survey is closed")).to_be_visible()
    expect(page.get_by_text("As many responses as were looked for")).to_have_count(int(ends == "full"))
    assert factories.dump(installation.database_url)["purchases"] == before


def test_whoever_needs_another_code_after_the_last_place_has_gone_reads_why(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """Neither to try again, nor a page that loads itself anew while answers wait on it."""
    code, other = factories.invite(installation.database_url, survey.slug, 2)
    page = open_page(**PHONE)
    open_page.watch(page).expect("409")
    open_page.watch(page).expect("410")
    sent = listen(page)
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    respondent.start(3)
    expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    (ticket,) = (
        json.loads(value)["ticket"]
        for name, value in page.evaluate("Object.entries(localStorage)")
        if name.startswith("moneda:ticket")
    )
    assert factories.ask(f"{installation.url}{survey.url}", survey.response(ticket=ticket))[0] == 201
    respondent.answer("Yes", "No", "Yes")
    respondent.button("Send").click()
    expect(respondent.heading("Your ticket was not accepted")).to_be_visible()

    factories.settle(installation.database_url, survey.slug, cap=1)
    page.get_by_role("textbox").fill(other)
    respondent.button("Use this code").click()
    expect(respondent.heading("Your answers were not accepted")).to_be_visible()
    expect(page.get_by_text("as many responses as were looked for have come in")).to_be_visible()
    assert [each["invitation"] for each in sent["ticket.json"][1:]] == [other.replace("-", "")]
    assert len(sent["responses"]) == 2


def test_each_link_has_its_own_ticket_on_a_device(open_page: Opener, installation: factories.Served) -> None:
    survey, slugs = ticket_buyers.publish(installation.database_url, "North\nSouth", SURVEY)
    page = open_page(**PHONE)
    for slug in slugs.values():
        (code,) = factories.invite(installation.database_url, survey.slug, 1, slug)
        respondent = Respondent(page, slug).open(f"#{code}")
        expect(page.get_by_role("heading", name=HERE)).to_have_count(0)
        respondent.start(3)
        expect(page.get_by_role("heading", name=HERE)).to_be_visible()
    for slug in slugs.values():
        Respondent(page, slug).open()
        expect(page.get_by_role("heading", name=HERE)).to_be_visible()


def test_a_browser_that_keeps_nothing_is_told_to_answer_now(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    page.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('full'); };")
    respondent = Respondent(page, survey.slug).open(f"#{code}")
    respondent.start(3)
    expect(page.get_by_text("This browser keeps nothing for later: answer now.")).to_be_visible()
    expect(page.get_by_text("or later by the same link on this device")).to_have_count(0)
    respondent.answer("Yes", "No", "Yes")
    respondent.send()


def test_where_the_key_is_lost_the_page_says_so_and_the_code_stays_unused(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    (code,) = factories.invite(installation.database_url, survey.slug, 1)
    page = open_page(**PHONE)
    open_page.watch(page).expect("410")
    factories.lose_keys(installation.database_url, survey.slug)
    Respondent(page, survey.slug).open(f"#{code.replace('-', '')}").start(3)
    expect(page.get_by_text("This site has lost the key that it signs tickets with")).to_be_visible()
    with factories.writing(installation.database_url) as session:
        asked = [(found.id, code.replace("-", "")) for found in [find(session, survey.slug)] if found]
        known = response_codes.look_up(session.connection(), asked)
    assert [each.spent for each in known.values()] == [False]
