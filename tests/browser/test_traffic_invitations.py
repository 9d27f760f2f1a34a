"""With the coins fixed, visits with an invitation that differ in their answers leave the same bytes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from server.collect import response_codes
from server.people import survey_access
from tests.browser.conftest import Opener
from tests.browser.recorder import Recorder, recording
from tests.browser.site_users import SURVEY, Respondent
from tests.browser.test_traffic import CHOSEN, FETCH, LEARNT
from tests.browser.visit_traces import COINS, differences, record_visit
from tests.support import factories

Behave = Callable[[Respondent, str], None]


@pytest.fixture(scope="module")
def recorder(installation: factories.Served) -> Iterator[Recorder]:
    """The server, behind something that keeps what is sent to it."""
    with recording(installation.url) as running:
        yield running


def by_link(code: str, *_others: object) -> tuple[str, Behave]:
    """The fragment, and what is done with it."""

    def behave(visit: Respondent, truth: str) -> None:
        visit.answer(truth, truth, truth)
        visit.send()

    return f"#{code}", behave


def typed_after_others(code: str, other: str, use: Callable[[str], None]) -> tuple[str, Behave]:
    """A code that is refused before the questions, one that somebody uses meanwhile, and another that is typed then."""

    def behave(visit: Respondent, truth: str) -> None:
        field = visit.page.get_by_role("textbox")
        field.fill("0000 0000 0000 0000")
        visit.start(3)
        expect(visit.page.locator("#uncoded")).not_to_be_empty()
        field.fill(other)
        visit.answer(truth, truth, truth)
        use(other)
        visit.button("Send").click()
        visit.page.get_by_role("textbox").fill(code)
        visit.button("Use this code").click()
        visit.send()

    return "", behave


@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize("way", [by_link, typed_after_others])
def test_yes_and_no_leave_the_same_bytes(
    open_page: Opener,
    recorder: Recorder,
    installation: factories.Served,
    way: Callable[[str, str, Callable[[str], None]], tuple[str, Behave]],
    coins: str,
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    code, other = (
        each.replace("-", "") for each in factories.invite(installation.database_url, survey.slug, 2)
    )

    def use(code: str) -> None:
        with factories.writing(installation.database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            response_codes.spend(session.connection(), [(found.id, code)])

    fragment, behave = way(code, other, use)
    complaint = "" if way is by_link else "409|422"
    yes, no = (
        record_visit(open_page, recorder, installation, survey, truth, behave, coins, (), complaint, fragment)
        for truth in ("Yes", "No")
    )

    assert differences(yes, no) == []
    posted = [sent for sent in yes["bytes"] if sent.startswith(b"POST ")]
    paths = [sent.split(b" ")[1].rpartition(b"/")[2] for sent in posted]
    times = 1 if way is by_link else 2
    assert paths == [b"code.json"] * times + [b"responses"] * times
    assert json.loads(posted[-1].partition(b"\r\n\r\n")[2])["reports"] == [int(coins == "Yes")] * 3
    assert places_of(code, yes) == ["body"]


def places_of(code: str, left: dict[str, Any]) -> list[str]:
    """Where a visit left its code: it belongs into a body, and nowhere else."""
    heads = [sent.partition(b"\r\n\r\n")[0].upper() for sent in left["bytes"]]
    bodies = [sent.partition(b"\r\n\r\n")[2].upper() for sent in left["bytes"]]
    kept = {place: repr(left[place]).upper() for place in ("stored", "document", "cookies", "entries")}
    return [
        *(["body"] if any(code.encode() in body for body in bodies) else []),
        *(["head"] if any(code.encode() in head for head in heads) else []),
        *(place for place, said in kept.items() if code in said.replace("-", "")),
    ]


SMALL = (
    'body: truth === "1" ? options.body.replace(/"invitation.*/, (code) => code.toLowerCase()) : options.body'
)
GROUPED = 'body: options.body.replace(/(\\w{4})"\\n}$/, truth === "1" ? `-$1"\\n}` : `$1-"\\n}`)'


@pytest.mark.parametrize("leak", [SMALL, GROUPED], ids=["small letters", "a hyphen"])
def test_a_page_that_writes_the_code_by_the_truth_is_caught(
    open_page: Opener, recorder: Recorder, installation: factories.Served, leak: str
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    code = factories.invite(installation.database_url, survey.slug, 1)[0].replace("-", "")
    fragment, behave = by_link(code)
    spoiled = ("answer.js", CHOSEN, LEARNT.format(FETCH.format(f"real(url, {{ ...options, {leak} }})")))
    yes, no = (
        record_visit(
            open_page, recorder, installation, survey, truth, behave, "No", [spoiled], fragment=fragment
        )
        for truth in ("Yes", "No")
    )
    assert differences(yes, no) != []


KEEPING = {
    "the history": ("invitation.js", "location.pathname + location.search;", "location.href;"),
    "the address": ("code_use.js", "\nforget();\n", "\n"),
    "the storage": ("submit.js", "...rounds(family), [round]", "body: read(page.round), [round]"),
    "a request": ("invitation.js", "let ask = ", "fetch(`/?${location.hash.slice(1)}`); let ask = "),
}  # fmt: skip


@pytest.mark.parametrize("place", KEEPING)
def test_a_page_that_keeps_the_code_is_caught(
    open_page: Opener, recorder: Recorder, installation: factories.Served, place: str
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    code = factories.invite(installation.database_url, survey.slug, 1)[0].replace("-", "")
    fragment, behave = by_link(code)
    left = record_visit(
        open_page, recorder, installation, survey, "Yes", behave, "No", [KEEPING[place]], fragment=fragment
    )
    assert places_of(code, left) != ["body"]
