"""Definitions of every kind: what they mean, what they cost, and how wrong ones are refused."""

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from server.inputs import InputError, parse_json
from server.inputs.schema import make_validator, schema
from server.privacy.designs import TOTAL, coin_flip, one_hot_epsilon
from server.study.definitions import Definition, GridPoint, Question
from server.study.definitions.definition_reader import parse_definition
from tests.support.scale import choose_size
from tests.support.strategies import documents

Document = dict[str, Any]


def of(*questions: Document, **more: Any) -> Definition:
    document = {"format": 1, "language": "en", "title": "T", "introduction": "", "questions": list(questions)}
    return parse_definition({**document, **more})


def one(question: Document, **more: Any) -> Question:
    return of(question, **more).questions[0]


def select(kind: str = "select_one", count: int = 4, **design: Any) -> Document:
    options = [{"name": f"o{number}", "text": f"Option {number}"} for number in range(count)]
    return {"name": "q", "kind": kind, "text": "Which?", "options": options, "design": design}


def number(kind: str = "number", **more: Any) -> Document:
    design = {
        "mechanism": "best_choice" if kind == "binned_number" else "stochastic_rounding",
        "epsilon": 1.0,
    }
    return {
        "name": "q",
        "kind": kind,
        "text": "How many?",
        "low": 0,
        "high": 40,
        "step": 0.5,
        "design": design,
    } | more


YES_NO = {
    "name": "first",
    "kind": "yes_no",
    "text": "Ever?",
    "design": {"mechanism": "coin_flip", "gamma": 0.25},
}


def problems(document: object) -> dict[str, str]:
    with pytest.raises(InputError) as refused:
        parse_definition(document)
    return {problem.field: problem.message for problem in refused.value.problems}


@pytest.mark.scaled
@settings(max_examples=choose_size(60, 3_000))
@given(documents())
def test_a_definition_survives_parsing_and_publication(document: Document) -> None:
    definition = parse_definition(json.loads(json.dumps(document)))
    assert definition.as_json() == document
    published = json.loads(definition.to_canonical())
    assert "plan" not in published
    sent = [entry for entry in published["questions"] if "designs" in entry]
    designs = [design for entry in sent for design in entry["designs"]]
    assert [sum(row) for design in designs for row in design["weights"]] == [TOTAL] * sum(
        len(design["weights"]) for design in designs
    )
    exact = math.fsum(question.epsilon for question in definition.questions)
    assert exact <= published["epsilon"] <= exact + 1e-4
    if "budget" in document:
        assert exact <= document["budget"] * (1 + 1e-12)


@pytest.mark.scaled
@settings(max_examples=choose_size(60, 3_000))
@given(documents(), st.data())
def test_every_answer_has_a_truth_for_each_byte(document: Document, data: st.DataObject) -> None:
    for question in parse_definition(document).questions:
        answers: list[Any] = list(question.answers)
        if question.kind == "select_multiple":
            answers = [[], answers]
        elif question.grid is not None:
            steps = data.draw(st.integers(0, question.grid.of))
            answers = [question.grid.number(steps), *answers[len(answers) - question.prefer_not_to_say :]]
        for answer in answers:
            truths = question.truths(answer)
            assert len(truths) == len(question.designs) == len(question.columns)
            for truth, design in zip(truths, question.designs, strict=True):
                if isinstance(truth, GridPoint):
                    assert 0 <= truth.steps <= truth.of
                else:
                    assert 0 <= truth < len(design.weights)


def test_each_encoding_is_read_from_the_designs() -> None:
    whole = one(select(mechanism="k_ary", epsilon=1.0))
    assert (whole.encoding, whole.columns, whole.truths("o2")) == ("whole", ("q",), (2,))
    boxes = one(select(mechanism="unary", epsilon=1.0))
    assert (boxes.encoding, boxes.columns[2], boxes.truths("o2")) == ("one_hot", "q.o2", (0, 0, 1, 0))
    assert boxes.epsilon == one_hot_epsilon(boxes.designs[0]) <= 1.0 < sum(d.epsilon for d in boxes.designs)
    ticked = one(select("select_multiple", mechanism="coin_flip", epsilon=2.0))
    assert (ticked.encoding, ticked.truths(["o0", "o3"])) == ("boxes", (1, 0, 0, 1))
    assert ticked.epsilon == pytest.approx(2.0, abs=1e-8)
    assert [design.epsilon <= 0.5 for design in ticked.designs] == [True] * 4


def test_the_better_encoding_is_chosen() -> None:
    assert one(select(count=4, mechanism="best_choice", epsilon=1.0)).encoding == "whole"
    assert one(select(count=20, mechanism="best_choice", epsilon=1.0)).encoding == "one_hot"


