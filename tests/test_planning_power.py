"""What it takes to show a difference: `plan --null` and `plan --against`, held against the tests themselves."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from lxml import etree

from server.cli import main
from server.privacy.designs import coin_flip
from server.privacy.planning import respondents_for_power, respondents_for_power_two_samples

COIN = ("--mechanism", "coin_flip", "--gamma", "0.25", "--share", "0.1")


def plan(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *COIN, *arguments])


def document(*arguments: str) -> dict[str, Any]:
    done = plan(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_share_against_a_fixed_one() -> None:
    found = document("--null", "0", "--sides", "1", "--respondents", "483")
    assert found["respondents"] == found["respondents_in_all"] == 483  # methods.md
    assert found["planned_power"] == pytest.approx(0.8006, abs=5e-5)
    said = plan("--null", "0", "--sides", "1", "--respondents", "500").stdout
    assert said.startswith(
        "483 respondents show a share of 0.1 to differ from 0 with a chance of at least 0.8 (one-"
    )
    assert re.search(r"^500 +0\.81", said, re.MULTILINE)


def test_two_groups_of_different_size() -> None:
    found = document("--against", "0.2", "--ratio", "2", "--power", "0.9")
    expected = respondents_for_power_two_samples(0.1, 0.2, coin_flip(0.25), power=0.9, ratio=2)
    assert (found["respondents"], found["respondents_in_all"]) == (expected, 3 * expected)
    said = plan("--against", "0.2", "--ratio", "2", "--power", "0.9").stdout
    assert f"{expected} respondents with a share of 0.1 and {2 * expected} with one of 0.2 show" in said


def test_curves_rise_to_what_is_needed_and_fall_with_the_coin() -> None:
    found = document("--against", "0.2", "--respondents", "5000")
    sizes = [point["respondents"] for point in found["over_respondents"]]
    powers = [point["power"] for point in found["over_respondents"]]
    assert sizes[-1] == 5000
    assert powers == sorted(powers)
    assert [power >= 0.8 for power in powers] == [size >= found["respondents"] for size in sizes]
    needed = {point["gamma"]: point["respondents"] for point in found["over_gamma"]}
    assert needed[0.25] == found["respondents"]
    assert list(needed.values()) == sorted(needed.values(), reverse=True)


@pytest.mark.parametrize("over", ["respondents", "gamma"])
def test_a_curve_is_a_drawing_by_itself(tmp_path: Path, over: str) -> None:
    written = tmp_path / "curve.svg"
    assert plan("--null", "0.3", "--curve", str(written), "--over", over).exit_code == 0
    drawn = etree.fromstring(written.read_bytes())
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawn.find(".//{http://www.w3.org/2000/svg}path") is not None


@pytest.mark.parametrize(("size", "reached"), [(1.0, True), (0.7, False)], ids=["needed", "fewer"])
def test_simulated_studies_reach_the_power_that_was_planned(size: float, reached: bool) -> None:
    """The normal test of a share of reports, by hand; with fewer than planned it shows too little."""
    needed = respondents_for_power(0.1, 0.3, coin_flip(0.25))
    asked = round(size * needed)
    yes = np.random.default_rng(4).binomial(asked, 0.25 + 0.5 * 0.1, size=20_000)
    null = 0.25 + 0.5 * 0.3
    shown = np.abs(yes / asked - null) > 1.959964 * np.sqrt(null * (1 - null) / asked)
    assert (abs(shown.mean() - 0.8) < 0.03) == reached


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--power", "0.9"), "either --null or --against must be given"),
        (("--null", "0", "--against", "0.2"), "either --null or --against must be given"),
        (("--null", "0.1"), "--share and --null must be different numbers; both are 0.1"),
        (("--against", "1.5"), "--against must be from 0 to 1; it is 1.5"),
        (("--null", "0", "--power", "1"), "--power must be between 0 and 1; it is 1.0"),
        (("--null", "0", "--alpha", "0"), "--alpha must be between 0 and 1; it is 0.0"),
        (("--null", "0", "--ratio", "2"), "--ratio must not be given with --null"),
        (("--null", "0", "--margin", "5"), "--margin and --confidence must not be given"),
        (("--null", "nan"), "--null must be from 0 to 1; it is nan"),
    ],
)
def test_what_makes_no_test_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = plan(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_other_questions_and_surveys_have_no_such_test() -> None:
    more = CliRunner().invoke(
        main,
        ["plan", "--mechanism", "k_ary", "--epsilon", "1", "--options", "4", "--share", "0.1", "--null", "0"],
    )
    assert "need a --mechanism for a yes/no question" in more.stderr
    survey = CliRunner().invoke(main, ["plan", "unknown", "--null", "0"])
    assert survey.exit_code == 2
    assert "--null" in survey.stderr
