"""The budget, the builder, releases and the public report, as researchers and everybody see them."""

import hashlib
import html
import io
import json
import re
import shutil
import sqlite3
import zipfile
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal

import pytest
from flask import Flask
from flask.testing import FlaskClient
from lxml.html import document_fromstring as html_of

from server.config import Config
from server.reports.formats import FORMATS, PAGE
from tests.conftest import NewDatabase
from tests.support import factories, sample_documents
from tests.support.factories import Published
from tests.support.front_client import create_app
from tests.support.release_form import COUNT, Builder, build, key, ledger, set_budget, share
from tests.support.sign_in_form import alert

ENGLISH = {"Accept-Language": "en"}
ADDRESSES = ("", *(f"/report.{ending}" for ending in FORMATS if ending != PAGE))


def words(page: str) -> str:
    """What a page says, on one line."""
    text = re.sub("<[^>]+>", "", html.unescape(page)).replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(text.split())


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite; what depends on the database asks for both."""
    return sqlite(True)


@pytest.fixture
def answered_survey(database_url: str) -> Published:
    """A survey with two questions (q1, q2) and 120 responses."""
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 70), ([0, 1], 50)])
    return survey


@pytest.fixture
def builder(signed_in: FlaskClient, answered_survey: Published) -> Builder:
    """The builder of that survey, whose budget is 1."""
    assert set_budget(signed_in, answered_survey.slug).status_code == 303
    return build(signed_in, answered_survey.slug)


# The budget


def test_a_budget_is_set_before_the_first_release_and_stays(
    signed_in: FlaskClient, answered_survey: Published, database_url: str
) -> None:
    page = f"/manage/surveys/{answered_survey.slug}/releases"
    assert "Set the budget first" in signed_in.get(page, headers=ENGLISH).text
    assert "no budget" in signed_in.get(f"{page}/new", headers=ENGLISH).text

    set_budget(signed_in, answered_survey.slug, "0,5", "0.00001", "bounded")
    budget = ledger(database_url, answered_survey.slug).budget
    assert budget is not None
    assert (budget.epsilon, budget.delta, budget.neighbours) == (
        Decimal("0.5"),
        Decimal("0.00001"),
        "bounded",
    )
    (logged,) = (row[5] for row in factories.dump(database_url)["audit_entries"] if row[4] == "budget set")
    assert json.loads(str(logged)) == {
        "epsilon": "0.5",
        "delta": "0.00001",
    }  # what was set, not how it was typed

    set_budget(signed_in, answered_survey.slug, "1")
    said = words(signed_in.get(page, headers=ENGLISH).text)
    assert "ε = 1 of 1 is left" in said
    assert "come to think it 26.9 % to 73.1 % likely" in said  # 1/(1 + e), e/(1 + e)

    build(signed_in, answered_survey.slug).tick(COUNT).press().pay()
    answer = set_budget(signed_in, answered_survey.slug, "2")
    assert answer.status_code == 409
    assert "must stay as it was before the first release" in answer.text
    budget = ledger(database_url, answered_survey.slug).budget
    assert budget is not None
    assert budget.epsilon == 1


def test_who_has_no_name_yet_is_called_the_same_on_every_page(
    builder: Builder, signed_in: FlaskClient, answered_survey: Published
) -> None:
    builder.tick(COUNT).press().pay()
    page = f"/manage/surveys/{answered_survey.slug}/releases"
    for address in (page, f"{page}/1"):
        said = words(signed_in.get(address, headers={"Accept-Language": "es"}).text)
        assert "Primer investigador" in said
        assert "researcher" not in said


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epsilon", "0", "must be more than 0 and at most 100; it is 0"),
        ("epsilon", "101", "must be more than 0 and at most 100; it is 101"),
        ("epsilon", "much", "must be more than 0 and at most 100; it is much"),
        ("epsilon", "nan", "it is nan"),
        ("epsilon", "", "must be more than 0"),
        ("delta", "0.01", "must be from 0 to 0.001; it is 0.01"),
        ("delta", "-1", "must be from 0 to 0.001; it is -1"),
        ("neighbours", "none", "must be one of unbounded, bounded; it is none"),
    ],
)
def test_a_bad_budget_is_refused_and_what_was_typed_stays(
    field: str,
    value: str,
    message: str,
    signed_in: FlaskClient,
    answered_survey: Published,
    database_url: str,
) -> None:
    before = factories.dump(database_url)
    answer = set_budget(signed_in, answered_survey.slug, **{"epsilon": "7.25", field: value})

    assert answer.status_code == 422
    assert message in words(answer.text)
    if field != "epsilon":
        assert 'value="7.25"' in answer.text
    assert factories.dump(database_url) == before


# Looking


def test_looking_shows_the_price_and_spends_nothing(
    builder: Builder, database_url: str, answered_survey: Published
) -> None:
    before = factories.dump(database_url)
    said = words(builder.tick(COUNT, share("q1")).type(epsilon="0,5", people="400").press().answer.text)

    assert "It spends ε = 0.5. Afterwards 0.5 is left." in said
    assert "takes all that is left" not in said
    assert "takes all that is left" in words(builder.type(epsilon="1").press().answer.text)
    assert said.count("ε = 0.25") == 2
    # A geometric of scale 4: variance 2a/(1 - a)^2 with a = e^-1/4.
    assert "± 5.7 people" in said
    # Beyond 12 either way lie 2 a^13 / (1 + a) = 4.4 % of its draws, beyond 11 more than 5 %.
    assert said.count("The noise itself") == 2
    assert said.count("In 95 of 100 such draws or more, the noise lies between −12 and 12;") >= 2
    assert builder.pays
    assert factories.dump(database_url) == before


@pytest.mark.parametrize(
    ("division", "amounts", "costs"),
    [
        ("proportions", ("3", "1"), ("0.6", "0.2")),
        ("given", ("0.1", "0.05"), ("0.1", "0.05")),
        ("errors", ("14.1362", "14.1362"), ("0.1", "")),
    ],
)
def test_each_way_to_divide(
    division: str, amounts: tuple[str, str], costs: tuple[str, str], builder: Builder
) -> None:
    items = (COUNT, share("q1"))
    builder.tick(*items).type(division=division, epsilon="0.8", people="1000").press()
    assert "Write a number beside each" in builder.answer.text
    assert not builder.pays
    for item, amount in zip(items, amounts, strict=True):
        builder.type({f"amount {key(item)}": amount})
    said = words(builder.press().answer.text)

    assert builder.pays
    assert all(f"ε = {cost}" in said for cost in costs)


def test_enter_looks_at_the_price_and_only_paying_asks_to_be_sure(builder: Builder) -> None:
    """Enter presses the first button of a form; a box that must be ticked holds up each that does not say otherwise."""
    page = builder.tick(COUNT).press().answer.text
    buttons = [
        tag for tag in re.findall("<button[^>]*>", page) if 'form="builder"' in tag or 'name="action"' in tag
    ]

    assert 'value="look"' in buttons[0]
    assert len(buttons) > 5
    (paying,) = [tag for tag in buttons if "formnovalidate" not in tag]
    assert 'formaction="' in paying


def test_what_is_added_stays_in_the_plan(
    builder: Builder, database_url: str, answered_survey: Published
) -> None:
    factories.plant(database_url, answered_survey.slug, "North > Alba\nSouth")
    builder = build(builder.client, builder.slug)
    builder.type(side1="q1", side2="q2").press("table")
    builder.type(side1="*strata", side2="q2").press("table")
    builder.type(share="12,5", positives="2", values="yes", exceeding="q1").press("exceeding")
    builder.type(stratum='["North", "Alba"]', part=key(share("q2"))).press("part")
    builder.type(top="q2", how_many="1").press("top")
    builder.type(epsilon="0.5", people="300").press()

    assert builder.answer.status_code == 200
    plan = json.loads(dict(builder.fields())["plan"])
    assert [{**item, "epsilon": None} for item in plan["items"]] == [
        {"kind": "table", "questions": ["q1", "q2"], "epsilon": None},
        {"kind": "table", "questions": ["q2"], "by_stratum": True, "epsilon": None},
        {
            "kind": "exceeding",
            "questions": ["q1"],
            "share": "0.125",
            "positives": 2,
            "values": True,
            "epsilon": None,
        },
        {
            "kind": "share",
            "questions": ["q2"],
            "option": "yes",
            "stratum": ["North", "Alba"],
            "epsilon": None,
        },
        {"kind": "top", "questions": ["q2"], "how_many": 1, "epsilon": None},
    ]
    said = words(builder.answer.text)
    assert "In 95 of 100 cases, behind the last that belongs there by at most" in said
    assert "Most common answer:" in said
    assert "1 most common" not in said
    assert {item["epsilon"] for item in plan["items"]} == {"0.1"}


@pytest.mark.parametrize(
    ("action", "chosen"),
    [
        ("table", {"side1": "*strata", "side2": "q2"}),
        ("top", {"top": "q2", "how_many": "1"}),
        ("exceeding", {"exceeding": "q1"}),
        ("part", {"stratum": '["North", "Alba"]'}),
    ],
)
def test_enter_neither_folds_away_nor_forgets_what_is_chosen_and_not_added(
    builder: Builder, database_url: str, answered_survey: Published, action: str, chosen: dict[str, str]
) -> None:
    factories.plant(database_url, answered_survey.slug, "North > Alba\nSouth")
    builder = build(builder.client, builder.slug).tick(COUNT)

    def is_open() -> bool:
        (folded,) = re.findall(
            rf'<details(?:(?!<details).)*value="{action}"', builder.answer.text, flags=re.DOTALL
        )
        return str(folded).startswith("<details open>")

    assert not is_open()
    builder.type(chosen).press()
    assert is_open()
    assert chosen.items() <= dict(builder.fields()).items()
    builder.type(part=key(COUNT)).press(action)
    assert len(json.loads(dict(builder.fields())["plan"])["items"]) == 2
    assert not is_open()
    builder.press()
    assert not is_open()


def test_the_field_of_the_budget_is_called_as_on_its_page(
    signed_in: FlaskClient, answered_survey: Published
) -> None:
    answer = set_budget(signed_in, answered_survey.slug, "x")
    assert answer.status_code == 422
    assert "Budget ε for all releases together: must be more than 0" in " ".join(alert(answer).split())


@pytest.mark.parametrize(
    ("action", "typed", "message"),
    [
        ("look", {"item": ""}, "What to release: must be"),
        ("table", {"side1": "q1"}, "Second side: is required"),
        ("table", {"side1": "q1", "side2": "q1"}, "must be unique; q1 stands twice"),
        ("exceeding", {"share": "10"}, "Questions: must name 1 to 1000 questions"),
        ("exceeding", {"exceeding": "q1", "share": "x"}, "Share to exceed: must be"),
        (
            "exceeding",
            {"exceeding": "q1", "share": "150"},
            "Share to exceed: must be from 0.01 % to 99.99 %; it is 150 %",
        ),
        ("exceeding", {"exceeding": "q1", "share": "150 %"}, "to 99.99 %; it is 150 %"),
        ("exceeding", {"exceeding": "q1", "share": "1e999999"}, "to 99.99 %; it is 1e999999"),
        ("exceeding", {"exceeding": "q1", "share": "1e-999999"}, "to 99.99 %; it is "),
        ("exceeding", {"exceeding": "q1", "share": "٥٠"}, "to 99.99 %; it is ٥٠"),
        ("part", {"stratum": ""}, "Stratum: is required"),
        (
            "look",
            {"item": key(COUNT), "epsilon": "x"},
            "ε of this release: must be from 0.0001 to 100; it is x",
        ),
        ("look", {"item": key(COUNT), "people": "many"}, "Respondents you expect"),
        ("look", {"item": key(share("q9"))}, "Item 1, questions: must be one of"),
        ("look", {"item": '{"kind":"everything"}'}, "kind: must be one of"),
        ("look", {"item": "{"}, "must be JSON"),
    ],
)
def test_a_bad_plan_is_refused_by_name_and_what_was_typed_stays(
    action: str, typed: dict[str, str], message: str, builder: Builder, database_url: str
) -> None:
    before = factories.dump(database_url)
    if typed.get("item") == "":
        builder.typed["item"] = []
        typed = {}
    builder.type({"epsilon": "0.125", **typed}).press(action)

    assert builder.answer.status_code in (400, 422)
    assert message in words(builder.answer.text)
    if typed.get("item", key(COUNT)) == key(COUNT) and "epsilon" not in typed:
        assert 'value="0.125"' in builder.answer.text
    assert factories.dump(database_url) == before


def test_a_plan_goes_down_and_comes_up_again(builder: Builder) -> None:
    gaussian = {"kind": "count", "noise": "laplace"}
    builder.tick(COUNT, share("q2")).type(division="given").press()
    builder.type({f"amount {key(COUNT)}": "0.1", f"amount {key(share('q2'))}": "0.2"}).press()
    builder.type({f"noise {key(COUNT)}": "laplace"}).press()
    down = builder.client.post(f"{builder.home}/plan.json", data=builder.form)

    assert "attachment" in down.headers["Content-Disposition"]
    plan = down.get_json()
    assert plan["items"][0] == {**gaussian, "epsilon": "0.1"}
    again = build(builder.client, builder.slug).upload(plan)
    assert again.answer.status_code == 200
    assert "It spends ε = 0.3." in words(again.answer.text)
    assert builder.client.post(f"{builder.home}/plan.json", data=again.form).get_json() == plan
    refused = build(builder.client, builder.slug).upload({**plan, "format": 2})
    assert refused.answer.status_code == 422


SIX = [factories.question(f"q{place}", f"Did you ever do the {place}th thing?") for place in range(1, 7)]


def test_more_things_than_a_few_are_a_line_each_and_all_that_is_known_of_a_few_is_shown(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.publish(database_url, factories.definition(questions=SIX)).slug
    set_budget(signed_in, slug)
    builder = build(signed_in, slug)

    def folds(of: str) -> list[bool]:
        """Whether each question, or each item of the price, is open."""
        found = html_of(builder.answer.text).xpath(of)
        return [fold.get("open") is not None for fold in found]

    questions, items = (
        "//form[@id='builder']/details[@class='question']",
        "//ol[@class='plan-items']/li/details",
    )
    assert folds(questions) == [True] + [False] * 5  # one shows what there is to choose
    shares = [share(f"q{place}") for place in range(1, 7)]
    builder.tick(*shares[:3]).press()
    assert folds(questions) == [False] * 6
    assert folds(items) == [True] * 3
    builder.tick(*shares).type(epsilon="0.6").press()
    assert folds(items) == [False] * 6
    summaries = html_of(builder.answer.text).xpath(f"{items}/summary")
    assert all("ε = 0.1" in summary.text_content() for summary in summaries)

    builder.pay()
    builder = build(signed_in, slug).tick(*shares).press()
    assert folds(items) == [False] * 6
    newer = f"anew {key(shares[4])}"
    builder.type({newer: builder.read().values(newer)[0]}).press()
    assert folds(items) == [False] * 4 + [True, False]


def test_a_share_is_taken_with_its_sign(builder: Builder) -> None:
    builder.type(exceeding="q1", share="12,5 %").press("exceeding")
    assert builder.answer.status_code == 200
    added = [item for name, item in builder.fields() if name == "item"]
    assert [json.loads(item)["share"] for item in added] == ["0.125"]


def test_an_error_of_a_share_is_refused_in_the_points_it_is_typed_in(builder: Builder) -> None:
    """That of people stays in people."""
    builder.tick(COUNT, share("q1")).type(division="errors", people="1000")
    of_count, of_share = (f"amount {key(item)}" for item in (COUNT, share("q1")))
    for typed, told in (
        ("500", "must be more than 0 points and at most 100 points; it is 500 points"),
        ("0 %", "must be more than 0 points and at most 100 points; it is 0 points"),
        ("five", "must be more than 0 points and at most 100 points; it is five"),
    ):
        said = words(builder.type({of_count: "14", of_share: typed}).press().answer.text)
        assert builder.answer.status_code == 422
        assert told in said
    assert builder.type({of_share: "5"}).press().answer.status_code == 200
    said = words(builder.type({of_count: "2000000000"}).press().answer.text)
    assert "must be more than 0 and at most 1000000000; it is 2000000000" in said


def test_what_is_asked_of_a_stratum_stays_chosen_where_none_was_named(
    builder: Builder, database_url: str, answered_survey: Published
) -> None:
    factories.plant(database_url, answered_survey.slug, "North > Alba\nSouth")
    builder = build(builder.client, builder.slug)
    builder.type(part=key(share("q2")), stratum="").press("part")
    assert builder.answer.status_code == 422
    assert dict(builder.fields())["part"] == key(share("q2"))


@pytest.mark.parametrize(
    ("action", "typed", "focused", "message"),
    [
        ("look", {"item": ""}, None, ""),
        ("look", {"item": key(COUNT), "epsilon": "x"}, "epsilon", "must be from 0.0001 to 100; it is x"),
        ("look", {"item": key(COUNT), "people": "many"}, "people", "it is many"),
        ("look", {"item": key(share("q9"))}, "item-0", "must be one of"),
        ("table", {"side1": "q1"}, "side2", "is required"),
        ("table", {"side1": "q1", "side2": "q1"}, "side2", "q1 stands twice"),
        ("top", {"top": "q1", "how_many": "x"}, "how_many", "must be"),
        ("top", {"top": "q1", "how_many": "9"}, "item-0", "must be"),  # by then it is in the plan
        ("exceeding", {"exceeding": "q1", "share": "x"}, "share", "must be"),
        ("part", {"stratum": ""}, "stratum", "is required"),
    ],
)
def test_a_refusal_opens_and_focuses_what_is_wrong_and_says_it_there(
    action: str,
    typed: dict[str, str],
    focused: str | None,
    message: str,
    builder: Builder,
    database_url: str,
    answered_survey: Published,
) -> None:
    factories.plant(database_url, answered_survey.slug, "North > Alba\nSouth")
    builder = build(builder.client, builder.slug)
    if typed.get("item") == "":
        builder.typed["item"] = []
        typed = {}
    page = html_of(builder.type(typed).press(action).answer.text)

    (focus,) = page.xpath("//main//*[@autofocus]")  # the first that is wrong; else the list of what is
    assert focus.get("id") == focused
    assert focused is not None or focus.get("role") == "alert"
    if focused is not None:
        (link,) = page.xpath("//div[@role='alert']//a")
        assert link.get("href") == f"#{focused}"
        (said,) = page.xpath("//*[@id=$id]", id=f"wrong-{focused}")
        assert message in said.text_content()
        if focus.tag != "li":
            assert said.get("id") in focus.get("aria-describedby").split()
            assert focus.get("aria-invalid") == "true"
        assert all(fold.get("open") is not None for fold in focus.iterancestors("details"))


def test_the_amount_that_is_wrong_is_focused_among_many_and_no_other_is_lost(builder: Builder) -> None:
    items = (COUNT, share("q1"), share("q2"))
    builder.tick(*items).type(division="given").press()
    for item, amount in zip(items, ("0.1", "0.2", "much"), strict=True):
        builder.type({f"amount {key(item)}": amount})
    builder.press()

    page = html_of(builder.answer.text)
    (focus,) = page.xpath("//main//*[@autofocus]")
    assert focus.get("name") == f"amount {key(items[2])}"
    assert [dict(builder.fields())[f"amount {key(item)}"] for item in items] == ["0.1", "0.2", "much"]


# Paying


def test_a_release_spends_what_was_shown_and_is_logged(
    builder: Builder, database_url: str, answered_survey: Published
) -> None:
    answer = builder.tick(COUNT, share("q1")).type(epsilon="0.25", people="99").press().pay()

    assert (answer.status_code, answer.location) == (303, f"{builder.home}/1?said=released")
    book = ledger(database_url, answered_survey.slug)
    assert [entry.epsilon for entry in book.released] == [Decimal("0.125")] * 2
    said = words(builder.client.get(answer.location, headers=ENGLISH).text)
    assert "Released. It spent ε = 0.25." in said
    assert f"{book.released[0].figures[0].value}" in said
    assert said.count("The noise itself") == 2
    log = words(builder.client.get(f"/manage/surveys/{answered_survey.slug}/log", headers=ENGLISH).text)
    assert "made release 1, which spent ε = 0.25" in log
    assert "set the budget for releases: ε = 1, δ = 0" in log
    assert "ε = 0.75 of 1 is left" in words(builder.client.get(builder.home, headers=ENGLISH).text)


def test_nothing_is_released_that_was_not_looked_at_and_confirmed(
    builder: Builder, database_url: str
) -> None:
    builder.tick(COUNT).press()
    before = factories.dump(database_url)
    unsure = builder.client.post(builder.home, data=builder.form, headers=ENGLISH)
    assert unsure.status_code == 422
    assert "I am sure: must be ticked" in words(unsure.text)
    changed = builder.tick(share("q1")).pay()
    assert changed.status_code == 409
    assert "was changed after its price was shown" in changed.text
    assert builder.client.post(builder.home, headers=ENGLISH).status_code in (400, 422)
    assert factories.dump(database_url) == before


def test_a_tree_that_changed_after_its_price_was_shown_is_shown_again(
    builder: Builder, database_url: str, answered_survey: Published
) -> None:
    factories.plant(database_url, answered_survey.slug, "North\nSouth\nWest")
    looked = build(builder.client, builder.slug).tick({"kind": "hierarchy"}).type(epsilon="0.5").press()
    factories.plant(database_url, answered_survey.slug, "East")

    refused = looked.pay()

    assert refused.status_code == 409
    assert "is about other strata or questions than when its price was shown" in words(refused.text)
    assert ledger(database_url, answered_survey.slug).released == ()
    assert looked.press().pay().status_code == 303


def test_more_than_is_left_cannot_be_released(builder: Builder, database_url: str) -> None:
    builder.tick(COUNT).type(epsilon="0.6").press()
    other = build(builder.client, builder.slug).tick(share("q1")).type(epsilon="0.5").press()
    assert builder.pay().status_code == 303
    before = factories.dump(database_url)

    answer = other.pay()  # looked at while there was enough
    assert answer.status_code == 409
    assert "0.4 is left, and this needs 0.5" in words(answer.text)
    assert factories.dump(database_url) == before
    other.press()
    assert "It needs ε = 0.5, and 0.4 is left." in words(other.answer.text)
    assert not other.pays


def test_what_was_released_is_free(builder: Builder, database_url: str, answered_survey: Published) -> None:
    builder.tick(COUNT).type(epsilon="0.5").press().pay()
    again = build(builder.client, builder.slug).tick(COUNT, share("q1")).type(epsilon="0.25").press()
    said = words(again.answer.text)
    assert "it is in release 1" in said
    assert "It spends ε = 0.25." in said
    again.pay()
    assert [entry.epsilon for entry in ledger(database_url, answered_survey.slug).released] == [
        Decimal("0.5"),
        Decimal("0.25"),
    ]


@pytest.mark.parametrize("anew", [False, True])
def test_a_button_pressed_eight_times_at_once_pays_once(
    anew: bool, new_database: NewDatabase, request: pytest.FixtureRequest
) -> None:
    database_url = new_database(True)
    app = create_app(Config(database_url=database_url))
    request.addfinalizer(app.extensions["moneda.engine"].dispose)
    survey = factories.publish(database_url)
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    set_budget(client, survey.slug)
    builder = build(client, survey.slug).tick(COUNT).type(epsilon="0.125").press()
    if anew:
        builder.pay()
        builder = build(client, survey.slug).tick(COUNT).type(epsilon="0.125").press()
        builder.type({f"anew {key(COUNT)}": "1"}).press()
    form = {**builder.form, "sure": ["yes"]}
    cookie = client.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None

    def press(_: int) -> str:
        headers = {"Cookie": f"moneda_sign_in={cookie.value}"}
        answer = app.test_client(use_cookies=False).post(builder.home, data=form, headers=headers)
        return f"{answer.status_code} {answer.location}"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(press, range(8)))
    number = 2 if anew else 1
    assert {answer.partition("?")[0] for answer in answers} == {f"303 {builder.home}/{number}"}
    assert sum(answer.endswith("said=released") for answer in answers) == 1
    assert len(ledger(database_url, survey.slug).released) == number


def test_exact_tallies_are_released_for_the_price_that_was_shown(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    factories.store(database_url, survey, [([1], 900), ([0], 1100)])
    page = f"/manage/surveys/{survey.slug}/releases"
    set_budget(signed_in, survey.slug, "2", "0.001", "unbounded")
    assert "Not with this budget" in signed_in.get(page, headers=ENGLISH).text
    set_budget(signed_in, survey.slug, "2", "0.001", "bounded")
    text = signed_in.get(page, headers=ENGLISH).text
    assert "With 2,000 responses in the smallest version, they cost ε = " in words(text)
    (price,) = re.findall(r'name="epsilon" value="([\d.]+)"', text.partition('id="shuffling"')[2])

    less = {"epsilon": "0.0001", "sure": "yes"}
    assert signed_in.post(f"{page}/exact", data=less).status_code == 409
    assert signed_in.post(f"{page}/exact", data={"epsilon": price}).status_code == 422
    assert ledger(database_url, survey.slug).released == ()
    for said in ("released", "known"):
        answer = signed_in.post(f"{page}/exact", data={"epsilon": price, "sure": "yes"})
        assert (answer.status_code, answer.location) == (303, f"{page}/1?said={said}")
    (entry,) = ledger(database_url, survey.slug).released
    assert entry.epsilon == Decimal(price)
    assert {figure.value for figure in entry.figures if figure.statistic == "reports"} == {900, 1100}


# The public report


def link(client: FlaskClient, slug: str) -> str:
    """Make the link to a survey's public report."""
    client.post(f"/manage/surveys/{slug}/releases/link")
    return re.findall(r"/r/\w{12}", client.get(f"/manage/surveys/{slug}/releases").text)[0]