def test_numbers_are_exact_decimals() -> None:
    tenths = one(number(low=0, high=0.3, step=0.1))  # in binary floats, 0.3 is not three times 0.1
    assert tenths.truths(0.3) == (GridPoint(3, 3),)
    assert one(number()).truths(2.5) == (GridPoint(5, 80),)
    unsaid = one(number(prefer_not_to_say=True))
    assert unsaid.designs[0].weights.shape == (3, 3)
    assert unsaid.truths("prefer_not_to_say") == (2,)
    with pytest.raises(ValueError, match="grid"):
        unsaid.truths(2.25)


def test_bins_hold_what_their_names_say() -> None:
    binned = one(number("binned_number", step=1, cuts=[1, 5, 10]))
    assert binned.answers == ("0", "1 to 4", "5 to 9", "10 to 40")
    assert [binned.truths(answer) for answer in (0, 1, 4, 5, 9, 10, 40)] == [
        (0,),
        (1,),
        (1,),
        (2,),
        (2,),
        (3,),
        (3,),
    ]


def test_a_budget_is_divided_over_what_states_no_strength() -> None:
    by_hand = {**YES_NO, "design": {"mechanism": "warner", "truth": 0.75}}
    shared = {**select(mechanism="k_ary"), "name": "second"}
    also = {**number(), "name": "third", "design": {"mechanism": "stochastic_rounding"}}
    definition = of(by_hand, shared, also, budget=3.0)
    spent = [question.epsilon for question in definition.questions]
    assert spent[0] == coin_flip(0.25).epsilon
    assert spent[1:] == pytest.approx([(3 - math.log(3)) / 2] * 2, abs=1e-6)
    assert definition.epsilon == 3.0


def test_a_default_budget_is_two_fair_coins_for_every_question() -> None:
    # What the editor writes: the number of questions times ln 3, rounded up at the tenth decimal.
    for count in (1, 3, 10):
        budget = math.ceil(count * math.log(3) * 1e10) / 1e10
        questions = [
            {**YES_NO, "name": f"q{index}", "design": {"mechanism": "coin_flip"}} for index in range(count)
        ]
        assert {design for design in of(*questions, budget=budget).designs} == {coin_flip(0.25)}


DOCUMENT: Document = {
    "format": 1,
    "language": "en",
    "title": "T",
    "introduction": "",
    "budget": 9,
    "questions": [
        YES_NO,
        {**select(mechanism="k_ary"), "name": "which"},
        {**number(), "name": "drinks"},
        {**number("binned_number", cuts=[5, 10]), "name": "days"},
        {
            **select("scale", mechanism="ordinal"),
            "name": "often",
            "show_if": {"question": "first", "any_of": ["yes"]},
            "otherwise": "o0",
        },
        {**select("select_multiple", mechanism="coin_flip"), "name": "used"},
        {
            "name": "asks",
            "kind": "check",
            "text": "?",
            "options": [{"name": "a", "text": "A"}, {"name": "b", "text": "B"}],
            "correct": "a",
            "feedback": "Yes.",
        },
    ],
}
FIRST, WHICH, DRINKS, DAYS, OFTEN, USED, ASKS = range(7)


def set_to(*path: str | int, value: Any) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def at(index: int, *path: str | int, value: Any) -> Callable[[Document], None]:
    return set_to("questions", index, *path, value=value)


