"""A survey's plan: every kind of question, the budget, what binds, what falls short; and the command line."""

import json
import math
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.privacy.designs import coin_flip
from server.privacy.planning import respondents_for_margin
from server.study import planning
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import dump

HOURS = {"low": 0, "high": 40, "step": 0.5, "unit": "hours"}


def options(number: int) -> list[dict[str, str]]:
    return [{"name": f"o{place}", "text": f"Option {place}"} for place in range(number)]


def make_question(
    name: str, kind: str, mechanism: str, more: dict[str, Any] | None = None, **strength: Any
) -> dict[str, Any]:
    design = {"mechanism": mechanism, **strength}
    return {"name": name, "kind": kind, "text": f"{name}?", **(more or {}), "design": design}


YES_NO = make_question("yes", "yes_no", "coin_flip", gamma=0.25)
EVERY_KIND = [
    YES_NO,
    make_question("refused", "yes_no", "k_ary", {"prefer_not_to_say": True}, epsilon=1),
    make_question("one", "select_one", "k_ary", {"options": options(4)}, epsilon=1),
    make_question("boxed", "select_one", "unary", {"options": options(20)}, epsilon=1),
    make_question("all", "select_multiple", "coin_flip", {"options": options(3)}, epsilon=3),
    make_question("scale", "scale", "ordinal", {"options": options(5)}, epsilon=2),
    make_question("flat", "scale", "k_ary", {"options": options(5)}, epsilon=2),
    make_question("number", "number", "stochastic_rounding", HOURS, epsilon=1),
    make_question("bins", "binned_number", "k_ary", {**HOURS, "cuts": [10, 20]}, epsilon=1),
]


def survey(*questions: dict[str, Any], **more: Any) -> Definition:
    return parse_definition(factories.definition(questions=list(questions), **more))


def test_every_kind_has_what_its_results_estimate() -> None:
    made = planning.plan(survey(*EVERY_KIND))

    found = {
        entry.question.name: [(target.what, target.promised, target.range) for target in entry.targets]
        for entry in made.questions
    }
    assert found == {
        "yes": [("share", True, 1)],
        "refused": [("shares", True, 1)],
        "one": [("shares", True, 1)],
        "boxed": [("shares", True, 1)],
        "all": [("boxes", True, 1)],
        "scale": [("mean", True, 4), ("shares", False, 1)],
        "flat": [("mean", True, 4), ("shares", True, 1)],
        "number": [("mean", True, 40)],
        "bins": [("shares", True, 1)],
    }
    assert [entry.number for entry in made.questions] == list(range(1, 10))


def test_a_survey_without_a_plan_is_planned_for_five_points() -> None:
    made = planning.plan(survey(YES_NO))

    assert (made.margin, made.respondents, made.budget, made.left) == (0.05, None, None, None)
    (target,) = made.questions[0].targets
    assert (target.respondents, target.reached, target.reachable) == (1537, None, None)
    assert target.respondents == respondents_for_margin(0.05, coin_flip(0.25))
    assert target.price == pytest.approx(4)
    assert not made.shortfalls
    assert (made.questions[0].gamma, made.questions[0].belief) == (0.25, pytest.approx(0.25))


def test_the_plan_of_a_definition_is_held_against_every_question() -> None:
    sensitive, mild = (
        make_question(name, "yes_no", "coin_flip", gamma=gamma) for name, gamma in (("a", 0.1), ("b", 0.4))
    )
    made = planning.plan(survey(mild, sensitive, plan={"respondents": 1000, "margin": 0.05}))

    assert made.respondents == 1000
    assert made.binding.question.name == "a"
    (shortfall,) = made.shortfalls
    assert (shortfall.plan.question.name, shortfall.target.respondents) == ("a", 9604)
    # z / 2 / (2 gamma sqrt(n)) = 1.96 / 2 / (0.2 sqrt(1000))
    assert shortfall.target.reached == pytest.approx(1.959964 / 2 / 0.2 / math.sqrt(1000), rel=1e-6)
    # Other numbers may be asked for than the definition's.
    assert not planning.plan(survey(mild, sensitive), 9604, 0.05).shortfalls
    assert planning.plan(survey(mild, sensitive), 9603, 0.05).shortfalls
    assert not planning.plan(survey(mild, sensitive), 1000, 0.2).shortfalls


