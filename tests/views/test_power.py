"""The page that says what it takes to show a difference: its numbers, and what it refuses."""

import re

import pytest
from flask.testing import FlaskClient

from server.privacy.designs import coin_flip, k_ary, ordinal, split_answer
from server.privacy.planning import (
    Comparison,
    compare_groups,
    compare_means,
    power_two_samples,
    respondents_for_power,
    respondents_for_power_two_samples,
)

pytestmark = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)


LOSS = coin_flip(0.25).epsilon


def figures(page: str) -> list[str]:
    return re.findall(r"<dd>(.*?)</dd>", page)


def test_two_groups(signed_in: FlaskClient) -> None:
    page = signed_in.get("/manage/power?true_share=10&other=20&ratio=2&power=90&planned=1000&coin=0.3").text
    design = coin_flip(0.3)
    needed = respondents_for_power_two_samples(0.1, 0.2, design, power=0.9, ratio=2)
    reached = power_two_samples(1000, 2000, 0.1, 0.2, design)
    assert figures(page) == [f"{needed:,}", f"{2 * needed:,}", f"{100 * reached:.1f}&nbsp;%"]
    assert page.count("<svg") == 2


def test_a_fixed_share_as_it_is_typed_elsewhere(signed_in: FlaskClient) -> None:
    page = signed_in.get("/manage/power?true_share=10,5&compared=fixed&other=0&sides=1&lang=es").text
    assert figures(page) == [str(respondents_for_power(0.105, 0, coin_flip(0.25), sides=1))]


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("true_share=101", "The true share, in percent", "must be a number from 0 to 100; it is 101"),
        ("coin=0.5", "Strength gamma of the coin", "must be a number from 0.01 to 0.49; it is 0.5"),
        (
            "ratio=1.5",
            "Respondents in each other group for each in the first",
            "must be a whole number from 1 to 100",
        ),
        ("planned=many", "Respondents planned", "must be a whole number from 1 to 10000000; it is many"),
        ("true_share=20.05", "The other share, in percent", "must differ from the true share by 0.1"),
        ("compared=both", "Compared with", "must be one of groups, fixed, waves; it is both"),
        ("measured=weight", "What is asked", "must be one of share, answer, number, scale; it is weight"),
        ("measured=number&low=5&high=5", "Highest number", "must be above the lowest number, 5"),
        ("measured=answer&answers=1", "Answers to choose from", "must be a whole number from 2 to 50"),
        (
            "measured=scale&true_share=5; 95",
            "The true share, in percent",
            "must be the shares of 3 to 20 levels",
        ),
        (
            "measured=scale&true_share=20; 30; 50&other=20; 30; 40",
            "The other share, in percent",
            "must be the shares of 3 levels, 100 together",
        ),
        (
            "compared=waves&other=20",
            "The other share, in percent",
            "must be the values of 2 to 50 later waves",
        ),
        ("compared=waves&other=20 / 10", "The other share, in percent", "must differ more from the first"),
        (
            "second_coin=0",
            "Strength gamma of the other groups",
            "must be a number from 0.01 to 0.49; it is 0",
        ),
        (
            "true_share=1&other=2&measured=number&low=0&high=2000000000",
            "Highest number",
            "must be a number from -1000000000 to 1000000000; it is 2000000000",
        ),
        ("alpha=nan", "Chance of a false alarm, in percent", "must be a number from 0.01 to 50; it is nan"),
    ],
)
def test_what_makes_no_plan_is_named_and_kept(
    signed_in: FlaskClient, query: str, field: str, said: str
) -> None:
    answer = signed_in.get(f"/manage/power?power=77&{query}")
    assert answer.status_code == 422
    assert re.search(rf"<strong>{re.escape(field)}[^<]*</strong> {re.escape(said)}", answer.text)
    assert 'value="77"' in answer.text
    name, value = query.rpartition("&")[2].split("=")
    assert value in ("both", "weight") or re.search(
        rf'name="{name}"[^>]*value="{re.escape(value)}"', answer.text
    )
    assert "<svg" not in answer.text


WAYS = {
    "one answer of five": (
        "measured=answer&answers=5",
        compare_groups([0.1, 0.2], [split_answer(k_ary(5, LOSS))] * 2),
        2,
    ),
    "a mean": (
        "measured=number&low=0&high=40&true_share=12&other=10&compared=fixed",
        compare_groups([0.3], [coin_flip(0.25)], null=0.25),
        1,
    ),
    "a scale": (
        "measured=scale&true_share=50;30;20&other=20;30;50",
        compare_means([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], [ordinal(3, LOSS)] * 2),
        2,
    ),
    "two coins": (
        "second_coin=0.4&ratio=3",
        compare_groups([0.1, 0.2], [coin_flip(0.25), coin_flip(0.4)], (1, 3)),
        4,
    ),
    "waves": (
        "compared=waves&other=12,5 / 15&ratio=2",
        compare_groups([0.1, 0.125, 0.15], [coin_flip(0.25)] * 3, (1, 2, 2)),
        5,
    ),
}


@pytest.mark.parametrize(("query", "expected", "parts"), WAYS.values(), ids=WAYS)
def test_other_answers_designs_and_waves(
    signed_in: FlaskClient, query: str, expected: Comparison, parts: int
) -> None:
    page = signed_in.get(f"/manage/power?{query}&lang=en").text
    needed = [int(figure.replace(",", "")) for figure in figures(page)]
    assert (needed[0], sum(needed)) == (expected.respondents(0.8), parts * needed[0])
    assert page.count("<svg") == 2


def test_extreme_plans_are_drawn(signed_in: FlaskClient) -> None:
    for query in (
        "true_share=0&other=100&alpha=50&power=1&ratio=100&coin=0.49",
        "true_share=50&other=50.1&alpha=0.01&power=99.99&coin=0.01&planned=10000000",
    ):
        page = signed_in.get(f"/manage/power?{query}")
        assert page.status_code == 200, query
        assert page.text.count("<svg") == 2