BAD = [
    (at(FIRST, "kind", value="essay"), "questions[0].kind", "must be one of yes_no, select_one,"),
    (at(FIRST, "name", value="which"), "questions[1].name", "must be unique; which stands twice"),
    (at(FIRST, "extra", value=1), "questions[0].extra", "is not known here; allowed: name, kind"),
    (at(FIRST, "text", value=" "), "questions[0].text", "must not be empty"),
    (at(FIRST, "design", "mechanism", value="k_ary"), "questions[0].design.gamma", "is not known here"),
    (at(FIRST, "design", value={"mechanism": "k_ary"}), "questions[0].design.mechanism", "prefer not to say"),
    (at(FIRST, "prefer_not_to_say", value=True), "questions[0].design.mechanism", "must be k_ary where"),
    (
        at(FIRST, "prefer_not_to_say", value=False),
        "questions[0].prefer_not_to_say",
        "must be true; it is false",
    ),
    (
        at(FIRST, "design", value={"mechanism": "forced_response", "truth": 0.75, "yes": 0.25}),
        "questions[0].design.yes",
        "must be below 0.25, so that some answers are forced to be No; it is 0.25",
    ),
    (
        at(FIRST, "design", value={"mechanism": "warner", "truth": 0.5}),
        "questions[0].design.truth",
        "must not be 0.5",
    ),
    (
        at(FIRST, "design", value={"mechanism": "crosswise", "prevalence": 0.5, "innocuous": "May?"}),
        "questions[0].design.prevalence",
        "must not be 0.5",
    ),
    (
        at(FIRST, "design", value={"mechanism": "unrelated_question", "truth": 0.7, "prevalence": 0.1}),
        "questions[0].design.innocuous",
        "is required",
    ),
    (
        at(FIRST, "design", value={"mechanism": "kuk", "if_yes": 0.3, "if_no": 0.3}),
        "questions[0].design.if_no",
        "must differ from the other deck; both are 0.3",
    ),
    (
        at(WHICH, "design", "epsilon", value=21),
        "questions[1].design.epsilon",
        "must be from 0.001 to 20; it is 21",
    ),
    (at(WHICH, "options", value=[]), "questions[1].options", "must have at least 2 entries; it has 0"),
    (
        at(WHICH, "options", 1, "name", value="o0"),
        "questions[1].options[1].name",
        "must be unique; o0 stands",
    ),
    (at(WHICH, "options", 1, "text", value="Option 0"), "questions[1].options[1].text", "must be unique"),
    *(
        (at(WHICH, "options", 1, "text", value=alike), "questions[1].options[1].text", "must be unique")
        for alike in (
            "Option\u00a00",
            "Opt\u200bion 0",
            "Option  0",
            "Option 0\u200b",
            "Opti\u00adon 0",
        )
    ),
    (at(WHICH, "options", 1, "text", value="a\nb"), "questions[1].options[1].text", "must be one line"),
    (
        at(WHICH, "options", 0, "name", value="prefer_not_to_say"),
        "questions[1].options[0].name",
        "is reserved",
    ),
    (at(DRINKS, "high", value=0), "questions[2].high", "must be above the lowest number, 0; it is 0"),
    (at(DRINKS, "step", value=0.7), "questions[2].step", "must lead from 0 to 40 in whole steps; it is 0.7"),
    (at(DRINKS, "step", value=0), "questions[2].step", "must be from 0.000001 to 1000000000; it is 0"),
    (
        at(DRINKS, "step", value=0.00001),
        "questions[2].step",
        "must make at most 1048576 steps; it makes 4000000",
    ),
    (at(DRINKS, "low", value="many"), "questions[2].low", "must be a number; it is many"),
    (at(DAYS, "cuts", value=[10, 5]), "questions[3].cuts[1]", "must be above the one before, 10; it is 5"),
    (at(DAYS, "cuts", 0, value=0), "questions[3].cuts[0]", "must be above 0, at most 40"),
    (at(DAYS, "cuts", 0, value=5.25), "questions[3].cuts[0]", "reached in steps of 0.5; it is 5.25"),
    (
        at(OFTEN, "otherwise", value="maybe"),
        "questions[4].otherwise",
        "must be one of o0, o1, o2, o3; it is maybe",
    ),
    (
        at(OFTEN, "show_if", "question", value="used"),
        "questions[4].show_if.question",
        "stands before this one",
    ),
    (
        at(OFTEN, "show_if", "any_of", value=["maybe"]),
        "questions[4].show_if.any_of[0]",
        "must be one of no, yes",
    ),
    (
        at(OFTEN, "show_if", value={"question": "drinks", "any_of": ["yes"]}),
        "questions[4].show_if",
        '"from" and "to"',
    ),
    (
        at(OFTEN, "show_if", value={"question": "first", "from": 1, "to": 2}),
        "questions[4].show_if",
        '"any_of"',
    ),
    (
        at(OFTEN, "show_if", value={"question": "drinks", "from": 2, "to": 1}),
        "questions[4].show_if.to",
        "must be at least 2; it is 1",
    ),
    (at(USED, "otherwise", value=[]), "questions[5].otherwise", 'must not stand without "show_if"'),
    (
        at(USED, "show_if", value={"question": "first", "any_of": ["yes"]}),
        "questions[5].otherwise",
        "is required: everybody reports",
    ),
    (at(ASKS, "correct", value="c"), "questions[6].correct", "must be one of a, b; it is c"),
    (at(ASKS, "design", value={}), "questions[6].design", "is not known here"),
    (
        set_to("budget", value=3.1),
        "budget",
        "must leave at least 0.001 for each question that states no strength",
    ),
    (set_to("budget", value=-1), "budget", "must be from 0.001 to 1000; it is -1"),
    (
        set_to("plan", value={"respondents": 0, "margin": 0.05}),
        "plan.respondents",
        "must be from 1 to 10000000; it is 0",
    ),
    (set_to("plan", value={"respondents": 5}), "plan.margin", "is required"),
    (set_to("plan", value={"respondents": 5.5, "margin": 0.1}), "plan.respondents", "must be a whole number"),
    (
        set_to("questions", value=[DOCUMENT["questions"][ASKS]]),
        "questions",
        "at least one question that is sent",
    ),
    (set_to("title", value="a\nb"), "title", "must be one line; it has a line break"),
]