def test_whoever_reads_the_public_report_does_not_learn_where_to_answer(
    app: Flask, signed_in: FlaskClient, answered_survey: Published, database_url: str
) -> None:
    """No format has the address of the survey, or of a stratum; the internal report does."""
    links = factories.plant(database_url, answered_survey.slug, "North\nSouth")
    set_budget(signed_in, answered_survey.slug)
    build(signed_in, answered_survey.slug).tick(COUNT, share("q1")).type(people="99").press().pay()
    address, visitor = link(signed_in, answered_survey.slug), app.test_client()

    def read_text(found: bytes, ending: str) -> str:
        if ending == "/report.pdf":
            pdf = sample_documents.reader(found)
            return " ".join([*(page.extract_text() for page in pdf.pages), str(pdf.metadata)])
        if ending == "/report.xlsx":
            with zipfile.ZipFile(io.BytesIO(found)) as parts:
                return " ".join(parts.read(name).decode() for name in parts.namelist())
        return found.decode()

    for ending in ADDRESSES:
        answer = visitor.get(address + ending, headers=ENGLISH)
        said = read_text(answer.data, ending) + str(answer.headers)
        assert "Exams" in said or ending == "/report.csv", ending
        assert [slug for slug in (answered_survey.slug, *links.values()) if slug in said] == [], ending
    assert answered_survey.slug in signed_in.get(f"/manage/surveys/{answered_survey.slug}/report.html").text


