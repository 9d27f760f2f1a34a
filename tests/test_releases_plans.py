"""Plans of releases: what is refused of them, how a loss is divided, and what is expected before it is paid."""

import json
import math
from decimal import Decimal
from typing import Any

import pytest

from server import releases
from server.inputs import InputError, Problem
from server.privacy.accounting import shuffle_amplification
from server.releases import Expected, Shape
from server.releases.plans.plan_reader import Division, Item, ItemKind, parse_plan, plan_json
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.sample_releases import figures, find_survey, grant, ledger, problem, release, values

SHARE = {"kind": "share", "question": "q1", "option": "yes"}
SCALE: dict[str, Any] = {
    "name": "mood",
    "kind": "scale",
    "text": "How do you feel?",
    "options": [{"name": name, "text": name.title()} for name in ("bad", "fair", "good")],
    "design": {"mechanism": "k_ary", "epsilon": 1},
}
CUPS: dict[str, Any] = {
    "name": "cups",
    "kind": "number",
    "text": "How many cups?",
    "low": 0,
    "high": 10,
    "step": 1,
    "design": {"mechanism": "stochastic_rounding", "epsilon": 1},
}


def _plan(*items: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"format": 1, "items": list(items), **({"epsilon": 1} | rest)}


def test_a_plan_is_read_exactly_and_written_so_that_it_reads_the_same() -> None:
    document = _plan(
        {"kind": "count", "stratum": ["North", "Alba"], "weight": 0.1},
        {**SHARE, "noise": "laplace", "weight": "0.30", "anew": True},
        {"kind": "mean", "question": "cups", "noise": "gaussian", "delta": "1e-6", "weight": 1},
        {"kind": "table", "questions": ["q1"], "by_stratum": True, "weight": 2},
        {"kind": "most_common", "question": "mood", "weight": 2},
        {"kind": "top", "question": "mood", "how_many": 2, "weight": 1},
        {
            "kind": "exceeding",
            "questions": ["q1", "q2"],
            "share": 0.2,
            "positives": 2,
            "values": True,
            "weight": 3,
        },
        division="proportions",
        epsilon="0.7",
        people=1000,
        confidence=0.9,
    )

    plan = parse_plan(document)

    assert plan.items[1] == Item(
        ItemKind.SHARE, ("q1",), "yes", noise="laplace", weight=Decimal("0.30"), anew=True
    )
    assert plan.items[0].weight == Decimal("0.1")
    assert plan.items[2].delta == Decimal("0.000001")
    assert plan.items[4].noise == "noisy_maximum"
    assert (plan.division, plan.epsilon) == (Division.PROPORTIONS, Decimal("0.7"))
    assert (plan.people, plan.confidence) == (1000, 0.9)
    assert parse_plan(json.loads(json.dumps(plan_json(plan)))) == plan


