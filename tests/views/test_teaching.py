"""The teaching pages: for everybody, in both languages; and a class, from its button to the cards."""

import html
import math
import re

import pytest
from flask.testing import FlaskClient

from server.output.languages import LANGUAGES
from server.people import survey_access
from server.simulation import Assumptions, simulate
from server.study import gallery
from server.study.definitions import Question
from server.study.smallest_group import DEFAULT_MINIMUM
from server.web.lessons.failing_mechanisms import list_failures
from tests.support import factories

PAGES = ("", "/again", "/difference", "/noise", "/audit", "/class", "/cards")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_leads_to_the_others_without_a_cookie_or_a_script(
    client: FlaskClient, language: str
) -> None:
    for page in PAGES:
        answer = client.get(f"/teach{page}?lang={language}")
        assert answer.status_code == 200
        assert "Set-Cookie" not in answer.headers
        assert "<script" not in answer.text
        found = set(re.findall(r'href="(/teach[^"]*)"', answer.text))
        assert {f"/teach{other}?lang={language}" for other in PAGES[:-1]} <= found | {
            f"/teach?lang={language}"
        }


def test_the_card_and_its_reports_change(client: FlaskClient) -> None:
    """Of 40 pages of 30 reports no two are alike, but with probability 1e-6."""
    arrived = [
        tuple(re.findall(r'<li class="(red|black)">', client.get("/teach/again?times=30").text))
        for _ in range(40)
    ]
    assert {len(reports) for reports in arrived} == {30}
    assert len(set(arrived)) == 40


def test_an_attack_is_on_whom_the_address_names(client: FlaskClient) -> None:
    for name, secret in (("Bruno", 1), ("Ana", 0)):
        page = client.get(f"/teach/difference?whose={name}&lang=en").text
        assert [int(number) for number in re.findall(r"<dd>(\d+)</dd>", page)] == [4, 4 - secret, secret]
        assert re.search(rf"<option selected>{name}</option>", page)


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        (
            "/again?times=31",
            422,
            "How often the question is asked: must be a whole number from 1 to 30; it is 31",
        ),
        ("/again?times=%C2%B2", 422, "it is ²"),
        ("/again?kept=50", 404, "Strength of the coin: must be one of 60, 75, 90; it is 50"),
        ("/difference?whose=Eve", 404, "Whom the attacker is after: must be one of Ana, Bruno, "),
        ("/noise?loss=3", 404, "Privacy loss ε of one count: must be one of 0.1, 0.5, 1, 2; it is 3"),
        ("/noise?draws=1000000", 404, "Draws: must be one of 10, 100, 1000; it is 1000000"),
        ("/class?red=101", 422, "Red cards: must be a whole number from 0 to 100; it is 101"),
        ("/cards?cards=61", 422, "Cards: must be a whole number from 2 to 60; it is 61"),
        ("/cards?cards=3&red=4", 422, "Red cards: must be a whole number from 0 to 3; it is 4"),
    ],
)
def test_what_is_out_of_range_is_said(client: FlaskClient, address: str, status: int, said: str) -> None:
    answer = client.get(f"/teach{address}", headers={"Accept-Language": "en"})
    assert answer.status_code == status
    assert said in answer.text


def test_as_many_cards_as_were_asked_for(client: FlaskClient) -> None:
    page = client.get("/teach/cards?cards=25&red=8").text
    assert (page.count("♥"), page.count("♠")) == (8, 17)


def test_the_audit_says_each_number_that_was_kept(client: FlaskClient) -> None:
    page = client.get("/teach/audit?lang=en").text
    assert not re.search(r"[a-z]\.[A-Z]", page), "sentences stand apart"
    for failure in list_failures():
        if failure.hits is not None:
            more, less, runs = failure.hits
            assert (
                f"came {more:,} times with the one data and {less:,} times with the other, of {runs:,} runs"
                in page
            )