@pytest.mark.parametrize(
    ("change", "field", "message"), BAD, ids=[f"{field} {text[:24]}" for _, field, text in BAD]
)
def test_a_wrong_definition_is_refused_by_field_range_and_value(
    change: Callable[[Document], None], field: str, message: str
) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    parse_definition(document)
    change(document)
    found = problems(document)
    assert field in found, found
    assert message in found[field]


def test_a_survey_without_a_budget_needs_every_strength() -> None:
    document = {name: value for name, value in DOCUMENT.items() if name != "budget"}
    found = problems(document)
    assert set(found) == {f"questions[{index}].design.epsilon" for index in (WHICH, OFTEN, USED)}
    assert set(found.values()) == {"is required where the survey has neither a budget nor a strength for all"}


def test_questions_that_state_more_than_the_budget_are_refused() -> None:
    found = problems({**DOCUMENT, "questions": [YES_NO], "budget": 1})
    assert found == {"budget": "must cover what the questions take, 1.0986; it is 1"}


def test_a_response_has_a_bounded_number_of_bytes() -> None:
    many = [{**select(count=50, mechanism="unary", epsilon=1.0), "name": f"q{index}"} for index in range(20)]
    assert "must have at most 1000" in problems({**DOCUMENT, "questions": many})["questions"]


def test_line_ends_are_made_alike_and_texts_stripped() -> None:
    definition = of({**YES_NO, "text": " Ever?\r\nReally?\r "}, introduction="a\r\nb")
    assert definition.questions[0].text == "Ever?\nReally?"
    assert definition.introduction == "a\nb"


def list_paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, item in inner for found in list_paths(item, (*path, step)))]


def test_what_the_schema_refuses_is_what_its_library_refuses() -> None:
    """Parts of it that speak of another kind or mechanism are passed over before the library sees them."""
    chosen = sorted(set(re.findall(r'"const": "(\w+)"', json.dumps(schema()))))
    assert {"scale", "coin_flip"} <= set(chosen)
    checks = make_validator("survey"), Draft202012Validator(schema())
    for question in DOCUMENT["questions"]:
        choices = [path for path in list_paths(question) if path and path[-1] in ("kind", "mechanism")]
        assert choices
        for path in (*choices, *(choice[:-1] for choice in choices if choice[:-1])):
            for wrong in ([], None, True, 1, {}, "x", *(chosen if path in choices else ())):
                document = json.loads(json.dumps({**DOCUMENT, "questions": [question]}))
                set_to("questions", 0, *path, value=wrong)(document)
                ours, theirs = (
                    [(error.message, *error.absolute_schema_path) for error in check.iter_errors(document)]
                    for check in checks
                )
                assert ours == theirs, (path, wrong)


def test_a_wrong_type_anywhere_is_a_problem_and_no_other_error() -> None:
    for path in list_paths(DOCUMENT)[1:]:
        for wrong in (None, True, -1, 1e300, "", "x", [], {}, ["x"], {"x": 1}):
            document = json.loads(json.dumps(DOCUMENT))
            set_to(*path, value=wrong)(document)
            with suppress(InputError):
                parse_definition(document).to_canonical()


def test_accents_that_look_alike_are_one() -> None:
    """U+00E9 beside e and U+0301."""
    question = select(mechanism="best_choice", epsilon=1.0)
    question["options"][0]["text"], question["options"][2]["text"] = "Jos\u00e9", "Jose\u0301"

    document = {"format": 1, "language": "en", "title": "T", "introduction": "", "questions": [question]}
    assert problems(document) == {
        "questions[0].options[2].text": "must be unique; another one looks like Jos\u00e9"
    }


def test_a_mark_of_byte_order_is_passed_over() -> None:
    """As some editors write it at the beginning of a file."""
    assert parse_json(b'\xef\xbb\xbf{"a": 1}', 100) == {"a": 1}
    with pytest.raises(InputError, match="must be JSON"):
        parse_json(b'\xef\xbb\xbf\xef\xbb\xbf{"a": 1}', 100)