def test_the_shares_of_an_ordinal_scale_are_shown_and_not_promised() -> None:
    ordinal = make_question("scale", "scale", "ordinal", {"options": options(5)}, epsilon=2)
    made = planning.plan(survey(ordinal, plan={"respondents": 1115, "margin": 0.05}))

    mean, shares = made.questions[0].targets
    assert (mean.reachable, shares.reachable, made.shortfalls) == (True, False, ())
    assert made.questions[0].respondents == mean.respondents == 1115
    assert [target.respondents for target in made.questions[0].under_k_ary] == [953, 1221]
    flat = {**ordinal, "design": {"mechanism": "k_ary", "epsilon": 2}}
    under_k_ary = planning.plan(survey(flat, plan={"respondents": 1000, "margin": 0.05}))
    assert [target.respondents for target in under_k_ary.questions[0].targets] == [953, 1221]
    assert [shortfall.target.what for shortfall in under_k_ary.shortfalls] == ["shares"]
    assert not under_k_ary.questions[0].under_k_ary


def test_a_divided_budget_leaves_nothing_and_an_undivided_one_says_what() -> None:
    shared = [make_question(name, "yes_no", "coin_flip") for name in ("a", "b", "c")]
    made = planning.plan(survey(*shared, budget=2))
    assert (made.budget, made.left) == (2, 0)
    assert made.epsilon == pytest.approx(2, abs=1e-6)
    assert made.belief == pytest.approx(math.e**2 / (math.e**2 + 9), abs=1e-6)

    partly = planning.plan(survey(make_question("a", "yes_no", "coin_flip", gamma=0.25), budget=3))
    assert partly.left == pytest.approx(3 - 1.099, abs=1e-9)  # ln 3, rounded up