@pytest.mark.parametrize(
    ("document", "field", "message"),
    [
        ([], "plan", "must be an object; it is []"),
        (_plan(), "items", "must not be empty"),
        (
            _plan({"kind": "product"}),
            "items[0].kind",
            "must be one of count, share, ",
        ),
        (_plan(SHARE, {"kind": "count", "epsilom": 1}), "items[1].epsilom", "is not known here"),
        (_plan(SHARE, epsilon="x"), "epsilon", "must be from 0.0001 to 100; it is x"),
        (_plan(SHARE, epsilon=101), "epsilon", "must be from 0.0001 to 100; it is 101"),
        (_plan(SHARE, epsilon="1e400"), "epsilon", "must be from 0.0001 to 100; it is 1e400"),
        (_plan(SHARE, epsilon=True), "epsilon", "must be a number, or text; it is true"),
        ({"format": 1, "items": [SHARE]}, "epsilon", "is required"),
        (_plan({**SHARE, "epsilon": 1}, division="given"), "epsilon", "does not go with given"),
        (_plan(SHARE, confidence=1), "confidence", "must be from 0.5 to 0.9999; it is 1"),
        (_plan({**SHARE, "anew": "yes"}), "items[0].anew", "must be true or false; it is yes"),
        (
            _plan({"kind": "shuffled", "anew": True}),
            "items[0].anew",
            "must be false: exact tallies are released once, as two would tell of those in between",
        ),
        (_plan({**SHARE, "weight": 2}), "items[0].weight", "does not go with equally"),
        (_plan(SHARE, division="proportions"), "items[0].weight", "is required"),
        (
            _plan({**SHARE, "weight": 0}, division="proportions"),
            "items[0].weight",
            "must be from 0.001 to 1000; it is 0",
        ),
        ({"format": 1, "items": [SHARE], "division": "errors"}, "items[0].error", "is required"),
        (
            {"format": 1, "items": [{**SHARE, "error": 0}], "division": "errors"},
            "items[0].error",
            "must be more than 0 and at most 1; it is 0",
        ),
        (_plan({"kind": "share", "question": "q1"}), "items[0].option", "is required"),
        (_plan({**SHARE, "questions": ["q1"]}), "items[0].question", "does not go with questions"),
        (
            _plan({"kind": "count", "question": "q1"}),
            "items[0].questions",
            "must name 0 to 0 questions; it has 1",
        ),
        (_plan({"kind": "count", "option": "yes"}), "items[0].option", "does not go with count"),
        (
            _plan({"kind": "table", "questions": ["q1"]}),
            "items[0].questions",
            "must name two or three questions, or one by stratum",
        ),
        (
            _plan({"kind": "table", "questions": ["q1", "q1"]}),
            "items[0].questions",
            "must be unique; q1 stands twice",
        ),
        (
            _plan({"kind": "hierarchy", "stratum": ["North"]}),
            "items[0].stratum",
            "does not go with hierarchy",
        ),
        (_plan({"kind": "exceeding", "questions": ["q1"]}), "items[0].share", "is required"),
        (
            _plan({"kind": "exceeding", "questions": ["q1"], "share": 1}),
            "items[0].share",
            "must be from 0.0001 to 0.9999; it is 1",
        ),
        (
            _plan({**SHARE, "noise": "gaussian", "delta": "1e-6"}),
            "items[0].noise",
            "must be one of geometric, laplace; it is gaussian",
        ),
        (
            _plan({"kind": "mean", "question": "q1", "noise": "gaussian"}),
            "items[0].delta",
            "must be more than 0 with Gaussian noise",
        ),
        (
            _plan({**SHARE, "delta": "1e-6"}),
            "items[0].delta",
            "goes with Gaussian noise only; it is 0.000001",
        ),
        (
            _plan({"kind": "shuffled"}, SHARE),
            "items[0].kind",
            "must stand alone in its plan; its price is not divided",
        ),
        (_plan({**SHARE, "stratum": ["a\0"]}), "items[0].stratum[0]", "must not contain a NUL character"),
    ],
)
def test_a_plan_that_is_none_is_refused_by_name(document: object, field: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_plan(document)

    first = error.value.problems[0]
    assert (error.value.status, first.field) == (422, field)
    assert first.message.startswith(message)


@pytest.fixture(scope="module")
def survey(sqlite: NewDatabase) -> tuple[str, Published]:
    """A survey without strata, two coins, a scale and a number; 1,000 responses; its database."""
    database_url = sqlite(True)
    document = factories.definition()
    document["questions"] += [SCALE, CUPS]
    made = factories.publish(database_url, document)
    factories.store(database_url, made, [((0, 0, 0, 1), 600), ((1, 0, 2, 0), 400)])
    grant(database_url, made.slug, "2", "0.001")
    return database_url, made


def _shape(survey: tuple[str, Published]) -> Shape:
    database_url, made = survey
    with factories.writing(database_url) as session:
        return releases.survey_shape(session, find_survey(session, made.slug))


@pytest.mark.parametrize(
    ("item", "field", "message"),
    [
        ({**SHARE, "question": "q9"}, "questions", "must be one of q1, q2, mood, cups; it is q9"),
        ({**SHARE, "option": "maybe"}, "option", "must be one of no, yes; it is maybe"),
        ({**SHARE, "stratum": ["North"]}, "stratum", "must be a stratum of the survey; it is North"),
        ({"kind": "hierarchy"}, "kind", "must be something else; there are no strata"),
        (
            {"kind": "table", "question": "q1", "by_stratum": True},
            "by_stratum",
            "must not be asked for; there are no strata",
        ),
        ({"kind": "mean", "question": "q1"}, "questions", "must be a number or a scale; q1 is not"),
        (
            {"kind": "histogram", "question": "cups"},
            "questions",
            "must have answers to count; cups is a number, and has a mean",
        ),
        ({"kind": "most_common", "question": "cups"}, "questions", "must have several answers; cups has not"),
        ({"kind": "top", "question": "mood", "how_many": 3}, "how_many", "must be from 1 to 2; it is 3"),
        (
            {"kind": "top", "question": "cups", "how_many": 1},
            "questions",
            "must have several answers; cups has not",
        ),
        (
            {"kind": "exceeding", "questions": ["cups"], "share": "0.5"},
            "questions",
            "must have answers to count; cups is a number, and has a mean",
        ),
    ],
)
def test_what_the_survey_has_not_is_refused_before_anything_is_counted(
    survey: tuple[str, Published], item: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        releases.divide(parse_plan(_plan({"kind": "count"}, item)), _shape(survey))

    assert problem(error) == (422, f"items[1].{field}", message)


def test_a_loss_is_divided_equally_or_by_weight_and_never_rounded_up(survey: tuple[str, Published]) -> None:
    shape = _shape(survey)
    items = [{"kind": "count"}, SHARE, {"kind": "mean", "question": "cups"}]

    equal = releases.divide(parse_plan(_plan(*items)), shape)
    weighted = [{**item, "weight": weight} for item, weight in zip(items, (1, "0.5", 2), strict=True)]
    by_weight = releases.divide(parse_plan(_plan(*weighted, division="proportions", epsilon="0.7")), shape)

    assert [item.epsilon for item in equal.items] == [Decimal("0.333333333")] * 3
    assert [item.epsilon for item in by_weight.items] == [Decimal("0.2"), Decimal("0.1"), Decimal("0.4")]
    assert releases.divide(by_weight, shape) == by_weight


def _expect_results(
    survey: tuple[str, Published], *items: dict[str, Any], **rest: Any
) -> tuple[Expected, ...]:
    shape = _shape(survey)
    return releases.expect_results(releases.divide(parse_plan(_plan(*items, **rest)), shape), shape)


def test_expected_errors_are_those_of_the_formulas(survey: tuple[str, Published]) -> None:
    """Two coins with gamma 1/4, so that a share is (reports of yes / n - 1/4) * 2, over 1,000 people."""
    count, share, alone = _expect_results(
        survey, {"kind": "count"}, SHARE, {"kind": "most_common", "question": "mood"}, epsilon=3, people=1000
    )

    rate = math.exp(-1)
    variance = 2 * rate / (1 - rate) ** 2
    assert (count.unit, count.epsilon) == ("people", 1)
    assert count.error == pytest.approx(math.sqrt(variance))
    assert (count.standard_error, count.margin) == (None, None)
    # At a share of 1/2 half of the reports are yes: each adds 1, or -1, to twice the difference.
    noise, chance = math.sqrt(2 * variance) / 1000, math.sqrt(1000) / 1000
    assert share.unit == "share"
    assert share.error == pytest.approx(noise)
    assert share.standard_error == pytest.approx(math.hypot(noise, chance))
    assert share.margin == pytest.approx(1.959964 * math.hypot(noise, chance), rel=1e-6)
    # k-ary with eps 1 over 3 answers keeps e / (e + 2), and makes each other one of 1 / (e + 2).
    assert alone.error == pytest.approx((math.log(3) + math.log(20)) * (math.e + 2) / (math.e - 1))


def test_the_error_that_is_wanted_is_reached_by_the_smallest_loss(survey: tuple[str, Published]) -> None:
    wanted = [
        {"kind": "count", "error": 2},
        {**SHARE, "error": "0.01"},
        {"kind": "mean", "question": "cups", "error": "0.05"},
        {"kind": "mean", "question": "mood", "error": "0.02"},
    ]
    shape = _shape(survey)
    plan = parse_plan({"format": 1, "items": wanted, "division": "errors", "people": 500})

    divided = releases.divide(plan, shape)

    found_ = releases.expect_results(divided, shape)
    for item, each in zip(wanted, found_, strict=True):
        assert each.error is not None
        assert 0.99 * float(str(item["error"])) < each.error <= float(str(item["error"]))
    assert divided.items[0].epsilon == Decimal("0.6932")  # as `epsilon_for_error` says in its example
    with pytest.raises(InputError) as error:
        releases.divide(parse_plan({"format": 1, "items": wanted, "division": "errors"}), shape)
    assert problem(error) == (422, "people", "is required; the error of a share or a mean depends on it")
    hopeless = {"kind": "exceeding", "questions": ["q1"], "share": "0.5", "error": "1e-9"}
    plan = parse_plan({"format": 1, "items": [hopeless], "division": "errors", "people": 500})
    with pytest.raises(InputError) as impossible:
        releases.divide(plan, shape)
    assert problem(impossible)[:2] == (422, "items[0].error")
    # Whoever types what is named as the least is not refused again.
    least = str(impossible.value.problems[0].values["limit"])
    again = {"format": 1, "items": [{**hopeless, "error": least}], "division": "errors", "people": 500}
    assert releases.divide(parse_plan(again), shape).items[0].epsilon is not None


@pytest.mark.parametrize(
    ("item", "most"),
    [
        (SHARE, "1"),
        ({"kind": "count"}, "1000000000"),
        ({"kind": "mean", "question": "cups"}, "1000000000000000000000000"),
    ],
)
def test_an_error_is_at_most_what_could_be_in_its_own_unit(item: dict[str, Any], most: str) -> None:
    taken = parse_plan({"format": 1, "items": [{**item, "error": most}], "division": "errors"})
    assert taken.items[0].error == Decimal(most)
    with pytest.raises(InputError) as error:
        parse_plan({"format": 1, "items": [{**item, "error": f"{most}1"}], "division": "errors"})
    told = f"must be more than 0 and at most {most}; it is {most}1"
    assert problem(error) == (422, "items[0].error", told)


def test_what_the_whole_budget_could_not_pay_for_is_refused_before(survey: tuple[str, Published]) -> None:
    shape, budget = _shape(survey), releases.Budget(Decimal(2), Decimal(0), "unbounded")
    gaussian = {"kind": "mean", "question": "cups", "noise": "gaussian", "delta": "1e-6"}

    with pytest.raises(InputError) as error:
        releases.divide(parse_plan(_plan(SHARE, epsilon=3)), shape, budget)
    with pytest.raises(InputError) as delta:
        releases.divide(parse_plan(_plan(gaussian)), shape, budget)

    assert problem(error) == (409, "items[0].epsilon", "must be at most 2, the survey’s budget; it is 3")
    assert problem(delta) == (409, "items[0].delta", "must be at most 0, the survey’s budget; it is 0.000001")


def test_gaussian_noise_spends_its_delta(survey: tuple[str, Published]) -> None:
    database_url, made = survey
    item = {"kind": "mean", "question": "cups", "noise": "gaussian", "delta": "0.0006"}

    (first,) = release(database_url, made.slug, item, epsilon="0.5")
    with pytest.raises(InputError) as error:
        release(database_url, made.slug, {**item, "anew": True}, epsilon="0.5")

    assert (first.mechanism, first.delta) == ("gaussian", Decimal("0.0006"))
    assert problem(error)[:2] == (409, "delta")
    assert "0.0004 is left, and this needs 0.0006" in problem(error)[2]
    assert ledger(database_url, made.slug).spent.delta == Decimal("0.0006")


def test_exact_tallies_cost_what_shuffling_says(database_url: str) -> None:
    made = factories.publish(database_url)
    rows = [((0, 0), 1500), ((1, 0), 900), ((0, 1), 500), ((1, 1), 100)]
    factories.store(database_url, made, rows)
    factories.publish(database_url, factories.definition(gammas=(0.2, 0.1)), made.slug)
    factories.close(
        database_url, made.slug
    )  # until then it is not told that nobody answered the second version
    grant(database_url, made.slug, "3", "0.001", neighbours="bounded")

    with factories.writing(database_url) as session:
        price = releases.shuffling_price(session, find_survey(session, made.slug))
    (entry,) = release(database_url, made.slug, {"kind": "shuffled"}, division="equally")

    # ln 3 for gamma 1/4 and ln(0.6 / 0.4) for 0.1, rounded up to four decimals.
    local = math.log(3) + math.log(1.5)
    assert not isinstance(price, Problem)
    assert price.responses == 3000
    assert price.local_epsilon == pytest.approx(local, abs=1e-4)
    known = shuffle_amplification(3000, price.local_epsilon, 1 / 3000**2)
    assert 0 <= float(price.epsilon) - known.epsilon < 2e-9
    assert (entry.epsilon, entry.delta, entry.mechanism) == (price.epsilon, price.delta, "shuffling")
    assert float(price.delta) == pytest.approx(1 / 3000**2)
    assert [values(entry, "reports")[(answer,)] for answer in ("no", "yes")] == [2400, 600]
    share = {figure.place: figure.value for figure in entry.figures if figure.statistic == "share"}
    assert share[(("q1", "yes"),)] == pytest.approx((1000 / 3000 - 0.25) / 0.5)
    assert (entry.covers.respondents, ledger(database_url, made.slug).spent.epsilon) == (3000, price.epsilon)


def test_shuffling_is_refused_with_its_reason(database_url: str) -> None:
    open_ = factories.publish(database_url)
    grant(database_url, open_.slug)
    with pytest.raises(InputError) as error:
        release(database_url, open_.slug, {"kind": "shuffled"})
    assert problem(error) == (
        409,
        "budget",
        "must be one that hides what people answered, not that they took part; it hides both",
    )

    few = factories.publish(database_url)
    factories.store(database_url, few, [((0, 0), 99)])
    grant(database_url, few.slug, neighbours="bounded", delta="0.001")
    with pytest.raises(InputError) as small:
        release(database_url, few.slug, {"kind": "shuffled"})
    assert problem(small) == (
        409,
        "survey",
        "must have at least 100 responses to each version; the fewest are 99",
    )
    factories.store(database_url, few, [((1, 0), 2000)])
    (count,) = release(database_url, few.slug, {"kind": "share", "question": "q1", "option": "yes"})
    assert count.covers.respondents == 2099
    with pytest.raises(InputError) as free:
        release(database_url, few.slug, {"kind": "count"})
    assert problem(free)[:2] == (422, "items[0].kind")
    assert figures(count, "share")[("yes",)].low is not None
