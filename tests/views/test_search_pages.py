"""The pages of searches: the price before anything is spent, one question after the other, and what is refused."""

import html
import re

import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.sample_releases import grant, ledger

FORM = {"share": "50", "positives": "1", "most": "3", "epsilon": "1"}


@pytest.fixture
def slug(database_url: str) -> str:
    """A closed survey: nearly all are estimated to say Yes to the first question, and nobody to the second."""
    made = factories.publish(database_url)
    factories.store(database_url, made, [((1, 0), 6000), ((0, 0), 200)])
    factories.close(database_url, made.slug)
    grant(database_url, made.slug, "2")
    return made.slug


@pytest.fixture
def owner(client: FlaskClient, database_url: str) -> FlaskClient:
    return factories.sign_in(client, factories.sign_in_secret(database_url))


def address(slug: str, rest: str = "") -> str:
    return f"/manage/surveys/{slug}/releases/searches{rest}"


def open_search(owner: FlaskClient, slug: str, **form: str) -> str:
    """The address of a search that was opened."""
    page = owner.post(address(slug, "/price"), data={**FORM, **form}).text
    (entries,) = re.findall(r'name="entries" value="(\d+)"', page)
    made = owner.post(address(slug), data={**FORM, **form, "entries": entries, "sure": "yes"})
    assert made.status_code == 303, made.text
    return made.location.partition("?")[0]


def choices(page: str) -> list[str]:
    return [html.unescape(each) for each in re.findall(r'<option value="(\[[^"]+)"', page)]


def test_the_price_is_shown_before_anything_is_spent(
    owner: FlaskClient, slug: str, database_url: str
) -> None:
    before = factories.dump(database_url)
    page = owner.post(address(slug, "/price"), data=FORM)
    assert page.status_code == 200
    assert "Open the search, and spend ε = 1" in page.text
    assert "all answers about numbers that are more than" in page.text
    assert factories.dump(database_url) == before


def test_questions_are_answered_one_after_the_other_until_it_has_found(
    owner: FlaskClient, slug: str, database_url: str
) -> None:
    search = open_search(owner, slug)
    assert "The search is open, and paid for." in owner.get(f"{search}?said=opened").text
    first, second = choices(owner.get(search).text)
    for asked, said in ((second, "Not above the limit."), (first, "Above the limit.")):
        answer = owner.post(search, data={"asked": asked, "stratum": ""}, follow_redirects=True)
        assert said in answer.text
    page = owner.get(search).text
    assert "has found as many as it may" in page
    assert "<select" not in page
    (entry,) = ledger(database_url, slug).released
    assert [figure.value for figure in entry.figures] == [0, 1]
    assert entry.epsilon == 1
    refused = owner.post(search, data={"asked": '["q9", "yes"]', "stratum": ""})
    assert (refused.status_code, "Question and answer:" in refused.text) == (422, True)


def test_the_same_asked_again_is_answered_from_what_was_told(
    owner: FlaskClient, slug: str, database_url: str
) -> None:
    search = open_search(owner, slug, positives="9")
    asked = {"asked": choices(owner.get(search).text)[0], "stratum": ""}
    owner.post(search, data=asked)
    again = owner.post(search, data=asked, follow_redirects=True)
    assert "That was asked before: its answer stands below, and stays as it is." in again.text
    assert len(ledger(database_url, slug).released[0].figures) == 1
    log = owner.get(f"/manage/surveys/{slug}/log").text
    assert log.count("asked search 1 about q1") == 1
    assert "opened search 1, which spent ε = 1" in log


def test_pressed_twice_it_is_paid_for_once(owner: FlaskClient, slug: str, database_url: str) -> None:
    form = {**FORM, "entries": "0", "sure": "yes", "epsilon": "0.5"}
    assert owner.post(address(slug), data=form).status_code == 303
    second = owner.post(address(slug), data=form)
    assert second.status_code == 409
    assert "was opened meanwhile, or something else released; look at the price again" in second.text
    assert len(ledger(database_url, slug).released) == 1


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"sure": ""}, 422, "I am sure"),
        ({"share": ""}, 422, "is required, or a number of people"),
        ({"share": "150"}, 422, "must be from 0.01 % to 99.99 %; it is 150 %"),
        ({"share": "1e999999"}, 422, "must be from 0.01 % to 99.99 %; it is 1e999999"),
        ({"limit": "7"}, 422, "must be missing where there is a share to exceed"),
        ({"epsilon": "3"}, 409, "2 is left, and this needs 3"),
        ({"most": "0"}, 422, "Questions at most"),
    ],
)
def test_what_is_out_of_range_is_refused_and_spends_nothing(
    owner: FlaskClient, slug: str, database_url: str, changes: dict[str, str], status: int, said: str
) -> None:
    form = {**FORM, "entries": "0", "sure": "yes", **changes}
    answer = owner.post(
        address(slug), data={name: text for name, text in form.items() if name != "sure" or text}
    )
    assert answer.status_code == status
    assert said in answer.text
    assert ledger(database_url, slug).released == ()


def test_the_report_and_the_ledger_tell_what_was_asked(owner: FlaskClient, slug: str) -> None:
    search = open_search(owner, slug, share="", limit="3000", positives="2")
    for asked in choices(owner.get(search).text):
        owner.post(search, data={"asked": asked, "stratum": ""})
    home = f"/manage/surveys/{slug}/releases"
    assert "Search for answers of more than 3,000 people" in owner.get(home).text
    assert "Above the limit asked for? Not weighted" in owner.get(f"{home}/1").text
    owner.post(f"{home}/link")
    (report,) = set(re.findall(r"/r/\w{12}", owner.get(home).text))
    text = " ".join(html.unescape(re.sub("<[^>]+>", "", owner.get(report).text)).split())
    assert "Found to be given by more than 3,000 people: “Question 1? · Yes”." in text
    assert "Not found to be above: “Question 2? · Yes”." in text


def test_a_number_that_is_none_leads_nowhere(owner: FlaskClient, slug: str) -> None:
    assert owner.get(address(slug, "/1")).status_code == 404
    assert owner.get(address(slug, "/x")).status_code == 404
    assert owner.post(address(slug, "/1"), data={"asked": "", "stratum": ""}).status_code == 404