def test_a_number_is_planned_the_same_in_any_unit_and_with_refusals_for_more() -> None:
    years = {"low": 1950, "high": 2010, "step": 1}
    plain, other = (
        planning.plan(survey(make_question("n", "number", "stochastic_rounding", grid, epsilon=1)))
        for grid in (HOURS, years)
    )
    refused = planning.plan(
        survey(
            make_question(
                "n", "number", "stochastic_rounding", {**HOURS, "prefer_not_to_say": True}, epsilon=1
            )
        )
    )
    needed = [made.questions[0].respondents for made in (plain, other, refused)]
    assert needed[0] == needed[1] < needed[2]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"respondents": 0}, "n must be a whole number from 1 up; it is 0"),
        ({"margin": 1.5}, "margin must be in the open interval"),
        ({"confidence": 95}, "confidence must be in the open interval"),
    ],
)
def test_numbers_that_plan_nothing_are_refused(numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        planning.plan(survey(YES_NO), **numbers)


# The command line


def run(*arguments: str, database_url: str = "sqlite:////proc/nowhere/x.sqlite3", text: str = "") -> Result:
    return CliRunner(env={"DATABASE_URL": database_url}).invoke(main, list(arguments), input=text)


def test_one_mechanism_is_planned_without_a_database() -> None:
    result = run("plan", "--mechanism", "coin_flip", "--gamma", "0.25", "--respondents", "300", "--json")

    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (question,) = document["questions"]
    assert (question["gamma"], question["epsilon"]) == (0.25, math.log(3))
    (target,) = question["targets"]
    assert (target["respondents"], target["reachable"]) == (1537, False)
    assert target["reached"] == pytest.approx(0.1132, abs=1e-4)
    table = run("plan", "--mechanism", "coin_flip", "--gamma", "0.25", "--respondents", "300").stdout
    assert "1537" in table
    assert "+-0.1132" in table
    assert "too few" in table
    assert "25.0%" in table


@pytest.mark.parametrize(
    ("arguments", "respondents"),
    [
        ("coin_flip --epsilon 1.0986122886681098", [1537]),
        ("coin_flip --gamma 0.25 --share 0.1", [1291]),  # z^2 0.3 * 0.7 / 0.5^2 / 0.05^2 = 1290.7
        ("warner --truth 0.75", [1537]),
        ("forced_response --truth 0.5 --yes 0.25", [1537]),
        ("unrelated_question --truth 0.5 --prevalence 0.5", [1537]),
        ("kuk --if-yes 0.75 --if-no 0.25", [1537]),
        ("crosswise --prevalence 0.25", [1537]),
        ("k_ary --options 4 --epsilon 1.0986122886681098", [3458]),
        ("best_choice --options 4 --epsilon 1.0986122886681098", [3458]),
        (
            "k_ary --options 4 --epsilon 1.0986122886681098 --share 0.25,0.25,0.25,0.25",
            [2593],
        ),  # 3/16 * 9 z^2 / m^2
        ("unary --options 20 --epsilon 1", [7196]),
        ("symmetric_unary --options 20 --epsilon 1", [6405]),
        ("ordinal --options 5 --epsilon 2", [1115, 24742]),
        ("stochastic_rounding --epsilon 1.0986122886681098", [1537]),
    ],
)
def test_every_mechanism_can_be_planned(arguments: str, respondents: list[int]) -> None:
    result = run("plan", "--mechanism", *arguments.split(), "--json")

    assert result.exit_code == 0, result.output
    (question,) = json.loads(result.stdout)["questions"]
    assert [target["respondents"] for target in question["targets"]] == respondents


def test_a_survey_is_planned_from_its_file_from_standard_input_and_from_the_database(
    sqlite: NewDatabase, tmp_path: Any
) -> None:
    document = factories.definition(
        questions=EVERY_KIND, budget=20, plan={"respondents": 2000, "margin": 0.05}
    )
    (tmp_path / "survey.json").write_text(json.dumps(document), "utf-8")
    database_url = sqlite(True)
    slug = factories.draft(database_url, document)

    outputs = [
        run("plan", str(tmp_path / "survey.json"), "--json").stdout,
        run("plan", "-", "--json", text=json.dumps(document)).stdout,
        run("plan", slug, "--json", database_url=database_url).stdout,
    ]

    assert len(set(outputs)) == 1
    made = json.loads(outputs[0])
    expected = planning.plan(parse_definition(document))
    assert made["binding"] == expected.binding.question.name
    assert (made["epsilon"], made["left"], made["respondents"]) == (expected.epsilon, expected.left, 2000)
    assert [len(question["targets"]) for question in made["questions"]] == [1, 1, 1, 1, 1, 2, 2, 1, 1]
    table = run("plan", slug, "--margin", "0.1", "--respondents", "500", database_url=database_url).stdout
    assert "needed for +-0.1" in table
    assert "with 500" in table
    assert "not promised" in table
    assert "of a budget of 20" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "either SURVEY or --mechanism must be given"),
        ("abc --mechanism kuk", "either SURVEY or --mechanism must be given, and not both"),
        ("nowhere.json", "SURVEY must be a slug or a file that can be read; 'nowhere.json' is not there"),
        ("- --gamma 0.25", "--gamma must not be given with a survey; it needs --mechanism"),
        ("- --share 0.25", "--share must not be given with a survey; it needs --mechanism"),
        ("-", "definition: must be JSON"),
        ("--mechanism dice", "'dice' is not one of"),
        ("--mechanism coin_flip", "--gamma or --epsilon must be given with --mechanism coin_flip"),
        ("--mechanism coin_flip --gamma 0.1 --epsilon 1", "--gamma and --epsilon must not be given both"),
        ("--mechanism coin_flip --gamma 0.5", "gamma must be in the open interval (0, 1/2); it is 0.5"),
        ("--mechanism coin_flip --gamma nan", "gamma must be in the open interval (0, 1/2); it is nan"),
        ("--mechanism coin_flip --gamma 0.1 --truth 0.1", "--truth is not known to --mechanism coin_flip"),
        ("--mechanism kuk --if-yes 0.1", "--if-no must be given with --mechanism kuk"),
        ("--mechanism kuk --if-yes 2 --if-no 0.1", "if_yes must be in the open interval (0, 1); it is 2.0"),
        ("--mechanism k_ary --epsilon 1", "--options must be given with --mechanism k_ary"),
        ("--mechanism k_ary --epsilon 1 --options 1", "1 is not in the range 2<=x<=50"),
        ("--mechanism k_ary --epsilon inf --options 3", "epsilon must be positive and finite; it is inf"),
        ("--mechanism warner --truth 0.7 --options 3", "--options must not be given with --mechanism warner"),
        ("--mechanism warner --truth 0.7 --margin 0.9", "0.9 is not in the range 0.001<=x<=0.5"),
        (
            "--mechanism warner --truth 0.7 --margin nan",
            "margin must be in the open interval (0, 1); it is nan",
        ),
        ("--mechanism warner --truth 0.7 --respondents 0", "0 is not in the range 1<=x<=10000000"),
        ("--mechanism warner --truth 0.7 --margin wide", "'wide' is not a number in the range 0.001<=x<=0.5"),
        (
            "--mechanism warner --truth 0.7 --share 0.1 --against 0.2 --ratio 2.5",
            "'2.5' is not a whole number in the range 1<=x<=1000",
        ),
        ("--mechanism warner --truth 0.7 --ratio 2", "either --null or --against must be given"),
        ("--mechanism warner --truth 0.7 --sides 1", "either --null or --against must be given"),
        ("--mechanism warner --truth 0.7 --low 1 --high 0", "either --null or --against must be given"),
        (
            "--mechanism warner --truth 0.7 --share 0.1 --null 0 --over gamma",
            "--over must be given with --curve, which is missing",
        ),
        ("slug --ratio 2", "--ratio must not be given with a survey; it needs --mechanism"),
        ("slug --alpha 0.1", "--alpha must not be given with a survey; it needs --mechanism"),
        (
            "--mechanism warner --truth 0.7 --respondents many",
            "'many' is not a whole number in the range 1<=x<=10000000",
        ),
        (
            "--mechanism warner --truth 0.7 --confidence 1",
            "confidence must be in the open interval (0, 1); it is 1.0",
        ),
        ("--mechanism warner --truth 0.7 --share 1.5", "--share must be from 0 to 1; it is '1.5'"),
        (
            "--mechanism warner --truth 0.7 --share half",
            "--share must be numbers with commas between them; it is 'half'",
        ),
        ("--mechanism warner --truth 0.7 --share 1", "shares must leave a direct question uncertain"),
        ("--mechanism k_ary --options 3 --epsilon 1 --share 0.5", "--share must be 3 numbers"),
        (
            "--mechanism k_ary --options 3 --epsilon 1 --share 0.5,0.5,0.5",
            "shares must have the sum 1; it is 1.5",
        ),
    ],
)
def test_bad_plan_is_refused_by_name(arguments: str, message: str) -> None:
    result = run("plan", *arguments.split())

    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_an_unknown_survey_is_refused(sqlite: NewDatabase) -> None:
    result = run("plan", "zzz", database_url=sqlite(True))

    assert result.exit_code == 2
    assert "survey 'zzz' is not known" in result.stderr


