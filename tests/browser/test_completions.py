"""A code at the end, signed blindly in a real browser: whatever was answered, and when the page is loaded again."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from server.study import surveys
from tests.browser.conftest import Opener
from tests.browser.recorder import recording
from tests.browser.site_users import PHONE, SURVEY, Respondent
from tests.browser.visit_traces import COINS, differences, record_visit
from tests.support import completion_claims, factories

STORED = "[...Object.entries(localStorage), ...Object.entries(sessionStorage)].flat().join(' ')"
CODE = ".completion code"


@pytest.fixture
def survey(installation: factories.Served) -> factories.Published:
    return completion_claims.publish(installation.database_url, SURVEY)


def read(page: Page) -> str:
    """The code that is shown, once it is."""
    expect(page.locator(CODE)).to_have_text(re.compile(r"^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){4}$"))
    return page.locator(CODE).inner_text()


def check(served: factories.Served, survey: factories.Published, *codes: str) -> list[str]:
    with factories.writing(served.database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        return [str(each.verdict) for each in completion_claims.check_codes(session, found[0], codes)]


def answer(page: Page, survey: factories.Published) -> Respondent:
    respondent = Respondent(page, survey.slug).open()
    respondent.answer("Yes", "No", "Yes")
    return respondent


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("width", [320, 390])
def test_a_code_stands_whole_on_a_line_of_its_own(
    open_page: Opener, installation: factories.Served, survey: factories.Published, width: int, language: str
) -> None:
    """Broken after a hyphen, it would be copied by hand as two."""
    page = open_page(**{**PHONE, "viewport": {"width": width, "height": 844}, "locale": language})
    visit = Respondent(page, survey.slug, language).open()
    visit.answer("Yes", "No", "Yes")
    visit.button("Send").click()
    read(page)

    lines = page.evaluate(
        """selector => {
          const code = document.querySelector(selector);
          const words = document.createRange();
          words.selectNodeContents(code);
          const heights = range => [...range.getClientRects()].map(({ top }) => top);
          return [heights(words).length, heights(words)[0] >= code.getBoundingClientRect().top];
        }""",
        CODE,
    )

    assert lines == [1, True]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_code_is_shown_at_the_end_and_again_when_the_link_is_opened(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    sent: list[tuple[str, dict[str, Any]]] = []
    page.on(
        "request",
        lambda request: (
            sent.append((request.url.rsplit("/", 1)[1], json.loads(request.post_data or "")))
            if request.method == "POST"
            else None
        ),
    )
    answer(page, survey).send()
    code = read(page)
    (first, body), (second, claim) = sent
    assert (first, sorted(body)) == ("responses", ["id", "reports", "version"])
    assert (second, sorted(claim)) == ("completion.json", ["blinded"])
    plain = code.replace("-", "")
    assert plain[:12] not in json.dumps(sent)
    assert str(body["id"]) not in page.evaluate(STORED)
    assert str(claim["blinded"]) not in page.evaluate(STORED)
    expect(page.get_by_text("and your completion code; your browser’s history")).to_be_visible()
    Respondent(page, survey.slug).open()
    assert read(page) == code
    assert len(sent) == 2
    assert check(installation, survey, code) == ["good"]
    page.get_by_role("button", name="Erase my traces").click()
    assert page.evaluate(STORED) == ""


@pytest.mark.parametrize("coins", COINS)
def test_yes_and_no_leave_the_same_bytes_with_a_code(
    open_page: Opener, installation: factories.Served, survey: factories.Published, coins: str
) -> None:
    def behave(visit: Respondent, truth: str) -> None:
        visit.answer(truth, truth, truth)
        visit.send()
        read(visit.page)

    with recording(installation.url) as recorder:
        yes, no = (
            record_visit(open_page, recorder, installation, survey, truth, behave, coins)
            for truth in ("Yes", "No")
        )
    assert differences(yes, no) == []
    posted = [sent.split(b" ")[1].rpartition(b"/")[2] for sent in yes["bytes"] if sent.startswith(b"POST ")]
    assert sorted(posted) == [b"completion.json", b"responses"]


def test_an_answer_that_is_lost_is_asked_for_again_with_the_same(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    asked: list[str] = []

    def lose(route: Route) -> None:
        asked.append(route.request.post_data or "")
        route.fetch()
        route.abort()

    page.route("**/completion.json", lose, times=1)
    page.on(
        "request", lambda sent: asked.append(sent.post_data or "") if "completion.json" in sent.url else None
    )
    answer(page, survey).send()
    assert check(installation, survey, read(page)) == ["good"]
    assert len(asked) == 3
    assert len(set(asked)) == 1


def test_a_page_that_is_loaded_again_before_the_code_is_there_loses_none(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    page.route("**/completion.json", lambda route: route.abort())
    with page.expect_request("**/completion.json") as first:
        answer(page, survey).send()
    expect(page.locator(".completion [role=status]")).to_have_text("One moment…")
    page.unroute("**/completion.json")
    with page.expect_request("**/completion.json") as again:
        page.reload()
    assert again.value.post_data == first.value.post_data
    assert check(installation, survey, read(page)) == ["good"]


def test_a_page_that_leaves_no_note_leaves_no_code_either(
    open_page: Opener, installation: factories.Served
) -> None:
    survey = completion_claims.publish(installation.database_url, SURVEY, forgets=True)
    page = open_page(**PHONE)
    answer(page, survey).send()
    code = read(page)
    expect(page.get_by_text("copy it before you close this page")).to_be_visible()
    assert page.evaluate(STORED) == ""
    assert check(installation, survey, code) == ["good"]


def test_a_page_that_leaves_no_note_leaves_none_where_the_code_never_comes(
    open_page: Opener, installation: factories.Served
) -> None:
    """What the code is made of leads to the receipt: it goes with the answers, not with the code."""
    survey = completion_claims.publish(installation.database_url, SURVEY, forgets=True)
    page = open_page(**PHONE)
    open_page.watch(page).expect("ERR_FAILED")
    page.route("**/completion.json", lambda route: route.abort())
    answer(page, survey).send()
    expect(page.locator(".completion [role=status]")).to_have_text("One moment…")
    assert page.evaluate(STORED) == ""


@pytest.mark.parametrize("made", [True, False])
def test_a_survey_that_takes_no_more_answers_still_shows_the_code(
    open_page: Opener, installation: factories.Served, survey: factories.Published, made: bool
) -> None:
    """Paused here; as where as many as were looked for have answered, and this one was the last."""
    page = open_page(**PHONE)
    if not made:
        open_page.watch(page).expect("ERR_FAILED")
        page.route("**/completion.json", lambda route: route.abort())
    open_page.watch(page).expect("423")
    answer(page, survey).send()
    code = read(page) if made else ""
    page.unroute("**/completion.json")
    factories.settle(installation.database_url, survey.slug, paused=True)
    page.goto(f"/s/{survey.slug}")
    expect(page.get_by_role("heading", name="This survey is paused")).to_be_visible()
    assert not made or read(page) == code
    assert check(installation, survey, read(page)) == ["good"]


def test_who_was_never_here_is_shown_no_code_by_a_paused_survey(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    factories.settle(installation.database_url, survey.slug, paused=True)
    page = open_page(**PHONE)
    open_page.watch(page).expect("423")
    page.goto(f"/s/{survey.slug}")
    expect(page.get_by_role("heading", name="This survey is paused")).to_be_visible()
    expect(page.get_by_text("For whoever sent you here")).to_have_count(0)


def test_a_key_of_ones_own_is_refused(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """By such a key a server could know the code again: the page does not begin."""
    other = completion_claims.publish(installation.database_url)
    modulus = completion_claims.write_text(completion_claims.find_key(installation.database_url, other.slug))
    page = open_page(**PHONE)
    open_page.watch(page).expect("the key of completion codes differs")

    def exchange(route: Route) -> None:
        document = route.fetch().json()
        route.fulfill(json={**document, "completion_key": modulus})

    page.route("**/survey.json", exchange)
    with page.context.expect_event(
        "weberror", lambda found: "the key of completion codes differs" in str(found.error)
    ):
        page.goto(f"/s/{survey.slug}")
    expect(page.get_by_role("button", name="Start")).to_have_count(0)


def test_a_response_taken_back_meanwhile_gets_none_and_the_page_says_so(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    page = open_page(**PHONE)
    open_page.watch(page).expect("404")

    def refuse(route: Route) -> None:
        route.continue_(post_data=json.dumps({"blinded": "A" * 342}))

    page.route("**/completion.json", refuse)
    answer(page, survey).send()
    expect(page.get_by_text("No code could be made.")).to_be_visible()
    assert "blinded" not in page.evaluate(STORED)


def test_where_the_key_is_lost_answers_arrive_and_the_page_says_what_is_missing(
    open_page: Opener, installation: factories.Served, survey: factories.Published
) -> None:
    """It asks once, and once more when it is loaded again: the key may have been found."""
    page = open_page(**PHONE)
    open_page.watch(page).expect("410")
    factories.lose_keys(installation.database_url, survey.slug)
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "completion.json" in request.url else None
    )
    answer(page, survey).send()
    told = page.get_by_text("This site has lost the key that it signs completion codes with")
    expect(told).to_be_visible()
    page.wait_for_timeout(2_000)  # it used to be asked for again after less than one
    assert len(asked) == 1
    assert len(factories.list_responses(installation.database_url)) >= 1
    page.goto("about:blank")
    page.goto(f"/s/{survey.slug}")
    expect(told).to_be_visible()
    assert len(asked) == 2


@pytest.mark.parametrize("here", [True, False])
def test_a_code_that_comes_after_everything_was_erased_is_not_kept(
    open_page: Opener, survey: factories.Published, here: bool
) -> None:
    """Erased here, nothing is asked for any more; erased by another page, it stands where it was asked for alone."""
    page = open_page(**PHONE)
    open_page.watch(page).allow("ERR_FAILED|ERR_ABORTED")
    held: list[Route] = []
    page.route("**/completion.json", lambda route: held.append(route))
    visit = Respondent(page, survey.slug).open()
    visit.answer("Yes", "No", "Yes")
    with page.expect_request("**/completion.json"):
        visit.send()
    if here:
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/completion.json")):
            visit.button("Erase my traces").click()
        expect(visit.heading("Nothing of this survey is left on this page")).to_be_visible()
    else:
        other = page.context.new_page()
        other.route("**/completion.json", lambda route: route.abort())
        there = Respondent(other, survey.slug).open()
        there.button("Erase my traces").click()
        expect(there.heading("Nothing of this survey is left on this page")).to_be_visible()
        held[0].continue_()
        read(page)
    assert page.evaluate(STORED) == ""
