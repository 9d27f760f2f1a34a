"""What the editor keeps in sight of a whole draft, its advice with one button each, and what dropping a question does.

Expected numbers are worked out by hand: for a yes/no question with gamma, half of a 95 % interval is
0.98 / (2 gamma sqrt(n)), and beliefs are Bayes' rule for a likelihood ratio of e^epsilon.
"""

import html
import math
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.editor_form import Editor, edit

COIN = {"mechanism": "coin_flip"}


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here is the same on every database."""
    return sqlite(True)


def draft(questions: int, gamma: float = 0.25, **more: Any) -> dict[str, Any]:
    """Yes/no questions of one strength."""
    made = factories.definition([gamma] * questions, **more)
    asked = [{**entry, "design": COIN} for entry in made["questions"]]
    return {**made, "format": 2, "strength": {"gamma": gamma}, "questions": asked}


def words(page: str, start: str, end: str) -> str:
    """What a part of a page says, on one line."""
    inside = page.partition(start)[2].partition(end)[0]
    plain = html.unescape(re.sub(r"<[^>]+>", " ", inside)).replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(plain.split())


def in_sight(editor: Editor) -> str:
    return words(editor.page, 'id="foreseen">', "</dl>")


def list_advice(editor: Editor) -> list[str]:
    """The buttons of the advice."""
    return re.findall(
        r'name="action" value="([^"]+)"', editor.page.partition('id="advice">')[2].partition("</ul>")[0]
    )


def test_headline_people_and_belief_stay_in_sight(signed_in: FlaskClient, database_url: str) -> None:
    plan = {"respondents": 300, "margin": 0.05}
    said = in_sight(edit(signed_in, factories.draft(database_url, draft(2, plan=plan))))
    assert "“The coins hide much, not all” of 100 guesses at most 90 are right" in said
    # 0.98^2 / (0.5 * 0.05)^2 = 1536.6; with 300 people 0.98 / (0.5 sqrt(300)) = 0.11316
    assert (
        "People for ± 5 points 1,537 for question 1, the least precise · you plan 300: ± 11.4 points" in said
    )
    # Odds of 1 to 9, times 3 for each of two answers: 1 to 1.
    assert "A suspicion of 10 % may become at most 50.0 % from all answers together" in said


def test_figures_are_there_while_the_wording_is_still_missing(signed_in: FlaskClient) -> None:
    editor = Editor(signed_in, signed_in.get("/manage/surveys/new"))
    assert "1,537 for question 1" in in_sight(editor)
    assert "at most 25.0 %" in in_sight(editor)
    editor.press("add").press("delete-0").press("delete-0")
    assert in_sight(editor) == "", "nothing is sent, so that nothing is revealed"


@pytest.mark.parametrize(
    ("action", "plan"),
    [
        ("plan_enough", {"respondents": 1537, "margin": 0.05}),
        ("accept_margin", {"respondents": 300, "margin": 0.114}),
    ],
)
def test_a_plan_that_is_too_small_is_mended_by_one_button(
    action: str, plan: dict[str, float], signed_in: FlaskClient, database_url: str
) -> None:
    document = draft(2, plan={"respondents": 300, "margin": 0.05})
    editor = edit(signed_in, factories.draft(database_url, document))
    assert list_advice(editor)[:2] == ["plan_enough", "accept_margin"]
    editor.press(action)
    assert editor.document["plan"] == plan
    assert action not in list_advice(editor)
    editor.press("undo")
    assert editor.document["plan"] == document["plan"]


def test_without_a_plan_the_one_that_it_takes_is_offered(signed_in: FlaskClient, database_url: str) -> None:
    editor = edit(signed_in, factories.draft(database_url, draft(1)))
    assert list_advice(editor) == ["plan_enough"]
    assert editor.press("plan_enough").document["plan"] == {"respondents": 1537, "margin": 0.05}


@pytest.mark.parametrize(
    ("respondents", "gamma", "said"),
    [
        # 0.98 / (2 * 0.05 * sqrt(n)): 0.3099 with 1000, 0.1386 with 5000
        (1000, 0.31, "With less protection, 1,000 people are enough"),
        (5000, 0.14, "You plan for more people than you need: with more protection 5,000 are still enough"),
    ],
)
def test_strength_is_fitted_to_the_people_that_are_planned(
    respondents: int, gamma: float, said: str, signed_in: FlaskClient, database_url: str
) -> None:
    document = draft(2, plan={"respondents": respondents, "margin": 0.05})
    editor = edit(signed_in, factories.draft(database_url, document))
    assert said in words(editor.page, 'id="advice">', "</ul>")
    protects = "less" if respondents == 1000 else "more"
    assert f"γ = {gamma} for every question. Protect {protects}: {respondents:,} people" in words(
        editor.page, 'id="advice">', "</ul>"
    )
    editor.press("fit_plan")
    assert editor.document["strength"] == {"gamma": gamma}
    assert "fit_plan" not in list_advice(editor), "it is fitted now"
    needed = math.ceil((0.98 / (2 * 0.05 * gamma)) ** 2)
    assert respondents - 400 < needed <= respondents


@pytest.mark.parametrize(
    ("headline", "says", "total"),
    [
        ("nobody_sure", "Nobody can be sure of your answers", math.log(4)),
        ("much", "The coins hide much, not all", math.log(19)),
    ],
)
def test_a_better_headline_is_one_button_away(
    headline: str, says: str, total: float, signed_in: FlaskClient, database_url: str
) -> None:
    editor = edit(
        signed_in, factories.draft(database_url, draft(6, plan={"respondents": 1537, "margin": 0.05}))
    )
    assert list_advice(editor) == ["promise_nobody_sure", "promise_much"]
    editor.press(f"promise_{headline}")
    assert f"“{says}”" in in_sight(editor)
    gamma = editor.document["strength"]["gamma"]
    loss, more = (6 * math.log((1 + 2 * each) / (1 - 2 * each)) for each in (gamma, gamma + 0.001))
    assert loss <= total < more, "the weakest protection with which it may be said"


def test_device_keeps_its_chances_and_the_others_make_room(signed_in: FlaskClient, database_url: str) -> None:
    document = draft(3)
    document["questions"][0]["design"] = {"mechanism": "warner", "truth": 0.75}
    editor = edit(signed_in, factories.draft(database_url, document))
    assert "Questions whose chances are those of a device stay as they are." in editor.page
    editor.press("promise_nobody_sure")
    assert editor.document["questions"][0]["design"] == {"mechanism": "warner", "truth": 0.75}
    assert "“Nobody can be sure of your answers”" in in_sight(editor)


def test_advice_that_is_no_use_any_more_does_nothing(signed_in: FlaskClient, database_url: str) -> None:
    document = draft(2, plan={"respondents": 1537, "margin": 0.05})
    editor = edit(signed_in, factories.draft(database_url, document))
    before = editor.document
    for action in ("plan_enough", "promise_some", "promise_nothing", "fit_plan-0"):
        assert editor.press(action).document == before


def test_each_question_says_what_would_be_without_it(signed_in: FlaskClient, database_url: str) -> None:
    document = draft(2, gamma=0.25)
    document["questions"][1]["design"] = {"mechanism": "warner", "truth": 0.6}
    editor = edit(signed_in, factories.draft(database_url, document))
    weak, strong = (words(editor.page, f'id="without-questions[{place}]">', "</details>") for place in (1, 0))
    # Warner with 0.6 is gamma = 0.1: 0.98^2 / (0.2 * 0.05)^2 = 9603.6 (z = 1.95996: 9604), and odds of 1.5.
    assert "People for ± 5 points 1,537; now 9,604" in weak
    assert "at most 25.0 %; now at most 33.3 %" in weak
    assert "People for ± 5 points 9,604; now 9,604" in strong
    assert "at most 14.3 %; now at most 33.3 %" in strong
    # Odds of 3 times 1.5 make 82 of 100 guesses right; of one alone 60 or 75.
    assert "“Nobody can be sure of your answer” People" in strong
    assert "“The coins hide much, not all”" in in_sight(editor)
    editor.press("delete-1")
    assert "1,537" in in_sight(editor)
    assert "at most 25.0 %" in in_sight(editor)
    assert 'id="without-' not in editor.page, "the last one cannot be dropped"


def test_what_others_would_take_over_is_not_foretold(signed_in: FlaskClient, database_url: str) -> None:
    document = factories.definition([0.25, 0.1], budget=3)
    document["questions"][1]["design"] = COIN
    editor = edit(signed_in, factories.draft(database_url, document))
    assert 'id="foreseen"' in editor.page
    assert 'id="without-' not in editor.page


OPTIONS = [{"name": name, "text": name.upper()} for name in "abcd"]
THREE = {"epsilon": math.log(3)}


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        ({"kind": "yes_no", "design": {"mechanism": "coin_flip", "gamma": 0.25}}, ["75 / 100", "75 / 100"]),
        # 3 / (3 + 1 + 1 + 1)
        ({"kind": "select_one", "options": OPTIONS, "design": {"mechanism": "k_ary", **THREE}}, ["50 / 100"]),
        # Half of the loss for each of two boxes: sqrt(3) / (1 + sqrt(3))
        (
            {
                "kind": "select_multiple",
                "options": OPTIONS[:2],
                "design": {"mechanism": "coin_flip", **THREE},
            },
            ["63 / 100", "63 / 100"],
        ),
        (
            {
                "kind": "number",
                "low": 0,
                "high": 10,
                "step": 1,
                "design": {"mechanism": "stochastic_rounding", **THREE},
            },
            ["75 / 100", "75 / 100"],
        ),
        (
            {
                "kind": "binned_number",
                "low": 0,
                "high": 10,
                "step": 1,
                "cuts": [3, 5, 8],
                "design": {"mechanism": "k_ary", **THREE},
            },
            ["50 / 100"],
        ),
    ],
)
def test_every_kind_has_its_own_picture_of_its_odds(
    entry: dict[str, Any], kept: list[str], signed_in: FlaskClient, database_url: str
) -> None:
    document = factories.definition(questions=[{"name": "q", "text": "Q?", **entry}])
    page = edit(signed_in, factories.draft(database_url, document)).page
    (figure,) = re.findall(r'<figure class="odds">.*?</figure>', page, re.DOTALL)
    assert re.findall(r"\d+ / \d+", figure) == kept
    assert len(re.findall(r'class="sure"', figure)) == len(kept), "one dark part in each bar"


def test_near_answers_of_a_scale_are_drawn_for_each_answer(signed_in: FlaskClient, database_url: str) -> None:
    scale = {
        "name": "s",
        "kind": "scale",
        "text": "S?",
        "options": OPTIONS,
        "design": {"mechanism": "ordinal", **THREE},
    }
    page = edit(signed_in, factories.draft(database_url, factories.definition(questions=[scale]))).page
    (figure,) = re.findall(r'<figure class="odds">.*?</figure>', page, re.DOTALL)
    assert len(re.findall(r'<rect class="(?:sure|others)"', figure)) == 16
    assert "for_shares-0" in page.partition('id="advice">')[2].partition("</ul>")[0]
    # Of its shares nothing is promised, whatever they plan; of those of other designs it is.
    for mechanism, where in (
        ("ordinal", "everywhere but in some shares of answers"),
        ("k_ary", "everywhere"),
    ):
        asked = {**scale, "design": {"mechanism": mechanism, **THREE}}
        for respondents, said in ((9, "are too few for"), (9_999_999, "are enough for")):
            plan = {"respondents": respondents, "margin": 0.05}
            document = factories.definition(questions=[asked], plan=plan)
            page = edit(signed_in, factories.draft(database_url, document)).page
            assert f"{respondents:,} respondents {said} ± 5 points {where}." in words(
                page, 'id="takes"', "<details"
            )


def test_advice_and_figures_come_before_the_table_which_is_folded(
    signed_in: FlaskClient, database_url: str
) -> None:
    page = edit(signed_in, factories.draft(database_url, draft(3))).page
    assert (
        page.index('id="advice"')
        < page.index('<details class="estimate-by-estimate"')
        < page.index('class="planned"')
    )


def test_what_many_answers_may_tell_is_said_in_words_where_decimals_alone_keep_it_from_certain(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Odds of 1 to 9, times 3 for each of twenty answers: 3^20 / 9, more than 99.9999999 %."""
    said = in_sight(edit(signed_in, factories.draft(database_url, draft(20))))
    assert "A suspicion of 10 % may become nearly certain from all answers together" in said
    assert "99.99" not in said


def test_numbers_of_privacy_are_folded_and_the_slider_and_the_plan_are_not(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Folded out where strengths are set by hand, or where the budget is refused: it is mended there."""
    document = draft(2, plan={"respondents": 300, "margin": 0.05})
    page = edit(signed_in, factories.draft(database_url, document)).page
    numbers = page.partition('id="strength"')[2].partition("</details>")[0]
    for field in ('name="division"', 'name="budget"', 'id="consequences"'):
        assert field in numbers
    for field in ('id="slider"', 'name="plan.respondents"', 'id="advice"'):
        assert field in page
        assert field not in numbers
    assert not numbers.startswith(" open")
    by_hand = factories.definition([0.25, 0.25])
    page = edit(signed_in, factories.draft(database_url, by_hand)).page
    assert page.partition('id="strength"')[2].startswith(" open")
