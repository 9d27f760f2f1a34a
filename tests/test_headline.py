"""What the first screen says of all answers together, beside what somebody who sees them all can really do.

The exact advantage is enumerated: every complete answer that the conditions allow, every response that it may become,
every pair of complete answers. A rule that looks at each question alone is the twin that must fail.
"""

import itertools
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.planning import Guesses, Headline, count_guesses, count_spent, list_room
from server.study.definitions import Definition, GridPoint, Question
from server.study.definitions.definition_reader import parse_definition
from tests.support import factories
from tests.support.scale import choose_size

SMALLEST = 1e-6
"""Of 100 guesses: what rounding chances to 2**-32 may add."""

RANGE = {"low": 0, "high": 2, "step": 1}
THREE = [{"name": name, "text": name} for name in ("a", "b", "c")]


def exact_guesses(definition: Definition) -> tuple[float, float]:
    """Of 100 guesses between two complete answers, those that are right: on average, and after the worst response."""
    rows = np.array([_chances(definition, answers) for answers in _complete(definition)])
    average = worst = 0.0
    for one, other in itertools.combinations(rows, 2):
        average = max(average, 50 + 25 * float(np.abs(one - other).sum()))
        seen = (one + other) > 0
        worst = max(worst, 100 * float((np.maximum(one, other)[seen] / (one + other)[seen]).max()))
    return average, worst


def _complete(definition: Definition) -> list[dict[str, Any]]:
    """Every set of answers that a respondent can give: who is not shown a question has its `otherwise`."""
    found: list[dict[str, Any]] = [{}]
    for question in definition.questions:
        longer = []
        for answers in found:
            shown = question.show_if is None or answers[question.show_if.question] in question.show_if.any_of
            given = _answers(question) if shown else [question.otherwise]
            longer += [{**answers, question.name: answer} for answer in given]
        found = longer
    return found


def _answers(question: Question) -> list[Any]:
    if question.kind == "select_multiple":
        names = question.answers
        return [list(chosen) for k in range(len(names) + 1) for chosen in itertools.combinations(names, k)]
    if question.grid is not None:
        numbers: list[Any] = [question.grid.number(steps) for steps in range(question.grid.of + 1)]
        return numbers + [answer for answer in question.answers if answer == "prefer_not_to_say"]
    return list(question.answers)