def test_a_single_most_common_answer_is_spoken_of_as_one(
    app: Flask, builder: Builder, answered_survey: Published
) -> None:
    """Other releases say of several that they are in no order, and that each is among so many."""
    builder.type(top="q1", how_many="1").press("top").type(people="99").press().pay()
    said = words(app.test_client().get(link(builder.client, answered_survey.slug), headers=ENGLISH).text)

    assert re.search("“(Yes|No)” was chosen as the most common answer", said)
    assert "or one whose estimated number is lower by at most" in said
    assert "1 most common" not in said
    assert "in no order" not in said


def test_everybody_with_the_link_reads_what_was_released_until_it_is_revoked(
    app: Flask, builder: Builder, answered_survey: Published, database_url: str
) -> None:
    builder.tick(COUNT, share("q1")).type(people="99").press().pay()
    address, visitor = link(builder.client, answered_survey.slug), app.test_client()
    assert link(builder.client, answered_survey.slug) == address
    value = ledger(database_url, answered_survey.slug).released[0].figures[0].value
    for ending in ADDRESSES:
        answer = visitor.get(address + ending, headers=ENGLISH)
        assert answer.status_code == 200
        assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in answer.headers
    page = visitor.get(address, headers=ENGLISH).text
    assert f">{value}<" in page
    assert 'lang="es"' in visitor.get(f"{address}?lang=es").text.partition(">")[2][:40]

    builder.client.post(f"{builder.home}/link/revoke")
    for ending in ADDRESSES:
        answer = visitor.get(address + ending, headers=ENGLISH)
        assert answer.status_code == 410
        assert "This report was withdrawn" in answer.text
    other = link(builder.client, answered_survey.slug)
    assert other != address
    assert visitor.get(other).status_code == 200
    assert visitor.get(address).status_code == 410
    unknown = visitor.get("/r/bcdfghjkmnpq", headers={"Accept-Language": "en"})
    assert unknown.status_code == 404
    assert "There is no page at this address." in unknown.text