def test_publishing_what_cannot_be_reached_needs_to_be_said(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    document = factories.definition([0.4, 0.25], plan={"respondents": 300, "margin": 0.05})
    slug = factories.draft(database_url, document)
    before = dump(database_url)

    refused = run("survey", "publish", slug, database_url=database_url)

    assert refused.exit_code == 2
    # 0.98 / (0.8 sqrt(300)) and 0.98 / (0.5 sqrt(300))
    assert (
        "With 300 respondents, question 1 (q1, share of yes) can be estimated to within +-0.0708"
        in refused.stderr
    )
    assert (
        "question 2 (q2, share of yes) can be estimated to within +-0.1132, not +-0.05; it would need 1537."
        in (refused.stderr)
    )
    assert "--despite-plan" in refused.stderr
    assert dump(database_url) == before

    meant = run("survey", "publish", slug, "--despite-plan", "--json", database_url=database_url)
    assert meant.exit_code == 0
    assert json.loads(meant.stdout)["state"] == "open"
    assert "it would need 1537." in meant.stderr


@pytest.mark.parametrize("plan", [{}, {"plan": {"respondents": 1537, "margin": 0.05}}])
def test_a_plan_that_can_be_kept_is_published_without_a_word(
    plan: dict[str, Any], sqlite: NewDatabase
) -> None:
    database_url = sqlite(True)
    slug = factories.draft(database_url, factories.definition([0.25], **plan))

    published = run("survey", "publish", slug, database_url=database_url)

    assert (published.exit_code, published.stderr) == (0, "")


def test_a_new_scale_begins_with_the_design_that_serves_its_shares_and_both_are_compared() -> None:
    """4 levels, two fair coins, 5 points: 3,458 respondents under one draw, 45,190 where near levels are likelier."""
    needs = planning.compare_scale_designs(4, 1.0986122886681098)
    assert (needs.one_draw_shares, needs.near_shares) == (3458, 45190)
    assert needs.one_draw_serves_both
    # Eleven levels and a small loss: docs of planning, means 5,861 and 10,125.
    many = planning.compare_scale_designs(11, 1.0)
    assert (many.near_mean, many.one_draw_mean, many.one_draw_serves_both) == (5861, 10125, False)