def _chances(definition: Definition, answers: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The chance of every response of somebody with these answers."""
    chances = np.ones(1)
    for question in definition.questions:
        for truth, design in zip(question.truths(answers[question.name]), question.designs, strict=True):
            row = design.matrix[0 if isinstance(truth, GridPoint) else truth]
            if isinstance(truth, GridPoint):
                row = row + (design.matrix[1] - row) * float(Fraction(truth.steps, truth.of))
            chances = np.outer(chances, row).ravel()
    return chances


def says_too_much(guesses: Guesses, exact: tuple[float, float]) -> bool:
    """Whether somebody guesses better than is said, or than the headline allows."""
    limit = {Headline.NOBODY_SURE: 80, Headline.MUCH: 95}.get(guesses.headline, 100)
    return max(exact) > min(guesses.right, limit) + SMALLEST


def by_question(definition: Definition) -> Guesses:
    """The broken twin: what the question that tells most would say alone."""
    return count_guesses([max(question.epsilon for question in definition.questions)])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Up to three questions of any kinds, the later ones maybe shown on a condition."""
    questions: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        epsilon = draw(st.floats(0.05, 3))
        design = {"mechanism": draw(st.sampled_from(["k_ary", "unary"])), "epsilon": epsilon}
        gamma = draw(st.floats(0.02, 0.48))
        kinds: list[dict[str, Any]] = [
            {"kind": "yes_no", "design": {"mechanism": "coin_flip", "gamma": gamma}},
            {"kind": "yes_no", "design": {"mechanism": "kuk", "if_yes": 0.8, "if_no": 0.3}},
            {"kind": "yes_no", "design": {**design, "mechanism": "k_ary"}, "prefer_not_to_say": True},
            {"kind": "select_one", "options": THREE, "design": design},
            {"kind": "select_multiple", "options": THREE[:2], "design": {**design, "mechanism": "coin_flip"}},
            {"kind": "scale", "options": THREE, "design": {**design, "mechanism": "ordinal"}},
            {"kind": "number", **RANGE, "design": {**design, "mechanism": "stochastic_rounding"}},
        ]
        question = draw(st.sampled_from(kinds))
        questions.append({**question, "name": f"q{number}", "text": f"Question {number}?"})
        gates = [gate for gate in questions[:-1] if gate["kind"] == "yes_no" and "show_if" not in gate]
        if gates and draw(st.booleans()):
            otherwise: dict[str, Any] = {"yes_no": "no", "select_multiple": [], "number": 0}
            questions[-1] |= {
                "show_if": {"question": gates[0]["name"], "any_of": ["yes"]},
                "otherwise": otherwise.get(question["kind"], "a"),
            }
    return factories.definition(questions=questions)


@pytest.mark.scaled
def test_nobody_guesses_better_than_the_headline_says() -> None:
    @settings(max_examples=choose_size(60, 3_000), deadline=None, derandomize=True, database=None)
    @given(documents())
    def try_one(document: dict[str, Any]) -> None:
        definition = parse_definition(document)
        exact = exact_guesses(definition)
        assert not says_too_much(definition.guesses, exact)
        if not any(entry.show_if for entry in definition.entries):
            # Nor is more feared than there is: without conditions some pair and response reach it.
            assert definition.guesses.right == math.ceil(exact[1] - SMALLEST)

    try_one()


CASES = {
    "one question": ([0.25], Headline.NOBODY_SURE, 75),
    "one question at the limit": ([0.3], Headline.NOBODY_SURE, 80),
    "one question beyond it": ([0.301], Headline.MUCH, 81),
    "one question at 0.4499": ([0.4499], Headline.MUCH, 95),
    "one question at 0.4501": ([0.4501], Headline.SOME, 96),
    "two questions": ([0.25, 0.25], Headline.MUCH, 90),
    "the same question seven times": ([0.25] * 7, Headline.SOME, 100),
}


@pytest.mark.parametrize("name", CASES)
def test_the_headline_of_coin_flips(name: str) -> None:
    """Right after the worst response: r / (1 + r), r the product of (1/2 + gamma) / (1/2 - gamma)."""
    gammas, headline, right = CASES[name]
    definition = parse_definition(factories.definition(gammas))
    ratio = math.prod((0.5 + gamma) / (0.5 - gamma) for gamma in gammas)
    assert math.ceil(100 * ratio / (1 + ratio) - SMALLEST) == right
    assert (definition.guesses.headline, definition.guesses.right) == (headline, right)
    assert not says_too_much(definition.guesses, exact_guesses(definition))


@pytest.mark.parametrize("gammas", [[0.25] * 2, [0.25] * 7, [0.29, 0.1]])
def test_a_rule_that_looks_at_each_question_alone_fails(gammas: list[float]) -> None:
    definition = parse_definition(factories.definition(gammas))
    assert by_question(definition).headline == Headline.NOBODY_SURE
    assert says_too_much(by_question(definition), exact_guesses(definition))


def test_the_same_question_21_times() -> None:
    """A majority of 21 reports is right with the chance that more than 10 of 21 fair-coin pairs keep the answer."""
    chances = [math.comb(21, kept) * 0.75**kept * 0.25 ** (21 - kept) for kept in range(11, 22)]
    definition = parse_definition(factories.definition([0.25] * 21))
    exact = (100 * math.fsum(chances), 100 * (1 - 1 / (1 + 3**21)))
    assert exact[0] > 99
    assert definition.guesses == Guesses(100, 75, Headline.SOME)
    assert not says_too_much(definition.guesses, exact)
    assert says_too_much(by_question(definition), exact)


PAGES = {
    Headline.NOBODY_SURE: ([0.15, 0.1], "Nobody can be sure of your answers", "Nadie puede saber con certeza"),
    Headline.MUCH: ([0.25, 0.25], "The coins hide much, not all", "Las monedas ocultan mucho, no todo"),
    Headline.SOME: (
        [0.25] * 6,
        "Chance changes some answers; all together tell a lot",
        "El azar cambia algunas respuestas; todas juntas dicen mucho",
    ),
}  # fmt: skip
TOO_MUCH = re.compile(r"\b(no one|nobody|hidden|nadie|ocult[oa]s?)\b", re.IGNORECASE)


def texts(page: str) -> str:
    """A page without what its tags say of parts that are not shown."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r"\b(aria-)?hidden\b", "", tag[0]), page)


@pytest.mark.parametrize("headline", PAGES)
def test_the_page_says_what_follows_from_all_answers_together(
    headline: Headline, client: FlaskClient, database_url: str
) -> None:
    gammas, english, spanish = PAGES[headline]
    survey = factories.publish(database_url, factories.definition(gammas))
    for language, words in (("en", english), ("es", spanish)):
        page = texts(client.get(f"/s/{survey.slug}?lang={language}").text)
        for other, (_, *both) in PAGES.items():
            said = both[language == "es"] in page
            assert said == (other == headline), (language, other)
        assert words in page
        assert bool(TOO_MUCH.search(page)) == (headline == Headline.NOBODY_SURE), TOO_MUCH.findall(page)
        # Whom the coins do not hide is not told to answer honestly because of them.
        honestly = "answer honestly" if language == "en" else "responde con sinceridad"
        assert (honestly in page) == (headline == Headline.NOBODY_SURE)


def test_a_link_by_invitation_says_what_is_sent_before_the_coins_and_what_files_can_tell(
    client: FlaskClient, signed_in: FlaskClient, database_url: str
) -> None:
    """The code goes out before any coin, and a write-ahead log or a backup holds it beside its response."""
    survey = factories.publish(database_url)
    factories.settle(database_url, survey.slug, by_invitation=True)
    page = client.get(f"/s/{survey.slug}").text
    assert "Before anything is sent" not in page
    assert "Nothing is sent yet" not in page
    assert "find in its files, at least until the survey is closed, which came together" in page
    told = signed_in.get(f"/manage/surveys/{survey.slug}/invitations").text
    assert "which code came with which response" in told
    assert "Backups and other copies made until then go on telling it" in told


def test_a_new_version_says_what_follows_from_its_own_questions(
    client: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    assert "Nobody can be sure of your answer" in client.get(f"/s/{survey.slug}").text
    factories.publish(database_url, factories.definition([0.25, 0.25]), survey.slug)
    page = client.get(f"/s/{survey.slug}").text
    assert "The coins hide much, not all" in page
    assert not TOO_MUCH.search(texts(page))


def test_boxes_of_one_question_count_together(client: FlaskClient, database_url: str) -> None:
    boxes = {
        **factories.question(),
        "kind": "select_multiple",
        "options": THREE,
        "design": {"mechanism": "coin_flip", "epsilon": 1.5},
    }
    page = client.get(
        f"/s/{factories.publish(database_url, factories.definition(questions=[boxes])).slug}"
    ).text
    assert "The coins hide much, not all" in page


GROUP = "Faculty of Law"


def test_the_group_that_a_link_carries_is_named_at_the_start_and_before_sending(
    client: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url)
    links = factories.plant(database_url, survey.slug, f"University > {GROUP}; 1200\nUniversity > Other")
    for path, slug in links.items():
        if path == "University":
            continue  # it has parts, and so no link
        page = client.get(f"/s/{slug}").text + client.get(f"/s/{slug}/screens").text
        shown = {
            name: part for name, part in re.findall(r'<template id="(\w+)">(.*?)</template>', page, re.DOTALL)
        }
        for screen in ("introduction", "sending"):
            assert ("University &gt; " + path.split(" > ")[1]) in shown[screen]
            assert ("(1,200 people)" in shown[screen]) == (GROUP in path)
            assert "Your group is stored with your answers" in shown[screen]
    # The survey's own link carries none.
    page = client.get(f"/s/{survey.slug}").text + client.get(f"/s/{survey.slug}/screens").text
    assert "group of people" not in page
    assert page.count("No name, address or time of day is stored with your answers.") == 2


def looked_up(rooms: Sequence[int], spent: list[int]) -> int:
    """What the browser finds: it adds whole numbers and compares them."""
    return 100 - sum(sum(spent) <= room for room in rooms)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-3, 40), st.lists(st.floats(1e-3, 12), min_size=1, max_size=5))
def test_what_is_looked_up_for_several_rounds_is_what_follows_from_their_losses(
    own: float, others: list[float]
) -> None:
    rooms = list_room(own)
    found = looked_up(rooms, [count_spent(loss) for loss in others])
    assert list(rooms) == sorted(rooms, reverse=True)
    # Rounding up a billionth of a nat for each round never makes it less than it is.
    slack = 1e-9 * (len(others) + 1)
    assert count_guesses([own, *others]).right <= found <= count_guesses([own + slack, *others]).right


@pytest.mark.parametrize(("gammas", "right"), [([0.25, 0.25], 90), ([0.25] * 3, 97), ([0.3, 0.25], 93)])
def test_rounds_of_coin_flips_are_looked_up_exactly(gammas: list[float], right: int) -> None:
    """By hand: r / (1 + r), r the product of (1/2 + gamma) / (1/2 - gamma); 9 : 1 is 90, and not 91."""
    own, *others = (parse_definition(factories.definition([gamma])).loss for gamma in gammas)
    ratio = math.prod((0.5 + gamma) / (0.5 - gamma) for gamma in gammas)
    assert math.ceil(100 * ratio / (1 + ratio) - SMALLEST) == right
    rooms = list_room(own)
    assert looked_up(rooms, [count_spent(loss) for loss in others]) == right
    assert looked_up(rooms, [count_spent(loss) + 10**9 for loss in others]) > right, "a twin that spent more"


def test_the_browser_has_no_formula_of_its_own() -> None:
    client_code = "".join(path.read_text() for path in (factories.ROOT / "client").glob("*.js"))
    assert "Math.exp" not in client_code
    assert "Math.log" not in client_code.replace("return Math.log(Math.max(", ""), (
        "but to check a design's epsilon"
    )