def test_a_public_page_runs_nothing_and_takes_no_style_but_its_own(
    app: Flask, signed_in: FlaskClient, answered_survey: Published
) -> None:
    set_budget(signed_in, answered_survey.slug)
    answer = app.test_client().get(link(signed_in, answered_survey.slug))
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert answer.headers["Content-Security-Policy"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    assert "<script" not in answer.text
    assert "style=" not in answer.text


def copy(database_url: str, other_url: str) -> None:
    """Another SQLite file with the same in it, and the mark of what was spent beside it."""
    paths = [url.removeprefix("sqlite:///") for url in (database_url, other_url)]
    shutil.copy(*(f"{path}.spent" for path in paths))
    source, target = map(sqlite3.connect, paths)
    with closing(source), closing(target):
        source.backup(target)


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_a_public_report_depends_on_what_was_released_and_on_no_response(
    neighbours: str, signed_in: FlaskClient, answered_survey: Published, database_url: str
) -> None:
    """Two installations, alike but for 500 responses that came after the releases."""
    set_budget(signed_in, answered_survey.slug, "3", "0.00001", neighbours)
    items = [share("q1"), {"kind": "table", "questions": ["q1", "q2"]}]
    plan = {"format": 1, "epsilon": 1, "people": 120, "items": items}
    answer = build(signed_in, answered_survey.slug).upload(plan).pay()
    assert answer.status_code == 303, words(answer.text)
    address = link(signed_in, answered_survey.slug)
    other_url = f"{database_url}.other"
    copy(database_url, other_url)
    factories.store(other_url, answered_survey, [([1, 1], 500)])

    read: list[dict[str, bytes]] = []
    internal = []
    for url in (database_url, other_url):
        app = create_app(Config(database_url=url))
        visitor = app.test_client()
        read.append(
            {
                f"{ending}{query}": visitor.get(address + ending + query).data
                for ending in ADDRESSES
                for query in ("?lang=en", "?lang=es")
            }
        )
        reader = factories.sign_in(app.test_client(), factories.sign_in_secret(url))
        internal.append(reader.get(f"/manage/surveys/{answered_survey.slug}/report.csv").data)
        app.extensions["moneda.engine"].dispose()
    assert [name for name in read[0] if read[0][name] != read[1][name]] == []
    assert len({len(page) for page in read[0].values()}) > 5
    # The twin: a report from the responses themselves differs at once.
    assert internal[0] != internal[1]


# Downloads beside the results


def test_every_format_is_beside_the_results(
    signed_in: FlaskClient, answered_survey: Published, database_url: str
) -> None:
    page = f"/manage/surveys/{answered_survey.slug}"
    begins = {"report.pdf": b"%PDF", "report.xlsx": b"PK", "microdata.zip": b"PK"}
    text = signed_in.get(f"{page}/results", headers=ENGLISH).text
    for name, first in begins.items():
        answer = signed_in.get(f"{page}/{name}")
        assert answer.data.startswith(first)
        assert f"{page}/{name}" in text
    factories.settle(database_url, answered_survey.slug, minimum=1000)
    assert [signed_in.get(f"{page}/{name}").status_code for name in begins] == [409] * 3


def test_links_belong_to_surveys_not_to_each_other(database_url: str, signed_in: FlaskClient) -> None:
    """A draft has no public report; deleting a survey ends its link."""
    draft = factories.draft(database_url, factories.definition())
    assert signed_in.post(f"/manage/surveys/{draft}/releases/link").status_code == 409
    survey = factories.publish(database_url)
    set_budget(signed_in, survey.slug)
    address = link(signed_in, survey.slug)
    signed_in.post(f"/manage/surveys/{survey.slug}/delete", data={"confirmation": survey.slug})
    assert signed_in.get(address).status_code == 404


# One question compared


PARTY = {
    "name": "party",
    "kind": "select_one",
    "text": "Party?",
    "options": [{"name": name, "text": name} for name in ("red", "green", "blue", "grey")],
    "design": {"mechanism": "k_ary", "epsilon": 2.0},
}


def test_comparing_the_answers_of_one_question_offers_its_histogram_with_one_click(
    signed_in: FlaskClient, database_url: str
) -> None:
    document = factories.definition([0.25])
    survey = factories.publish(database_url, {**document, "questions": [*document["questions"], PARTY]})
    factories.store(database_url, survey, [([1, 0], 70), ([0, 2], 50)])
    set_budget(signed_in, survey.slug)
    builder = build(signed_in, survey.slug)
    offered = "Take its histogram instead"
    assert offered not in builder.answer.text

    # Of two questions, or of one with yes and no, nothing is better.
    for names in (["q1", "party"], ["q1"]):
        other = build(signed_in, survey.slug)
        other.typed = {"exceeding": names, "share": ["20"], "positives": ["1"]}
        page = other.press("exceeding").answer.text
        assert "Shares above 20.0 %" in words(page)
        assert offered not in page

    builder.type(share="20", positives="2", exceeding="party").press("exceeding")
    # The noise of the limit and of each comparison beside that of a histogram's shares, all at a loss of 1.
    assert offered in builder.answer.text
    assert "the noise of each comparison is" in words(builder.answer.text)
    (chosen,) = [json.loads(text) for text in builder.read().values("item") if "exceeding" in text]
    assert chosen["questions"] == ["party"]
    builder.press(f"instead {key(chosen)}")
    assert offered not in builder.answer.text
    ticked = [text for name, text in builder.fields() if name == "item"]
    assert [json.loads(text) for text in ticked] == [{"kind": "histogram", "questions": ["party"]}]
    # What is not there is not replaced.
    builder.press(f"instead {key(chosen)}")
    assert [text for name, text in builder.fields() if name == "item"] == ticked
