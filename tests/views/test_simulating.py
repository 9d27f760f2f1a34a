"""The page that tries a survey with made-up people: what it asks, what it shows, and that it stores nothing."""

import html
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from server.people import survey_access
from server.simulation import REHEARSAL_LIMIT
from server.study import surveys
from server.web.form_ends import NAME, VALUE
from tests.support import every_kind, factories
from tests.support.factories import dump


def _words(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def _form(page: str) -> dict[str, str]:
    """The fields of the form as they would be sent."""
    inputs = re.findall(r"<input[^>]*>", page.partition('class="editor assumptions"')[2])
    found = {}
    for tag in inputs:
        attributes = dict(re.findall(r'([a-z-]+)="([^"]*)"', tag))
        found[html.unescape(attributes["name"])] = html.unescape(attributes["value"])
    return found


def _address(slug: str) -> str:
    return f"/manage/surveys/{slug}/simulate"


def test_every_kind_is_tried_and_nothing_is_stored(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, every_kind.document())
    before = dump(database_url)
    form = _form(signed_in.get(_address(slug)).text)
    assert (form["respondents"], form["share coin.yes"], form["share moon.yes"]) == ("500", "20", "0")
    assert (form["share party.red"], form["share drugs.pills"], form["mean cups"]) == ("", "20", "10")
    assert form["share mugs.prefer_not_to_say"] == "5"

    answer = signed_in.post(_address(slug), data={**form, "respondents": "200", "share coin.yes": "100"})

    assert answer.status_code == 200
    page = _words(answer.text)
    assert "What 200 made-up people would give" in page
    assert "Simulated: these people do not exist, and nothing of this was stored." in page
    # What they had entered stands before what arrived: everybody, of whom three in four arrive so.
    row = re.search(r"Yes by coin\? 100\.0 % (\d+\.\d) %", page)
    assert row is not None
    assert 50 < float(row[1]) < 97
    # Under two encodings: in the findings, in the table of results and in the form.
    assert page.count("Option madrid") == 6
    assert dump(database_url) == before


def test_results_are_drawn_as_the_page_of_results_draws_them(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition([0.25]))
    form = _form(signed_in.get(_address(slug)).text)
    page = signed_in.post(_address(slug), data={**form, "respondents": "500", "share q1.yes": "40"}).text
    found = re.search(r'<p class="found"[^>]*>(.*?)</p>', page)
    assert found is not None
    assert re.match(r"“Yes” is true of \d+\sto\s\d+\sof\s100\. Best guess:\s\d+\.", html.unescape(found[1]))
    entered = re.search(r"They had entered it (\d+\.\d) times in 100\.", _words(page))
    assert entered is not None
    assert 28 < float(entered[1]) < 52  # of 500, a share of 40 % is further off less than once in 10^7 runs
    (mark,) = re.findall(r'<line class="entered" x1="([\d.]+)%"', page)
    assert 20 < float(mark) < 60, "on an axis from below 0 to above 100"
    assert "figure.svg" not in page, "nothing of made-up people is taken along"
    assert page.index('class="found"') < page.index("All numbers in a table")


def test_beside_the_editor_stands_what_planned_people_would_give(
    signed_in: FlaskClient, database_url: str
) -> None:
    plan = {"respondents": 1200, "margin": 0.05}
    for more, said in (({"plan": plan}, "1,200"), ({}, "1,000")):
        slug = factories.draft(database_url, factories.definition(**more))
        before = dump(database_url)
        answer = signed_in.get(f"{_address(slug)}/look?framed=1")
        assert answer.status_code == 200
        assert f"With {said} people results will look like this" in _words(answer.text)
        assert "Simulated: these people do not exist" in answer.text
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
        main = answer.text.partition("<main")[2]
        assert "<form" not in main, "what is framed changes nothing"
        assert 'class="found"' in main
        assert dump(database_url) == before
        assert f"{_address(slug)}/look" in signed_in.get(f"/manage/surveys/{slug}/edit").text
    unfinished = factories.draft_unfinished(database_url, {"title": "", "language": "en", "questions": []})
    assert "Not finished yet" in signed_in.get(f"{_address(unfinished)}/look").text


def test_what_was_assumed_stays_in_the_form(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    sent = {"respondents": "20", "share q1.yes": "33.3", "share q2.yes": ""}
    answer = signed_in.post(_address(slug), data=sent)
    assert answer.status_code == 200
    assert _form(answer.text) == {**sent, NAME: VALUE}


def test_planned_respondents_are_proposed_as_far_as_they_can_be_simulated(
    signed_in: FlaskClient, database_url: str
) -> None:
    for planned, proposed in ((1200, "1200"), (1_000_000, str(REHEARSAL_LIMIT))):
        plan = {"respondents": planned, "margin": 0.05}
        slug = factories.draft(database_url, factories.definition(plan=plan))
        assert _form(signed_in.get(_address(slug)).text)["respondents"] == proposed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"respondents": "0"}, f"Made-up respondents: must be from 1 to {REHEARSAL_LIMIT}; it is 0"),
        (
            {"respondents": str(REHEARSAL_LIMIT + 1)},
            f"Made-up respondents: must be from 1 to {REHEARSAL_LIMIT}; it is {REHEARSAL_LIMIT + 1}",
        ),
        ({"respondents": "2.5"}, "Made-up respondents: must be a whole number; it is 2.5"),
        ({"respondents": "many"}, "Made-up respondents: must be a number; it is many"),
        ({"respondents": "1e999"}, "Made-up respondents: must be a number; it is 1e999"),
        ({"share coin.yes": "130"}, "Yes by coin? – Yes: must be from 0 % to 100 %; it is 130 %"),
        ({"share coin.yes": "-1"}, "Yes by coin? – Yes: must be from 0 % to 100 %; it is -1 %"),
        ({"share coin.yes": "nan"}, "Yes by coin? – Yes: must be a number; it is nan"),
        ({"share coin.yes": "a third"}, "Yes by coin? – Yes: must be a number; it is a third"),
        (
            {"share party.red": "70", "share party.blue": "40"},
            "Question party?: must add up to at most 100 % over its answers; they add up to 110 %",
        ),
        (
            {f"share party.{name}": "20" for name in every_kind.PARTIES},
            "Question party?: must add up to 100 % when every answer has one; they add up to 80 %",
        ),
        (
            {"share drugs.pills": "60", "share drugs.prefer_not_to_say": "50"},
            "Question drugs? – Option pills: must be from 0 % to 50 %; it is 60 %",
        ),
        ({"mean cups": "31"}, "Question cups?: must be from -10 to 30; it is 31"),
        ({"mean cups": "=1+1"}, "Question cups?: must be a number; it is =1+1"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_bad_assumption_is_named_and_nothing_is_lost(
    changes: dict[str, str], message: str, signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, every_kind.document())
    form = {**_form(signed_in.get(_address(slug)).text), **changes}

    answer = signed_in.post(_address(slug), data=form)

    assert answer.status_code == 422
    assert message in _words(answer.text)
    assert "made-up people would give" not in answer.text
    assert _form(answer.text) == form
    assert 'aria-invalid="true"' in answer.text


def test_everything_wrong_is_said_at_once(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    sent = {"respondents": "x", "share q1.yes": "y", "share q2.yes": "z"}
    page = signed_in.post(_address(slug), data=sent).text
    assert _words(page).count("must be a number") == 3


def test_unfinished_draft_says_what_is_missing(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.draft(database_url, factories.definition())
    unfinished: dict[str, Any] = {**factories.definition(), "title": ""}
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey)
        assert found is not None
        surveys.save_draft(session, found, unfinished)

    for answer in (signed_in.get(_address(survey)), signed_in.post(_address(survey))):
        assert "The draft is unfinished." in answer.text
        assert "must not be empty" in answer.text
        assert 'class="editor assumptions"' not in answer.text


def test_others_surveys_do_not_exist(signed_in: FlaskClient, database_url: str, client: FlaskClient) -> None:
    slug = factories.draft(database_url, factories.definition(), "Somebody else")
    assert signed_in.get(_address(slug)).status_code == 404
    assert signed_in.post(_address(slug)).status_code == 404


def test_only_for_who_is_signed_in(client: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    for answer in (client.get(_address(slug)), client.post(_address(slug))):
        assert answer.status_code in (302, 303, 401, 403)
