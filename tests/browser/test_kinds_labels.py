"""What is said of chance: labels in counts of people, a coin to play with, and words for every report."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import ANSWERS, QUESTIONS
from tests.browser.site_users import PHONE, Respondent
from tests.browser.visit_traces import FIXED_CHANCE
from tests.support import factories

HEADS, TAILS = 0, 2**32 - 1
"""Coins that give the first report of every design, and the last."""


CODES = {
    "stole": (["0 = No"], ["1 = Yes"]),
    "fired": (["0 = No"], ["2 = Prefer not to say"]),
    "taken": (["0 = Money"], ["2 = Time"]),
    "boxed": (
        ["Money: 0 = not chosen", "Goods: 0 = not chosen", "Time: 0 = not chosen"],
        ["Money: 1 = chosen", "Goods: 1 = chosen", "Time: 1 = chosen"],
    ),
    "often": (["0 = Never"], ["3 = Always"]),
    "pills": (
        ["Alcohol: 0 = not ticked", "Cannabis: 0 = not ticked", "Sleeping pills: 0 = not ticked"],
        ["Alcohol: 1 = ticked", "Cannabis: 1 = ticked", "Sleeping pills: 1 = ticked"],
    ),
    "hours": (["0 = 0 hours"], ["1 = 60 hours"]),
    "cash": (["0 = 0 hours"], ["2 = Prefer not to say"]),
    "age": (["0 = 16 to 24 years"], ["3 = 65 to 99 years"]),
    "cards": (["0 = black"], ["1 = red"]),
    "cross": (["0 = different"], ["1 = the same"]),
}


@pytest.mark.parametrize(("coin", "side"), [(HEADS, 0), (TAILS, 1)], ids=["heads", "tails"])
def test_every_report_is_shown_with_what_it_stands_for(
    open_page: Opener, installation: factories.Served, coin: int, side: int
) -> None:
    questions = [QUESTIONS[name] for name in CODES]
    slug = factories.publish(installation.database_url, question_screens.survey(*questions)).slug
    page = open_page(**PHONE)
    page.add_init_script(FIXED_CHANCE % coin)
    visit = Respondent(page, slug).open()
    question_screens.begin(visit)
    for name in CODES:
        question_screens.answer(visit, QUESTIONS[name], ANSWERS[name][0])
    body = json.loads(visit.sent_body())
    assert page.locator(".words li > span").all_inner_texts() == [each["text"] for each in questions]
    shown = [each.locator("p").all_inner_texts() for each in page.locator(".words li:has(> span)").all()]
    assert dict(zip(CODES, shown, strict=True)) == {name: codes[side] for name, codes in CODES.items()}
    flat = [code for codes in shown for code in codes]
    assert [re.findall(r"\d+ =", code)[-1] for code in flat] == [f"{r} =" for r in body["reports"]]


# The counts are those of the designs, worked out by hand from their definitions.
LABELS = {
    "stole": "Of 100 people who enter No, 25 are recorded as Yes. "
    "Of 100 who enter Yes, 75 are recorded as Yes.",
    # e^1.5 / (e^1.5 + 2) = 0.691
    "taken": "Of 100 people who choose an answer, 69 arrive with it, the other 31 arrive with "
    "one of the other 2 answers, each equally often.",
    "fired": "Of 100 people who choose an answer, 69 arrive with it, the other 31 arrive with "
    "one of the other 2 answers, each equally often.",
    # 1/2, and 1 / (e^1.5 + 1) = 0.182
    "boxed": "Each option is sent by itself: whether it was the one you chose. Of 100 people who do not choose it, "
    "18 arrive as choosing it. Of 100 who choose it, 50 arrive as choosing it.",
    # e^0.5 / (e^0.5 + 1) = 0.622
    "pills": "Each option is sent by itself, each with a coin of its own. Of 100 people who do not choose it, "
    "38 arrive as choosing it. Of 100 who choose it, 62 arrive as choosing it.",
    # with t = 1.5 / 3: 1 / (1 + e^-t + e^-2t + e^-3t) = 0.455 at the ends, 1 / (1 + 2 e^-t + e^-2t) = 0.387 between
    "often": "Of 100 people who choose an answer, 39 to 45 arrive with exactly that one. The others arrive with "
    "another: a near one is likelier than a far one, and every one is possible.",
    # e^1.5 / (e^1.5 + 1) = 0.818
    "hours": "The number itself is never sent, only 0 hours or 60 hours. Of 100 people who enter 0 hours, "
    "18 arrive as 60 hours. Of 100 who enter 60 hours, 82 arrive as 60 hours. "
    "A number in between arrives as 60 hours more often the higher it is.",
    "cash": "The number itself is never sent, only 0 hours, 60 hours, or Prefer not to say. Of 100 people who enter "
    "0 hours, 16 arrive as 60 hours. Of 100 who enter 60 hours, 69 arrive as 60 hours. "
    "A number in between arrives as 60 hours more often the higher it is. "
    "Of 100 who prefer not to say, 69 arrive as such; so do 15 of those who enter a number.",
    # e^1.5 / (e^1.5 + 3) = 0.599
    "age": "The number itself stays here: only the range it lies in is sent, after the coin. Of 100 people who "
    "choose an answer, 60 arrive with it, the other 40 arrive with one of the other 3 answers, "
    "each equally often.",
    "asis": "Of 100 people who enter No, 30 are recorded as Yes. "
    "Of 100 who enter Yes, 70 are recorded as Yes. For 70 of 100 people "
    "the question is taken as it stands, for the others as its opposite. "
    "Chance decides which, and only Yes or No is sent.",
    "told": "Of 100 people who enter No, 12 are recorded as Yes. "
    "Of 100 who enter Yes, 87 are recorded as Yes. Of 100 people 75 send "
    "their own answer. Chance tells 12.5 to send Yes, and the others to send No, whatever they entered.",
    "spare": "Of 100 people who enter No, 10 are recorded as Yes. "
    "Of 100 who enter Yes, 70 are recorded as Yes. Of 100 people 60 send "
    "their own answer. For the others chance answers a harmless question in their place: Were you born in spring? "
    "It says Yes for 25 of 100.",
    "cards": "Of 100 people who enter No, 30 draw a red card. "
    "Of 100 who enter Yes, 80 draw a red card. There are two decks of "
    "cards. Of 100 cards 80 are red in the one for Yes, and 30 in the one for No. Your answer decides which deck your "
    "device draws from; only the colour of the card is sent.",
    "cross": "Of 100 people who enter No, 75 are recorded as “the same”. "
    "Of 100 who enter Yes, 25 are recorded as “the same”. "
    "Your device makes up an answer to a harmless question: Were you born in spring? It is Yes for 25 of 100 people. "
    "Only whether it is the same as yours is sent.",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_label_says_what_chance_does_and_the_coin_can_be_tested_on_a_made_up_answer(
    open_page: Opener, installation: factories.Served, name: str
) -> None:
    visit = question_screens.open_survey(open_page, installation, question_screens.survey(QUESTIONS[name]))
    page = visit.page
    label = page.locator("main .label")
    expect(label).to_have_count(1)
    said = " ".join(label.inner_text().split())
    assert said == LABELS.get(name, said)
    page.get_by_text("How can I check?").click()
    page.locator("#test-here .pair button").last.click()
    weights = json.loads(page.request.get(f"/s/{visit.slug}/survey.json").text())["definition"]["questions"][
        0
    ]
    bars = page.locator("#test-here [role=status] p").all_inner_texts()[1:]
    assert len(bars) == len(weights["designs"][0]["weights"][0])
    counted, expected = zip(
        *([int(n.replace(",", "")) for n in re.findall(r"([\d,]+) times, expected ([\d,]+)", bar)[0]] for bar in bars),
        strict=True,
    )  # fmt: skip
    assert sum(counted) == 10_000
    # Ten standard deviations: what follows the design strays further once in 10^22 runs.
    for count, mean in zip(counted, expected, strict=True):
        assert abs(count - mean) <= 10 * (mean * (1 - mean / 10_000)) ** 0.5 + 1
    expect(page.locator("#try-here")).to_have_count(int(name in ("stole", "asis", "told", "spare")))
    question_screens.begin(visit)
    assert " ".join(label.inner_text().split()) == said


def test_what_plays_is_pinned_and_only_loaded_when_asked_for(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**PHONE)
    slug = factories.publish(installation.database_url, question_screens.survey(QUESTIONS["stole"])).slug
    asked: list[str] = []
    page.on("request", lambda request: asked.append(Path(request.url).name))
    page.route(
        "**/respondent_coin.js",
        lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text() + "\n// altered"),
    )
    open_page.watch(page).expect(r"'integrity' attribute for resource '[^']*/respondent_coin.js'")
    visit = Respondent(page, slug).open()
    expect(visit.button("Start · 1 question")).to_be_visible()
    assert "respondent_coin.js" not in asked
    page.get_by_text("How can I check?").click()
    page.wait_for_timeout(500)
    assert "respondent_coin.js" in asked
    expect(page.locator("#test-here button")).to_have_count(0)
    question_screens.begin(visit)
    question_screens.answer(visit, QUESTIONS["stole"], "no")
    expect(visit.heading(question_screens.REVIEW)).to_be_visible()