def test_the_audit_says_one_loss_of_each_in_its_figure_and_in_its_text(client: FlaskClient) -> None:
    """In ε, and as so many times what was promised: each was caught, so that each lies beyond the dashed line."""
    page = html.unescape(client.get("/teach/audit?lang=en").text)
    (promise,) = {float(place) for place in re.findall(r'<line class="whole" x1="([\d.]+)"', page)}
    dots = [float(place) for place in re.findall(r'<circle[^>]* cx="([\d.]+)"', page)]
    arrows = page.count('<path class="range" d="M353 ')  # what is infinite lies beyond the drawing
    assert len(dots) + arrows == len(list_failures())
    assert arrows == sum(math.isinf(failure.certified) for failure in list_failures())
    assert min(dots) > promise
    for failure in list_failures():
        times = "∞" if math.isinf(failure.certified) else f"{failure.times:g}"
        assert f"≥ {times} ×" in page
        assert 1 < failure.times <= failure.certified / failure.claimed
        found = f"ε of at least {failure.found_loss:g}, something becomes at least"
        assert f"Promised: ε = {failure.claimed:g}, " in page
        assert f"Found: {'no ε is enough' if math.isinf(failure.certified) else found}" in page
        assert failure.found_loss <= failure.certified


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_survey_of_a_class_asks_about_a_card_alone(language: str) -> None:
    definition = gallery.read_class_survey(language)
    (question,) = definition.entries
    assert isinstance(question, Question)
    assert (question.name, question.kind, definition.language) == (gallery.CARD, "yes_no", language)
    assert "[" not in definition.introduction
    other = gallery.read_class_survey("en").questions[0]
    assert question.designs == other.designs


def test_a_class_plays(signed_in: FlaskClient, database_url: str) -> None:
    assert "Make it and show the board" in signed_in.get("/manage/class?lang=en").text
    made = signed_in.post("/manage/class", data={"language": "en"})
    assert made.status_code == 303
    board = made.location
    (slug,) = re.findall(r"/manage/surveys/(\w+)/board", board)

    def play(people: int) -> str:
        with factories.writing(database_url) as session:
            survey = survey_access.find(session, slug)
            assert survey is not None
            assert survey.minimum == DEFAULT_MINIMUM
            for _ in simulate(session, survey, people, Assumptions({"red_card.yes": 0.3})):
                pass
        return signed_in.get(board).text

    def read_shown(page: str) -> str:
        return re.findall(r"responses shown so far</dt><dd>(.+?)</dd>", page)[0]

    # As the pages say: ten once twenty have arrived, ten more with every ten, all when it is closed.
    assert read_shown(signed_in.get(board).text) in ("–", "0")
    assert read_shown(play(19)) in ("–", "0")
    assert read_shown(play(1)) == "10"
    assert read_shown(play(5)) == "10"
    page = play(5)
    assert read_shown(page) == "20"
    assert "/qr/" in page
    assert "And the cards?" not in page
    closed = signed_in.post(f"/manage/surveys/{slug}/close", data={"back": "board"})
    assert (closed.status_code, closed.location) == (303, board)
    page = signed_in.get(board).text
    assert read_shown(page) == "30"
    assert "/qr/" not in page
    assert "On the cards" not in page
    page = signed_in.get(f"{board}?red=9&cards=30").text
    assert "On the cards: 30.0 of 100." in page
    assert len(re.findall("The interval (?:holds|misses) it", page)) == 1
    assert signed_in.get(f"{board}?red=31&cards=30").status_code == 422


def test_fewer_than_ten_show_nothing_even_when_it_is_closed(
    signed_in: FlaskClient, database_url: str
) -> None:
    board = signed_in.post("/manage/class", data={"language": "es"}).location
    slug = board.split("/")[3]
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for _ in simulate(session, survey, 9, Assumptions()):
            pass
    signed_in.post(f"/manage/surveys/{slug}/close", data={"back": "board"})
    page = signed_in.get(f"{board}?red=1&cards=9&lang=en").text
    assert "Fewer than 10 responses can be shown so far." in page
    assert "On the cards" not in page


def test_cards_are_held_against_the_interval(signed_in: FlaskClient, database_url: str) -> None:
    document = factories.definition(questions=[factories.question("red_card", "Red?")])
    survey = factories.publish(database_url, document)
    factories.store(database_url, survey, [([1], 100), ([0], 100)])
    factories.close(database_url, survey.slug)
    for red, said in ((50, "The interval holds it."), (90, "The interval misses it.")):
        page = signed_in.get(f"/manage/surveys/{survey.slug}/board?red={red}&cards=100&lang=en").text
        assert said in page
    other = factories.publish(database_url, factories.definition())
    assert "And the cards?" not in signed_in.get(f"/manage/surveys/{other.slug}/board?lang=en").text


def test_a_language_that_there_is_not_makes_no_survey(signed_in: FlaskClient) -> None:
    refused = signed_in.post("/manage/class?lang=en", data={"language": "fr"})
    assert refused.status_code == 422
    assert "must be one of en, es; it is fr" in refused.text
