"""The page that says what it takes to show a difference: its numbers, and what it refuses."""

import re

import pytest
from flask.testing import FlaskClient

from server.privacy.designs import coin_flip
from server.privacy.planning import (
    power_two_samples,
    respondents_for_power,
    respondents_for_power_two_samples,
)

pytestmark = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)


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
            "Respondents in the second group for each in the first",
            "must be a whole number from 1 to 100",
        ),
        ("planned=many", "Respondents planned", "must be a whole number from 1 to 10000000; it is many"),
        ("true_share=20.05", "The other share, in percent", "must differ from the true share by 0.1"),
        ("compared=both", "Compared with", "must be one of groups, fixed; it is both"),
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
    name, value = query.split("=")
    assert value == "both" or re.search(rf'name="{name}"[^>]*value="{re.escape(value)}"', answer.text)
    assert "<svg" not in answer.text


def test_extreme_plans_are_drawn(signed_in: FlaskClient) -> None:
    for query in (
        "true_share=0&other=100&alpha=50&power=1&ratio=100&coin=0.49",
        "true_share=50&other=50.1&alpha=0.01&power=99.99&coin=0.01&planned=10000000",
    ):
        page = signed_in.get(f"/manage/power?{query}")
        assert page.status_code == 200, query
        assert page.text.count("<svg") == 2
